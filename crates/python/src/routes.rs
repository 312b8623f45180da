//! All paths between two nodes, as dictionaries.

use odonata_sim::Spec;
use odonata_sim::routing::show::{Hop, paths};
use odonata_topology::{Network, Peer, Port, RouterId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::to_python;

/// The paths that packets may take between two nodes; see `_core.pyi`.
pub fn routes<'py>(
    py: Python<'py>,
    spec: &Spec,
    network: &Network,
    from_node: u32,
    to_node: u32,
    limit: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let paths = py.detach(|| paths(spec, from_node, to_node, limit)).map_err(|e| to_python(py, &e))?;
    let list = PyList::empty(py);
    for path in paths.first {
        let told = PyDict::new(py);
        told.set_item("minimal", path.minimal)?;
        let hops = PyList::empty(py);
        for hop in path.hops {
            hops.append(told_hop(py, network, hop)?)?;
        }
        told.set_item("hops", hops)?;
        list.append(told)?;
    }
    let result = PyDict::new(py);
    result.set_item("total", paths.total)?;
    result.set_item("paths", list)?;
    Ok(result)
}

fn told_hop<'py>(py: Python<'py>, network: &Network, hop: Hop) -> PyResult<Bound<'py, PyDict>> {
    let slot = network.slot(RouterId(hop.router), Port(hop.port));
    let told = PyDict::new(py);
    told.set_item("router", hop.router)?;
    told.set_item("port", hop.port)?;
    told.set_item("channel", hop.channel)?;
    told.set_item("class", network.classes[network.class[slot.index()].index()])?;
    let (router, node) = match network.peer[slot.index()] {
        Peer::Router(far) => (Some(network.router_of_slot[far.index()].0), None),
        Peer::Node(nic) => (None, Some(nic.0 / network.rails)),
        Peer::None => (None, None),
    };
    told.set_item("to_router", router)?;
    told.set_item("to_node", node)?;
    Ok(told)
}
