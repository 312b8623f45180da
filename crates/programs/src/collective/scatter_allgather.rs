//! Blocks are scattered down a binomial tree, then gathered by all ranks in a ring (van de Geijn; MPICH for long
//! messages).
//!
//! Block v belongs to the rank v places after the root. In the tree (see `binomial.rs`) a message carries the blocks of
//! a subtree. The ring is that of `ring.rs`. It brings every block to every rank, also to ranks that passed the block
//! on in the tree.
//!
//! Messages: n - 1 in the tree, n (n - 1) in the ring. Bytes: (n - 1) B in the ring, and k B / 2 in the tree if n =
//! 2^k. Time: ranks enter the ring at different times, so there is no closed form. With n = 2^k, n | B, the lower bound
//! is `sum over i = 1 .. k of (o_s + M(B / 2^i) + o_r)`, until the last block has reached its rank, `+ (n - 1) (o_s +
//! M(B / n) + o_r)`, until it has passed around the ring. The upper bound is `(n - 1) o_r` more.

use super::binomial::Tree;
use super::cycle::Cycle;
use super::piece::Piece;
use super::ring;
use super::step::{Algorithm, CollectiveStep};

/// A broadcast.
#[derive(Clone, Copy, Debug)]
pub struct ScatterAllgather {
    tree: Tree,
}

impl ScatterAllgather {
    pub(super) fn new(ranks: u32, root: u32) -> Self {
        Self { tree: Tree { cycle: Cycle { ranks }, root } }
    }

    /// Steps of a rank until it has passed on the blocks of others.
    pub(super) fn scatter_steps(&self, rank: u32) -> u64 {
        let number = self.tree.number(rank);
        u64::from(self.tree.children(number) + u32::from(number > 0))
    }

    pub(super) fn tree(&self) -> Tree {
        self.tree
    }

    fn subtree(&self, number: u32) -> Piece {
        Piece::Blocks { first: number, count: self.tree.size(number) }
    }
}

impl Algorithm for ScatterAllgather {
    fn steps(&self, rank: u32) -> u64 {
        self.scatter_steps(rank) + u64::from(self.tree.cycle.ranks - 1)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let tree = self.tree;
        let number = tree.number(rank);
        let scatter = self.scatter_steps(rank);
        match index {
            0 if number > 0 => CollectiveStep::new().copy(tree.rank(tree.parent(number)), 0, self.subtree(number)),
            index if index < scatter => {
                let child = number + (1 << (scatter - 1 - index));
                CollectiveStep::new().send(tree.rank(child), 0, self.subtree(child))
            }
            index => {
                let step = (index - scatter) as u32;
                let label = u64::from(step) + 1;
                let (sent, received) = ring::gathered(tree.cycle, number, step);
                let [before, after] = [tree.cycle.before(rank, 1), tree.cycle.after(rank, 1)];
                CollectiveStep::new().copy(before, label, received).send(after, label, sent)
            }
        }
    }

    /// One of the root's first two messages is the largest: the second one covers the ranks that the first one leaves.
    fn largest(&self) -> u32 {
        let half = 1 << self.tree.cycle.doublings().saturating_sub(1);
        (self.tree.cycle.ranks - half).max(half / 2).max(1)
    }
}
