//! What is no program of stages.

use odonata_error::{Error, ErrorKind, path};

use super::{CPUS, StageAction, StageNode, Stages};
use crate::trace::MAX_BYTES;

/// The ranks of each stage.
///
/// # Errors
/// If the ranks are not stages of equal size.
pub fn width(stages: &Stages, ranks: u32) -> Result<u32, Error> {
    let count = stages.stages.len() as u32;
    if count == 0 || !ranks.is_multiple_of(count) {
        let width = ranks / count.max(1);
        let points = u128::from(width) * u128::from(count);
        let kind = ErrorKind::GridOfOtherSize { grid: vec![width, count], points, ranks: ranks.into() };
        return Err(kind.at(path!["stages"]));
    }
    Ok(ranks / count)
}

/// Refuses nodes that are not in order, that name what there is not, and messages without their other end.
///
/// # Errors
/// [`Error`].
pub fn nodes(stages: &Stages) -> Result<(), Error> {
    for (stage, nodes) in stages.stages.iter().enumerate() {
        for (number, of) in nodes.iter().enumerate() {
            node(of, number, stages).map_err(|e| e.under(path!["stages", stage, number]))?;
        }
    }
    messages(stages)
}

fn node(node: &StageNode, number: usize, of: &Stages) -> Result<(), Error> {
    let (stages, collectives) = (of.stages.len() as u64, of.collectives.len() as u64);
    let within = |found: u64, most: u64, field: &'static str| match found {
        found if found <= most => Ok(()),
        _ => Err(ErrorKind::OutOfRange { found, least: 0, most }.at(path![field])),
    };
    within(node.cpu.into(), (CPUS - 1).into(), "cpu")?;
    if let Some(&after) = node.after.iter().find(|&&after| after as usize >= number) {
        return Err(ErrorKind::StageOrder { node: number, after }.at(path!["after"]));
    }
    match node.what {
        StageAction::Compute { .. } => Ok(()),
        StageAction::Collective { number } if u64::from(number) < collectives => Ok(()),
        StageAction::Collective { number } => within(number.into(), collectives.saturating_sub(1), "number"),
        StageAction::Send { stage, bytes, .. } | StageAction::Receive { stage, bytes, .. } => {
            within(stage.into(), stages - 1, "stage")?;
            within(bytes, MAX_BYTES, "bytes")
        }
    }
}

/// Refuses a message that has no other end, or whose tag another one between the same stages has.
fn messages(stages: &Stages) -> Result<(), Error> {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for (own, nodes) in (0_u32..).zip(&stages.stages) {
        for node in nodes {
            match node.what {
                StageAction::Send { stage, tag, bytes } => sends.push((own, stage, tag, bytes)),
                StageAction::Receive { stage, tag, bytes } => receives.push((stage, own, tag, bytes)),
                _ => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let key = |&(from, to, tag, _): &(u32, u32, u32, u64)| (from, to, tag);
    if let Some(pair) = sends.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        let kind = ErrorKind::SecondTime { what: "tag", found: pair[0].2.to_string(), first_line: None };
        return Err(kind.at(path!["stages", pair[0].0 as usize]));
    }
    let lonely = |operation, &(from, to, tag, bytes): &(u32, u32, u32, u64)| {
        Err(ErrorKind::StageMessage { operation, from, to, tag, bytes }.at(path!["stages"]))
    };
    if let Some(send) = sends.iter().find(|send| receives.binary_search(send).is_err()) {
        return lonely("send", send);
    }
    match receives.iter().find(|receive| sends.binary_search(receive).is_err()) {
        Some(receive) => lonely("receive", receive),
        None if receives.len() > sends.len() => lonely("receive", &receives[0]),
        None => Ok(()),
    }
}
