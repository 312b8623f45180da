//! Blocks of the vector travel around a ring: rank r sends to r + 1 and receives from r - 1.
//!
//! To *reduce and scatter*, in step s (from 0) rank r sends its partial sum of block r - 1 - s and adds what it
//! receives to block r - 2 - s. After n - 1 steps block r is complete at rank r. To *gather*, in step s it sends block
//! r - s and receives block r - 1 - s. An all-reduce does one, then the other (Patarasuk and Yuan 2009).
//!
//! Messages: n (n - 1), in an all-reduce twice as many. Bytes: (n - 1) V where the vector has V bytes (all-gather: V =
//! n B), twice that in an all-reduce. Time, if n | V: `(n - 1) (o_s + M(V / n) + o_r)`, twice that in an all-reduce.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A reduce-scatter, an all-gather, or one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    cycle: Cycle,
    reduce: bool,
    gather: bool,
}

impl Ring {
    /// A reduce-scatter.
    pub(super) fn reduce_scatter(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, reduce: true, gather: false }
    }

    /// An all-gather.
    pub(super) fn allgather(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, reduce: false, gather: true }
    }

    /// An all-reduce.
    pub(super) fn allreduce(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, reduce: true, gather: true }
    }
}

/// The blocks that number `number` of a ring sends and receives in a step of gathering.
pub(super) fn gathered(cycle: Cycle, number: u32, step: u32) -> (Piece, Piece) {
    let sent = cycle.before(number, step);
    (Piece::block(sent), Piece::block(cycle.before(sent, 1)))
}

impl Algorithm for Ring {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.ranks - 1) * (u64::from(self.reduce) + u64::from(self.gather))
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(self.cycle.pairs() * (u64::from(self.reduce) + u64::from(self.gather)))
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..self.steps(0))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let [before, after] = [self.cycle.before(rank, 1), self.cycle.after(rank, 1)];
        let round = u64::from(self.cycle.ranks - 1);
        let step = (index % round) as u32;
        if self.reduce && index < round {
            // As the rank before does when it gathers.
            let (sent, received) = gathered(self.cycle, before, step);
            CollectiveStep::new().combine(before, index, received).send(after, index, sent)
        } else {
            let (sent, received) = gathered(self.cycle, rank, step);
            CollectiveStep::new().copy(before, index, received).send(after, index, sent)
        }
    }
}
