//! A ring all-reduce, step by step: reduce-scatter, then all-gather (Patarasuk and Yuan 2009).

use crate::Op;
use crate::over::Over;

/// All-reduce of a vector over each communicator of a split.
pub struct Ring {
    over: Over,
    bytes: u64,
}

impl Ring {
    pub fn new(over: Over, bytes: u64) -> Self {
        Self { over, bytes }
    }

    /// Steps, each with one message to the next rank: 2 (n - 1) for n ranks. A communicator sends 2 (n - 1) times the vector.
    pub fn steps(&self) -> u64 {
        2 * u64::from(self.over.count() - 1)
    }

    /// Appends a step: member r sends block r - step, and receives block r - step - 1 from the one before it. The label is
    /// `first_label + step`.
    pub fn step(&self, rank: u32, step: u64, first_label: u64, ops: &mut Vec<Op>) {
        let count = self.over.count();
        let (member, label) = (self.over.member(rank), first_label + step);
        let before = (member + count - 1) % count;
        let from = self.over.rank(rank, before);
        let to = self.over.rank(rank, (member + 1) % count);
        ops.push(Op::Receive { from, label, bytes: self.block(before, step), blocking: false });
        ops.push(Op::Send { to, label, bytes: self.block(member, step), blocking: false });
        ops.push(Op::Wait);
    }

    /// Size of the block that a member sends in a step: the n blocks are as equal as can be, larger ones first.
    fn block(&self, member: u32, step: u64) -> u64 {
        let count = u64::from(self.over.count());
        let block = (u64::from(member) + count - step % count) % count;
        self.bytes / count + u64::from(block < self.bytes % count)
    }
}
