//! All that a rank does, with the data that each operation moves.

use std::collections::BTreeSet;

use odonata_programs::collective::{Act, Collective, Move, Piece};
use odonata_programs::{Op, Part, PhaseAction, RingWork};

use crate::cases;

/// The parts of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A block of the vector.
    Block(u32),
    /// The data of one rank for another.
    Pair(u32, u32),
}

/// Source, destination, label.
pub type Key = (u32, u32, u64);

/// An operation, and the data that it moves.
pub struct Line {
    pub op: Op,
    pub moved: Option<(Key, Act, Vec<Item>)>,
}

/// A collective of some ranks.
pub struct Script {
    pub name: String,
    pub ranks: u32,
    pub parts: u32,
    pub lines: Vec<Vec<Line>>,
}

impl Script {
    /// The scripts of all ranks. Operations must come from the steps, move by move, with the bytes of what they move.
    pub fn new(what: &PhaseAction, ranks: u32) -> Self {
        let name = format!("{what:?} of {ranks} ranks");
        let collective = cases::made(what, ranks).unwrap();
        let part = what.part(ranks).unwrap();
        let lines = (0..ranks).map(|rank| lines(what, ranks, rank, &collective, &*part)).collect();
        let script = Self { name, ranks, parts: collective.division().parts(), lines };
        script.check_ends();
        script
    }

    /// Every message has a sender and a receiver that agree on label and bytes, and no label is used again.
    fn check_ends(&self) {
        let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
        for (key, op) in self.lines.iter().flatten().filter_map(|l| Some((l.moved.as_ref()?.0, l.op))) {
            let fresh = match op {
                Op::Send { bytes, .. } => sent.insert((key, bytes)),
                Op::Receive { bytes, .. } => received.insert((key, bytes)),
                _ => false,
            };
            assert!(fresh, "{}: {key:?} twice", self.name);
            assert!(key.0 != key.1 && key.0.max(key.1) < self.ranks && key.2 < 1 << 40, "{}: {key:?}", self.name);
        }
        assert_eq!(sent, received, "{}: ends differ", self.name);
        let keys: BTreeSet<Key> = sent.iter().map(|s| s.0).collect();
        assert_eq!(keys.len(), sent.len(), "{}: a label with two sizes", self.name);
    }

    /// Messages that each rank sends, and their bytes.
    pub fn sent(&self) -> Vec<(u64, u64)> {
        let sizes = |line: &Line| if let Op::Send { bytes, .. } = line.op { Some(bytes) } else { None };
        let rank = |lines: &Vec<Line>| lines.iter().filter_map(sizes).fold((0, 0), |(n, sum), b| (n + 1, sum + b));
        self.lines.iter().map(rank).collect()
    }
}

/// Bytes of the vector of a collective that reduces.
fn vector(what: &PhaseAction) -> u64 {
    match *what {
        PhaseAction::RingChannel { work: RingWork::Allgather, .. } => 0,
        PhaseAction::Reduce { bytes, .. }
        | PhaseAction::Allreduce { bytes, .. }
        | PhaseAction::RingChannel { bytes, .. }
        | PhaseAction::TreeChannel { bytes, .. }
        | PhaseAction::ReduceScatter { bytes, .. } => bytes,
        _ => 0, // it combines nothing
    }
}

