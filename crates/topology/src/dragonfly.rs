//! Dragonfly and cascade: machines in which every router has nodes.

mod spec;

pub use spec::{CascadeSpec, DragonflyArrangement, DragonflySpec, RailsOn, Spread};

use crate::error::TopologyError;
use crate::failures::Failures;
use crate::network::Network;

/// A wired dragonfly or cascade and the look-ups its routing needs.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    /// The wiring.
    pub network: Network,
}

impl Dragonfly {
    /// Wires a dragonfly.
    ///
    /// # Errors
    /// Any [`TopologyError`].
    pub fn build(_spec: &DragonflySpec, _failures: &Failures) -> Result<Self, TopologyError> {
        Err(TopologyError::NotSupported { what: "dragonfly" })
    }

    /// Wires a cascade.
    ///
    /// # Errors
    /// Any [`TopologyError`].
    pub fn build_cascade(_spec: &CascadeSpec, _failures: &Failures) -> Result<Self, TopologyError> {
        Err(TopologyError::NotSupported { what: "cascade" })
    }
}
