//! Any machine, by kind.

use odonata_error::Error;
use serde::{Deserialize, Serialize};

use crate::dragonfly::{CascadeSpec, Dragonfly, DragonflySpec};
use crate::dragonfly_plus::{DragonflyPlus, DragonflyPlusSpec};
use crate::failures::Failures;
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
}

/// A wired machine and the look-ups of its kind.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Groups of leaves and spines.
    DragonflyPlus(DragonflyPlus),
    /// A dragonfly or a cascade: every router has nodes.
    Dragonfly(Dragonfly),
}

impl Machine {
    /// Wires the machine and takes away what has failed.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn build(spec: &TopologySpec, failures: &Failures) -> Result<Self, Error> {
        Ok(match spec {
            TopologySpec::DragonflyPlus(spec) => Machine::DragonflyPlus(DragonflyPlus::build_with(spec, failures)?),
            TopologySpec::Dragonfly(spec) => Machine::Dragonfly(Dragonfly::build(spec, failures)?),
            TopologySpec::Cascade(spec) => Machine::Dragonfly(Dragonfly::build_cascade(spec, failures)?),
        })
    }

    /// The wiring.
    #[inline]
    #[must_use]
    pub fn network(&self) -> &Network {
        match self {
            Machine::DragonflyPlus(machine) => &machine.network,
            Machine::Dragonfly(machine) => &machine.network,
        }
    }
}
