//! Links, buffers, credits and blocked packets: what packets pass through between the NICs (docs/model.md, sections 1 and
//! 4).
//!
//! [`Links`] is a set of tables with one entry per port, or per output VC (a link and one of its virtual channels). All
//! mutable state belongs to one router. Only events and stamped credits cross links. The fabric knows packets and links,
//! but no jobs, no programs and no kinds of NICs; [`PacketInfo`] is all that it asks of those.

use bytemuck::Zeroable;

mod blocked;
mod credit_metric;
mod credits;
mod hop;
mod info;
mod least;
mod leaving;
mod levels;
mod links;
mod logs;
mod marks;
pub mod packet;
mod place;
mod wiring;
mod zero_load;

pub use blocked::{BlockedPackets, Chain};
pub use credit_metric::CreditMetric;
pub use credits::Credits;
pub use hop::HopTiming;
pub use info::PacketInfo;
pub use least::{Least, as_bits, least_backlog};
pub use levels::Levels;
pub use links::Links;
pub use logs::{Logs, VcLog};
pub use marks::Marks;
pub use place::RouterPlace;
pub use wiring::{NicAttachment, OutputVc, PacketTimes, Times, Wire, Wiring};
pub use zero_load::ZeroLoad;

/// An output port: when its link will be free of committed packets, and what else waits for it.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct OutputPort {
    /// End of the last packet committed to the link.
    pub free: u64,
    /// Serialisation times of the packets that are blocked, over all channels.
    pub blocked_ps: u64,
}

impl OutputPort {
    /// Time for which the port has work, counted from `now`, in picoseconds.
    #[inline(always)]
    #[must_use]
    pub fn backlog(&self, now: u64) -> u64 {
        self.free.saturating_sub(now) + self.blocked_ps
    }
}

/// An output VC at the sender: what every commit needs, in a quarter of a cache line.
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct OutputVcState {
    /// Bytes of room that the sender knows of in the buffer at the far end.
    pub room: u32,
    /// Bytes committed since the log was written.
    bytes: u32,
    /// Router at the far end, or the NIC if it is a node (26 bits: there are no more ports), whether packets wait for
    /// room, whether the far end is a node, and the link class (4 bits).
    far: u32,
    /// Port at the far end.
    pub port: u16,
    /// Packets committed since the log was written.
    packets: u16,
}

const _: () = assert!(size_of::<OutputVcState>() == 16);

const WAITS: u32 = 1 << 5;
const TO_NODE: u32 = 1 << 4;
const CLASS_MASK: u32 = 0xf;
const TO_SHIFT: u32 = 6;

impl OutputVcState {
    /// An output VC with a far buffer of `room` bytes.
    #[must_use]
    pub fn new(room: u32, wire: Wire) -> Self {
        debug_assert!(wire.to < 1 << (32 - TO_SHIFT) || wire.to == u32::MAX);
        let far = wire.to << TO_SHIFT | if wire.node { TO_NODE } else { 0 } | u32::from(wire.class);
        Self { room, bytes: 0, far, port: wire.port, packets: 0 }
    }

    /// Router at the far end, or the NIC.
    #[inline(always)]
    #[must_use]
    pub fn to(&self) -> u32 {
        self.far >> TO_SHIFT
    }

    /// Whether the far end is a node.
    #[inline(always)]
    #[must_use]
    pub fn node(&self) -> bool {
        self.far & TO_NODE != 0
    }

    /// Link class.
    #[inline(always)]
    #[must_use]
    pub fn class(&self) -> u8 {
        (self.far & CLASS_MASK) as u8
    }

    /// Whether packets wait for room.
    #[inline(always)]
    #[must_use]
    pub fn waits(&self) -> bool {
        self.far & WAITS != 0
    }

    /// Notes whether packets wait for room.
    #[inline]
    pub fn set_waits(&mut self, waits: bool) {
        self.far = self.far & !WAITS | if waits { WAITS } else { 0 };
    }

    /// Counts a packet. The counters are narrow, so that more output VCs fit into a cache; the log takes them over
    /// before they overflow.
    #[inline(always)]
    pub fn count(&mut self, bytes: u32, logs: &mut Logs, vc: usize) {
        if let Some(sum) = self.bytes.checked_add(bytes)
            && self.packets < u16::MAX
        {
            self.bytes = sum;
            self.packets += 1;
        } else {
            self.write_log(bytes, logs.get_mut(vc));
        }
    }

    #[cold]
    #[inline(never)]
    fn write_log(&mut self, bytes: u32, log: &mut VcLog) {
        log.packets += u64::from(self.packets) + 1;
        log.bytes += u64::from(self.bytes) + u64::from(bytes);
        (self.packets, self.bytes) = (0, 0);
    }

    /// Packets and bytes committed so far.
    #[must_use]
    pub fn committed(&self, log: &VcLog) -> (u64, u64) {
        (log.packets + u64::from(self.packets), log.bytes + u64::from(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_counters_lose_nothing() {
        let mut vc = OutputVcState::new(0, Wire { to: 0, port: 0, class: 0, node: false });
        let mut logs = Logs::new(1);
        for _ in 0..200_000 {
            vc.count(65_536, &mut logs, 0);
        }
        for _ in 0..200_000 {
            vc.count(1, &mut logs, 0);
        }
        assert_eq!(vc.committed(logs.get(0)), (400_000, 200_000 * 65_537));
    }

    #[test]
    fn the_far_end_of_a_vc_and_whether_it_waits_do_not_overlap() {
        let wire = Wire { to: (1 << 26) - 1, port: 9, class: 7, node: false };
        let mut vc = OutputVcState::new(5, wire);
        assert!(!vc.waits() && !vc.node());
        vc.set_waits(true);
        assert_eq!((vc.to(), vc.class(), vc.waits(), vc.node()), ((1 << 26) - 1, 7, true, false));
        vc.set_waits(false);
        assert!(!vc.waits() && OutputVcState::new(5, Wire { node: true, ..wire }).node());
    }
}
