//! Packets that wait for room: one chain per lane, in order of arrival.

use super::packet::Event;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// Packets that wait for the same room: the first and the last of them.
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
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

#[derive(Clone, Copy)]
struct Node {
    packet: Event,
    next: u32,
}

/// All waiting packets of all lanes.
#[derive(Default)]
pub struct Parked {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl Parked {
    /// Appends a packet to a chain; returns it where it waits, to be changed.
    pub fn push(&mut self, chain: &mut Chain, packet: &Event) -> &mut Event {
        let at = self.free.pop().unwrap_or(self.nodes.len() as u32);
        if at as usize == self.nodes.len() {
            self.nodes.push(Node { packet: *packet, next: NONE });
        } else {
            let node = &mut self.nodes[at as usize];
            (node.packet, node.next) = (*packet, NONE);
        }
        if chain.is_empty() {
            chain.head = at;
        } else {
            self.nodes[chain.tail as usize].next = at;
        }
        chain.tail = at;
        &mut self.nodes[at as usize].packet
    }

    /// The first packet of a chain.
    #[must_use]
    pub fn first(&self, chain: &Chain) -> &Event {
        &self.nodes[chain.head as usize].packet
    }

    /// Removes the first packet of a chain.
    pub fn pop(&mut self, chain: &mut Chain) -> Event {
        let at = chain.head;
        let node = self.nodes[at as usize];
        self.free.push(at);
        chain.head = node.next;
        node.packet
    }

    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packets of a chain.
    pub fn chain(&self, chain: &Chain) -> impl Iterator<Item = &Event> {
        let mut at = chain.head;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(&node.packet)
        })
    }
}
