//! Time, pending events and random numbers; knows nothing of networks.
//!
//! An event belongs to a *place* (a router). One of three queues holds the pending events, depending on the lookahead
//! of the run:
//!
//! | queue | order of events | used when |
//! |---|---|---|
//! | [`Wheel`] | window by window, inside a window place by place, at a place by (time, tie) | places cannot affect each other within a window |
//! | [`Wheel::in_one_order`] | globally by (time, place, tie), sorted window by window | places see each other |
//! | [`Ordered`] | globally by (time, place, tie), in a heap | the lookahead is too small for windows to pay off |
//! | [`Partition`] | as [`Wheel`], for some of the places | several threads share the places |
//!
//! All give the same results, because an event at one place at time `t` can affect another place only at
//! `t + lookahead` or later, and all state that a decision reads belongs to one place. (Shared tables, such as that of the
//! messages under way, are only counted in, or read where they are written.)

mod barrier;
mod bursts;
mod ordered;
mod partition;
mod prefetch;
pub mod random;
mod rank;
mod wheel;
mod window;

use std::ops::Range;

pub use barrier::{Barrier, Broken};
pub use bursts::{Burst, Bursts};
pub use ordered::Ordered;
pub use partition::Partition;
pub use prefetch::{prefetch, prefetch_whole};
pub use wheel::Wheel;
pub use window::Window;

/// Later times are taken for a mistake in the input.
pub(crate) const LAST_TIME: u64 = 1 << 63;

/// A pending event: a small value that is moved, never shared.
pub trait Record: Copy {
    /// When it happens, in picoseconds.
    fn time(&self) -> u64;
    /// Order among the events of one place at one instant, below 2^22. Events with equal ties must be interchangeable.
    fn tie(&self) -> u32;
}

/// Pending events of all places.
///
/// Events come in windows: first all events of a window that are known when it opens, then, one by one, those that are
/// added while it is open, each in its place in the order.
pub trait Queue<R: Record> {
    /// Whether other threads handle the events of some places.
    const PARTITIONED: bool = false;

    /// Adds an event. Its time must not be before the present. An event within the open window must belong to the place
    /// whose events are being handled.
    fn push(&mut self, place: u32, record: R);

    /// Adds a changed copy of an event at a new time. (Only the changed fields are written one by one: reading a whole
    /// record just after writing part of it is slow.)
    fn push_changed(&mut self, place: u32, time: u64, record: &R, change: impl FnOnce(&mut R));

    /// Replaces the events of a window, which must all have been handled, by those of the next. Returns whether there
    /// is one.
    fn open(&mut self, window: &mut Window<R>) -> bool;

    /// Takes back the events of a window that has just been opened. From now on, events affect other places only
    /// `lookahead_ps` later, which is shorter than before.
    fn shorten(&mut self, window: &Window<R>, lookahead_ps: u64);

    /// Whether events were added to the open window.
    fn has_late(&self) -> bool;

    /// Takes an event that was added to the open window and precedes this one.
    fn late(&mut self, before: Option<(u32, &R)>) -> Option<(u32, R)>;

    /// Whether the events of all places are in one order. If not, late events are for the place being visited.
    fn in_one_order(&self) -> bool;

    /// The end of the open window if no event in it can affect another place before then; else 0.
    fn closed_until(&self) -> u64;

    /// No pending or future event is earlier than this.
    fn horizon(&self) -> u64;

    /// The places whose events this queue has, of so many.
    fn own(&self, places: u32) -> Range<u32> {
        0..places
    }

    /// Whether this queue has the events of a place.
    #[inline(always)]
    fn has(&self, place: u32) -> bool {
        let _ = place;
        true
    }

    /// The number of the partition that has a place; 0 if there are no partitions.
    fn partition_of(&self, place: u32) -> usize {
        let _ = place;
        0
    }
}
