//! A part of a program, whose operations come in chunks.

use std::ops::Range;

use crate::Op;

/// Bits of a label that a part may use; the higher bits hold the phase.
pub const LABEL_BITS: u32 = 40;

/// The operations of one phase, for a communicator whose ranks are numbered from 0.
///
/// Both methods depend only on their arguments: a chunk may be requested again.
pub trait Part {
    /// Number of chunks of a rank; 0 if it has nothing to do.
    fn chunks(&self, rank: u32) -> u64;

    /// Appends the operations of chunk `index` of a rank. A rank executes its chunks in order. A chunk should hold only
    /// a few operations (one step of an algorithm). Labels are below 2^[`LABEL_BITS`].
    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>);

    /// Sizes of the messages of all ranks together, and how many have each, if that is known without looking at every
    /// operation.
    fn sizes(&self) -> Option<Vec<(u64, u64)>> {
        None
    }

    /// The labels of the messages of all ranks together, if they are a range that is known without looking at every
    /// operation.
    fn labels(&self) -> Option<Range<u64>> {
        None
    }

    /// Whether computing takes a random time.
    fn is_random(&self) -> bool {
        false
    }
}
