//! What a rank waits for (model, section 10, "Moments").

/// A rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankId {
    /// Index of the job.
    pub(crate) job: usize,
    /// The rank.
    pub(crate) rank: u32,
}

/// What happens to a rank at an instant; the derived order is that of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RankEvent {
    /// Something comes from the network or from memory.
    Arrival(Arrival),
    /// A work begins.
    Begun {
        /// Its number.
        task_number: u64,
    },
    /// A work ends.
    Done {
        /// Its number.
        task_number: u64,
    },
    /// The data of a message has left the NIC.
    Sent(MessageKey),
    /// The rank starts.
    Start,
}

/// What comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    /// From whom, and of which message.
    pub(crate) key: MessageKey,
    /// What it is.
    pub(crate) message_kind: ProtocolMessageKind,
    /// Size of the message itself.
    pub(crate) bytes: u64,
}

/// A message as one of its two ranks knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MessageKey {
    /// The other rank.
    pub(crate) peer: u32,
    /// The iteration.
    pub(crate) iteration: u64,
    /// The label.
    pub(crate) label: u64,
}

/// What can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProtocolMessageKind {
    /// A message that was sent without asking.
    Eager,
    /// The question whether a message may be sent.
    Rts,
    /// The answer that it may.
    Cts,
    /// The message after the answer.
    Data,
}
