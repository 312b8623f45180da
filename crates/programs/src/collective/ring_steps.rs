//! Some steps of a collective around a ring, for runs that need not simulate all of them.
//!
//! Step `s` of a reduce-scatter or an all-gather is that of a [`channel`](super::channel), and after the last of these
//! the first follows again. An all-reduce makes a step of its reduce-scatter and one of its all-gather in turn, so that
//! any even number of steps has as much to combine in the mean as the whole.
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
    /// The rings whose steps it makes in turn.
    rings: Vec<Channel>,
    ranks: u32,
    steps: u64,
}

impl RingSteps {
    /// Of so many ranks, which are whole nodes.
    pub(super) fn new(ranks: u32, work: RingWork, order: &NodeOrder, steps: u64) -> Self {
        let works = match work {
            RingWork::Allreduce => &[RingWork::ReduceScatter, RingWork::Allgather][..],
            RingWork::ReduceScatter | RingWork::Allgather => &[work],
        };
        let rings = works.iter().map(|&work| Channel::new(ranks, work, order.clone())).collect();
        Self { rings, ranks, steps: if ranks > 1 { steps } else { 0 } }
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
        let count = self.rings.len() as u64;
        let round = u64::from(self.ranks - 1);
        self.rings[(index % count) as usize].step(rank, index / count % round).labelled(index)
    }
}
