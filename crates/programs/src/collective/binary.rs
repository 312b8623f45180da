//! Along a binary tree in heap order.
//!
//! Number i of the tree is the rank i places after the root; its children are numbers 2i + 1 and 2i + 2. *Up*, a rank
//! receives from all its children at once, then sends to its parent. *Down*, it receives from its parent, then sends to
//! all its children at once. (The algorithm of SST's firefly, which does not rotate the ranks for a root other than
//! rank 0 but swaps the root and rank 0.)
//!
//! Messages: n - 1 each way, of B bytes. Time for a full tree of n = 2^d - 1 ranks: up `(d - 1) (o_s + M(B) + 2 o_r)`,
//! down `(d - 1) (2 o_s + M(B) + o_r)`, both the sum.

use super::cycle::Cycle;
use super::piece::Piece;
use super::step::{Algorithm, CollectiveStep};

/// A reduction (up), a broadcast (down), or an all-reduce or a barrier (both).
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    cycle: Cycle,
    root: u32,
    up: bool,
    down: bool,
}

#[derive(Clone, Copy)]
enum Stage {
    FromChildren,
    ToParent,
    FromParent,
    ToChildren,
}

impl Binary {
    /// The reduction to the root.
    pub(super) fn up(ranks: u32, root: u32) -> Self {
        Self { cycle: Cycle { ranks }, root, up: true, down: false }
    }

    /// The broadcast from the root.
    pub(super) fn down(ranks: u32, root: u32) -> Self {
        Self { cycle: Cycle { ranks }, root, up: false, down: true }
    }

    /// Up to rank 0 and down again.
    pub(super) fn both(ranks: u32) -> Self {
        Self { cycle: Cycle { ranks }, root: 0, up: true, down: true }
    }

    fn number(&self, rank: u32) -> u32 {
        self.cycle.before(rank, self.root)
    }

    fn children(&self, number: u32) -> impl Iterator<Item = u32> {
        let (first, ranks, root) = (2 * u64::from(number) + 1, u64::from(self.cycle.ranks), self.root);
        (first..(first + 2).min(ranks)).map(move |child| Cycle { ranks: ranks as u32 }.after(child as u32, root))
    }

    fn stages(&self, number: u32) -> impl Iterator<Item = Stage> {
        let (above, below) = (number > 0, self.children(number).next().is_some());
        let all = [
            (self.up && below, Stage::FromChildren),
            (self.up && above, Stage::ToParent),
            (self.down && above, Stage::FromParent),
            (self.down && below, Stage::ToChildren),
        ];
        all.into_iter().filter_map(|(there, stage)| there.then_some(stage))
    }
}

impl Algorithm for Binary {
    fn steps(&self, rank: u32) -> u64 {
        self.stages(self.number(rank)).count() as u64
    }

    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        let (number, whole) = (self.number(rank), Piece::block(0));
        let parent = || self.cycle.after((number - 1) / 2, self.root);
        match self.stages(number).nth(index as usize) {
            Some(Stage::FromChildren) => {
                self.children(number).fold(CollectiveStep::new(), |step, child| step.combine(child, 0, whole))
            }
            Some(Stage::ToParent) => CollectiveStep::new().send(parent(), 0, whole),
            Some(Stage::FromParent) => CollectiveStep::new().copy(parent(), 0, whole),
            Some(Stage::ToChildren) => {
                self.children(number).fold(CollectiveStep::new(), |step, child| step.send(child, 0, whole))
            }
            None => CollectiveStep::new(),
        }
    }
}
