//! Ranks that run a trace: a graph of operations.

use std::cmp::Reverse;

use odonata_programs::Program;
use odonata_programs::trace::{Action, Graph, Start};

use super::matching::MessageKey;
use super::rank_events::RankEventKind;
use super::running::{NodeContext, Running, Token};
use crate::observe::Task;

impl Running {
    pub(super) fn graph(&self, rank: u32) -> &Graph {
        let Program::Trace(trace) = &*self.program else { unreachable!("only for traces") };
        trace.graph(rank)
    }

    /// The number of the CPU of an operation: 0 of phases.
    pub(super) fn cpu_of(&self, rank: u32, operation: Token) -> u32 {
        match &*self.program {
            Program::Phases(_) => 0,
            Program::Stages(staged) => staged.cpu(rank, self.nodes_of_stages.node(operation)),
            Program::Trace(trace) => {
                let graph = trace.graph(rank);
                graph.cpu(&graph.operations()[operation as usize])
            }
        }
    }

    /// The NICs that the two operations of a message name: that of this rank, and that of its peer. None if the NIC is
    /// chosen by the `rail` of the fabric.
    pub(super) fn nics(&self, rank: u32, operation: Token) -> Option<[u8; 2]> {
        if !self.names_nics {
            return None;
        }
        let operation = &self.graph(rank).operations()[operation as usize];
        Some([operation.nic, operation.peer_nic])
    }

    /// Begins the operations of a rank that wait for nothing.
    pub(super) fn begin_graph(&mut self, rank: u32, context: &mut NodeContext) {
        self.set_up(rank);
        self.run_ready(rank, context);
    }

    /// Resets what the operations of an iteration wait for.
    fn set_up(&mut self, rank: u32) {
        let Program::Trace(trace) = &*self.program else { unreachable!("only for traces") };
        let (graph, first) = (trace.graph(rank), self.first_operation[rank as usize]);
        for operation in 0..graph.operations().len() as u32 {
            let waits_for = graph.waits_for(operation);
            self.waiting_for[(first + operation) as usize] = waits_for;
            if waits_for == 0 {
                self.ready.push(Reverse(operation));
            }
        }
        self.ranks[rank as usize].open = graph.operations().len() as u32;
    }

    /// An event of an operation has happened: its followers no longer wait for it.
    pub(super) fn release(&mut self, rank: u32, operation: u32, when: Start) {
        let Program::Trace(trace) = &*self.program else { unreachable!("only for traces") };
        let first = self.first_operation[rank as usize];
        for &(follower, start) in trace.graph(rank).followers(operation) {
            if start == when {
                let waiting_for = &mut self.waiting_for[(first + follower) as usize];
                *waiting_for -= 1;
                if *waiting_for == 0 {
                    self.ready.push(Reverse(follower));
                }
            }
        }
    }

    /// Begins operations that are ready, in their order, until none is left, and the next iteration when this one has
    /// ended.
    pub(super) fn run_ready(&mut self, rank: u32, context: &mut NodeContext) {
        loop {
            while let Some(Reverse(operation)) = self.ready.pop() {
                self.begin(rank, operation, context);
            }
            if self.ranks[rank as usize].open > 0 || !self.end_iteration(rank, context) {
                return;
            }
            self.set_up(rank);
        }
    }

    /// Begins an operation.
    fn begin(&mut self, rank: u32, operation: u32, context: &mut NodeContext) {
        let &odonata_programs::trace::Operation { action, cpu, .. } =
            &self.graph(rank).operations()[operation as usize];
        let (task, ps) = match action {
            Action::Compute { ps } => (Task::Compute, self.computing(rank, ps, 0)),
            Action::Send { to, bytes, .. } => (Task::Send { to, bytes }, self.sending(rank, to, bytes)),
            Action::Receive { from, label, bytes } => {
                self.release(rank, operation, Start::AtBegin);
                let key = MessageKey { to: rank, from, iteration: self.ranks[rank as usize].iteration, label };
                if self.post(key, bytes, cpu, operation, context) {
                    self.ended(rank, operation);
                }
                return;
            }
        };
        let number = self.ranks[rank as usize].tasks;
        let (begin, end) = self.occupy(rank, cpu, task, ps, operation, context);
        if begin <= context.now {
            self.release(rank, operation, Start::AtBegin);
        } else if self.graph(rank).followers(operation).iter().any(|&(_, start)| start == Start::AtBegin) {
            self.task_event(RankEventKind::Begun, begin, rank, number, operation, 0, context);
        }
        if end <= context.now {
            self.task_ended(rank, operation, context);
        }
    }

    /// The CPU task of an operation is done, at an event of its own.
    pub(super) fn operation_done(&mut self, rank: u32, operation: Token, context: &mut NodeContext) {
        self.task_ended(rank, operation, context);
        self.run_ready(rank, context);
    }

    /// A send or a receive is complete, at an event of its own.
    pub(super) fn graph_operation_complete(&mut self, rank: u32, operation: Token, context: &mut NodeContext) {
        self.ended(rank, operation);
        self.run_ready(rank, context);
    }

    fn task_ended(&mut self, rank: u32, operation: u32, context: &mut NodeContext) {
        if let Action::Send { to, label, bytes } = self.graph(rank).operations()[operation as usize].action {
            let key = MessageKey { to, from: rank, iteration: self.ranks[rank as usize].iteration, label };
            if !self.hand_over(key, bytes, operation, context) {
                return;
            }
        }
        self.ended(rank, operation);
    }

    fn ended(&mut self, rank: u32, operation: u32) {
        self.ranks[rank as usize].open -= 1;
        self.release(rank, operation, Start::AtEnd);
    }
}
