//! Properties that every wiring has, over machines of all shapes.

use std::collections::BTreeMap;

use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};
use odonata_topology::{Arrangement, ClassId, DragonflyPlus, DragonflyPlusSpec, NodeId, Peer, Port, RouterId};
use proptest::prelude::*;

use crate::support::{build, distances, links, spec};

/// Descriptions of small machines, buildable or not.
fn sizes() -> impl Strategy<Value = DragonflyPlusSpec> {
    let counts = (1..=7_u32, 1..=4_u32, 1..=6_u32, 1..=3_u32, 0..=12_u32);
    let links = prop_oneof![Just(None), (1..=14_u32).prop_map(Some)];
    let arrangement = prop_oneof![3 => Just(Arrangement::Linear), 1 => Just(Arrangement::Parallel)];
    (counts, links, arrangement).prop_map(|((g, l, s, n, p), links, a)| spec([g, l, s, n, p], links, a))
}

/// Links between each pair of groups, or why there cannot be any: counted anew.
fn expected_links(spec: &DragonflyPlusSpec) -> Result<u32, &'static str> {
    let (peers, have) = (spec.groups - 1, spec.spines * spec.global_links_per_spine);
    let links = match (peers, spec.links_per_pair) {
        (0, _) => 0,
        (_, Some(links)) if links * peers > have => return Err("ports"),
        (_, Some(links)) => links,
        (_, None) if have < peers => return Err("groups"),
        (_, None) => have / peers,
    };
    if spec.arrangement == Arrangement::Parallel && links % spec.spines != 0 {
        return Err("rounds");
    }
    Ok(links)
}

fn symmetric(machine: &DragonflyPlus) {
    let network = &machine.network;
    for (slot, peer) in network.peer.iter().enumerate() {
        match *peer {
            Peer::Router(far) => {
                let Peer::Router(back) = network.peer[far.index()] else {
                    panic!("slot {far} leads back to no router")
                };
                assert_eq!(back.index(), slot, "the cable of slot {slot} has one other end");
                assert_eq!(network.class[slot], network.class[far.index()], "both directions are of one class");
                let (a, b) = (network.router_of_slot[slot], network.router_of_slot[far.index()]);
                let class = if machine.group(a) == machine.group(b) { LOCAL } else { GLOBAL };
                assert_eq!(network.class[slot], class);
                if class == LOCAL {
                    assert_ne!(machine.is_leaf(a), machine.is_leaf(b), "a local link joins a leaf and a spine");
                } else {
                    assert!(!machine.is_leaf(a) && !machine.is_leaf(b), "a global link joins spines");
                }
            }
            Peer::Node(node) => {
                assert_eq!(network.node_slot[node.index()].index(), slot);
                assert_eq!(network.class[slot], ClassId::NODE);
                assert!(machine.is_leaf(network.router_of_node(node)));
            }
            Peer::None => panic!("slot {slot} leads nowhere"),
        }
    }
}

fn counts(machine: &DragonflyPlus, links_per_pair: u32) {
    let (spec, network) = (&machine.spec, &machine.network);
    let (groups, need) = (spec.groups, links_per_pair * (spec.groups - 1));
    let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut of_spine = vec![0_u32; network.routers()];
    let mut of_leaf = vec![0_u32; network.routers()];
    for (_, a, b) in links(network) {
        let (from, to) = (machine.group(a).0, machine.group(b).0);
        if from == to {
            of_leaf[a.index()] += u32::from(machine.is_leaf(a));
        } else {
            *pairs.entry((from, to)).or_default() += 1;
            of_spine[a.index()] += 1;
        }
    }
    for (from, to) in (0..groups).flat_map(|a| (0..groups).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        assert_eq!(pairs.get(&(from, to)).copied().unwrap_or(0), links_per_pair, "links from {from} to {to}");
    }
    for router in 0..network.routers() {
        if machine.is_leaf(RouterId(router as u32)) {
            assert_eq!(of_leaf[router], spec.spines, "a leaf is joined to every spine of its group once");
            continue;
        }
        let count = of_spine[router];
        assert!(count <= spec.global_links_per_spine, "router {router} has {count} global links");
        let (least, most) = (need / spec.spines, need.div_ceil(spec.spines));
        assert!((least..=most).contains(&count), "router {router} has {count} global links, not {least} to {most}");
    }
    let cables = network.cables();
    let local = u64::from(groups * spec.leaves * spec.spines);
    let global = u64::from(groups * need / 2);
    assert_eq!(cables, [u64::from(groups * spec.leaves * spec.nodes_per_leaf), local, global]);
    assert_eq!(network.nodes() as u64, cables[0]);
    assert_eq!(network.routers() as u32, groups * (spec.leaves + spec.spines));
}

