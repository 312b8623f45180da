//! The waits of packets at their NICs: for the window, for room and for the link. All but those for windows under
//! congestion control are because of their own job.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::rows::Key;
use super::{Held, Wait};
use crate::engine::random::Mixer;

/// For how long packets have waited at a NIC.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    window: u64,
    room: u64,
    link: u64,
    /// The job of its node.
    job: u16,
}

/// All NICs.
#[derive(Debug)]
pub(super) struct Sources {
    waits: Vec<Waits>,
    /// When each message under way joined the queue of its NIC, by its slot.
    joined: Vec<u64>,
    /// For how long the NIC of each message under way had been held back by its window towards the destination when the
    /// message joined it, by the slot of the message, and then by part if messages can be striped; empty as long as no window
    /// has held anything back.
    held_before: Vec<u64>,
    /// The same for other jobs that marks have named, if there were any. (The order of the map does not matter.)
    for_others_before: HashMap<usize, Vec<(u16, u64)>, BuildHasherDefault<Mixer>>,
    /// Most parts of a message, each at a NIC of its own.
    parts: usize,
}

impl Sources {
    pub(super) fn new(nics: usize, parts: usize) -> Self {
        Self {
            waits: vec![Waits::default(); nics],
            joined: Vec::new(),
            held_before: Vec::new(),
            for_others_before: HashMap::default(),
            parts,
        }
    }

    /// A message joins the queue of a NIC, or of several.
    #[inline]
    pub(super) fn join(&mut self, message: usize, now: u64) {
        if message >= self.joined.len() {
            self.joined.resize(message + 1, 0);
        }
        self.joined[message] = now;
    }

    /// A message joins the queue of a NIC, which its window has held back for so long.
    #[inline]
    pub(super) fn join_nic(&mut self, nic: usize, message: usize, held: Held) {
        let part = message * self.parts + nic % self.parts;
        if held.ps > 0 || !self.held_before.is_empty() {
            self.held_before.resize(self.joined.len() * self.parts, 0);
            self.held_before[part] = held.ps;
        }
        if !held.for_others.is_empty() {
            self.for_others_before.insert(part, held.for_others);
        } else if !self.for_others_before.is_empty() {
            self.for_others_before.remove(&part); // of another message in this slot
        }
    }

    /// For how long the next packet of a message at a NIC has waited for the window, and for room, since the message joined.
    /// The window has held it back for `held` in all. The times for which it has waited because of other jobs remain in
    /// `held`.
    #[inline]
    pub(super) fn waited(&self, nic: usize, message: usize, held: &mut Held, now: u64) -> [u64; 2] {
        let (since, part) = (now - self.joined[message], message * self.parts + nic % self.parts);
        let window = held.ps - self.held_before.get(part).copied().unwrap_or(0);
        if let Some(before) = self.for_others_before.get(&part).filter(|_| !held.for_others.is_empty()) {
            for &(other, ps) in before {
                let of = held.for_others.iter_mut().find(|of| of.0 == other);
                of.expect("times do not shrink").1 -= ps;
            }
        }
        [window, since - window]
    }

    /// Takes over what another partition has counted.
    pub(super) fn absorb(&mut self, other: Self) {
        for (to, of) in self.waits.iter_mut().zip(other.waits) {
            if (of.window, of.room, of.link) != (0, 0, 0) {
                *to = of; // each NIC belongs to one partition
            }
        }
    }

    /// A packet of the job of a NIC has waited for the window, for room and for the link.
    #[inline]
    pub(super) fn add(&mut self, nic: usize, job: u16, [window, room, link]: [u64; 3]) {
        let waits = &mut self.waits[nic];
        waits.job = job;
        waits.window += window;
        waits.room += room;
        waits.link += link;
    }

    /// Calls `attribute` with each NIC and wait.
    pub(super) fn finish(self, mut attribute: impl FnMut(usize, Key, u64)) {
        for (nic, &Waits { window, room, link, job }) in self.waits.iter().enumerate() {
            for (wait, ps) in [(Wait::Window, window), (Wait::SourceBuffer, room), (Wait::SourceLink, link)] {
                attribute(nic, (job, job, wait), ps);
            }
        }
    }
}
