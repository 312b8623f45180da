//! A bandit that explores: Thompson sampling with discounted observations and normal posteriors.
//!
//! For each side it keeps the discounted mean and variance of latency and stalls. For each message it draws a latency
//! and stalls for both sides from normal distributions around the means, with the standard errors of the means. It
//! chooses the side whose draw takes less time by equation 2. A side that is not used loses observations by discounting,
//! its standard error grows, and it is tried again.
//!
//! Source: Qi, Wang and Zhu 2023, Discounted Thompson Sampling for Non-Stationary Bandit Problems (arXiv 2305.10718).
//! Assumed: the rewards are times of equation 2, so that messages of different sizes share what is known; the discount
//! is `1 - 1 / sample_age`; a standard deviation is at least 10 % of the mean.

use crate::app_aware::Sides;
use crate::model::faster;
use crate::random::normal;
use crate::{Sample, Settings, Side, Size};

/// The least standard deviation, as a share of the mean.
const LEAST_SPREAD: f64 = 0.1;
/// The least discounted number of observations: it limits the standard error to eight standard deviations.
const LEAST_COUNT: f64 = 1.0 / 64.0;

/// Discounted sums of one quantity.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    squares: f64,
}

impl Sums {
    fn discount(&mut self, by: f64) {
        self.sum *= by;
        self.squares *= by;
    }

    fn add(&mut self, x: f64) {
        self.sum += x;
        self.squares += x * x;
    }

    /// A draw from the posterior of the mean of `count` observations.
    fn draw(self, count: f64, normal: f64) -> f64 {
        let mean = self.sum / count;
        let spread = (self.squares / count - mean * mean).max(0.0).sqrt().max(LEAST_SPREAD * mean);
        mean + normal * spread / count.max(LEAST_COUNT).sqrt()
    }
}

/// Discounted observations of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    count: f64,
    latency: Sums,
    stalls: Sums,
}

/// The bandit.
#[derive(Clone, Debug)]
pub(crate) struct Bandit {
    arms: Sides<Arm>,
    discount: f64,
    seed: u64,
    stream: u64,
    decisions: u64,
}

impl Bandit {
    pub fn new(settings: &Settings) -> Self {
        Self {
            arms: Sides::default(),
            discount: 1.0 - 1.0 / f64::from(settings.sample_age.max(1)),
            seed: settings.seed,
            stream: settings.stream,
            decisions: 0,
        }
    }

    pub fn decide(&mut self, size: Size) -> Side {
        let counter = self.decisions.wrapping_mul(4);
        self.decisions = self.decisions.wrapping_add(1);
        // A side that was never seen, or whose observations are forgotten, is tried.
        for side in [Side::Default, Side::HighBias] {
            if self.arms.of(side).count < f64::MIN_POSITIVE {
                return side;
            }
        }
        let draw = |side: Side| {
            let arm = self.arms.of(side);
            let normal = |k: u64| normal(self.seed, self.stream, counter.wrapping_add(2 * side as u64 + k));
            Sample::clamped(arm.latency.draw(arm.count, normal(0)), arm.stalls.draw(arm.count, normal(1)))
        };
        if faster(size, draw(Side::HighBias), draw(Side::Default)) { Side::HighBias } else { Side::Default }
    }

    pub fn observe(&mut self, side: Side, sample: Sample) {
        for arm in &mut self.arms.0 {
            arm.count *= self.discount;
            arm.latency.discount(self.discount);
            arm.stalls.discount(self.discount);
        }
        let arm = self.arms.of_mut(side);
        arm.count += 1.0;
        arm.latency.add(sample.latency());
        arm.stalls.add(sample.stalls());
    }
}
