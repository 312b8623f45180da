//! Ring all-reduces as parts of a motif: those of [`crate::collective`], with ranks as peers and with distinct labels.

use odonata_error::Error;

use crate::collective::Collective;
use crate::communicators::Communicators;
use crate::{Allreduce, Op, Part};

/// An all-reduce over each communicator of a split, which can be repeated.
pub struct Ring {
    communicators: Communicators,
    once: Collective,
}

impl Ring {
    /// All-reduces of vectors of `bytes` bytes.
    ///
    /// # Errors
    /// As [`Collective::allreduce`].
    pub fn new(communicators: Communicators, bytes: u64) -> Result<Self, Error> {
        Ok(Self { communicators, once: Collective::allreduce(Allreduce::Ring, communicators.count(), bytes)? })
    }

    /// Number of steps, each with one message to the next rank: 2 (n - 1) for n ranks. All ranks of a communicator
    /// together send the vector 2 (n - 1) times.
    pub fn steps(&self) -> u64 {
        self.once.chunks(0)
    }

    /// Appends a step. It uses labels from `first_label` on, fewer than there are steps.
    pub fn step(&self, rank: u32, step: u64, first_label: u64, ops: &mut Vec<Op>) {
        let from = ops.len();
        self.once.chunk(self.communicators.member(rank), step, ops);
        for op in &mut ops[from..] {
            if let Op::Send { to: peer, label, .. } | Op::Receive { from: peer, label, .. } = op {
                debug_assert!(*label < self.steps());
                *peer = self.communicators.rank(rank, *peer);
                *label += first_label;
            }
        }
    }
}
