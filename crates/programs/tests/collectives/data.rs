//! Would catch: data at the wrong rank, missing, counted twice, or sent before it is there; ranks that wait for each
//! other in a cycle.

use std::collections::BTreeMap;

use odonata_programs::collective::Act;
use odonata_programs::{Allreduce, Op, PhaseAction, RingWork, Tree, Way};

use crate::cases::{channels, exchanges_of_nodes, made, numbers_of_ranks, rooted, roots, trees, unrooted};
use crate::executor::{Counts, Rank, Sends, run};
use crate::script::{Item, Line, Script};

#[test]
fn rooted_collectives_end_as_mpi_promises() {
    for ranks in numbers_of_ranks() {
        for root in roots(ranks) {
            rooted(root, 1000).iter().for_each(|what| check(what, ranks));
        }
    }
}

#[test]
fn other_collectives_end_as_mpi_promises() {
    for ranks in numbers_of_ranks() {
        unrooted(1000).iter().for_each(|what| check(what, ranks));
    }
}

#[test]
fn channels_of_a_ring_end_as_their_collectives() {
    for ranks in numbers_of_ranks() {
        channels(ranks, 1000).iter().for_each(|what| check(what, ranks));
    }
}

#[test]
fn exchanges_of_nodes_end_as_an_alltoall() {
    for ranks in numbers_of_ranks() {
        exchanges_of_nodes(ranks, 1000).iter().for_each(|what| check(what, ranks));
    }
}

/// Catches messages between nodes that leave their rail, that carry less than a whole node has, or that are more than one
/// to each other node.
#[test]
fn an_exchange_by_rails_sends_a_message_to_each_other_node_on_its_rail() {
    for (nodes, per_node) in [(1, 4), (2, 1), (2, 3), (3, 2), (4, 8), (5, 4)] {
        let ranks = nodes * per_node;
        let script = Script::new(&PhaseAction::PxnAlltoall { per_node, bytes: 10 }, ranks);
        for (rank, lines) in (0..).zip(&script.lines) {
            let sent = |line: &Line| match line.op {
                Op::Send { to, bytes, .. } => Some((to, bytes)),
                _ => None,
            };
            let (inside, between): (Vec<_>, Vec<_>) =
                lines.iter().filter_map(sent).partition(|(to, _)| to / per_node == rank / per_node);
            assert_eq!(inside.len() as u32, nodes * (per_node - 1), "{nodes} x {per_node}");
            assert!(inside.iter().all(|&(_, bytes)| bytes == 10), "{nodes} x {per_node}");
            let expected = (1..nodes).map(|by| ((rank + by * per_node) % ranks, 10 * u64::from(per_node)));
            assert_eq!(between, expected.collect::<Vec<_>>(), "{nodes} x {per_node}");
        }
    }
}

#[test]
fn trees_end_as_a_reduction_and_a_broadcast() {
    for ranks in numbers_of_ranks() {
        trees(ranks, 1000).iter().for_each(|what| check(what, ranks));
    }
}

/// Catches two trees with the same inner nodes, which leave half of the links idle.
#[test]
fn a_node_is_inside_at_most_one_of_two_trees() {
    for nodes in 2..=33 {
        let sent = |tree| {
            let what = PhaseAction::TreeChannel { tree, way: Way::Down, order: vec![0], bytes: 8 };
            Script::new(&what, nodes).sent()
        };
        let (first, second) = (sent(Tree::First), sent(Tree::Second));
        let inside = |of: &[(u64, u64)]| -> Vec<usize> { (0..of.len()).filter(|&node| of[node].0 > 0).collect() };
        let (a, b) = (inside(&first), inside(&second));
        let both = a.iter().filter(|node| b.contains(node)).count();
        // A root has one child, and every other inner node at most two.
        assert!(first.iter().chain(&second).all(|&(messages, _)| messages <= 2), "{nodes} nodes");
        assert!(both <= usize::from(nodes % 2 == 1), "{nodes} nodes: {a:?} and {b:?}");
    }
}

