//! Wavefronts through a grid of px x py ranks, each cut into blocks along z (Koch, Baker, Alcouffe 1992; ember's
//! sweep3d).
//!
//! Sweep s starts at corner s mod 4: (0, 0), (px - 1, 0), (px - 1, py - 1), (0, py - 1). For each block a rank receives
//! from upstream along x, then y, computes, and sends downstream along x, then y; all operations block. Each block of a
//! sweep sends `(px - 1) py` messages along x and `px (py - 1)` along y. On an empty machine, with messages that take
//! no time, a sweep takes the time to compute `blocks + px + py - 2` blocks.
//!
//! There is no deadlock, even if every send waits for its receive: in the order of (sweep, block, distance from the
//! corner), every rank posts its receive along x before any rank waits for a receive along y.
//!
//! Labels: `sweep * blocks + block`. Two ranks are neighbours along one axis only.

use odonata_error::{Error, path};

use super::check;
use crate::{Op, Part, Sweep};

/// The sweeps; a chunk is a block.
pub struct Wavefronts {
    spec: Sweep,
}

impl Wavefronts {
    pub fn new(spec: &Sweep, ranks: u32) -> Result<Self, Error> {
        check::grid("grid", &spec.grid, ranks)?;
        check::some("blocks", spec.blocks)?;
        check::some("sweeps", spec.sweeps)?;
        check::bytes(path!["x_bytes"], spec.x_bytes)?;
        check::bytes(path!["y_bytes"], spec.y_bytes)?;
        check::labels("blocks", u128::from(spec.blocks) * u128::from(spec.sweeps))?;
        Ok(Self { spec: *spec })
    }

    /// The ranks before and after a rank along an axis, in a sweep from a corner.
    fn neighbours(&self, rank: u32, axis: usize, corner: u64) -> (Option<u32>, Option<u32>) {
        let [px, py] = self.spec.grid;
        let (at, extent, stride) = if axis == 0 { (rank % px, px, 1) } else { (rank / px, py, px) };
        let low = (at > 0).then(|| rank - stride);
        let high = (at + 1 < extent).then(|| rank + stride);
        let from_low = if axis == 0 { corner == 0 || corner == 3 } else { corner < 2 };
        if from_low { (low, high) } else { (high, low) }
    }
}

impl Part for Wavefronts {
    fn chunks(&self, _: u32) -> u64 {
        u64::from(self.spec.sweeps) * u64::from(self.spec.blocks)
    }

    fn chunk(&self, rank: u32, label: u64, ops: &mut Vec<Op>) {
        let corner = label / u64::from(self.spec.blocks) % 4;
        let (from_x, to_x) = self.neighbours(rank, 0, corner);
        let (from_y, to_y) = self.neighbours(rank, 1, corner);
        let Sweep { x_bytes, y_bytes, compute_ps, .. } = self.spec;
        let receive =
            |(from, bytes): (Option<u32>, u64)| from.map(|from| Op::Receive { from, label, bytes, blocking: true });
        let send = |(to, bytes): (Option<u32>, u64)| to.map(|to| Op::Send { to, label, bytes, blocking: true });
        ops.extend([(from_x, x_bytes), (from_y, y_bytes)].into_iter().filter_map(receive));
        ops.push(Op::Compute { ps: compute_ps, jitter_ps: 0 });
        ops.extend([(to_x, x_bytes), (to_y, y_bytes)].into_iter().filter_map(send));
    }
}
