//! Bursts of a job: when its ranks pause (docs/model.md, section 7).

use super::random::{Source, Stream, below, exponential, lognormal, pareto};
use crate::spec::{BurstSpec, JobSpec, LONGEST_BURST_PS, Length};

/// The lengths of a job's bursts and pauses, which are the same for all its ranks.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    lengths: BurstSpec,
    source: Source,
    component: u64,
}

/// The present burst of a rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    /// A rank that would begin at this time or later pauses first.
    end: u64,
    number: u64,
}

impl Bursts {
    /// The bursts of a job, if it has any.
    #[must_use]
    pub fn of(job: &JobSpec, seed: u64) -> Option<Self> {
        job.bursts.map(|lengths| Self::new(lengths, seed, job.nodes[0]))
    }

    /// Bursts of these lengths of a job whose rank 0 is on `node`.
    #[must_use]
    pub const fn new(lengths: BurstSpec, seed: u64, node: u32) -> Self {
        Self { lengths, source: Source::new(seed, Stream::Burst), component: node as u64 }
    }

    /// The first burst of a rank that starts at `start`.
    #[must_use]
    pub fn first(&self, start: u64) -> Burst {
        Burst { end: start.saturating_add(self.on(0)), number: 0 }
    }

    /// When a rank begins that would begin at `at`, with the pause that may come first.
    #[must_use]
    pub fn begin(&self, burst: &mut Burst, at: u64) -> u64 {
        if at < burst.end {
            return at;
        }
        let begin = at.saturating_add(self.off(burst.number));
        burst.number += 1;
        burst.end = begin.saturating_add(self.on(burst.number));
        begin
    }

    /// Length of a burst, in picoseconds.
    #[must_use]
    pub fn on(&self, number: u64) -> u64 {
        length(&self.lengths.on, self.source.random(self.component, 2 * number))
    }

    /// Length of the pause after a burst, in picoseconds.
    #[must_use]
    pub fn off(&self, number: u64) -> u64 {
        length(&self.lengths.off, self.source.random(self.component, 2 * number + 1))
    }
}

/// A length drawn with a random number.
fn length(of: &Length, random: u64) -> u64 {
    let drawn = match *of {
        Length::Fixed { ps } => ps,
        Length::Exponential { mean_ps } => exponential(random, mean_ps),
        Length::Uniform { least_ps, most_ps } => least_ps + below(random, most_ps - least_ps + 1),
        Length::Lognormal { mean_ps, sigma_millionths } => lognormal(random, mean_ps, sigma_millionths),
        Length::Pareto { mean_ps, shape_millionths } => pareto(random, mean_ps, shape_millionths),
    };
    drawn.clamp(1, LONGEST_BURST_PS)
}
