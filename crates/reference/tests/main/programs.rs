//! Programs, worked out by hand to the picosecond. Catches a reading of the model that is wrong in both simulators
//! alike, which their equality cannot show.

mod counted;
mod deadlocked;
mod graphs;
mod messages;
mod phases;
mod stages;
mod system;
