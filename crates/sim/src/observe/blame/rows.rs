//! The waits attributed at each link.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Wait;
use super::notes::{AHEAD, Notes};
use crate::engine::prefetch;
use crate::engine::random::Mixer;

/// Victim, cause and kind of wait.
pub(super) type Key = (u16, u16, Wait);

/// Most bytes of the times of all pairs of jobs (assumed: what a cache of the third level holds).
const PAIRS_BYTES: usize = 1 << 25;
/// Rows kept in place: as many as fit into a cache line.
const ROWS: usize = 4;
/// The key of a row that is not in use.
const UNUSED: u64 = u64::MAX;

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

/// The kinds of waits at the links of routers; those of ideal routers first.
const AT_ROUTERS: [Wait; 6] =
    [Wait::Link, Wait::Buffer, Wait::Queue, Wait::CrossbarInput, Wait::CrossbarOutput, Wait::OutputBuffer];

/// The position of a kind of wait in [`AT_ROUTERS`]; at a NIC, a number that is greater than all of them.
#[inline(always)]
fn kind_at_router(wait: Wait) -> usize {
    AT_ROUTERS.into_iter().position(|other| other == wait).unwrap_or(AT_ROUTERS.len())
}

/// A key as one number: sorted like the key.
#[inline]
fn pack(victim: u16, cause: u16, wait: Wait) -> u64 {
    u64::from(victim) << 32 | u64::from(cause) << 16 | wait as u64
}

#[inline]
fn unpack(key: u64) -> Key {
    ((key >> 32) as u16, (key >> 16) as u16, Wait::ALL[usize::from(key as u16)])
}

/// The rows of all links.
///
/// Most waits are at routers. If there are few jobs, each pair of them has its place for each kind of wait at each link.
/// All other waits are noted one after the other and added to their rows later, many at once.
#[derive(Debug)]
pub(super) struct Rows {
    /// Links of routers: their numbers are below those of injection links.
    slots: usize,
    jobs: usize,
    /// Number of kinds of waits at a link of a router: those of ideal routers, or of routers with a crossbar.
    kinds: usize,
    /// By kind of wait, slot, victim and cause; empty if there are too many jobs.
    pairs: Vec<u64>,
    /// Waits that are not yet in `pairs`: their places there, and times.
    of_pairs: Notes<(u32, u64)>,
    notes: Notes<Note>,
    links: Vec<LinkRows>,
    /// Rows that did not fit. The order of the map does not matter, because rows are sorted in the end.
    more: HashMap<(u32, u64), u64, BuildHasherDefault<Mixer>>,
}

impl Rows {
    pub(super) fn new(slots: usize, nics: usize, jobs: usize, behind_crossbar: bool) -> Self {
        let unused = LinkRows { keys: [UNUSED; ROWS], ps: [0; ROWS] };
        let kinds = AT_ROUTERS.into_iter().filter(|&wait| behind_crossbar || wait <= Wait::Buffer).count();
        let pairs = kinds * slots * jobs * jobs;
        let few = pairs <= PAIRS_BYTES / size_of::<u64>();
        Self {
            slots,
            jobs,
            kinds,
            pairs: if few { vec![0; pairs] } else { Vec::new() },
            of_pairs: Notes::new((0, 0)),
            notes: Notes::new(Note { key: 0, ps: 0, link: 0 }),
            links: vec![unused; slots + nics],
            more: HashMap::default(),
        }
    }

    /// Adds to a row of a link.
    #[inline]
    pub(super) fn add(&mut self, link: usize, key: Key, ps: u64) {
        if self.note(link, key, ps) {
            self.settle();
        }
    }

    /// The same. But if it returns true, the caller must call [`settle`](Self::settle) before anything else is added.
    #[inline(always)]
    #[must_use]
    pub(super) fn note(&mut self, link: usize, (victim, cause, wait): Key, ps: u64) -> bool {
        if ps == 0 {
            return false;
        }
        if let kind = kind_at_router(wait)
            && kind < self.kinds
            && !self.pairs.is_empty()
        {
            let slot = kind * self.slots + link;
            let place = (slot * self.jobs + usize::from(victim)) * self.jobs + usize::from(cause);
            prefetch(&self.pairs, place);
            self.of_pairs.add((place as u32, ps))
        } else {
            self.notes.add(Note { key: pack(victim, cause, wait), ps, link: link as u32 })
        }
    }

    /// Whether what is noted must be added before anything else is noted.
    pub(super) fn is_full(&self) -> bool {
        self.of_pairs.is_full() || self.notes.is_full()
    }

    /// Adds what is noted.
    #[inline(never)]
    pub(super) fn settle(&mut self) {
        for &(place, ps) in self.of_pairs.all() {
            self.pairs[place as usize] += ps;
        }
        self.of_pairs.clear();
        let notes = self.notes.all();
        for (position, &Note { key, ps, link }) in notes.iter().enumerate() {
            if let Some(later) = notes.get(position + AHEAD) {
                prefetch(&self.links, later.link as usize);
            }
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

    /// Adds the rows of another partition.
    pub(super) fn absorb(&mut self, other: Self) {
        for (key, link, ps) in other.into_rows() {
            self.add(link as usize, key, ps);
        }
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
        for (place, &ps) in self.pairs.iter().enumerate().filter(|place| *place.1 > 0) {
            let (pair, kind_and_slot) = (place % (self.jobs * self.jobs), place / (self.jobs * self.jobs));
            let (victim, cause) = ((pair / self.jobs) as u16, (pair % self.jobs) as u16);
            let (kind, link) = (kind_and_slot / self.slots, kind_and_slot % self.slots);
            rows.push((pack(victim, cause, AT_ROUTERS[kind]), link as u32, ps));
        }
        rows.sort_unstable();
        rows.into_iter().map(|(key, link, ps)| (unpack(key), link, ps)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::engine::random::mix64;

    #[test]
    fn rows_are_the_same_with_a_place_for_each_pair_of_jobs_and_without() {
        let (slots, nics, jobs) = (7, 3, 5);
        let (mut places, mut none) = (Rows::new(slots, nics, jobs, true), Rows::new(slots, nics, jobs, true));
        assert!(!places.pairs.is_empty());
        none.pairs.clear();
        let mut expected = BTreeMap::new();
        for case in 0..5_000 {
            let random = |k: u64, below: usize| mix64(case << 3 | k) as usize % below;
            let (link, wait) = match random(0, 3) {
                0 => (slots + random(1, nics), Wait::SourceLink),
                _ => (random(1, slots), Wait::ALL[random(2, 8)]),
            };
            let key = (random(3, jobs) as u16, random(4, jobs) as u16, wait);
            let ps = random(5, 4) as u64;
            places.add(link, key, ps);
            none.add(link, key, ps);
            *expected.entry((key, link as u32)).or_insert(0) += ps;
        }
        let expected: Vec<_> =
            expected.into_iter().filter(|row| row.1 > 0).map(|((key, link), ps)| (key, link, ps)).collect();
        assert_eq!(places.into_rows(), expected);
        assert_eq!(none.into_rows(), expected);
    }

    #[test]
    fn many_jobs_have_no_place_for_each_pair() {
        assert!(Rows::new(20_000, 0, 11, false).pairs.is_empty());
    }
}
