//! Everything that can end a run without a result.

use odonata_topology::TopologyError;
use thiserror::Error;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The machine cannot be built. Change the named parameter of the system.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The specification is not one: malformed JSON, an unknown key, a wrong type.
    #[error("the specification cannot be read: {0}")]
    Json(String),
    /// A value that cannot be simulated. `at` is the path of the value, as `jobs[1].nodes`.
    #[error("{at}: {problem}")]
    Invalid {
        /// Where.
        at: String,
        /// What was found and what is expected.
        problem: String,
    },
    /// The routing on this machine can wait for itself. Give it more channels or another rule.
    #[error("routing `{routing}` could deadlock: packets can wait for each other in a circle ({cycle}); {remedy}")]
    CouldDeadlock {
        /// Name of the routing.
        routing: String,
        /// The kinds of link in the circle.
        cycle: String,
        /// What to change.
        remedy: String,
    },
    /// Packets wait for each other and nothing can move. The checks before the run should make this impossible.
    #[error("deadlock at {at_ps} ps: {waiting} packets wait for room and nothing can move")]
    Deadlock {
        /// When the last packet began to wait.
        at_ps: u64,
        /// How many packets wait.
        waiting: u64,
    },
    /// The ranks of a program wait for each other, or for messages that nobody sends.
    #[error(
        "the program of job `{job}` is dead: {ranks} of its ranks wait for what cannot come any more ({}{})", .waiting.join("; "),
        if (.waiting.len() as u64) < *.ranks { "; ..." } else { "" }
    )]
    DeadProgram {
        /// Name of the job.
        job: String,
        /// Ranks that have not finished.
        ranks: u64,
        /// What some of them wait for.
        waiting: Vec<String>,
    },
    /// Simulated time left the range of 2^63 ps (about 106 days): an interval or a size is far too large.
    #[error("simulated time ran past 2^63 ps (106 days): an interval, a size or a bandwidth is out of scale")]
    TimeOverflow,
    /// The results do not fit into memory. Record fewer messages one by one, or end the run sooner.
    #[error("not enough memory for {rows} rows of messages; `latency = \"histogram\"` needs none")]
    Memory {
        /// How many rows were asked for.
        rows: u64,
    },
    /// The caller asked to stop (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// An invalid value at a path.
    pub fn invalid(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { at: at.into(), problem: problem.into() }
    }
}
