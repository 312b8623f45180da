//! Traces: each rank has a graph of operations; read and written as GOAL (LogGOPSim) and as CSV.

mod graph;

pub use graph::{Graph, Start, Step, Task, Trace};

use crate::ProgramError;

impl Trace {
    /// Reads a schedule in the GOAL format for `ranks` ranks.
    ///
    /// # Errors
    /// [`ProgramError::Trace`].
    pub fn read(_goal: &str, _ranks: u32) -> Result<Self, ProgramError> {
        unimplemented!()
    }
}
