//! The waits attributed at each link, and the jobs that use it from now on.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::Wait;
use crate::engine::random::Mixer;

/// Victim, cause and kind of wait.
pub(super) type Key = (u16, u16, Wait);

/// Rows kept in place: as many as fit into a cache line.
const ROWS: usize = 3;
/// The key of a row that is not in use.
const UNUSED: u64 = u64::MAX;
/// A link that never had occupations by different jobs at once.
const NONE: u32 = u32::MAX;

/// A link: the first rows attributed there, and its occupation.
///
/// The link is occupied without a gap up to the time at which it is free, which the router knows: by the jobs of the
/// segments in `earlier`, then by `job`.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
struct LinkUse {
    keys: [u64; ROWS],
    ps: [u64; ROWS],
    /// Number of its segments, or [`NONE`].
    earlier: u32,
    job: u16,
}

const _: () = assert!(size_of::<LinkUse>() == 64);

/// Until when packets of a job occupy a link.
#[derive(Clone, Copy, Debug)]
struct Segment {
    end: u64,
    job: u16,
}

/// All links.
#[derive(Debug)]
pub(super) struct Links {
    links: Vec<LinkUse>,
    /// Segments before the last one of a link, without those that have ended.
    earlier: Vec<VecDeque<Segment>>,
    /// Rows that did not fit. The order of the map does not matter, because rows are sorted in the end.
    more: HashMap<(u32, u64), u64, BuildHasherDefault<Mixer>>,
}

impl Links {
    pub(super) fn new(links: usize) -> Self {
        let unused = LinkUse { keys: [UNUSED; ROWS], ps: [0; ROWS], earlier: NONE, job: 0 };
        Self { links: vec![unused; links], earlier: Vec::new(), more: HashMap::default() }
    }

    /// Adds to a row.
    #[inline]
    pub(super) fn add(&mut self, link: usize, (victim, cause, wait): Key, ps: u64) {
        if ps == 0 {
            return;
        }
        let key = u64::from(victim) << 32 | u64::from(cause) << 16 | wait as u64;
        let of = &mut self.links[link];
        for row in 0..ROWS {
            if of.keys[row] == key {
                of.ps[row] += ps;
                return;
            }
            if of.keys[row] == UNUSED {
                (of.keys[row], of.ps[row]) = (key, ps);
                return;
            }
        }
        *self.more.entry((link as u32, key)).or_default() += ps;
    }

    /// Forgets segments that end by an instant.
    #[inline]
    pub(super) fn forget(&mut self, link: usize, by: u64) {
        if let Some(earlier) = self.earlier.get_mut(self.links[link].earlier as usize) {
            while earlier.front().is_some_and(|segment| segment.end <= by) {
                earlier.pop_front();
            }
        }
    }

    /// Attributes the wait of a packet that is ready while the link is occupied: until `free`.
    #[inline]
    pub(super) fn attribute(&mut self, link: usize, victim: u16, mut ready: u64, free: u64) {
        let LinkUse { earlier: number, job, .. } = self.links[link];
        if number != NONE {
            for position in 0..self.earlier[number as usize].len() {
                let Segment { end, job } = self.earlier[number as usize][position];
                self.add(link, (victim, job, Wait::Link), end.saturating_sub(ready));
                ready = ready.max(end);
            }
        }
        self.add(link, (victim, job, Wait::Link), free - ready);
    }

    /// A packet that is committed at `now` occupies the link after the packets before it, which leave it free at `free`.
    #[inline]
    pub(super) fn occupy(&mut self, link: usize, job: u16, now: u64, free: u64) {
        let before = std::mem::replace(&mut self.links[link].job, job);
        if free > now && before != job {
            self.change(link, Segment { end: free, job: before });
        }
    }

    #[inline(never)]
    fn change(&mut self, link: usize, segment: Segment) {
        let number = &mut self.links[link].earlier;
        if *number == NONE {
            *number = self.earlier.len() as u32;
            self.earlier.push(VecDeque::new());
        }
        self.earlier[*number as usize].push_back(segment);
    }

    /// The rows, sorted by victim, cause, kind and link.
    pub(super) fn into_rows(self) -> Vec<(Key, u32, u64)> {
        let mut rows = Vec::new();
        for (link, of) in self.links.iter().enumerate() {
            rows.extend(
                (0..ROWS).filter(|&row| of.keys[row] != UNUSED).map(|row| (of.keys[row], link as u32, of.ps[row])),
            );
        }
        rows.extend(self.more.into_iter().map(|((link, key), ps)| (key, link, ps)));
        rows.sort_unstable();
        let key = |key: u64| ((key >> 32) as u16, (key >> 16) as u16, Wait::ALL[usize::from(key as u16)]);
        rows.into_iter().map(|(packed, link, ps)| (key(packed), link, ps)).collect()
    }
}
