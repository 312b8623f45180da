//! Any chunk can be requested, however many there are. (A loop over all of them would not end.)

use odonata_programs::Op::Compute;
use odonata_programs::{Incast, Op, Part, PingPong, Sweep, Training, motif};

use crate::training::spec;

fn last(part: &dyn Part, rank: u32) -> (u64, Vec<Op>) {
    let mut ops = Vec::new();
    part.chunk(rank, part.chunks(rank) - 1, &mut ops);
    (part.chunks(rank), ops)
}

fn labels(ops: &[Op]) -> Vec<u64> {
    let label = |op: &Op| match *op {
        Op::Send { label, .. } | Op::Receive { label, .. } => Some(label),
        _ => None,
    };
    ops.iter().filter_map(label).collect()
}

/// A root of as many ranks as there can be: its last receives, and then it waits.
#[test]
fn the_last_sender_of_many() {
    let part = motif::incast(&Incast { root: 5, bytes: 1 << 40 }, u32::MAX).unwrap();
    let (chunks, ops) = last(&*part, 5);
    assert_eq!((chunks, ops), (u64::from(u32::MAX), vec![Op::Wait]));
    let mut ops = Vec::new();
    part.chunk(5, chunks - 2, &mut ops);
    assert_eq!(ops, [Op::Receive { from: u32::MAX - 1, label: 0, bytes: 1 << 40, blocking: false }]);
}

#[test]
fn the_last_block_of_many() {
    let sweep = Sweep { grid: [2, 2], blocks: 1 << 20, x_bytes: 1, y_bytes: 1, compute_ps: 5, sweeps: 1 << 20 };
    let (chunks, ops) = last(&*motif::sweep(&sweep, 4).unwrap(), 0);
    assert_eq!((chunks, labels(&ops)), (1 << 40, vec![(1 << 40) - 1; 2]));
    assert!(ops.contains(&Compute { ps: 5, jitter_ps: 0 }));
}

#[test]
fn the_last_round_of_many() {
    let ping_pong = PingPong { stride: 1 << 30, bytes: 1 << 40, rounds: u32::MAX };
    let (chunks, ops) = last(&*motif::ping_pong(&ping_pong, 1 << 31).unwrap(), (1 << 31) - 1);
    assert_eq!((chunks, labels(&ops)), (u64::from(u32::MAX), vec![u64::from(u32::MAX) - 1; 2]));
}

/// As many reductions as there are labels, and the last of them.
#[test]
fn the_last_reduction_of_many() {
    let step = Training { tensor_reductions: 1 << 19, ..spec(2, 1, 2, 1 << 19) };
    let (chunks, ops) = last(&*motif::training(&step, 4).unwrap(), 3);
    assert_eq!(chunks, 6 << 38);
    assert_eq!(labels(&ops), [(1 << 40) - 1, (1 << 40) - 1, (1 << 19) - 1]);
}
