//! A rank that runs a graph of operations (model, section 10, "A rank with a trace").

use std::collections::BTreeSet;

use odonata_programs::trace::{self, Graph, Start};

use super::execution::{Action, Next};

/// The graph of a rank, and its position in an iteration.
#[derive(Debug)]
pub(crate) struct Schedule {
    graph: Graph,
    /// Whether the NICs that its operations name are used.
    names_nics: bool,
    /// For each operation, the number of events of other operations for which it still waits.
    waits_for: Vec<u32>,
    /// Operations that wait for nothing and have not been taken, by their position in the text.
    ready: BTreeSet<usize>,
    /// Operations that have not ended.
    open: usize,
}

impl Schedule {
    /// A new rank.
    pub(crate) fn new(graph: Graph, names_nics: bool) -> Self {
        Self { graph, names_nics, waits_for: Vec::new(), ready: BTreeSet::new(), open: 0 }
    }

    /// The number in the text of a CPU.
    pub(crate) fn cpu(&self, index: u16) -> u32 {
        self.graph.cpus()[usize::from(index)]
    }

    /// An iteration begins.
    pub(crate) fn begin(&mut self) {
        let operations = self.graph.operations().len();
        self.waits_for = (0..operations).map(|op| self.graph.waits_for(op as u32)).collect();
        self.ready = (0..operations).filter(|&op| self.waits_for[op] == 0).collect();
        self.open = operations;
    }

    /// The first ready operation.
    pub(crate) fn next(&mut self) -> Next {
        let Some(op) = self.ready.pop_first() else {
            return if self.open == 0 { Next::End } else { Next::Wait };
        };
        let operation = self.graph.operations()[op];
        let cpu = operation.cpu;
        let nics = self.names_nics.then_some((operation.nic, operation.peer_nic));
        Next::Begin(match operation.action {
            trace::Action::Compute { ps } => Action::Compute { op, cpu, ps },
            trace::Action::Send { to, label, bytes } => Action::Send { op, cpu, to, label, bytes, nics },
            trace::Action::Receive { from, label, .. } => Action::Receive { op, cpu, from, label, nics },
        })
    }

    /// An operation has begun.
    pub(crate) fn begun(&mut self, op: usize) {
        self.happened(op, Start::AtBegin);
    }

    /// An operation has ended.
    pub(crate) fn ended(&mut self, op: usize) {
        self.open -= 1;
        self.happened(op, Start::AtEnd);
    }

    fn happened(&mut self, op: usize, event: Start) {
        for &(follower, waits_until) in self.graph.followers(op as u32) {
            if waits_until == event {
                let follower = follower as usize;
                self.waits_for[follower] -= 1;
                if self.waits_for[follower] == 0 {
                    self.ready.insert(follower);
                }
            }
        }
    }
}
