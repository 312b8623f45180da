//! Machines as pure data.
//!
//! A [`Network`] is the form in which the rest of the code sees every machine: routers with numbered ports. Each port
//! is wired to a compute node or to another router's port, and has a link class. The file of a machine (for example
//! [`dragonfly_plus`]) wires it and answers the questions of its routing algorithms.
//!
//! | machine | file | arrangements of global links |
//! |---|---|---|
//! | dragonfly (Kim 2008), cascade (Cray XC) | [`dragonfly`] | absolute, relative, circulant, palmtree, random |
//! | Dragonfly+ (Shpiner 2017; Kang 2019) | [`dragonfly_plus`] | linear, parallel |
//! | fat tree (XGFT) of two or three levels | [`fat_tree`] | - |
//! | HyperX (Ahn 2009) of one to three dimensions | [`hyperx`] | - |
//! | any graph, by a list of links | [`graph`] | - |

pub mod dragonfly;
pub mod dragonfly_plus;
pub mod error;
pub mod failures;
pub mod fat_tree;
pub mod graph;
pub mod hyperx;
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
pub use fat_tree::{FatTree, FatTreeSpec, TreeRails};
pub use graph::{Graph, GraphSpec, UpDown};
pub use hyperx::{HyperX, HyperXSpec};
pub use ids::{Address, GroupId, NodeId, Port, RouterId, SlotId};
pub use machine::{Machine, PreparedMachine, TopologySpec};
pub use network::{ClassId, Levels, NO_GROUP, Network, Peer};
pub use units::Bandwidth;
