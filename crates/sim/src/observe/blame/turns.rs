//! The jobs that occupy something one after the other, such as a link.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::notes::{AHEAD, Notes};
use super::pool::Pool;
use super::{NOBODY, Victim};
use crate::engine::prefetch;

/// Instead of the last job of a resource: turns before the last one have not ended.
const SHARED: u16 = u16::MAX;

/// Until when packets of a job occupy a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) end: u64,
    pub(super) job: u16,
}

/// The turns of a resource that is shared.
#[repr(align(64))]
#[derive(Debug, Default)]
struct Shared {
    /// Those before the last one.
    earlier: SmallVec<[Turn; 3]>,
    /// The job of the last one.
    last: u16,
}

const _: () = assert!(size_of::<Shared>() == 64);

/// Who occupies each of many resources, from now until it is free. The times at which they are free are kept by others.
///
/// Most packets come to a resource that is free, or that only packets of their own job occupy. Then little memory is
/// needed.
#[derive(Debug)]
pub(super) struct Turns {
    /// By resource: its last job, or [`SHARED`].
    last: Vec<u16>,
    /// By resource: the number of its turns, if it is shared.
    numbers: Vec<u32>,
    shared: Pool<Shared>,
    /// What is not yet in `shared`, in order.
    notes: Notes<Note>,
}

/// A packet that comes to a resource that is shared, or becomes so.
#[derive(Clone, Copy, Debug)]
struct Note {
    now: u64,
    ready: u64,
    free: u64,
    of: u32,
    victim: Victim,
    /// The last job before, or [`SHARED`].
    before: u16,
}

const _: () = assert!(size_of::<Note>() == 40);

impl Turns {
    pub(super) fn new(resources: usize) -> Self {
        Self {
            last: vec![0; resources],
            numbers: vec![0; resources],
            shared: Pool::default(),
            notes: Notes::new(Note { now: 0, ready: 0, free: 0, of: 0, victim: NOBODY, before: SHARED }),
        }
    }

    /// A packet of a job comes at `now`, could begin at `ready` and begins when the resource is free, at `free`; from then
    /// on it occupies the resource. Nobody asks later for a time before `now`, which is at most `ready`. If its wait
    /// counts and is for packets of its own job alone, `attribute` may be called with it, and its result is returned. All
    /// others are attributed by [`settle`](Self::settle). If true is returned, that must be called before the next packet
    /// comes.
    #[inline(always)]
    #[must_use]
    pub(super) fn take(
        &mut self,
        of: usize,
        victim: Victim,
        [now, ready, free]: [u64; 3],
        attribute: impl FnOnce(u64) -> bool,
    ) -> bool {
        let last = &mut self.last[of];
        if *last == victim.job {
            return victim.counts && free > ready && attribute(free - ready);
        }
        if *last != SHARED && free <= now {
            *last = victim.job;
            return false;
        }
        // It stays shared at least until this note is attributed.
        let before = std::mem::replace(last, SHARED);
        prefetch(&self.numbers, of);
        self.notes.add(Note { now, ready, free, of: of as u32, victim, before })
    }

    /// Whether what is noted must be attributed before the next packet comes.
    pub(super) fn is_full(&self) -> bool {
        self.notes.is_full()
    }

    /// Calls `attribute` with the waits that are noted: the resource, the job that waits, the one that it waits for, and
    /// for how long.
    #[inline(never)]
    pub(super) fn settle(&mut self, mut attribute: impl FnMut(usize, u16, u16, u64)) {
        let Self { last, numbers, shared, notes } = self;
        let notes = notes.all();
        for first in notes.iter().take(AHEAD) {
            shared.prefetch(numbers[first.of as usize]);
        }
        for (position, note) in notes.iter().enumerate() {
            if let Some(later) = notes.get(position + AHEAD) {
                shared.prefetch(numbers[later.of as usize]);
            }
            let of = note.of as usize;
            share(&mut last[of], &mut numbers[of], shared, note, |cause, ps| {
                attribute(of, note.victim.job, cause, ps);
            });
        }
        self.notes.clear();
    }
}

/// Attributes the wait of a packet for a resource that is shared, or becomes so.
#[inline(always)]
fn share(
    last: &mut u16,
    number: &mut u32,
    shared: &mut Pool<Shared>,
    note: &Note,
    mut attribute: impl FnMut(u16, u64),
) {
    let &Note { now, ready, free, victim: Victim { job, counts }, before, .. } = note;
    if before != SHARED || *last != SHARED {
        let mut before = before;
        if before == SHARED {
            // Since this was noted, notes before it have shown that the resource is not shared any more.
            before = std::mem::replace(last, if free <= now { job } else { SHARED });
            if free <= now {
                return;
            }
        }
        *number = shared.take();
        shared.get_mut(*number).last = before;
    }
    let Shared { earlier, last: owner } = shared.get_mut(*number);
    if counts && free > ready {
        let mut from = ready;
        for &Turn { end, job } in &*earlier {
            if end > from {
                attribute(job, end - from);
                from = end;
            }
        }
        attribute(*owner, free.saturating_sub(from));
    }
    if *owner != job && free > now {
        if earlier.len() >= earlier.inline_size() {
            let ended = earlier.iter().take_while(|turn| turn.end <= now).count();
            earlier.drain(..ended);
        }
        earlier.push(Turn { end: free, job: *owner });
        *owner = job;
    } else if earlier.last().is_none_or(|turn| turn.end <= now) {
        earlier.clear();
        *last = job;
        shared.give_back(*number);
    }
}

/// Forgets the turns that end by an instant.
pub(super) fn forget(earlier: &mut VecDeque<Turn>, by: u64) {
    while earlier.front().is_some_and(|turn| turn.end <= by) {
        earlier.pop_front();
    }
}
