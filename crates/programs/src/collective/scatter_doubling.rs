//! Blocks are scattered down a binomial tree, then gathered by all ranks by recursive doubling (MPICH for messages of
//! medium size and 2^k ranks).
//!
//! The scatter is that of `scatter_allgather.rs`: block v belongs to the rank v places after the root. In step s (from 0)
//! of the all-gather, number v exchanges with number v xor 2^s the 2^s blocks that each of them has. The number of ranks
//! is a power of two.
//!
//! Messages: n - 1 in the tree, n k after it. Bytes: k B / 2 in the tree, (n - 1) B after it. Time if n | B: `sum over i =
//! 1 .. k of 2 (o_s + M(B / 2^i) + o_r)`.

use super::piece::Piece;
use super::scatter_allgather::ScatterAllgather;
use super::step::{Algorithm, CollectiveStep};

/// A broadcast on 2^k ranks.
#[derive(Clone, Copy, Debug)]
pub struct ScatterDoubling {
    scatter: ScatterAllgather,
    bits: u32,
}

impl ScatterDoubling {
    pub(super) fn new(ranks: u32, root: u32) -> Self {
        debug_assert!(ranks.is_power_of_two());
        Self { scatter: ScatterAllgather::new(ranks, root), bits: ranks.ilog2() }
    }
}

impl Algorithm for ScatterDoubling {
    fn steps(&self, rank: u32) -> u64 {
        self.scatter.scatter_steps(rank) + u64::from(self.bits)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let Some(step) = index.checked_sub(self.scatter.scatter_steps(rank)) else {
            return self.scatter.step(rank, index);
        };
        let tree = self.scatter.tree();
        let number = tree.number(rank);
        let blocks = |number: u32| Piece::Blocks { first: number >> step << step, count: 1 << step };
        let (other, label) = (number ^ (1 << step), step + 1);
        let peer = tree.rank(other);
        CollectiveStep::new().copy(peer, label, blocks(other)).send(peer, label, blocks(number))
    }

    fn largest(&self) -> u32 {
        1 << self.bits.saturating_sub(1)
    }
}
