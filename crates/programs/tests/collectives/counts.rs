//! Catches correct algorithms under the wrong name: more steps, more bytes, an uneven load.

use std::collections::BTreeMap;

use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, Op, Part, PhaseAction, Reduce, ReduceScatter,
};

use crate::cases::{all, channels, exchanges_of_nodes, made, numbers_of_ranks, trees};
use crate::script::Script;

/// Messages and bytes of all ranks together, for vectors of `b` bytes.
fn totals(what: &PhaseAction, ranks: u32, b: u64) -> (u64, u64) {
    let n = u64::from(ranks);
    let bits = u64::from(ranks.ilog2());
    let (core, extra) = (1 << bits, n - (1 << bits));
    let (steps, edges) = (u64::from(ranks.next_power_of_two().ilog2()), n - 1);
    let end = |i: u64| b * i / n;
    match what {
        PhaseAction::Broadcast {
            algorithm: algorithm @ (Broadcast::ScatterAllgather | Broadcast::ScatterDoubling),
            ..
        } => {
            let subtree = |v: u64| end(n.min(v + (1 << v.trailing_zeros()))) - end(v);
            let doubles = *algorithm == Broadcast::ScatterDoubling && n.is_power_of_two();
            let gathers = if doubles { bits } else { edges };
            (edges + n * gathers, edges * b + (1..n).map(subtree).sum::<u64>())
        }
        PhaseAction::Broadcast { .. } | PhaseAction::Reduce { algorithm: Reduce::Binary | Reduce::Binomial, .. } => {
            (edges, edges * b)
        }
        PhaseAction::Allreduce { algorithm: Allreduce::Binary, .. } => (2 * edges, 2 * edges * b),
        PhaseAction::Allreduce { algorithm: Allreduce::RecursiveDoubling, .. } => {
            (core * bits + 2 * extra, (core * bits + 2 * extra) * b)
        }
        PhaseAction::Allreduce { algorithm: Allreduce::Ring, .. } => (2 * n * edges, 2 * edges * b),
        PhaseAction::Allreduce { algorithm: Allreduce::Rabenseifner, .. } => {
            (2 * core * bits + 2 * extra, (2 * (core - 1) + 2 * extra) * b)
        }
        PhaseAction::Allgather { algorithm: Allgather::NeighborExchange, .. } if n.is_multiple_of(2) => {
            (n * n / 2, n * edges * b)
        }
        PhaseAction::Allgather { algorithm: Allgather::Ring | Allgather::NeighborExchange, .. } => {
            (n * edges, n * edges * b)
        }
        PhaseAction::Allgather { algorithm: Allgather::RecursiveDoubling, .. } => {
            (core * bits + 2 * extra, n * edges * b)
        }
        PhaseAction::Allgather { algorithm: Allgather::Bruck, .. } => (n * steps, n * edges * b),
        PhaseAction::ReduceScatter { algorithm: ReduceScatter::Ring | ReduceScatter::Pairwise, .. } => {
            (n * edges, edges * b)
        }
        PhaseAction::ReduceScatter { algorithm: ReduceScatter::RecursiveHalving, .. } => {
            let returned: u64 = (0..extra).map(|pair| end(2 * pair + 1) - end(2 * pair)).sum();
            (core * bits + 2 * extra, (core - 1 + extra) * b + returned)
        }
        PhaseAction::Alltoall { algorithm: Alltoall::Bruck, .. } => {
            (n * steps, n * b * (1..n).map(|j| u64::from(j.count_ones())).sum::<u64>())
        }
        PhaseAction::PxnAlltoall { per_node, .. } => {
            let (g, nodes) = (u64::from(*per_node), n / u64::from(*per_node));
            (n * (nodes * (g - 1) + nodes - 1), n * b * (nodes * (g - 1) + (nodes - 1) * g))
        }
        PhaseAction::Alltoall { .. } | PhaseAction::GroupedAlltoall { .. } => (n * edges, n * edges * b),
        PhaseAction::Barrier { algorithm: Barrier::Dissemination } => (n * steps, 0),
        PhaseAction::Barrier { algorithm: Barrier::Binary } => (2 * edges, 0),
        _ => unreachable!(),
    }
}

#[test]
fn messages_and_bytes_are_those_of_the_algorithm() {
    for ranks in numbers_of_ranks() {
        for bytes in [0, 1, 1000, 1 << 16] {
            for what in [all(ranks / 3, bytes), exchanges_of_nodes(ranks, bytes)].concat() {
                let script = Script::new(&what, ranks);
                let sum = script.sent().into_iter().fold((0, 0), |all, rank| (all.0 + rank.0, all.1 + rank.1));
                assert_eq!(sum, totals(&what, ranks, bytes), "{}", script.name);
            }
        }
    }
}

