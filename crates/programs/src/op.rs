//! One operation of a rank.

/// What a rank does next. Peers are ranks of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends a message.
    Send {
        /// Rank that it goes to.
        to: u32,
        /// What tells it from the other messages between the two ranks in this iteration: the receive with the same label
        /// gets it. A pair of ranks uses a label once in an iteration.
        label: u64,
        /// Its size; may be 0.
        bytes: u64,
        /// Whether the rank waits until the message may be overwritten.
        blocking: bool,
    },
    /// Receives a message.
    Receive {
        /// Rank that it comes from.
        from: u32,
        /// As for [`Op::Send`].
        label: u64,
        /// Its size, the same as at the sender.
        bytes: u64,
        /// Whether the rank waits until it is there.
        blocking: bool,
    },
    /// Computes.
    Compute {
        /// For so many picoseconds ...
        ps: u64,
        /// ... and a time more that is drawn from an exponential distribution with this mean.
        jitter_ps: u64,
    },
    /// Waits until all operations of this rank that do not block are complete.
    Wait,
}
