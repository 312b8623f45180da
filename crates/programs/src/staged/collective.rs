//! The phases of a collective of a stage, with small numbers in place of labels.

use std::collections::BTreeSet;
use std::ops::Range;

use odonata_error::{Error, ErrorKind, path};

use crate::part::LABEL_BITS;
use crate::stages::StageCollective;
use crate::{Op, Phases};

/// Phases for the ranks of a stage.
pub struct StagedCollective {
    pub phases: Phases,
    /// The labels of each phase, and the number of the first of them.
    labels: Vec<(u64, Labels)>,
    /// How many labels there are.
    count: u64,
    combine_ps: u64,
}

/// The labels of a phase, without the bits of the phase.
enum Labels {
    Range(Range<u64>),
    /// Ascending.
    List(Vec<u64>),
}

impl Labels {
    /// For parts that do not know them, the operations of all ranks are looked at, and none is kept.
    fn new(phases: &Phases, phase: usize, ranks: u32) -> Self {
        if let Some(range) = phases.labels(phase) {
            return Self::Range(range);
        }
        let mut found = BTreeSet::new();
        for op in (0..ranks).flat_map(|rank| phases.ops_of(phase..phase + 1, rank)) {
            if let Op::Send { label, .. } = op {
                found.insert(own(label));
            }
        }
        Self::List(found.into_iter().collect())
    }

    fn count(&self) -> u64 {
        match self {
            Self::Range(range) => range.end.saturating_sub(range.start),
            Self::List(list) => list.len() as u64,
        }
    }

    fn place(&self, label: u64) -> u64 {
        match self {
            Self::Range(range) => label - range.start,
            Self::List(list) => list.partition_point(|&other| other < label) as u64,
        }
    }
}

/// A label without the bits of its phase.
fn own(label: u64) -> u64 {
    label & ((1 << LABEL_BITS) - 1)
}

impl StagedCollective {
    /// # Errors
    /// As [`Phases`]; if computing takes a random time.
    pub fn new(of: &StageCollective, ranks: u32) -> Result<Self, Error> {
        let phases = Phases::new(&of.phases, 0, ranks)?;
        if let Some(phase) = (0..phases.len()).find(|&phase| phases.is_random(phase)) {
            return Err(ErrorKind::RandomCompute {}.at(path!["phases", phase]));
        }
        let (mut labels, mut count) = (Vec::new(), 0);
        for phase in 0..phases.len() {
            let of_phase = Labels::new(&phases, phase, ranks);
            labels.push((count, of_phase));
            count += labels[phase].1.count();
        }
        Ok(Self { phases, labels, count, combine_ps: of.combine_ps })
    }

    /// How many labels its messages have.
    pub fn labels(&self) -> u64 {
        self.count
    }

    /// The place of a label among all labels, from 0.
    #[inline]
    pub fn place(&self, label: u64) -> u64 {
        let (first, of_phase) = &self.labels[(label >> LABEL_BITS) as usize];
        first + of_phase.place(own(label))
    }

    /// The time to combine so many bytes of a vector of so many.
    #[inline]
    pub fn combining(&self, bytes: u64, of: u64) -> u64 {
        match self.combine_ps.checked_mul(bytes) {
            Some(product) => product.div_ceil(of.max(1)),
            None => (u128::from(self.combine_ps) * u128::from(bytes)).div_ceil(of.max(1).into()) as u64,
        }
    }

    /// Whether a rank has no operation.
    pub fn is_empty(&self, rank: u32) -> bool {
        !self.phases.ops(rank).any(|op| match op {
            Op::Wait => false,
            Op::Combine { bytes, of } => self.combining(bytes, of) > 0,
            _ => true,
        })
    }
}
