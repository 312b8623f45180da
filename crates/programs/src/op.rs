//! One operation of a rank.

/// What a rank does next. Peers are ranks of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends a message.
    Send {
        /// Rank that it goes to.
        to: u32,
        /// Distinguishes it from the other messages between the two ranks in this iteration: the receive with the same
        /// label gets it. A pair of ranks uses a label once per iteration.
        label: u64,
        /// Its size; may be 0.
        bytes: u64,
        /// Whether the rank waits until its buffer may be overwritten.
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
        /// Whether the rank waits until the message has arrived.
        blocking: bool,
    },
    /// Computes.
    Compute {
        /// For so many picoseconds ...
        ps: u64,
        /// ... and a further time that is drawn from an exponential distribution with this mean.
        jitter_ps: u64,
    },
    /// Combines a vector that was received with its own, as a reduction does. The costs of the job say for how long.
    Combine {
        /// Size of what is combined.
        bytes: u64,
        /// Size of the whole vector of the collective.
        of: u64,
    },
    /// Waits until all non-blocking operations of this rank are complete.
    Wait,
}
