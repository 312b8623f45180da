//! The operations of a node of a rank, one after the other.

use super::Staged;
use crate::Op;
use crate::stages::{JOIN, MOST_ENDS, StageAction};
use crate::trace::Action;

/// What an operation waits for that is not the first one of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The operation before it has begun.
    Begin,
    /// The operation before it has ended.
    End,
    /// All operations before it have ended.
    All,
}

/// The position of a rank in the operations of a node. Only the operations of one chunk are kept.
///
/// They are those that a list of operations one after the other becomes in a trace: each waits for the end of the one
/// before if that one blocks, otherwise for its start; after a wait it waits for the ends of all. If the node ends with
/// many operations that do not block, an operation without duration waits for them; also if it has no other operation.
#[derive(Clone, Debug, Default)]
pub struct NodeOperations {
    rank: u32,
    node: u32,
    phase: u32,
    /// Operation in the chunk.
    position: u32,
    chunk: u64,
    ops: Vec<Op>,
    next: Option<Next>,
    /// The place of the CPU of the node.
    cpu: u16,
    /// Operations since the last wait that do not block.
    open: u32,
    /// Whether a wait stands right before the next operation.
    waited: bool,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    action: Action,
    blocking: bool,
    joins: bool,
}

impl NodeOperations {
    /// Goes to the first operation of a node of a rank.
    pub fn begin(&mut self, staged: &Staged, rank: u32, node: u32) {
        (self.rank, self.node, self.phase, self.position, self.chunk) = (rank, node, 0, 0, 0);
        (self.open, self.waited) = (0, true);
        self.ops.clear();
        self.cpu = staged.place_of_cpu(rank, staged.cpu(rank, node));
        match staged.single(rank, node) {
            Some(action) => self.next = Some(Next { action, blocking: true, joins: false }),
            None => {
                self.load(staged);
                self.find(staged);
                if self.next.is_none() {
                    self.join(staged);
                }
            }
        }
    }

    /// The next operation, the place of its CPU among those of the rank, and whether what follows waits for its end.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<(Action, u16, bool)> {
        self.next.map(|next| (next.action, self.cpu, next.blocking))
    }

    /// Goes on to the operation after the next one. Returns what it waits for; if the node has no more, what its end
    /// waits for.
    #[inline]
    pub fn advance(&mut self, staged: &Staged) -> Awaits {
        let Some(last) = self.next.take() else { return Awaits::All };
        if self.waited {
            self.open = 0;
        }
        self.open += u32::from(!last.blocking);
        if last.joins || !self.is_collective(staged) {
            return Awaits::All;
        }
        self.waited = self.find(staged);
        if self.next.is_none() && self.open + u32::from(last.blocking) > MOST_ENDS as u32 {
            self.join(staged);
        }
        match last.blocking {
            _ if self.waited => Awaits::All,
            true => Awaits::End,
            false => Awaits::Begin,
        }
    }

    fn is_collective(&self, staged: &Staged) -> bool {
        matches!(staged.node(self.rank, self.node).what, StageAction::Collective { .. })
    }

    /// The next operation only joins others.
    fn join(&mut self, staged: &Staged) {
        self.cpu = staged.place_of_cpu(self.rank, JOIN);
        self.next = Some(Next { action: Action::Compute { ps: 0 }, blocking: true, joins: true });
    }

    /// Makes the operations of the present chunk, or of the next one that there is. Returns whether there is one.
    fn load(&mut self, staged: &Staged) -> bool {
        let StageAction::Collective { number } = staged.node(self.rank, self.node).what else { return false };
        let (phases, own) = (&staged.collectives[number as usize].phases, self.rank % staged.width);
        self.position = 0;
        self.ops.clear();
        while (self.phase as usize) < phases.len() {
            if self.chunk < phases.chunks(self.phase as usize, own) {
                phases.chunk(self.phase as usize, own, self.chunk, &mut self.ops);
                return true;
            }
            (self.phase, self.chunk) = (self.phase + 1, 0);
        }
        false
    }

    /// Finds the next operation from the present position on. Returns whether a wait stands before it, or the end.
    fn find(&mut self, staged: &Staged) -> bool {
        let StageAction::Collective { number } = staged.node(self.rank, self.node).what else { return true };
        let collective = &staged.collectives[number as usize];
        let stage = self.rank / staged.width;
        let base = stage * staged.width;
        let label_of = |node, label| staged.graphs[stage as usize].first_label(node) + collective.place(label);
        let mut wait = false;
        loop {
            let Some(&op) = self.ops.get(self.position as usize) else {
                if (self.phase as usize) >= collective.phases.len() {
                    return true;
                }
                self.chunk += 1;
                if !self.load(staged) {
                    return true;
                }
                continue;
            };
            self.position += 1;
            let (action, blocking) = match op {
                Op::Wait => {
                    wait = true;
                    continue;
                }
                Op::Combine { bytes, of } => match collective.combining(bytes, of) {
                    0 => continue,
                    ps => (Action::Compute { ps }, true),
                },
                Op::Compute { ps, .. } => (Action::Compute { ps }, true),
                Op::Send { to, label, bytes, blocking } => {
                    (Action::Send { to: base + to, label: label_of(self.node, label), bytes }, blocking)
                }
                Op::Receive { from, label, bytes, blocking } => {
                    (Action::Receive { from: base + from, label: label_of(self.node, label), bytes }, blocking)
                }
            };
            self.next = Some(Next { action, blocking, joins: false });
            return wait;
        }
    }
}
