//! One tree of a double binary tree over nodes with several ranks: up (a reduction to its root) or down (a broadcast
//! from its root).
//!
//! Two trees over the same nodes carry half of the data each. Almost every node that has children in one of them is a
//! leaf of the other, so both together use all links in both directions (Sanders, Speck and Traeff, "Two-tree algorithms
//! for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009). NCCL runs both in every channel
//! (src/graph/trees.cc).
//!
//! *The first tree* has its root at node 0. Let b be the lowest bit of a node v > 0 that is set. Its parent is v with bit
//! b cleared and bit 2b set, or if there is no such node, v with bit b cleared. So odd nodes are leaves. *The second
//! tree* is the first one mirrored (node v stands where n - 1 - v does), or for an odd number of nodes shifted by one (v
//! stands where v - 1 does).
//!
//! *In a node* of g ranks they form a chain, in an order that is given. The first of the chain, its *head*, exchanges
//! with the heads of other nodes. Up, a rank receives from the next one of the chain, then
//! the head from its children at once, then it sends. Down, a rank receives, then the head sends to its children at
//! once, then to the next one of the chain.
//!
//! Messages: n g - 1 of B bytes each way, for n nodes. Time for n = 2^d nodes of one rank: up
//! `d (o_s + M(B) + o_r) + (d - 1) o_r`, down `d (o_s + M(B) + o_r) + (d - 1) o_s`. For one node: `(g - 1) (o_s + M(B) +
//! o_r)`.

use std::ops::Range;

use super::cycle::Cycle;
use super::order::NodeOrder;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};
use crate::{Tree, Way};

/// A reduction or a broadcast along one of the two trees.
#[derive(Clone, Debug)]
pub struct TreeChannel {
    nodes: u32,
    order: NodeOrder,
    tree: Tree,
    way: Way,
}

/// What a rank does one after the other.
#[derive(Clone, Copy)]
enum Stage {
    FromChain,
    FromChildren,
    ToParent,
    FromParent,
    ToChildren,
    ToChain,
}

impl TreeChannel {
    /// Of so many ranks, which are whole nodes.
    pub(super) fn new(ranks: u32, order: NodeOrder, tree: Tree, way: Way) -> Self {
        Self { nodes: ranks / order.per_node(), order, tree, way }
    }

    fn per_node(&self) -> u32 {
        self.order.per_node()
    }

    /// The place of a node in the first tree.
    fn place(&self, node: u32) -> u32 {
        match self.tree {
            Tree::First => node,
            Tree::Second if self.nodes.is_multiple_of(2) => self.nodes - 1 - node,
            Tree::Second => Cycle { ranks: self.nodes }.before(node, 1 % self.nodes),
        }
    }

    /// The head of the node at a place.
    fn head(&self, place: u32) -> u32 {
        let node = match self.tree {
            Tree::First => place,
            Tree::Second if self.nodes.is_multiple_of(2) => self.nodes - 1 - place,
            Tree::Second => Cycle { ranks: self.nodes }.after(place, 1 % self.nodes),
        };
        node * self.per_node() + self.order.first()
    }

    /// The parent of a place of the first tree; none of its root.
    fn parent(&self, place: u32) -> Option<u32> {
        if place == 0 {
            return None;
        }
        let (place, bit) = (u64::from(place), 1_u64 << place.trailing_zeros());
        let above = (place - bit) | (bit << 1);
        Some(if above < u64::from(self.nodes) { above } else { place - bit } as u32)
    }

    /// The children of a place of the first tree.
    fn children(&self, place: u32) -> [Option<u32>; 2] {
        if place == 0 {
            return [(self.nodes > 1).then(|| 1 << (self.nodes - 1).ilog2()), None];
        }
        let half = (1_u32 << place.trailing_zeros()) / 2;
        if half == 0 {
            return [None, None];
        }
        let smaller = std::iter::successors(Some(half), |by| (*by > 1).then_some(by / 2));
        let right = smaller.filter_map(|by| place.checked_add(by)).find(|&child| child < self.nodes);
        [Some(place - half), right]
    }

    /// The number of a rank in the chain of its node.
    fn in_chain(&self, rank: u32) -> u32 {
        self.order.place(rank)
    }

    /// The next rank of the chain, or the one before.
    fn along_chain(&self, rank: u32, forward: bool) -> u32 {
        let place = self.order.place(rank);
        self.order.at(rank, if forward { place + 1 } else { place - 1 })
    }

    fn stages(&self, rank: u32) -> impl Iterator<Item = Stage> {
        let (number, place) = (self.in_chain(rank), self.place(rank / self.per_node()));
        let (above, more) = (number > 0 || self.parent(place).is_some(), number + 1 < self.per_node());
        let (children, up) = (number == 0 && self.children(place)[0].is_some(), self.way == Way::Up);
        let all = [
            (up && more, Stage::FromChain),
            (up && children, Stage::FromChildren),
            (up && above, Stage::ToParent),
            (!up && above, Stage::FromParent),
            (!up && children, Stage::ToChildren),
            (!up && more, Stage::ToChain),
        ];
        all.into_iter().filter_map(|(there, stage)| there.then_some(stage))
    }

    /// The rank that a rank sends to on the way up.
    fn above(&self, rank: u32) -> u32 {
        match self.parent(self.place(rank / self.per_node())) {
            Some(parent) if self.in_chain(rank) == 0 => self.head(parent),
            _ => self.along_chain(rank, false),
        }
    }

    /// The heads of the nodes below that of a rank.
    fn below(&self, rank: u32) -> impl Iterator<Item = u32> {
        self.children(self.place(rank / self.per_node())).into_iter().flatten().map(|child| self.head(child))
    }
}

impl Algorithm for TreeChannel {
    fn steps(&self, rank: u32) -> u64 {
        self.stages(rank).count() as u64
    }

    fn messages_of_a_block(&self) -> Option<u64> {
        Some(u64::from(self.nodes) * u64::from(self.per_node()) - 1)
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..u64::from(u64::from(self.nodes) * u64::from(self.per_node()) > 1))
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (step, whole) = (CollectiveStep::new(), Piece::block(0));
        match self.stages(rank).nth(index as usize) {
            Some(Stage::FromChain) => step.combine(self.along_chain(rank, true), 0, whole),
            Some(Stage::FromChildren) => self.below(rank).fold(step, |step, child| step.combine(child, 0, whole)),
            Some(Stage::ToParent) => step.send(self.above(rank), 0, whole),
            Some(Stage::FromParent) => step.copy(self.above(rank), 0, whole),
            Some(Stage::ToChildren) => self.below(rank).fold(step, |step, child| step.send(child, 0, whole)),
            Some(Stage::ToChain) => step.send(self.along_chain(rank, true), 0, whole),
            None => step,
        }
    }
}
