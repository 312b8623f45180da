//! Along a binomial tree.
//!
//! Number v of the tree is the rank v places after the root. Its children are the ranks v + 2^j, for every 2^j below
//! the lowest set bit of v (any j for the root). The subtree of v + 2^j has the 2^j numbers from v + 2^j on, as far as
//! they are ranks. Down, a rank sends to its most distant child first, and each send blocks. Up, it receives from its
//! nearest child first. (MPICH.)
//!
//! Messages: n - 1 of B bytes. Time for n = 2^k ranks: `k (o_s + M(B) + o_r)`, either way. Down on any number of ranks,
//! with eager messages: the latest over numbers v of the sum over j: `o_s + M(B) + o_r` if bit j of v is set; `o_s` if
//! not, but only while j is above the lowest set bit of v, and there is a rank (bits of v above j) + 2^j.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// The shape of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub cycle: Cycle,
    pub root: u32,
}

impl Tree {
    pub fn number(self, rank: u32) -> u32 {
        self.cycle.before(rank, self.root)
    }

    pub fn rank(self, number: u32) -> u32 {
        self.cycle.after(number, self.root)
    }

    /// The parent of a number other than 0.
    pub fn parent(self, number: u32) -> u32 {
        number & (number - 1)
    }

    /// The number of children, which are at distances 1, 2, 4, ...
    pub fn children(self, number: u32) -> u32 {
        // trailing_zeros() of the root is 32, which is no limit.
        Cycle { ranks: self.cycle.ranks - number }.doublings().min(number.trailing_zeros())
    }

    /// Numbers in the subtree of `number`.
    pub fn size(self, number: u32) -> u32 {
        let left = self.cycle.ranks - number;
        if number == 0 { left } else { left.min(1 << number.trailing_zeros()) }
    }
}

/// A broadcast (down) or a reduction (up).
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    tree: Tree,
    up: bool,
}

impl Binomial {
    /// The broadcast from the root.
    pub(super) fn down(ranks: u32, root: u32) -> Self {
        Self { tree: Tree { cycle: Cycle { ranks }, root }, up: false }
    }

    /// The reduction to the root.
    pub(super) fn up(ranks: u32, root: u32) -> Self {
        Self { up: true, ..Self::down(ranks, root) }
    }
}

impl Algorithm for Binomial {
    fn steps(&self, rank: u32) -> u64 {
        let number = self.tree.number(rank);
        u64::from(self.tree.children(number)) + u64::from(number > 0)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (number, whole) = (self.tree.number(rank), Piece::block(0));
        let child = |j: u32| self.tree.rank(number + (1 << j));
        let parent = || self.tree.rank(self.tree.parent(number));
        let (children, index) = (self.tree.children(number), index as u32);
        match (self.up, index) {
            (true, j) if j < children => CollectiveStep::new().combine(child(j), 0, whole),
            (true, _) => CollectiveStep::new().send(parent(), 0, whole),
            (false, 0) if number > 0 => CollectiveStep::new().copy(parent(), 0, whole),
            (false, _) => CollectiveStep::new().send(child(children + u32::from(number > 0) - 1 - index), 0, whole),
        }
    }
}
