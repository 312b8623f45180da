//! A collective for a number of ranks and a number of bytes.

use std::ops::Range;

use odonata_error::{Error, ErrorKind, path};

use super::piece::Division;
use super::step::{Algorithm, CollectiveStep};
use crate::{Op, Part};

/// Bytes of the largest message that a collective may have.
const MOST_BYTES: u128 = 1 << 40;

/// An algorithm and its data.
pub struct Collective(Box<dyn Steps + Send + Sync>);

/// A part of a program that is made of the steps of an algorithm.
trait Steps: Part {
    /// The moves of a chunk.
    fn step(&self, rank: u32, index: u64) -> CollectiveStep;

    /// The division of the vector.
    fn division(&self) -> Division;
}

/// An algorithm and its data. It is compiled for each algorithm, so that a step, which is large, need not be built in
/// memory before its operations are.
struct Divided<A> {
    algorithm: A,
    division: Division,
}

impl<A: Algorithm> Steps for Divided<A> {
    fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        self.algorithm.step(rank, index)
    }

    fn division(&self) -> Division {
        self.division
    }
}

impl<A: Algorithm> Part for Divided<A> {
    fn chunks(&self, rank: u32) -> u64 {
        self.algorithm.steps(rank)
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        self.algorithm.step(rank, index).ops(&self.division, ops);
    }

    fn sizes(&self) -> Option<Vec<(u64, u64)>> {
        self.algorithm.messages_of_a_block().map(|messages| self.division.sizes(messages))
    }

    fn labels(&self) -> Option<Range<u64>> {
        self.algorithm.labels()
    }
}

impl Collective {
    /// # Errors
    /// If a message would be larger than 2^40 bytes.
    pub(super) fn new(
        algorithm: impl Algorithm + Send + Sync + 'static,
        ranks: u32,
        division: Division,
    ) -> Result<Self, Error> {
        let largest = division.at_most(algorithm.largest());
        if ranks > 1 && largest > MOST_BYTES {
            let kind = ErrorKind::CollectiveTooLarge { ranks, found_bytes: largest, most_bytes: MOST_BYTES };
            return Err(kind.at(path!["bytes"]));
        }
        Ok(Self(Box::new(Divided { algorithm, division })))
    }

    /// The moves of a chunk.
    #[must_use]
    pub fn step(&self, rank: u32, index: u64) -> CollectiveStep {
        self.0.step(rank, index)
    }

    /// The division of its vector.
    #[must_use]
    pub fn division(&self) -> Division {
        self.0.division()
    }
}

impl Part for Collective {
    fn chunks(&self, rank: u32) -> u64 {
        self.0.chunks(rank)
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        self.0.chunk(rank, index, ops);
    }

    fn sizes(&self) -> Option<Vec<(u64, u64)>> {
        self.0.sizes()
    }

    fn labels(&self) -> Option<Range<u64>> {
        self.0.labels()
    }
}
