//! Lists of packets, linked through the packets.

use crate::world::Packet;

/// No packet.
const NONE: u32 = u32::MAX;

/// Packets in order of arrival. A packet is in at most one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl List {
    /// Whether no packet is in it.
    pub(crate) fn is_empty(self) -> bool {
        self.first == NONE
    }

    /// Adds a packet behind the others.
    pub(crate) fn push(&mut self, packets: &mut [Packet], packet: u32) {
        packets[packet as usize].next = NONE;
        if self.is_empty() {
            self.first = packet;
        } else {
            packets[self.last as usize].next = packet;
        }
        self.last = packet;
    }

    /// Removes the first packet.
    pub(crate) fn pop(&mut self, packets: &[Packet]) -> Option<u32> {
        let first = self.first;
        (first != NONE).then(|| {
            self.first = packets[first as usize].next;
            first
        })
    }
}
