//! Catches arithmetic that overflows with many ranks or bytes, and wrong limits.

use odonata_error::Error;
use odonata_programs::collective::Division;
use odonata_programs::{Broadcast, Op, PhaseAction, Reduce, RingWork, Tree, Way};

use crate::cases::{all, exchanges_of_nodes, made};
use crate::script::Script;

const MOST: u64 = 1 << 40;

/// Code and path.
fn told(error: Error) -> (&'static str, String) {
    (error.code(), error.path.to_string())
}

#[test]
fn one_rank_has_nothing_to_do() {
    for what in [all(0, u64::MAX), exchanges_of_nodes(1, u64::MAX)].concat() {
        assert_eq!(what.part(1).unwrap().chunks(0), 0, "{what:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    for what in all(0, 8) {
        assert_eq!(made(&what, 0).err().map(told), Some(("no-ranks", String::new())), "{what:?}");
    }
    for root in [5, u32::MAX] {
        let broadcast = PhaseAction::Broadcast { algorithm: Broadcast::Flat, root, bytes: 8 };
        let reduce = PhaseAction::Reduce { algorithm: Reduce::Binomial, root, bytes: 8 };
        for what in [broadcast, reduce] {
            assert_eq!(what.part(5).err().map(told), Some(("root-not-a-rank", "root".into())), "{what:?}");
        }
    }
}

#[test]
fn a_channel_needs_whole_nodes_and_each_rank_of_one() {
    let refused = |order: &[u32]| {
        let order = order.to_vec();
        let ring = PhaseAction::RingChannel { work: RingWork::ReduceScatter, order: order.clone(), bytes: 8 };
        let tree = PhaseAction::TreeChannel { tree: Tree::Second, way: Way::Up, order, bytes: 8 };
        let [ring, tree] = [ring, tree].map(|what| what.part(12).err().map(|error| error.to_string()));
        assert_eq!(ring, tree);
        ring
    };
    assert_eq!(refused(&[3, 0, 2, 1]), None);
    let grid = |field: &str, grid: &str, points| {
        Some(format!("{field}: grid-of-other-size (grid = {grid}, points = {points}, ranks = 12)"))
    };
    assert_eq!(refused(&[0, 1, 2, 3, 4]), grid("order", "[5, 2]", 10));
    assert_eq!(refused(&[]), grid("order", "[0, 0]", 0));
    assert_eq!(refused(&(0..24).collect::<Vec<_>>()), grid("order", "[24, 0]", 0));
    let rails =
        |per_node| PhaseAction::PxnAlltoall { per_node, bytes: 8 }.part(12).err().map(|error| error.to_string());
    let field = "per_node";
    let others = [grid(field, "[5, 2]", 10), grid(field, "[0, 0]", 0), grid(field, "[24, 0]", 0)];
    assert_eq!([4, 5, 0, 24].map(rails).to_vec(), [vec![None], others.to_vec()].concat());
    assert_eq!(refused(&[1, 2, 3, 4]), Some("order[3]: out-of-range (found = 4, least = 0, most = 3)".into()));
    let twice = "order[2]: second-time (what = `rank`, found = `1`, first_line = nothing)";
    assert_eq!(refused(&[1, 2, 1, 0]), Some(twice.into()));
}

#[test]
fn messages_have_at_most_2_to_the_40_bytes() {
    for ranks in [2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17] {
        let n = u64::from(ranks);
        let usual = 720_720 * 17 * 16;
        let cases = |bytes| [all(1, bytes), exchanges_of_nodes(ranks, bytes)].concat();
        for (what, number) in cases(usual).into_iter().zip(0..) {
            let lines = Script::new(&what, ranks).lines;
            let size = |op| if let Op::Send { bytes, .. } = op { bytes } else { 0 };
            let largest = lines.iter().flatten().map(|line| size(line.op)).max().unwrap();
            if let PhaseAction::Barrier { .. } = what {
                assert_eq!(largest, 0);
                continue;
            }
            // If the largest message grows with the vector, this vector has one of 2^40 bytes, except for rounding.
            let limit = (u128::from(MOST) * u128::from(usual) / u128::from(largest)) as u64;
            let with = |bytes| made(&cases(bytes)[number], ranks);
            assert!(with(limit - n).is_ok(), "{what:?} of {ranks} ranks");
            for bytes in [limit + 2 * n, u64::MAX / 2, u64::MAX] {
                let error = with(bytes).err().unwrap_or_else(|| panic!("{what:?} of {ranks} ranks: {bytes} bytes"));
                assert_eq!(told(error), ("collective-too-large", "bytes".into()));
            }
        }
    }
}

/// For each examined rank: the operations of some chunks, and their other ends.
#[test]
fn any_number_of_ranks_can_be_asked_for() {
    for ranks in [u32::MAX, 1 << 31, (1 << 31) + 1, (1 << 31) - 1] {
        let mut whats = all(ranks - 2, 1 << 8);
        for (&tree, &way) in Tree::ALL.iter().flat_map(|tree| Way::ALL.iter().map(move |way| (tree, way))) {
            whats.push(PhaseAction::TreeChannel { tree, way, order: vec![0], bytes: 1 << 8 });
        }
        let per_node = (1..=8).rev().find(|per_node| ranks.is_multiple_of(*per_node)).unwrap();
        whats.push(PhaseAction::PxnAlltoall { per_node, bytes: 1 << 8 });
        for what in whats {
            let part = what.part(ranks).unwrap();
            let chunk = |rank, index| {
                let mut ops = Vec::new();
                part.chunk(rank, index, &mut ops);
                ops
            };
            for rank in [0, 1, ranks / 2, ranks - 2, ranks - 1] {
                let chunks = part.chunks(rank);
                for index in (0..chunks.min(34)).chain(chunks.saturating_sub(34)..chunks) {
                    for op in chunk(rank, index) {
                        let (peer, label, other) = match op {
                            Op::Send { to, label, bytes, .. } => (to, label, (true, label, bytes)),
                            Op::Receive { from, label, bytes, .. } => (from, label, (false, label, bytes)),
                            _ => continue,
                        };
                        assert!(peer < ranks && peer != rank && label < 1 << 40 && other.2 <= MOST, "{what:?}: {op:?}");
                        let last = part.chunks(peer);
                        // The other end is in the same step, or in one of a tree before or after as many others.
                        let near = index.saturating_sub(34)..(index + 34).min(last);
                        let ends = near.chain(last.saturating_sub(34)..last).chain(0..last.min(34));
                        // A flat root has a step for each rank.
                        let turn = (u64::from(rank) + u64::from(ranks) - u64::from(peer)) % u64::from(ranks);
                        // So has everyone if all is begun at once, without one for itself.
                        let place = u64::from(rank - u32::from(rank > peer));
                        let mut ends = ends.chain([turn.saturating_sub(1), place].into_iter().filter(|&i| i < last));
                        let fits = |op: Op| match op {
                            Op::Send { to, label, bytes, .. } => to == rank && (false, label, bytes) == other,
                            Op::Receive { from, label, bytes, .. } => from == rank && (true, label, bytes) == other,
                            _ => false,
                        };
                        assert!(ends.any(|i| chunk(peer, i).into_iter().any(fits)), "{what:?}: {op:?} of rank {rank}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_division_covers_the_vector() {
    use odonata_programs::collective::Piece::{self, Blocks};
    for parts in [1, 2, 3, 7, 16, 1000, u32::MAX] {
        for bytes in [0, 1, 15, 1 << 40, MOST * u64::from(parts.min(1 << 23)) + 12345] {
            let division = Division::split(bytes, parts);
            let end = |i: u32| (u128::from(bytes) * u128::from(i) / u128::from(parts)) as u64;
            assert_eq!(division.bytes(Blocks { first: 0, count: parts }), bytes);
            for first in [0, parts / 3, parts / 2, parts - 1] {
                assert_eq!(division.bytes(Piece::block(first)), end(first + 1) - end(first));
                // All, but from another block on.
                assert_eq!(division.bytes(Blocks { first, count: parts }), bytes);
                let (count, wrapped) = (parts - first / 2, (parts - first / 2).saturating_sub(parts - first));
                let expected = end(parts.min(first + count.min(parts - first))) - end(first) + end(wrapped);
                assert_eq!(division.bytes(Blocks { first, count }), expected);
            }
        }
    }
}
