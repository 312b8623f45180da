//! What the library of the authors does: `awr`, which De Sensi 2019 publishes with the paper (D14, D15).
//!
//! It differs from Algorithm 1 on paper. Its numbers are constants of its source, and so they are here: only the
//! threshold can be set there (`AWR_CUTOFF`).
//!
//! | state | known about the other side | flits f against the limit | next state |
//! |---|---|---|---|
//! | default | remembered, else L / 1.2 and 5 s | f < a (L_ad - L_hb) / (s_hb - s_ad) | high bias |
//! | default | | else | default |
//! | high bias | remembered, else 1.2 L and s / 5 | f > a (L_ad - L_hb) / (s_hb - s_ad) | default |
//! | high bias | | else | high bias |
//!
//! The library does not look at the sign of `s_hb - s_ad`. So it divides by zero if there are no stalls: the limit is then
//! infinite or no number, and no number is never less or greater.

use crate::app_aware::Sides;
use crate::message::PACKET_BYTES;
use crate::{Message, Operation, Sample, Side};

/// Latency with the default mode, divided by that with high bias, where it is not remembered.
const LATENCY_FACTOR: f64 = 1.2;
/// Stalls with high bias, divided by those with the default mode, where they are not remembered.
const STALL_FACTOR: f64 = 5.0;
/// What a count of decisions starts at when a sample is remembered. A decision in the other state lowers it before it
/// looks whether it is above 0, so four decisions in a row can use the sample.
const REMEMBERED: u32 = 5;

/// A sample of a side.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    sample: Option<Sample>,
    /// Decisions in the other state for which it may be used, plus one.
    left: u32,
    /// Where the message of the decision went, and its bytes.
    to: (u64, u64),
}

/// The state of the library.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    /// The side of the last decision.
    state: Side,
    /// The side of the last message.
    last: Side,
    /// What the last reading told.
    read: Option<Sample>,
    remembered: Sides<Remembered>,
    threshold_bytes: u64,
    /// Bytes since the last decision.
    bytes_to_decide: u64,
    /// Bytes since the last reading.
    bytes_to_read: u64,
}

impl Library {
    pub fn new(threshold_bytes: u64) -> Self {
        Self {
            state: Side::Default,
            last: Side::Default,
            read: None,
            remembered: Sides::default(),
            threshold_bytes,
            bytes_to_decide: 0,
            bytes_to_read: 0,
        }
    }

    /// The side of the next message, and whether the counters are read right after it was posted.
    pub fn select(&mut self, message: Message) -> (Side, bool) {
        if message.control {
            self.last = Side::HighBias;
            return (Side::HighBias, false);
        }
        self.bytes_to_decide = self.bytes_to_decide.saturating_add(message.bytes);
        if self.bytes_to_decide <= self.threshold_bytes {
            self.last = Side::HighBias;
        } else if let Some(here) = self.read {
            self.bytes_to_decide = 0;
            self.state = self.decide(message, here);
            self.last = self.state;
        }
        self.bytes_to_read = self.bytes_to_read.saturating_add(message.bytes);
        let reads = self.bytes_to_read > self.threshold_bytes;
        if reads {
            self.bytes_to_read = 0;
        }
        (self.last, reads)
    }

    fn decide(&mut self, message: Message, here: Sample) -> Side {
        let (side, to) = (self.state, (message.peer, message.bytes));
        *self.remembered.of_mut(side) = Remembered { sample: Some(here), left: REMEMBERED, to };
        let other = self.remembered.of_mut(side.other());
        other.left = other.left.saturating_sub(1);
        let (latency, stalls) = match (other.sample, side) {
            (Some(sample), _) if other.left > 0 && other.to == to => (sample.latency(), sample.stalls()),
            (_, Side::HighBias) => (LATENCY_FACTOR * here.latency(), here.stalls() / STALL_FACTOR),
            (_, Side::Default) => (here.latency() / LATENCY_FACTOR, STALL_FACTOR * here.stalls()),
        };
        let flits = flits(message);
        let weight = latency_weight(message.bytes);
        match side {
            Side::HighBias if flits > weight * (latency - here.latency()) / (here.stalls() - stalls) => Side::Default,
            Side::Default if flits < weight * (here.latency() - latency) / (stalls - here.stalls()) => Side::HighBias,
            _ => side,
        }
    }

    /// What was counted between two readings.
    pub fn observe(&mut self, sample: Sample) {
        self.read = Some(sample);
    }
}

/// How often a message pays the latency: a(S) = ceil((p - 1 + 512) / 1024) for p packets.
fn latency_weight(bytes: u64) -> f64 {
    // Without packets, p - 1 + 512 is 511.
    (bytes.div_ceil(PACKET_BYTES) + 511).div_ceil(1024) as f64
}

