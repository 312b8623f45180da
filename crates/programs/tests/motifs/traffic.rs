//! What ranks send to each other.

use odonata_programs::{Allgather, Body, Matrix, Pair, Phase, PhaseAction, Program};

fn traffic(phases: Vec<PhaseAction>, ranks: u32) -> Vec<Pair> {
    let phases = phases.into_iter().map(|what| Phase { along: None, what }).collect();
    Program::new(&Body::Phases { phases, untimed: 0 }, ranks).unwrap().traffic(ranks).unwrap()
}

/// Sends of one phase only, pairs that are listed for each phase, and messages that are not counted.
#[test]
fn messages_of_all_phases_are_added_up() {
    let pairs = vec![Pair(0, 1, 10, 3), Pair(2, 0, 5, 1)];
    let matrix = || PhaseAction::Matrix(Matrix { pairs: pairs.clone(), per_node: None });
    assert_eq!(traffic(vec![matrix()], 3), pairs);
    let ring = PhaseAction::Allgather { algorithm: Allgather::Ring, bytes: 7 };
    // Around the ring, two steps of a block each.
    let expected = [Pair(0, 1, 24, 5), Pair(1, 2, 14, 2), Pair(2, 0, 19, 3)];
    assert_eq!(traffic(vec![matrix(), ring], 3), expected);
}

/// A trace in which only receives are counted, and what a rank sends to itself.
#[test]
fn a_trace_gives_its_sends() {
    let goal = "num_ranks 2\nrank 0 { send 8b to 1 tag 1\nsend 4b to 1\nsend 9b to 0\nrecv 9b from 0 }\n\
                rank 1 { recv 8b from 0 tag 1\nrecv 4b from 0 }\n";
    let program = Program::new(&Body::Trace { goal: goal.to_owned() }, 2).unwrap();
    assert_eq!(program.traffic(2).unwrap(), [Pair(0, 1, 12, 2)]);
}
