//! The times in the documentation of the algorithms, on a network in which messages do not delay each other. Would
//! catch: an order of sends, a wait or a formula that is not what the page of the algorithm says.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use odonata_programs::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Op, Reduce, ReduceScatter, What};

use crate::script::{Key, Script};

// All depend on the bytes, and none is a multiple of another.
fn o_s(bytes: u64) -> u64 {
    1009 + 3 * bytes
}
fn o_r(bytes: u64) -> u64 {
    631 + 2 * bytes
}
fn transit(bytes: u64) -> u64 {
    4001 + 7 * bytes
}
/// One message, alone.
fn hop(bytes: u64) -> u64 {
    o_s(bytes) + transit(bytes) + o_r(bytes)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(Key, u64),
    Received,
    GoesOn,
}

#[derive(Clone, Default)]
struct Rank {
    at: usize,
    cpu: u64,
    receiving: u64,
    waits: bool,
}

/// When the last rank ends, with eager messages (`docs/model.md`, section 10).
fn time(script: &Script) -> u64 {
    let mut ranks = vec![Rank::default(); script.ranks as usize];
    let (mut arrived, mut posted) = (BTreeSet::new(), BTreeMap::new());
    let mut events: BinaryHeap<Reverse<(u64, usize, Event)>> = BinaryHeap::new();
    (0..ranks.len()).for_each(|rank| events.push(Reverse((0, rank, Event::GoesOn))));
    let mut last = 0;
    while let Some(Reverse((now, rank, event))) = events.pop() {
        last = now;
        let state = &mut ranks[rank];
        let occupy = |state: &mut Rank, time| {
            state.cpu = state.cpu.max(now) + time;
            state.cpu
        };
        match event {
            Event::Arrives(key, bytes) => match posted.remove(&key) {
                Some(()) => events.push(Reverse((occupy(state, o_r(bytes)), rank, Event::Received))),
                None => assert!(arrived.insert(key)),
            },
            Event::Received => {
                state.receiving -= 1;
                if state.waits && state.receiving == 0 {
                    state.waits = false;
                    events.push(Reverse((now, rank, Event::GoesOn)));
                }
            }
            Event::GoesOn => {
                while let Some(line) = script.lines[rank].get(state.at) {
                    state.at += 1;
                    match (line.op, &line.moved) {
                        (Op::Send { to, bytes, .. }, Some((key, ..))) => {
                            let end = occupy(state, o_s(bytes));
                            events.push(Reverse((end, rank, Event::GoesOn)));
                            events.push(Reverse((end + transit(bytes), to as usize, Event::Arrives(*key, bytes))));
                            break;
                        }
                        (Op::Receive { bytes, blocking, .. }, Some((key, ..))) => {
                            state.receiving += 1;
                            if arrived.remove(key) {
                                events.push(Reverse((occupy(state, o_r(bytes)), rank, Event::Received)));
                            } else {
                                posted.insert(*key, ());
                            }
                            state.waits = blocking;
                        }
                        _ => state.waits = state.receiving > 0,
                    }
                    if state.waits {
                        break;
                    }
                }
            }
        }
    }
    assert!(ranks.iter().zip(&script.lines).all(|(rank, lines)| rank.at == lines.len() && !rank.waits));
    last
}

fn check(what: What, ranks: u32, expected: u64) {
    let script = Script::new(&what, ranks);
    assert_eq!(time(&script), expected, "{}", script.name);
}

