//! Packets that wait for room: one chain per lane, in order of arrival.

use super::packet::Event;

/// End of a chain.
pub const NONE: u32 = u32::MAX;

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
    /// Appends a packet to the chain of which `head` and `tail` are the ends.
    pub fn push(&mut self, head: &mut u32, tail: &mut u32, packet: Event) {
        let node = Node { packet, next: NONE };
        let at = if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            at
        } else {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        };
        if *head == NONE {
            *head = at;
        } else {
            self.nodes[*tail as usize].next = at;
        }
        *tail = at;
    }

    /// The first packet of a chain.
    #[must_use]
    pub fn first(&self, head: u32) -> &Event {
        &self.nodes[head as usize].packet
    }

    /// Removes the first packet of a chain.
    pub fn pop(&mut self, head: &mut u32) -> Event {
        let at = *head;
        let node = self.nodes[at as usize];
        self.free.push(at);
        *head = node.next;
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
    pub fn chain(&self, head: u32) -> impl Iterator<Item = &Event> {
        let mut at = head;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(&node.packet)
        })
    }
}
