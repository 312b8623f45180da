//! What happened, before it is attributed.

use super::Victim;

/// Number of notes that are attributed together.
pub(super) const MOST: usize = 128;
/// How many notes ahead memory is prefetched.
pub(super) const AHEAD: usize = 16;

/// A packet is committed to a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotedCrossing {
    pub(super) committed: u64,
    pub(super) ready: u64,
    pub(super) free: u64,
    pub(super) slot: u32,
    pub(super) victim: Victim,
}

const _: () = assert!(size_of::<NotedCrossing>() == 32);

/// What happened to a buffer, and what the values of its note are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum What {
    /// A packet takes room: bytes.
    Hold,
    /// It gives it back: bytes, the time of the credit, and the horizon.
    Release,
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
