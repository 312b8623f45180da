//! What is counted while a run goes on: integers that merge by addition, in any order.

mod arrivals;
mod histogram;

pub use arrivals::ArrivalCounts;
pub use histogram::Histogram;
