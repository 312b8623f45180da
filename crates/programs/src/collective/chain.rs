//! From rank to rank.
//!
//! Number v is the rank v places after the root. It receives from v - 1 and sends to v + 1, and each send blocks. (The
//! chain and the pipeline of Open MPI, without segments.)
//!
//! Messages: n - 1 of B bytes. Time: `(n - 1) (o_s + M(B) + o_r)`.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    cycle: Cycle,
    root: u32,
}

impl Chain {
    pub(super) fn new(ranks: u32, root: u32) -> Self {
        Self { cycle: Cycle { ranks }, root }
    }
}

impl Algorithm for Chain {
    fn steps(&self, rank: u32) -> u64 {
        let number = self.cycle.before(rank, self.root);
        u64::from(number > 0) + u64::from(number + 1 < self.cycle.ranks)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let whole = Piece::block(0);
        if index == 0 && rank != self.root {
            return CollectiveStep::new().copy(self.cycle.before(rank, 1), 0, whole);
        }
        CollectiveStep::new().send(self.cycle.after(rank, 1), 0, whole)
    }
}