/// By hand, eight nodes: 0 - 4 - (2, 6), 2 - (1, 3), 6 - (5, 7), and the mirrored tree. With three ranks a node and
/// the order 1, 2, 0, ranks 1, 4, 7, ... exchange between nodes, and a chain goes on to 2 and then to 0.
#[test]
fn trees_by_hand() {
    let above = |tree, order: &[u32]| -> Vec<Option<u32>> {
        let ranks = 8 * order.len() as u32;
        let what = PhaseAction::TreeChannel { tree, way: Way::Up, order: order.to_vec(), bytes: 8 };
        let made = made(&what, ranks).unwrap();
        let last = |rank: u32| what.part(ranks).unwrap().chunks(rank) - 1;
        let to = |rank| made.step(rank, last(rank)).moves().find(|of| of.act == Act::Send).map(|of| of.peer);
        (0..ranks).map(to).collect()
    };
    assert_eq!(above(Tree::First, &[0]), [None, Some(2), Some(4), Some(2), Some(0), Some(6), Some(4), Some(6)]);
    let second = [Some(1), Some(3), Some(1), Some(7), Some(5), Some(3), Some(5), None];
    assert_eq!(above(Tree::Second, &[0]), second);
    let wide = above(Tree::First, &[1, 2, 0]);
    assert_eq!(wide[..6], [Some(2), None, Some(1), Some(5), Some(7), Some(4)]);
    assert_eq!(wide[12..15], [Some(14), Some(1), Some(13)]);
}

/// Three nodes of four ranks: each channel goes around the ranks of a node in its own order, and leaves the node once.
/// Catches rings that leave all nodes by one rank, and ranks that are visited in another order.
#[test]
fn channels_leave_nodes_at_different_ranks() {
    let of = |order: &[u32]| {
        let what = PhaseAction::RingChannel { work: RingWork::Allreduce, order: order.to_vec(), bytes: 12 };
        made(&what, 12).unwrap()
    };
    let after = |order| -> Vec<u32> {
        let ring = of(order);
        let to = |rank| ring.step(rank, 0).moves().find(|of| of.act == Act::Send).unwrap().peer;
        (0..12).map(to).collect()
    };
    assert_eq!(after(&[0, 1, 2, 3]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]);
    assert_eq!(after(&[1, 2, 3, 0]), [5, 2, 3, 0, 9, 6, 7, 4, 1, 10, 11, 8]);
    assert_eq!(after(&[3, 0, 1, 2]), [1, 2, 7, 0, 5, 6, 11, 4, 9, 10, 3, 8]);
    assert_eq!(after(&[1, 2, 0, 3]), [3, 2, 0, 5, 7, 6, 4, 9, 11, 10, 8, 1]);
    let plain = made(&PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: 12 }, 12).unwrap();
    let first = of(&[0, 1, 2]);
    assert!((0..12).all(|rank| (0..22).all(|index| plain.step(rank, index) == first.step(rank, index))));
}

/// Catches blocks of 0 bytes that are left out, and sizes that differ at the two ends.
#[test]
fn any_size_has_the_same_messages() {
    for ranks in [2, 3, 7, 8, 12, 17] {
        let messages = |bytes| -> Vec<Vec<u64>> {
            let sent = |what| Script::new(&what, ranks).sent().into_iter().map(|(messages, _)| messages).collect();
            [rooted(1, bytes), unrooted(bytes)].concat().into_iter().map(sent).collect()
        };
        let expected = messages(1 << 20);
        for bytes in [0, 1, 2, 5, 16, 17, 1023, 999_999_999_999 / u64::from(ranks)] {
            assert_eq!(messages(bytes), expected);
        }
    }
}

fn check(what: &PhaseAction, ranks: u32) {
    let script = Script::new(what, ranks);
    for sends in [Sends::Eager, Sends::Rendezvous] {
        let end = run(&script, sends, (0..ranks).map(|rank| begin(what, &script, rank)).collect());
        for (rank, state) in end.iter().enumerate() {
            promised(what, &script, rank as u32, state);
        }
    }
}

/// A count of 1 for each of some ranks.
fn from(ranks: u32, some: impl IntoIterator<Item = u32>) -> Counts {
    let mut counts = vec![0; ranks as usize];
    some.into_iter().for_each(|rank| counts[rank as usize] += 1);
    counts
}

