//! Algorithms for powers of two, extended to any number of ranks.
//!
//! With 2^b + e ranks, e < 2^b, the first 2 e ranks form pairs. The even rank of each pair is *outside*: it hands its
//! data to the odd rank before the 2^b *core* ranks run the algorithm, and gets its result from the odd rank
//! afterwards. (MPICH does this in reductions; Thakur, Rabenseifner and Gropp 2005.) Core ranks then begin at different
//! times, so there is no closed form of the time.

use super::piece::Piece;

/// The ranks of the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// b: the core has 2^b ranks.
    pub bits: u32,
    /// e: ranks outside.
    extra: u32,
}

/// The meaning of an index among the steps of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// The outside rank sends to the other rank of its pair; `outside` says whether this is the outside rank.
    In { other: u32, outside: bool },
    /// A step of core rank `number`.
    Core { number: u32, step: u32 },
    /// The outside rank receives from the other rank of its pair.
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

    /// The stage of a rank at step `index` of [`Self::steps`].
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

    /// Blocks, one for each rank, of `count` core ranks from `number` on, and of the outside ranks that they represent.
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
