//! Time, pending events and random numbers; knows nothing of networks.
//!
//! An event belongs to a *place* (a router). Two queues hold pending events, chosen by the lookahead of the run:
//!
//! | queue | order of events | used when |
//! |---|---|---|
//! | [`Wheel`] | window by window, inside a window place by place, at a place by (time, tie) | places cannot affect each other within a window |
//! | [`Ordered`] | globally by (time, place, tie) | the lookahead is too small for windows to be worth it |
//!
//! Both lead to the same results, because what happens at one place at time `t` can reach another place only at
//! `t + lookahead` or later, and all state that a decision reads belongs to a place. (Tables that several places share,
//! as the messages in flight, are only counted in or are read where they are written.)

mod ordered;
mod prefetch;
pub mod random;
mod table;
mod wheel;

pub use ordered::Ordered;
pub use prefetch::prefetch;
pub(crate) use table::Table;
pub use wheel::Wheel;

/// A pending event: a small value that is moved, never shared.
pub trait Record: Copy {
    /// When it happens, in picoseconds.
    fn time(&self) -> u64;
    /// Order among events of one place at one instant, below 2^22. Events that tie in this too must be
    /// interchangeable.
    fn tie(&self) -> u32;
}

/// Pending events of all places.
pub trait Queue<R: Record> {
    /// Adds an event. Its time must not be before the present; if it is within the present window, it must belong
    /// to the place whose events are being handled.
    fn push(&mut self, place: u32, record: R);
    /// Removes the next event, with its place.
    fn pop(&mut self) -> Option<(u32, R)>;
    /// If the event just taken is the first of several of its place: all of them, in any order. What they will need can be
    /// asked for at once.
    fn opened(&self) -> &[R];
    /// No event that is still to come is earlier than this.
    fn horizon(&self) -> u64;
}