fn connected(machine: &DragonflyPlus) {
    let leaves = (0..machine.network.routers() as u32).map(RouterId).filter(|&r| machine.is_leaf(r));
    for from in leaves.clone() {
        let distance = distances(&machine.network, from);
        for to in leaves.clone() {
            let same_group = machine.group(from) == machine.group(to);
            let expected = if from == to {
                0
            } else if same_group {
                2
            } else {
                3
            };
            assert_eq!(distance[to.index()], expected, "{from} to {to}");
        }
        assert!(distance.iter().all(|&d| d != u32::MAX), "every router can be reached");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Catches one-way cables, ports wired twice, groups joined by too few or too many links, spines with more links
    /// than ports, leaves that cannot be reached, and a refusal of what can be built (or the reverse).
    #[test]
    fn every_wiring_is_sound_or_refused_for_its_reason(spec in sizes()) {
        match (DragonflyPlus::build(&spec).map_err(|e| e.code()), expected_links(&spec)) {
            (Ok(machine), Ok(links)) => {
                prop_assert_eq!(machine.links_per_pair(), links);
                symmetric(&machine);
                counts(&machine, links);
                connected(&machine);
            }
            (Err("too-few-global-ports"), Err("ports"))
            | (Err("too-many-groups"), Err("groups"))
            | (Err("uneven-parallel-links"), Err("rounds")) => {}
            (built, expected) => prop_assert!(false, "{:?}, expected {:?}", built.map(|m| m.spec), expected),
        }
    }
}

/// Catches a description that is not filled in: the machine must say how many links it has.
#[test]
fn the_number_of_links_is_filled_in() {
    let machine = build(&spec([3, 1, 2, 1, 4], None, Arrangement::Linear));
    assert_eq!(machine.spec.links_per_pair, Some(4));
    assert_eq!(machine.network.group_of_node(NodeId(2)).0, 2);
}

/// Catches NICs of a node on several leaves or apart on one, links to spines that begin too early, and a machine whose
/// cables depend on its NICs.
#[test]
fn the_nics_of_a_node_are_side_by_side_on_its_leaf() {
    let plain = spec([3, 2, 2, 2, 4], None, Arrangement::Linear);
    let one = build(&plain);
    let machine = build(&DragonflyPlusSpec { rails: 3, ..plain });
    let network = &machine.network;
    assert_eq!((network.rails, network.nodes(), network.endpoints()), (3, 12, 36));
    for endpoint in 0..36 {
        let (leaf, port) = network.port_of(network.node_slot[endpoint as usize]);
        assert_eq!(leaf, one.leaf_of(NodeId(endpoint / 3)), "endpoint {endpoint}");
        assert_eq!(port, Port((endpoint % 6) as u16), "endpoint {endpoint}");
        assert_eq!(network.peer[network.slot(leaf, port).index()], Peer::Node(NodeId(endpoint)));
    }
    let between = |machine: &DragonflyPlus| -> Vec<(RouterId, RouterId)> {
        links(&machine.network).map(|(_, from, to)| (from, to)).collect()
    };
    assert_eq!(between(&machine), between(&one));
    assert_eq!(network.cables(), [36, 12, 12]);
}
