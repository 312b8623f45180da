//! Properties of the collectives: data moved along their own steps ends where MPI requires. One module per property;
//! each test names the defect that it catches.

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
#[path = "collectives/steps.rs"]
mod steps;
#[path = "collectives/times.rs"]
mod times;
