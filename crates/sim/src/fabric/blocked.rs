//! Blocked packets: one chain per output VC, in order of arrival.

use super::packet::Event;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// Packets that wait for the same room: the first and the last one.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    head: u32,
    tail: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Chain {
    /// Whether the chain has no packet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

#[derive(Clone, Copy)]
struct ChainEntry {
    packet: Event,
    next: u32,
}

/// All waiting packets of all output VCs.
#[derive(Default)]
pub struct BlockedPackets {
    entries: Vec<ChainEntry>,
    free: Vec<u32>,
}

impl BlockedPackets {
    /// Appends a packet to a chain; returns the stored packet, to be changed.
    pub fn push(&mut self, chain: &mut Chain, packet: &Event) -> &mut Event {
        let at = self.free.pop().unwrap_or(self.entries.len() as u32);
        if at as usize == self.entries.len() {
            self.entries.push(ChainEntry { packet: *packet, next: NONE });
        } else {
            let entry = &mut self.entries[at as usize];
            (entry.packet, entry.next) = (*packet, NONE);
        }
        if chain.is_empty() {
            chain.head = at;
        } else {
            self.entries[chain.tail as usize].next = at;
        }
        chain.tail = at;
        &mut self.entries[at as usize].packet
    }

    /// The first packet of a chain.
    #[must_use]
    pub fn first(&self, chain: &Chain) -> &Event {
        &self.entries[chain.head as usize].packet
    }

    /// The same, to be changed.
    pub fn first_mut(&mut self, chain: &Chain) -> &mut Event {
        &mut self.entries[chain.head as usize].packet
    }

    /// Removes the first packet of a chain.
    pub fn pop(&mut self, chain: &mut Chain) -> Event {
        let at = chain.head;
        let entry = self.entries[at as usize];
        self.free.push(at);
        chain.head = entry.next;
        entry.packet
    }

    /// Number of waiting packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether no packet waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packets of a chain.
    pub fn chain(&self, chain: &Chain) -> impl Iterator<Item = &Event> {
        let mut at = chain.head;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            Some(&entry.packet)
        })
    }
}
