//! Pairs exchange halves of the vector.
//!
//! Numbers of ranks other than n = 2^b are folded (`fold.rs`): outside ranks hand over their whole vector.
//!
//! *Reduce-scatter*: in step s (from 0) core rank r exchanges with r xor 2^(b-1-s), at falling distances. Each rank
//! sends its part of the half that the other continues with: the blocks of the core ranks on that side, and of the
//! outside ranks that they represent. Outside ranks get their block in the end. With e outside ranks: b 2^b + 2 e
//! messages. Time for n = 2^b, n | B: `sum over i = 1 .. b of (o_s + M(B / 2^i) + o_r)`.
//!
//! *All-reduce* (Rabenseifner 2004): the vector has one block for each core rank. In step s core rank r exchanges
//! halves with r xor 2^s, at rising distances. Then the same pairs exchange the same blocks in reverse order, now
//! complete. Outside ranks get the whole result. 2 b 2^b + 2 e messages of 2 (2^b - 1) B + 2 e B bytes. Time for n =
//! 2^b, n | B: twice that of the reduce-scatter.

use super::fold::{Fold, Stage};
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A reduce-scatter.
#[derive(Clone, Copy, Debug)]
pub struct Halving {
    fold: Fold,
    ranks: u32,
}

impl Halving {
    pub(super) fn new(ranks: u32) -> Self {
        Self { fold: Fold::new(ranks), ranks }
    }
}

impl Algorithm for Halving {
    fn steps(&self, rank: u32) -> u64 {
        self.fold.steps(rank, self.fold.bits)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let whole = Piece::Blocks { first: 0, count: self.ranks };
        match self.fold.stage(rank, index, self.fold.bits) {
            Stage::In { other, outside: true } => CollectiveStep::new().send(other, 0, whole),
            Stage::In { other, outside: false } => CollectiveStep::new().combine(other, 0, whole),
            Stage::Core { number, step } => {
                let bit = self.fold.bits - 1 - step;
                let peer = number ^ (1 << bit);
                let [own, theirs] = [number, peer].map(|core| self.fold.blocks(core >> bit << bit, 1 << bit));
                let (peer, label) = (self.fold.rank(peer), u64::from(step));
                CollectiveStep::new().combine(peer, label, own).send(peer, label, theirs)
            }
            Stage::Out { other, outside: false } => CollectiveStep::new().send(other, 0, Piece::block(other)),
            Stage::Out { other, outside: true } => CollectiveStep::new().copy(other, 0, Piece::block(rank)),
        }
    }

    fn largest(&self) -> u32 {
        if self.ranks == self.fold.cores() { self.ranks.div_ceil(2) } else { self.ranks }
    }
}

/// An all-reduce.
#[derive(Clone, Copy, Debug)]
pub struct Rabenseifner {
    fold: Fold,
    ranks: u32,
}

impl Rabenseifner {
    pub(super) fn new(ranks: u32) -> Self {
        Self { fold: Fold::new(ranks), ranks }
    }

    /// Number of blocks that the vector is divided into.
    pub(super) fn parts(&self) -> u32 {
        self.fold.cores()
    }

    /// The part that core rank `number` continues with after step `step`: bit 0 of the number selects the half, bit 1
    /// the half of that half, ...
    fn kept(&self, number: u32, step: u32) -> Piece {
        let (bits, halvings) = (self.fold.bits, step + 1);
        let first = number.reverse_bits() >> (u32::BITS - halvings) << (bits - halvings);
        Piece::Blocks { first, count: 1 << (bits - halvings) }
    }
}

impl Algorithm for Rabenseifner {
    fn steps(&self, rank: u32) -> u64 {
        self.fold.steps(rank, 2 * self.fold.bits)
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let whole = Piece::Blocks { first: 0, count: self.parts() };
        let bits = self.fold.bits;
        match self.fold.stage(rank, index, 2 * bits) {
            Stage::In { other, outside: true } | Stage::Out { other, outside: false } => {
                CollectiveStep::new().send(other, 0, whole)
            }
            Stage::In { other, outside: false } => CollectiveStep::new().combine(other, 0, whole),
            Stage::Out { other, outside: true } => CollectiveStep::new().copy(other, 0, whole),
            Stage::Core { number, step } => {
                let halving = step < bits;
                let bit = if halving { step } else { 2 * bits - 1 - step };
                let [own, theirs] = [number, number ^ (1 << bit)].map(|core| self.kept(core, bit));
                let (peer, label) = (self.fold.rank(number ^ (1 << bit)), u64::from(step));
                if halving {
                    CollectiveStep::new().combine(peer, label, own).send(peer, label, theirs)
                } else {
                    CollectiveStep::new().copy(peer, label, theirs).send(peer, label, own)
                }
            }
        }
    }

    fn largest(&self) -> u32 {
        if self.ranks == self.parts() { self.parts().div_ceil(2) } else { self.parts() }
    }
}
