//! A piece of a program that can be asked for in chunks.

use crate::Op;

/// Bits of a label that a part may use; those above tell phases apart.
pub const LABEL_BITS: u32 = 40;

/// The operations of one phase, for a communicator of ranks that are numbered from 0.
///
/// Both answers depend on nothing but their arguments: a chunk may be asked for again.
pub trait Part {
    /// Number of chunks of a rank; 0 if it has nothing to do.
    fn chunks(&self, rank: u32) -> u64;

    /// Appends the operations of chunk `index` of a rank. All chunks one after the other are what the rank does; a chunk should hold a
    /// few operations only (one step of an algorithm). Labels are below 2^[`LABEL_BITS`].
    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>);
}
