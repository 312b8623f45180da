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
    /// When the first event must be handled at the latest; before then it has no effect outside its rank.
    first_acts: u64,
    /// The others; none if there is no first.
    others: BinaryHeap<Reverse<RankEvent>>,
    /// Earliest event that is scheduled for the node.
    armed: u64,
}

impl RankEvents {
    /// An empty queue.
    #[must_use]
    pub fn new(job: u16) -> Self {
        Self { job, first: None, first_acts: u64::MAX, others: BinaryHeap::new(), armed: u64::MAX }
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        (self.first, self.others) = (None, BinaryHeap::new());
    }

    /// Adds an event.
    #[inline]
    pub fn add(&mut self, event: RankEvent) {
        self.add_quiet(event, event.time);
    }

    /// Adds an event that has no effect outside its rank before `acts`, so that it may be handled then.
    #[inline]
    pub fn add_quiet(&mut self, event: RankEvent, acts: u64) {
        let Some(first) = &mut self.first else {
            (self.first, self.first_acts) = (Some(event), acts);
            return;
        };
        let mut later = event;
        if event < *first {
            later = std::mem::replace(first, event);
            self.first_acts = acts;
        }
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
        if self.first.as_ref().is_none_or(|first| first.time > now) {
            return None;
        }
        let Some(Reverse(second)) = self.others.pop() else { return self.first.take() };
        self.first_acts = second.time;
        self.first.replace(second)
    }

    /// The rank of the first event.
    #[inline]
    pub fn first_rank(&self) -> Option<u32> {
        self.first.as_ref().map(|first| first.rank)
    }

    /// When an event of the node must be scheduled, if none is scheduled for that time or earlier.
    #[inline]
    pub fn arm(&mut self) -> Option<u64> {
        self.first.as_ref()?;
        let next = self.others.peek().map_or(self.first_acts, |Reverse(second)| self.first_acts.min(second.time));
        (next < self.armed).then(|| {
            self.armed = next;
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(time: u64, rank: u32) -> RankEvent {
        let (kind, message_kind) = (RankEventKind::Arrival, ProtocolMessageKind::Eager);
        RankEvent { time, rank, kind, peer: 0, iteration: 0, label: 0, message_kind, token: 0, value: 0 }
    }

    /// Times of the events that are handled at an event of the node.
    fn times(events: &mut RankEvents, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| events.take(now)).map(|event| event.time).collect()
    }

    #[test]
    fn an_event_that_acts_later_is_handled_then_or_with_an_earlier_one() {
        let mut events = RankEvents::new(0);
        events.add_quiet(arrival(10, 0), 50);
        assert_eq!((events.arm(), events.arm()), (Some(50), None), "alone, it waits");
        events.add(arrival(30, 0));
        assert_eq!(events.arm(), Some(30));
        assert_eq!(times(&mut events, 30), [10, 30], "in the order of their times");
        assert_eq!((times(&mut events, 50), events.arm()), (vec![], None));
    }

    #[test]
    fn no_event_is_scheduled_for_the_past() {
        let mut events = RankEvents::new(0);
        events.add_quiet(arrival(10, 0), 50);
        events.add_quiet(arrival(70, 0), 90); // at 40, say: the first has come, and acts before the second comes
        assert_eq!((events.arm(), times(&mut events, 50)), (Some(50), vec![10]));
        assert_eq!(events.arm(), Some(70), "when it was not alone, it was to be handled when it comes");
        events.add_quiet(arrival(60, 1), 80);
        assert_eq!((events.arm(), times(&mut events, 70)), (None, vec![60, 70]));
    }
}
