//! What happened, before it is attributed.

use super::Victim;

/// Number of notes that are attributed together.
pub(super) const MOST: usize = 128;
/// How many notes ahead memory is prefetched.
pub(super) const AHEAD: usize = 16;

/// Notes that are attributed together. Whoever adds the last one that fits lets them be attributed.
#[derive(Debug)]
pub(super) struct Notes<T> {
    notes: Box<[T; MOST]>,
    count: usize,
}

impl<T: Copy> Notes<T> {
    /// No notes. The places are filled with `unused`.
    pub(super) fn new(unused: T) -> Self {
        Self { notes: Box::new([unused; MOST]), count: 0 }
    }

    /// Adds a note. Returns whether no other one fits: then all must be attributed before the next.
    #[inline(always)]
    #[must_use]
    pub(super) fn add(&mut self, note: T) -> bool {
        debug_assert!(self.count < MOST);
        self.notes[self.count % MOST] = note;
        self.count += 1;
        self.count == MOST
    }

    /// Whether no other note fits.
    pub(super) fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// All notes.
    #[inline]
    pub(super) fn all(&self) -> &[T] {
        &self.notes[..self.count]
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

/// What happened to a buffer, and what the values of its note are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum What {
    /// A packet takes room: bytes.
    Hold,
    /// It gives it back: bytes, the time of the credit, and the horizon.
    Release,
    /// Both: the bytes and the number of the buffer where it takes room, the time of the credit, and the horizon.
    PassOn,
    /// A packet begins to wait for room: the bytes held until then, and when.
    Block,
    /// A credit arrives while packets wait: the bytes held until then, and when.
    Credit,
    /// The first packet that waits for room is committed: the slot of its link.
    Unblock,
}

/// One thing that happened to a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) values: [u64; 3],
    pub(super) buffer: u32,
    pub(super) victim: Victim,
    pub(super) what: What,
}

impl Note {
    #[inline]
    pub(super) fn new(what: What, buffer: usize, victim: Victim, values: [u64; 3]) -> Self {
        Self { values, buffer: buffer as u32, victim, what }
    }
}
