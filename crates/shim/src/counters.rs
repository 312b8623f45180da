//! From `TCP_INFO` to the counters of the component.
//!
//! | counter | from `TCP_INFO` |
//! |---|---|
//! | request packets | data segments that were sent (`tcpi_data_segs_out`) |
//! | request flits | acknowledged bytes (`tcpi_bytes_acked`), five for 64 bytes as on Aries |
//! | cumulative latency | smoothed round-trip time (`tcpi_rtt`) times the packets |
//! | stalled cycles | flits times (rate of a path / delivery rate (`tcpi_delivery_rate`) - 1), at least 0 |
//!
//! A cycle is the time of a flit at the rate of a path, which the user states.

use odonata_decision::{Counters, Message};

/// What `TCP_INFO` said at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Bytes that the receiver acknowledged.
    pub bytes_acked: u64,
    /// Bytes that the program handed over: sent once, and not yet sent.
    pub bytes_written: u64,
    /// Data segments, with those that were sent again.
    pub segments: u32,
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Rate at which data arrived lately, in bytes per second.
    pub delivery_rate: u64,
}

/// The counters of what happened between two readings.
pub fn between(before: &Reading, now: &Reading, rate_mbit: f64) -> Counters {
    let bytes = now.bytes_acked.saturating_sub(before.bytes_acked);
    let packets = u64::from(now.segments.wrapping_sub(before.segments));
    if bytes == 0 || packets == 0 {
        return Counters::default();
    }
    let request_flits = Message::put(bytes).size().flits;
    let bytes_per_s = rate_mbit * 1e6 / 8.0;
    let cycles_per_us = bytes_per_s * 1e-6 / (64.0 / 5.0);
    let stalls = if now.delivery_rate == 0 { 0.0 } else { (bytes_per_s / now.delivery_rate as f64 - 1.0).max(0.0) };
    // A conversion to an integer saturates.
    Counters {
        request_flits,
        stalled_cycles: (stalls * request_flits as f64) as u64,
        request_packets: packets,
        latency_cycles: (f64::from(now.rtt_us) * cycles_per_us * packets as f64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_at_its_rate_has_no_stalls() {
        // 100 Mbit/s are 12.5 bytes, or 0.9765625 flits, in a microsecond.
        let before = Reading { bytes_acked: 1000, segments: u32::MAX, ..Reading::default() };
        let now = Reading {
            bytes_acked: 65_000,
            segments: 63,
            rtt_us: 1024,
            delivery_rate: 12_500_000,
            ..Reading::default()
        };
        let expected = Counters { request_flits: 5000, stalled_cycles: 0, request_packets: 64, latency_cycles: 64_000 };
        assert_eq!(between(&before, &now, 100.0), expected);
        let slow = Reading { delivery_rate: 2_500_000, ..now };
        assert_eq!(between(&before, &slow, 100.0), Counters { stalled_cycles: 20_000, ..expected });
        let fast = Reading { delivery_rate: u64::MAX, ..now };
        assert_eq!(between(&before, &fast, 100.0), expected);
    }

    #[test]
    fn nothing_acknowledged_says_nothing() {
        let now = Reading { bytes_acked: 5, segments: 2, rtt_us: 9, ..Reading::default() };
        assert_eq!(between(&now, &now, 100.0).sample(), None);
        assert_eq!(between(&now, &Reading { segments: 3, ..now }, 100.0).sample(), None);
        assert_eq!(between(&now, &Reading { bytes_acked: 1, ..now }, 100.0).sample(), None);
    }
}