/// Request flits: five for 64 bytes of a put, and a fifth of them for a get. They are not rounded.
fn flits(message: Message) -> f64 {
    let of_put = message.bytes as f64 * 5.0 / PACKET_BYTES as f64;
    match message.operation {
        Operation::Put => of_put,
        Operation::Get => of_put / 5.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 64 << 10;

    fn sample(latency: f64, stalls: f64) -> Sample {
        Sample::new(latency, stalls).expect("valid")
    }

    /// Decides for a message of 64 KiB (5,120 flits, a = 2) after a reading.
    fn next(library: &mut Library, peer: u64, latency: f64, stalls: f64) -> Side {
        library.observe(sample(latency, stalls));
        library.select(Message { peer, ..Message::put(SIZE) }).0
    }

    #[test]
    fn the_weight_of_the_latency_is_whole() {
        // 512 and 513 packets, 1,536 and 1,537: p - 1 + 512 passes 1,024 and 2,048.
        for (packets, weight) in [(0, 1.0), (1, 1.0), (512, 1.0), (513, 1.0), (514, 2.0), (1537, 2.0), (1538, 3.0)] {
            assert_eq!(latency_weight(64 * packets), weight, "{packets} packets");
        }
        assert_eq!(latency_weight(1), 1.0);
    }

    #[test]
    fn a_get_has_a_fifth_of_the_flits() {
        assert_eq!(flits(Message::put(100)), 7.8125);
        assert_eq!(flits(Message { operation: Operation::Get, ..Message::put(100) }), 1.5625);
    }

    #[test]
    fn without_a_memory_the_factors_decide() {
        // From the default: f = 5120 < 2 (L - L/1.2) / (4 s) = L / (12 s), for s = 0.1 at L = 6,144.
        assert_eq!(next(&mut Library::new(0), 0, 6100.0, 0.1), Side::Default);
        assert_eq!(next(&mut Library::new(0), 0, 6200.0, 0.1), Side::HighBias);
        // From high bias: f > 2 (0.2 L) / (0.8 s) = L / (2 s), for s = 1 at L = 10,240.
        for (latency, side) in [(10_200.0, Side::Default), (10_300.0, Side::HighBias)] {
            let mut library = Library { state: Side::HighBias, ..Library::new(0) };
            assert_eq!(next(&mut library, 0, latency, 1.0), side);
        }
    }

    #[test]
    fn a_division_by_zero_is_not_guarded() {
        // No stalls: a latency divided by zero is infinite, so high bias is taken, and kept.
        let mut library = Library::new(0);
        assert_eq!(next(&mut library, 0, 1000.0, 0.0), Side::HighBias);
        assert_eq!(next(&mut library, 1, 1000.0, 0.0), Side::HighBias);
        // Neither latency nor stalls: the limit is no number.
        assert_eq!(next(&mut Library::new(0), 0, 0.0, 0.0), Side::Default);
        // High bias is remembered to be better in both: the limit is negative, so the default stays.
        let mut library = Library { state: Side::HighBias, ..Library::new(0) };
        assert_eq!(next(&mut library, 0, 1000.0, 1.0), Side::Default);
        assert_eq!(next(&mut library, 0, 2000.0, 2.0), Side::Default);
    }

    /// With a memory, the side of the other state is known for four decisions.
    #[test]
    fn a_sample_is_remembered_for_four_decisions_of_the_same_endpoint_and_size() {
        let decided = |decision: u32, peer: u64, bytes: u64| {
            let mut library = Library { state: Side::HighBias, ..Library::new(0) };
            assert_eq!(next(&mut library, 7, 20.0, 1.0), Side::Default);
            for _ in 1..decision {
                assert_eq!(next(&mut library, 7, 1000.0, 0.9), Side::Default);
            }
            // High bias is remembered at L = 20 and s = 1; by the factors it would have 5 s.
            library.observe(sample(1000.0, 0.9));
            library.select(Message { peer, ..Message::put(bytes) }).0
        };
        // 19,600 = 2 (1000 - 20) / 0.1 is more than 5,120 flits.
        let mut library = Library { state: Side::HighBias, ..Library::new(0) };
        assert_eq!(next(&mut library, 7, 20.0, 1.0), Side::Default);
        assert_eq!(next(&mut library, 7, 1000.0, 0.9), Side::HighBias);
        // The factors say that the default stays.
        assert_eq!(decided(1, 8, SIZE), Side::Default, "another endpoint");
        assert_eq!(decided(1, 7, SIZE + 1), Side::Default, "another size");
    }

    #[test]
    fn the_fifth_decision_no_longer_knows_it() {
        for (between, expected) in [(3, Side::HighBias), (4, Side::Default)] {
            let mut library = Library { state: Side::HighBias, ..Library::new(0) };
            assert_eq!(next(&mut library, 7, 20.0, 1.0), Side::Default);
            for _ in 0..between {
                // Fewer stalls than high bias by 0.9: 2 (1000 - 20) / 0.9 is less than the flits.
                assert_eq!(next(&mut library, 7, 1000.0, 0.1), Side::Default);
            }
            assert_eq!(next(&mut library, 7, 1000.0, 0.9), expected, "after {between} decisions");
        }
    }

    #[test]
    fn bytes_add_up_apart_for_choosing_and_for_reading() {
        let mut library = Library::new(4096);
        let put = Message::put(3000);
        assert_eq!(library.select(put), (Side::HighBias, false));
        // Nothing is known: the mode of the message before. The bytes to decide go on adding up.
        assert_eq!(library.select(put), (Side::HighBias, true));
        library.observe(sample(1000.0, 1.0));
        assert_eq!(library.select(put), (Side::Default, false), "9,000 bytes decide, 3,000 do not read");
        assert_eq!(library.select(put), (Side::HighBias, true), "3,000 bytes do not decide, 6,000 read");
    }

    #[test]
    fn control_messages_use_high_bias_and_do_not_add_up() {
        let mut library = Library::new(4096);
        let control = Message { control: true, ..Message::put(1 << 20) };
        assert_eq!(Library::new(4096).select(Message::put(5000)), (Side::Default, true), "the first message");
        assert_eq!(library.select(control), (Side::HighBias, false));
        assert_eq!(library.select(Message::put(4096)), (Side::HighBias, false));
        assert_eq!(library.select(Message::put(1)), (Side::HighBias, true), "the mode of the message before");
    }
}
