//! Pairs exchange all that they have, at distances 1, 2, 4, ...
//!
//! With n = 2^b ranks, in step s (from 0) rank r exchanges with r xor 2^s. Other numbers of ranks are folded
//! (`fold.rs`).
//!
//! *All-reduce*: whole vectors are exchanged and combined. Outside ranks hand over their vector and get the result.
//! With e outside ranks: b 2^b + 2 e messages of B bytes. Time for n = 2^b: `b (o_s + M(B) + o_r)`.
//!
//! *All-gather*: ranks exchange the blocks that they have received from 2^s core ranks and the outside ranks that these
//! represent. Outside ranks hand over their block and get all others. The number of messages is the same; n (n - 1) B
//! bytes. Time for n = 2^b: `sum over s = 0 .. b - 1 of (o_s + M(2^s B) + o_r)`.

use super::fold::{Fold, Stage};
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-reduce.
#[derive(Clone, Copy, Debug)]
pub struct DoublingAllreduce {
    fold: Fold,
}

impl DoublingAllreduce {
    pub(super) fn new(ranks: u32) -> Self {
        Self { fold: Fold::new(ranks) }
    }
}

impl Algorithm for DoublingAllreduce {
    fn steps(&self, rank: u32) -> u64 {
        self.fold.steps(rank, self.fold.bits)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let whole = Piece::block(0);
        match self.fold.stage(rank, index, self.fold.bits) {
            Stage::In { other, outside: true } | Stage::Out { other, outside: false } => {
                CollectiveStep::new().send(other, 0, whole)
            }
            Stage::In { other, outside: false } => CollectiveStep::new().combine(other, 0, whole),
            Stage::Out { other, outside: true } => CollectiveStep::new().copy(other, 0, whole),
            Stage::Core { number, step } => {
                let peer = self.fold.rank(number ^ (1 << step));
                CollectiveStep::new().combine(peer, u64::from(step), whole).send(peer, u64::from(step), whole)
            }
        }
    }
}

/// An all-gather.
#[derive(Clone, Copy, Debug)]
pub struct DoublingAllgather {
    fold: Fold,
    ranks: u32,
}

impl DoublingAllgather {
    pub(super) fn new(ranks: u32) -> Self {
        Self { fold: Fold::new(ranks), ranks }
    }

    /// All blocks except that of an outside rank.
    fn but(&self, outside: u32) -> Piece {
        Piece::Blocks { first: outside + 1, count: self.ranks - 1 }
    }
}

impl Algorithm for DoublingAllgather {
    fn steps(&self, rank: u32) -> u64 {
        self.fold.steps(rank, self.fold.bits)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        match self.fold.stage(rank, index, self.fold.bits) {
            Stage::In { other, outside: true } => CollectiveStep::new().send(other, 0, Piece::block(rank)),
            Stage::In { other, outside: false } => CollectiveStep::new().copy(other, 0, Piece::block(other)),
            Stage::Core { number, step } => {
                let peer = number ^ (1 << step);
                let [own, theirs] = [number, peer].map(|core| self.fold.blocks(core >> step << step, 1 << step));
                let (peer, label) = (self.fold.rank(peer), u64::from(step));
                CollectiveStep::new().copy(peer, label, theirs).send(peer, label, own)
            }
            Stage::Out { other, outside: false } => CollectiveStep::new().send(other, 0, self.but(other)),
            Stage::Out { other, outside: true } => CollectiveStep::new().copy(other, 0, self.but(rank)),
        }
    }

    fn largest(&self) -> u32 {
        if self.ranks == self.fold.cores() { self.ranks.div_ceil(2) } else { self.ranks - 1 }
    }
}
