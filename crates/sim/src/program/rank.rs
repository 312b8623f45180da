//! The state of a rank.

use crate::engine::Burst;

/// The position of a rank in its program, and what it waits for.
#[derive(Clone, Debug, Default)]
pub struct Rank {
    /// CPU tasks so far.
    pub tasks: u64,
    /// Compute operations begun so far.
    pub computes: u64,
    /// Iteration it is in.
    pub iteration: u32,
    /// Phase, and operation in the chunk (phases).
    pub phase: u32,
    pub position: u32,
    /// Chunk of the phase (phases).
    pub chunk: u64,
    /// Operations that do not block and are not complete (phases); operations that have not ended (traces).
    pub open: u32,
    /// What it waits for (phases).
    pub waits: Waits,
    /// When its iteration began, and from when on it is timed.
    pub began: u64,
    pub timed_from: u64,
    /// Its present burst of iterations, if it pauses between them.
    pub burst: Burst,
    /// When it finished.
    pub finish: Option<u64>,
    /// How long its CPUs worked.
    pub worked: u64,
}

/// What a rank that runs phases waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waits {
    /// Nothing, or its own CPU task.
    #[default]
    Work,
    /// Its present operation.
    Operation,
    /// All non-blocking operations.
    All,
}
