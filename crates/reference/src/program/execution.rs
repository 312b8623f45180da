//! The next action of a rank in an iteration: the common part of phases and traces.

use odonata_programs::Op;
use odonata_programs::trace::Graph;

use super::graph::Schedule;
use super::phases::Sequence;

/// The NICs that the two operations of a message name, that of the rank first; `None` if the fabric chooses.
pub(crate) type Nics = Option<(u8, u8)>;

/// An operation to begin. `op` is its number in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A CPU task of `ps`.
    Compute { op: usize, cpu: u16, ps: u64 },
    /// Combines received data with local data.
    Combine { op: usize, cpu: u16, bytes: u64, of: u64 },
    /// A message to another rank.
    Send { op: usize, cpu: u16, to: u32, label: u64, bytes: u64, nics: Nics },
    /// A receive is posted.
    Receive { op: usize, cpu: u16, from: u32, label: u64, nics: Nics },
}

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An operation.
    Begin(Action),
    /// The time of the iteration begins.
    Timed,
    /// Wait for an event.
    Wait,
    /// The iteration ends.
    End,
}

/// The plan of a rank in an iteration, and its position.
#[derive(Debug)]
pub(crate) enum Execution {
    /// One operation after the other.
    Phases(Sequence),
    /// A graph of operations.
    Graph(Schedule),
}

impl Execution {
    /// The plan of a rank of a job that runs these operations, whose time begins with number `timed_from`.
    pub(crate) fn phases(ops: Vec<Op>, timed_from: usize, seed: u64, job: usize, rank: u32) -> Self {
        Self::Phases(Sequence::new(ops, timed_from, seed, (job as u64) << 32 | u64::from(rank)))
    }

    /// The plan of a rank with a graph; `names_nics` if the NICs of the trace are used.
    pub(crate) fn graph(graph: Graph, names_nics: bool) -> Self {
        Self::Graph(Schedule::new(graph, names_nics))
    }

    /// The number of a CPU of the rank.
    pub(crate) fn cpu(&self, index: u16) -> u32 {
        match self {
            Self::Phases(_) => index.into(),
            Self::Graph(schedule) => schedule.cpu(index),
        }
    }

    /// An iteration begins.
    pub(crate) fn begin(&mut self) {
        match self {
            Self::Phases(sequence) => sequence.begin(),
            Self::Graph(schedule) => schedule.begin(),
        }
    }

    /// The next action.
    pub(crate) fn next(&mut self) -> Next {
        match self {
            Self::Phases(sequence) => sequence.next(),
            Self::Graph(schedule) => schedule.next(),
        }
    }

    /// The CPU task of an operation has begun, or the receive is posted.
    pub(crate) fn begun(&mut self, op: usize) {
        match self {
            Self::Phases(_) => {}
            Self::Graph(schedule) => schedule.begun(op),
        }
    }

    /// The message of a send is handed over.
    pub(crate) fn handed_over(&mut self, op: usize) {
        match self {
            Self::Phases(sequence) => sequence.handed_over(op),
            Self::Graph(_) => {}
        }
    }

    /// A compute has ended; a send or a receive is complete.
    pub(crate) fn complete(&mut self, op: usize) {
        match self {
            Self::Phases(sequence) => sequence.complete(op),
            Self::Graph(schedule) => schedule.ended(op),
        }
    }
}
