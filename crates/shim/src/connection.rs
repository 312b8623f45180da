//! The state of a connection, and what a send does to it.

use odonata_decision::{Decision, Message, Mode, Policy};

use crate::counters::{Reading, between};
use crate::settings::Config;

/// A message whose counters are asked for.
#[derive(Debug)]
struct Pending {
    mode: Mode,
    before: Reading,
    /// Acknowledged bytes when all of it has arrived.
    until: u64,
}

/// A TCP connection with its policy.
#[derive(Debug)]
pub struct Connection {
    policy: Policy,
    pending: Option<Pending>,
    mode: Mode,
}

/// What a send did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The mode of the bytes from here on.
    pub mode: Mode,
    /// Whether the mode is another one than before.
    pub changed: bool,
    /// Whether the policy received counters.
    pub observed: bool,
}

impl Connection {
    /// A connection on which nothing was sent. The settings were checked when they were read.
    pub fn new(config: &Config) -> Option<Self> {
        let policy = Policy::new(config.kind, &config.numbers).ok()?;
        Some(Self { policy, pending: None, mode: Mode::HighBias })
    }

    /// The mode for the next `bytes`, given what `TCP_INFO` says now.
    ///
    /// A decision holds until its message is acknowledged: TCP sends in order, so another path within a round trip
    /// would only reorder segments, and its counters would be those of both paths.
    pub fn send(&mut self, bytes: u64, now: &Reading, config: &Config) -> Step {
        let mut step = Step { mode: self.mode, changed: false, observed: false };
        if let Some(pending) = self.pending.take() {
            if now.bytes_acked < pending.until {
                self.pending = Some(pending);
                return step;
            }
            self.policy.observe(pending.mode, between(&pending.before, now, config.rate_mbit));
            step.observed = true;
        }
        let Decision { mode, observe } = self.policy.select(Message::put(bytes));
        if observe {
            self.pending = Some(Pending { mode, before: *now, until: now.bytes_written.saturating_add(bytes) });
        }
        step.changed = mode != self.mode;
        step.mode = mode;
        self.mode = mode;
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledged(bytes: u64, rtt_us: u32) -> Reading {
        let segments = (bytes / 1000) as u32;
        Reading { bytes_acked: bytes, bytes_written: bytes, segments, rtt_us, delivery_rate: 0 }
    }

    #[test]
    fn a_decision_holds_until_its_message_is_acknowledged() {
        let config = Config::default();
        let mut connection = Connection::new(&config).expect("the defaults are valid");
        // The first message is decided: nothing is known, so it uses the default.
        let first = connection.send(64_000, &acknowledged(0, 100), &config);
        assert_eq!(first, Step { mode: Mode::Adaptive, changed: true, observed: false });
        // It is not yet acknowledged.
        let held = connection.send(64_000, &acknowledged(63_000, 100), &config);
        assert_eq!(held, Step { mode: Mode::Adaptive, changed: false, observed: false });
        // Now it is: a latency without stalls, so high bias is worth a try.
        let second = connection.send(64_000, &acknowledged(64_000, 100), &config);
        assert_eq!(second, Step { mode: Mode::HighBias, changed: true, observed: true });
    }

    #[test]
    fn bytes_that_wait_in_the_buffer_belong_to_messages_before() {
        let config = Config::default();
        let mut connection = Connection::new(&config).expect("the defaults are valid");
        let waiting = Reading { bytes_written: 100_000, ..acknowledged(10_000, 100) };
        connection.send(5000, &waiting, &config);
        assert!(!connection.send(5000, &acknowledged(104_999, 100), &config).observed);
        assert!(connection.send(5000, &acknowledged(105_000, 100), &config).observed);
    }

    #[test]
    fn small_messages_use_high_bias() {
        let config = Config::default();
        let mut connection = Connection::new(&config).expect("the defaults are valid");
        for _ in 0..4 {
            let step = connection.send(1024, &acknowledged(0, 0), &config);
            assert_eq!(step, Step { mode: Mode::HighBias, changed: false, observed: false });
        }
    }
}
