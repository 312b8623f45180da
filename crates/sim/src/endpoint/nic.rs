//! A network interface of a node: a queue of messages, which are cut into packets only when one can be sent (so that
//! overload costs memory per message, not per packet).

use std::collections::VecDeque;

use bytemuck::Zeroable;

/// A message whose packets have not all been sent, in half a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Bytes not yet sent.
    pub bytes_left: u64,
    /// Number of the next packet, with [`NOT_BEGUN`] if it is the first of a later part of a striped message.
    packet: u64,
    /// Key from which the keys of its packets come.
    pub key: u64,
    /// Slot of the message in flight.
    pub message: u32,
    /// Destination NIC (26 bits: there are no more ports), and above it the number of its packets' routing.
    to: u32,
}

const _: () = assert!(size_of::<Waiting>() == 32);

const ROUTING_SHIFT: u32 = 26;

/// Mark of a part that begins with another packet than the first of its message, and of which nothing has been sent.
const NOT_BEGUN: u64 = 1 << 63;

impl Waiting {
    /// A message of so many bytes, with its key and its slot, to a NIC.
    #[inline]
    #[must_use]
    pub fn new(bytes_left: u64, key: u64, message: u32, to: u32, routing: u8) -> Self {
        let mut waiting = Self { bytes_left, packet: 0, key, message, to: u32::from(routing) << ROUTING_SHIFT };
        waiting.set_to(to);
        waiting
    }

    /// Takes off the first `packets` packets, with so many bytes, for the NIC `to`: a part of a striped message.
    #[must_use]
    pub fn split_off(&mut self, packets: u64, bytes: u64, to: u32) -> Self {
        let mut part = Self { bytes_left: bytes, ..*self };
        part.set_to(to);
        self.bytes_left -= bytes;
        self.packet = (self.packet() + packets) | NOT_BEGUN;
        part
    }

    /// Whether no packet of the message, or of this part of it, has been sent.
    #[inline(always)]
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.packet as i64 <= 0 // one comparison for 0 and for the mark
    }

    /// Number of the next packet in the message.
    #[inline(always)]
    #[must_use]
    pub fn packet(&self) -> u64 {
        self.packet & !NOT_BEGUN
    }

    /// The next packet, with so many bytes, is sent.
    #[inline(always)]
    pub fn advance(&mut self, bytes: u32) {
        self.bytes_left -= u64::from(bytes);
        self.packet = self.packet() + 1;
    }

    /// Destination NIC.
    #[inline(always)]
    #[must_use]
    pub fn to(&self) -> u32 {
        self.to & ((1 << ROUTING_SHIFT) - 1)
    }

    /// Sets the destination NIC.
    #[inline]
    pub fn set_to(&mut self, to: u32) {
        debug_assert!(to < 1 << ROUTING_SHIFT);
        self.to = self.to >> ROUTING_SHIFT << ROUTING_SHIFT | to;
    }

    /// Number of its packets' routing.
    #[inline(always)]
    #[must_use]
    pub fn routing(&self) -> u8 {
        (self.to >> ROUTING_SHIFT) as u8
    }
}

/// One NIC, in half a cache line: most have nothing queued.
#[derive(Clone, Debug, Default, Zeroable)]
pub struct Nic {
    /// When the injection link will be free.
    pub free: u64,
    /// Messages that the node has issued so far (at its first interface).
    pub issued: u64,
    backlog: Option<Box<Backlog>>,
    /// Whether the first message waits for room.
    pub waits: bool,
}

const _: () = assert!(size_of::<Nic>() == 32);

#[derive(Clone, Debug, Default)]
struct Backlog {
    /// Messages in the order of service. Empty unless the first one waits for room.
    messages: VecDeque<Waiting>,
    /// Unsent bytes of its messages; kept only if a node has several NICs.
    unsent: u64,
}

impl Nic {
    /// Messages in the order of service.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.backlog.iter().flat_map(|backlog| &backlog.messages)
    }

    /// Whether no message waits.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.backlog.as_ref().is_none_or(|backlog| backlog.messages.is_empty())
    }

    /// Appends a message.
    pub fn push_back(&mut self, message: Waiting) {
        self.backlog.get_or_insert_default().messages.push_back(message);
    }

    /// Puts a message before the others.
    pub fn push_front(&mut self, message: Waiting) {
        self.backlog.get_or_insert_default().messages.push_front(message);
    }

    /// Takes the first message.
    #[inline]
    pub fn pop_front(&mut self) -> Option<Waiting> {
        self.backlog.as_mut()?.messages.pop_front()
    }

    /// Unsent bytes of its messages; kept only if a node has several NICs.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.backlog.as_ref().map_or(0, |backlog| backlog.unsent)
    }

    /// The same, mutable.
    pub fn unsent_mut(&mut self) -> &mut u64 {
        &mut self.backlog.get_or_insert_default().unsent
    }
}
