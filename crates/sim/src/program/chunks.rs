//! The operations that ranks have generated last.

use odonata_programs::{Op, Phases};

use super::rank::Rank;
use crate::engine::prefetch_whole;

/// Most chunks that are kept. Ranks whose numbers differ by a multiple of it share a place, so that the memory for them
/// has a limit however many ranks there are.
const MOST: usize = 1 << 14;

/// For each rank the chunk in which it is, as long as no other rank needs the place: a rank asks for each of its operations
/// about twice, and other ranks of the job act in between.
pub struct Chunks {
    /// By the last bits of a rank.
    kept: Vec<Chunk>,
}

/// The operations of a chunk, and the rank, phase and chunk that they are of.
#[derive(Clone)]
struct Chunk {
    of: (u32, u32, u64),
    ops: Vec<Op>,
}

impl Chunks {
    /// None yet, for so many ranks.
    #[must_use]
    pub fn new(ranks: usize) -> Self {
        let none = Chunk { of: (u32::MAX, 0, 0), ops: Vec::new() };
        Self { kept: vec![none; ranks.next_power_of_two().min(MOST)] }
    }

    /// Prefetches the chunk of a rank.
    #[inline(always)]
    pub fn prefetch(&self, rank: u32) {
        prefetch_whole(&self.kept, rank as usize & (self.kept.len() - 1));
    }

    /// The present operation of a rank in a state, if its iteration has one more. The state is moved on over chunks that
    /// have ended.
    #[inline]
    pub fn operation(&mut self, phases: &Phases, rank: u32, of: &mut Rank) -> Option<Op> {
        let place = rank as usize & (self.kept.len() - 1);
        let chunk = &mut self.kept[place];
        if chunk.of == (rank, of.phase, of.chunk)
            && let Some(&op) = chunk.ops.get(of.position as usize)
        {
            return Some(op);
        }
        chunk.next(phases, rank, of)
    }
}

impl Chunk {
    /// The same, from the next chunk that has an operation.
    #[inline(never)]
    fn next(&mut self, phases: &Phases, rank: u32, of: &mut Rank) -> Option<Op> {
        if self.of == (rank, of.phase, of.chunk) {
            (of.chunk, of.position) = (of.chunk + 1, 0); // its operations have ended
        }
        while (of.phase as usize) < phases.len() {
            let chunks = phases.chunks(of.phase as usize, rank);
            while of.chunk < chunks {
                self.ops.clear();
                self.of = (rank, of.phase, of.chunk);
                phases.chunk(of.phase as usize, rank, of.chunk, &mut self.ops);
                if let Some(&op) = self.ops.get(of.position as usize) {
                    return Some(op);
                }
                (of.chunk, of.position) = (of.chunk + 1, 0);
            }
            (of.phase, of.chunk, of.position) = (of.phase + 1, 0, 0);
        }
        None
    }
}