#[test]
fn symmetric_algorithms_take_a_hop_a_step() {
    for n in 2..=33 {
        let (edges, bytes, block) = (u64::from(n) - 1, u64::from(n) * 24, 24);
        let steps = || (0..).map(|k| 1_u64 << k).take_while(|&distance| distance < u64::from(n));
        check(What::Allreduce { algorithm: Allreduce::Ring, bytes }, n, 2 * edges * hop(block));
        check(What::Allgather { algorithm: Allgather::Ring, bytes: 24 }, n, edges * hop(block));
        check(What::ReduceScatter { algorithm: ReduceScatter::Ring, bytes }, n, edges * hop(block));
        check(What::ReduceScatter { algorithm: ReduceScatter::Pairwise, bytes }, n, edges * hop(block));
        check(What::Alltoall { algorithm: Alltoall::Pairwise, bytes: 24 }, n, edges * hop(block));
        check(What::Alltoall { algorithm: Alltoall::LinearShift, bytes: 24 }, n, edges * hop(block));
        let gathered = steps().map(|d| hop(24 * d.min(u64::from(n) - d))).sum();
        check(What::Allgather { algorithm: Allgather::Bruck, bytes: 24 }, n, gathered);
        let with_bit = |d: u64| (0..u64::from(n)).filter(|j| j & d > 0).count() as u64;
        check(
            What::Alltoall { algorithm: Alltoall::Bruck, bytes: 24 },
            n,
            steps().map(|d| hop(24 * with_bit(d))).sum(),
        );
        check(What::Barrier { algorithm: Barrier::Dissemination }, n, steps().map(|_| hop(0)).sum());
    }
}

#[test]
fn powers_of_two_take_a_hop_a_bit() {
    for bits in 1..=6 {
        let (n, bytes) = (1 << bits, 24 << bits);
        let halves: u64 = (1..=bits).map(|i| hop(bytes >> i)).sum();
        check(What::Allreduce { algorithm: Allreduce::RecursiveDoubling, bytes }, n, bits * hop(bytes));
        check(What::Allreduce { algorithm: Allreduce::Rabenseifner, bytes }, n, 2 * halves);
        check(What::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, bytes }, n, halves);
        let doubled = (0..bits).map(|s| hop(24 << s)).sum();
        check(What::Allgather { algorithm: Allgather::RecursiveDoubling, bytes: 24 }, n, doubled);
        let root = n / 3;
        check(What::Broadcast { algorithm: Broadcast::Binomial, root, bytes }, n, bits * hop(bytes));
        check(What::Reduce { algorithm: Reduce::Binomial, root, bytes }, n, bits * hop(bytes));
    }
}

#[test]
fn trees_take_what_their_pages_say() {
    for depth in 2..=6 {
        let (n, root, bytes, levels) = ((1 << depth) - 1, depth, 24, u64::from(depth) - 1);
        let (up, down) = (levels * (hop(bytes) + o_r(bytes)), levels * (hop(bytes) + o_s(bytes)));
        check(What::Reduce { algorithm: Reduce::Binary, root, bytes }, n, up);
        check(What::Broadcast { algorithm: Broadcast::Binary, root, bytes }, n, down);
        check(What::Allreduce { algorithm: Allreduce::Binary, bytes }, n, up + down);
        let empty = levels * (2 * hop(0) + o_r(0) + o_s(0));
        check(What::Barrier { algorithm: Barrier::Binary }, n, empty);
    }
    for n in 2..=33_u32 {
        let (root, bytes) = (n / 2, 24);
        let flat = u64::from(n - 1) * o_s(bytes) + transit(bytes) + o_r(bytes);
        check(What::Broadcast { algorithm: Broadcast::Flat, root, bytes }, n, flat);
        let path = |v: u32| -> u64 {
            let bit = |j: u32| match (v >> j & 1, v >> j >> 1 << j << 1) {
                (1, _) => hop(bytes),
                (_, above) if j > v.trailing_zeros() && above + (1 << j) < n => o_s(bytes),
                _ => 0,
            };
            (0..6).map(bit).sum()
        };
        let latest = (1..n).map(path).max().unwrap();
        check(What::Broadcast { algorithm: Broadcast::Binomial, root, bytes }, n, latest);
    }
}

#[test]
fn scatter_and_allgather_take_as_long_as_their_parts() {
    for bits in 1..=6 {
        let (n, bytes) = (1 << bits, 24 << bits);
        let what = What::Broadcast { algorithm: Broadcast::ScatterAllgather, root: 1, bytes };
        let taken = time(&Script::new(&what, n));
        let least = (1..=bits).map(|i| hop(bytes >> i)).sum::<u64>() + u64::from(n - 1) * hop(24);
        let most = least + u64::from(n - 1) * o_r(24);
        assert!((least..=most).contains(&taken), "{n} ranks: {least} <= {taken} <= {most}");
    }
}
