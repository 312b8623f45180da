//! Properties that every wiring of a dragonfly or a cascade has.

use std::collections::BTreeMap;

use odonata_topology::{
    ClassId, Dragonfly, Failures, GroupId, IntermediateGroups, NodeId, Peer, RouterId, TopologySpec,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::support::{Shape, place, specs, try_direct, word};
use crate::support::{distances, links};

/// Every port leads somewhere and back, in the class that its two ends say.
fn symmetric(machine: &Dragonfly, shape: &Shape) {
    let network = &machine.network;
    for (slot, peer) in network.peer.iter().enumerate() {
        let (r, port) = network.port_of(odonata_topology::SlotId(slot as u32));
        let class = network.class[slot];
        match *peer {
            Peer::Router(far) => {
                assert_eq!(network.peer[far.index()], Peer::Router(odonata_topology::SlotId(slot as u32)));
                assert_eq!(class, network.class[far.index()], "both directions are of one class");
                let other = network.router_of_slot[far.index()];
                let same = network.group_of_router[r.index()] == network.group_of_router[other.index()];
                let ((row, column), (far_row, far_column)) = (place(machine, r.0), place(machine, other.0));
                let (on_row, on_column) = (same && row == far_row, same && row != far_row);
                assert!(r != other && (!on_column || column == far_column), "{r} and {other} share nothing");
                assert_eq!(machine.is_row_link(r, port.0), on_row);
                assert_eq!(machine.is_column_link(r, port.0), on_column);
                assert_eq!(machine.is_global(r, port.0), !same);
                let expected = if same { 1 + u8::from(on_column) } else { shape.first_global };
                assert_eq!(class, ClassId(expected), "{r} to {other}");
            }
            Peer::Node(endpoint) => {
                assert_eq!(network.node_slot[endpoint.index()].index(), slot);
                assert_eq!(class, ClassId::NODE);
            }
            Peer::None => panic!("slot {slot} leads nowhere"),
        }
    }
}

/// The number of cables of every kind, counted from the wiring.
fn counts(machine: &Dragonfly, shape: &Shape) {
    let network = &machine.network;
    let mut of_pair: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut of_routers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut of_router = vec![0; network.routers()];
    for (_, a, b) in links(network) {
        let (from, to) = (network.group_of_router[a.index()], network.group_of_router[b.index()]);
        if from == to {
            *of_routers.entry((a.0, b.0)).or_default() += 1;
        } else {
            *of_pair.entry((from, to)).or_default() += 1;
            of_router[a.index()] += 1;
        }
    }
    let pairs = (0..shape.groups).flat_map(|a| (0..shape.groups).map(move |b| (a, b))).filter(|(a, b)| a != b);
    for (a, b) in pairs {
        let expected = shape.links(a, b);
        assert_eq!(of_pair.get(&(a, b)).copied().unwrap_or(0), expected, "cables from {a} to {b}");
        assert_eq!(machine.cables(GroupId(a), GroupId(b)).len() as u32, expected);
    }
    assert_eq!(machine.links_per_pair(), of_pair.values().copied().max().unwrap_or(0));
    assert!(of_router.iter().all(|&n| n <= shape.per_router), "no router has more global links than ports");
    let routers = 0..network.routers() as u32;
    for (a, b) in routers.clone().flat_map(|a| routers.clone().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let same = network.group_of_router[a as usize] == network.group_of_router[b as usize];
        let ((row, column), (far_row, far_column)) = (place(machine, a), place(machine, b));
        let expected = match (same, row == far_row, column == far_column) {
            (true, true, _) => shape.parallel.0,
            (true, false, true) => shape.parallel.1,
            _ => 0,
        };
        assert_eq!(of_routers.get(&(a, b)).copied().unwrap_or(0), expected, "local links from {a} to {b}");
    }
    let expected: u32 = (0..shape.groups).map(|g| shape.routers(g)).sum();
    assert_eq!(network.routers() as u32, expected);
    assert_eq!(network.endpoints() as u32, expected * shape.nodes_per_router);
    assert_eq!(network.nodes() as u32 * shape.rails, network.endpoints() as u32);
}

/// Cables of a pair are all those of the wiring, ascending; the groups between two others are those with cables.
fn look_ups(machine: &Dragonfly, shape: &Shape) {
    let network = &machine.network;
    let groups = || (0..shape.groups).map(GroupId);
    for (a, b) in groups().flat_map(|a| groups().map(move |b| (a, b))) {
        let of_pair = |&(_, from, to): &(_, RouterId, RouterId)| {
            (network.group_of_router[from.index()], network.group_of_router[to.index()]) == (a.0, b.0)
        };
        let expected: Vec<_> = links(network).filter(|x| a != b && of_pair(x)).map(|(slot, ..)| slot).collect();
        assert_eq!(machine.cables(a, b), expected, "from {a} to {b}");
        if a == b {
            continue;
        }
        let between: Vec<u16> = groups()
            .filter(|&v| v != a && v != b && shape.links(a.0, v.0) > 0 && shape.links(v.0, b.0) > 0)
            .map(|v| v.0 as u16)
            .collect();
        let all = between.len() as u32 + 2 == shape.groups;
        assert_eq!(
            machine.intermediates(a, b),
            if all { IntermediateGroups::All } else { IntermediateGroups::List(&between) },
            "{a} to {b}"
        );
    }
    for node in 0..network.nodes() as u32 {
        let router = network.router_of_node(NodeId(node));
        assert_eq!(network.group_of_node(NodeId(node)).0, network.group_of_router[router.index()]);
    }
}

/// Without failures: one link along a row or column, else two; every router is reached unless groups lack cables.
fn distances_are_right(machine: &Dragonfly, shape: &Shape) {
    let network = &machine.network;
    let (rows, columns) = shape.grid[usize::from(shape.groups == 1)];
    let square = rows > 1 && columns > 1;
    let links = if rows * columns == 1 { 0 } else { 1 + u8::from(square) };
    assert_eq!((machine.diameter(), machine.subs()), (links, 1 + u8::from(square)));
    if (0..shape.groups).any(|a| (0..a).any(|b| shape.links(a, b) == 0)) {
        return;
    }
    for from in [0, network.routers() as u32 - 1] {
        let far = distances(network, RouterId(from)).into_iter().max().expect("a router");
        assert!(far <= 2 * u32::from(machine.diameter()) + 1, "{from}: {far} links");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Catches one-way cables, ports wired twice, a wrong class, pairs of groups or routers with the wrong number of
    /// cables, wrong look-ups, a path that is too long, and a refusal of what can be built (or the reverse).
    #[test]
    fn every_wiring_is_sound_or_refused_for_its_reason(spec in specs()) {
        let shape = Shape::of(&spec);
        match (try_direct(&spec, &Failures::default()), shape.reason()) {
            (Ok(machine), None) => {
                symmetric(&machine, &shape);
                counts(&machine, &shape);
                look_ups(&machine, &shape);
                distances_are_right(&machine, &shape);
            }
            (Err(error), Some(reason)) => prop_assert_eq!(word(&error), reason, "{}", error),
            (built, expected) => prop_assert!(false, "{:?}, expected {:?}", built.map(|m| m.network.routers()), expected),
        }
    }
}

/// Catches a generator without useful machines: a fair part of them can be built.
#[test]
fn the_generator_makes_machines() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let built = |spec: &TopologySpec| Shape::of(spec).reason().is_none() && Shape::of(spec).groups > 2;
    let made = (0..400).filter(|_| built(&specs().new_tree(&mut runner).expect("a value").current())).count();
    assert!(made > 100, "{made} of 400");
}
