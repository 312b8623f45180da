//! Phases as sequences of operations, with the tags of a trace.

use std::collections::BTreeSet;

use odonata_error::{Error, ErrorKind, path};

use super::chain::Chain;
use super::draft::Draft;
use super::graph::{Action, Graph, Trace};
use crate::{Op, Phases};

/// The labels of all messages in ascending order; the tag of each is its position. (Each label has its own tag, so the
/// two sides may name their messages in any order.)
pub fn tags(phases: &Phases, ranks: u32) -> Vec<u64> {
    let labels = (0..ranks).flat_map(|rank| phases.ops(rank)).filter_map(|op| match op {
        Op::Send { label, .. } => Some(label),
        _ => None,
    });
    labels.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The tag of a label.
pub fn tag(tags: &[u64], label: u64) -> u64 {
    tags.partition_point(|&other| other < label) as u64
}

/// Refuses what a trace cannot express.
///
/// # Errors
/// [`Error`] with the phase.
pub fn check(phases: &Phases, ranks: u32) -> Result<(), Error> {
    let mut ops = Vec::new();
    for phase in 0..phases.len() {
        for rank in 0..ranks {
            for index in 0..phases.chunks(phase, rank) {
                ops.clear();
                phases.chunk(phase, rank, index, &mut ops);
                if ops.iter().any(|op| matches!(op, Op::Compute { jitter_ps: 1.., .. })) {
                    return Err(ErrorKind::RandomCompute {}.at(path!["phases", phase]));
                }
            }
        }
    }
    Ok(())
}

impl Trace {
    /// One iteration of phases for `ranks` ranks: `docs/traces.md` says which operation waits for which. `combining` is
    /// the time in picoseconds to combine so many bytes of a vector
    /// of so many.
    ///
    /// # Errors
    /// [`Error`] if computing takes a random time, which a trace cannot express.
    pub fn of_phases(phases: &Phases, ranks: u32, combining: impl Fn(u64, u64) -> u64) -> Result<Self, Error> {
        check(phases, ranks)?;
        let labels = tags(phases, ranks);
        let graph = |rank| {
            let draft = chain(phases.ops(rank), &labels, &combining).draft;
            Graph::new(draft.operations, vec![0], draft.edges)
        };
        Ok(Self { graphs: (0..ranks).map(graph).collect(), tags: (0..labels.len() as u64).collect() })
    }
}

fn chain(ops: impl Iterator<Item = Op>, tags: &[u64], combining: impl Fn(u64, u64) -> u64) -> Chain {
    let mut chain = Chain::default();
    for op in ops {
        chain.op(op, |label| tag(tags, label), &combining, 0, 0);
    }
    // Tags are their own indices, and each is used once between two ranks.
    let Draft { operations, details, .. } = &mut chain.draft;
    for (operation, details) in operations.iter_mut().zip(details) {
        if let Action::Send { label, .. } | Action::Receive { label, .. } = &mut operation.action {
            *label = details.tag << 32;
        }
    }
    chain
}
