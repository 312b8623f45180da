//! What of a program is in the network.

use super::rank_events::{RankEvent, RankEventKind};

/// What a letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolMessageKind {
    /// A message that is sent without asking.
    Eager,
    /// The sender asks whether the receive is posted.
    Rts,
    /// The receiver says so.
    Cts,
    /// The message that was asked for.
    Data,
}

/// A message, or what precedes one.
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
    /// NICs that the operations of the two ranks name, the sender of the letter first; none if the machine chooses.
    pub nics: Option<[u8; 2]>,
    /// Bytes of the message.
    pub bytes: u64,
    /// When the message was handed over.
    pub issue: u64,
    /// Row of the message, if rows are kept.
    pub row: u32,
}

impl ProtocolMessage {
    /// Its arrival.
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

    /// That it has left its node.
    #[must_use]
    pub fn sent(&self, time: u64) -> RankEvent {
        RankEvent { rank: self.peer, peer: self.rank, kind: RankEventKind::Sent, ..self.arrival(time) }
    }
}

/// Letters in slots that are used again. Which slot a letter has is never visible.
#[derive(Debug, Default)]
pub struct ProtocolMessages {
    slots: Vec<ProtocolMessage>,
    free: Vec<u32>,
}

impl ProtocolMessages {
    /// Adds a letter; returns its slot.
    pub fn add(&mut self, message: ProtocolMessage) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = message;
            return slot;
        }
        self.slots.push(message);
        (self.slots.len() - 1) as u32
    }

    /// A letter.
    #[must_use]
    pub fn get(&self, slot: u32) -> &ProtocolMessage {
        &self.slots[slot as usize]
    }

    /// Takes a letter out.
    pub fn take(&mut self, slot: u32) -> ProtocolMessage {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
