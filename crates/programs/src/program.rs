//! A checked program.

use std::ops::Range;

use odonata_error::{Error, ErrorKind, path};

use crate::communicators::Communicators;
use crate::part::LABEL_BITS;
use crate::trace::Trace;
use crate::{Body, Op, Part, Staged};

/// What the ranks of a job do in one iteration.
pub enum Program {
    /// All ranks run the same phases.
    Phases(Phases),
    /// The ranks of each stage have a graph of nodes.
    Stages(Box<Staged>),
    /// Each rank has a graph of operations of its own.
    Trace(Trace),
}

impl Program {
    /// The program of a body, for `ranks` ranks.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new(body: &Body, ranks: u32) -> Result<Self, Error> {
        match body {
            Body::Phases { phases, untimed } => Phases::new(phases, *untimed, ranks).map(Self::Phases),
            Body::Stages(stages) => Staged::new(stages, ranks).map(|staged| Self::Stages(Box::new(staged))),
            Body::Trace { goal } => Trace::read(goal, ranks).map(Self::Trace),
        }
    }
}

/// A sequence of phases.
pub struct Phases {
    phases: Vec<(Communicators, Box<dyn Part + Send + Sync>)>,
    untimed: usize,
    ranks: u32,
}

impl Phases {
    pub(crate) fn new(phases: &[crate::Phase], untimed: u32, ranks: u32) -> Result<Self, Error> {
        if phases.is_empty() || phases.len() >= 1 << (64 - LABEL_BITS) {
            return Err(ErrorKind::PhaseCount { found: phases.len() }.at(path!["phases"]));
        }
        if untimed as usize >= phases.len() {
            let kind = ErrorKind::OutOfRange { found: untimed.into(), least: 0, most: phases.len() as u64 - 1 };
            return Err(kind.at(path!["untimed"]));
        }
        let part = |(number, phase): (usize, &crate::Phase)| {
            let made = Communicators::new(phase.along.as_ref(), ranks)
                .and_then(|communicators| phase.what.part(communicators.count()).map(|part| (communicators, part)));
            made.map_err(|e| e.under(path!["phases", number]))
        };
        Ok(Self {
            phases: phases.iter().enumerate().map(part).collect::<Result<_, _>>()?,
            untimed: untimed as usize,
            ranks,
        })
    }

    /// How many of the first phases the time of an iteration leaves out.
    #[must_use]
    pub fn untimed(&self) -> usize {
        self.untimed
    }

    /// Number of phases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.phases.len()
    }

    /// Whether there are no phases; always false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    /// Chunks of a rank in a phase.
    #[must_use]
    pub fn chunks(&self, phase: usize, rank: u32) -> u64 {
        let (communicators, part) = &self.phases[phase];
        part.chunks(communicators.member(rank))
    }

    /// Sizes of the messages of a phase in one iteration, and how many have each, if that is known without looking at
    /// every operation.
    #[must_use]
    pub fn sizes(&self, phase: usize) -> Option<Vec<(u64, u64)>> {
        let (communicators, part) = &self.phases[phase];
        let copies = u64::from(self.ranks / communicators.count());
        part.sizes().map(|sizes| sizes.into_iter().map(|(bytes, count)| (bytes, count * copies)).collect())
    }

    /// The labels of the messages of a phase, without the bits of the phase, if they are a range that is known without
    /// looking at every operation.
    pub(crate) fn labels(&self, phase: usize) -> Option<Range<u64>> {
        self.phases[phase].1.labels()
    }

    /// Whether computing in a phase takes a random time.
    pub(crate) fn is_random(&self, phase: usize) -> bool {
        self.phases[phase].1.is_random()
    }

    /// Appends the operations of a chunk, with ranks of the job as peers and with labels that differ from phase to
    /// phase.
    pub fn chunk(&self, phase: usize, rank: u32, index: u64, ops: &mut Vec<Op>) {
        let (communicators, part) = &self.phases[phase];
        let from = ops.len();
        part.chunk(communicators.member(rank), index, ops);
        for op in &mut ops[from..] {
            if let Op::Send { to: peer, label, .. } | Op::Receive { from: peer, label, .. } = op {
                debug_assert!(*label < 1 << LABEL_BITS && *peer < communicators.count());
                *peer = communicators.rank(rank, *peer);
                *label |= (phase as u64) << LABEL_BITS;
            }
        }
    }

    /// All operations of a rank in one iteration, for inspection; a run requests chunks.
    pub fn ops(&self, rank: u32) -> impl Iterator<Item = Op> {
        self.ops_of(0..self.len(), rank)
    }

    /// Those of some phases.
    pub fn ops_of(&self, phases: Range<usize>, rank: u32) -> impl Iterator<Item = Op> {
        phases.flat_map(move |phase| {
            (0..self.chunks(phase, rank)).flat_map(move |index| {
                let mut ops = Vec::new();
                self.chunk(phase, rank, index, &mut ops);
                ops
            })
        })
    }
}
