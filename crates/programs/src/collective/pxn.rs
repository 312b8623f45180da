//! An all-to-all over nodes with several GPUs in which data change to the rail of their destination inside their node
//! ("PCI x NVLink", PXN, of NCCL 2.12).
//!
//! There are n nodes of g ranks; rank i of each node is on rail i. What a rank has for rank i of another node goes to
//! rank i of its own node first. That rank sends one message to each other node, with what all ranks of its node have
//! for the rank on its rail there: g blocks. So a rank sends n - 1 messages between nodes, where other algorithms send
//! g (n - 1), with the same bytes, and no message leaves its rail. What stays in a node goes directly.
//!
//! Nodes come one after the other by their distance d, as in NCCL's schedule, which groups the ranks of a node (src/init.cc,
//! `ncclP2pSchedule`; there distances are in another order). Round 0 is the exchange inside the node. In round d from 1
//! on rank i of node k sends to each rank j of its node, in the order i + 1, i + 2, ..., the block for rank j of node
//! k + d. When it has the blocks of all ranks of its node for rank i of node k + d, it sends them, and begins to receive
//! from node k - d. The messages inside nodes of one more round are under way meanwhile, so that a rank does not wait
//! for each round. At the end it waits for all.
//!
//! Messages: n g (n (g - 1)) of B bytes inside nodes and n g (n - 1) of g B bytes between them. Time for two nodes, if
//! nothing arrives before a rank has sent all that it sends inside its node, and `o_r(B) <= o_s(B)`:
//! `2 (g - 1) o_s(B) + M(B) + o_r(B) + o_s(g B) + M(g B) + o_r(g B)`; for nodes of one rank at least
//! `(n - 1) (o_s(B) + o_r(B))`.

use std::ops::Range;

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// An all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct Pxn {
    nodes: Cycle,
    node: Cycle,
}

/// What a rank does in a step.
#[derive(Clone, Copy)]
enum Part {
    /// To the rank so many places after it in its node, for the node so many places after its own. In round 0 it also
    /// begins to receive from the rank as many places before it.
    ToMate { round: u32, by: u32 },
    /// From the rank so many places before it in its node.
    FromMate { round: u32, by: u32 },
    /// Between nodes.
    Between { round: u32 },
    /// The wait for all that was begun.
    Wait,
}

impl Pxn {
    /// Of so many nodes with so many ranks each; both at least 1.
    pub(super) fn new(nodes: u32, per_node: u32) -> Self {
        Self { nodes: Cycle { ranks: nodes }, node: Cycle { ranks: per_node } }
    }

    /// Other ranks of a node.
    fn mates(&self) -> u64 {
        u64::from(self.node.ranks - 1)
    }

    fn part(&self, index: u64) -> Part {
        let (mates, last) = (self.mates(), self.nodes.ranks - 1);
        let ahead = if last > 0 { 2 * mates } else { mates };
        let by = |place: u64| place as u32 + 1;
        if index < ahead {
            let (round, place) = if index < mates { (0, index) } else { (1, index - mates) };
            return Part::ToMate { round, by: by(place) };
        }
        // Each round but the last begins with what is sent inside the node in the next one.
        let (index, whole) = (index - ahead, 2 * mates + 1);
        let round = (index / whole).min(u64::from(last.saturating_sub(1))) as u32 + 1;
        let place = index - u64::from(round - 1) * whole;
        let sends = if round < last { mates } else { 0 };
        match place {
            _ if last == 0 => Part::Wait,
            place if place < sends => Part::ToMate { round: round + 1, by: by(place) },
            place if place < sends + mates => Part::FromMate { round, by: by(place - sends) },
            place if place == sends + mates => Part::Between { round },
            _ => Part::Wait,
        }
    }
}

impl Algorithm for Pxn {
    fn steps(&self, _: u32) -> u64 {
        let (nodes, others) = (u64::from(self.nodes.ranks), u64::from(self.nodes.ranks - 1));
        match (nodes + others) * self.mates() + others {
            0 => 0,
            begun => begun + 1,
        }
    }

    fn labels(&self) -> Option<Range<u64>> {
        // Round 0 is inside nodes; later rounds are between them.
        Some(u64::from(self.node.ranks == 1)..u64::from(self.nodes.ranks))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let per_node = self.node.ranks;
        let (node, local) = (rank / per_node, rank % per_node);
        let (first, step) = (node * per_node, CollectiveStep::new());
        match self.part(index) {
            Part::ToMate { round, by } => {
                let [before, after] = [self.node.before(local, by), self.node.after(local, by)];
                let to = self.nodes.after(node, round) * per_node + after;
                let step = if round == 0 {
                    step.copy(first + before, 0, Piece::Pair { from: first + before, to: rank })
                } else {
                    step
                };
                step.send(first + after, round.into(), Piece::Pair { from: rank, to }).open()
            }
            Part::FromMate { round, by } => {
                let from = first + self.node.before(local, by);
                let to = self.nodes.after(node, round) * per_node + local;
                step.copy(from, round.into(), Piece::Pair { from, to })
            }
            Part::Between { round } => {
                let source = self.nodes.before(node, round) * per_node;
                let to = self.nodes.after(node, round) * per_node + local;
                let incoming = Piece::Pairs { first: source, count: per_node, to: rank };
                let outgoing = Piece::Pairs { first, count: per_node, to };
                step.copy(source + local, round.into(), incoming).send(to, round.into(), outgoing).open()
            }
            Part::Wait => step,
        }
    }

    /// Messages between nodes.
    fn largest(&self) -> u32 {
        if self.nodes.ranks > 1 { self.node.ranks } else { 1 }
    }
}
