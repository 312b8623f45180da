//! The GOAL format of LogGOPSim (Hoefler, Siebert, Lumsdaine 2009: Group Operation Assembly Language; Hoefler,
//! Schneider, Lumsdaine 2010: LogGOPSim). `docs/traces.md` says what is read and written, and where that differs.

mod cycle;
mod operation;
mod read;
mod tokens;
mod write;

pub use cycle::cycle;
pub use read::MOST_IN_CYCLE;
