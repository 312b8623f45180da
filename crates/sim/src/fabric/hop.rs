//! The timing of a hop (docs/model.md, sections 3, 4, 5 and 7).

use super::Times;

/// When what happens as a packet crosses one link: from its NIC to a router, from router to router, or from its last router
/// to its node. All times are in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopTiming {
    /// The first byte leaves the sender.
    pub start: u64,
    /// The last byte has left the sender: the link is free.
    pub end: u64,
    /// The router at the far end decides on the packet.
    pub decision: u64,
    /// The last byte is at the far end; at a node the packet is delivered.
    pub arrival: u64,
    /// The buffer that the packet leaves has its room back: the credit starts on its way.
    pub release: u64,
}

impl HopTiming {
    /// Store and forward: a router decides on a packet one router delay after all of it has arrived.
    ///
    /// # Safety
    /// `bytes` is not more than the largest packet, for which the times were made.
    #[inline(always)]
    #[must_use]
    pub unsafe fn store_and_forward(start: u64, bytes: u32, times: &Times) -> Self {
        // SAFETY: as the caller says; there is a time for each size up to the largest.
        let end = start + unsafe { times.serialisation.get_unchecked(bytes as usize) };
        Self { start, end, decision: end + times.to_decision, arrival: end + times.latency, release: end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_stored_before_it_is_forwarded() {
        let times = Times {
            serialisation: vec![0, 10, 20, 30],
            to_decision: 107,
            latency: 7,
            to_credit: 9,
            buffer: 3,
            scaled: 655_360,
        };
        // SAFETY: there are times of up to 3 bytes.
        let hop = unsafe { HopTiming::store_and_forward(1_000, 3, &times) };
        assert_eq!(hop, HopTiming { start: 1_000, end: 1_030, decision: 1_137, arrival: 1_037, release: 1_030 });
    }
}
