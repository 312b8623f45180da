//! Ranks that run phases: one operation at a time.

use odonata_programs::{Op, Program};

use super::matching::MessageKey;
use super::rank::Waits;
use super::running::{BLOCKING, NodeContext, OPEN, OWN, Running, Token};
use crate::observe::Task;

impl Running {
    /// The CPU task of a rank's present operation is done.
    pub(super) fn go_on(&mut self, rank: u32, context: &mut NodeContext) {
        let more = match self.operation(rank) {
            Some(Op::Send { to, label, bytes, blocking }) => self.send_on(rank, to, label, bytes, blocking, context),
            _ => true,
        };
        if more {
            self.ranks[rank as usize].position += 1;
            self.advance(rank, context);
        }
    }

    /// An operation that the rank may wait for is complete.
    pub(super) fn operation_complete(&mut self, rank: u32, token: Token, context: &mut NodeContext) {
        let of = &mut self.ranks[rank as usize];
        if token == BLOCKING {
            of.waits = Waits::Work;
            of.position += 1;
            self.advance(rank, context);
            return;
        }
        of.open -= 1;
        if of.open == 0 && of.waits == Waits::All {
            of.waits = Waits::Work;
            self.advance(rank, context);
        }
    }

    /// Runs operations until one takes time.
    pub(super) fn advance(&mut self, rank: u32, context: &mut NodeContext) {
        loop {
            let next = self.operation(rank);
            self.time_begins(rank, context.now);
            let Some(op) = next else {
                if self.must_wait(rank) {
                    return;
                }
                let of = &mut self.ranks[rank as usize];
                (of.phase, of.chunk, of.position) = (0, 0, 0);
                if self.end_iteration(rank, context) {
                    continue;
                }
                return;
            };
            let more = match op {
                Op::Compute { ps, jitter_ps } => {
                    let ps = self.computing(rank, ps, jitter_ps);
                    self.occupy(rank, 0, Task::Compute, ps, OWN, context).1 <= context.now
                }
                Op::Combine { bytes, of } => match self.combining(bytes, of) {
                    Some(ps) => self.occupy(rank, 0, Task::Combine { bytes }, ps, OWN, context).1 <= context.now,
                    None => true,
                },
                Op::Send { to, label, bytes, blocking } => {
                    let ps = self.sending(rank, to, bytes);
                    self.occupy(rank, 0, Task::Send { to, bytes }, ps, OWN, context).1 <= context.now
                        && self.send_on(rank, to, label, bytes, blocking, context)
                }
                Op::Receive { from, label, bytes, blocking } => {
                    let key = MessageKey { to: rank, from, iteration: self.ranks[rank as usize].iteration, label };
                    let token = if blocking { BLOCKING } else { OPEN };
                    let complete = self.post(key, bytes, 0, token, context);
                    self.waits_unless(complete, rank, blocking)
                }
                Op::Wait => !self.must_wait(rank),
            };
            if !more {
                return;
            }
            self.ranks[rank as usize].position += 1;
        }
    }

    /// Hands a message over; returns whether the rank continues.
    fn send_on(
        &mut self,
        rank: u32,
        to: u32,
        label: u64,
        bytes: u64,
        blocking: bool,
        context: &mut NodeContext,
    ) -> bool {
        let key = MessageKey { to, from: rank, iteration: self.ranks[rank as usize].iteration, label };
        let token = if blocking { BLOCKING } else { OPEN };
        let complete = self.hand_over(key, bytes, token, context);
        self.waits_unless(complete, rank, blocking)
    }

    /// Records what a rank waits for after an operation; returns whether it continues.
    fn waits_unless(&mut self, complete: bool, rank: u32, blocking: bool) -> bool {
        let of = &mut self.ranks[rank as usize];
        if !complete && blocking {
            of.waits = Waits::Operation;
        } else if !complete {
            of.open += 1;
        }
        complete || !blocking
    }

    /// Whether a rank must wait for non-blocking operations.
    fn must_wait(&mut self, rank: u32) -> bool {
        let of = &mut self.ranks[rank as usize];
        if of.open > 0 {
            of.waits = Waits::All;
        }
        of.open > 0
    }

    /// The present operation of a rank, if its iteration has one more.
    #[inline]
    pub(super) fn operation(&mut self, rank: u32) -> Option<Op> {
        let Program::Phases(phases) = &*self.program else { unreachable!("only for phases") };
        self.chunks.operation(phases, rank, &mut self.ranks[rank as usize])
    }
}
