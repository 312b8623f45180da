//! Every rank exchanges with every other rank, one at a time.
//!
//! Step c (from 1) has a *shift* of c: rank r receives from r - c and sends to r + c, and waits for both (SST's
//! all-to-all). If the number of ranks is a power of two, the all-to-all by *pairs* exchanges with r xor c instead.
//!
//! *All-to-all*: n (n - 1) messages of B bytes. Time: `(n - 1) (o_s + M(B) + o_r)`.
//!
//! *Reduce-scatter*: rank r sends block r + c of its vector, and adds what it receives to block r (MPICH for long
//! messages). n (n - 1) messages; (n - 1) B bytes. Time, if n | B: `(n - 1) (o_s + M(B / n) + o_r)`.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct PairwiseAlltoall {
    cycle: Cycle,
    xor: bool,
}

impl PairwiseAlltoall {
    /// By shifts.
    pub(super) fn shifts(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, xor: false }
    }

    /// By pairs, if the number of ranks is a power of two.
    pub(super) fn pairs(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, xor: ranks.is_power_of_two() }
    }
}

impl Algorithm for PairwiseAlltoall {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.ranks - 1)
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(self.cycle.pairs())
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(self.cycle.ranks > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let by = index as u32 + 1;
        let (from, to) = match self.xor {
            true => (rank ^ by, rank ^ by),
            false => (self.cycle.before(rank, by), self.cycle.after(rank, by)),
        };
        CollectiveStep::new().copy(from, 0, Piece::Pair { from, to: rank }).send(to, 0, Piece::Pair { from: rank, to })
    }
}

/// A reduce-scatter.
#[derive(Clone, Copy, Debug)]
pub struct PairwiseReduceScatter {
    cycle: Cycle,
}

impl PairwiseReduceScatter {
    pub(super) fn new(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks } }
    }
}

impl Algorithm for PairwiseReduceScatter {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.ranks - 1)
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(self.cycle.pairs())
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(self.cycle.ranks > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let by = index as u32 + 1;
        let [from, to] = [self.cycle.before(rank, by), self.cycle.after(rank, by)];
        CollectiveStep::new().combine(from, 0, Piece::block(rank)).send(to, 0, Piece::block(to))
    }
}
