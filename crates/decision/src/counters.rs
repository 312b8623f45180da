//! The counters of a NIC, and what they say about the network.

/// The four counters of an Aries NIC that the model needs (De Sensi 2019, section 2.3; D9): readings of the hardware,
/// or what was counted between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Request flits that were sent.
    pub request_flits: u64,
    /// Cycles in which a flit was ready and was not forwarded.
    pub stalled_cycles: u64,
    /// Request packets that were sent.
    pub request_packets: u64,
    /// Sum of the times from request to response of all packets, in cycles of the NIC. A counter in microseconds must
    /// be multiplied by the clock frequency in MHz.
    pub latency_cycles: u64,
}

impl Counters {
    /// What was counted since an earlier reading. A counter that wrapped around at 2^64 once in between is right.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            request_flits: self.request_flits.wrapping_sub(earlier.request_flits),
            stalled_cycles: self.stalled_cycles.wrapping_sub(earlier.stalled_cycles),
            request_packets: self.request_packets.wrapping_sub(earlier.request_packets),
            latency_cycles: self.latency_cycles.wrapping_sub(earlier.latency_cycles),
        }
    }

    /// Latency and stalls; `None` if no packet or no flit was sent, because then nothing is known.
    #[must_use]
    pub fn sample(self) -> Option<Sample> {
        // A division by zero is infinite or no number, which a sample refuses.
        Sample::new(
            self.latency_cycles as f64 / self.request_packets as f64,
            self.stalled_cycles as f64 / self.request_flits as f64,
        )
    }
}

/// What the network did to the packets of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    latency: f64,
    stalls: f64,
}

impl Sample {
    /// The largest latency and the largest number of stalled cycles. Counters stay below it; with it no equation
    /// overflows.
    pub const MOST: f64 = 1e30;

    /// A latency L (cycles per packet) and stalls s (cycles per flit); `None` unless both are between 0 and
    /// [`Sample::MOST`].
    #[must_use]
    pub fn new(latency: f64, stalls: f64) -> Option<Self> {
        let valid = |x: f64| (0.0..=Self::MOST).contains(&x);
        (valid(latency) && valid(stalls)).then_some(Self { latency, stalls })
    }

    /// As [`Sample::new`], with values outside the range set to its ends and NaN to 0.
    pub(crate) fn clamped(latency: f64, stalls: f64) -> Self {
        let clamp = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(0.0, Self::MOST) };
        Self { latency: clamp(latency), stalls: clamp(stalls) }
    }

    /// Mean time from request to response, in cycles: L.
    #[must_use]
    pub const fn latency(self) -> f64 {
        self.latency
    }

    /// Mean number of cycles that a flit waits: s.
    #[must_use]
    pub const fn stalls(self) -> f64 {
        self.stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_is_per_packet_and_stalls_are_per_flit() {
        let counters =
            Counters { request_flits: 320, stalled_cycles: 640, request_packets: 64, latency_cycles: 96_000 };
        let sample = counters.sample().expect("packets were sent");
        assert_eq!((sample.latency(), sample.stalls()), (1500.0, 2.0));
    }

    #[test]
    fn nothing_sent_says_nothing() {
        assert_eq!(Counters::default().sample(), None);
        assert_eq!(Counters { request_packets: 1, ..Counters::default() }.sample(), None);
        assert_eq!(Counters { request_flits: 1, ..Counters::default() }.sample(), None);
    }

    #[test]
    fn counters_may_wrap_around() {
        let near = u64::MAX - 2;
        let before =
            Counters { request_flits: near, stalled_cycles: near, request_packets: near, latency_cycles: near };
        let after = Counters { request_flits: 7, stalled_cycles: 17, request_packets: 1, latency_cycles: 3997 };
        let expected = Counters { request_flits: 10, stalled_cycles: 20, request_packets: 4, latency_cycles: 4000 };
        assert_eq!(after.since(before), expected);
    }

    #[test]
    fn the_largest_counters_give_finite_numbers() {
        let counters =
            Counters { request_flits: 1, stalled_cycles: u64::MAX, request_packets: 1, latency_cycles: u64::MAX };
        let sample = counters.sample().expect("packets were sent");
        assert!(sample.latency() < Sample::MOST && sample.stalls() < Sample::MOST);
    }

    #[test]
    fn a_sample_is_finite_and_not_negative() {
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1e31] {
            assert_eq!(Sample::new(wrong, 0.0), None);
            assert_eq!(Sample::new(0.0, wrong), None);
        }
    }
}
