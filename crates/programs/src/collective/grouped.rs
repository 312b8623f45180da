//! Every rank begins the exchange with every other rank at once, node after node.
//!
//! There are n nodes of g ranks, each of which has a NIC of its own. For each distance d = 0 .. n - 1 of nodes, and for
//! each distance c = 0 .. g - 1 in a node, rank i of node k begins a receive from rank i - c of node k - d and a send to
//! rank i + c of node k + d; then it waits for all of them. So no two ranks send to the same rank as their i-th, also if
//! only messages between nodes are counted: those inside nodes come first, and they do not use NICs. (With the distances
//! of [`scattered`](super::scattered), all ranks of a node would send to the last rank of the node before at first, then
//! to the one before that: its messages inside nodes are done at once.) NCCL orders grouped messages like this
//! (src/init.cc, `ncclP2pSchedule`; there distances are in another order).
//!
//! n g (n g - 1) messages of B bytes. Time: at least `(n g - 1) (o_s + o_r)`, the work of one CPU.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct Grouped {
    nodes: Cycle,
    node: Cycle,
}

impl Grouped {
    /// Of so many nodes with so many ranks each; both at least 1.
    pub(super) fn new(nodes: u32, per_node: u32) -> Self {
        Self { nodes: Cycle { ranks: nodes }, node: Cycle { ranks: per_node } }
    }

    fn ranks(&self) -> u64 {
        u64::from(self.nodes.ranks) * u64::from(self.node.ranks)
    }
}

impl Algorithm for Grouped {
    fn steps(&self, _: u32) -> u64 {
        if self.ranks() == 1 { 0 } else { self.ranks() }
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(self.ranks() * (self.ranks() - 1))
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(self.ranks() > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let turn = index + 1; // the exchange with itself has none
        if turn == self.ranks() {
            return CollectiveStep::new();
        }
        let per_node = self.node.ranks;
        let (node, local) = (rank / per_node, rank % per_node);
        let (far, near) = ((turn / u64::from(per_node)) as u32, (turn % u64::from(per_node)) as u32);
        let to = self.nodes.after(node, far) * per_node + self.node.after(local, near);
        let from = self.nodes.before(node, far) * per_node + self.node.before(local, near);
        CollectiveStep::new()
            .copy(from, 0, Piece::Pair { from, to: rank })
            .send(to, 0, Piece::Pair { from: rank, to })
            .open()
    }
}
