//! The events that the ranks of a node wait for, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::protocol_messages::ProtocolMessageKind;

/// The kinds of events, in the order of docs/model.md, section 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankEventKind {
    /// A protocol message has arrived.
    Arrival,
    /// A CPU task has begun.
    Begun,
    /// A CPU task is done.
    Done,
    /// Data has left the node.
    Sent,
    /// The rank starts.
    Start,
    /// A transfer between GPUs asks for a queue.
    Queue,
}

/// An event of a rank. Events are handled in the order of their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankEvent {
    /// When.
    pub time: u64,
    /// The rank.
    pub rank: u32,
    /// The kind.
    pub kind: RankEventKind,
    /// The rank at the other end of the message.
    pub peer: u32,
    /// Iteration of the message.
    pub iteration: u32,
    /// Label of the message, or number of the CPU task.
    pub label: u64,
    /// The kind of protocol message that has arrived.
    pub message_kind: ProtocolMessageKind,
    /// What the rank does then: a [`Token`](super::running::Token); the place of the queue on the path of a transfer.
    pub token: u32,
    /// Bytes of the message, or duration of the CPU task in picoseconds.
    pub value: u64,
}

/// The rank events of a node.
#[derive(Debug)]
pub struct RankEvents {
    /// Job of the ranks.
    pub job: u16,
    /// The earliest event, which alone most nodes wait for.
    first: Option<RankEvent>,
    /// The others; none if there is no first.
    others: BinaryHeap<Reverse<RankEvent>>,
    /// Earliest event that is scheduled for the node.
    armed: u64,
}

impl RankEvents {
    /// An empty queue.
    #[must_use]
    pub fn new(job: u16) -> Self {
        Self { job, first: None, others: BinaryHeap::new(), armed: u64::MAX }
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        (self.first, self.others) = (None, BinaryHeap::new());
    }

    /// Adds an event.
    #[inline]
    pub fn add(&mut self, event: RankEvent) {
        let Some(first) = &mut self.first else {
            self.first = Some(event);
            return;
        };
        let later = if event < *first { std::mem::replace(first, event) } else { event };
        self.others.push(Reverse(later));
    }

    /// Adds the start of a rank.
    pub fn start(&mut self, time: u64, rank: u32) {
        let (kind, message_kind) = (RankEventKind::Start, ProtocolMessageKind::Eager);
        self.add(RankEvent { time, rank, kind, peer: 0, iteration: 0, label: 0, message_kind, token: 0, value: 0 });
    }

    /// Removes the next event if it is not after `now`.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<RankEvent> {
        if self.armed <= now {
            self.armed = u64::MAX;
        }
        let next = self.first.filter(|next| next.time <= now)?;
        self.first = self.others.pop().map(|Reverse(event)| event);
        Some(next)
    }

    /// When an event of the node must be scheduled, if none is scheduled for that time or earlier.
    #[inline]
    pub fn arm(&mut self) -> Option<u64> {
        let next = self.first.as_ref()?.time;
        (next < self.armed).then(|| {
            self.armed = next;
            next
        })
    }
}
