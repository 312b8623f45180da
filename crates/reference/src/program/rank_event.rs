//! The events that a rank waits for (model, section 10, "Rank events").

use super::gpus::Transfer;

/// A rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankId {
    /// Index of the job.
    pub(crate) job: usize,
    /// The rank.
    pub(crate) rank: u32,
}

/// An event of a rank; the derived order is that of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RankEvent {
    /// An arrival from the network or from memory.
    Arrival(Arrival),
    /// A CPU task begins.
    Begun {
        /// Its number.
        task_number: u64,
    },
    /// A CPU task ends.
    Done {
        /// Its number.
        task_number: u64,
    },
    /// The data of a message has left the NIC.
    Sent(MessageKey),
    /// The rank starts.
    Start,
    /// A transfer between GPUs asks for a queue.
    Queue(Transfer),
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    /// Its source and the key of its message.
    pub(crate) key: MessageKey,
    /// Its kind.
    pub(crate) message_kind: ProtocolMessageKind,
    /// Size of the message itself.
    pub(crate) bytes: u64,
}

/// A message as one of its two ranks sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MessageKey {
    /// The other rank.
    pub(crate) peer: u32,
    /// The iteration.
    pub(crate) iteration: u64,
    /// The label.
    pub(crate) label: u64,
}

/// The kinds of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProtocolMessageKind {
    /// An eager or intra-node message.
    Eager,
    /// An RTS.
    Rts,
    /// A CTS.
    Cts,
    /// The data of a rendezvous.
    Data,
    /// A FIN.
    Fin,
}
