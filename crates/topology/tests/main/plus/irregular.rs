//! Exceptions by pair, a smaller last group, and cables listed one by one.

use std::collections::BTreeMap;

use odonata_topology::{
    Arrangement, DragonflyPlus, DragonflyPlusSpec, Failures, GroupId, NodeId, Peer, RouterId, SlotId,
};
use proptest::prelude::*;

use crate::lookups;
use crate::support::{build, far, links, spec};

/// Machines with exceptions and a smaller last group, buildable or not.
pub fn specs() -> impl Strategy<Value = DragonflyPlusSpec> {
    let counts = (1..=5_u32, 1..=4_u32, 1..=4_u32, 1..=2_u32, 0..=9_u32);
    let links = prop_oneof![Just(None), (0..=9_u32).prop_map(Some)];
    let exceptions = prop::collection::vec((0..=4_u32, 0..=4_u32, 0..=9_u32).prop_map(|(a, b, n)| [a, b, n]), 0..=3);
    let last = prop_oneof![Just(None), (1..=4_u32).prop_map(Some)];
    let arrangement = prop_oneof![3 => Just(Arrangement::Linear), 1 => Just(Arrangement::Parallel)];
    (counts, links, exceptions, last, arrangement).prop_map(|((g, l, s, n, p), links, pair_links, last, a)| {
        DragonflyPlusSpec { pair_links, last_group_leaves: last.map(|n| n.min(l)), ..spec([g, l, s, n, p], links, a) }
    })
}

/// Links of a pair, or nothing if the description does not fit.
fn expected(spec: &DragonflyPlusSpec) -> Option<BTreeMap<(u32, u32), u32>> {
    let (groups, have) = (spec.groups, spec.spines * spec.global_links_per_spine);
    let mut pairs = BTreeMap::new();
    let mut excepted = BTreeMap::new();
    for &[a, b, links] in &spec.pair_links {
        if a >= groups || b >= groups || a == b || excepted.insert((a.min(b), a.max(b)), links).is_some() {
            return None;
        }
    }
    if spec.links_per_pair.is_none() && have < groups - 1 || spec.links_per_pair == Some(0) && excepted.is_empty() {
        return (groups == 1).then_some(pairs);
    }
    for (a, b) in (0..groups).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let usual = spec.links_per_pair.unwrap_or_else(|| have / (groups - 1));
        let links = excepted.get(&(a, b)).copied().unwrap_or(usual);
        let rounds = spec.arrangement != Arrangement::Parallel
            || links.is_multiple_of(spec.spines) && usual.is_multiple_of(spec.spines);
        if links == 0 || !rounds {
            return None; // leaves of two groups without a link cannot reach each other by a shortest path
        }
        pairs.insert((a, b), links);
    }
    let of = |g: u32| pairs.iter().filter(|&(&(a, b), _)| a == g || b == g).map(|(_, &n)| n).sum::<u32>();
    (0..groups).all(|g| of(g) <= have).then_some(pairs)
}

