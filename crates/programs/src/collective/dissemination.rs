//! A barrier by dissemination (Hensgen, Finkel and Manber 1988): in step k (from 0) rank r signals r + 2^k and waits
//! for the signal of r - 2^k.
//!
//! Messages: ceil(log2 n) per rank, of 0 bytes. Time: `ceil(log2 n) (o_s + M(0) + o_r)`.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A barrier.
#[derive(Clone, Copy, Debug)]
pub struct Dissemination {
    cycle: Cycle,
}

impl Dissemination {
    pub(super) fn new(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks } }
    }
}

impl Algorithm for Dissemination {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.doublings())
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let distance = 1 << index;
        let [before, after] = [self.cycle.before(rank, distance), self.cycle.after(rank, distance)];
        CollectiveStep::new().copy(before, index, Piece::NOTHING).send(after, index, Piece::NOTHING)
    }
}
