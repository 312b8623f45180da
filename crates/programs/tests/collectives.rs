//! What the collectives promise: data moved by their own steps ends where MPI says. One module a property; each test
//! names the defect it would catch.

#[path = "collectives/bounds.rs"]
mod bounds;
#[path = "collectives/cases.rs"]
mod cases;
#[path = "collectives/counts.rs"]
mod counts;
#[path = "collectives/data.rs"]
mod data;
#[path = "collectives/executor.rs"]
mod executor;
#[path = "collectives/order.rs"]
mod order;
#[path = "collectives/script.rs"]
mod script;
#[path = "collectives/times.rs"]
mod times;