fn symmetric(machine: &DragonflyPlus) {
    let network = &machine.network;
    for (slot, peer) in network.peer.iter().enumerate() {
        match *peer {
            Peer::Router(far) => assert_eq!(network.peer[far.index()], Peer::Router(SlotId(slot as u32))),
            Peer::Node(node) => assert_eq!(network.node_slot[node.index()].index(), slot),
            Peer::None => panic!("slot {slot} leads nowhere"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Catches an exception that is ignored or breaks the balance of the spines, leaves that a smaller last group
    /// should not have, and look-ups that are off by its missing leaves.
    #[test]
    fn every_pair_has_its_links(spec in specs()) {
        let (machine, pairs) = match (DragonflyPlus::build(&spec), expected(&spec)) {
            (Ok(machine), Some(pairs)) => (machine, pairs),
            (Err(_), None) => return Ok(()),
            (built, expected) => {
                prop_assert!(false, "{:?}, expected {:?}", built.map(|m| m.spec), expected);
                return Ok(());
            }
        };
        let network = &machine.network;
        symmetric(&machine);
        lookups::check(&machine);
        let mut found = BTreeMap::new();
        let mut of_spine = vec![0; network.routers()];
        let mut of_leaf = vec![0; network.routers()];
        for (_, a, b) in links(network) {
            let (from, to) = (machine.group(a).0, machine.group(b).0);
            if from < to {
                *found.entry((from, to)).or_insert(0) += 1;
            }
            prop_assert!(from == to || !machine.is_leaf(a));
            of_spine[a.index()] += u32::from(from != to);
            of_leaf[a.index()] += u32::from(machine.is_leaf(a) && !machine.is_leaf(b));
        }
        prop_assert_eq!(machine.links_per_pair(), found.values().copied().max().unwrap_or(0));
        prop_assert_eq!(&found, &pairs);
        for group in 0..spec.groups {
            let leaves = if group + 1 == spec.groups { spec.last_group_leaves.unwrap_or(spec.leaves) } else { spec.leaves };
            prop_assert_eq!(machine.leaves_in(GroupId(group)), leaves);
            prop_assert_eq!(network.routers_in(GroupId(group)), leaves + spec.spines);
            let first = network.first_router(GroupId(group)).0;
            let need: u32 = pairs.iter().filter(|&(&(a, b), _)| a == group || b == group).map(|(_, &n)| n).sum();
            for r in first..first + leaves + spec.spines {
                let leaf = r < first + leaves;
                prop_assert_eq!((machine.is_leaf(RouterId(r)), machine.local(RouterId(r))), (leaf, r - first));
                prop_assert_eq!(of_leaf[r as usize], if leaf { spec.spines } else { 0 });
                let balanced = need / spec.spines..=need.div_ceil(spec.spines);
                prop_assert!(leaf || balanced.contains(&of_spine[r as usize]), "spine {}", r);
            }
        }
        let leaves = (spec.groups - 1) * spec.leaves + machine.leaves_in(GroupId(spec.groups - 1));
        prop_assert_eq!(network.nodes() as u32, leaves * spec.nodes_per_leaf);
    }
}

/// Exceptions shift the spines of the links that follow: 2 spines; links 0-1: 1, 0-2: 2, 1-2: 3. By hand, each group
/// hands its links out in turn: group 0: spine 0 to 1; 1, 0 to 2. Group 1: 0 to 0; 1, 0, 1 to 2. Group 2: 0, 1 to 0;
/// 0, 1, 0 to 1; the whole first round of links 1-2 keeps its place, as do single ones (the second round is not whole).
#[test]
fn exceptions_by_hand() {
    let spec = DragonflyPlusSpec {
        pair_links: vec![[2, 0, 2], [1, 2, 3]],
        ..spec([3, 1, 2, 1, 3], Some(1), Arrangement::Linear)
    };
    let machine = build(&spec);
    let network = &machine.network;
    let to =
        |r: u32| (1..network.ports(RouterId(r))).map(|p| far(network, r, p).expect("global").0).collect::<Vec<_>>();
    // Spines: 1, 2 of group 0; 4, 5 of group 1; 7, 8 of group 2.
    assert_eq!([to(1), to(2)], [vec![4, 8], vec![7]]);
    assert_eq!([to(4), to(5)], [vec![1, 8], vec![7, 7]]);
    assert_eq!([to(7), to(8)], [vec![2, 5, 5], vec![1, 4]]);
}

/// Leaves 0, 1 | 4, 5 | 8; spines 2, 3 | 6, 7 | 9, 10. Catches ports in another order than group, then list; nodes or
/// routers of the last group that are numbered as if it were full.
#[test]
fn listed_cables_by_hand() {
    let spec = DragonflyPlusSpec {
        last_group_leaves: Some(1),
        global_links: Some(vec![[9, 2], [2, 7], [6, 2], [10, 6]]),
        ..spec([3, 2, 2, 3, 3], None, Arrangement::Explicit)
    };
    let machine = build(&spec);
    let network = &machine.network;
    let peers = |r: u32| (0..network.ports(RouterId(r))).map(|p| far(network, r, p)).collect::<Vec<_>>();
    assert_eq!(peers(2), [(0, 3), (1, 3), (7, 2), (6, 2), (9, 1)].map(Some));
    assert_eq!(peers(6), [(4, 3), (5, 3), (2, 3), (10, 1)].map(Some));
    assert_eq!(peers(9), [(8, 3), (2, 4)].map(Some));
    assert_eq!(peers(8), [None, None, None, Some((9, 0)), Some((10, 0))]);
    assert_eq!((network.nodes(), network.routers(), machine.links_per_pair()), (15, 11, 2));
    assert_eq!(machine.leaf_of(NodeId(14)), RouterId(8));
    assert!(!machine.complete);
    lookups::check(&machine);
}

/// The cables of an arrangement, listed pair after pair, are the same machine, port by port.
#[test]
fn a_list_of_an_arrangement_is_the_arrangement() {
    for arrangement in [Arrangement::Linear, Arrangement::Parallel] {
        let given = DragonflyPlusSpec { last_group_leaves: Some(1), ..spec([4, 3, 2, 1, 6], Some(4), arrangement) };
        let machine = build(&given);
        let cables = links(&machine.network).filter(|&(_, a, b)| machine.group(a) < machine.group(b));
        let mut cables: Vec<_> = cables
            .map(|(slot, a, b)| {
                let Peer::Router(far) = machine.network.peer[slot.index()] else { unreachable!("a cable") };
                (machine.network.port_of(slot).1.0 + machine.network.port_of(far).1.0, [a.0, b.0])
            })
            .collect();
        cables.sort_unstable();
        let global_links = Some(cables.into_iter().map(|(_, ends)| ends).collect());
        let arrangement = Arrangement::Explicit;
        let listed = DragonflyPlusSpec { global_links, links_per_pair: None, arrangement, ..given };
        let listed = DragonflyPlus::build_with(&listed, &Failures::default()).expect("the same");
        assert_eq!(listed.network.first_slot, machine.network.first_slot);
        let ends = |machine: &DragonflyPlus, r: u32| {
            let mut far: Vec<_> = (0..machine.network.ports(RouterId(r)))
                .filter_map(|p| far(&machine.network, r, p))
                .map(|x| x.0)
                .collect();
            far.sort_unstable();
            far
        };
        for r in 0..machine.network.routers() as u32 {
            assert_eq!(ends(&listed, r), ends(&machine, r), "router {r}");
        }
    }
}
