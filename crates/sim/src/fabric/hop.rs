//! The timing of a hop (docs/model.md, sections 1, 3, 4, 5 and 7).

use super::PacketTimes;

/// The times of a packet that crosses one link: from its NIC to a router, from router to router, or from its last
/// router to its node. All times are in picoseconds.
///
/// Store-and-forward and cut-through are the same code with different times in [`PacketTimes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopTiming {
    /// The last byte has left the sender: the link is free, and so is the packet's room in the buffer that it leaves.
    pub end: u64,
    /// The router at the far end decides on the packet.
    pub decision: u64,
}

impl HopTiming {
    /// A packet whose first byte leaves the sender at `start`, over a link of a class.
    #[inline(always)]
    #[must_use]
    pub fn new(start: u64, packet: &PacketTimes, class: u8) -> Self {
        Self { end: start + packet.serialisation(class), decision: start + packet.to_decision(class) }
    }

    /// The earliest start at which a packet does not run out of bytes on its link: it was decided on at `decision`, its
    /// tail comes `tail` later, and it takes `serialisation` on the link.
    #[inline(always)]
    #[must_use]
    pub fn earliest_start(decision: u64, tail: u64, serialisation: u64) -> u64 {
        (decision + tail).saturating_sub(serialisation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::wiring::CLASSES;
    use super::*;

    #[test]
    fn a_packet_leaves_and_is_decided_on() {
        let packet = PacketTimes::new(3, [30; CLASSES], [137; CLASSES]);
        assert_eq!(HopTiming::new(1_000, &packet, 2), HopTiming { end: 1_030, decision: 1_137 });
    }

    #[test]
    fn a_faster_link_waits_for_the_tail_and_a_slower_one_does_not() {
        assert_eq!(HopTiming::earliest_start(1_117, 20, 5), 1_132);
        assert!(HopTiming::earliest_start(1_117, 20, 30) < 1_117);
        assert_eq!(HopTiming::earliest_start(1, 0, 30), 0);
    }
}
