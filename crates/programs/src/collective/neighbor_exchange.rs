//! Ranks exchange blocks with their two neighbours in turn (Chen et al., "Performance evaluation of allgather algorithms on
//! terascale Linux cluster with fast Ethernet", HPC Asia 2005; Open MPI).
//!
//! The number of ranks n is even. Ranks 2 p and 2 p + 1 are pair p. In step 0 the ranks of a pair exchange their blocks.
//! In step s, even ranks exchange with the rank before them if s is odd and with the rank after them if not, and odd ranks
//! with the other one. They send the two blocks that they received in the step before; in step 1 those of their pair. So
//! an even rank of pair p receives the blocks of pair p - 1 in step 1, of p + 1 in step 2, of p - 2 in step 3, and so on.
//!
//! Messages: n^2 / 2; bytes: n (n - 1) B. Time: `(o_s + M(B) + o_r) + (n / 2 - 1) (o_s + M(2 B) + o_r)`.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-gather on an even number of ranks.
#[derive(Clone, Copy, Debug)]
pub struct NeighborExchange {
    ranks: u32,
}

impl NeighborExchange {
    pub(super) fn new(ranks: u32) -> Self {
        debug_assert!(ranks.is_multiple_of(2));
        Self { ranks }
    }

    /// The pair whose blocks a rank has received in a step, or has from step 0.
    fn received(self, rank: u32, step: u32) -> u32 {
        let (pairs, pair) = (Cycle { ranks: self.ranks / 2 }, rank / 2);
        let distance = step.div_ceil(2);
        let backwards = rank.is_multiple_of(2) != step.is_multiple_of(2);
        if backwards { pairs.before(pair, distance) } else { pairs.after(pair, distance) }
    }
}

impl Algorithm for NeighborExchange {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.ranks / 2)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let step = index as u32;
        if step == 0 {
            let peer = rank ^ 1;
            return CollectiveStep::new().copy(peer, 0, Piece::block(peer)).send(peer, 0, Piece::block(rank));
        }
        let cycle = Cycle { ranks: self.ranks };
        let after = rank.is_multiple_of(2) == step.is_multiple_of(2);
        let peer = if after { cycle.after(rank, 1) } else { cycle.before(rank, 1) };
        let blocks = |pair: u32| Piece::Blocks { first: 2 * pair, count: 2 };
        let (received, sent) = (self.received(rank, step), self.received(rank, step - 1));
        CollectiveStep::new().copy(peer, index, blocks(received)).send(peer, index, blocks(sent))
    }

    fn largest(&self) -> u32 {
        2.min(self.ranks / 2)
    }
}
