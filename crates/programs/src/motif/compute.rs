//! Every rank computes for itself.

use std::ops::Range;

use crate::{Op, Part};

/// One piece of computing.
#[derive(Clone, Copy, Debug)]
pub struct Compute {
    /// For this long ...
    pub ps: u64,
    /// ... plus an exponential time of this mean.
    pub jitter_ps: u64,
}

impl Part for Compute {
    fn chunks(&self, _: u32) -> u64 {
        1
    }

    fn chunk(&self, _: u32, _: u64, ops: &mut Vec<Op>) {
        ops.push(Op::Compute { ps: self.ps, jitter_ps: self.jitter_ps });
    }

    fn labels(&self) -> Option<Range<u64>> {
        Some(0..0)
    }

    fn is_random(&self) -> bool {
        self.jitter_ps > 0
    }
}
