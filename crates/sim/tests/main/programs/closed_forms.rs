//! Times of collectives against their closed forms (LogGP), on a star: all pairs are at the same distance, and messages
//! do not delay each other.
//!
//! A message of B bytes costs `o_s(B)` at the sender, `m(B)` in the network and `o_r(B)` at the receiver. The forms
//! were derived for these tests, from the steps of each algorithm. They agree with the comments in `crates/programs`.

use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, PhaseAction, PingPong, Reduce, ReduceScatter, Sweep,
};
use odonata_sim::spec::Costs;
use odonata_topology::Bandwidth;

use super::support::{alone, bandwidth, finishes_of, phases, program, star};
use crate::support::ser;

const PACKET: u64 = 300;
const SEND: u64 = 250_001;
const RECEIVE: u64 = 270_003;
const COPY: u64 = 3;
const CONTROL: u32 = 5;

/// Whether messages use rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Eager,
    Rendezvous,
}
use Protocol::{Eager, Rendezvous};

impl Protocol {
    fn copy(self, bytes: u64) -> u64 {
        // Empty messages are always eager.
        if self == Eager { ser(bytes, COPY) } else { 0 }
    }

    /// CPU time of the sender.
    fn o_s(self, bytes: u64) -> u64 {
        SEND + self.copy(bytes)
    }

    /// CPU time of the receiver.
    fn o_r(self, bytes: u64) -> u64 {
        RECEIVE + self.copy(bytes)
    }

    /// Time in between, if the receive is posted.
    fn m(self, bytes: u64) -> u64 {
        let trip = |bytes: u64| alone(bytes.max(u64::from(CONTROL)), PACKET);
        let asking = if self == Rendezvous && bytes > 0 { 2 * trip(0) } else { 0 };
        asking + trip(bytes)
    }

    /// One message.
    fn hop(self, bytes: u64) -> u64 {
        self.o_s(bytes) + self.m(bytes) + self.o_r(bytes)
    }

    fn time(self, what: &PhaseAction, n: u32) -> u64 {
        self.time_with(what, n, None, 0)
    }

    fn time_with(self, what: &PhaseAction, n: u32, combine: Option<Bandwidth>, rendezvous_ps: u64) -> u64 {
        let costs = Costs {
            send_ps: SEND,
            receive_ps: RECEIVE,
            copy: bandwidth(COPY),
            memory_ps: 0,
            eager_bytes: if self == Eager { 1 << 40 } else { 0 },
            control_bytes: CONTROL,
            combine,
            rendezvous_ps,
            header_bytes: 0,
            fetches: 0,
        };
        let nodes: Vec<u32> = (0..n).rev().collect();
        let mut spec = star(n, vec![program("collective", &nodes, costs, phases(std::slice::from_ref(what)))]);
        spec.fabric.packet_bytes = PACKET as u32;
        finishes_of(&spec).into_iter().max().expect("there are ranks")
    }

    fn check(self, what: PhaseAction, n: u32, expected: u64) {
        assert_eq!(self.time(&what, n), expected, "{what:?} on {n} ranks, {self:?}");
    }
}

const BLOCK: u64 = 56;

