//! The operations of a trace and what they wait for.

/// The operations of all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// One graph a rank.
    pub ranks: Vec<Graph>,
}

/// The operations of one rank, in the order in which they stand in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The operations.
    pub steps: Vec<Step>,
    /// For each operation those that wait for it: `(operation, which moment of this one they wait for)`.
    pub followers: Vec<Vec<(u32, Start)>>,
    /// For each operation how many it waits for.
    pub waits_for: Vec<u32>,
}

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub task: Task,
    /// CPU of the rank that it occupies.
    pub cpu: u8,
    /// Line of the text in which it stands, from 1.
    pub line: u32,
}

/// What an operation of a trace does. None of them blocks anything but its followers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Sends a message.
    Send {
        /// Rank that it goes to.
        to: u32,
        /// As in [`crate::Op::Send`]: `tag << 32 | occurrence` of the tag between the two ranks, in the order of the text.
        label: u64,
        /// Its size.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// Rank that it comes from.
        from: u32,
        /// As in [`Task::Send`].
        label: u64,
        /// Its size.
        bytes: u64,
    },
    /// Computes for so many picoseconds.
    Compute {
        /// Picoseconds.
        ps: u64,
    },
}

/// Which moment of an operation another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Its end (`requires`).
    AtEnd,
    /// Its beginning (`irequires`).
    AtBegin,
}