/// Algorithms in which every rank does the same: messages of each rank, and bytes if they divide evenly.
#[test]
fn load_is_even_where_the_algorithm_is_symmetric() {
    for ranks in numbers_of_ranks() {
        let n = u64::from(ranks);
        let bytes = 1 << 10 << ranks.trailing_zeros();
        let bytes = bytes * n;
        for what in [all(0, bytes), exchanges_of_nodes(ranks, bytes)].concat() {
            let symmetric = match what {
                PhaseAction::Broadcast { .. } | PhaseAction::Reduce { .. } => false,
                PhaseAction::Allreduce { algorithm, .. } => algorithm == Allreduce::Ring || n.is_power_of_two(),
                PhaseAction::Allgather { algorithm, .. } => {
                    algorithm != Allgather::RecursiveDoubling || n.is_power_of_two()
                }
                PhaseAction::ReduceScatter { algorithm, .. } => {
                    algorithm != ReduceScatter::RecursiveHalving || n.is_power_of_two()
                }
                _ => true,
            };
            let tree = matches!(
                what,
                PhaseAction::Allreduce { algorithm: Allreduce::Binary, .. }
                    | PhaseAction::Barrier { algorithm: Barrier::Binary }
            );
            if symmetric && !tree {
                let (messages, volume) = totals(&what, ranks, bytes);
                let script = Script::new(&what, ranks);
                assert_eq!(script.sent(), vec![(messages / n, volume / n); ranks as usize], "{}", script.name);
            }
        }
    }
}

/// By hand: 2 (n - 1) messages of B / n bytes for each rank of a ring, ceil(log2 n) for Bruck and dissemination, n - 1
/// for a tree.
#[test]
fn some_counts_by_hand() {
    let per_rank = |what, ranks| Script::new(&what, ranks).sent();
    let ring = PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: 600 };
    assert_eq!(per_rank(ring, 6), [(10, 1000); 6]);
    let bruck = PhaseAction::Allgather { algorithm: Allgather::Bruck, bytes: 10 };
    assert_eq!(per_rank(bruck, 6), [(3, 50); 6]);
    let bruck = PhaseAction::Alltoall { algorithm: Alltoall::Bruck, bytes: 10 };
    // Distances 1, 3, 5; 2, 3; 4, 5.
    assert_eq!(per_rank(bruck, 6), [(3, 70); 6]);
    // Three nodes of two: a message to the other rank of the node in each round, and two of 20 bytes to other nodes.
    let rails = PhaseAction::PxnAlltoall { per_node: 2, bytes: 10 };
    assert_eq!(per_rank(rails, 6), [(5, 70); 6]);
    let dissemination = PhaseAction::Barrier { algorithm: Barrier::Dissemination };
    assert_eq!(per_rank(dissemination, 6), [(3, 0); 6]);
    let binomial = PhaseAction::Broadcast { algorithm: Broadcast::Binomial, root: 2, bytes: 10 };
    assert_eq!(per_rank(binomial, 6), [(1, 10), (0, 0), (3, 30), (0, 0), (1, 10), (0, 0)]);
    let binary = PhaseAction::Reduce { algorithm: Reduce::Binary, root: 2, bytes: 10 };
    assert_eq!(per_rank(binary, 6), [(1, 10), (1, 10), (0, 0), (1, 10), (1, 10), (1, 10)]);
}

/// Sizes that are stated and not sent: a collective whose smallest message is another gets windows that are too long.
#[test]
fn stated_sizes_are_those_that_are_sent() {
    let mut stated = 0;
    for ranks in numbers_of_ranks() {
        for bytes in [0, 1, 7, 100, 1 << 20] {
            for what in [all(0, bytes), exchanges_of_nodes(ranks, bytes), trees(ranks, bytes)].concat() {
                let part = what.part(ranks).unwrap();
                let Some(sizes) = part.sizes() else { continue };
                let mut sent = BTreeMap::new();
                let mut ops = Vec::new();
                for rank in 0..ranks {
                    (0..part.chunks(rank)).for_each(|index| part.chunk(rank, index, &mut ops));
                }
                for op in ops {
                    if let Op::Send { bytes, .. } = op {
                        *sent.entry(bytes).or_insert(0) += 1;
                    }
                }
                assert_eq!(sizes.into_iter().collect::<BTreeMap<_, _>>(), sent, "{what:?}, {ranks} ranks");
                stated += 1;
            }
        }
    }
    assert!(stated > 20 * 5 * 8, "the algorithms that exchange with every rank state their sizes: {stated}");
}

/// Catches a range of labels that misses one or has one too many: the messages of stages would be numbered in another
/// way, or share a number.
#[test]
fn a_range_of_labels_has_those_of_the_messages_and_no_others() {
    let mut ranges = 0;
    for ranks in numbers_of_ranks().filter(|&ranks| ranks <= 17) {
        let of_nodes = [channels(ranks, 5), trees(ranks, 5), exchanges_of_nodes(ranks, 5)].concat();
        for what in [all(0, 5), of_nodes].concat() {
            let collective = made(&what, ranks).expect("it is one");
            let Some(range) = collective.labels() else { continue };
            let mut ops = Vec::new();
            for rank in 0..ranks {
                (0..collective.chunks(rank)).for_each(|index| collective.chunk(rank, index, &mut ops));
            }
            let labels: std::collections::BTreeSet<u64> = ops
                .iter()
                .filter_map(|op| match op {
                    odonata_programs::Op::Send { label, .. } => Some(*label),
                    _ => None,
                })
                .collect();
            assert_eq!(labels, range.collect(), "{what:?} of {ranks} ranks");
            ranges += 1;
        }
    }
    assert!(ranges > 500, "channels, trees and all-to-alls have one");
}
