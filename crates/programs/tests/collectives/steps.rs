//! Some steps of a ring are those of the whole ring, in turn, whatever their number.

use std::collections::BTreeMap;

use odonata_error::ErrorKind;
use odonata_programs::collective::{Act, CollectiveStep};
use odonata_programs::{Op, PhaseAction, RingWork};

use crate::cases::{channels, made, numbers_of_ranks};

/// The moves of a step without their labels.
fn moves(step: CollectiveStep) -> Vec<(Act, u32, String)> {
    step.moves().map(|of| (of.act, of.peer, format!("{:?}", of.piece))).collect()
}

/// Catches steps of another ring, an all-reduce that only reduces at first, and rings that end after a round.
#[test]
fn the_steps_are_those_of_the_ring_in_turn() {
    for ranks in numbers_of_ranks().filter(|&ranks| ranks > 1) {
        let round = u64::from(ranks - 1);
        for ring in channels(ranks, 100) {
            let PhaseAction::RingChannel { work, order, bytes } = ring else { unreachable!() };
            let whole = made(&PhaseAction::RingChannel { work, order: order.clone(), bytes }, ranks).unwrap();
            let steps = 3 * round + 1;
            let some = made(&PhaseAction::RingSteps { work, order, bytes, steps }, ranks).unwrap();
            assert_eq!(some.division().parts(), whole.division().parts());
            for (rank, index) in (0..ranks).flat_map(|rank| (0..steps).map(move |index| (rank, index))) {
                let of_whole = match work {
                    RingWork::Allreduce if index < steps / 2 => index % round,
                    RingWork::Allreduce => round + (index - steps / 2) % round,
                    _ => index % round,
                };
                let step = some.step(rank, index);
                assert_eq!(moves(step), moves(whole.step(rank, of_whole)), "{work:?}, {ranks} ranks, step {index}");
                assert!(step.moves().all(|of| of.label == index));
            }
        }
    }
}

/// Every message has both ends, and sizes are counted right. Catches a label that is used again, and a step too many.
#[test]
fn messages_have_both_ends() {
    for (ranks, steps) in [(1, 5), (2, 0), (2, 7), (6, 1), (6, 4), (6, 25)] {
        for &work in RingWork::ALL {
            let order = if ranks == 6 { vec![1, 0, 2] } else { vec![0] };
            let what = PhaseAction::RingSteps { work, order, bytes: 100, steps };
            let part = what.part(ranks).unwrap();
            let (mut ends, mut sizes) = (BTreeMap::new(), BTreeMap::new());
            for rank in 0..ranks {
                let mut ops = Vec::new();
                (0..part.chunks(rank)).for_each(|index| part.chunk(rank, index, &mut ops));
                for op in ops {
                    match op {
                        Op::Send { to, label, bytes, .. } => {
                            *sizes.entry(bytes).or_insert(0) += 1;
                            assert_eq!(ends.insert((rank, to, label, true), bytes), None);
                        }
                        Op::Receive { from, label, bytes, .. } => {
                            assert_eq!(ends.insert((from, rank, label, false), bytes), None);
                        }
                        _ => {}
                    }
                }
            }
            let messages = if ranks > 1 { u64::from(ranks) * steps } else { 0 };
            assert_eq!(ends.len() as u64, 2 * messages);
            assert!(ends.iter().all(|(&(from, to, label, sent), bytes)| ends[&(from, to, label, !sent)] == *bytes));
            assert_eq!(part.sizes().unwrap(), sizes.into_iter().collect::<Vec<_>>(), "{work:?} {ranks} {steps}");
        }
    }
}

#[test]
fn more_steps_than_labels_are_refused() {
    let what = PhaseAction::RingSteps { work: RingWork::Allgather, order: vec![0], bytes: 1, steps: 1 << 41 };
    let error = what.part(4).err().unwrap();
    assert!(matches!(error.kind, ErrorKind::OutOfRange { found, .. } if found == 1 << 41));
}
