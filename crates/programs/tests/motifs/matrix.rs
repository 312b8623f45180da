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
        let run = run(&*motif::matrix(&Matrix { pairs: pairs.clone() }, 5).unwrap(), 5, sends);
        let messages = [((0, 2), vec![4, 3, 3]), ((1, 0), vec![0, 0]), ((3, 1), vec![7]), ((3, 2), vec![1, 1, 0, 0])];
        assert_eq!(run.messages, BTreeMap::from(messages));
        assert!(run.ops[4].is_empty(), "a rank without messages has nothing to do");
    }
}

/// All ranks that begin with the same peer, and a pair whose messages come all before those of the next.
#[test]
fn a_rank_takes_its_peers_in_turn_from_the_next() {
    let pairs = vec![Pair(0, 2, 5, 2), Pair(2, 0, 3, 1), Pair(2, 1, 4, 2), Pair(3, 2, 9, 1)];
    let run = run(&*motif::matrix(&Matrix { pairs }, 4).unwrap(), 4, BOTH[0]);
    let receive = |from, label, bytes| Receive { from, label, bytes, blocking: false };
    let send = |to, label, bytes| Send { to, label, bytes, blocking: false };
    // Downwards from rank 2, modulo 4: 0, 3. Upwards: 0, 1.
    let expected =
        [receive(0, 0, 3), receive(3, 0, 9), receive(0, 1, 2), send(0, 0, 3), send(1, 0, 2), send(1, 1, 2), Wait];
    assert_eq!(run.ops[2], expected);
}

/// An order that would hide a pair that is given twice, and numbers that no run can use.
#[test]
fn other_matrices_are_refused() {
    let refused = |pairs: &[Pair], problem: &str| {
        let error = PhaseAction::Matrix(Matrix { pairs: pairs.to_vec() }).part(4).err().expect(problem);
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
