//! A machine as columns, for placement and plots.

use odonata_topology::{GroupId, Network, NodeId, Peer, RouterId, SlotId};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::column::into_numpy;

/// Marks a far end that is not a router (or not a node), and the group of a router that belongs to none.
const NOBODY: i64 = -1;

/// Per router port ("slot"), in slot order.
#[derive(Default)]
struct Slots {
    router: Vec<u32>,
    port: Vec<u16>,
    class: Vec<u8>,
    peer_router: Vec<i64>,
    peer_node: Vec<i64>,
    failed: Vec<bool>,
}

/// The columns that `_core.pyi` names.
pub fn describe<'py>(py: Python<'py>, network: &Network) -> PyResult<Bound<'py, PyDict>> {
    let nodes = || (0..network.nodes() as u32).map(NodeId);
    let routers = || (0..network.routers() as u32).map(RouterId);

    let links = PyDict::new(py);
    for (class, cables) in network.classes.iter().zip(network.cables()) {
        links.set_item(class, cables)?;
    }
    let result = PyDict::new(py);
    result.set_item("nodes", network.nodes())?;
    result.set_item("routers", network.routers())?;
    result.set_item("groups", network.groups)?;
    result.set_item("links", links)?;
    result.set_item("classes", network.classes.to_vec())?;
    result.set_item("links_per_pair", links_per_pair(network))?;
    result.set_item("rails", network.rails)?;
    result.set_item("first_global", network.first_global.0)?;
    result.set_item("node_router", into_numpy(py, column(nodes().map(|n| network.router_of_node(n).0)))?)?;
    result.set_item("node_group", into_numpy(py, column(nodes().map(|n| network.group_of_node(n).0)))?)?;
    let group = |r: RouterId| network.group_of(r).map_or(NOBODY, |group| group.0.into());
    result.set_item("router_group", into_numpy(py, column(routers().map(group)))?)?;
    result.set_item("router_kinds", network.levels.routers.to_vec())?;
    result.set_item("router_kind", into_numpy(py, network.kind_of_router.clone())?)?;
    result.set_item("group_name", network.levels.group)?;
    result.set_item("router_is_leaf", into_numpy(py, column(network.kind_of_router.iter().map(|&kind| kind == 0)))?)?;
    result.set_item("router_failed", into_numpy(py, column(routers().map(|r| !network.router_works(r))))?)?;
    result.set_item("endpoint_slot", into_numpy(py, column(network.node_slot.iter().map(|slot| slot.0)))?)?;
    let slots = slots(network);
    result.set_item("slot_router", into_numpy(py, slots.router)?)?;
    result.set_item("slot_port", into_numpy(py, slots.port)?)?;
    result.set_item("slot_class", into_numpy(py, slots.class)?)?;
    result.set_item("slot_peer_router", into_numpy(py, slots.peer_router)?)?;
    result.set_item("slot_peer_node", into_numpy(py, slots.peer_node)?)?;
    result.set_item("slot_failed", into_numpy(py, slots.failed)?)?;
    Ok(result)
}

/// Most cables, failed or not, that join any two groups directly.
fn links_per_pair(network: &Network) -> u32 {
    let mut most = 0;
    let mut count = vec![0_u32; network.groups as usize];
    for group in (0..network.groups).map(GroupId) {
        count.fill(0);
        let first = network.first_router(group).index();
        let last = first + network.routers_in(group) as usize;
        let slots = network.first_slot[first] as usize..network.first_slot[last] as usize;
        for slot in slots.filter(|&slot| network.class[slot] >= network.first_global) {
            if let Peer::Router(far) = network.peer[slot] {
                let Some(to) = network.group_of(network.router_of_slot[far.index()]) else { continue };
                count[to.index()] += 1;
                most = most.max(count[to.index()]);
            }
        }
    }
    most
}

fn column<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect()
}

fn slots(network: &Network) -> Slots {
    let mut slots = Slots::default();
    for router in (0..network.routers() as u32).map(RouterId) {
        for port in 0..network.ports(router) {
            let slot = network.first_slot[router.index()] as usize + usize::from(port);
            let (peer_router, peer_node) = match network.peer[slot] {
                Peer::Router(far) => (i64::from(network.router_of_slot[far.index()].0), NOBODY),
                Peer::Node(nic) => (NOBODY, i64::from(nic.0 / network.rails)),
                Peer::None => (NOBODY, NOBODY),
            };
            slots.router.push(router.0);
            slots.port.push(port);
            slots.class.push(network.class[slot].0);
            slots.peer_router.push(peer_router);
            slots.peer_node.push(peer_node);
            slots.failed.push(network.has_failed(SlotId(slot as u32)));
        }
    }
    slots
}
