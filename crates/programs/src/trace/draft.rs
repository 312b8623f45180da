//! What a reader has found: the operations of each rank, with their places in the file.

use odonata_error::{Error, ErrorKind};

use super::graph::{Edge, Graph, Step, Task, Trace};
use super::matching;
use super::problem::Source;

/// The operations of a rank.
#[derive(Default)]
pub struct Draft {
    /// In the order of the file; labels and CPUs are 0.
    pub steps: Vec<Step>,
    /// What the file says of each that a [`Step`] does not hold in this form.
    pub said: Vec<Said>,
    pub edges: Vec<Edge>,
}

/// What a file says of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    /// Its tag; 0 if it is no message.
    pub tag: u64,
    /// The number of its CPU.
    pub cpu: u32,
    /// Where it begins: what [`Source::at`] wants.
    pub place: u32,
}

impl Draft {
    /// Appends an operation.
    pub fn push(&mut self, task: Task, nic: u8, line: u32, said: Said) {
        self.steps.push(Step { task, cpu: 0, nic, peer_nic: 0, line });
        self.said.push(said);
    }
}

/// Refuses a file whose places do not fit into [`Said::place`].
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
    let messages = |draft: &Draft| draft.steps.iter().zip(&draft.said).filter_map(tag_of).collect::<Vec<u64>>();
    let mut tags: Vec<u64> = drafts.iter().flat_map(messages).collect();
    tags.sort_unstable();
    tags.dedup();
    for draft in &mut drafts {
        for (step, said) in draft.steps.iter_mut().zip(&draft.said) {
            if let Task::Send { label, .. } | Task::Receive { label, .. } = &mut step.task {
                *label = (tags.partition_point(|&tag| tag < said.tag) as u64) << 32;
            }
        }
    }
    let cpus =
        (0..).zip(&mut drafts).map(|(rank, draft)| number_cpus(source, rank, draft)).collect::<Result<Vec<_>, _>>()?;
    matching::number_and_check(source, &mut drafts, &tags)?;
    let graphs = drafts.into_iter().zip(cpus).map(|(draft, cpus)| Graph::new(draft.steps, cpus, draft.edges)).collect();
    Ok(Trace { graphs, tags })
}

fn tag_of((step, said): (&Step, &Said)) -> Option<u64> {
    (!matches!(step.task, Task::Compute { .. })).then_some(said.tag)
}

/// Gives the CPUs of a rank numbers without gaps, so that they take as much memory as there are of them; returns the numbers of the file.
fn number_cpus(source: Source<'_>, rank: u32, draft: &mut Draft) -> Result<Vec<u32>, Error> {
    let mut cpus: Vec<u32> = draft.said.iter().map(|said| said.cpu).chain([0]).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let most = usize::from(u16::MAX) + 1;
    for (number, (step, said)) in (0..).zip(draft.steps.iter_mut().zip(&draft.said)) {
        let place = cpus.partition_point(|&cpu| cpu < said.cpu);
        step.cpu = u16::try_from(place).map_err(|_| {
            let kind = ErrorKind::TooManyCpus { cpu: said.cpu, rank, found: cpus.len(), most };
            source.at(said.place, rank, number, kind)
        })?;
    }
    Ok(cpus)
}