fn begin(what: &PhaseAction, script: &Script, rank: u32) -> BTreeMap<Item, Counts> {
    let Script { ranks, parts, .. } = *script;
    let own = from(ranks, [rank]);
    let items: Vec<Item> = match what {
        PhaseAction::Broadcast { root, .. } if *root != rank => Vec::new(),
        PhaseAction::TreeChannel { way: Way::Down, .. } if root_of_tree(what, ranks) != rank => Vec::new(),
        PhaseAction::Allgather { .. } | PhaseAction::RingChannel { work: RingWork::Allgather, .. } => {
            vec![Item::Block(rank)]
        }
        PhaseAction::Alltoall { .. } | PhaseAction::GroupedAlltoall { .. } | PhaseAction::PxnAlltoall { .. } => {
            (0..ranks).map(|to| Item::Pair(rank, to)).collect()
        }
        _ => (0..parts).map(Item::Block).collect(),
    };
    items.into_iter().map(|item| (item, own.clone())).collect()
}

/// The head of node 0, or in the second tree that of the last node, or for an odd number of nodes of node 1.
fn root_of_tree(what: &PhaseAction, ranks: u32) -> u32 {
    let PhaseAction::TreeChannel { tree, order, .. } = what else { unreachable!("{what:?} is no tree") };
    let per_node = order.len() as u32;
    let nodes = ranks / per_node;
    let node = match tree {
        Tree::First => 0,
        Tree::Second if nodes.is_multiple_of(2) => nodes - 1,
        Tree::Second => 1 % nodes,
    };
    node * per_node + order[0]
}

fn promised(what: &PhaseAction, script: &Script, rank: u32, end: &Rank) {
    let Script { ranks, parts, ref name, .. } = *script;
    let everybody = from(ranks, 0..ranks);
    let blocks = |counts: &dyn Fn(u32) -> Counts| (0..parts).map(|i| (Item::Block(i), counts(i))).collect::<Vec<_>>();
    let (expected, divided_by_rank): (Vec<(Item, Counts)>, bool) = match *what {
        PhaseAction::Broadcast { root, .. } => (blocks(&|_| from(ranks, [root])), false),
        PhaseAction::Reduce { root, .. } if root != rank => (Vec::new(), false),
        PhaseAction::Reduce { .. }
        | PhaseAction::Allreduce { .. }
        | PhaseAction::RingChannel { work: RingWork::Allreduce, .. } => (blocks(&|_| everybody.clone()), false),
        PhaseAction::TreeChannel { way: Way::Down, .. } => {
            (blocks(&|_| from(ranks, [root_of_tree(what, ranks)])), false)
        }
        PhaseAction::TreeChannel { .. } if root_of_tree(what, ranks) != rank => (Vec::new(), false),
        PhaseAction::TreeChannel { .. } => (blocks(&|_| everybody.clone()), false),
        PhaseAction::Allgather { .. } | PhaseAction::RingChannel { work: RingWork::Allgather, .. } => {
            (blocks(&|i| from(ranks, [i])), true)
        }
        PhaseAction::ReduceScatter { .. } | PhaseAction::RingChannel { work: RingWork::ReduceScatter, .. } => {
            (vec![(Item::Block(rank), everybody.clone())], true)
        }
        PhaseAction::Alltoall { .. } | PhaseAction::GroupedAlltoall { .. } | PhaseAction::PxnAlltoall { .. } => {
            ((0..ranks).map(|f| (Item::Pair(f, rank), from(ranks, [f]))).collect(), false)
        }
        PhaseAction::Barrier { .. } => (Vec::new(), false),
        _ => unreachable!(),
    };
    assert!(!divided_by_rank || parts == ranks, "{name}: {parts} blocks");
    for (item, counts) in expected {
        assert_eq!(end.data.get(&item), Some(&counts), "{name}: rank {rank}, {item:?}");
    }
    if let PhaseAction::Barrier { .. }
    | PhaseAction::Allreduce { .. }
    | PhaseAction::RingChannel { work: RingWork::Allreduce, .. } = what
    {
        assert_eq!(end.heard, (1 << ranks) - 1, "{name}: rank {rank} goes on before all have come");
    }
}
