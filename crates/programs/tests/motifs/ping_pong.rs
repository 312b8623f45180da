//! Ping-pong.

use odonata_programs::Op::{Receive, Send};
use odonata_programs::{PingPong, motif};

use crate::run::{BOTH, run};

/// A wrong partner, a missing message, or a reply that does not wait.
#[test]
fn each_pair_plays_all_rounds() {
    for (ranks, stride) in [(2, 1), (6, 1), (8, 4), (8, 2), (18, 3)] {
        let spec = PingPong { stride, bytes: 9, rounds: 4 };
        for sends in BOTH {
            let run = run(&*motif::ping_pong(&spec, ranks).unwrap(), ranks, sends);
            assert_eq!(run.messages.len(), ranks as usize);
            for first in (0..ranks).filter(|rank| rank / stride % 2 == 0) {
                for pair in [(first, first + stride), (first + stride, first)] {
                    assert_eq!(run.messages[&pair], [9; 4]);
                }
            }
        }
    }
}

/// The rank that sends first, and that everything blocks.
#[test]
fn the_first_half_serves() {
    let part = motif::ping_pong(&PingPong { stride: 2, bytes: 0, rounds: 2 }, 4).unwrap();
    let run = run(&*part, 4, BOTH[1]);
    let (bytes, blocking) = (0, true);
    let send = |to, label| Send { to, label, bytes, blocking };
    let receive = |from, label| Receive { from, label, bytes, blocking };
    assert_eq!(run.ops[1], [send(3, 0), receive(3, 0), send(3, 1), receive(3, 1)]);
    assert_eq!(run.ops[3], [receive(1, 0), send(1, 0), receive(1, 1), send(1, 1)]);
}
