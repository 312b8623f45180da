//! Builds the ports of all routers of a Dragonfly+.

use super::cables::Cables;
use super::{CLASSES, DragonflyPlus, DragonflyPlusSpec, GLOBAL, LOCAL, peer_rank};
use crate::ids::{Address, GroupId, NodeId, RouterId, SlotId};
use crate::network::{ClassId, Levels, Network, Peer};

/// Wires a checked description, without failures.
pub(super) fn build(spec: DragonflyPlusSpec, cables: &Cables) -> DragonflyPlus {
    let network = wire(&spec, cables);
    let (gateway_start, gateways, ports) = gateways(&spec, cables);
    let most_links = most_links(&spec, cables);
    let groups = u64::from(spec.groups);
    let complete = gateways.len() as u64 == groups * (groups - 1) * u64::from(spec.spines);
    let (ports_of_gateways, ports_of_spines) =
        if complete { (Vec::new(), ports_of_spines(&spec, cables)) } else { (ports, Vec::new()) };
    DragonflyPlus {
        spec,
        network,
        complete,
        gateway_start,
        gateways,
        ports_of_gateways,
        ports_of_spines,
        most_links,
        live: None,
    }
}

fn wire(spec: &DragonflyPlusSpec, cables: &Cables) -> Network {
    let (groups, spines, per_group) = (spec.groups, spec.spines, spec.leaves + spec.spines);
    let leaves_in = |group: u32| spec.leaves_in(GroupId(group));
    let mut first_slot = Vec::new();
    let mut group_of_router = Vec::new();
    let mut kind_of_router = Vec::new();
    let mut address_of_router = Vec::new();
    let mut first_of_group = Vec::new();
    let mut next = 0_u32;
    for group in 0..groups {
        let leaves = leaves_in(group);
        first_of_group.push(group_of_router.len() as u32);
        for local in 0..leaves + spines {
            group_of_router.push(group);
            kind_of_router.push(u8::from(local >= leaves));
            address_of_router.push(Address::new(group, local));
            first_slot.push(next);
            next += if local < leaves {
                spec.node_ports() + spines
            } else {
                leaves + cables.far_group[(group * spines + local - leaves) as usize].len() as u32
            };
        }
    }
    first_slot.push(next);
    first_of_group.push(group_of_router.len() as u32);

    let mut network = Network {
        classes: CLASSES,
        groups,
        first_slot,
        group_of_router,
        first_of_group,
        levels: Levels { routers: &["leaf", "spine"], group: "group" },
        kind_of_router,
        address_of_router,
        peer: vec![Peer::None; next as usize],
        class: vec![ClassId::NODE; next as usize],
        node_slot: Vec::new(),
        router_of_slot: vec![RouterId(0); next as usize],
        rails: spec.rails,
        separate_rails: false,
        first_global: GLOBAL,
        failed: Vec::new(),
        failed_router: Vec::new(),
    };
    for r in 0..network.routers() {
        let slots = network.first_slot[r] as usize..network.first_slot[r + 1] as usize;
        network.router_of_slot[slots].fill(RouterId(r as u32));
    }
    for group in 0..groups {
        let leaves = leaves_in(group);
        for leaf in 0..leaves {
            let first = network.first_slot[(group * per_group + leaf) as usize];
            for port in 0..spec.node_ports() {
                let slot = SlotId(first + port);
                network.peer[slot.index()] = Peer::Node(NodeId(network.node_slot.len() as u32));
                network.node_slot.push(slot);
            }
            for spine in 0..spines {
                let up = SlotId(first + spec.node_ports() + spine);
                let down = SlotId(network.first_slot[(group * per_group + leaves + spine) as usize] + leaf);
                join(&mut network, up, down, LOCAL);
            }
        }
    }
    for ends in &cables.ends {
        let [a, b] = ends.map(|(spine, port)| {
            let (group, number) = (spine / spines, spine % spines);
            let router = group * per_group + leaves_in(group) + number;
            SlotId(network.first_slot[router as usize] + leaves_in(group) + port)
        });
        join(&mut network, a, b, GLOBAL);
    }
    network
}

fn join(network: &mut Network, a: SlotId, b: SlotId, class: ClassId) {
    for (from, to) in [(a, b), (b, a)] {
        network.peer[from.index()] = Peer::Router(to);
        network.class[from.index()] = class;
    }
}

/// The spines with a link to each group, by ordered pair of groups, and the ports of these links: where the spines of each
/// pair begin, the spines, and for each its first port and the end of its ports.
fn gateways(spec: &DragonflyPlusSpec, cables: &Cables) -> (Vec<u32>, Vec<u16>, Vec<[u16; 2]>) {
    let (groups, spines) = (spec.groups, spec.spines);
    let mut start = Vec::with_capacity(groups as usize * groups as usize + 1);
    let (mut gateways, mut ports) = (Vec::new(), Vec::new());
    let mut row: Vec<(u32, u16, [u16; 2])> = Vec::new();
    for from in 0..groups {
        row.clear();
        let mut next = 0;
        for spine in 0..spines {
            let mut port = spec.leaves_in(GroupId(from)) as u16;
            for links in cables.far_group[(from * spines + spine) as usize].chunk_by(|a, b| a == b) {
                let end = port + links.len() as u16;
                row.push((links[0], spine as u16, [port, end]));
                port = end;
            }
        }
        row.sort_unstable();
        for to in 0..groups {
            start.push(gateways.len() as u32);
            while next < row.len() && row[next].0 == to {
                gateways.push(row[next].1);
                ports.push(row[next].2);
                next += 1;
            }
        }
    }
    start.push(gateways.len() as u32);
    (start, gateways, ports)
}

/// The first port of each spine to each group, by peer rank, and the end of the last.
fn ports_of_spines(spec: &DragonflyPlusSpec, cables: &Cables) -> Vec<u16> {
    let mut first = Vec::with_capacity(spec.groups as usize * cables.far_group.len());
    for (spine, far) in cables.far_group.iter().enumerate() {
        let group = spine as u32 / spec.spines;
        let leaves = spec.leaves_in(GroupId(group));
        let mut port = 0;
        for rank in 0..spec.groups {
            first.push((leaves + port as u32) as u16);
            while port < far.len() && peer_rank(group, far[port]) == rank {
                port += 1;
            }
        }
    }
    first
}

/// The largest number of cables between two groups.
fn most_links(spec: &DragonflyPlusSpec, cables: &Cables) -> u32 {
    let mut most = 0;
    let mut to = vec![0; spec.groups as usize];
    for spines in cables.far_group.chunks(spec.spines as usize) {
        to.fill(0);
        for &group in spines.iter().flatten() {
            to[group as usize] += 1;
            most = most.max(to[group as usize]);
        }
    }
    most
}
