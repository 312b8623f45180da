//! The jobs that occupy something one after the other, such as a link.

use std::collections::VecDeque;

/// Set while turns before the last one of a resource have not ended.
const SHARED: u32 = 1 << 16;
/// A resource that has never been shared.
const NONE: u32 = u32::MAX;

/// Until when packets of a job occupy a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) end: u64,
    pub(super) job: u16,
}

/// Who occupies each of many resources, from now until it is free. The times at which they are free are kept by others.
///
/// A resource is occupied without a gap by the jobs of the turns in `earlier`, then by its last job.
#[derive(Debug)]
pub(super) struct Turns {
    /// By resource: the last job, and whether it is [`SHARED`].
    last: Vec<u32>,
    /// By resource: the number of its earlier turns, or [`NONE`].
    numbers: Vec<u32>,
    earlier: Vec<VecDeque<Turn>>,
}

impl Turns {
    pub(super) fn new(resources: usize) -> Self {
        Self { last: vec![0; resources], numbers: vec![NONE; resources], earlier: Vec::new() }
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
        let last = self.last[of];
        if last & SHARED != 0 {
            let earlier = &mut self.earlier[self.numbers[of] as usize];
            forget(earlier, now);
            if earlier.is_empty() {
                self.last[of] = last & !SHARED;
            }
            for &Turn { end, job } in &*earlier {
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

    /// A packet of a job that comes at `now` occupies a resource after those before it, which leave it free at `free`.
    #[inline]
    pub(super) fn occupy(&mut self, of: usize, job: u16, now: u64, free: u64) {
        let last = self.last[of];
        if last == u32::from(job) {
            return;
        }
        if free <= now {
            if last & SHARED != 0 {
                self.earlier[self.numbers[of] as usize].clear();
            }
            self.last[of] = u32::from(job);
        } else if last as u16 != job {
            self.push(of, now, Turn { end: free, job: last as u16 });
            self.last[of] = u32::from(job) | SHARED;
        }
    }

    fn push(&mut self, of: usize, now: u64, turn: Turn) {
        let number = &mut self.numbers[of];
        if *number == NONE {
            *number = self.earlier.len() as u32;
            self.earlier.push(VecDeque::new());
        }
        let earlier = &mut self.earlier[*number as usize];
        forget(earlier, now);
        earlier.push_back(turn);
    }
}

/// Forgets the turns that end by an instant.
pub(super) fn forget(earlier: &mut VecDeque<Turn>, by: u64) {
    while earlier.front().is_some_and(|turn| turn.end <= by) {
        earlier.pop_front();
    }
}
