//! Every rank begins the exchange with every other rank at once.
//!
//! A rank begins a receive and a send for each other rank, in order of the ranks from 0, and then waits for all of
//! them (`MPI_Isend` and `MPI_Irecv` in a loop, then one `MPI_Waitall`). So all ranks begin with rank 0, then all send
//! to rank 1, and so on. (The linear all-to-all of Open MPI also begins everything at once, but rank r posts all its
//! receives first, from r + 1 upwards, and then sends from r - 1 downwards.)
//!
//! n (n - 1) messages of B bytes. Time: at least `(n - 1) (o_s + o_r)`, the work of one CPU.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    ranks: u32,
}

impl Linear {
    pub(super) fn new(ranks: u32) -> Self {
        Self { ranks }
    }
}

impl Algorithm for Linear {
    fn steps(&self, _: u32) -> u64 {
        if self.ranks == 1 { 0 } else { self.ranks.into() }
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(Cycle { ranks: self.ranks }.pairs())
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(self.ranks > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let place = index as u32;
        if place + 1 == self.ranks {
            return CollectiveStep::new();
        }
        let peer = place + u32::from(place >= rank);
        CollectiveStep::new()
            .copy(peer, 0, Piece::Pair { from: peer, to: rank })
            .send(peer, 0, Piece::Pair { from: rank, to: peer })
            .open()
    }
}
