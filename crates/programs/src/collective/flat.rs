//! The root sends to every other rank.
//!
//! It begins all sends, in ascending order from the rank after it, and then waits for all of them (as rank 0 of Kang
//! 2019 does).
//!
//! Messages: n - 1 of B bytes. Time: `(n - 1) o_s + M(B) + o_r`.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    cycle: Cycle,
    root: u32,
}

impl Flat {
    pub(super) fn new(ranks: u32, root: u32) -> Self {
        Self { cycle: Cycle { ranks }, root }
    }
}

impl Algorithm for Flat {
    fn steps(&self, rank: u32) -> u64 {
        match self.cycle.ranks {
            1 => 0,
            ranks if rank == self.root => u64::from(ranks),
            _ => 1,
        }
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (whole, done) = (Piece::block(0), index as u32 + 1);
        if rank != self.root {
            CollectiveStep::new().copy(self.root, 0, whole)
        } else if done < self.cycle.ranks {
            CollectiveStep::new().send(self.cycle.after(rank, done), 0, whole).open()
        } else {
            CollectiveStep::new()
        }
    }
}
