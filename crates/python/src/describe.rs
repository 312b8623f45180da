//! A machine as columns: what placement, plots and the explorer need to know of it.

use numpy::IntoPyArray;
use odonata_sim::SimError;
use odonata_sim::spec::TopologySpec;
use odonata_topology::{DragonflyPlus, NodeId, Peer, RouterId};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;

/// Marks the far end of a port that leads elsewhere or nowhere.
const NOBODY: i64 = -1;

/// Per router port ("slot"), in slot order.
#[derive(Default)]
struct Slots {
    router: Vec<u32>,
    port: Vec<u16>,
    class: Vec<u8>,
    peer_router: Vec<i64>,
    peer_node: Vec<i64>,
}

/// Wires a machine and describes it; see `_core.pyi` for the columns.
#[pyfunction]
pub fn describe<'py>(py: Python<'py>, topology_json: &str) -> PyResult<Bound<'py, PyDict>> {
    let machine = py.detach(|| build(topology_json)).map_err(|e| to_python(py, &e))?;
    let network = &machine.network;
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
    result.set_item("links_per_pair", machine.links_per_pair())?;
    result.set_item("node_router", column(nodes().map(|n| network.router_of_node(n).0)).into_pyarray(py))?;
    result.set_item("node_group", column(nodes().map(|n| network.group_of_node(n).0)).into_pyarray(py))?;
    result.set_item("router_group", network.group_of_router.clone().into_pyarray(py))?;
    result.set_item("router_is_leaf", column(routers().map(|r| machine.is_leaf(r))).into_pyarray(py))?;
    let slots = slots(&machine);
    result.set_item("slot_router", slots.router.into_pyarray(py))?;
    result.set_item("slot_port", slots.port.into_pyarray(py))?;
    result.set_item("slot_class", slots.class.into_pyarray(py))?;
    result.set_item("slot_peer_router", slots.peer_router.into_pyarray(py))?;
    result.set_item("slot_peer_node", slots.peer_node.into_pyarray(py))?;
    Ok(result)
}

fn build(topology_json: &str) -> Result<DragonflyPlus, SimError> {
    let spec: TopologySpec = serde_json::from_str(topology_json).map_err(|e| SimError::Json(e.to_string()))?;
    match spec {
        TopologySpec::DragonflyPlus(spec) => Ok(DragonflyPlus::build(&spec)?),
    }
}

fn column<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect()
}

fn slots(machine: &DragonflyPlus) -> Slots {
    let network = &machine.network;
    let mut slots = Slots::default();
    for router in (0..network.routers() as u32).map(RouterId) {
        for port in 0..network.ports(router) {
            let slot = network.first_slot[router.index()] as usize + usize::from(port);
            let (peer_router, peer_node) = match network.peer[slot] {
                Peer::Router(far) => (i64::from(network.router_of_slot[far.index()].0), NOBODY),
                Peer::Node(node) => (NOBODY, i64::from(node.0)),
                Peer::None => (NOBODY, NOBODY),
            };
            slots.router.push(router.0);
            slots.port.push(port);
            slots.class.push(network.class[slot].0);
            slots.peer_router.push(peer_router);
            slots.peer_node.push(peer_node);
        }
    }
    slots
}
