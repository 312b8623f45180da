//! Traces as tables, one operation per row, in the terms of MPI programs. `docs/traces.md` has the columns and the
//! dependencies.

mod read;
mod write;

pub use write::write_csv;

/// Columns, in the order in which they are written.
const COLUMNS: [&str; 6] = ["rank", "operation", "peer", "bytes", "tag", "time"];
const RANK: usize = 0;
const OPERATION: usize = 1;
const PEER: usize = 2;
const BYTES: usize = 3;
const TAG: usize = 4;
const TIME: usize = 5;

/// Names of operations.
const OPERATIONS: [&str; 6] = ["send", "recv", "isend", "irecv", "wait", "compute"];
