//! What of a program is in the network.

use super::agenda::{Kind, Moment};

/// What a letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// A message that is sent without asking.
    Eager,
    /// The sender asks whether the receive is posted.
    Request,
    /// The receiver says so.
    Clearance,
    /// The message that was asked for.
    Data,
}

/// A message, or what precedes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Rank that it goes to.
    pub rank: u32,
    /// Rank that it comes from.
    pub peer: u32,
    /// Iteration of the message.
    pub iteration: u32,
    /// Label of the message.
    pub label: u64,
    /// What it is.
    pub sort: Sort,
    /// NICs that the operations of the two ranks name, the sender of the letter first; none if the machine chooses.
    pub nics: Option<[u8; 2]>,
    /// Bytes of the message.
    pub bytes: u64,
    /// When the message was handed over.
    pub issue: u64,
    /// Row of the message, if rows are kept.
    pub row: u32,
}

impl Letter {
    /// Its arrival.
    #[must_use]
    pub fn arrival(&self, time: u64) -> Moment {
        let &Self { rank, peer, iteration, label, sort, bytes, .. } = self;
        Moment { time, rank, kind: Kind::Arrival, peer, iteration, label, sort, token: 0, value: bytes }
    }

    /// That it has left its node.
    #[must_use]
    pub fn sent(&self, time: u64) -> Moment {
        Moment { rank: self.peer, peer: self.rank, kind: Kind::Sent, ..self.arrival(time) }
    }
}

/// Letters in slots that are used again. Which slot a letter has is never visible.
#[derive(Debug, Default)]
pub struct Letters {
    slots: Vec<Letter>,
    free: Vec<u32>,
}

impl Letters {
    /// Adds a letter; returns its slot.
    pub fn add(&mut self, letter: Letter) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = letter;
            return slot;
        }
        self.slots.push(letter);
        (self.slots.len() - 1) as u32
    }

    /// A letter.
    #[must_use]
    pub fn get(&self, slot: u32) -> &Letter {
        &self.slots[slot as usize]
    }

    /// Takes a letter out.
    pub fn take(&mut self, slot: u32) -> Letter {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
