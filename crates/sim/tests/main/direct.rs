//! Dragonfly and cascade machines: their routings, sensors, rails and failures.

mod books;
mod branches;
mod dependencies;
mod hops;
mod support;
mod walk;
mod zero_load;