/// All ranks do the same at the same time: every step takes the time of one message. For any number of ranks.
#[test]
fn symmetric_algorithms() {
    for n in [2, 3, 4, 5, 7, 8, 12, 13, 16] {
        let (wide, vector) = (u64::from(n), u64::from(n) * BLOCK);
        let doublings = || (0..).map(|k| 1 << k).take_while(move |&distance| distance < wide);
        for protocol in [Eager, Rendezvous] {
            let round = (wide - 1) * protocol.hop(BLOCK);
            protocol.check(PhaseAction::ReduceScatter { algorithm: ReduceScatter::Ring, bytes: vector }, n, round);
            protocol.check(PhaseAction::ReduceScatter { algorithm: ReduceScatter::Pairwise, bytes: vector }, n, round);
            protocol.check(PhaseAction::Allgather { algorithm: Allgather::Ring, bytes: BLOCK }, n, round);
            protocol.check(PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: vector }, n, 2 * round);
            protocol.check(PhaseAction::Alltoall { algorithm: Alltoall::LinearShift, bytes: BLOCK }, n, round);
            protocol.check(PhaseAction::Alltoall { algorithm: Alltoall::Pairwise, bytes: BLOCK }, n, round);
            // Each step doubles the blocks of a rank; the last step brings the remaining ones.
            let gathered = doublings().map(|have| protocol.hop(BLOCK * have.min(wide - have))).sum();
            protocol.check(PhaseAction::Allgather { algorithm: Allgather::Bruck, bytes: BLOCK }, n, gathered);
            // Each step moves the data whose distance has the bit of that step.
            let odd = |distance: u64| (0..wide).filter(|number| number / distance % 2 == 1).count() as u64;
            let moved = doublings().map(|distance| protocol.hop(BLOCK * odd(distance))).sum();
            protocol.check(PhaseAction::Alltoall { algorithm: Alltoall::Bruck, bytes: BLOCK }, n, moved);
            let signals = doublings().count() as u64 * protocol.hop(0);
            protocol.check(PhaseAction::Barrier { algorithm: Barrier::Dissemination }, n, signals);
        }
    }
}

/// What is received in a reduction is combined at the end of the step, and nothing else is; a rendezvous is set up
/// before it asks.
#[test]
fn combining_and_rendezvous() {
    const SETUP: u64 = 7_777;
    let combine = |bytes: u64| ser(bytes, COPY / 3);
    for bits in 1..=4 {
        let (n, vector) = (1_u32 << bits, BLOCK << bits);
        for protocol in [Eager, Rendezvous] {
            let setup = if protocol == Rendezvous { SETUP } else { 0 };
            let hop = |bytes: u64| protocol.hop(bytes) + setup;
            let check = |what: PhaseAction, expected: u64| {
                let found = protocol.time_with(&what, n, bandwidth(COPY / 3), SETUP);
                assert_eq!(found, expected, "{what:?} on {n} ranks, {protocol:?}");
            };
            let (halves, added): (u64, u64) = (1..=bits)
                .map(|i| (hop(vector >> i), combine(vector >> i)))
                .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            check(
                PhaseAction::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes: vector },
                bits * (hop(vector) + combine(vector)),
            );
            check(PhaseAction::Allreduce { algorithm: Allreduce::Rabenseifner, bytes: vector }, 2 * halves + added);
            check(
                PhaseAction::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, bytes: vector },
                halves + added,
            );
            let round = u64::from(n - 1) * hop(BLOCK);
            check(
                PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: vector },
                2 * round + u64::from(n - 1) * combine(BLOCK),
            );
            check(PhaseAction::Allgather { algorithm: Allgather::Ring, bytes: BLOCK }, round);
            check(
                PhaseAction::Reduce { algorithm: Reduce::Binomial, root: 0, bytes: vector },
                bits * (hop(vector) + combine(vector)),
            );
        }
    }
}

/// Pairs exchange, and no rank is left over.
#[test]
fn powers_of_two() {
    for bits in 1..=4 {
        let (n, vector) = (1_u32 << bits, BLOCK << bits);
        for protocol in [Eager, Rendezvous] {
            let halves: u64 = (1..=bits).map(|i| protocol.hop(vector >> i)).sum();
            let doubled = (0..bits).map(|i| protocol.hop(BLOCK << i)).sum();
            protocol.check(
                PhaseAction::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes: vector },
                n,
                bits * protocol.hop(vector),
            );
            protocol.check(PhaseAction::Allreduce { algorithm: Allreduce::Rabenseifner, bytes: vector }, n, 2 * halves);
            protocol.check(
                PhaseAction::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, bytes: vector },
                n,
                halves,
            );
            protocol.check(
                PhaseAction::Allgather { algorithm: Allgather::RecursiveDoubling, bytes: BLOCK },
                n,
                doubled,
            );
            for root in [0, n - 1] {
                let tree = bits * protocol.hop(vector);
                protocol.check(PhaseAction::Broadcast { algorithm: Broadcast::Binomial, root, bytes: vector }, n, tree);
                protocol.check(PhaseAction::Reduce { algorithm: Reduce::Binomial, root, bytes: vector }, n, tree);
            }
        }
    }
}

