//! Events, in order of time; simultaneous events in the order of their creation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event. Packets, messages, nodes and links are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A rank issues the messages of an interval.
    Issue { sender: u32 },
    /// A message reaches its NIC and gets its turn in the NIC's sequencer.
    Sequence { message: u32 },
    /// A message enters the NIC's scheduler.
    Schedule { message: u32 },
    /// A packet is put on its NIC's list.
    Generate { packet: u32 },
    /// The NIC asks its scheduler for the next packet.
    Idle { node: u32 },
    /// The NIC sends the next packet of its list.
    Inject { node: u32 },
    /// The tail of a packet arrives at a router.
    Arrive { packet: u32 },
    /// A router port sends its next packet.
    Send { slot: u32 },
    /// Room on a channel returns to the sender of a link.
    Credit { link: u32, channel: u8 },
    /// The tail of a packet arrives at its node.
    Eject { packet: u32 },
}

/// All pending events.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    added: u64,
}

impl Calendar {
    /// Adds an event at time `t`, in picoseconds.
    pub(super) fn add(&mut self, t: u64, event: Event) {
        self.heap.push(Reverse((t, self.added, event)));
        self.added += 1;
    }

    /// When the next event happens.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((t, _, _))| *t)
    }

    /// Removes the next event.
    pub(super) fn pop(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|Reverse((t, _, event))| (t, event))
    }

    /// Pending events, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Event> {
        self.heap.iter().map(|Reverse((_, _, event))| *event)
    }
}
