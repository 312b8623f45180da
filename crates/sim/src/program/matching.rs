//! Messages by key, at their receivers and at their senders.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use super::running::Token;
use crate::engine::random::Mixer;

/// The key of a message, unique in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageKey {
    pub to: u32,
    pub from: u32,
    pub iteration: u32,
    pub label: u64,
}

impl Hash for MessageKey {
    /// Two words instead of four fields, because mixing a word is most of the work. Keys that share both words are rare.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.to) << 32 | u64::from(self.from));
        state.write_u64(self.label ^ u64::from(self.iteration).rotate_right(16));
    }
}

/// What the receiver of a message knows of it.
#[derive(Clone, Copy, Debug)]
pub enum ReceiverState {
    /// A receive is posted; neither the message nor its RTS has arrived.
    Posted { token: Token, cpu: u16, bytes: u64 },
    /// The message has arrived, and no receive is posted.
    Arrived { bytes: u64 },
    /// An RTS has arrived, and no receive is posted.
    RtsArrived { bytes: u64 },
    /// The data have been asked for: by a CTS or by a get.
    DataAwaited { token: Token, cpu: u16 },
}

/// What the sender knows of a message whose RTS it has sent.
#[derive(Clone, Copy, Debug)]
pub struct RendezvousSend {
    pub token: Token,
    pub bytes: u64,
    pub issue: u64,
    pub row: u32,
}

/// The data that a rank has asked for, where it may ask for so many messages at a time only.
#[derive(Clone, Debug, Default)]
pub struct Fetching {
    /// Messages whose data it has asked for and that have not come.
    pub asked: u32,
    /// Messages that wait for their turn, with their size and their receive, in the order of their match.
    pub waiting: VecDeque<(MessageKey, u64, Token)>,
}

/// What the destination of a message needs to know for its latency.
#[derive(Clone, Copy, Debug)]
pub struct Issued {
    /// When the message was handed over.
    pub issue: u64,
    /// Its row at its sender.
    pub row: u32,
}

/// A transfer between GPUs that is on its way.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub issued: Issued,
    /// How long its CPU writes it at least.
    pub pace: u64,
    /// When its last byte comes to the queue that it asks for.
    pub tail: u64,
}

pub type Map<V> = HashMap<MessageKey, V, BuildHasherDefault<Mixer>>;
