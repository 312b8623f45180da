//! Builds the ports of all routers.

use super::arrangement::Cables;
use super::design::Design;
use crate::ids::{Address, NodeId, RouterId, SlotId};
use crate::network::{ClassId, Levels, Network, Peer};
use crate::{GroupId, RailsOn};

/// Class of a link along a row (or of any local link of a dragonfly).
pub(super) const ROW: ClassId = ClassId(1);
/// Class of a link along a column; only a cascade has it.
pub(super) const COLUMN: ClassId = ClassId(2);

/// Wires a machine.
pub(super) fn wire(design: &Design, cables: &Cables) -> Network {
    let (full, routers) = (design.full, cables.used.len() as u32);
    let per_group = full.routers();
    let group_of_router: Vec<u32> = (0..routers).map(|r| r / per_group).collect();
    let mut first_slot = Vec::with_capacity(routers as usize + 1);
    let mut next = 0;
    for (r, &group) in group_of_router.iter().enumerate() {
        first_slot.push(next);
        next += design.grid(group).first_global() + cables.used[r];
    }
    first_slot.push(next);

    let mut network = Network {
        classes: design.classes,
        groups: design.groups,
        first_of_group: (0..=design.groups).map(|group| (group * per_group).min(routers)).collect(),
        levels: Levels { routers: &["router"], group: "group" },
        kind_of_router: vec![0; routers as usize],
        address_of_router: (0..routers).map(|r| Address::new(r / per_group, r % per_group)).collect(),
        first_slot,
        group_of_router,
        peer: vec![Peer::None; next as usize],
        class: vec![ClassId::NODE; next as usize],
        node_slot: vec![SlotId(0); routers as usize * full.node_ports as usize],
        router_of_slot: vec![RouterId(0); next as usize],
        rails: design.rails,
        separate_rails: false,
        first_global: design.first_global,
        failed: Vec::new(),
        failed_router: Vec::new(),
    };
    for r in 0..routers {
        let slots = network.first_slot[r as usize] as usize..network.first_slot[r as usize + 1] as usize;
        network.router_of_slot[slots].fill(RouterId(r));
        nodes(design, &mut network, r);
        local(design, &mut network, r);
    }
    for ends in &cables.ends {
        let [a, b] = ends.map(|(router, port)| {
            let base = design.grid(router / per_group).first_global();
            SlotId(network.first_slot[router as usize] + base + port)
        });
        for (from, to) in [(a, b), (b, a)] {
            network.peer[from.index()] = Peer::Router(to);
            network.class[from.index()] = design.first_global;
        }
    }
    network
}

/// The NICs at router `r`.
fn nodes(design: &Design, network: &mut Network, r: u32) {
    let (ports, rails) = (design.full.node_ports, design.rails);
    for port in 0..ports {
        let endpoint = match design.rails_on {
            RailsOn::OneRouter => r * ports + port,
            RailsOn::DifferentRouters => (r / rails * ports + port) * rails + r % rails,
        };
        let slot = SlotId(network.first_slot[r as usize] + port);
        network.peer[slot.index()] = Peer::Node(NodeId(endpoint));
        network.node_slot[endpoint as usize] = slot;
    }
}

/// The local links of router `r`.
fn local(design: &Design, network: &mut Network, r: u32) {
    let group = GroupId(network.group_of_router[r as usize]);
    let (grid, first) = (design.grid(group.0), network.first_router(group).0);
    for port in grid.local_ports() {
        let far = grid.far(r - first, port);
        let slot = network.first_slot[r as usize] as usize + usize::from(port);
        let to = network.first_slot[(first + far.router) as usize] + u32::from(far.port);
        network.peer[slot] = Peer::Router(SlotId(to));
        network.class[slot] = if far.row { ROW } else { COLUMN };
    }
}
