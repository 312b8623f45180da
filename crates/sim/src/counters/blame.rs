//! Who makes whom wait (docs/model.md, section 9, "Blame").
//!
//! A link keeps who uses it and when, as far as that lies ahead; a buffer keeps by job the bytes that it holds and their
//! integral over time. So a wait is attributed when its packet is committed, at a cost that does not depend on its length.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use crate::output::{Blame, Wait};

/// Who uses a link from now on.
#[derive(Clone, Debug, Default)]
struct LinkUse {
    /// When, by which job; each begins where the one before ends, or later.
    occupied: VecDeque<(Range<u64>, u16)>,
    /// The sum of these times, by job.
    total: Vec<(u16, u64)>,
}

impl LinkUse {
    /// Forgets what ends before an instant.
    fn forget(&mut self, before: u64) {
        while let Some((time, job)) = self.occupied.front()
            && time.end <= before
        {
            *self.total_of(*job) -= time.end - time.start;
            self.occupied.pop_front();
        }
    }

    fn total_of(&mut self, job: u16) -> &mut u64 {
        let position = self.total.iter().position(|&(other, _)| other == job);
        let position = position.unwrap_or_else(|| {
            self.total.push((job, 0));
            self.total.len() - 1
        });
        &mut self.total[position].1
    }

    /// How long each job uses the link from an instant on.
    fn from(&self, instant: u64) -> impl Iterator<Item = (u16, u64)> {
        let early = self.occupied.iter().take_while(move |(time, _)| time.start < instant);
        self.total.iter().map(move |&(job, total)| {
            let of_job = early.clone().filter(|&&(_, other)| other == job);
            (job, total - of_job.map(|(time, _)| time.end.min(instant) - time.start).sum::<u64>())
        })
    }

    fn occupy(&mut self, time: Range<u64>, job: u16) {
        *self.total_of(job) += time.end - time.start;
        self.occupied.push_back((time, job));
    }
}

/// Bytes times picoseconds of a job.
type Integral = (u16, u128);

/// Who holds the buffer at the far end of an output virtual channel, as its sender knows.
#[derive(Clone, Debug, Default)]
struct BufferUse {
    /// The instant up to which the integrals go.
    at: u64,
    /// By job, ascending: bytes held, and their integral.
    held: Vec<(u16, u64, u128)>,
    /// Bytes that a job gives back, and when.
    releases: BinaryHeap<Reverse<(u64, u16, u32)>>,
    /// The integrals when each of the packets that wait began to wait.
    waiting: VecDeque<Vec<Integral>>,
}

impl BufferUse {
    /// Goes on to an instant; all credits up to it are known.
    fn advance(&mut self, to: u64) {
        while let Some(&Reverse((at, job, bytes))) = self.releases.peek()
            && at <= to
        {
            self.releases.pop();
            self.integrate(at);
            self.entry(job).1 -= u64::from(bytes);
        }
        self.integrate(to);
    }

    fn integrate(&mut self, to: u64) {
        let time = u128::from(to - self.at);
        for (_, bytes, integral) in &mut self.held {
            *integral += u128::from(*bytes) * time;
        }
        self.at = to;
    }

    fn entry(&mut self, job: u16) -> &mut (u16, u64, u128) {
        let position = self.held.partition_point(|entry| entry.0 < job);
        if self.held.get(position).is_none_or(|entry| entry.0 != job) {
            self.held.insert(position, (job, 0, 0));
        }
        &mut self.held[position]
    }

    /// By job, ascending: the integral since a packet began to wait.
    fn since(&self, before: &[Integral]) -> impl Iterator<Item = Integral> {
        self.held.iter().map(move |&(job, _, integral)| {
            let old = before.iter().find(|entry| entry.0 == job).map_or(0, |entry| entry.1);
            (job, integral - old)
        })
    }
}

/// When a packet crosses a link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// It was committed.
    pub committed: u64,
    /// It could have begun to leave if the link had been free.
    pub ready: u64,
    /// The link was free of what was committed before.
    pub free: u64,
    /// Its tail leaves.
    pub end: u64,
    /// From the beginning of its transmission to the next decision, or to its delivery.
    pub service: u64,
}

/// The waiting of packets, by who waits, whose packets are the cause, what for, and where.
#[derive(Debug)]
pub struct BlameCounts {
    /// By slot.
    links: Vec<LinkUse>,
    /// By output virtual channel.
    buffers: Vec<BufferUse>,
    /// When each message under way joined the queue of its NIC, by its slot.
    joined: Vec<u64>,
    /// Messages that joined then count.
    counted: Range<u64>,
    /// By link (slots, then NICs).
    rows: Vec<Vec<(u16, u16, Wait, u64)>>,
    /// By job.
    service: Vec<u64>,
}

