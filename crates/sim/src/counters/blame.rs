//! Who makes whom wait (docs/model.md, section 9, "Blame").
//!
//! A link keeps the jobs that occupy it from now on. A buffer keeps the bytes that each job holds in it, and enough to
//! integrate them over time. So a wait is attributed when its packet is committed, at a cost that does not depend on
//! its length.

use std::collections::VecDeque;
use std::ops::Range;

use smallvec::SmallVec;

/// Columns of equal length, sorted: one row per victim, cause, kind of wait and link. Rows of zero time are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// Index of the job whose packets waited.
    pub victim: Vec<u16>,
    /// Index of the job that made them wait.
    pub cause: Vec<u16>,
    /// What they waited for.
    pub wait: Vec<Wait>,
    /// The directed link that they were about to cross: a slot, or for an injection link the number of slots plus the
    /// NIC.
    pub link: Vec<u32>,
    /// Total time over all packets.
    pub ps: Vec<u64>,
    /// Not a column: for each job, the time that its packets took without waiting.
    pub service_ps: Vec<u64>,
}

/// What a packet waits for (docs/model.md, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Wait {
    /// At a router: for a link that sends other packets.
    Link = 0,
    /// At a router: for room in the buffer at the far end of a link.
    Buffer = 1,
    /// At its NIC: for room in the buffer of the first router.
    SourceBuffer = 2,
    /// At its NIC: for the injection link.
    SourceLink = 3,
}

impl Blame {
    /// Adds a row.
    pub fn push(&mut self, victim: u16, cause: u16, wait: Wait, link: u32, ps: u64) {
        self.victim.push(victim);
        self.cause.push(cause);
        self.wait.push(wait);
        self.link.push(link);
        self.ps.push(ps);
    }
}

/// A time during which packets of one job use a link.
#[derive(Clone, Copy, Debug, Default)]
struct Occupied {
    start: u64,
    end: u64,
    job: u16,
}

/// Victim, cause, kind of wait and time, at one link.
type Row = (u16, u16, Wait, u64);

/// The jobs that use a link from now on, and the waits attributed there.
#[derive(Clone, Debug, Default)]
struct LinkUse {
    /// The latest occupation.
    last: Occupied,
    /// Earlier occupations that have not ended. Consecutive occupations by one job are merged.
    earlier: VecDeque<Occupied>,
    rows: SmallVec<[Row; 2]>,
}

impl LinkUse {
    /// Forgets occupations that end before an instant.
    #[inline]
    fn forget(&mut self, before: u64) {
        if self.earlier.is_empty() {
            return;
        }
        while self.earlier.front().is_some_and(|occupied| occupied.end <= before) {
            self.earlier.pop_front();
        }
    }

    /// Attributes the wait of a packet of `victim` that is ready while the link is in use.
    fn attribute(&mut self, victim: u16, ready: u64) {
        let Self { last, earlier, rows } = self;
        for occupied in earlier.iter().chain(std::iter::once(&*last)) {
            add(rows, victim, occupied.job, Wait::Link, occupied.end.saturating_sub(occupied.start.max(ready)));
        }
    }

    #[inline]
    fn occupy(&mut self, start: u64, end: u64, job: u16) {
        if self.last.end == start && self.last.job == job {
            self.last.end = end;
            return;
        }
        if self.last.end == start {
            self.earlier.push_back(self.last);
        } else {
            self.earlier.clear(); // the link has been idle
        }
        self.last = Occupied { start, end, job };
    }
}

/// Adds to the row of a victim, a cause and a kind of waiting.
#[inline]
fn add(rows: &mut SmallVec<[Row; 2]>, victim: u16, cause: u16, wait: Wait, ps: u64) {
    if ps == 0 {
        return;
    }
    match rows.iter_mut().find(|row| (row.0, row.1, row.2) == (victim, cause, wait)) {
        Some(row) => row.3 += ps,
        None => rows.push((victim, cause, wait, ps)),
    }
}

/// Bytes of a buffer that a job holds. Up to time x, their integral over time is `bytes * x - moment`.
#[derive(Clone, Copy, Debug)]
struct Held {
    moment: i128,
    bytes: u64,
    job: u16,
}

/// A credit under way to the sender of a buffer.
#[derive(Clone, Copy, Debug)]
struct Release {
    stamp: u64,
    bytes: u32,
    job: u16,
}

/// The jobs that hold a buffer, as its sender knows.
#[derive(Clone, Debug, Default)]
struct BufferUse {
    held: SmallVec<[Held; 2]>,
    releases: SmallVec<[Release; 4]>,
    /// For each blocked packet, the integrals by job at the time when it was blocked.
    waiting: VecDeque<SmallVec<[(u16, i128); 2]>>,
}

impl BufferUse {
    #[inline]
    fn change(&mut self, job: u16, bytes: i64, at: u64) {
        let position = self.held.iter().position(|held| held.job == job).unwrap_or_else(|| {
            self.held.push(Held { moment: 0, bytes: 0, job });
            self.held.len() - 1
        });
        let held = &mut self.held[position];
        held.bytes = held.bytes.wrapping_add_signed(bytes);
        held.moment += i128::from(bytes) * i128::from(at);
    }

    /// Counts the credits up to an instant. No later credit may have a time up to then.
    fn settle(&mut self, until: u64) {
        let mut releases = std::mem::take(&mut self.releases);
        releases.retain(|release| {
            if release.stamp <= until {
                self.change(release.job, -i64::from(release.bytes), release.stamp);
            }
            release.stamp > until
        });
        self.releases = releases;
    }

    /// For each job, the integral of the bytes that it has held, in bytes times picoseconds.
    fn integrals(&mut self, now: u64) -> SmallVec<[(u16, i128); 2]> {
        self.settle(now);
        self.held.iter().map(|held| (held.job, i128::from(held.bytes) * i128::from(now) - held.moment)).collect()
    }
}

