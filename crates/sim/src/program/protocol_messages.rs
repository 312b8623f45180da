//! Protocol messages in the network.

use super::rank_events::{RankEvent, RankEventKind};

/// The kinds of protocol messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolMessageKind {
    /// A message that is sent at once.
    Eager,
    /// Request to send: the sender asks whether the receive is posted.
    Rts,
    /// Clear to send: the receive is posted.
    Cts,
    /// The data of a rendezvous.
    Data,
    /// The receiver has fetched the data.
    Fin,
}

impl ProtocolMessageKind {
    /// Whether it carries no data of the application.
    #[must_use]
    pub fn is_control(self) -> bool {
        matches!(self, Self::Rts | Self::Cts | Self::Fin)
    }
}

/// A protocol message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolMessage {
    /// Rank that it goes to.
    pub rank: u32,
    /// Rank that it comes from.
    pub peer: u32,
    /// Iteration of the message.
    pub iteration: u32,
    /// Label of the message.
    pub label: u64,
    /// What it is.
    pub message_kind: ProtocolMessageKind,
    /// NICs that the operations of the two ranks name, that of the rank that issues it first; none if the NIC is chosen
    /// by the `rail` of the fabric.
    pub nics: Option<[u8; 2]>,
    /// Bytes of the message.
    pub bytes: u64,
    /// When the message was handed over.
    pub issue: u64,
    /// Row of the message, if rows are kept.
    pub row: u32,
}

impl ProtocolMessage {
    /// The event of its arrival.
    #[must_use]
    pub fn arrival(&self, time: u64) -> RankEvent {
        let &Self { rank, peer, iteration, label, message_kind, bytes, .. } = self;
        RankEvent {
            time,
            rank,
            kind: RankEventKind::Arrival,
            peer,
            iteration,
            label,
            message_kind,
            token: 0,
            value: bytes,
        }
    }

    /// The event that it has left its node.
    #[must_use]
    pub fn sent(&self, time: u64) -> RankEvent {
        RankEvent { rank: self.peer, peer: self.rank, kind: RankEventKind::Sent, ..self.arrival(time) }
    }
}

/// Protocol messages in slots that are reused. No result depends on the slot.
#[derive(Debug, Default)]
pub struct ProtocolMessages {
    slots: Vec<ProtocolMessage>,
    /// By slot, for striped messages: how many parts have packets at a NIC, and when the last of the others left; empty as
    /// long as no message has been striped.
    parts: Vec<(u32, u64)>,
    free: Vec<u32>,
}

impl ProtocolMessages {
    /// Adds a protocol message; returns its slot.
    pub fn add(&mut self, message: ProtocolMessage) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = message;
            return slot;
        }
        self.slots.push(message);
        (self.slots.len() - 1) as u32
    }

    /// The protocol message in a slot leaves its node in so many parts.
    pub fn expect_parts(&mut self, slot: u32, parts: u32) {
        let slot = slot as usize;
        if slot >= self.parts.len() {
            self.parts.resize(slot + 1, (0, 0));
        }
        self.parts[slot] = (parts, 0);
    }

    /// The last packet of a message, or of a part of it, leaves its NIC with its tail at `at`. Returns when the last packet of
    /// the message leaves, if no part is missing.
    pub fn part_sent(&mut self, slot: u32, at: u64) -> Option<u64> {
        let Some((parts, latest)) = self.parts.get_mut(slot as usize).filter(|(parts, _)| *parts > 0) else {
            return Some(at);
        };
        *parts -= 1;
        *latest = at.max(*latest);
        (*parts == 0).then_some(*latest)
    }

    /// A protocol message.
    #[must_use]
    pub fn get(&self, slot: u32) -> &ProtocolMessage {
        &self.slots[slot as usize]
    }

    /// Removes a protocol message.
    pub fn take(&mut self, slot: u32) -> ProtocolMessage {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