impl BlameCounts {
    /// Nothing yet, for so many slots, output virtual channels, NICs and jobs; messages that join a NIC within `counted` count.
    #[must_use]
    pub fn new([slots, vcs, nics, jobs]: [usize; 4], counted: Range<u64>) -> Self {
        Self {
            links: vec![LinkUse::default(); slots],
            buffers: vec![BufferUse::default(); vcs],
            joined: Vec::new(),
            counted,
            rows: vec![Vec::new(); slots + nics],
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

    fn counts(&self, message: u32) -> bool {
        self.counted.contains(&self.joined[message as usize])
    }

    fn add(&mut self, link: usize, victim: u16, cause: u16, wait: Wait, ps: u64) {
        if ps == 0 {
            return;
        }
        let rows = &mut self.rows[link];
        match rows.iter_mut().find(|row| (row.0, row.1, row.2) == (victim, cause, wait)) {
            Some(row) => row.3 += ps,
            None => rows.push((victim, cause, wait, ps)),
        }
    }

    /// A NIC commits a packet at `now`; its link is free at `free`, and `service` later the packet is decided on.
    pub fn inject(&mut self, nic: usize, (job, message): (u16, u32), now: u64, free: u64, service: u64) {
        if !self.counts(message) {
            return;
        }
        let link = self.links.len() + nic;
        self.add(link, job, job, Wait::SourceBuffer, now - self.joined[message as usize]);
        self.add(link, job, job, Wait::SourceLink, free.saturating_sub(now));
        self.service[usize::from(job)] += service;
    }

    /// A router commits a packet to the link of a slot.
    pub fn cross(&mut self, slot: usize, (job, message): (u16, u32), crossing: &Crossing) {
        let Crossing { committed, ready, free, end, service } = *crossing;
        self.links[slot].forget(committed);
        if self.counts(message) {
            if free > ready {
                let link = std::mem::take(&mut self.links[slot]);
                for (cause, ps) in link.from(ready) {
                    self.add(slot, job, cause, Wait::Link, ps);
                }
                self.links[slot] = link;
            }
            self.service[usize::from(job)] += (ready - committed) + service;
        }
        self.links[slot].occupy(committed.max(free)..end, job);
    }

    /// A packet of a job takes room in the buffer at the far end of an output.
    pub fn hold(&mut self, vc: usize, job: u16, bytes: u32, now: u64) {
        let buffer = &mut self.buffers[vc];
        buffer.advance(now);
        buffer.entry(job).1 += u64::from(bytes);
    }

    /// The credit of a packet of a job reaches the sender at `stamp`.
    pub fn release(&mut self, vc: usize, job: u16, bytes: u32, stamp: u64) {
        self.buffers[vc].releases.push(Reverse((stamp, job, bytes)));
    }

    /// A packet begins to wait for room at the far end of an output, behind those that wait already.
    pub fn block(&mut self, vc: usize, now: u64) {
        let buffer = &mut self.buffers[vc];
        buffer.advance(now);
        let integrals = buffer.held.iter().map(|&(job, _, integral)| (job, integral)).collect();
        buffer.waiting.push_back(integrals);
    }

    /// The first of them is about to be committed, to the link of a slot.
    ///
    /// # Panics
    /// If none waits.
    pub fn unblock(&mut self, vc: usize, slot: usize, (victim, message): (u16, u32), since: u64, now: u64) {
        let counts = self.counts(message);
        let buffer = &mut self.buffers[vc];
        buffer.advance(now);
        let before = buffer.waiting.pop_front().expect("a packet waits");
        if !counts {
            return;
        }
        let held: Vec<Integral> = buffer.since(&before).collect();
        let all: u128 = held.iter().map(|entry| entry.1).sum();
        let (wait, mut sum, mut given) = (u128::from(now - since), 0, 0);
        for (cause, integral) in held {
            sum += integral;
            // A packet that waits for no time waits for nobody.
            let up_to = (wait * sum).checked_div(all).unwrap_or(0) as u64;
            self.add(slot, victim, cause, Wait::Buffer, up_to - given);
            given = up_to;
        }
    }

    /// The rows, sorted.
    #[must_use]
    pub fn into_output(self) -> Blame {
        let of_link = |(link, rows): (usize, Vec<(u16, u16, Wait, u64)>)| {
            rows.into_iter().map(move |(victim, cause, wait, ps)| ((victim, cause, wait, link as u32), ps))
        };
        let mut rows: Vec<_> = self.rows.into_iter().enumerate().flat_map(of_link).collect();
        rows.sort_unstable();
        let mut blame = Blame { service_ps: self.service, ..Blame::default() };
        for ((victim, cause, wait, link), ps) in rows {
            blame.push(victim, cause, wait, link, ps);
        }
        blame
    }
}
