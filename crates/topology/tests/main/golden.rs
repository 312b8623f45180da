//! The wiring of a machine small enough to be drawn by hand: 3 groups of 1 leaf and 2 spines, 4 links a pair.
//! Catches any change of numbering (nodes, routers, ports, links), which would silently change every result.
//!
//! Routers of group g: leaf 3g, spines 3g + 1 and 3g + 2. Leaf ports: its node, then the two spines. Spine ports: the
//! leaf, then two links to each other group, lower group first. Link x of a pair starts on spine x mod 2 of the lower
//! group; with the linear arrangement it ends on spine (x + x / 2) mod 2 of the higher one.

use odonata_topology::{Arrangement, DragonflyPlus, NodeId, Peer, Port, RouterId};

use crate::support::{build, far, spec};

/// Both ends of a cable: (router, port).
type Cable = ((u32, u16), (u32, u16));

const LOCAL: [Cable; 6] =
    [((0, 1), (1, 0)), ((0, 2), (2, 0)), ((3, 1), (4, 0)), ((3, 2), (5, 0)), ((6, 1), (7, 0)), ((6, 2), (8, 0))];

/// Links 0 to 3 of the pairs (0, 1), (0, 2), (1, 2).
const LINEAR: [Cable; 12] = [
    ((1, 1), (4, 1)),
    ((2, 1), (5, 1)),
    ((1, 2), (5, 2)),
    ((2, 2), (4, 2)),
    ((1, 3), (7, 1)),
    ((2, 3), (8, 1)),
    ((1, 4), (8, 2)),
    ((2, 4), (7, 2)),
    ((4, 3), (7, 3)),
    ((5, 3), (8, 3)),
    ((4, 4), (8, 4)),
    ((5, 4), (7, 4)),
];

const PARALLEL: [Cable; 12] = [
    ((1, 1), (4, 1)),
    ((2, 1), (5, 1)),
    ((1, 2), (4, 2)),
    ((2, 2), (5, 2)),
    ((1, 3), (7, 1)),
    ((2, 3), (8, 1)),
    ((1, 4), (7, 2)),
    ((2, 4), (8, 2)),
    ((4, 3), (7, 3)),
    ((5, 3), (8, 3)),
    ((4, 4), (7, 4)),
    ((5, 4), (8, 4)),
];

fn check(machine: &DragonflyPlus, global: &[Cable]) {
    let network = &machine.network;
    assert_eq!(network.first_slot, [0, 3, 8, 13, 16, 21, 26, 29, 34, 39]);
    assert_eq!(network.group_of_router, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    for (&(a, b), class) in LOCAL.iter().map(|c| (c, "local")).chain(global.iter().map(|c| (c, "global"))) {
        for ((router, port), other) in [(a, b), (b, a)] {
            assert_eq!(far(network, router, port), Some(other), "router {router}, port {port}");
            let slot = network.slot(RouterId(router), Port(port));
            assert_eq!(network.classes[network.class[slot.index()].index()], class, "router {router}, port {port}");
        }
    }
    for node in 0..3 {
        let slot = network.slot(RouterId(node * 3), Port(0));
        assert_eq!(network.peer[slot.index()], Peer::Node(NodeId(node)));
        assert_eq!(network.node_slot[node as usize], slot);
    }
    // 3 nodes + 2 * (6 + 12) ends of cables: nothing else is wired.
    assert_eq!(network.peer.len(), 3 + 36);
}

#[test]
fn linear_wiring_by_hand() {
    check(&build(&spec([3, 1, 2, 1, 4], None, Arrangement::Linear)), &LINEAR);
}

#[test]
fn parallel_wiring_by_hand() {
    check(&build(&spec([3, 1, 2, 1, 4], None, Arrangement::Parallel)), &PARALLEL);
}

/// Catches an order of a leaf's or a spine's ports that depends on the group or on the number of leaves.
#[test]
fn nodes_and_leaves_are_numbered_in_order() {
    let machine = build(&spec([2, 3, 2, 4, 3], None, Arrangement::Linear));
    let network = &machine.network;
    for node in 0..24_u32 {
        let (group, leaf, port) = (node / 12, node / 4 % 3, node % 4);
        let (router, at) = network.port_of(network.node_slot[node as usize]);
        assert_eq!((router.0, u32::from(at.0)), (group * 5 + leaf, port), "node {node}");
        assert_eq!(machine.leaf_of(NodeId(node)), router);
        assert_eq!(network.group_of_node(NodeId(node)).0, group);
    }
    for (leaf, spine) in (0..3_u16).flat_map(|leaf| (0..2_u16).map(move |spine| (leaf, spine))) {
        let up = far(network, 5 + u32::from(leaf), 4 + spine);
        assert_eq!(up, Some((5 + 3 + u32::from(spine), leaf)), "leaf {leaf}, spine {spine} of group 1");
    }
}
