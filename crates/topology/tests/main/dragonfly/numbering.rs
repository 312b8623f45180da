//! Order of ports, of parallel links, and of nodes with several NICs, by hand. Catches any change of it, which would
//! silently change every result.

use odonata_topology::{
    CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, Failures, GroupId, Network, NodeId, Peer, Port,
    RailsOn, RouterId, Spread,
};

use super::support::{cascade, dragonfly};
use crate::support::far;

fn build(spec: &DragonflySpec) -> Dragonfly {
    Dragonfly::build(spec, &Failures::default()).expect("it fits")
}

/// Two groups of 2 rows x 3 columns, 2 nodes, 2 links along rows, 3 along columns, 1 cable.
#[test]
fn ports_of_a_cascade_by_hand() {
    let spec = cascade([2, 2, 3, 2, 2, 3, 1], DragonflyArrangement::Absolute);
    let machine = Dragonfly::build_cascade(&spec, &Failures::default()).expect("it fits");
    let network = &machine.network;
    // Router 10 is number 4 of group 1: row 1, column 1. Nodes 0, 1; columns 0 and 2 of its row are routers 9 and 11;
    // row 0 of its column is router 7; the last port leads to router 4 of group 0.
    let peers: Vec<_> = (0..10).map(|port| far(network, 10, port)).collect();
    let (local, global) = ([(9, 2), (9, 3), (11, 4), (11, 5), (7, 6), (7, 7), (7, 8)], (4, 9));
    let expected: Vec<_> = [None, None].into_iter().chain(local.map(Some)).chain([Some(global)]).collect();
    assert_eq!(peers, expected);
    let classes: Vec<_> = (0..10).map(|port| network.class[network.slot(RouterId(10), Port(port)).index()].0).collect();
    assert_eq!(classes, [0, 0, 1, 1, 1, 1, 2, 2, 2, 3]);
    assert_eq!(network.port_of(network.node_slot[21]), (RouterId(10), Port(1)));
    assert_eq!((network.local(RouterId(10)), network.first_router(GroupId(1))), (4, RouterId(6)));
}

/// Three groups of 2 routers with 2 global ports, 2 cables a pair. Entries of group 0: (slice 0: 1, 2; slice 1: 1, 2).
#[test]
fn consecutive_and_round_robin_by_hand() {
    let with = |spread| build(&DragonflySpec { spread, ..dragonfly([3, 2, 1, 2], DragonflyArrangement::Absolute) });
    let peers = |machine: &Dragonfly| -> Vec<_> {
        [0, 1].into_iter().flat_map(|r| [2, 3].map(|p| far(&machine.network, r, p).expect("global"))).collect()
    };
    // Group 1 lists 0, 2, 0, 2; group 2 lists 0, 1, 0, 1. Consecutive: entries 0, 1 on the first router.
    assert_eq!(peers(&with(Spread::Consecutive)), [(2, 2), (4, 2), (3, 2), (5, 2)]);
    // Round robin: entries 0, 2 on the first router, 1, 3 on the second; group 0's first router has both links to 1.
    assert_eq!(peers(&with(Spread::RoundRobin)), [(2, 2), (2, 3), (4, 2), (4, 3)]);
}

/// Two pairs with exceptions and one that has no cable at all.
#[test]
fn exceptions_by_hand() {
    let spec = DragonflySpec {
        links_per_pair: Some(1),
        pair_links: vec![[2, 0, 3], [1, 2, 0]],
        ..dragonfly([3, 2, 1, 2], DragonflyArrangement::Absolute)
    };
    let machine = build(&spec);
    // Group 0 lists 1, 2 (slice 0), 2 (slice 1), 2 (slice 2); group 2 lists 0, 0, 0; group 1 lists 0.
    let peers: Vec<_> = [0, 1].into_iter().flat_map(|r| [2, 3].map(|p| far(&machine.network, r, p))).collect();
    assert_eq!(peers, [Some((2, 2)), Some((4, 2)), Some((4, 3)), Some((5, 2))]);
    let ports: Vec<_> = (0..6).map(|r| machine.network.ports(RouterId(r))).collect();
    assert_eq!(ports, [4, 4, 3, 2, 4, 3], "unused global ports do not exist");
    assert_eq!(machine.links_per_pair(), 3);
}

/// Router and port of each NIC of each node.
fn nics(network: &Network) -> Vec<Vec<(u32, u16)>> {
    let rails = network.rails as usize;
    (0..network.nodes())
        .map(|node| {
            (0..rails)
                .map(|rail| {
                    let endpoint = node * rails + rail;
                    let slot = network.node_slot[endpoint];
                    assert_eq!(network.peer[slot.index()], Peer::Node(NodeId(endpoint as u32)));
                    let (router, port) = network.port_of(slot);
                    (router.0, port.0)
                })
                .collect()
        })
        .collect()
}

#[test]
fn rails_on_one_router() {
    let spec = DragonflySpec { rails: 2, ..dragonfly([2, 2, 4, 1], DragonflyArrangement::Absolute) };
    let network = build(&spec).network;
    assert_eq!((network.nodes(), network.endpoints(), network.rails), (8, 16, 2));
    assert_eq!(nics(&network)[..3], [[(0, 0), (0, 1)], [(0, 2), (0, 3)], [(1, 0), (1, 1)]]);
    assert_eq!(network.router_of_node(NodeId(5)), RouterId(2));
    assert_eq!(network.cables()[0], 16);
}

#[test]
fn rails_on_different_routers() {
    let rails_on = RailsOn::DifferentRouters;
    let spec = DragonflySpec { rails: 2, rails_on, ..dragonfly([2, 4, 3, 1], DragonflyArrangement::Absolute) };
    let spec = DragonflySpec { last_group_routers: Some(2), ..spec };
    let network = build(&spec).network;
    // Blocks of two routers with three nodes each: NIC k of node i of a block is at port i of router k of the block.
    assert_eq!((network.nodes(), network.endpoints()), (9, 18));
    let expected: Vec<_> = (0..9).map(|node| vec![(node / 3 * 2, node % 3), (node / 3 * 2 + 1, node % 3)]).collect();
    let found = nics(&network).into_iter().map(|of| of.into_iter().map(|(r, p)| (r, u32::from(p))).collect::<Vec<_>>());
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(network.router_of_node(NodeId(8)), RouterId(4));
}

#[test]
fn a_smaller_last_group() {
    let spec =
        CascadeSpec { last_group_rows: Some(1), ..cascade([3, 3, 2, 2, 1, 1, 2], DragonflyArrangement::Absolute) };
    let machine = Dragonfly::build_cascade(&spec, &Failures::default()).expect("it fits");
    let network = &machine.network;
    assert_eq!((network.routers(), network.nodes()), (14, 28));
    assert_eq!((network.routers_in(GroupId(1)), network.routers_in(GroupId(2))), (6, 2));
    assert_eq!((network.first_router(GroupId(2)), network.local(RouterId(13))), (RouterId(12), 1));
    // 12 global ports of a full group, 6 a pair; 4 of the last one, 2 a pair.
    let cables = |a, b| machine.cables(GroupId(a), GroupId(b)).len();
    assert_eq!([cables(0, 1), cables(0, 2), cables(2, 1), cables(2, 2)], [6, 2, 2, 0]);
    assert_eq!(machine.local_ports(RouterId(12), 1), [2]);
    assert_eq!(network.ports(RouterId(13)), 2 + 1 + 2);
    assert_eq!((machine.rows, machine.columns, machine.diameter()), (3, 2, 2));
}