fn lines(what: &PhaseAction, ranks: u32, rank: u32, collective: &Collective, part: &dyn Part) -> Vec<Line> {
    let mut lines = Vec::new();
    // From the last chunk to the first: none may depend on those before.
    for index in (0..part.chunks(rank)).rev() {
        let mut ops = vec![Op::Wait];
        part.chunk(rank, index, &mut ops);
        assert_eq!(ops.remove(0), Op::Wait, "{what:?}: what was there is kept");
        let step = collective.step(rank, index);
        // What was received to be combined is combined at the end; the scripts do that on receipt.
        let end = ops.iter().position(|op| matches!(op, Op::Combine { .. })).unwrap_or(ops.len());
        let combines = ops.split_off(end);
        let received = |of: &&Move| of.act == Act::Combine && collective.division().bytes(of.piece) > 0;
        let whole = vector(what);
        let expected = |of: &Move| Op::Combine { bytes: collective.division().bytes(of.piece), of: whole };
        assert_eq!(combines, step.moves().filter(received).map(expected).collect::<Vec<_>>(), "{what:?}");
        assert!((1..=5).contains(&ops.len()), "{what:?}: a chunk of {} operations", ops.len());
        let mut moves = step.moves();
        let line = |op| match op {
            Op::Wait => Line { op, moved: None },
            _ => Line { op, moved: Some(moved(what, ranks, rank, collective, op, moves.next().unwrap())) },
        };
        let chunk: Vec<Line> = ops.into_iter().map(line).collect();
        assert!(moves.next().is_none(), "{what:?}: a move without an operation");
        lines.extend(chunk.into_iter().rev());
    }
    lines.reverse();
    lines
}

fn moved(what: &PhaseAction, ranks: u32, rank: u32, made: &Collective, op: Op, from: &Move) -> (Key, Act, Vec<Item>) {
    let &Move { act, peer, label, piece } = from;
    let items = items(piece, made.division().parts());
    let size: u128 = items.iter().map(|&item| size(what, ranks, made.division().parts(), item)).sum();
    let (key, expected) = match op {
        Op::Send { blocking, .. } => {
            assert_eq!(act, Act::Send);
            ((rank, peer, label), Op::Send { to: peer, label, bytes: size as u64, blocking })
        }
        Op::Receive { blocking, .. } => {
            assert_ne!(act, Act::Send);
            ((peer, rank, label), Op::Receive { from: peer, label, bytes: size as u64, blocking })
        }
        _ => unreachable!(),
    };
    assert_eq!(op, expected, "{what:?} of {ranks} ranks: {piece:?}");
    (key, act, items)
}

/// The items of a piece.
fn items(piece: Piece, parts: u32) -> Vec<Item> {
    match piece {
        Piece::Blocks { first, count } => {
            assert!(first < parts && count <= parts);
            (first..first + count).map(|block| Item::Block(block % parts)).collect()
        }
        Piece::Pair { from, to } => vec![Item::Pair(from, to)],
        Piece::Pairs { first, count, to } => (first..first + count).map(|from| Item::Pair(from, to)).collect(),
        Piece::Hops { at, bit, ranks } => {
            let pair = |j: u32| {
                let from = (at + ranks - j % (1 << bit)) % ranks;
                Item::Pair(from, (from + j) % ranks)
            };
            (1..ranks).filter(|j| j >> bit & 1 == 1).map(pair).collect()
        }
    }
}

/// Bytes of an item, by the rule of the division.
fn size(what: &PhaseAction, ranks: u32, parts: u32, item: Item) -> u128 {
    let (vector, each) = match *what {
        PhaseAction::Allgather { bytes, .. } | PhaseAction::RingChannel { work: RingWork::Allgather, bytes, .. } => {
            (u128::from(bytes) * u128::from(ranks), 0)
        }
        PhaseAction::Broadcast { bytes, .. }
        | PhaseAction::Reduce { bytes, .. }
        | PhaseAction::Allreduce { bytes, .. }
        | PhaseAction::RingChannel { bytes, .. }
        | PhaseAction::TreeChannel { bytes, .. }
        | PhaseAction::ReduceScatter { bytes, .. } => (u128::from(bytes), 0),
        PhaseAction::Alltoall { bytes, .. }
        | PhaseAction::GroupedAlltoall { bytes, .. }
        | PhaseAction::PxnAlltoall { bytes, .. } => (0, u128::from(bytes)),
        _ => (0, 0),
    };
    match item {
        Item::Block(i) => {
            let end = |i: u32| vector * u128::from(i) / u128::from(parts);
            end(i + 1) - end(i)
        }
        Item::Pair(..) => each,
    }
}
