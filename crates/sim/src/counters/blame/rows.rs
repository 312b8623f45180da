//! The waits attributed at each link.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Wait;
use crate::engine::prefetch;
use crate::engine::random::Mixer;

/// Victim, cause and kind of wait.
pub(super) type Key = (u16, u16, Wait);

/// Rows kept in place: as many as fit into a cache line.
const ROWS: usize = 4;
/// The key of a row that is not in use.
const UNUSED: u64 = u64::MAX;
/// Number of waits that are noted before they are added to their rows.
const NOTES: usize = 256;
/// How many waits ahead memory is prefetched.
const AHEAD: usize = 12;

/// The first rows of a link.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
struct LinkRows {
    keys: [u64; ROWS],
    ps: [u64; ROWS],
}

const _: () = assert!(size_of::<LinkRows>() == 64);

/// A wait that is not yet in its row.
#[derive(Clone, Copy, Debug)]
struct Note {
    key: u64,
    ps: u64,
    link: u32,
}

/// The rows of all links.
///
/// Waits are noted one after the other and added to their rows later, many at once. So a run does not wait for the
/// memory of each row.
#[derive(Debug)]
pub(super) struct Rows {
    notes: Vec<Note>,
    links: Vec<LinkRows>,
    /// Rows that did not fit. The order of the map does not matter, because rows are sorted in the end.
    more: HashMap<(u32, u64), u64, BuildHasherDefault<Mixer>>,
}

impl Rows {
    pub(super) fn new(links: usize) -> Self {
        let unused = LinkRows { keys: [UNUSED; ROWS], ps: [0; ROWS] };
        Self { notes: Vec::with_capacity(NOTES), links: vec![unused; links], more: HashMap::default() }
    }

    /// Adds to a row of a link.
    #[inline]
    pub(super) fn add(&mut self, link: usize, (victim, cause, wait): Key, ps: u64) {
        if ps == 0 {
            return;
        }
        if self.notes.len() == NOTES {
            self.settle();
        }
        let key = u64::from(victim) << 32 | u64::from(cause) << 16 | wait as u64;
        self.notes.push(Note { key, ps, link: link as u32 });
    }

    /// Adds what is noted.
    #[inline(never)]
    fn settle(&mut self) {
        for position in 0..self.notes.len() {
            if let Some(later) = self.notes.get(position + AHEAD) {
                prefetch(&self.links, later.link as usize);
            }
            let Note { key, ps, link } = self.notes[position];
            let of = &mut self.links[link as usize];
            match (0..ROWS).find(|&row| of.keys[row] == key || of.keys[row] == UNUSED) {
                Some(row) => {
                    of.keys[row] = key;
                    of.ps[row] += ps;
                }
                None => *self.more.entry((link, key)).or_default() += ps,
            }
        }
        self.notes.clear();
    }

    /// The rows, sorted by victim, cause, kind and link.
    pub(super) fn into_rows(mut self) -> Vec<(Key, u32, u64)> {
        self.settle();
        let mut rows = Vec::new();
        for (link, of) in self.links.iter().enumerate() {
            let used = (0..ROWS).filter(|&row| of.keys[row] != UNUSED);
            rows.extend(used.map(|row| (of.keys[row], link as u32, of.ps[row])));
        }
        rows.extend(self.more.into_iter().map(|((link, key), ps)| (key, link, ps)));
        rows.sort_unstable();
        let key = |key: u64| ((key >> 32) as u16, (key >> 16) as u16, Wait::ALL[usize::from(key as u16)]);
        rows.into_iter().map(|(packed, link, ps)| (key(packed), link, ps)).collect()
    }
}
