//! What a run counts: integers that merge by addition, in any order.

mod arrivals;
mod blame;
mod by_class;
mod histogram;
mod operations;
mod series;
mod slices;

pub use arrivals::{ArrivalCounts, Arrivals};
pub use blame::{Blame, BlameCounts, Crossing, Needs, Release, Room, RootRows, Sides, Stay, Victim, Wait};
pub use by_class::ByClass;
pub use histogram::Histogram;
pub use operations::{NO_PEER, OperationCounts, Operations, Task};
pub use series::{Routes, Series, SeriesCounts};
pub use slices::{Backlog, SLICES, Slices};
