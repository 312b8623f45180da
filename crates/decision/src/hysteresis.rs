//! Algorithm 1 that does not oscillate (our own variant; D27 describes the oscillation of the published one).
//!
//! The published algorithm compares the last sample of each side. So noise flips it, and so does its own effect: the
//! first messages after a change still meet the queues of the side before. This variant
//!
//! - stays on a side for `dwell` messages and ignores the samples of the first half of them;
//! - compares means, in which a new sample has a weight of 1/4;
//! - changes to a side whose mean it knows only if the model saves at least `margin` of the time (an estimate needs no
//!   margin, because only a trial can correct it);
//! - trusts the mean of a side that it left early for twice as long as before, up to 8 times `sample_age`.
//!
//! All these numbers are assumed.

use crate::app_aware::{Factors, Sides};
use crate::model::time;
use crate::{Sample, Settings, Side, Size};

/// Weight of a new sample in a mean.
const WEIGHT: f64 = 0.25;
/// How much longer than `sample_age` a mean is trusted at most.
const LONGEST: u64 = 8;

/// What is known about a side.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The mean, and the number of decisions before its last sample.
    mean: Option<(Sample, u64)>,
    /// For how many decisions the mean is trusted.
    trusted: u64,
}

/// Algorithm 1 with hysteresis.
#[derive(Clone, Debug)]
pub(crate) struct Hysteresis {
    current: Side,
    known: Sides<Known>,
    factors: Factors,
    margin: f64,
    dwell: u64,
    sample_age: u64,
    decisions: u64,
    /// The decision that last changed the side.
    changed: u64,
    /// Samples of the current side since then.
    samples: u64,
}

impl Hysteresis {
    pub fn new(settings: &Settings) -> Self {
        let sample_age = settings.sample_age.into();
        Self {
            current: Side::Default,
            known: Sides([Known { mean: None, trusted: sample_age }; 2]),
            factors: Factors::new(settings),
            margin: settings.margin,
            dwell: settings.dwell.into(),
            sample_age,
            decisions: 0,
            changed: 0,
            samples: 0,
        }
    }

    /// A side's mean, unless it is too old.
    fn fresh(&self, side: Side) -> Option<Sample> {
        let known = self.known.of(side);
        let (mean, when) = known.mean?;
        (self.decisions - when <= known.trusted).then_some(mean)
    }

    pub fn decide(&mut self, size: Size) -> Side {
        self.decisions += 1;
        let stayed = self.decisions - self.changed;
        if self.samples < self.dwell {
            return self.current;
        }
        let Some(here) = self.fresh(self.current) else { return self.current };
        let other = self.current.other();
        let (there, margin) = match self.fresh(other) {
            Some(there) => (there, self.margin),
            None => (self.factors.estimate(self.current, here), 0.0),
        };
        if time(size, there) < (1.0 - margin) * time(size, here) {
            let (sample_age, left) = (self.sample_age, self.known.of_mut(self.current));
            let longest = sample_age.saturating_mul(LONGEST);
            left.trusted = if stayed <= sample_age { left.trusted.saturating_mul(2).min(longest) } else { sample_age };
            self.current = other;
            (self.changed, self.samples) = (self.decisions, 0);
        }
        self.current
    }

    pub fn observe(&mut self, side: Side, sample: Sample) {
        // A message that was sent before the last change says nothing about the side since then.
        if side != self.current {
            return;
        }
        self.samples += 1;
        let ignored = self.dwell / 2;
        if self.samples <= ignored {
            return;
        }
        let before = if self.samples == ignored + 1 { None } else { self.known.of(side).mean };
        let mean = before.map_or(sample, |(mean, _)| mix(mean, sample));
        self.known.of_mut(side).mean = Some((mean, self.decisions));
        if self.samples == self.dwell.max(1)
            && let (Some(default), Some(high_bias)) = (self.fresh(Side::Default), self.fresh(Side::HighBias))
        {
            self.factors.learn(default, high_bias);
        }
    }

    pub fn factors(&self) -> (f64, f64) {
        self.factors.values()
    }
}

/// The mean after a new sample.
fn mix(mean: Sample, sample: Sample) -> Sample {
    let mix = |old: f64, new: f64| old + WEIGHT * (new - old);
    Sample::clamped(mix(mean.latency(), sample.latency()), mix(mean.stalls(), sample.stalls()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    const SIZE: Size = Message::put(5000).size();

    /// A sample without latency: the time of a message is proportional to `stalls + 1`.
    fn stalls(stalls: f64) -> Sample {
        Sample::new(0.0, stalls).expect("valid")
    }

    /// One that found two stalls with the default and now tries high bias, which is estimated to halve them.
    fn trying(dwell: u32) -> Hysteresis {
        let mut tried = Hysteresis::new(&Settings { sigma: 0.5, dwell, ..Settings::default() });
        for _ in 0..dwell.max(1) {
            assert_eq!(tried.decide(SIZE), Side::Default);
            tried.observe(Side::Default, stalls(2.0));
        }
        assert_eq!(tried.decide(SIZE), Side::HighBias);
        tried
    }

    #[test]
    fn a_change_to_a_known_side_must_save_the_margin() {
        // The default takes 3; 5 % less than 3.1 is 2.945, and than 3.2 it is 3.04.
        for (high_bias, expected) in [(2.1, Side::HighBias), (2.2, Side::Default)] {
            let mut tried = trying(0);
            tried.observe(Side::HighBias, stalls(high_bias));
            assert_eq!(tried.decide(SIZE), expected, "{high_bias} stalls");
        }
    }

    #[test]
    fn samples_right_after_a_change_are_ignored() {
        let mut tried = trying(8);
        for found in [50.0, 50.0, 50.0, 50.0, 1.0, 1.0, 1.0, 1.0] {
            tried.observe(Side::HighBias, stalls(found));
            assert_eq!(tried.decide(SIZE), Side::HighBias);
        }
        assert_eq!(tried.known.of(Side::HighBias).mean.map(|(mean, _)| mean), Some(stalls(1.0)));
    }

    #[test]
    fn a_side_is_kept_for_the_dwell() {
        let mut tried = trying(8);
        for _ in 0..7 {
            tried.observe(Side::HighBias, stalls(50.0));
            assert_eq!(tried.decide(SIZE), Side::HighBias);
        }
        tried.observe(Side::HighBias, stalls(50.0));
        assert_eq!(tried.decide(SIZE), Side::Default);
    }

    #[test]
    fn a_side_that_was_left_early_is_tried_again_later_each_time() {
        let mut tried = trying(8);
        let mut waits = Vec::new();
        while waits.len() < 3 {
            let mut wait = 0;
            loop {
                let side = tried.decide(SIZE);
                wait += u64::from(side == Side::Default);
                if side == Side::HighBias && wait > 0 {
                    break;
                }
                tried.observe(side, stalls(if side == Side::Default { 2.0 } else { 2.5 }));
            }
            waits.push(wait);
            tried.observe(Side::HighBias, stalls(2.5));
        }
        assert_eq!(waits, [128, 256, 512]);
    }
}
