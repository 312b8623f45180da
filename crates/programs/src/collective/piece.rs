//! The data that a message of a collective carries, and its size.

/// The data that a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Blocks of a vector: `count` blocks from block `first` on. Block 0 follows the last one.
    Blocks {
        /// Number of the first block.
        first: u32,
        /// Number of blocks; at most all.
        count: u32,
    },
    /// The data of one rank for another (all-to-all).
    Pair {
        /// The rank that has it at the beginning.
        from: u32,
        /// The rank that gets it in the end.
        to: u32,
    },
    /// The data of ranks `first` to `first + count - 1` for rank `to`.
    Pairs {
        /// The first of the ranks that have it at the beginning.
        first: u32,
        /// How many there are.
        count: u32,
        /// The rank that gets it in the end.
        to: u32,
    },
    /// The data that rank `at` passes on in step `bit` of Bruck's all-to-all. For each distance j from 1 to `ranks` - 1
    /// with that bit set: the pair that goes from `at` - (j mod 2^bit) to the rank j places further.
    Hops {
        /// The rank that has it before the step.
        at: u32,
        /// The bit of the distance.
        bit: u32,
        /// Number of ranks.
        ranks: u32,
    },
}

impl Piece {
    /// No data: a signal.
    pub const NOTHING: Self = Self::Blocks { first: 0, count: 0 };

    /// One block.
    #[must_use]
    pub fn block(number: u32) -> Self {
        Self::Blocks { first: number, count: 1 }
    }

    /// The blocks, or pairs, as a first and a count. (All pairs have the same size, so the first does not matter.)
    pub(super) fn range(self) -> (u32, u32) {
        match self {
            Self::Blocks { first, count } => (first, count),
            Self::Pair { .. } => (0, 1),
            Self::Pairs { count, .. } => (0, count),
            Self::Hops { bit, ranks, .. } => (0, with_bit(bit, ranks)),
        }
    }
}

/// Numbers below `below` that have a bit set.
fn with_bit(bit: u32, below: u32) -> u32 {
    let half = 1_u64 << bit;
    let (periods, rest) = (u64::from(below) / (2 * half), u64::from(below) % (2 * half));
    (periods * half + rest.saturating_sub(half)) as u32
}

/// The division of a vector into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Bytes of every block ...
    each: u64,
    /// ... and further bytes, fewer than `parts`, that are spread over all of them.
    rest: u64,
    parts: u32,
}

impl Division {
    /// `bytes` B in p = `parts` blocks (at least 1): block i has `B (i + 1) / p - B i / p` bytes, both rounded down.
    #[must_use]
    pub fn split(bytes: u64, parts: u32) -> Self {
        Self { each: bytes / u64::from(parts), rest: bytes % u64::from(parts), parts }
    }

    /// Blocks of equal size.
    #[must_use]
    pub fn equal(each: u64, parts: u32) -> Self {
        Self { each, rest: 0, parts }
    }

    /// Number of blocks.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Size of the vector, in bytes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.each.saturating_mul(self.parts.into()).saturating_add(self.rest)
    }

    /// Size of a piece, in bytes.
    #[must_use]
    pub fn bytes(&self, piece: Piece) -> u64 {
        let (first, count) = piece.range();
        let more = match self.rest {
            0 => 0,
            _ => self.more_before(u64::from(first) + u64::from(count)) - self.more_before(u64::from(first)),
        };
        self.each * u64::from(count) + more
    }

    /// Bytes of `rest` in the blocks before number `end`; numbers beyond the last block continue with the first.
    fn more_before(&self, end: u64) -> u64 {
        let parts = u64::from(self.parts);
        end / parts * self.rest + end % parts * self.rest / parts
    }

    /// The sizes of so many messages, and how many have each, if all blocks are carried by equally many.
    pub(super) fn sizes(&self, messages: u64) -> Vec<(u64, u64)> {
        let of_each = messages / u64::from(self.parts);
        let larger = self.rest * of_each; // a block has at most a byte more than another
        let sizes = [(self.each, messages - larger), (self.each + 1, larger)];
        sizes.into_iter().filter(|&(_, count)| count > 0).collect()
    }

    /// The largest size of `count` adjacent blocks.
    pub(super) fn at_most(&self, count: u32) -> u128 {
        let (count, parts) = (u128::from(count), u128::from(self.parts));
        u128::from(self.each) * count + (u128::from(self.rest) * count).div_ceil(parts)
    }
}
