//! The jobs that occupy something one after the other, such as a link.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::engine::prefetch;

/// Set while turns before the last one of a resource have not ended.
const SHARED: u32 = 1 << 16;

/// Until when packets of a job occupy a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) end: u64,
    pub(super) job: u16,
}

/// The turns before the last one of a resource.
#[repr(align(64))]
#[derive(Debug, Default)]
struct Earlier(SmallVec<[Turn; 3]>);

const _: () = assert!(size_of::<Earlier>() == 64);

/// A resource.
#[derive(Clone, Copy, Debug)]
struct Resource {
    /// Its last job, and whether it is [`SHARED`].
    last: u32,
    /// The number of its earlier turns, if it is shared.
    number: u32,
}

/// Who occupies each of many resources, from now until it is free. The times at which they are free are kept by others.
///
/// A resource is occupied without a gap by the jobs of the turns in `earlier`, then by its last job.
#[derive(Debug)]
pub(super) struct Turns {
    resources: Vec<Resource>,
    /// Few are in use, and those that are not are used again first. So they stay in a cache.
    earlier: Vec<Earlier>,
    /// The numbers of those that are not in use.
    unused: Vec<u32>,
}

impl Earlier {
    fn forget(&mut self, by: u64) {
        let ended = self.0.iter().take_while(|turn| turn.end <= by).count();
        self.0.drain(..ended);
    }
}

impl Turns {
    pub(super) fn new(resources: usize) -> Self {
        Self { resources: vec![Resource { last: 0, number: 0 }; resources], earlier: Vec::new(), unused: Vec::new() }
    }

    /// Calls `attribute` with each job that occupies a resource in `[ready, free)`, where it is free at `free`. Nobody
    /// asks later for a time before `now`, which is at most `ready`.
    #[inline]
    pub(super) fn occupants(
        &mut self,
        of: usize,
        now: u64,
        mut ready: u64,
        free: u64,
        mut attribute: impl FnMut(u16, u64),
    ) {
        let Resource { last, number } = self.resources[of];
        if last & SHARED != 0 {
            let earlier = &mut self.earlier[number as usize];
            earlier.forget(now);
            if earlier.0.is_empty() {
                self.resources[of].last = last & !SHARED;
                self.unused.push(number);
            }
            for &Turn { end, job } in &earlier.0 {
                if end > ready {
                    attribute(job, end - ready);
                    ready = end;
                }
            }
        }
        if free > ready {
            attribute(last as u16, free - ready);
        }
    }

    /// A resource is needed soon.
    #[inline]
    pub(super) fn prefetch(&self, of: usize) {
        prefetch(&self.resources, of);
    }

    /// The earlier turns of a resource are needed soon.
    #[inline]
    pub(super) fn prefetch_earlier(&self, of: usize) {
        let Resource { last, number } = self.resources[of];
        if last & SHARED != 0 {
            prefetch(&self.earlier, number as usize);
        }
    }

    /// Whether only packets of a job have occupied a resource since it was free for the last time.
    #[inline]
    pub(super) fn only(&self, of: usize, job: u16) -> bool {
        self.resources[of].last == u32::from(job)
    }

    /// A packet of a job that comes at `now` occupies a resource after those before it, which leave it free at `free`.
    #[inline]
    pub(super) fn occupy(&mut self, of: usize, job: u16, now: u64, free: u64) {
        let Resource { last, number } = self.resources[of];
        if last == u32::from(job) {
            return;
        }
        if free <= now {
            if last & SHARED != 0 {
                self.earlier[number as usize].0.clear();
                self.unused.push(number);
            }
            self.resources[of].last = u32::from(job);
        } else if last as u16 != job {
            let number = if last & SHARED == 0 { self.unused() } else { number };
            let earlier = &mut self.earlier[number as usize];
            earlier.forget(now);
            earlier.0.push(Turn { end: free, job: last as u16 });
            self.resources[of] = Resource { last: u32::from(job) | SHARED, number };
        }
    }

    /// The number of earlier turns that are not in use.
    fn unused(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.earlier.push(Earlier::default());
            self.earlier.len() as u32 - 1
        })
    }
}

/// Forgets the turns that end by an instant.
pub(super) fn forget(earlier: &mut VecDeque<Turn>, by: u64) {
    while earlier.front().is_some_and(|turn| turn.end <= by) {
        earlier.pop_front();
    }
}
