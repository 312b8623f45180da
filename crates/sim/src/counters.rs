//! What is counted while a run goes on: integers that merge by addition, in any order.

mod histogram;

pub use histogram::Histogram;
