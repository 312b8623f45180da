//! Ranks that run a trace: a graph of operations.

use std::cmp::Reverse;

use odonata_programs::Program;
use odonata_programs::trace::{Graph, Start, Task};

use super::agenda::Kind;
use super::matching::Key;
use super::running::{Here, Running, Token};

impl Running {
    pub(super) fn graph(&self, rank: u32) -> &Graph {
        let Program::Trace(trace) = &self.program else { unreachable!("asked of traces only") };
        trace.graph(rank)
    }

    /// The NICs that the operations of a message name: that of this rank's, and that of its peer's. None if the machine chooses.
    pub(super) fn nics(&self, rank: u32, step: Token) -> Option<[u8; 2]> {
        if !self.names_nics {
            return None;
        }
        let step = &self.graph(rank).steps()[step as usize];
        Some([step.nic, step.peer_nic])
    }

    /// A rank begins the operations that wait for nothing.
    pub(super) fn begin_graph(&mut self, rank: u32, here: &mut Here) {
        self.set_up(rank);
        self.run_ready(rank, here);
    }

    /// Makes an iteration's operations wait again for what they wait for.
    fn set_up(&mut self, rank: u32) {
        let Program::Trace(trace) = &self.program else { unreachable!("asked of traces only") };
        let (graph, first) = (trace.graph(rank), self.first_step[rank as usize]);
        for step in 0..graph.steps().len() as u32 {
            let waits_for = graph.waits_for(step);
            self.waiting_for[(first + step) as usize] = waits_for;
            if waits_for == 0 {
                self.ready.push(Reverse(step));
            }
        }
        self.ranks[rank as usize].open = graph.steps().len() as u32;
    }

    /// What waits for a moment of an operation need not wait for that any more.
    pub(super) fn release(&mut self, rank: u32, step: u32, moment: Start) {
        let Program::Trace(trace) = &self.program else { unreachable!("asked of traces only") };
        let first = self.first_step[rank as usize];
        for &(follower, start) in trace.graph(rank).followers(step) {
            if start == moment {
                let waiting_for = &mut self.waiting_for[(first + follower) as usize];
                *waiting_for -= 1;
                if *waiting_for == 0 {
                    self.ready.push(Reverse(follower));
                }
            }
        }
    }

    /// Begins operations that are ready, in their order, until there are none; and the next iteration when this one has ended.
    pub(super) fn run_ready(&mut self, rank: u32, here: &mut Here) {
        loop {
            while let Some(Reverse(step)) = self.ready.pop() {
                self.begin(rank, step, here);
            }
            if self.ranks[rank as usize].open > 0 || !self.end_iteration(rank, here) {
                return;
            }
            self.set_up(rank);
        }
    }

    /// Begins an operation.
    fn begin(&mut self, rank: u32, step: u32, here: &mut Here) {
        let &odonata_programs::trace::Step { task, cpu, .. } = &self.graph(rank).steps()[step as usize];
        let ps = match task {
            Task::Compute { ps } => self.computing(rank, ps, 0),
            Task::Send { to, bytes, .. } => self.sending(rank, to, bytes),
            Task::Receive { from, label, bytes } => {
                self.release(rank, step, Start::AtBegin);
                let key = Key { to: rank, from, iteration: self.ranks[rank as usize].iteration, label };
                if self.post(key, bytes, cpu, step, here) {
                    self.ended(rank, step);
                }
                return;
            }
        };
        let number = self.ranks[rank as usize].works;
        let (begin, end) = self.occupy(rank, cpu, ps, step, here);
        if begin <= here.now {
            self.release(rank, step, Start::AtBegin);
        } else if self.graph(rank).followers(step).iter().any(|&(_, start)| start == Start::AtBegin) {
            self.work_moment(Kind::Begun, begin, rank, number, step, 0, here);
        }
        if end <= here.now {
            self.work_ended(rank, step, here);
        }
    }

    /// The work of an operation is done, at a moment of its own.
    pub(super) fn step_done(&mut self, rank: u32, step: Token, here: &mut Here) {
        self.work_ended(rank, step, here);
        self.run_ready(rank, here);
    }

    /// A send or a receive is complete, at a moment of its own.
    pub(super) fn step_complete(&mut self, rank: u32, step: Token, here: &mut Here) {
        self.ended(rank, step);
        self.run_ready(rank, here);
    }

    fn work_ended(&mut self, rank: u32, step: u32, here: &mut Here) {
        if let Task::Send { to, label, bytes } = self.graph(rank).steps()[step as usize].task {
            let key = Key { to, from: rank, iteration: self.ranks[rank as usize].iteration, label };
            if !self.hand_over(key, bytes, step, here) {
                return;
            }
        }
        self.ended(rank, step);
    }

    fn ended(&mut self, rank: u32, step: u32) {
        self.ranks[rank as usize].open -= 1;
        self.release(rank, step, Start::AtEnd);
    }
}
