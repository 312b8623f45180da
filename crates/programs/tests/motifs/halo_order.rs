//! Exchanges with neighbours: their order.

use odonata_programs::Op::{Receive, Send, Wait};
use odonata_programs::{Exchange, Op, motif};

use crate::halo::faces;

fn ops(grid: [u32; 3], periodic: bool, order: Exchange, rank: u32) -> Vec<Op> {
    let part = motif::halo(&faces(grid, periodic, order), grid.iter().product()).unwrap();
    let mut ops = Vec::new();
    (0..part.chunks(rank)).for_each(|index| part.chunk(rank, index, &mut ops));
    ops
}

/// Short: `r5` receives from rank 5, `S3` is a send to rank 3; in capitals if it blocks.
fn short(ops: &[Op]) -> String {
    let word = |op: &Op| match *op {
        Send { to, blocking: true, .. } => format!("S{to}"),
        Send { to, blocking: false, .. } => format!("s{to}"),
        Receive { from, blocking: true, .. } => format!("R{from}"),
        Receive { from, blocking: false, .. } => format!("r{from}"),
        Wait => "W".into(),
        Op::Compute { .. } => "C".into(),
        Op::Combine { .. } => unreachable!("a halo reduces nothing"),
    };
    ops.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A send before a receive is posted, or a wait too early.
#[test]
fn all_at_once_posts_sends_and_waits_once() {
    let middle = short(&ops([3, 3, 1], false, Exchange::AllAtOnce, 4));
    assert_eq!(middle, "r3 r5 r1 r7 s3 s5 s1 s7 W");
    assert_eq!(short(&ops([3, 3, 1], false, Exchange::AllAtOnce, 0)), "r1 r3 s1 s3 W");
    assert_eq!(short(&ops([1, 1, 1], true, Exchange::AllAtOnce, 0)), "");
}

/// Ember's halo3d: per axis two receives, two sends that block, a wait.
#[test]
fn axis_by_axis_finishes_one_before_the_next() {
    let middle = short(&ops([3, 3, 3], false, Exchange::AxisByAxis, 13));
    assert_eq!(middle, "r12 r14 S12 S14 W r10 r16 S10 S16 W r4 r22 S4 S22 W");
    assert_eq!(short(&ops([3, 3, 1], true, Exchange::AxisByAxis, 0)), "r2 r1 S2 S1 W r6 r3 S6 S3 W");
    assert_eq!(short(&ops([1, 3, 1], false, Exchange::AxisByAxis, 0)), "r1 S1 W");
}

/// Ember's halo2d on 4 x 3 ranks, worked out from its source: even ranks first exchange with the next one along x, even
/// rows with the row before.
#[test]
fn even_receives_first_is_embers_halo2d() {
    let at = |rank| short(&ops([4, 3, 1], false, Exchange::EvenReceivesFirst, rank));
    assert_eq!(at(0), "R1 S1 R4 S4");
    assert_eq!(at(1), "S0 R0 S2 R2 R5 S5");
    assert_eq!(at(5), "S4 R4 S6 R6 S9 R9 S1 R1");
    assert_eq!(at(6), "R7 S7 R5 S5 S10 R10 S2 R2");
    assert_eq!(at(9), "S8 R8 S10 R10 R5 S5");
    // Rows of three: along x ember asks for the parity of the rank, which is not that of x in row 1.
    let at = |rank| short(&ops([3, 3, 1], false, Exchange::EvenReceivesFirst, rank));
    assert_eq!(at(3), "S4 R4 S6 R6 S0 R0");
    assert_eq!(at(4), "R5 S5 R3 S3 S7 R7 S1 R1");
}

/// Across the border of a periodic axis of odd extent, the first rank receives first and the last one sends first.
#[test]
fn across_an_odd_border_the_last_sends_first() {
    let at = |rank| short(&ops([5, 1, 1], true, Exchange::EvenReceivesFirst, rank));
    assert_eq!(at(0), "R1 S1 R4 S4");
    assert_eq!(at(4), "S0 R0 R3 S3");
    // An even extent is not special.
    assert_eq!(short(&ops([4, 1, 1], true, Exchange::EvenReceivesFirst, 0)), "R1 S1 R3 S3");
    assert_eq!(short(&ops([4, 1, 1], true, Exchange::EvenReceivesFirst, 3)), "S2 R2 S0 R0");
}

/// Labels tell the two messages between the ranks of a ring of two apart by the direction in which they travel.
#[test]
fn labels_are_directions() {
    let send = |label| Send { to: 1, label, bytes: 100, blocking: false };
    let receive = |label| Receive { from: 1, label, bytes: 100, blocking: false };
    let both = ops([2, 1, 1], true, Exchange::AllAtOnce, 0);
    assert_eq!(both, [receive(14), receive(12), send(12), send(14), Wait]);
}
