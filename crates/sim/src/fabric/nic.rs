//! A network interface of a node: a queue of messages, cut into packets only when one can be sent (so that overload costs
//! memory per message, not per packet).

use std::collections::VecDeque;

/// A message of which not all packets have been sent.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Bytes not yet sent.
    pub bytes_left: u64,
    /// Number of the next packet.
    pub packet: u64,
    /// Word from which the packets' words come.
    pub word: u64,
    /// Slot of the message in flight.
    pub message: u32,
    /// NIC it goes to.
    pub to: u32,
}

/// One interface of a node.
#[derive(Clone, Debug, Default)]
pub struct Nic {
    /// When the injection link will be free.
    pub free: u64,
    /// Messages in the order in which they are served. Not empty only while the first waits for room.
    pub queue: VecDeque<Waiting>,
    /// Whether the first message waits for room.
    pub waits: bool,
    /// Messages that the node has issued so far (at its first interface).
    pub issued: u64,
    /// Bytes of its messages that are not yet sent; kept only if a node has several interfaces.
    pub unsent: u64,
    /// Number of the routing of its packets.
    pub mode: u8,
}
