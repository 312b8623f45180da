//! A sequence of operations as a graph.

use std::collections::BTreeSet;

use super::draft::{Draft, SourceDetails};
use super::graph::{Action, Edge, Start};
use crate::Op;

/// The operations of a rank, in sequence. Each waits for the one before: for its end if that one blocks (computing
/// does), for its start otherwise. A wait is not an operation: the next operation also waits for the ends of the
/// operations that are waited for. All are on the same CPU, 0 unless told otherwise.
#[derive(Default)]
pub struct Chain {
    pub draft: Draft,
    /// CPU of the operations that follow.
    pub cpu: u32,
    /// The event of the last operation that the next one waits for.
    last: Option<Start>,
    /// Non-blocking operations that have not been waited for: peer, tag, number.
    open: BTreeSet<(u32, u64, u32)>,
    /// Operations that the next one waits for.
    awaited: Vec<u32>,
}

impl Chain {
    /// Appends an operation that begins at a byte and a line of the text. `tag` is 0 if it is not a message.
    pub fn push(&mut self, action: Action, tag: u64, blocking: bool, place: u32, line: u32) {
        let after = self.draft.operations.len() as u32;
        let edge = |before, start| Edge { before, after, start };
        // An operation that waits for the end need not wait for the start as well.
        if let Some(start) = self.last.filter(|_| !self.awaited.contains(&after.wrapping_sub(1))) {
            self.draft.edges.push(edge(after - 1, start));
        }
        self.draft.edges.extend(self.awaited.drain(..).map(|before| edge(before, Start::AtEnd)));
        self.last = Some(if blocking { Start::AtEnd } else { Start::AtBegin });
        if let Some(peer) = peer(action).filter(|_| !blocking) {
            self.open.insert((peer, tag, after));
        }
        self.draft.push(action, 0, line, SourceDetails { tag, cpu: self.cpu, place });
    }

    /// Begins a sequence that follows these operations, and none of the sequence before.
    pub fn begin(&mut self, after: impl Iterator<Item = u32>) {
        self.end();
        self.awaited.extend(after);
    }

    /// Ends the sequence: the operations whose ends all of it has happened with.
    pub fn end(&mut self) -> Vec<u32> {
        self.wait();
        let mut ends = std::mem::take(&mut self.awaited);
        if self.last.take().is_some() {
            ends.push(self.draft.operations.len() as u32 - 1);
        }
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Appends an operation of a phase. `tag` gives the tag of a label, `combining` the time in picoseconds to combine so
    /// many bytes of a vector of so many.
    pub fn op(&mut self, op: Op, tag: impl Fn(u64) -> u64, combining: impl Fn(u64, u64) -> u64, place: u32, line: u32) {
        match op {
            Op::Send { to, label, bytes, blocking } => {
                let tag = tag(label);
                self.push(Action::Send { to, label: 0, bytes }, tag, blocking, place, line);
            }
            Op::Receive { from, label, bytes, blocking } => {
                let tag = tag(label);
                self.push(Action::Receive { from, label: 0, bytes }, tag, blocking, place, line);
            }
            Op::Compute { ps, .. } => self.push(Action::Compute { ps }, 0, true, place, line),
            Op::Combine { bytes, of } => {
                let ps = combining(bytes, of);
                if ps > 0 {
                    self.push(Action::Compute { ps }, 0, true, place, line);
                }
            }
            Op::Wait => self.wait(),
        }
    }

    /// Waits for all non-blocking operations.
    pub fn wait(&mut self) {
        self.awaited.extend(std::mem::take(&mut self.open).into_iter().map(|(_, _, operation)| operation));
    }

    /// Waits for the oldest non-blocking operation with this peer and tag; `None` if there is none.
    pub fn wait_for(&mut self, peer: u32, tag: u64) -> Option<()> {
        let &oldest = self.open.range((peer, tag, 0)..=(peer, tag, u32::MAX)).next()?;
        self.open.remove(&oldest);
        self.awaited.push(oldest.2);
        Some(())
    }

    /// Whether these (ascending) are all non-blocking operations that have not been waited for.
    pub fn open_are(&self, operations: &[u32]) -> bool {
        let open = || {
            let mut open: Vec<u32> = self.open.iter().map(|&(_, _, operation)| operation).collect();
            open.sort_unstable();
            open
        };
        self.open.len() == operations.len() && open() == operations
    }
}

/// Peer of an operation.
pub fn peer(action: Action) -> Option<u32> {
    match action {
        Action::Send { to: peer, .. } | Action::Receive { from: peer, .. } => Some(peer),
        Action::Compute { .. } => None,
    }
}
