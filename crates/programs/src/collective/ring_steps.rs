//! Some steps of a collective around a ring, for runs that need not simulate all of them.
//!
//! Step `s` of a reduce-scatter or an all-gather is that of a [`channel`](super::channel), and after the last of these
//! the first follows again. An all-reduce makes the first half of its steps as a reduce-scatter, and the others, one more
//! if they are odd, as an all-gather: a step of the two need not take the same time.
//!
//! Messages: n S for S steps. Bytes: S V where the vector has V bytes (all-gather: V = n B).

use std::ops::Range;

use super::channel::Channel;
use super::order::NodeOrder;
use super::step::{Algorithm, CollectiveStep};
use crate::RingWork;

/// Steps around a ring.
#[derive(Clone, Debug)]
pub struct RingSteps {
    /// What it does first, and for how many steps.
    first: Option<(Channel, u64)>,
    /// What it does then.
    then: Channel,
    ranks: u32,
    steps: u64,
}

impl RingSteps {
    /// Of so many ranks, which are whole nodes.
    pub(super) fn new(ranks: u32, work: RingWork, order: &NodeOrder, steps: u64) -> Self {
        let channel = |work| Channel::new(ranks, work, order.clone());
        let steps = if ranks > 1 { steps } else { 0 };
        let (first, then) = match work {
            RingWork::Allreduce => (Some((channel(RingWork::ReduceScatter), steps / 2)), RingWork::Allgather),
            RingWork::ReduceScatter | RingWork::Allgather => (None, work),
        };
        Self { first, then: channel(then), ranks, steps }
    }
}

impl Algorithm for RingSteps {
    fn steps(&self, _: u32) -> u64 {
        self.steps
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        // Every rank sends in each step, each another block.
        Some(self.steps * u64::from(self.ranks))
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..self.steps)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let round = u64::from(self.ranks - 1);
        let (ring, at) = match &self.first {
            Some((ring, steps)) if index < *steps => (ring, index),
            Some((_, steps)) => (&self.then, index - steps),
            None => (&self.then, index),
        };
        ring.step(rank, at % round).labelled(index)
    }
}
