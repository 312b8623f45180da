//! Down a k-nomial tree with k = 4: a binomial tree with three children where that has one.
//!
//! Number v of the tree is the rank v places after the root. Its children are the ranks v + d 4^j, d = 1 .. 3, for every
//! 4^j below the lowest digit of v in base 4 that is not 0 (any j for the root). A rank sends to its most distant children
//! first, of the same j in ascending order of d, and each send blocks. (Open MPI, whose default radix is 4.)
//!
//! Messages: n - 1 of B bytes. Time for n = 4^k ranks with eager messages: `k (2 o_s + o_s + M(B) + o_r)`, to the third
//! child of each level.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// Bits of a digit.
const BITS: u32 = 2;
/// Children with the same j.
const SIBLINGS: u32 = (1 << BITS) - 1;

/// A broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Knomial {
    cycle: Cycle,
    root: u32,
}

impl Knomial {
    pub(super) fn new(ranks: u32, root: u32) -> Self {
        Self { cycle: Cycle { ranks }, root }
    }

    /// The place of the lowest digit of a number that is not 0, or more than any place.
    fn lowest(number: u32) -> u32 {
        number.trailing_zeros() / BITS
    }

    /// The largest j of the children of a number and how many it has with it, if it has children.
    fn most_distant(self, number: u32) -> Option<(u32, u32)> {
        let left = self.cycle.ranks - number - 1;
        if left == 0 || Self::lowest(number) == 0 {
            return None;
        }
        let place = (left.ilog2() / BITS).min(Self::lowest(number) - 1);
        Some((place, (left >> (BITS * place)).min(SIBLINGS)))
    }

    fn children(self, number: u32) -> u32 {
        self.most_distant(number).map_or(0, |(place, count)| place * SIBLINGS + count)
    }

    /// The child to which a number sends as the `index`-th.
    fn child(self, number: u32, index: u32) -> u32 {
        let (place, count) = self.most_distant(number).expect("it has children");
        let (below, sibling) = match index.checked_sub(count) {
            None => (0, index),
            Some(later) => (1 + later / SIBLINGS, later % SIBLINGS),
        };
        number + ((sibling + 1) << (BITS * (place - below)))
    }
}

impl Algorithm for Knomial {
    fn steps(&self, rank: u32) -> u64 {
        let number = self.cycle.before(rank, self.root);
        u64::from(self.children(number)) + u64::from(number > 0)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (number, whole) = (self.cycle.before(rank, self.root), Piece::block(0));
        let rank_of = |number: u32| self.cycle.after(number, self.root);
        match index as u32 {
            0 if number > 0 => {
                let digit = BITS * Self::lowest(number);
                let parent = number >> digit >> BITS << BITS << digit;
                CollectiveStep::new().copy(rank_of(parent), 0, whole)
            }
            index => {
                let child = self.child(number, index - u32::from(number > 0));
                CollectiveStep::new().send(rank_of(child), 0, whole)
            }
        }
    }
}
