//! Dragonfly and cascade machines: their routings, congestion metrics, rails and failures.

mod aries;
mod books;
mod branches;
mod dependencies;
mod failures;
mod hops;
mod rails;
mod refusals;
mod sensing;
mod show;
pub mod support;
mod throughput;
mod walk;
mod zero_load;
