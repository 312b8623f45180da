//! When threads share the windows, and when one thread plays all partitions in turn.

use std::time::{Duration, Instant};

/// What decides by the number of events.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Events of a window for each thread below which the window is sparse.
    pub sparse: u64,
    /// Windows in a row that are sparse, or dense, before the threads stop, or start.
    pub stretch: u32,
    /// How long the rate of either is measured, and the windows between two readings of the clock.
    span: Duration,
    read_every: u32,
}

impl Pace {
    /// Handling the events of a sparse window takes less time than two exchanges between threads. A stretch is long enough
    /// that starting threads, some 50 microseconds, costs little beside the windows that they share. (The span is assumed:
    /// some times that for which a system lets another process run.)
    pub const MEASURED: Self = Self { sparse: 24, stretch: 256, span: Duration::from_millis(25), read_every: 16 };
    /// Threads stop and start every few windows: for tests.
    pub const CHANGING: Self = Self { sparse: 2, stretch: 3, span: Duration::ZERO, read_every: 2 };
}

/// By how much threads must be faster than one thread, in percent: they take more of the processors (assumed).
const MARGIN: u64 = 10;
/// Spans before the slower way is tried again: at first, and at most. It doubles. (Assumed.)
const FIRST_PAUSE: u32 = 16;
const LAST_PAUSE: u32 = 1024;

/// Whether threads or one thread take less time, by how many events they handled in a span each. On a host with other
/// work, threads wait for each other while one has no processor. The time only decides who works; the results are the
/// same.
#[derive(Debug)]
pub struct Contest {
    pace: Pace,
    begin: Instant,
    /// Events at the begin of this span.
    events: u64,
    /// Windows in which the clock is not read.
    unread: u32,
    /// Events a second of one thread and of threads, if known.
    rates: [Option<u64>; 2],
    /// Spans until the other way is tried again.
    left: u32,
    pause: u32,
}

impl Contest {
    /// Nothing is known.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            begin: Instant::now(),
            events: 0,
            unread: 0,
            rates: [None; 2],
            left: FIRST_PAUSE,
            pause: FIRST_PAUSE,
        }
    }

    /// Threads have stopped or started, after so many events. If the windows have become sparse or dense, nothing is known
    /// of them.
    pub fn change(&mut self, events: u64, by_windows: bool) {
        (self.begin, self.events, self.unread) = (Instant::now(), events, 0);
        if by_windows {
            (self.rates, self.left, self.pause) = ([None; 2], FIRST_PAUSE, FIRST_PAUSE);
        }
    }

    /// After a window, and so many events: whether threads should stop, or start if they do not play.
    pub fn wants_change(&mut self, events: u64, threads_play: bool) -> bool {
        self.unread += 1;
        if self.unread < self.pace.read_every {
            return false;
        }
        self.unread = 0;
        let took = self.begin.elapsed();
        took >= self.pace.span && {
            let rate = events.saturating_sub(self.events).saturating_mul(1_000_000) / (took.as_micros() as u64).max(1);
            (self.begin, self.events) = (Instant::now(), events);
            self.judge(rate, threads_play)
        }
    }

    /// A span has ended with this rate.
    fn judge(&mut self, rate: u64, threads_play: bool) -> bool {
        let (own, other) = (usize::from(threads_play), usize::from(!threads_play));
        self.rates[own] = Some(rate);
        let Some(of_other) = self.rates[other] else { return true };
        let [one, threads] = if threads_play { [of_other, rate] } else { [rate, of_other] };
        let threads_are_faster = threads.saturating_mul(100) > one.saturating_mul(100 + MARGIN);
        if threads_are_faster != threads_play {
            return true;
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return false;
        }
        self.pause = (2 * self.pause).min(LAST_PAUSE);
        self.left = self.pause;
        self.rates[other] = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many spans threads play, which handle so many events where one thread handles 100.
    fn shared(threads: u64, spans: u32) -> u32 {
        let mut contest = Contest::new(Pace::MEASURED);
        let (mut threads_play, mut shared) = (true, 0);
        for _ in 0..spans {
            shared += u32::from(threads_play);
            threads_play ^= contest.judge(if threads_play { threads } else { 100 }, threads_play);
        }
        shared
    }

    /// Catches threads that go on where they are slower, and one thread that goes on where it is slower.
    #[test]
    fn the_faster_way_gets_nearly_all_spans() {
        for (threads, least, most) in [(5, 1, 10), (100, 1, 10), (105, 1, 10), (130, 990, 999), (200, 990, 999)] {
            let shared = shared(threads, 1000);
            assert!((least..=most).contains(&shared), "{shared} of 1000 spans with a rate of {threads}");
        }
    }

    /// Catches a way that is never tried again: the host may become quiet, or busy.
    #[test]
    fn the_other_way_is_tried_again() {
        let mut contest = Contest::new(Pace::MEASURED);
        let mut threads_play = true;
        for span in 0..2000 {
            let rate = if !threads_play {
                100
            } else if span < 200 {
                10
            } else {
                190
            };
            threads_play ^= contest.judge(rate, threads_play);
            if span == 199 {
                assert!(!threads_play);
            }
        }
        assert!(threads_play, "the host has become quiet");
    }
}
