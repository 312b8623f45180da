//! Algorithm 1 of De Sensi 2019 as the paper describes it (D14), with equation 3 in place of equation 4 and factors that
//! are learned.
//!
//! The other side's latency and stalls are those of its last observation, or an estimate if that is too old:
//! `lambda L, sigma s` for high bias, and their inverse for the default (the branch that the paper calls similar).
//!
//! | state | what is known | the model prefers | next state |
//! |---|---|---|---|
//! | default | nothing about default | - | default |
//! | default | L, s of default | high bias | high bias |
//! | default | L, s of default | default, or equal | default |
//! | high bias | nothing about high bias | - | high bias |
//! | high bias | L, s of high bias | default | default |
//! | high bias | L, s of high bias | high bias, or equal | high bias |

use crate::model::faster;
use crate::ratio::Ratio;
use crate::{Sample, Settings, Side, Size};

/// The scaling factors from the default to high bias, learned from observations.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    lambda: Ratio,
    sigma: Ratio,
}

impl Factors {
    pub fn new(settings: &Settings) -> Self {
        Self { lambda: Ratio::new(settings.lambda), sigma: Ratio::new(settings.sigma) }
    }

    /// The other side's sample, from one of `side`.
    pub fn estimate(&self, side: Side, known: Sample) -> Sample {
        let (lambda, sigma) = (self.lambda.value(), self.sigma.value());
        match side {
            Side::Default => Sample::clamped(known.latency() * lambda, known.stalls() * sigma),
            Side::HighBias => Sample::clamped(known.latency() / lambda, known.stalls() / sigma),
        }
    }

    /// Takes in one sample of each side, which were observed one after the other.
    pub fn learn(&mut self, default: Sample, high_bias: Sample) {
        self.lambda.learn(high_bias.latency(), default.latency());
        self.sigma.learn(high_bias.stalls(), default.stalls());
    }

    pub fn values(&self) -> (f64, f64) {
        (self.lambda.value(), self.sigma.value())
    }
}

/// A pair of things, one for each side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sides<T>(pub [T; 2]);

impl<T> Sides<T> {
    pub fn of(&self, side: Side) -> &T {
        &self.0[side as usize]
    }

    pub fn of_mut(&mut self, side: Side) -> &mut T {
        &mut self.0[side as usize]
    }
}

/// The last observation of a side, and the number of decisions before it.
type Last = Option<(Sample, u64)>;

/// Algorithm 1.
#[derive(Clone, Debug)]
pub(crate) struct AppAware {
    current: Side,
    last: Sides<Last>,
    /// Whose sample came last.
    previous: Option<Side>,
    factors: Factors,
    sample_age: u64,
    decisions: u64,
}

impl AppAware {
    pub fn new(settings: &Settings) -> Self {
        Self {
            current: Side::Default,
            last: Sides::default(),
            previous: None,
            factors: Factors::new(settings),
            sample_age: settings.sample_age.into(),
            decisions: 0,
        }
    }

    /// A side's last observation, unless it is too old.
    fn fresh(&self, side: Side) -> Option<Sample> {
        let (sample, when) = (*self.last.of(side))?;
        (self.decisions - when <= self.sample_age).then_some(sample)
    }

    pub fn decide(&mut self, size: Size) -> Side {
        self.decisions += 1;
        if let Some(here) = self.fresh(self.current) {
            let there = self.fresh(self.current.other()).unwrap_or_else(|| self.factors.estimate(self.current, here));
            // Equation 3 for the default, and its dual for high bias: the other side takes less time.
            if faster(size, there, here) {
                self.current = self.current.other();
            }
        }
        self.current
    }

    pub fn observe(&mut self, side: Side, sample: Sample) {
        *self.last.of_mut(side) = Some((sample, self.decisions));
        // Two samples in a row from different sides met the same network, so their ratio says most about the sides.
        if self.previous == Some(side.other())
            && let (Some(default), Some(high_bias)) = (self.fresh(Side::Default), self.fresh(Side::HighBias))
        {
            self.factors.learn(default, high_bias);
        }
        self.previous = Some(side);
    }

    pub fn factors(&self) -> (f64, f64) {
        self.factors.values()
    }
}
