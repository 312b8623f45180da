//! Builds the ports of all routers of a HyperX.

use super::{CLASSES, HyperXSpec, MAX_DIMENSIONS, bits, padded};
use crate::ids::{Address, NodeId, RouterId, SlotId};
use crate::network::{ClassId, Levels, Network, Peer};

const LEVELS: Levels = Levels { routers: &["router"], group: "slice" };

/// Wires a checked description, without failures.
pub(super) fn wire(spec: &HyperXSpec) -> Network {
    let routers: u32 = spec.dimensions.iter().product();
    let cables = spec.dimensions.iter().zip(&spec.dimension_links).map(|(routers, links)| (routers - 1) * links);
    let (node_ports, ports) = (spec.node_ports(), spec.node_ports() + cables.sum::<u32>());
    let [first, second, slices] = padded(&spec.dimensions);
    let slots = (routers * ports) as usize;
    let per_slice = first * second;
    let address = |r: u32| {
        let position = r % per_slice;
        Address::new(r / per_slice, (position % first) | ((position / first) << bits(first)))
    };
    let mut network = Network {
        classes: &CLASSES[..=spec.dimensions.len()],
        groups: slices,
        first_slot: (0..=routers).map(|r| r * ports).collect(),
        group_of_router: (0..routers).map(|r| r / per_slice).collect(),
        first_of_group: (0..=slices).map(|slice| slice * per_slice).collect(),
        levels: LEVELS,
        kind_of_router: vec![0; routers as usize],
        address_of_router: (0..routers).map(address).collect(),
        peer: vec![Peer::None; slots],
        class: vec![ClassId::NODE; slots],
        node_slot: (0..routers * node_ports).map(|nic| SlotId(nic / node_ports * ports + nic % node_ports)).collect(),
        router_of_slot: (0..routers * ports).map(|slot| RouterId(slot / ports)).collect(),
        rails: spec.rails,
        separate_rails: false,
        first_global: ClassId(spec.dimensions.len() as u8),
        failed: Vec::new(),
        failed_router: Vec::new(),
    };
    for (nic, slot) in (0..).zip(&network.node_slot) {
        network.peer[slot.index()] = Peer::Node(NodeId(nic));
    }
    let mut stride = 1;
    let mut base = node_ports;
    for (dimension, (&size, &links)) in spec.dimensions.iter().zip(&spec.dimension_links).enumerate() {
        for router in 0..routers {
            let here = router / stride % size;
            for (there, cable) in (0..size).flat_map(|there| (0..links).map(move |cable| (there, cable))) {
                if there == here {
                    continue;
                }
                // A router numbers the others of its row, without itself.
                let port = |from: u32, to: u32| base + (to - u32::from(to > from)) * links + cable;
                let far = router - here * stride + there * stride;
                let slot = (router * ports + port(here, there)) as usize;
                network.peer[slot] = Peer::Router(SlotId(far * ports + port(there, here)));
                network.class[slot] = ClassId(dimension as u8 + 1);
            }
        }
        stride *= size;
        base += (size - 1) * links;
    }
    network
}

const _: () = assert!(CLASSES.len() == MAX_DIMENSIONS + 1);
