//! What a reader has found: the operations of each rank, with their positions in the file.

use odonata_error::{Error, ErrorKind};

use super::graph::{Action, Edge, Graph, Operation, Trace};
use super::matching;
use super::problem::Source;

/// The operations of a rank.
#[derive(Default)]
pub struct Draft {
    /// In the order of the file; labels and CPUs are 0.
    pub operations: Vec<Operation>,
    /// The values from the file that an [`Operation`] does not hold in this form.
    pub details: Vec<SourceDetails>,
    pub edges: Vec<Edge>,
}

/// Values from the file for one operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceDetails {
    /// Its tag; 0 if it is not a message.
    pub tag: u64,
    /// The number of its CPU.
    pub cpu: u32,
    /// Its position: the argument of [`Source::at`].
    pub place: u32,
}

impl Draft {
    /// Appends an operation.
    pub fn push(&mut self, action: Action, nic: u8, line: u32, details: SourceDetails) {
        self.operations.push(Operation { action, cpu: 0, nic, peer_nic: 0, line });
        self.details.push(details);
    }
}

/// Refuses a file whose positions do not fit into [`SourceDetails::place`].
pub fn check_size(bytes: usize) -> Result<(), Error> {
    if u32::try_from(bytes).is_err() {
        let kind = ErrorKind::TraceTooLong { found_bytes: bytes, most_bytes: u32::MAX.into() };
        return Err(kind.into());
    }
    Ok(())
}

/// Refuses a text that is too long, and drops a byte order mark.
pub fn checked(text: &str) -> Result<&str, Error> {
    check_size(text.len())?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The trace of these ranks; all peers are among them.
///
/// # Errors
/// If a send has no receive, or a receive no send; if a rank has too many CPUs.
pub fn finish(source: Source<'_>, mut drafts: Vec<Draft>) -> Result<Trace, Error> {
    let messages = |draft: &Draft| draft.operations.iter().zip(&draft.details).filter_map(tag_of).collect::<Vec<u64>>();
    let mut tags: Vec<u64> = drafts.iter().flat_map(messages).collect();
    tags.sort_unstable();
    tags.dedup();
    for draft in &mut drafts {
        for (operation, details) in draft.operations.iter_mut().zip(&draft.details) {
            if let Action::Send { label, .. } | Action::Receive { label, .. } = &mut operation.action {
                *label = (tags.partition_point(|&tag| tag < details.tag) as u64) << 32;
            }
        }
    }
    let cpus =
        (0..).zip(&mut drafts).map(|(rank, draft)| number_cpus(source, rank, draft)).collect::<Result<Vec<_>, _>>()?;
    matching::number_and_check(source, &mut drafts, &tags)?;
    let graphs =
        drafts.into_iter().zip(cpus).map(|(draft, cpus)| Graph::new(draft.operations, cpus, draft.edges)).collect();
    Ok(Trace { graphs, tags })
}

fn tag_of((operation, details): (&Operation, &SourceDetails)) -> Option<u64> {
    (!matches!(operation.action, Action::Compute { .. })).then_some(details.tag)
}

/// Renumbers the CPUs of a rank without gaps, so that memory is proportional to their number; returns the numbers of
/// the file.
fn number_cpus(source: Source<'_>, rank: u32, draft: &mut Draft) -> Result<Vec<u32>, Error> {
    let mut cpus: Vec<u32> = draft.details.iter().map(|details| details.cpu).chain([0]).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let most = usize::from(u16::MAX) + 1;
    for (number, (operation, details)) in (0..).zip(draft.operations.iter_mut().zip(&draft.details)) {
        let place = cpus.partition_point(|&cpu| cpu < details.cpu);
        operation.cpu = u16::try_from(place).map_err(|_| {
            let kind = ErrorKind::TooManyCpus { cpu: details.cpu, rank, found: cpus.len(), most };
            source.at(details.place, rank, number, operation.line, kind)
        })?;
    }
    Ok(cpus)
}
