//! Listed paths between two nodes: they are the paths that packets take.

use std::collections::BTreeSet;

use odonata_error::{ErrorKind, path};
use odonata_sim::routing::show::{PacketPath, paths};
use odonata_sim::spec::{AriesMode, Knowledge, RoutingSpec, Select, Spec, TopologySpec, Via};
use odonata_topology::{DragonflySpec, NodeId, Peer, Port, RailsOn, RouterId};

use super::support::{
    ALL, NEAREST, adaptive_local, aries, dragonfly, flat, machines, minimal, par, routings, spec, ugal, valiant,
};
use crate::support::stream;

/// Panics unless the links of the path are consecutive, work, and lead from one node to the other.
fn check_path(spec: &Spec, path: &PacketPath, from: u32, to: u32) {
    let machine = spec.machine().expect("it can be built");
    let network = &machine.network();
    let mut at = network.router_of_node(NodeId(from));
    for (number, hop) in path.hops.iter().enumerate() {
        assert_eq!(hop.router, at.0, "{path:?}");
        let slot = network.slot(RouterId(hop.router), Port(hop.port));
        match network.peer[slot.index()] {
            Peer::Router(far) => {
                assert!(number + 1 < path.hops.len() && !network.has_failed(slot), "{path:?}");
                at = network.router_of_slot[far.index()];
            }
            Peer::Node(endpoint) => {
                assert_eq!((number + 1, endpoint.0, hop.channel), (path.hops.len(), to * network.rails, 0), "{path:?}");
            }
            Peer::None => panic!("{path:?}"),
        }
        assert!(u32::from(hop.channel) < u32::from(spec.fabric.channels));
    }
    // A packet never takes the same virtual channel twice, or it could wait for itself.
    let vcs: BTreeSet<(u32, u16, u8)> = path.hops.iter().map(|hop| (hop.router, hop.port, hop.channel)).collect();
    assert_eq!(vcs.len(), path.hops.len(), "{path:?}");
}

/// Catches a path that does not exist, is listed twice, or is left out; and a count that differs from the list.
#[test]
fn listed_paths_lead_from_node_to_node() {
    for made in machines() {
        let machine = made.build();
        let network = &machine.network;
        let works = |node: &u32| network.router_works(network.router_of_node(NodeId(*node)));
        let nodes: Vec<u32> = (0..network.nodes() as u32).filter(works).collect();
        let pairs = [(nodes[0], nodes[nodes.len() - 1]), (nodes[nodes.len() / 2], nodes[0]), (nodes[0], nodes[1])];
        for known in routings(ALL) {
            let spec = made.spec(known.routing.clone(), vec![stream(nodes[0], nodes[1], 100)]);
            for (from, to) in pairs {
                let all = paths(&spec, from, to, 3_000).expect("it is valid");
                let case = format!("{}, {from} to {to}, {:?}", made.name, known.routing);
                assert!(all.total >= 1 && (all.total > 3_000 || all.first.len() as u64 == all.total), "{case}");
                let different: BTreeSet<String> = all.first.iter().map(|path| format!("{path:?}")).collect();
                assert_eq!(different.len(), all.first.len(), "{case}");
                all.first.iter().for_each(|path| check_path(&spec, path, from, to));
                let minimal = all.first.iter().take_while(|path| path.minimal).count();
                assert!(all.first[minimal..].iter().all(|path| !path.minimal), "shortest ways come first: {case}");
                let few = paths(&spec, from, to, 2).expect("it is valid");
                assert_eq!(few.total, all.total, "{case}");
                let expected: Vec<PacketPath> = [true, false]
                    .into_iter()
                    .flat_map(|minimal| all.first.iter().filter(move |path| path.minimal == minimal).take(2).cloned())
                    .collect();
                assert_eq!(few.first, expected, "{case}");
            }
        }
    }
}

