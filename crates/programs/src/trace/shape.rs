//! Phases that a graph contains many times: their labels as small numbers, and the number of their operations.

use odonata_error::Error;

use crate::{Op, Phase, Phases};

/// Phases for a number of ranks.
pub struct Shape {
    pub phases: Phases,
    /// The labels of its messages, ascending.
    pub labels: Vec<u64>,
    /// Operations of all ranks together.
    pub operations: u64,
}

impl Shape {
    /// # Errors
    /// As [`crate::Program::new`].
    pub fn new(phases: Vec<Phase>, ranks: u32) -> Result<Self, Error> {
        let phases = Phases::new(&phases, 0, ranks)?;
        let (mut labels, mut operations) = (Vec::new(), 0);
        for op in (0..ranks).flat_map(|rank| phases.ops(rank)) {
            operations += 1;
            if let Op::Send { label, .. } = op {
                labels.push(label);
            }
        }
        labels.sort_unstable();
        labels.dedup();
        Ok(Self { phases, labels, operations })
    }

    /// The place of a label among all labels, from 0.
    pub fn tag(&self, label: u64) -> u64 {
        self.labels.partition_point(|&other| other < label) as u64
    }
}
