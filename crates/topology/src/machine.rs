//! Any machine, by kind.

use std::sync::Arc;

use odonata_error::Error;
use serde::{Deserialize, Serialize};

use crate::dragonfly::{CascadeSpec, Dragonfly, DragonflySpec};
use crate::dragonfly_plus::{DragonflyPlus, DragonflyPlusSpec};
use crate::failures::Failures;
use crate::fat_tree::{FatTree, FatTreeSpec};
use crate::graph::{Graph, GraphSpec};
use crate::hyperx::{HyperX, HyperXSpec};
use crate::network::Network;

/// The description of a machine, by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySpec {
    /// Groups of leaves and spines.
    DragonflyPlus(DragonflyPlusSpec),
    /// Groups in which every router is linked to every other.
    Dragonfly(DragonflySpec),
    /// Groups that are grids of routers.
    Cascade(CascadeSpec),
    /// Leaves, spines and cores.
    FatTree(FatTreeSpec),
    /// A grid in which every router is linked to all others of its row in each dimension.
    #[serde(rename = "hyperx")]
    HyperX(HyperXSpec),
    /// Routers, nodes and links that are listed one by one.
    Graph(GraphSpec),
}

impl TopologySpec {
    /// The name of its kind in a specification.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            TopologySpec::DragonflyPlus(_) => "dragonfly-plus",
            TopologySpec::Dragonfly(_) => "dragonfly",
            TopologySpec::Cascade(_) => "cascade",
            TopologySpec::FatTree(_) => "fat-tree",
            TopologySpec::HyperX(_) => "hyperx",
            TopologySpec::Graph(_) => "graph",
        }
    }
}

/// A wired machine and the look-ups of its kind. A clone shares them.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Groups of leaves and spines.
    DragonflyPlus(Arc<DragonflyPlus>),
    /// A dragonfly or a cascade: every router has nodes.
    Dragonfly(Arc<Dragonfly>),
    /// Leaves, spines and cores.
    FatTree(Arc<FatTree>),
    /// A grid with all links of every row.
    HyperX(Arc<HyperX>),
    /// Any graph.
    Graph(Arc<Graph>),
}

impl Machine {
    /// Wires the machine and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn build(spec: &TopologySpec, failures: &Failures) -> Result<Self, Error> {
        Ok(match spec {
            TopologySpec::DragonflyPlus(spec) => {
                Machine::DragonflyPlus(Arc::new(DragonflyPlus::build_with(spec, failures)?))
            }
            TopologySpec::Dragonfly(spec) => Machine::Dragonfly(Arc::new(Dragonfly::build(spec, failures)?)),
            TopologySpec::FatTree(spec) => Machine::FatTree(Arc::new(FatTree::build(spec, failures)?)),
            TopologySpec::HyperX(spec) => Machine::HyperX(Arc::new(HyperX::build(spec, failures)?)),
            TopologySpec::Graph(spec) => Machine::Graph(Arc::new(Graph::build(spec, failures)?)),
            TopologySpec::Cascade(spec) => Machine::Dragonfly(Arc::new(Dragonfly::build_cascade(spec, failures)?)),
        })
    }

    /// The wiring.
    #[inline]
    #[must_use]
    pub fn network(&self) -> &Network {
        match self {
            Machine::DragonflyPlus(machine) => &machine.network,
            Machine::Dragonfly(machine) => &machine.network,
            Machine::FatTree(machine) => &machine.network,
            Machine::HyperX(machine) => &machine.network,
            Machine::Graph(machine) => &machine.network,
        }
    }
}

/// A wired machine with its description, so that runs need not wire it again. A clone shares both.
#[derive(Clone, Debug)]
pub struct PreparedMachine(Arc<Description>);

#[derive(Debug)]
struct Description {
    topology: TopologySpec,
    failures: Failures,
    machine: Machine,
}

impl PreparedMachine {
    /// As [`Machine::build`].
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn build(topology: TopologySpec, failures: Failures) -> Result<Self, Error> {
        let machine = Machine::build(&topology, &failures)?;
        Ok(Self(Arc::new(Description { topology, failures, machine })))
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.0.machine
    }

    /// Whether [`Machine::build`] would return this machine for these arguments.
    #[must_use]
    pub fn is_of(&self, topology: &TopologySpec, failures: &Failures) -> bool {
        self.0.topology == *topology && self.0.failures == *failures
    }
}
