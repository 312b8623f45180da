//! Phases as operations one after the other, with the tags of a trace.

use std::collections::BTreeSet;

use super::chain::Chain;
use super::graph::Task;
use crate::{Op, Phases, ProgramError};

/// The labels of all messages in ascending order; the tag of each is its place. (Labels have 64 bits, tags 32; with a tag of its own
/// for each label it does not matter in which order the two sides name their messages.)
pub fn tags(phases: &Phases, ranks: u32) -> Vec<u64> {
    let labels = (0..ranks).flat_map(|rank| phases.ops(rank)).filter_map(|op| match op {
        Op::Send { label, .. } => Some(label),
        _ => None,
    });
    labels.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The tag of a label.
pub fn tag(tags: &[u64], label: u64) -> u32 {
    tags.partition_point(|&other| other < label) as u32
}

/// Refuses what a trace cannot say.
///
/// # Errors
/// [`ProgramError::Invalid`] with the phase.
pub fn check(phases: &Phases, ranks: u32) -> Result<(), ProgramError> {
    let mut ops = Vec::new();
    for phase in 0..phases.len() {
        for rank in 0..ranks {
            for index in 0..phases.chunks(phase, rank) {
                ops.clear();
                phases.chunk(phase, rank, index, &mut ops);
                if ops.iter().any(|op| matches!(op, Op::Compute { jitter_ps: 1.., .. })) {
                    return Err(ProgramError::invalid(
                        format!("phases[{phase}]"),
                        "computing takes a random time, which a trace cannot say; set its jitter to 0",
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The operations of each rank.
///
/// # Errors
/// As [`check`].
pub fn chains<'a>(
    phases: &'a Phases,
    ranks: u32,
    tags: &'a [u64],
) -> Result<impl Iterator<Item = Chain> + 'a, ProgramError> {
    check(phases, ranks)?;
    Ok((0..ranks).map(move |rank| chain(phases.ops(rank), tags)))
}

fn chain(ops: impl Iterator<Item = Op>, tags: &[u64]) -> Chain {
    let mut chain = Chain::default();
    for op in ops {
        let label = |label| u64::from(tag(tags, label)) << 32;
        match op {
            Op::Send { to, label: l, bytes, blocking } => {
                chain.push(Task::Send { to, label: label(l), bytes }, blocking, 0, 0);
            }
            Op::Receive { from, label: l, bytes, blocking } => {
                chain.push(Task::Receive { from, label: label(l), bytes }, blocking, 0, 0);
            }
            Op::Compute { ps, .. } => chain.push(Task::Compute { ps }, true, 0, 0),
            Op::Wait => chain.wait(),
        }
    }
    chain
}
