//! The performance model: equations 1, 2 and 3 of De Sensi 2019 (D10, D11, D13). All times are cycles of the NIC.

use crate::{Sample, Size};

/// Packets that an Aries NIC can have outstanding (De Sensi 2019, section 2.4; D11).
pub const OUTSTANDING: u32 = 1024;

/// The round trip time of a flit: `L - (k - 1)(s + 1)` for packets of `k` flits, at least 0. The model replaces it by L,
/// because s is much smaller than L (D10).
#[must_use]
pub fn round_trip(sample: Sample, flits_per_packet: u32) -> f64 {
    let sending = f64::from(flits_per_packet.saturating_sub(1)) * (sample.stalls() + 1.0);
    (sample.latency() - sending).max(0.0)
}

/// The time from the call to the last flit at the receiver's NIC.
///
/// With a limit of outstanding packets it is equation 2, `(p + 512)/1024 L + f (s + 1)` for 1024. Without a limit
/// (`None`, or a limit of 0) it is equation 1, `L/2 + f (s + 1)`.
#[must_use]
pub fn transmission_time(size: Size, sample: Sample, outstanding: Option<u32>) -> f64 {
    latency_weight(size, outstanding) * sample.latency() + size.flits as f64 * (sample.stalls() + 1.0)
}

/// How often a message pays the latency.
fn latency_weight(size: Size, outstanding: Option<u32>) -> f64 {
    match outstanding {
        None | Some(0) => 0.5,
        Some(limit) => (size.packets as f64 + f64::from(limit) / 2.0) / f64::from(limit),
    }
}

/// Equation 3: whether a message takes less time with high bias than with the default mode.
///
/// Equation 4 of the paper divides by `s_bs - s_ad` and holds only if that is positive. This form holds for every sign
/// (D13). If both take the same time, the answer is no.
#[must_use]
pub fn prefer_high_bias(size: Size, default: Sample, high_bias: Sample) -> bool {
    faster(size, high_bias, default)
}

/// Whether a message takes less time with the first sample than with the second, by equation 2.
pub(crate) fn faster(size: Size, first: Sample, second: Sample) -> bool {
    time(size, first) < time(size, second)
}

/// Equation 2, for the NIC of Aries.
pub(crate) fn time(size: Size, sample: Sample) -> f64 {
    transmission_time(size, sample, Some(OUTSTANDING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use proptest::prelude::*;

    fn sample(latency: f64, stalls: f64) -> Sample {
        Sample::new(latency, stalls).expect("a valid sample")
    }

    #[test]
    fn equation_1() {
        // L/2 + f (s + 1), with L = 2000, s = 1.5 and the 320 flits of 4 KiB.
        assert_eq!(transmission_time(Message::put(4096).size(), sample(2000.0, 1.5), None), 1000.0 + 320.0 * 2.5);
    }

    #[test]
    fn equation_2_with_the_numbers_of_the_catalogue() {
        for (bytes, weight, flits) in [
            (64, 513.0 / 1024.0, 5.0),
            (4096, 0.5625, 320.0),
            (16 << 10, 0.75, 1280.0),
            (4 << 20, 64.5, 327_680.0),
            (16 << 20, 256.5, 1_310_720.0),
        ] {
            let size = Message::put(bytes).size();
            let time = |l, s| transmission_time(size, sample(l, s), Some(OUTSTANDING));
            assert_eq!(time(0.0, 0.0), flits, "{bytes} bytes");
            assert_eq!(time(1024.0, 0.0), 1024.0 * weight + flits, "{bytes} bytes");
            assert_eq!(time(1024.0, 2.0), 1024.0 * weight + 3.0 * flits, "{bytes} bytes");
        }
    }

    #[test]
    fn equation_1_is_equation_2_without_a_limit() {
        let (size, sample) = (Message::put(4096).size(), sample(2000.0, 1.5));
        let wide = transmission_time(size, sample, Some(u32::MAX));
        assert!((wide - transmission_time(size, sample, None)).abs() < 1e-3);
        assert_eq!(transmission_time(size, sample, Some(0)), transmission_time(size, sample, None));
    }

    #[test]
    fn the_round_trip_excludes_the_flits_of_the_packet() {
        assert_eq!(round_trip(sample(2000.0, 1.0), 5), 1992.0);
        assert_eq!(round_trip(sample(2000.0, 1.0), 0), 2000.0);
        assert_eq!(round_trip(sample(1.0, 9.0), 5), 0.0);
    }

    /// With f = 5 p and r = (L_ad - L_bs)/(s_bs - s_ad): high bias if p (5120 - r) < 512 r, which is below 7953 bytes
    /// for r = 1000 (D13).
    #[test]
    fn equation_3_with_the_numbers_of_the_catalogue() {
        let (default, high) = (sample(3000.0, 1.0), sample(2000.0, 2.0));
        assert!(prefer_high_bias(Message::put(124 * 64).size(), default, high));
        assert!(!prefer_high_bias(Message::put(125 * 64).size(), default, high));
        let (default, high) = (sample(7120.0, 1.0), sample(2000.0, 2.0));
        for bytes in [1, 4096, 1 << 20, 1 << 40] {
            assert!(prefer_high_bias(Message::put(bytes).size(), default, high), "{bytes} bytes with r = 5120");
        }
    }

    #[test]
    fn equation_3_holds_where_equation_4_does_not() {
        let size = Message::put(1 << 20).size();
        // Better in both: equation 4 would divide by a negative number, and say no.
        assert!(prefer_high_bias(size, sample(3000.0, 2.0), sample(2000.0, 1.0)));
        // Worse in both: equation 4 would say no for another reason.
        assert!(!prefer_high_bias(size, sample(2000.0, 1.0), sample(3000.0, 2.0)));
        // Equal stalls: equation 4 would divide by zero.
        assert!(prefer_high_bias(size, sample(3000.0, 1.0), sample(2000.0, 1.0)));
        assert!(!prefer_high_bias(size, sample(2000.0, 1.0), sample(2000.0, 1.0)));
    }

    proptest! {
        #[test]
        fn a_message_never_prefers_both_modes(
            bytes: u64, l in 0.0..1e30, s in 0.0..1e30, other_l in 0.0..1e30, other_s in 0.0..1e30,
        ) {
            let (size, a, b) = (Message::put(bytes).size(), sample(l, s), sample(other_l, other_s));
            prop_assert!(transmission_time(size, a, Some(OUTSTANDING)).is_finite());
            prop_assert!(!(prefer_high_bias(size, a, b) && prefer_high_bias(size, b, a)));
            prop_assert!(!prefer_high_bias(size, a, a));
        }

        #[test]
        fn equation_4_agrees_where_it_holds(
            packets in 1_u64..1 << 20, l in 1_u32..100_000, more_l in 0_u32..10_000, s in 0_u32..10, more_s in 1_u32..10,
        ) {
            let size = Size { packets, flits: 5 * packets };
            let default = sample(f64::from(l + more_l), f64::from(s));
            let high = sample(f64::from(l), f64::from(s + more_s));
            let limit = f64::from(more_l) / f64::from(more_s) * (packets as f64 + 512.0) / 1024.0;
            prop_assume!((size.flits as f64 - limit).abs() > 1e-3);
            prop_assert_eq!(prefer_high_bias(size, default, high), (size.flits as f64) < limit);
        }
    }
}
