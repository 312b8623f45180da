//! Wavefronts.

use std::collections::BTreeMap;

use odonata_programs::Op::{Compute, Receive, Send};
use odonata_programs::{Op, Sweep, motif};

use crate::run::{BOTH, Run, Sends, run};

const GRIDS: [[u32; 2]; 9] = [[1, 1], [2, 1], [1, 2], [2, 2], [5, 1], [3, 4], [4, 3], [5, 5], [7, 2]];

fn spec(grid: [u32; 2], blocks: u32, sweeps: u32) -> Sweep {
    Sweep { grid, blocks, x_bytes: 10, y_bytes: 7, compute_ps: 1, sweeps }
}

fn swept(sweep: &Sweep, sends: Sends) -> Run {
    let ranks = sweep.grid.iter().product();
    run(&*motif::sweep(sweep, ranks).unwrap(), ranks, sends)
}

/// A wavefront that waits for what it need not wait for, or does not wait: the number of blocks on the longest way.
#[test]
fn one_sweep_takes_blocks_and_both_extents() {
    for [px, py] in GRIDS {
        for blocks in [1, 2, 10] {
            for sends in BOTH {
                let end = swept(&spec([px, py], blocks, 1), sends).end();
                assert_eq!(end, u64::from(blocks + px + py - 2), "{px} x {py}, {blocks} blocks, {sends:?}");
            }
        }
    }
}

/// Corners in another order: the way from the corner of a sweep to that of the next is added each time, along x, y, x,
/// y, ... from (0, 0), (px - 1, 0), (px - 1, py - 1), (0, py - 1).
#[test]
fn sweeps_start_at_the_four_corners_in_turn() {
    for [px, py] in GRIDS {
        for sweeps in 1..=8 {
            let (x, y, blocks) = (u64::from(px - 1), u64::from(py - 1), 6);
            let between: u64 = (1..sweeps).map(|sweep| if sweep % 2 == 1 { x } else { y }).sum();
            for sends in BOTH {
                let end = swept(&spec([px, py], blocks, sweeps), sends).end();
                assert_eq!(end, u64::from(sweeps * blocks) + between + x + y, "{px} x {py}, {sweeps} sweeps");
            }
        }
    }
}

/// Messages to each neighbour: of four sweeps, two go each way along x and along y.
#[test]
fn each_neighbour_gets_a_message_a_block() {
    for grid @ [px, py] in GRIDS {
        let (blocks, sweeps) = (3, 8);
        let mut expected = BTreeMap::new();
        for rank in 0..px * py {
            let mut pair = |other, bytes| {
                for key in [(rank, other), (other, rank)] {
                    expected.insert(key, vec![bytes; (blocks * sweeps / 2) as usize]);
                }
            };
            if rank % px + 1 < px {
                pair(rank + 1, 10);
            }
            if rank / px + 1 < py {
                pair(rank + px, 7);
            }
        }
        let run = swept(&spec(grid, blocks, sweeps), Sends::Rendezvous);
        assert_eq!(run.messages, expected, "{grid:?}");
        let one = swept(&spec(grid, blocks, 1), Sends::Eager);
        assert_eq!(one.count(), u64::from(blocks * ((px - 1) * py + px * (py - 1))));
        assert!(run.ops.iter().all(|ops| ops.iter().filter(|op| matches!(op, Compute { .. })).count() == 24));
    }
}

/// The inner rank of 3 x 3 ranks, from each corner: receive along x, y, compute, send along x, y (ember's sweep3d).
#[test]
fn a_block_receives_computes_and_sends() {
    let run = swept(&spec([3, 3], 1, 5), Sends::Rendezvous);
    let block = |index: u64, from_x, from_y, to_x, to_y| -> [Op; 5] {
        let (label, blocking) = (index, true);
        [
            Receive { from: from_x, label, bytes: 10, blocking },
            Receive { from: from_y, label, bytes: 7, blocking },
            Compute { ps: 1, jitter_ps: 0 },
            Send { to: to_x, label, bytes: 10, blocking },
            Send { to: to_y, label, bytes: 7, blocking },
        ]
    };
    let corners =
        [block(0, 3, 1, 5, 7), block(1, 5, 1, 3, 7), block(2, 5, 7, 3, 1), block(3, 3, 7, 5, 1), block(4, 3, 1, 5, 7)];
    assert_eq!(run.ops[4], corners.concat());
}
