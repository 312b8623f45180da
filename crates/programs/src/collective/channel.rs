//! One channel of a collective over nodes with several ranks: a ring that visits the nodes one after the other, and the
//! ranks of each node in an order of its own.
//!
//! NCCL runs several such rings side by side, each with a part of the vector, each by another NIC of the nodes and by
//! other links inside them. Number `g k + p` of the ring is the p-th of the order in node k, for nodes of g ranks; the
//! rest is as in [`ring`](super::ring), with the blocks of the ranks that these numbers stand for. So the ring enters
//! each node at the first rank of the order and leaves it at the last.

use std::ops::Range;

use super::order::NodeOrder;
use super::ring::Ring;
use super::step::{Algorithm, CollectiveStep};
use crate::RingWork;

/// A collective around a ring in another order.
#[derive(Clone, Debug)]
pub struct Channel {
    ring: Ring,
    order: NodeOrder,
}

impl Channel {
    /// Of so many ranks, which are whole nodes.
    pub(super) fn new(ranks: u32, work: RingWork, order: NodeOrder) -> Self {
        let ring = match work {
            RingWork::Allreduce => Ring::allreduce(ranks),
            RingWork::ReduceScatter => Ring::reduce_scatter(ranks),
            RingWork::Allgather => Ring::allgather(ranks),
        };
        Self { ring, order }
    }

    /// The number of a rank in the ring.
    fn number(&self, rank: u32) -> u32 {
        rank - rank % self.order.per_node() + self.order.place(rank)
    }

    /// The rank with a number in the ring.
    fn rank(&self, number: u32) -> u32 {
        self.order.at(number, number % self.order.per_node())
    }
}

impl Algorithm for Channel {
    fn steps(&self, rank: u32) -> u64 {
        self.ring.steps(rank)
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        self.ring.messages_of_a_block()
    }

    fn labels(&self) -> Option<Range<u64>> {
        self.ring.labels()
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        self.ring.step(self.number(rank), index).among(|number| self.rank(number))
    }
}