/// The times of a packet that crosses a link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// When it was committed.
    pub committed: u64,
    /// When it could have begun to leave if the link had been free.
    pub ready: u64,
    /// When the link became free of earlier packets.
    pub free: u64,
    /// When its tail leaves.
    pub end: u64,
    /// From the start of its transmission to the next decision, or to its delivery.
    pub service: u64,
}

/// The waits of packets by victim, cause, kind and place.
#[derive(Debug)]
pub struct BlameCounts {
    /// By slot, then by NIC.
    links: Vec<LinkUse>,
    slots: usize,
    /// By buffer: for each channel, the buffers by slot of their port.
    buffers: Vec<BufferUse>,
    /// When each message under way joined the queue of its NIC, by its slot.
    joined: Vec<u64>,
    /// Only messages that joined within this range are counted.
    counted: Range<u64>,
    /// By job.
    service: Vec<u64>,
}

impl BlameCounts {
    /// Empty counts. Only messages that join a NIC within `counted` are counted.
    #[must_use]
    pub fn new([slots, channels, nics, jobs]: [usize; 4], counted: Range<u64>) -> Self {
        Self {
            links: vec![LinkUse::default(); slots + nics],
            slots,
            buffers: vec![BufferUse::default(); channels * slots],
            joined: Vec::new(),
            counted,
            service: vec![0; jobs],
        }
    }

    /// A message joins the queue of its NIC.
    pub fn join(&mut self, message: u32, now: u64) {
        let message = message as usize;
        if message >= self.joined.len() {
            self.joined.resize(message + 1, 0);
        }
        self.joined[message] = now;
    }

    #[inline]
    fn counts(&self, message: u32) -> bool {
        self.counted == (0..u64::MAX) || self.counted.contains(&self.joined[message as usize])
    }

    /// A NIC commits a packet at `now`. Its link is free at `free`, and the packet is decided on `service` after that.
    pub fn inject(&mut self, nic: usize, (job, message): (u16, u32), now: u64, free: u64, service: u64) {
        if !self.counts(message) {
            return;
        }
        let rows = &mut self.links[self.slots + nic].rows;
        add(rows, job, job, Wait::SourceBuffer, now - self.joined[message as usize]);
        add(rows, job, job, Wait::SourceLink, free.saturating_sub(now));
        self.service[usize::from(job)] += service;
    }

    /// A router commits a packet to the link of a slot.
    #[inline]
    pub fn cross(&mut self, slot: usize, (job, message): (u16, u32), crossing: &Crossing) {
        let Crossing { committed, ready, free, end, service } = *crossing;
        let counts = self.counts(message);
        let link = &mut self.links[slot];
        link.forget(committed);
        if counts {
            if free > ready {
                link.attribute(job, ready);
            }
            self.service[usize::from(job)] += (ready - committed) + service;
        }
        link.occupy(committed.max(free), end, job);
    }

    /// A packet of a job takes room in a buffer.
    #[inline]
    pub fn hold(&mut self, buffer: usize, job: u16, bytes: u32, now: u64) {
        self.buffers[buffer].change(job, i64::from(bytes), now);
    }

    /// The credit of a packet of a job reaches the sender of a buffer at `stamp`. All later decisions of the sender are
    /// at `horizon` or later.
    #[inline]
    pub fn release(&mut self, buffer: usize, job: u16, bytes: u32, stamp: u64, horizon: u64) {
        let buffer = &mut self.buffers[buffer];
        if buffer.releases.len() == buffer.releases.capacity() {
            buffer.settle(horizon);
        }
        buffer.releases.push(Release { stamp, bytes, job });
    }

    /// A packet is blocked, behind those that are already blocked.
    pub fn block(&mut self, buffer: usize, now: u64) {
        let buffer = &mut self.buffers[buffer];
        let integrals = buffer.integrals(now);
        buffer.waiting.push_back(integrals);
    }

    /// The first blocked packet is about to be committed to the link of a slot.
    ///
    /// # Panics
    /// If no packet is blocked.
    pub fn unblock(&mut self, buffer: usize, slot: usize, (victim, message): (u16, u32), since: u64, now: u64) {
        let counts = self.counts(message);
        let buffer = &mut self.buffers[buffer];
        let before = buffer.waiting.pop_front().expect("a packet waits");
        if !counts || now == since {
            return;
        }
        let mut held = buffer.integrals(now);
        for (job, integral) in &mut held {
            *integral -= before.iter().find(|entry| entry.0 == *job).map_or(0, |entry| entry.1);
        }
        held.sort_unstable_by_key(|entry| entry.0);
        let all: i128 = held.iter().map(|entry| entry.1).sum();
        let (wait, mut sum, mut given) = (i128::from(now - since), 0, 0);
        for (cause, integral) in held {
            sum += integral;
            let up_to = (wait * sum / all) as u64;
            add(&mut self.links[slot].rows, victim, cause, Wait::Buffer, up_to - given);
            given = up_to;
        }
    }

    /// The rows, sorted.
    #[must_use]
    pub fn into_output(self) -> Blame {
        let of_link = |(link, used): (usize, LinkUse)| {
            used.rows.into_iter().map(move |(victim, cause, wait, ps)| ((victim, cause, wait, link as u32), ps))
        };
        let mut rows: Vec<_> = self.links.into_iter().enumerate().flat_map(of_link).collect();
        rows.sort_unstable();
        let mut blame = Blame { service_ps: self.service, ..Blame::default() };
        for ((victim, cause, wait, link), ps) in rows {
            blame.push(victim, cause, wait, link, ps);
        }
        blame
    }
}
