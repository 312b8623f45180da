//! One channel of an all-reduce over nodes with several ranks: a ring that visits the nodes one after the other, and the
//! ranks of each node in order from the rank with number `first` on.
//!
//! NCCL runs several such rings side by side, each with a part of the vector and each by another NIC of the nodes. Rank
//! `g k + (p + first) mod g` of node k, for nodes of g ranks, is number `g k + p` of the ring; the rest is as in
//! [`ring`](super::ring). So the ring leaves each node at the rank before `first` and enters it at `first`.

use super::ring::Ring;
use super::step::{Algorithm, CollectiveStep};

/// An all-reduce around a ring that begins at another rank of each node.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    ring: Ring,
    per_node: u32,
    first: u32,
}

impl Channel {
    /// Of so many ranks, which are whole nodes of `per_node` ranks; `first` is below that number.
    pub(super) fn new(ranks: u32, per_node: u32, first: u32) -> Self {
        Self { ring: Ring::allreduce(ranks), per_node, first }
    }

    /// The number of a rank in the ring.
    fn number(&self, rank: u32) -> u32 {
        let local = rank % self.per_node;
        let moved = if local >= self.first { local - self.first } else { local + (self.per_node - self.first) };
        rank - local + moved
    }

    /// The rank with a number in the ring.
    fn rank(&self, number: u32) -> u32 {
        let local = number % self.per_node;
        let left = self.per_node - self.first;
        number - local + if local < left { local + self.first } else { local - left }
    }
}

impl Algorithm for Channel {
    fn steps(&self, rank: u32) -> u64 {
        self.ring.steps(rank)
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        self.ring.messages_of_a_block()
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        self.ring.step(self.number(rank), index).among(|number| self.rank(number))
    }
}
