//! Dragonfly-class machines as pure data.
//!
//! A [`Network`] is what every machine looks like to the rest of the code: routers with numbered ports,
//! each port wired to a compute node or to another router's port, each with a link class. A machine's own
//! file (for instance [`dragonfly_plus`]) knows how to wire it and answers the questions that its routing asks.
//!
//! | machine | file | arrangements of global links |
//! |---|---|---|
//! | dragonfly (Kim 2008), cascade (Cray XC) | [`dragonfly`] | absolute, relative, circulant, palmtree, random |
//! | Dragonfly+ (Shpiner 2017; Kang 2019) | [`dragonfly_plus`] | linear, parallel |

pub mod dragonfly;
pub mod dragonfly_plus;
pub mod error;
pub mod failures;
pub mod ids;
mod lists;
pub mod machine;
pub mod network;
mod pairs;
pub mod size;
pub mod units;

pub use dragonfly::{CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, IntermediateGroups, RailsOn, Spread};
pub use dragonfly_plus::{Arrangement, DragonflyPlus, DragonflyPlusSpec};
pub use failures::Failures;
pub use ids::{GroupId, NodeId, Port, RouterId, SlotId};
pub use machine::{Machine, PreparedMachine, TopologySpec};
pub use network::{ClassId, Network, Peer};
pub use units::Bandwidth;