/// Full binary trees: upwards, a parent works on both messages, which arrive at the same time; downwards, the second
/// child gets its message one send later. (So does an RTS.)
#[test]
fn full_binary_trees() {
    for depth in 2..=4 {
        let (n, levels) = ((1 << depth) - 1, depth - 1);
        for (protocol, bytes) in [(Eager, BLOCK), (Eager, 250), (Rendezvous, BLOCK)] {
            let up = levels * (protocol.hop(bytes) + protocol.o_r(bytes));
            let down = levels * (protocol.hop(bytes) + protocol.o_s(bytes));
            protocol.check(PhaseAction::Reduce { algorithm: Reduce::Binary, root: 1, bytes }, n, up);
            protocol.check(PhaseAction::Broadcast { algorithm: Broadcast::Binary, root: 2, bytes }, n, down);
            protocol.check(PhaseAction::Allreduce { algorithm: Allreduce::Binary, bytes }, n, up + down);
        }
        let signals = levels * (2 * Eager.hop(0) + Eager.o_r(0) + Eager.o_s(0));
        Eager.check(PhaseAction::Barrier { algorithm: Barrier::Binary }, n, signals);
    }
}

/// Trees that are not full. Flat: the last message leaves after all sends. Binomial: to rank v, for each bit of v from
/// the highest on, the time of a message if it is set, else that of a send to a child that the rank serves first.
#[test]
fn trees_of_any_size() {
    for n in [2, 3, 5, 6, 7, 8, 9, 11, 13] {
        let (root, bytes) = (n / 2, BLOCK);
        let flat = u64::from(n - 1) * Eager.o_s(bytes) + Eager.m(bytes) + Eager.o_r(bytes);
        Eager.check(PhaseAction::Broadcast { algorithm: Broadcast::Flat, root, bytes }, n, flat);
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
        Eager.check(PhaseAction::Broadcast { algorithm: Broadcast::Binomial, root, bytes }, n, latest);
    }
}

/// A wavefront through one row: each rank computes, sends, and continues with the next block; the last rank is the
/// latest. The slowest stage of the pipeline is an inner rank.
#[test]
fn a_sweep_is_a_pipeline() {
    const COMPUTE: u64 = 900_007;
    let bytes = 64;
    for (n, blocks) in [(2, 1), (3, 1), (4, 5), (2, 6)] {
        let what = PhaseAction::Sweep(Sweep {
            grid: [n, 1],
            blocks,
            x_bytes: bytes,
            y_bytes: 0,
            compute_ps: COMPUTE,
            sweeps: 1,
        });
        let (hop, blocks) = (COMPUTE + Eager.hop(bytes), u64::from(blocks));
        let stage = match n {
            2 => COMPUTE + Eager.o_s(bytes).max(Eager.o_r(bytes)),
            _ => COMPUTE + Eager.o_s(bytes) + Eager.o_r(bytes),
        };
        Eager.check(what, n, u64::from(n - 1) * hop + COMPUTE + (blocks - 1) * stage);
    }
}

/// On a star, distant partners take as long as neighbours, and pairs do not disturb each other.
#[test]
fn ping_pongs_side_by_side() {
    for (n, stride) in [(8, 1), (8, 4), (6, 3)] {
        for protocol in [Eager, Rendezvous] {
            protocol.check(
                PhaseAction::PingPong(PingPong { stride, bytes: 1_000, rounds: 2 }),
                n,
                4 * protocol.hop(1_000),
            );
        }
    }
}
