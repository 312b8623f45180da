//! Traces: each rank has a graph of operations; read and written as GOAL (LogGOPSim), text or binary, as CSV
//! (`docs/traces.md`) and as Chakra execution traces (`docs/chakra.md`).
//!
//! | file | what it holds |
//! |---|---|
//! | `graph.rs` | the operations of a trace and what they wait for |
//! | `draft.rs`, `matching.rs` | what a reader has found, and which send belongs to which receive |
//! | `chain.rs` | operations one after the other as a graph: what blocks, and for how long |
//! | `export.rs` | phases as operations one after the other |
//! | `shape.rs` | phases that a graph contains many times |
//! | `stages.rs` | a graph of nodes for each stage as a graph of operations for each rank |
//! | `formats.rs` | the list of the formats that are one file |
//! | `goal/`, `binary/`, `csv/`, `chakra/` | the formats |
//! | `problem.rs`, `quantity.rs` | errors with line and column, near names, times with units |

use odonata_error::{Error, ErrorKind, path};

mod binary;
mod chain;
mod chakra;
mod csv;
mod draft;
mod export;
mod formats;
mod goal;
mod graph;
mod matching;
mod problem;
mod quantity;
mod shape;
mod stages;

pub use chakra::{ChakraOptions, CollectiveCall, Collectives};
pub use csv::write_csv;
pub use formats::{Combining, TRACE_FORMATS, TraceFormat};
pub use graph::{Action, Graph, Operation, Start, Trace};

/// Largest size of a message, in bytes.
pub const MAX_BYTES: u64 = 1 << 40;

/// Most operations of a trace that is made here: with about 100 bytes in the text of each, it would be longer than 4 GiB.
const MOST_OPERATIONS: u64 = 40_000_000;

/// Not a tag: in LogGOPSim it means any tag.
pub const ANY_TAG: u64 = u32::MAX as u64;

impl Trace {
    /// Reads a schedule in the GOAL format for `ranks` ranks.
    ///
    /// # Errors
    /// [`Error`] as [`Trace::parse_goal`]; [`Error`] if it is for another number of ranks.
    pub fn read(goal: &str, ranks: u32) -> Result<Self, Error> {
        let trace = Self::parse_goal(goal).map_err(|e| e.under(path!["goal"]))?;
        if trace.ranks() == ranks {
            return Ok(trace);
        }
        Err(ErrorKind::TraceOfOtherRanks { found: trace.ranks(), ranks }.at(path!["goal"]))
    }
}
