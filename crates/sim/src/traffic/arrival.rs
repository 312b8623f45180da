//! The times at which a rank begins its intervals.

use crate::engine::random::{Source, Stream, below, exponential};
use crate::spec::{Arrival, First, Traffic};

/// The times of a job's intervals.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    interval: u64,
    arrival: Arrival,
    first: First,
    gaps: Source,
    phases: Source,
}

impl Clock {
    /// The clock of a job.
    #[must_use]
    pub fn new(traffic: &Traffic, seed: u64) -> Self {
        Self {
            interval: traffic.interval_ps,
            arrival: traffic.arrival,
            first: traffic.first,
            gaps: Source::new(seed, Stream::Gap),
            phases: Source::new(seed, Stream::Phase),
        }
    }

    /// An unused clock, for a job without intervals.
    #[must_use]
    pub fn stopped() -> Self {
        let (arrival, first) = (Arrival::Poisson {}, First::AtZero);
        let (gaps, phases) = (Source::new(0, Stream::Gap), Source::new(0, Stream::Phase));
        Self { interval: u64::MAX, arrival, first, gaps, phases }
    }

    /// Time between interval `k - 1` and interval `k` of the rank on `node`, in picoseconds; at least 1.
    #[inline]
    #[must_use]
    pub fn gap(&self, node: u32, k: u32) -> u64 {
        let random = || self.gaps.random(u64::from(node), u64::from(k));
        match self.arrival {
            Arrival::Poisson {} => exponential(random(), self.interval).max(1),
            Arrival::Constant { jitter_ps: 0 } | Arrival::Staggered { jitter_ps: 0 } => self.interval,
            Arrival::Constant { jitter_ps } | Arrival::Staggered { jitter_ps } => {
                self.interval + exponential(random(), jitter_ps)
            }
        }
    }

    /// When the rank on `node` begins interval 0.
    #[must_use]
    pub fn start(&self, node: u32) -> u64 {
        let phase = match self.arrival {
            Arrival::Staggered { .. } => below(self.phases.random(u64::from(node), 0), self.interval),
            Arrival::Constant { .. } | Arrival::Poisson {} => 0,
        };
        phase
            + match self.first {
                First::AfterInterval => self.gap(node, 0),
                First::AtZero => 0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Pattern;

    fn clock(interval_ps: u64, arrival: Arrival, seed: u64) -> Clock {
        let (pattern, first) = (Pattern::UniformRandom {}, First::AtZero);
        Clock::new(&Traffic { pattern, message_bytes: 1, interval_ps, intervals: None, arrival, first }, seed)
    }

    fn gaps(arrival: Arrival) -> Vec<u64> {
        let clock = clock(1_000_000, arrival, 9);
        (0..20_000).map(|k| clock.gap(4, k)).collect()
    }

    #[test]
    fn constant_keeps_step_with_a_jitter_of_its_mean() {
        assert!(gaps(Arrival::Constant { jitter_ps: 0 }).iter().all(|&g| g == 1_000_000));
        let jittered = gaps(Arrival::Constant { jitter_ps: 1_000 });
        let mean = jittered.iter().sum::<u64>() as f64 / jittered.len() as f64;
        assert!(jittered.iter().all(|&g| g >= 1_000_000) && (mean - 1_001_000.0).abs() < 30.0, "{mean}");
    }

    #[test]
    fn poisson_has_the_mean_and_the_spread_of_an_exponential() {
        let g = gaps(Arrival::Poisson {});
        let mean = g.iter().sum::<u64>() as f64 / g.len() as f64;
        let below_mean = g.iter().filter(|&&x| x < 1_000_000).count() as f64 / g.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.03 && (below_mean - 0.632).abs() < 0.01, "{mean} {below_mean}");
    }

    #[test]
    fn staggered_starts_anywhere_in_the_interval() {
        let clock = clock(1000, Arrival::Staggered { jitter_ps: 0 }, 1);
        let starts: Vec<u64> = (0..2000).map(|node| clock.start(node)).collect();
        assert!(starts.iter().all(|&s| s < 1000));
        assert!(starts.iter().filter(|&&s| s < 500).count().abs_diff(1000) < 100);
    }
}
