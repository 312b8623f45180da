//! What packets pass through: links, buffers, credits, NICs (docs/model.md, sections 1 to 4).
//!
//! The fabric is a set of tables with one entry per port, per lane (a link and one of its virtual channels), or per
//! node. Everything that changes belongs to one router; what crosses a link is an event or a stamped credit.

pub mod credits;
mod flight;
mod nic;
pub mod packet;
mod parked;
mod sensor;
mod wiring;

pub use credits::Returns;
pub use flight::{Flight, Flights, NO_ROW};
pub use nic::{Nic, Waiting};
pub use parked::{NONE, Parked};
pub use sensor::Sensor;
pub use wiring::{Times, Wire, Wiring};

/// An output port: when its link will be free of what is committed to it, and what waits besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Out {
    /// End of the last packet committed to the link.
    pub free: u64,
    /// Serialisation times of the packets that wait for credit, all channels.
    pub parked_ps: u64,
}

impl Out {
    /// Time for which the port has work from `now` on, in picoseconds.
    #[inline(always)]
    #[must_use]
    pub fn backlog(&self, now: u64) -> u64 {
        self.free.saturating_sub(now) + self.parked_ps
    }
}

/// A link and one of its virtual channels, at the sender: what every commit needs.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Bytes that the buffer at the far end is known to have room for.
    pub room: u32,
    /// First packet that waits for room, in [`Parked`].
    pub head: u32,
    /// Packets committed since the log was written.
    packets: u32,
    /// Bytes of them.
    bytes: u32,
    /// The far end.
    pub wire: Wire,
}

/// What of a lane is rarely needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneLog {
    packets: u64,
    bytes: u64,
    /// Since when something waits.
    pub waits_since: u64,
    /// Time during which something waited before.
    pub waited: u64,
    /// Last packet that waits, in [`Parked`].
    pub tail: u32,
}

impl Lane {
    /// A lane to a buffer of `room` bytes.
    #[must_use]
    pub fn new(room: u32, wire: Wire) -> Self {
        Self { room, head: NONE, packets: 0, bytes: 0, wire }
    }

    /// Counts a packet. The counters are narrow, so that more lanes fit into a cache; the log takes them over before
    /// they overflow.
    #[inline(always)]
    pub fn count(&mut self, bytes: u32, log: &mut [LaneLog], index: usize) {
        if let Some(sum) = self.bytes.checked_add(bytes) {
            self.bytes = sum;
            self.packets += 1; // there are at least as many bytes
        } else {
            self.write_log(bytes, &mut log[index]);
        }
    }

    #[cold]
    fn write_log(&mut self, bytes: u32, log: &mut LaneLog) {
        log.packets += u64::from(self.packets) + 1;
        log.bytes += u64::from(self.bytes) + u64::from(bytes);
        (self.packets, self.bytes) = (0, 0);
    }

    /// Packets and bytes committed so far.
    #[must_use]
    pub fn committed(&self, log: &LaneLog) -> (u64, u64) {
        (log.packets + u64::from(self.packets), log.bytes + u64::from(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_counters_lose_nothing() {
        let mut lane = Lane::new(0, Wire { to: 0, port: 0, class: 0, node: false });
        let mut log = [LaneLog::default()];
        for _ in 0..200_000 {
            lane.count(65_536, &mut log, 0);
        }
        assert_eq!(lane.committed(&log[0]), (200_000, 200_000 * 65_536));
    }
}
