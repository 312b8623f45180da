//! The state of a connection, and what a send does to it.

use odonata_decision::{Message, Mode, Policy};

use crate::counters::{Reading, between};
use crate::settings::Config;

/// A message whose counters are asked for.
#[derive(Clone, Debug)]
struct Pending {
    mode: Mode,
    before: Reading,
    /// Acknowledged bytes when all of it has arrived.
    until: u64,
}

/// A TCP connection with its policy.
#[derive(Clone, Debug)]
pub struct Connection {
    policy: Policy,
    pending: Option<Pending>,
    mode: Mode,
}

/// What a send did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
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

    /// The mode for the next `bytes`, given what `TCP_INFO` says now. Changes nothing: the kernel may refuse them.
    ///
    /// A decision holds until its message is acknowledged: TCP sends in order, so another path within a round trip
    /// would only reorder segments, and its counters would be those of both paths.
    pub fn next(&self, bytes: u64, now: &Reading, config: &Config) -> Mode {
        let mut trial = self.clone();
        if trial.settle(now, config).is_none() { self.mode } else { trial.policy.select(Message::put(bytes)).mode }
    }

    /// The kernel took `bytes` with a mode; `now` is what `TCP_INFO` said before.
    pub fn sent(&mut self, mode: Mode, bytes: u64, now: &Reading, config: &Config) -> Step {
        let changed = mode != self.mode;
        self.mode = mode;
        let Some(observed) = self.settle(now, config) else { return Step { changed, observed: false } };
        if self.policy.select(Message::put(bytes)).observe {
            self.pending = Some(Pending { mode, before: *now, until: now.bytes_written.saturating_add(bytes) });
        }
        Step { changed, observed }
    }

    /// Whether the policy received counters; `None` if the last decision holds.
    fn settle(&mut self, now: &Reading, config: &Config) -> Option<bool> {
        let Some(pending) = &self.pending else { return Some(false) };
        if now.bytes_acked < pending.until {
            return None;
        }
        self.policy.observe(pending.mode, between(&pending.before, now, config.rate_mbit));
        self.pending = None;
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledged(bytes: u64, rtt_us: u32) -> Reading {
        let segments = (bytes / 1000) as u32;
        Reading { bytes_acked: bytes, bytes_written: bytes, segments, rtt_us, delivery_rate: 0 }
    }

    /// A send of which the kernel takes everything.
    fn send(connection: &mut Connection, bytes: u64, now: &Reading) -> (Mode, Step) {
        let config = Config::default();
        let mode = connection.next(bytes, now, &config);
        (mode, connection.sent(mode, bytes, now, &config))
    }

    fn new() -> Connection {
        Connection::new(&Config::default()).expect("the defaults are valid")
    }

    #[test]
    fn a_decision_holds_until_its_message_is_acknowledged() {
        let mut connection = new();
        // The first message is decided: nothing is known, so it uses the default.
        let first = send(&mut connection, 64_000, &acknowledged(0, 100));
        assert_eq!(first, (Mode::Adaptive, Step { changed: true, observed: false }));
        // It is not yet acknowledged.
        let held = send(&mut connection, 64_000, &acknowledged(63_000, 100));
        assert_eq!(held, (Mode::Adaptive, Step { changed: false, observed: false }));
        // Now it is: a latency without stalls, so high bias is worth a try.
        let second = send(&mut connection, 64_000, &acknowledged(64_000, 100));
        assert_eq!(second, (Mode::HighBias, Step { changed: true, observed: true }));
    }

    #[test]
    fn bytes_that_wait_in_the_buffer_belong_to_messages_before() {
        let mut connection = new();
        let waiting = Reading { bytes_written: 100_000, ..acknowledged(10_000, 100) };
        send(&mut connection, 5000, &waiting);
        assert!(!send(&mut connection, 5000, &acknowledged(104_999, 100)).1.observed);
        assert!(send(&mut connection, 5000, &acknowledged(105_000, 100)).1.observed);
    }

    #[test]
    fn small_messages_use_high_bias() {
        let mut connection = new();
        for _ in 0..4 {
            let step = send(&mut connection, 1024, &acknowledged(0, 0));
            assert_eq!(step, (Mode::HighBias, Step { changed: false, observed: false }));
        }
    }

    #[test]
    fn only_bytes_that_the_kernel_took_are_waited_for() {
        let config = Config::default();
        let mut connection = new();
        let mode = connection.next(8 << 30, &acknowledged(0, 100), &config);
        connection.sent(mode, 200_000, &acknowledged(0, 100), &config);
        assert!(!send(&mut connection, 64_000, &acknowledged(199_999, 100)).1.observed);
        assert!(send(&mut connection, 64_000, &acknowledged(200_000, 100)).1.observed);
    }

    #[test]
    fn a_send_that_the_kernel_refused_leaves_no_trace() {
        let config = Config::default();
        let mut connection = new();
        for _ in 0..9 {
            assert_eq!(connection.next(64_000, &acknowledged(0, 100), &config), Mode::Adaptive);
        }
        assert!(send(&mut connection, 64_000, &acknowledged(0, 100)).1.changed);
    }
}
