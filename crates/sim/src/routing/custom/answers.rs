//! What routers learn of the packets that they have sent (docs/model.md, section 6, "Answers").
//!
//! An answer is handled before the first decision at its router that is later than it. Until then it waits here. As it
//! takes the latency of a link, which is at least a window, other threads may add answers in any order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::fabric::packet::Event;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    message: u32,
    key: u32,
    time: u64,
}

/// An answer under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// When it comes.
    pub(super) due: u64,
    /// The port by which the packet was sent.
    pub(super) port: u16,
    /// The channel on which it was sent.
    pub(super) channel: u8,
    pub(super) message: u32,
    pub(super) key: u32,
    /// When the next router decided on the packet.
    pub(super) decided: u64,
    /// The router of its destination.
    pub(super) destination: u32,
    /// Its memory when it was sent.
    pub(super) memory: u32,
    /// What the next router says; none if it is the last.
    pub(super) says: Option<f64>,
}

impl Answer {
    fn order(&self) -> (u64, u16, u8, u32, u32) {
        (self.due, self.port, self.channel, self.message, self.key)
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Answer {}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Answer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// The answers that one router waits for.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    coming: BinaryHeap<Reverse<Answer>>,
    /// By port, the oldest first.
    sent: Vec<VecDeque<Sent>>,
}

impl Inbox {
    /// Notes that a packet leaves by a port.
    pub(super) fn sends(&mut self, packet: &Event, port: u16) {
        let port = usize::from(port);
        if self.sent.len() <= port {
            self.sent.resize_with(port + 1, VecDeque::new);
        }
        self.sent[port].push_back(Sent { message: packet.message, key: packet.key, time: packet.time });
    }

    /// Adds an answer.
    pub(super) fn add(&mut self, answer: Answer) {
        self.coming.push(Reverse(answer));
    }

    /// The next answer that comes before `now`, with the time from the decision here to that at the next router.
    pub(super) fn take(&mut self, now: u64) -> Option<(Answer, u64)> {
        if self.coming.peek()?.0.due >= now {
            return None;
        }
        let Reverse(answer) = self.coming.pop()?;
        let sent = &mut self.sent[usize::from(answer.port)];
        let is_it = |sent: &Sent| sent.message == answer.message && sent.key == answer.key;
        let position = sent.iter().position(is_it).expect("the router noted what it sent");
        let sent = sent.remove(position).expect("there is one at its position");
        Some((answer, answer.decided - sent.time))
    }
}
