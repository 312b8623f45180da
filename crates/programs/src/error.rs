//! What can be wrong with a program.

use thiserror::Error;

/// A program that cannot be run. What is to be changed is named.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// A grid with another number of points than there are ranks.
    #[error("a grid of {grid:?} does not have as many points as there are ranks ({ranks})")]
    Grid {
        /// Its extents.
        grid: Vec<u32>,
        /// Ranks of the job.
        ranks: u32,
    },
    /// A value that cannot be used. `field` is its name in the phase.
    #[error("{field}: {problem}")]
    Invalid {
        /// Where.
        field: String,
        /// What was found and what is expected.
        problem: String,
    },
    /// An error in the text of a trace.
    #[error("line {line}, column {column}: {problem}")]
    Trace {
        /// Line, from 1.
        line: u32,
        /// Column, from 1, in characters.
        column: u32,
        /// What was found and what is expected.
        problem: String,
    },
    /// An error in a binary trace that is about no operation.
    #[error("byte {byte}: {problem}")]
    Binary {
        /// Where in the file, from 0.
        byte: u64,
        /// What was found and what is expected.
        problem: String,
    },
    /// An operation of a trace that cannot be read from, or written to, a format whose operations stand in no lines.
    #[error("rank {rank}, operation {operation}: {problem}")]
    Operation {
        /// Its rank.
        rank: u32,
        /// Its number in the rank, from 1 (as in the labels `l1`, `l2`, ... of the text that is written).
        operation: u32,
        /// What was found and what is expected.
        problem: String,
    },
}

impl ProgramError {
    /// An error of an operation, whose number is counted from 0 here.
    pub fn operation(rank: u32, number: u32, problem: impl Into<String>) -> Self {
        Self::Operation { rank, operation: number.saturating_add(1), problem: problem.into() }
    }

    /// An invalid value of a field.
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), problem: problem.into() }
    }

    /// The same error, of a field further in: `phases[3].bytes`.
    #[must_use]
    pub fn under(self, prefix: &str) -> Self {
        match self {
            Self::Invalid { field, problem } => Self::Invalid { field: format!("{prefix}.{field}"), problem },
            Self::Grid { .. } => Self::invalid(format!("{prefix}.grid"), self.to_string()),
            Self::Trace { .. } | Self::Binary { .. } | Self::Operation { .. } => self,
        }
    }
}
