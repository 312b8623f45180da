//! Messages as a communication matrix has them: every rank begins all of its receives and sends, then waits for all.
//!
//! A rank sends the first message to each of its peers, then the second, and so on; its peers follow in the order of
//! their distance upwards from it, modulo the number of ranks. Receives are in the same order, by distance downwards.
//! So the ranks do not all begin with the same peer. With `per_node` the distance is that of the nodes, and then that in
//! a node, so that the ranks of a node do not all begin with the same peer of another node either. Labels: the number of
//! the message in its pair, from 0.

use odonata_error::{Error, ErrorKind, path};

use super::check;
use crate::{Matrix, Op, Pair, Part};

/// Most messages of an iteration (assumed: 2 GiB of memory for these lists).
const MOST_MESSAGES: u64 = 1 << 26;

/// A message, as one of its two ranks sees it.
#[derive(Clone, Copy)]
struct Message {
    peer: u32,
    label: u32,
    bytes: u64,
}

/// The messages of all ranks.
pub struct Exchanges {
    receives: Messages,
    sends: Messages,
}

/// Messages by rank.
struct Messages {
    /// Where those of a rank begin, and the end of the last.
    starts: Vec<usize>,
    all: Vec<Message>,
}

impl Exchanges {
    pub fn new(matrix: &Matrix, ranks: u32) -> Result<Self, Error> {
        let pairs = &matrix.pairs;
        let per_node = matrix.per_node.unwrap_or(ranks);
        if per_node == 0 || !ranks.is_multiple_of(per_node) {
            let nodes = ranks.checked_div(per_node).unwrap_or(0);
            let points = u128::from(per_node) * u128::from(nodes);
            let kind = ErrorKind::GridOfOtherSize { grid: vec![per_node, nodes], points, ranks: ranks.into() };
            return Err(kind.at(path!["per_node"]));
        }
        // Of one number after another, each below a count.
        let after = |to: u32, from: u32, count: u32| if to >= from { to - from } else { to + (count - from) };
        let distance = |from: u32, to: u32| {
            let nodes = after(to / per_node, from / per_node, ranks / per_node);
            (nodes, after(to % per_node, from % per_node, per_node))
        };
        let mut last = None;
        let mut messages = 0;
        for (number, &Pair(from, to, bytes, count)) in pairs.iter().enumerate() {
            for (at, rank) in [from, to].into_iter().enumerate() {
                if rank >= ranks {
                    let kind = ErrorKind::OutOfRange {
                        found: rank.into(),
                        least: 0,
                        most: u64::from(ranks).saturating_sub(1),
                    };
                    return Err(kind.at(path!["pairs", number, at]));
                }
            }
            if from == to || last.is_some_and(|last| last >= (from, to)) {
                return Err(ErrorKind::PairOrder {}.at(path!["pairs", number]));
            }
            check::bytes(path!["pairs", number, 2_usize], bytes)?;
            if count == 0 {
                return Err(ErrorKind::Zero {}.at(path!["pairs", number, 3_usize]));
            }
            last = Some((from, to));
            messages += u64::from(count);
        }
        if messages == 0 || messages > MOST_MESSAGES {
            return Err(ErrorKind::OutOfRange { found: messages, least: 1, most: MOST_MESSAGES }.at(path!["pairs"]));
        }
        Ok(Self {
            receives: Messages::new(pairs, ranks, |&Pair(from, to, ..)| (to, from, distance(from, to))),
            sends: Messages::new(pairs, ranks, |&Pair(from, to, ..)| (from, to, distance(from, to))),
        })
    }
}

impl Messages {
    /// `side` gives the rank, its peer and their distance.
    fn new(pairs: &[Pair], ranks: u32, side: impl Fn(&Pair) -> (u32, u32, (u32, u32))) -> Self {
        let mut all: Vec<(u32, u32, (u32, u32), Message)> = Vec::new();
        for pair in pairs {
            let &Pair(_, _, bytes, count) = pair;
            let (rank, peer, distance) = side(pair);
            let (share, rest) = (bytes / u64::from(count), bytes % u64::from(count));
            all.extend((0..count).map(|label| {
                let message = Message { peer, label, bytes: share + u64::from(u64::from(label) < rest) };
                (rank, label, distance, message)
            }));
        }
        all.sort_unstable_by_key(|&(rank, label, distance, _)| (rank, label, distance));
        let starts = (0..=ranks).map(|rank| all.partition_point(|&(of, ..)| of < rank)).collect();
        Self { starts, all: all.into_iter().map(|(_, _, _, message)| message).collect() }
    }

    fn of(&self, rank: u32) -> &[Message] {
        &self.all[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }
}

impl Part for Exchanges {
    fn chunks(&self, rank: u32) -> u64 {
        let messages = self.receives.of(rank).len() + self.sends.of(rank).len();
        messages as u64 + u64::from(messages > 0)
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        let (receives, sends) = (self.receives.of(rank), self.sends.of(rank));
        let at = index as usize;
        ops.push(if let Some(&Message { peer: from, label, bytes }) = receives.get(at) {
            Op::Receive { from, label: label.into(), bytes, blocking: false }
        } else if let Some(&Message { peer: to, label, bytes }) = sends.get(at - receives.len()) {
            Op::Send { to, label: label.into(), bytes, blocking: false }
        } else {
            Op::Wait
        });
    }
}
