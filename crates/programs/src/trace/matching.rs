//! Matching: the k-th send matches the k-th receive of the same source, destination and tag, in the order of the text.

use odonata_error::{Error, ErrorKind};

use super::draft::Draft;
use super::graph::{Action, Operation};
use super::problem::Source;

/// One side of a message, in the order in which sides match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    source: u32,
    destination: u32,
    /// Index of the tag among those of the trace.
    tag: u32,
    operation: u32,
    sends: bool,
}

impl End {
    fn key(self) -> (u32, u32, u32) {
        (self.source, self.destination, self.tag)
    }

    fn owner(self) -> u32 {
        if self.sends { self.source } else { self.destination }
    }

    fn peer(self) -> u32 {
        if self.sends { self.destination } else { self.source }
    }
}

/// Completes all labels with the occurrence of their tags, gives each end of a message the NIC of the other end, and
/// checks that each message has two ends of the same size.
///
/// # Errors
/// The first operation in the file for which this is not so.
pub fn number_and_check(source: Source<'_>, drafts: &mut [Draft], tags: &[u64]) -> Result<(), Error> {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for (rank, draft) in (0..).zip(&*drafts) {
        for (operation, found) in (0..).zip(&draft.operations) {
            match found.action {
                Action::Send { to, label, .. } => {
                    let tag = (label >> 32) as u32;
                    sends.push(End { source: rank, destination: to, tag, operation, sends: true });
                }
                Action::Receive { from, label, .. } => {
                    let tag = (label >> 32) as u32;
                    receives.push(End { source: from, destination: rank, tag, operation, sends: false });
                }
                Action::Compute { .. } => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    number(&sends, drafts);
    number(&receives, drafts);
    let faults = Faults::new(&sends, &receives, drafts);
    if let Some((end, kind)) = faults.first(source, drafts, tags) {
        return Err(source.at(place(drafts, end), end.owner(), end.operation, operation(drafts, end).line, kind));
    }
    // Both lists hold the same messages in the same order.
    for (&send, &receive) in sends.iter().zip(&receives) {
        let [from, at] = [send, receive].map(|end| operation(drafts, end).nic);
        for (end, nic) in [(send, at), (receive, from)] {
            drafts[end.owner() as usize].operations[end.operation as usize].peer_nic = nic;
        }
    }
    Ok(())
}

fn number(ends: &[End], drafts: &mut [Draft]) {
    for group in ends.chunk_by(|a, b| a.key() == b.key()) {
        for (occurrence, end) in (0..).zip(group) {
            match &mut drafts[end.owner() as usize].operations[end.operation as usize].action {
                Action::Send { label, .. } | Action::Receive { label, .. } => *label |= occurrence,
                Action::Compute { .. } => {}
            }
        }
    }
}

/// What does not match.
#[derive(Default)]
struct Faults {
    /// Sends and receives that match in everything but their size.
    unequal: Vec<(End, End)>,
    /// Unmatched sides, sorted, each with the number of matched ones before it.
    sends: Vec<(End, u32)>,
    receives: Vec<(End, u32)>,
}

impl Faults {
    /// Walks both sorted lists in parallel.
    fn new(sends: &[End], receives: &[End], drafts: &[Draft]) -> Self {
        let mut faults = Self::default();
        let (mut s, mut r, mut matched, mut key) = (0, 0, 0_u32, None);
        loop {
            let least = [sends.get(s), receives.get(r)].into_iter().flatten().map(|end| end.key()).min();
            if least.is_none() {
                return faults;
            }
            if least != key {
                (matched, key) = (0, least);
            }
            let here = |ends: &[End], i: usize| ends.get(i).copied().filter(|end| Some(end.key()) == least);
            match (here(sends, s), here(receives, r)) {
                (Some(send), Some(receive)) => {
                    if bytes(operation(drafts, send)) != bytes(operation(drafts, receive)) {
                        faults.unequal.push((send, receive));
                    }
                    (s, r, matched) = (s + 1, r + 1, matched + 1);
                }
                (Some(send), None) => {
                    faults.sends.push((send, matched));
                    s += 1;
                }
                (None, receive) => {
                    faults.receives.extend(receive.map(|receive| (receive, matched)));
                    r += 1;
                }
            }
        }
    }

    /// The first one in the file, and what is wrong with it.
    fn first(&self, source: Source<'_>, drafts: &[Draft], tags: &[u64]) -> Option<(End, ErrorKind)> {
        let unequal = self.unequal.iter().map(|&(send, receive)| (receive, Err(send)));
        let alone = self.sends.iter().chain(&self.receives).map(|&(end, matched)| (end, Ok(matched)));
        let (end, fault) = unequal.chain(alone).min_by_key(|fault| place(drafts, fault.0))?;
        let other = |end: End| source.other(end.owner(), operation(drafts, end).line);
        let (rank, peer, bytes) = (end.owner(), end.peer(), bytes(operation(drafts, end)));
        let tag = tags[end.tag as usize];
        let matched = match fault {
            Ok(matched) => matched,
            Err(send) => {
                let (send_bytes, send) = (self::bytes(operation(drafts, send)), other(send));
                return Some((end, ErrorKind::UnequalSizes { rank, peer, tag, bytes, send, send_bytes }));
            }
        };
        let operation = if end.sends { "send" } else { "receive" };
        // A tag may be mistyped: is anything else between the two ranks unmatched?
        let others = if end.sends { &self.receives } else { &self.sends };
        let from =
            others.partition_point(|(other, _)| (other.source, other.destination) < (end.source, end.destination));
        let near = others.get(from).map(|&(near, _)| near);
        let near = near.filter(|o| (o.source, o.destination) == (end.source, end.destination));
        let (other, other_tag) = (near.map(other), near.map(|o| tags[o.tag as usize]));
        Some((end, ErrorKind::Unmatched { operation, rank, peer, tag, bytes, matched, other, other_tag }))
    }
}

fn place(drafts: &[Draft], end: End) -> u32 {
    drafts[end.owner() as usize].details[end.operation as usize].place
}

fn operation(drafts: &[Draft], end: End) -> &Operation {
    &drafts[end.owner() as usize].operations[end.operation as usize]
}

fn bytes(operation: &Operation) -> u64 {
    match operation.action {
        Action::Send { bytes, .. } | Action::Receive { bytes, .. } => bytes,
        Action::Compute { .. } => 0,
    }
}
