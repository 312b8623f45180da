//! One optimiser step of training with tensor, data and pipeline parallelism (Narayanan 2021: 1F1B, "PipeDream-Flush").
//!
//! Rank = t + tensor * (d + data * stage). The passes of a stage are in the order of [`schedule`]. A pass receives from
//! the stage before (forward: activations) or after (backward: gradients), computes in `tensor_reductions` equal parts,
//! each followed by a ring all-reduce over the tensor group, and sends on without waiting. A rank exchanges with the
//! ranks of the neighbouring stages that have the same t and d. If a tensor group is one rank, a pass has one part. The
//! jitter of a pass is in its first part. At the end, each data group does a ring all-reduce of the gradients.
//!
//! Bytes of a step: `4 microbatches tensor_reductions (tensor - 1) tensor_bytes` in each tensor group, `2 (data - 1)
//! gradient_bytes` in each data group, `microbatches activation_bytes` from a rank to its peer in the next stage, and
//! the same number back. If messages take no time and there is no jitter, a step takes `(microbatches + pipeline - 1)
//! (forward_ps + backward_ps)`.
//!
//! Labels: two ranks that exchange messages differ in t, in d or in the stage, and only in one of them. So the labels
//! of the three kinds are independent. In a tensor group:
//! `((backward * microbatches + microbatch) * tensor_reductions + reduction) * 2 (tensor - 1) + step of the ring`. In a
//! data group: the step of the ring. Between stages: the microbatch.

mod schedule;

use odonata_error::{Error, path};

use super::check;
use super::ring::Ring;
use crate::communicators::Communicators;
use crate::{GridAxis, Op, Part, Training};
use schedule::{Pass, pass};

/// One optimiser step; a chunk is a part of a pass or a step of a ring.
pub struct TrainingStep {
    spec: Training,
    stages: Communicators,
    tensor: Ring,
    data: Ring,
    /// Parts of a pass.
    parts: u64,
}

impl TrainingStep {
    pub fn new(spec: &Training, ranks: u32) -> Result<Self, Error> {
        let grid = [spec.tensor, spec.data, spec.pipeline];
        for (field, number) in [("tensor", grid[0]), ("data", grid[1]), ("pipeline", grid[2])] {
            check::some(field, number)?;
        }
        check::grid("pipeline", &grid, ranks)?;
        check::some("microbatches", spec.microbatches)?;
        check::bytes(path!["tensor_bytes"], spec.tensor_bytes)?;
        check::bytes(path!["activation_bytes"], spec.activation_bytes)?;
        check::bytes(path!["gradient_bytes"], spec.gradient_bytes)?;
        let communicators = |axis| Communicators::new(Some(&GridAxis { grid: grid.to_vec(), axis }), ranks);
        let tensor = Ring::new(communicators(0)?, spec.tensor_bytes)?;
        let data = Ring::new(communicators(1)?, spec.gradient_bytes)?;
        let reductions = 2 * u128::from(spec.microbatches) * u128::from(spec.tensor_reductions);
        check::labels("tensor_reductions", reductions * u128::from(tensor.steps()))?;
        let parts = if spec.tensor == 1 { 1 } else { u64::from(spec.tensor_reductions.max(1)) };
        Ok(Self { spec: *spec, stages: communicators(2)?, tensor, data, parts })
    }

    /// Chunks of a part of a pass: computing, and the steps of the ring after it.
    fn part_chunks(&self) -> u64 {
        if self.spec.tensor_reductions == 0 { 1 } else { 1 + self.tensor.steps() }
    }

    /// Chunks of all passes of a rank.
    fn pass_chunks(&self) -> u64 {
        2 * u64::from(self.spec.microbatches) * self.parts * self.part_chunks()
    }

    fn compute(&self, pass: Pass, part: u64) -> Op {
        let whole = if pass.backward { self.spec.backward_ps } else { self.spec.forward_ps };
        let ps = whole / self.parts + u64::from(part < whole % self.parts);
        Op::Compute { ps, jitter_ps: if part == 0 { self.spec.jitter_ps } else { 0 } }
    }

    /// The rank that a pass comes from, and the rank that it goes to.
    fn ends(&self, rank: u32, pass: Pass) -> (Option<u32>, Option<u32>) {
        let stage = self.stages.member(rank);
        let before = (stage > 0).then(|| self.stages.rank(rank, stage - 1));
        let after = (stage + 1 < self.stages.count()).then(|| self.stages.rank(rank, stage + 1));
        if pass.backward { (after, before) } else { (before, after) }
    }
}

impl Part for TrainingStep {
    fn is_random(&self) -> bool {
        self.spec.jitter_ps > 0
    }

    fn chunks(&self, _: u32) -> u64 {
        self.pass_chunks() + self.data.steps()
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        if index >= self.pass_chunks() {
            return self.data.step(rank, index - self.pass_chunks(), 0, ops);
        }
        let (number, in_part) = (index / self.part_chunks(), index % self.part_chunks());
        let (number, part) = (number / self.parts, number % self.parts);
        let Training { microbatches, activation_bytes: bytes, .. } = self.spec;
        let pass = pass(self.stages.member(rank), self.stages.count(), microbatches, number);
        let label = u64::from(pass.microbatch);
        let (from, to) = self.ends(rank, pass);
        if part == 0 && in_part == 0 {
            ops.extend(from.map(|from| Op::Receive { from, label, bytes, blocking: true }));
        }
        if in_part == 0 {
            ops.push(self.compute(pass, part));
        } else {
            let reduction = (u64::from(pass.backward) * u64::from(microbatches) + label) * self.parts + part;
            self.tensor.step(rank, in_part - 1, reduction * self.tensor.steps(), ops);
        }
        if part == self.parts - 1 && in_part == self.part_chunks() - 1 {
            ops.extend(to.map(|to| Op::Send { to, label, bytes, blocking: false }));
        }
    }
}
