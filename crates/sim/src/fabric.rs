//! What packets pass through: links, buffers, credits, NICs (docs/model.md, sections 1 to 4).
//!
//! The fabric is a set of tables with one entry per port, per lane (a link and one of its virtual channels), or per
//! node. Everything that changes belongs to one router; what crosses a link is an event or a stamped credit.

pub mod credits;
mod flight;
mod nic;
pub mod packet;
mod parked;
mod wiring;

pub use credits::Returns;
pub use flight::{Flight, Flights, NO_ROW};
pub use nic::{Nic, Waiting};
pub use parked::{NONE, Parked};
pub use wiring::{Times, Wire, Wiring};

/// An output port: what it leads to, when its link will be free of what is committed to it, and what waits besides.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    /// End of the last packet committed to the link.
    pub free: u64,
    /// Serialisation times of the packets that wait for credit, all channels.
    pub parked_ps: u64,
    /// The far end.
    pub wire: Wire,
}

/// A link and one of its virtual channels, at the sender.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Bytes that the buffer at the far end is known to have room for.
    pub room: u32,
    /// First packet that waits for room, in [`Parked`].
    pub head: u32,
    /// Bytes committed so far.
    pub bytes: u64,
    /// Packets committed so far.
    pub packets: u64,
}

/// Time during which something waited on a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stall {
    /// Since when something waits.
    pub since: u64,
    /// Total of the past.
    pub total: u64,
    /// Last packet that waits.
    pub tail: u32,
}
