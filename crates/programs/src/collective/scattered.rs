//! Every rank begins the exchange with every other rank at once, with those at small distances first.
//!
//! For each distance c = 1 .. n - 1, rank r begins a receive from r + c and a send to r - c, and then it waits for all of
//! them. So no two ranks send to the same rank as their i-th. (The scattered all-to-all of MPICH, which waits after every 32
//! distances; the linear one of Open MPI, which posts all receives before its sends.)
//!
//! n (n - 1) messages of B bytes. Time: at least `(n - 1) (o_s + o_r)`, the work of one CPU.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    cycle: Cycle,
}

impl Scattered {
    pub(super) fn new(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks } }
    }
}

impl Algorithm for Scattered {
    fn steps(&self, _: u32) -> u64 {
        if self.cycle.ranks == 1 { 0 } else { self.cycle.ranks.into() }
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(self.cycle.pairs())
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(self.cycle.ranks > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let distance = index as u32 + 1;
        if distance == self.cycle.ranks {
            return CollectiveStep::new();
        }
        let [from, to] = [self.cycle.after(rank, distance), self.cycle.before(rank, distance)];
        CollectiveStep::new()
            .copy(from, 0, Piece::Pair { from, to: rank })
            .send(to, 0, Piece::Pair { from: rank, to })
            .open()
    }
}
