//! A rank that runs its operations one after the other (model, section 10, "A rank with phases").

use odonata_programs::Op;
use odonata_sim::engine::random::{Stream, exponential, random};

use super::execution::{Action, Next};

/// All operations of such a rank are on this CPU.
const CPU: u16 = 0;

/// What the rank waits for before it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// Nothing.
    Now,
    /// The end of this operation.
    Complete(usize),
    /// The hand-over of the message of this operation.
    HandedOver(usize),
    /// All non-blocking operations.
    All,
}

/// The operations of a rank and its position.
#[derive(Debug)]
pub(crate) struct Sequence {
    ops: Vec<Op>,
    /// The next operation.
    next: usize,
    /// The operation with which the time of an iteration begins, and whether it has begun.
    timed_from: usize,
    timed: bool,
    until: Until,
    /// Incomplete non-blocking operations of this iteration.
    open: u64,
    /// Number of computes in all iterations so far.
    computes: u64,
    seed: u64,
    /// Component of the stream of jitter.
    component: u64,
}

impl Sequence {
    /// A new rank.
    pub(crate) fn new(ops: Vec<Op>, timed_from: usize, seed: u64, component: u64) -> Self {
        Self { ops, next: 0, timed_from, timed: false, until: Until::Now, open: 0, computes: 0, seed, component }
    }

    /// An iteration begins.
    pub(crate) fn begin(&mut self) {
        self.next = 0;
        self.timed = false;
        self.until = Until::Now;
    }

    /// The next operation, if the rank need not wait.
    pub(crate) fn next(&mut self) -> Next {
        loop {
            match self.until {
                Until::Now => {}
                Until::All if self.open == 0 => {}
                Until::All | Until::Complete(_) | Until::HandedOver(_) => return Next::Wait,
            }
            let op = self.next;
            if op >= self.timed_from && !self.timed {
                self.timed = true;
                return Next::Timed;
            }
            let Some(&what) = self.ops.get(op) else {
                // As if there were a wait at the end.
                return if self.open == 0 { Next::End } else { Next::Wait };
            };
            self.next += 1;
            let cpu = CPU;
            let (action, until) = match what {
                Op::Wait => {
                    self.until = Until::All;
                    continue;
                }
                Op::Compute { ps, jitter_ps } => {
                    let ps = ps.saturating_add(self.jitter(jitter_ps));
                    (Action::Compute { op, cpu, ps }, Until::Complete(op))
                }
                Op::Combine { bytes, of } => (Action::Combine { op, cpu, bytes, of }, Until::Complete(op)),
                Op::Send { to, label, bytes, blocking } => {
                    let until = if blocking { Until::Complete(op) } else { Until::HandedOver(op) };
                    (Action::Send { op, cpu, to, label, bytes, nics: None }, until)
                }
                Op::Receive { from, label, blocking, .. } => {
                    let until = if blocking { Until::Complete(op) } else { Until::Now };
                    (Action::Receive { op, cpu, from, label, nics: None }, until)
                }
            };
            self.open += u64::from(!blocks(what));
            self.until = until;
            return Next::Begin(action);
        }
    }

    /// The jitter of the next compute.
    fn jitter(&mut self, mean: u64) -> u64 {
        let random = random(self.seed, Stream::Compute, self.component, self.computes);
        self.computes += 1;
        if mean == 0 { 0 } else { exponential(random, mean) }
    }

    /// The message of a send is handed over.
    pub(crate) fn handed_over(&mut self, op: usize) {
        if self.until == Until::HandedOver(op) {
            self.until = Until::Now;
        }
    }

    /// An operation is complete.
    pub(crate) fn complete(&mut self, op: usize) {
        if !blocks(self.ops[op]) {
            self.open -= 1;
        } else if self.until == Until::Complete(op) {
            self.until = Until::Now;
        }
    }
}

/// Whether a rank does not continue before the operation is complete.
fn blocks(op: Op) -> bool {
    match op {
        Op::Send { blocking, .. } | Op::Receive { blocking, .. } => blocking,
        Op::Compute { .. } | Op::Combine { .. } | Op::Wait => true,
    }
}
