//! Times of collectives against their closed forms (LogGP), on a star: all pairs are equally far apart, and messages do not meet.
//!
//! A message of B bytes costs `o_s(B)` at the sender, `m(B)` on the way and `o_r(B)` at the receiver. The forms were derived for these
//! tests, from what each algorithm does; those of the pages in `crates/programs` agree.

use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, PingPong, Reduce, ReduceScatter, Sweep, What,
};
use odonata_sim::spec::Costs;

use super::support::{alone, bandwidth, finishes_of, phases, program, star};
use crate::support::ser;

const PACKET: u64 = 300;
const SEND: u64 = 250_001;
const RECEIVE: u64 = 270_003;
const COPY: u64 = 3;
const CONTROL: u32 = 5;

/// Whether senders ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Eager,
    Rendezvous,
}
use Way::{Eager, Rendezvous};

impl Way {
    fn copy(self, bytes: u64) -> u64 {
        // Messages of no bytes never ask.
        if self == Eager { ser(bytes, COPY) } else { 0 }
    }

    /// Work of the sender.
    fn o_s(self, bytes: u64) -> u64 {
        SEND + self.copy(bytes)
    }

    /// Work of the receiver.
    fn o_r(self, bytes: u64) -> u64 {
        RECEIVE + self.copy(bytes)
    }

    /// What lies between, if the receive is posted.
    fn m(self, bytes: u64) -> u64 {
        let trip = |bytes: u64| alone(bytes.max(u64::from(CONTROL)), PACKET);
        let asking = if self == Rendezvous && bytes > 0 { 2 * trip(0) } else { 0 };
        asking + trip(bytes)
    }

    /// One message.
    fn hop(self, bytes: u64) -> u64 {
        self.o_s(bytes) + self.m(bytes) + self.o_r(bytes)
    }

    fn time(self, what: &What, n: u32) -> u64 {
        let costs = Costs {
            send_ps: SEND,
            receive_ps: RECEIVE,
            copy: bandwidth(COPY),
            memory_ps: 0,
            eager_bytes: if self == Eager { 1 << 40 } else { 0 },
            control_bytes: CONTROL,
            header_bytes: 0,
        };
        let nodes: Vec<u32> = (0..n).rev().collect();
        let mut spec = star(n, vec![program("collective", &nodes, costs, phases(std::slice::from_ref(what)))]);
        spec.fabric.packet_bytes = PACKET as u32;
        finishes_of(&spec).into_iter().max().expect("there are ranks")
    }

    fn check(self, what: What, n: u32, expected: u64) {
        assert_eq!(self.time(&what, n), expected, "{what:?} on {n} ranks, {self:?}");
    }
}

const BLOCK: u64 = 56;

/// All ranks do the same at the same time: every step is a hop. For any number of ranks.
#[test]
fn symmetric_algorithms() {
    for n in [2, 3, 4, 5, 7, 8, 12, 13, 16] {
        let (wide, vector) = (u64::from(n), u64::from(n) * BLOCK);
        let doublings = || (0..).map(|k| 1 << k).take_while(move |&distance| distance < wide);
        for way in [Eager, Rendezvous] {
            let round = (wide - 1) * way.hop(BLOCK);
            way.check(What::ReduceScatter { algorithm: ReduceScatter::Ring, bytes: vector }, n, round);
            way.check(What::ReduceScatter { algorithm: ReduceScatter::Pairwise, bytes: vector }, n, round);
            way.check(What::Allgather { algorithm: Allgather::Ring, bytes: BLOCK }, n, round);
            way.check(What::Allreduce { algorithm: Allreduce::Ring, bytes: vector }, n, 2 * round);
            way.check(What::Alltoall { algorithm: Alltoall::LinearShift, bytes: BLOCK }, n, round);
            way.check(What::Alltoall { algorithm: Alltoall::Pairwise, bytes: BLOCK }, n, round);
            // A step doubles the blocks of a rank; the last one brings what is missing.
            let gathered = doublings().map(|have| way.hop(BLOCK * have.min(wide - have))).sum();
            way.check(What::Allgather { algorithm: Allgather::Bruck, bytes: BLOCK }, n, gathered);
            // A step moves what has to go an odd number of times its distance.
            let odd = |distance: u64| (0..wide).filter(|way| way / distance % 2 == 1).count() as u64;
            let moved = doublings().map(|distance| way.hop(BLOCK * odd(distance))).sum();
            way.check(What::Alltoall { algorithm: Alltoall::Bruck, bytes: BLOCK }, n, moved);
            let signals = doublings().count() as u64 * way.hop(0);
            way.check(What::Barrier { algorithm: Barrier::Dissemination }, n, signals);
        }
    }
}

