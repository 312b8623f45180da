//! Distances 1, 2, 4, ... for any number of ranks (Bruck et al. 1997).
//!
//! *All-gather*: in step k (from 0) rank r has blocks r to r + 2^k - 1. It sends them to r - 2^k and receives the next
//! blocks from r + 2^k; in the last step, only as many as are missing. ceil(log2 n) messages per rank; n (n - 1) B
//! bytes. Time: `sum over k of (o_s + M(min(2^k, n - 2^k) B) + o_r)`.
//!
//! *All-to-all*: in step k rank r sends to r + 2^k all data whose distance to its destination has bit k set: c(k)
//! pairs, where c(k) is the number of j < n with bit k set. (By then, data for distance j has travelled j mod 2^k
//! ranks.) ceil(log2 n) messages per rank. Time: `sum over k of (o_s + M(c(k) B) + o_r)`.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-gather.
#[derive(Clone, Copy, Debug)]
pub struct BruckAllgather {
    cycle: Cycle,
}

impl BruckAllgather {
    pub(super) fn new(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks } }
    }
}

impl Algorithm for BruckAllgather {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.doublings())
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let distance = 1 << index;
        let count = distance.min(self.cycle.ranks - distance);
        let [before, after] = [self.cycle.before(rank, distance), self.cycle.after(rank, distance)];
        let [own, theirs] = [rank, after].map(|first| Piece::Blocks { first, count });
        CollectiveStep::new().copy(after, index, theirs).send(before, index, own)
    }

    /// The largest message is the last one, or the one before, which is never shortened.
    fn largest(&self) -> u32 {
        let last = 1 << self.cycle.doublings().saturating_sub(1);
        (self.cycle.ranks - last).max(last / 2).max(1)
    }
}

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct BruckAlltoall {
    cycle: Cycle,
}

impl BruckAlltoall {
    pub(super) fn new(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks } }
    }

    fn hops(&self, at: u32, bit: u32) -> Piece {
        Piece::Hops { at, bit, ranks: self.cycle.ranks }
    }
}

impl Algorithm for BruckAlltoall {
    fn steps(&self, _: u32) -> u64 {
        u64::from(self.cycle.doublings())
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (bit, distance) = (index as u32, 1 << index);
        let [before, after] = [self.cycle.before(rank, distance), self.cycle.after(rank, distance)];
        CollectiveStep::new().copy(before, index, self.hops(before, bit)).send(after, index, self.hops(rank, bit))
    }

    fn largest(&self) -> u32 {
        (0..self.cycle.doublings()).map(|bit| self.hops(0, bit).range().1).max().unwrap_or(0)
    }
}
