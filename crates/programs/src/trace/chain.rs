//! Operations one after the other as a graph.

use std::collections::BTreeSet;

use super::draft::{Draft, SourceDetails};
use super::graph::{Action, Edge, Start};

/// The operations of a rank, each of which waits for the one before: for its end if it blocks (computing does), for its beginning if
/// it does not. A wait is no operation: the next one also waits for the ends of those that are waited for. All are on CPU 0.
#[derive(Default)]
pub struct Chain {
    pub draft: Draft,
    /// For what of the last operation the next one waits.
    last: Option<Start>,
    /// Operations that do not block and have not been waited for: peer, tag, number.
    open: BTreeSet<(u32, u64, u32)>,
    /// Operations that the next one waits for.
    awaited: Vec<u32>,
}

impl Chain {
    /// Appends an operation that begins at a byte and a line of the text. `tag` is 0 if it is no message.
    pub fn push(&mut self, action: Action, tag: u64, blocking: bool, place: u32, line: u32) {
        let after = self.draft.operations.len() as u32;
        let edge = |before, start| Edge { before, after, start };
        // Who waits for the end need not wait for the beginning too.
        if let Some(start) = self.last.filter(|_| !self.awaited.contains(&after.wrapping_sub(1))) {
            self.draft.edges.push(edge(after - 1, start));
        }
        self.draft.edges.extend(self.awaited.drain(..).map(|before| edge(before, Start::AtEnd)));
        self.last = Some(if blocking { Start::AtEnd } else { Start::AtBegin });
        if let Some(peer) = peer(action).filter(|_| !blocking) {
            self.open.insert((peer, tag, after));
        }
        self.draft.push(action, 0, line, SourceDetails { tag, cpu: 0, place });
    }

    /// Waits for all operations that do not block.
    pub fn wait(&mut self) {
        self.awaited.extend(std::mem::take(&mut self.open).into_iter().map(|(_, _, operation)| operation));
    }

    /// Waits for the oldest operation with this peer and tag that does not block; `None` if there is none.
    pub fn wait_for(&mut self, peer: u32, tag: u64) -> Option<()> {
        let &oldest = self.open.range((peer, tag, 0)..=(peer, tag, u32::MAX)).next()?;
        self.open.remove(&oldest);
        self.awaited.push(oldest.2);
        Some(())
    }

    /// Whether these are all operations that do not block and have not been waited for. Ascending.
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