/// Pairs exchange, and nobody is left over.
#[test]
fn powers_of_two() {
    for bits in 1..=4 {
        let (n, vector) = (1_u32 << bits, BLOCK << bits);
        for way in [Eager, Rendezvous] {
            let halves: u64 = (1..=bits).map(|i| way.hop(vector >> i)).sum();
            let doubled = (0..bits).map(|i| way.hop(BLOCK << i)).sum();
            way.check(
                What::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes: vector },
                n,
                bits * way.hop(vector),
            );
            way.check(What::Allreduce { algorithm: Allreduce::Rabenseifner, bytes: vector }, n, 2 * halves);
            way.check(What::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, bytes: vector }, n, halves);
            way.check(What::Allgather { algorithm: Allgather::RecursiveDoubling, bytes: BLOCK }, n, doubled);
            for root in [0, n - 1] {
                let tree = bits * way.hop(vector);
                way.check(What::Broadcast { algorithm: Broadcast::Binomial, root, bytes: vector }, n, tree);
                way.check(What::Reduce { algorithm: Reduce::Binomial, root, bytes: vector }, n, tree);
            }
        }
    }
}

/// Full binary trees: upwards a parent works on both messages, which come together; downwards the second child gets its message one
/// send later. (A request, too, is sent one send later.)
#[test]
fn full_binary_trees() {
    for depth in 2..=4 {
        let (n, levels) = ((1 << depth) - 1, depth - 1);
        for (way, bytes) in [(Eager, BLOCK), (Eager, 250), (Rendezvous, BLOCK)] {
            let up = levels * (way.hop(bytes) + way.o_r(bytes));
            let down = levels * (way.hop(bytes) + way.o_s(bytes));
            way.check(What::Reduce { algorithm: Reduce::Binary, root: 1, bytes }, n, up);
            way.check(What::Broadcast { algorithm: Broadcast::Binary, root: 2, bytes }, n, down);
            way.check(What::Allreduce { algorithm: Allreduce::Binary, bytes }, n, up + down);
        }
        let signals = levels * (2 * Eager.hop(0) + Eager.o_r(0) + Eager.o_s(0));
        Eager.check(What::Barrier { algorithm: Barrier::Binary }, n, signals);
    }
}

/// Trees that are not full. Flat: the last message leaves after all sends. Binomial: to rank v, for each bit of v from the highest on, a
/// hop if it is set, else a send to a child that the rank serves before.
#[test]
fn trees_of_any_size() {
    for n in [2, 3, 5, 6, 7, 8, 9, 11, 13] {
        let (root, bytes) = (n / 2, BLOCK);
        let flat = u64::from(n - 1) * Eager.o_s(bytes) + Eager.m(bytes) + Eager.o_r(bytes);
        Eager.check(What::Broadcast { algorithm: Broadcast::Flat, root, bytes }, n, flat);
        let reached = |v: u32| {
            let (mut at, mut time) = (0, 0);
            for bit in (0..5).rev().map(|bit| 1 << bit) {
                if v & bit > 0 {
                    (at, time) = (at | bit, time + Eager.hop(bytes));
                } else if at | bit < n && at != v {
                    time += Eager.o_s(bytes); // `at` serves that child first
                }
            }
            time
        };
        // A rank ends when it has the data and has served its own children.
        let latest = (1..n).map(reached).max().expect("there are others");
        Eager.check(What::Broadcast { algorithm: Broadcast::Binomial, root, bytes }, n, latest);
    }
}

/// A wavefront through one row: each rank computes, sends on, and goes on with the next block; the last rank is the latest. The
/// slowest stage of the pipeline is a rank in the middle.
#[test]
fn a_sweep_is_a_pipeline() {
    const COMPUTE: u64 = 900_007;
    let bytes = 64;
    for (n, blocks) in [(2, 1), (3, 1), (4, 5), (2, 6)] {
        let what =
            What::Sweep(Sweep { grid: [n, 1], blocks, x_bytes: bytes, y_bytes: 0, compute_ps: COMPUTE, sweeps: 1 });
        let (hop, blocks) = (COMPUTE + Eager.hop(bytes), u64::from(blocks));
        let stage = match n {
            2 => COMPUTE + Eager.o_s(bytes).max(Eager.o_r(bytes)),
            _ => COMPUTE + Eager.o_s(bytes) + Eager.o_r(bytes),
        };
        Eager.check(what, n, u64::from(n - 1) * hop + COMPUTE + (blocks - 1) * stage);
    }
}

/// Far partners take as long as neighbours on a star, and pairs do not disturb each other.
#[test]
fn ping_pongs_side_by_side() {
    for (n, stride) in [(8, 1), (8, 4), (6, 3)] {
        for way in [Eager, Rendezvous] {
            way.check(What::PingPong(PingPong { stride, bytes: 1_000, rounds: 2 }), n, 4 * way.hop(1_000));
        }
    }
}
