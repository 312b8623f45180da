//! Builds the ports of all routers of a fat tree.

use super::{CLASSES, CORE, FatTreeSpec, LEAF, TreeRails};
use crate::ids::{Address, NodeId, RouterId, SlotId};
use crate::network::{ClassId, Levels, NO_GROUP, Network, Peer};

const LEVELS: Levels = Levels { routers: &["leaf", "spine", "core"], group: "pod" };
/// First half of the address of a router without nodes: no pod has this number.
const NO_POD: u32 = u16::MAX as u32;

/// Wires a checked description, without failures.
pub(super) fn wire(spec: &FatTreeSpec) -> Network {
    let planes = spec.planes();
    let (leaves, spines, cores) = (spec.leaves * planes, spec.spines * planes, spec.cores * planes);
    let per_pod = leaves + spines;
    let mut parts = Parts::default();
    for pod in 0..spec.pods {
        for leaf in 0..leaves {
            parts.add(pod, 0, Address::new(pod, leaf), spec.node_ports() + spec.spines * spec.leaf_links);
        }
        for spine in 0..spines {
            // The address of a spine has the first leaf of its plane, from which its ports are counted.
            let first = spine / spec.spines * spec.leaves;
            let ports = spec.leaves * spec.leaf_links + spec.cores_per_spine() * spec.core_links;
            parts.add(pod, 1, Address::new(NO_POD, first), ports);
        }
    }
    for _ in 0..cores {
        parts.add(NO_GROUP, 2, Address::new(NO_POD, 0), spec.pods * spec.core_links);
    }
    let mut network = parts.into_network(spec, per_pod);

    for pod in 0..spec.pods {
        for leaf in 0..leaves {
            let (router, plane) = (pod * per_pod + leaf, leaf / spec.leaves);
            for port in 0..spec.node_ports() {
                attach(spec, &mut network, (pod, leaf), port, router);
            }
            for (spine, cable) in pairs(spec.spines, spec.leaf_links) {
                let up = spec.node_ports() + spine * spec.leaf_links + cable;
                let down = leaf % spec.leaves * spec.leaf_links + cable;
                join(&mut network, (router, up), (pod * per_pod + leaves + plane * spec.spines + spine, down), LEAF);
            }
        }
        for spine in 0..spines {
            let (router, plane, number) = (pod * per_pod + leaves + spine, spine / spec.spines, spine % spec.spines);
            let each = spec.cores_per_spine();
            for (core, cable) in pairs(each, spec.core_links) {
                let up = spec.leaves * spec.leaf_links + core * spec.core_links + cable;
                let far = spec.pods * per_pod + plane * spec.cores + number * each + core;
                join(&mut network, (router, up), (far, pod * spec.core_links + cable), CORE);
            }
        }
    }
    network
}

/// Every router with each of its cables.
fn pairs(routers: u32, cables: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..routers).flat_map(move |router| (0..cables).map(move |cable| (router, cable)))
}

#[derive(Default)]
struct Parts {
    first_slot: Vec<u32>,
    group: Vec<u32>,
    kind: Vec<u8>,
    address: Vec<Address>,
    next: u32,
}

impl Parts {
    fn add(&mut self, group: u32, kind: u8, address: Address, ports: u32) {
        self.first_slot.push(self.next);
        self.group.push(group);
        self.kind.push(kind);
        self.address.push(address);
        self.next += ports;
    }

    fn into_network(mut self, spec: &FatTreeSpec, per_pod: u32) -> Network {
        self.first_slot.push(self.next);
        let slots = self.next as usize;
        let endpoints = spec.pods * spec.leaves * spec.planes() * spec.node_ports();
        let mut network = Network {
            classes: if spec.cores > 0 { CLASSES } else { &CLASSES[..2] },
            groups: spec.pods,
            first_slot: self.first_slot,
            group_of_router: self.group,
            first_of_group: (0..=spec.pods).map(|pod| pod * per_pod).collect(),
            levels: LEVELS,
            kind_of_router: self.kind,
            address_of_router: self.address,
            peer: vec![Peer::None; slots],
            class: vec![ClassId::NODE; slots],
            node_slot: vec![SlotId(0); endpoints as usize],
            router_of_slot: vec![RouterId(0); slots],
            rails: spec.rails,
            separate_rails: spec.planes() > 1,
            first_global: CORE,
            failed: Vec::new(),
            failed_router: Vec::new(),
        };
        for r in 0..network.routers() {
            let slots = network.first_slot[r] as usize..network.first_slot[r + 1] as usize;
            network.router_of_slot[slots].fill(RouterId(r as u32));
        }
        network
    }
}

/// The NIC at a port of a leaf.
fn attach(spec: &FatTreeSpec, network: &mut Network, (pod, leaf): (u32, u32), port: u32, router: u32) {
    let (node, rail) = match spec.rails_on {
        TreeRails::OneLeaf => ((pod * spec.leaves + leaf) * spec.nodes_per_leaf + port / spec.rails, port % spec.rails),
        TreeRails::DifferentLeaves => {
            let block = pod * (spec.leaves / spec.rails) + leaf / spec.rails;
            (block * spec.nodes_per_leaf + port, leaf % spec.rails)
        }
        TreeRails::Planes => {
            ((pod * spec.leaves + leaf % spec.leaves) * spec.nodes_per_leaf + port, leaf / spec.leaves)
        }
    };
    let endpoint = node * spec.rails + rail;
    let slot = SlotId(network.first_slot[router as usize] + port);
    network.peer[slot.index()] = Peer::Node(NodeId(endpoint));
    network.node_slot[endpoint as usize] = slot;
}

fn join(network: &mut Network, a: (u32, u32), b: (u32, u32), class: ClassId) {
    let [a, b] = [a, b].map(|(router, port)| SlotId(network.first_slot[router as usize] + port));
    for (from, to) in [(a, b), (b, a)] {
        network.peer[from.index()] = Peer::Router(to);
        network.class[from.index()] = class;
    }
}
