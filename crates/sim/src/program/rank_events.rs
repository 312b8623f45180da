//! What the ranks of a node wait for, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::protocol_messages::ProtocolMessageKind;

/// What happens; the order is that of docs/model.md, section 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankEventKind {
    /// Something has arrived.
    Arrival,
    /// A work has begun.
    Begun,
    /// A work is done.
    Done,
    /// Data has left the node.
    Sent,
    /// The rank starts.
    Start,
}

/// Something that happens to a rank at an instant. Moments are handled in the order of their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankEvent {
    /// When.
    pub time: u64,
    /// To which rank.
    pub rank: u32,
    /// What.
    pub kind: RankEventKind,
    /// The rank at the other end of the message.
    pub peer: u32,
    /// Iteration of the message.
    pub iteration: u32,
    /// Label of the message, or number of the work.
    pub label: u64,
    /// What of the message has arrived.
    pub message_kind: ProtocolMessageKind,
    /// What the rank is to do then: a [`Token`](super::running::Token).
    pub token: u32,
    /// Bytes of the message, or picoseconds of the work.
    pub value: u64,
}

/// The moments of a node's ranks.
#[derive(Debug)]
pub struct RankEvents {
    /// Job of the ranks.
    pub job: u16,
    events: BinaryHeap<Reverse<RankEvent>>,
    /// Earliest event that has been made for the node and has not come yet.
    armed: u64,
}

impl RankEvents {
    /// An empty one.
    #[must_use]
    pub fn new(job: u16) -> Self {
        Self { job, events: BinaryHeap::new(), armed: u64::MAX }
    }

    /// Adds a moment.
    pub fn add(&mut self, event: RankEvent) {
        // Most nodes have one moment to wait for: a heap that grows by doubling from four would take most of a rank's memory.
        if self.events.len() == self.events.capacity() {
            self.events.reserve_exact(self.events.len().max(1));
        }
        self.events.push(Reverse(event));
    }

    /// Adds the start of a rank.
    pub fn start(&mut self, time: u64, rank: u32) {
        let (kind, message_kind) = (RankEventKind::Start, ProtocolMessageKind::Eager);
        self.add(RankEvent { time, rank, kind, peer: 0, iteration: 0, label: 0, message_kind, token: 0, value: 0 });
    }

    /// Takes the next moment out if it is not after `now`.
    pub fn take(&mut self, now: u64) -> Option<RankEvent> {
        if self.armed <= now {
            self.armed = u64::MAX;
        }
        let &Reverse(next) = self.events.peek()?;
        (next.time <= now).then(|| {
            self.events.pop();
            next
        })
    }

    /// When an event is to be made, if none was made for that instant or before.
    pub fn arm(&mut self) -> Option<u64> {
        let next = self.events.peek()?.0.time;
        (next < self.armed).then(|| {
            self.armed = next;
            next
        })
    }
}
