//! Time, pending events and random numbers; knows nothing of networks.
//!
//! An event belongs to a *place* (a router). The pending events are held in one of these ways, chosen by the lookahead
//! of the run:
//!
//! | queue | order of events | used when |
//! |---|---|---|
//! | [`Wheel`] | window by window, inside a window place by place, at a place by (time, tie) | places cannot affect each other within a window |
//! | [`Wheel::in_one_order`] | globally by (time, place, tie), sorted window by window | places see each other |
//! | [`Ordered`] | globally by (time, place, tie), in a heap | the lookahead is too small for windows to be worth it |
//!
//! All lead to the same results, because what happens at one place at time `t` can reach another place only at
//! `t + lookahead` or later, and all state that a decision reads belongs to a place. (Tables that several places share,
//! as the messages in flight, are only counted in or are read where they are written.)

mod ordered;
mod prefetch;
pub mod random;
mod rank;
mod wheel;
mod window;

pub use ordered::Ordered;
pub use prefetch::prefetch;
pub use wheel::Wheel;
pub use window::Window;

/// Times from this one on are taken for a mistake in the input.
pub(crate) const LAST_TIME: u64 = 1 << 63;

/// A pending event: a small value that is moved, never shared.
pub trait Record: Copy {
    /// When it happens, in picoseconds.
    fn time(&self) -> u64;
    /// Order among events of one place at one instant, below 2^22. Events that tie in this too must be
    /// interchangeable.
    fn tie(&self) -> u32;
}

/// Pending events of all places.
///
/// They are handed out in windows: first all that is known of one, then one by one what comes late for it, each in its
/// turn.
pub trait Queue<R: Record> {
    /// Adds an event. Its time must not be before the present; if it is within the open window, it must belong to the
    /// place whose events are being handled.
    fn push(&mut self, place: u32, record: R);

    /// Adds an event that is another at a new time, with changes. (Only what changes is written field by field: to read
    /// a whole record just after a part of it was written is slow.)
    fn push_changed(&mut self, place: u32, time: u64, record: &R, change: impl FnOnce(&mut R));

    /// Replaces the events of a window, which must all be handled, by those of the next. Returns whether there is one.
    fn open(&mut self, window: &mut Window<R>) -> bool;

    /// Whether events have come for the open window.
    fn has_late(&self) -> bool;

    /// Takes an event that has come for the open window and precedes this one of it.
    fn late(&mut self, before: Option<(u32, &R)>) -> Option<(u32, R)>;

    /// Whether the events of all places are in one order. If not, what comes late is for the place being visited.
    fn in_one_order(&self) -> bool;

    /// If what happens at a place within the open window affects no other place in it: the end of the window. Else 0.
    fn closed_until(&self) -> u64;

    /// No event that is still to come is earlier than this.
    fn horizon(&self) -> u64;
}