/// Paths counted by hand, between groups: five groups of four routers, one cable per pair. Router 0 has the cable to
/// group 1, router 3 the cable to group 4.
#[test]
fn paths_by_hand() {
    let count = |routing: RoutingSpec, from, to| {
        let spec = spec(flat([5, 4, 1, 1]), routing, vec![stream(from, to, 100)]);
        let all = paths(&spec, from, to, 100).expect("it is valid");
        (all.first.iter().filter(|path| path.minimal).count(), all.total)
    };
    for (routing, expected) in [
        (minimal(Select::Random, NEAREST), (1, 1)),
        // Through groups 1, 2, 3.
        (valiant(Via::Group, Select::Random, ALL), (0, 3)),
        // Through each of their four routers.
        (valiant(Via::Router, Select::Random, ALL), (0, 12)),
        (ugal(Knowledge::Local, Via::Group, 2, ALL), (1, 4)),
        (ugal(Knowledge::Global, Via::Router, 1, ALL), (1, 13)),
        (adaptive_local(ALL), (1, 4)),
        // Non-minimal from router 0, or from router 3.
        (par(Via::Group, 1, ALL), (1, 7)),
        (par(Via::Router, 1, ALL), (1, 25)),
        (aries(AriesMode::Adaptive2, ALL), (1, 7)),
        (aries(AriesMode::InOrder, ALL), (1, 1)),
        (aries(AriesMode::NminHash, ALL), (0, 3)),
    ] {
        assert_eq!(count(routing.clone(), 0, 19), expected, "{routing:?}");
    }
    // Inside a group: direct, or through one of the two other routers.
    for (routing, expected) in [
        (minimal(Select::LeastLoaded, ALL), (1, 1)),
        (valiant(Via::Group, Select::Random, ALL), (1, 1)),
        (valiant(Via::Router, Select::Random, ALL), (0, 2)),
        (ugal(Knowledge::Local, Via::Group, 1, ALL), (1, 1)),
        (par(Via::Router, 1, ALL), (1, 3)),
        (aries(AriesMode::Adaptive0, ALL), (1, 3)),
        (aries(AriesMode::NminHash, ALL), (0, 2)),
    ] {
        assert_eq!(count(routing.clone(), 0, 2), expected, "{routing:?}");
    }
}

/// The channels of a non-minimal path by hand: 0 to a cable, 1 through the third group, 2 in the last one.
#[test]
fn channels_of_a_path_by_hand() {
    let spec = spec(flat([5, 4, 1, 1]), valiant(Via::Group, Select::Random, ALL), vec![stream(1, 14, 100)]);
    let all = paths(&spec, 1, 14, 100).expect("it is valid");
    let channels: BTreeSet<Vec<u8>> =
        all.first.iter().map(|path| path.hops.iter().map(|hop| hop.channel).collect()).collect();
    // Router 1 to group 3 (router 14 is its number 2), through group 1: local 0, global 0, local 1, global 1, local 2,
    // node.
    assert!(channels.contains(&vec![0, 0, 1, 1, 2, 0]), "{channels:?}");
    for path in &all.first {
        let global = |hop: &&odonata_sim::routing::show::Hop| {
            let machine = spec.machine().expect("it can be built");
            let network = machine.network().clone();
            network.class[network.slot(RouterId(hop.router), Port(hop.port)).index()] == network.first_global
        };
        let global: Vec<u8> = path.hops.iter().filter(global).map(|hop| hop.channel).collect();
        assert_eq!(global, [0, 1], "{path:?}");
    }
}

/// Catches a node that is confused with a NIC: for nodes with two NICs, at two routers, paths lead from the first to
/// the first.
#[test]
fn paths_lead_from_first_nic_to_first_nic() {
    let topology = DragonflySpec { rails: 2, rails_on: RailsOn::DifferentRouters, ..dragonfly([3, 4, 2, 1]) };
    let spec =
        spec(TopologySpec::Dragonfly(topology), ugal(Knowledge::Local, Via::Group, 1, ALL), vec![stream(0, 1, 9)]);
    // Nodes 0 and 1 at routers 0 and 1, nodes 2 and 3 at routers 2 and 3, nodes 4 to 7 in the next group; two cables a
    // pair, so two minimal paths, and two times two through the third group.
    for (from, to, total) in [(0, 1, 1), (0, 2, 1), (3, 6, 6), (11, 0, 6)] {
        let all = paths(&spec, from, to, 100).expect("it is valid");
        assert_eq!((all.total, all.first[0].hops[0].router), (total, from / 2 * 2), "{from} to {to}");
        all.first.iter().for_each(|path| check_path(&spec, path, from, to));
    }
}

#[test]
fn nodes_that_are_not_there_are_refused() {
    let spec = spec(flat([5, 4, 1, 1]), minimal(Select::Random, ALL), vec![stream(0, 19, 100)]);
    let none = ErrorKind::NoSuchNode { node: 20, nodes: 20 };
    for (from, to, expected) in [
        (20, 0, none.clone().at(path!["from"])),
        (0, 20, none.at(path!["to"])),
        (7, 7, ErrorKind::SameNode { node: 7 }.at(path!["to"])),
    ] {
        assert_eq!(paths(&spec, from, to, 5), Err(expected));
    }
}
