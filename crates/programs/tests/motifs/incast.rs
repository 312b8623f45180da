//! Incast.

use odonata_programs::Op::{Receive, Send, Wait};
use odonata_programs::{Incast, motif};

use crate::run::{BOTH, run};

/// A rank that sends nothing or twice, a message to itself, and a root that is always rank 0.
#[test]
fn all_others_send_to_the_root() {
    for ranks in [1, 2, 3, 8, 9] {
        for root in 0..ranks {
            for sends in BOTH {
                let run = run(&*motif::incast(&Incast { root, bytes: 7 }, ranks).unwrap(), ranks, sends);
                let pairs = (0..ranks).filter(|&rank| rank != root).map(|rank| ((rank, root), vec![7]));
                assert_eq!(run.messages, pairs.collect(), "{ranks} ranks, root {root}");
            }
        }
    }
}

/// A root that takes the messages one after the other, and a sender that does not wait for its own.
#[test]
fn the_root_takes_all_at_once() {
    let part = motif::incast(&Incast { root: 1, bytes: 7 }, 4).unwrap();
    let run = run(&*part, 4, BOTH[1]);
    let receive = |from| Receive { from, label: 0, bytes: 7, blocking: false };
    assert_eq!(run.ops[1], [receive(0), receive(2), receive(3), Wait]);
    for rank in [0, 2, 3] {
        assert_eq!(run.ops[rank], [Send { to: 1, label: 0, bytes: 7, blocking: true }]);
    }
}
