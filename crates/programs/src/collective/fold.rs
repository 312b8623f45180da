//! Algorithms for powers of two, on any number of ranks.
//!
//! With 2^b + e ranks, e < 2^b, the first 2 e ranks are taken in pairs. Of each pair the even rank is *outside*: it
//! hands its data to the odd rank before, and gets its result from it after, what 2^b *core* ranks do. (As MPICH does
//! in reductions; Thakur, Rabenseifner and Gropp 2005.) Core ranks begin at different times then, so there is no closed
//! form of the time.

use super::piece::Piece;

/// Which ranks are in the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// b: the core has 2^b ranks.
    pub bits: u32,
    /// e: ranks outside.
    extra: u32,
}

/// What an index among the steps of a rank means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// The outside rank gives to the other of its pair; `outside` says which of them this rank is.
    In { other: u32, outside: bool },
    /// A step of core rank `number`.
    Core { number: u32, step: u32 },
    /// The outside rank gets from the other of its pair.
    Out { other: u32, outside: bool },
}

impl Fold {
    pub fn new(ranks: u32) -> Self {
        let bits = ranks.ilog2();
        Self { bits, extra: ranks - (1 << bits) }
    }

    /// Number of core ranks.
    pub fn cores(self) -> u32 {
        1 << self.bits
    }

    /// Steps of a rank if the core has `steps`.
    pub fn steps(self, rank: u32, steps: u32) -> u64 {
        match (self.is_paired(rank), self.is_outside(rank)) {
            (_, true) => 2,
            (true, false) => u64::from(steps) + 2,
            (false, false) => u64::from(steps),
        }
    }

    /// Where a rank is at step `index` of [`Self::steps`].
    pub fn stage(self, rank: u32, index: u64, steps: u32) -> Stage {
        if !self.is_paired(rank) {
            return Stage::Core { number: rank - self.extra, step: index as u32 };
        }
        let (other, outside) = (rank ^ 1, self.is_outside(rank));
        match index as u32 {
            0 => Stage::In { other, outside },
            index if outside || index > steps => Stage::Out { other, outside },
            index => Stage::Core { number: rank / 2, step: index - 1 },
        }
    }

    /// The rank of a core number.
    pub fn rank(self, number: u32) -> u32 {
        if number < self.extra { 2 * number + 1 } else { number + self.extra }
    }

    /// Blocks, one for each rank, of `count` core ranks from `number` on and of the ranks outside that these stand for.
    pub fn blocks(self, number: u32, count: u32) -> Piece {
        let [first, end] = [number, number + count].map(|core| core + core.min(self.extra));
        Piece::Blocks { first, count: end - first }
    }

    fn is_paired(self, rank: u32) -> bool {
        rank / 2 < self.extra
    }

    fn is_outside(self, rank: u32) -> bool {
        self.is_paired(rank) && rank.is_multiple_of(2)
    }
}
