//! Messages of a communication matrix.

use std::collections::BTreeMap;

use odonata_programs::Op::{Receive, Send, Wait};
use odonata_programs::{Matrix, Pair, PhaseAction, motif};

use crate::run::{BOTH, run};

/// A pair without its messages, a message of the wrong size, bytes that get lost in a division, and messages to a rank
/// that does not receive them.
#[test]
fn every_pair_gets_its_bytes_in_its_messages() {
    let pairs = vec![Pair(0, 2, 10, 3), Pair(1, 0, 0, 2), Pair(3, 1, 7, 1), Pair(3, 2, 2, 4)];
    for sends in BOTH {
        let run = run(&*motif::matrix(&Matrix { pairs: pairs.clone(), per_node: None }, 5).unwrap(), 5, sends);
        let messages = [((0, 2), vec![4, 3, 3]), ((1, 0), vec![0, 0]), ((3, 1), vec![7]), ((3, 2), vec![1, 1, 0, 0])];
        assert_eq!(run.messages, BTreeMap::from(messages));
        assert!(run.ops[4].is_empty(), "a rank without messages has nothing to do");
    }
}

/// All ranks that begin with the same peer, and a pair whose messages come all before those of the next.
#[test]
fn a_rank_takes_its_peers_in_turn_from_the_next() {
    let pairs = vec![Pair(0, 2, 5, 2), Pair(2, 0, 3, 1), Pair(2, 1, 4, 2), Pair(3, 2, 9, 1)];
    let run = run(&*motif::matrix(&Matrix { pairs, per_node: None }, 4).unwrap(), 4, BOTH[0]);
    let receive = |from, label, bytes| Receive { from, label, bytes, blocking: false };
    let send = |to, label, bytes| Send { to, label, bytes, blocking: false };
    // Downwards from rank 2, modulo 4: 0, 3. Upwards: 0, 1.
    let expected =
        [receive(0, 0, 3), receive(3, 0, 9), receive(0, 1, 2), send(0, 0, 3), send(1, 0, 2), send(1, 1, 2), Wait];
    assert_eq!(run.ops[2], expected);
}

/// Four nodes of two: a rank takes its own node first, then node after node, and in each the ranks from its own number on.
/// Catches ranks of a node that all begin with the same rank of the next one.
#[test]
fn peers_of_nodes_come_node_after_node() {
    let all = (0..8).flat_map(|from| (0..8).filter(move |&to| to != from).map(move |to| Pair(from, to, 1, 1)));
    let matrix = Matrix { pairs: all.collect(), per_node: Some(2) };
    let run = run(&*motif::matrix(&matrix, 8).unwrap(), 8, BOTH[0]);
    let peers = |rank: usize| -> Vec<u32> {
        run.ops[rank].iter().filter_map(|op| if let Send { to, .. } = op { Some(*to) } else { None }).collect()
    };
    assert_eq!(peers(2), [3, 4, 5, 6, 7, 0, 1]);
    assert_eq!(peers(3), [2, 5, 4, 7, 6, 1, 0]);
    let refused = Matrix { per_node: Some(3), ..matrix };
    let error = PhaseAction::Matrix(refused).part(8).err().unwrap();
    assert_eq!(error.to_string(), "per_node: grid-of-other-size (grid = [3, 2], points = 6, ranks = 8)");
}

/// An order that would hide a pair that is given twice, and numbers that no run can use.
#[test]
fn other_matrices_are_refused() {
    let refused = |pairs: &[Pair], problem: &str| {
        let error = PhaseAction::Matrix(Matrix { pairs: pairs.to_vec(), per_node: None }).part(4).err().expect(problem);
        assert_eq!(error.to_string(), problem);
    };
    refused(&[], "pairs: out-of-range (found = 0, least = 1, most = 67108864)");
    refused(&[Pair(0, 4, 1, 1)], "pairs[0][1]: out-of-range (found = 4, least = 0, most = 3)");
    refused(&[Pair(0, 1, 1, 1), Pair(0, 1, 1, 1)], "pairs[1]: pair-order");
    refused(&[Pair(1, 0, 1, 1), Pair(0, 1, 1, 1)], "pairs[1]: pair-order");
    refused(&[Pair(2, 2, 1, 1)], "pairs[0]: pair-order");
    refused(&[Pair(0, 1, 1, 0)], "pairs[0][3]: zero");
    refused(
        &[Pair(0, 1, (1 << 40) + 1, 1)],
        "pairs[0][2]: out-of-range (found = 1099511627777, least = 0, most = 1099511627776)",
    );
    let many = [Pair(0, 1, 1, u32::MAX), Pair(0, 2, 1, 1)];
    refused(&many, "pairs: out-of-range (found = 4294967296, least = 1, most = 67108864)");
}
