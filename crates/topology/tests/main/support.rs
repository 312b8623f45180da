//! Descriptions of machines, and what can be read off their wiring without the machine's own look-ups.

use std::collections::{BTreeMap, VecDeque};

use odonata_topology::{Arrangement, DragonflyPlus, DragonflyPlusSpec, Network, Peer, Port, RouterId, SlotId};

/// `[groups, leaves, spines, nodes_per_leaf, global_links_per_spine]`.
pub fn spec(size: [u32; 5], links_per_pair: Option<u32>, arrangement: Arrangement) -> DragonflyPlusSpec {
    let [groups, leaves, spines, nodes_per_leaf, global_links_per_spine] = size;
    DragonflyPlusSpec {
        groups,
        leaves,
        spines,
        nodes_per_leaf,
        global_links_per_spine,
        links_per_pair,
        arrangement,
        ..DragonflyPlusSpec::default()
    }
}

pub fn build(spec: &DragonflyPlusSpec) -> DragonflyPlus {
    DragonflyPlus::build(spec).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// The system of Kang 2019.
pub fn kang2019(arrangement: Arrangement) -> DragonflyPlus {
    build(&spec([9, 24, 24, 16, 16], None, arrangement))
}

/// Far end of a port: router and port, if it is a router.
pub fn far(network: &Network, router: u32, port: u16) -> Option<(u32, u16)> {
    match network.peer[network.slot(RouterId(router), Port(port)).index()] {
        Peer::Router(slot) => {
            let (r, p) = network.port_of(slot);
            Some((r.0, p.0))
        }
        Peer::Node(_) | Peer::None => None,
    }
}

/// All slots with a router at both ends: (slot, router, router at the far end).
pub fn links(network: &Network) -> impl Iterator<Item = (SlotId, RouterId, RouterId)> {
    network.peer.iter().enumerate().filter_map(|(slot, peer)| match peer {
        Peer::Router(far) => {
            Some((SlotId(slot as u32), network.router_of_slot[slot], network.router_of_slot[far.index()]))
        }
        Peer::Node(_) | Peer::None => None,
    })
}

/// Number of cables between each pair of spines of different groups: (lower router, higher router) -> cables.
pub fn global_cables(machine: &DragonflyPlus) -> BTreeMap<(u32, u32), u32> {
    let mut cables = BTreeMap::new();
    for (_, a, b) in links(&machine.network) {
        if machine.group(a) < machine.group(b) {
            *cables.entry((a.0, b.0)).or_default() += 1;
        }
    }
    cables
}

/// Links on a shortest path from one router to every other; `u32::MAX` where there is none.
pub fn distances(network: &Network, from: RouterId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; network.routers()];
    distance[from.index()] = 0;
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        for port in 0..network.ports(at) {
            if let Some((next, _)) = far(network, at.0, port)
                && distance[next as usize] == u32::MAX
            {
                distance[next as usize] = distance[at.index()] + 1;
                open.push_back(RouterId(next));
            }
        }
    }
    distance
}
