//! The terms of the model for a machine (section 6), computed port by port from its wiring. Nothing comes from the
//! look-ups of the topology, so this tests them too.

mod any;
mod hyperx;
mod leaf_spine;
mod paths;
mod tree;

use odonata_error::Error;
use odonata_topology::{Machine, Network, NodeId, Peer, RouterId, SlotId};

pub(crate) use any::Web;
pub(crate) use hyperx::Grid;
pub(crate) use leaf_spine::LeafSpine;
pub(crate) use paths::Paths;
pub(crate) use tree::Tree;

/// A machine.
#[derive(Debug)]
pub(crate) struct Map {
    /// Its wiring.
    pub(crate) network: Network,
    /// The look-ups for this kind of machine.
    pub(crate) shape: Shape,
}

/// The kinds of machine.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Groups of leaves and spines.
    DragonflyPlus(LeafSpine),
    /// Every router has nodes: dragonfly and cascade.
    Direct(Paths),
    /// Leaves, spines and cores.
    FatTree(Tree),
    /// All routers of a row are joined, in every dimension.
    HyperX(Grid),
    /// Any graph.
    Graph(Web),
    /// Only the wiring, for routings of one's own.
    Bare,
}

impl Map {
    /// Reads a machine; `bare` without look-ups.
    ///
    /// # Errors
    /// If two groups of a dragonfly or a cascade are joined neither by a cable nor by a third group.
    pub(crate) fn new(machine: &Machine, bare: bool) -> Result<Self, Error> {
        let network = machine.network().clone();
        if bare {
            return Ok(Self { network, shape: Shape::Bare });
        }
        let shape = match machine {
            Machine::DragonflyPlus(_) => Shape::DragonflyPlus(LeafSpine::new(&network)),
            Machine::Dragonfly(_) => Shape::Direct(Paths::new(&network)?),
            Machine::FatTree(_) => Shape::FatTree(Tree::new(&network)),
            Machine::HyperX(_) => Shape::HyperX(Grid::new(&network)),
            Machine::Graph(graph) => Shape::Graph(Web::new(&network, &graph.spec.weights)),
        };
        Ok(Self { network, shape })
    }

    /// Router of a port.
    pub(crate) fn router(&self, slot: usize) -> usize {
        self.network.router_of_slot[slot].index()
    }

    /// Router of a NIC.
    pub(crate) fn router_of(&self, endpoint: NodeId) -> usize {
        self.router(self.network.node_slot[endpoint.index()].index())
    }

    /// Group of a router.
    pub(crate) fn group(&self, router: usize) -> usize {
        self.network.group_of_router[router] as usize
    }

    /// Whether a link connects two groups.
    pub(crate) fn is_global(&self, slot: usize) -> bool {
        self.network.class[slot] >= self.network.first_global
    }
}

/// Number of routers.
fn routers(network: &Network) -> std::ops::Range<usize> {
    0..network.routers()
}

/// The ports of a router from which a working cable leads to another router, ascending, each with that router.
pub(crate) fn live(network: &Network, router: usize) -> Vec<(usize, usize)> {
    let slots = network.first_slot[router]..network.first_slot[router + 1];
    let far = |slot: u32| match network.peer[slot as usize] {
        Peer::Router(peer) if !network.has_failed(SlotId(slot)) => {
            Some((slot as usize, network.router_of_slot[peer.index()].index()))
        }
        Peer::Router(_) | Peer::Node(_) | Peer::None => None,
    };
    slots.filter_map(far).collect()
}

/// Whether a router works.
pub(crate) fn works(network: &Network, router: usize) -> bool {
    network.router_works(RouterId(router as u32))
}
