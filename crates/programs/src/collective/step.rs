//! Steps: the parts of an algorithm.

use std::ops::Range;

use super::piece::{Division, Piece};
use crate::Op;

/// An algorithm for a given number of ranks. Both methods take at most O(log ranks).
pub trait Algorithm {
    /// Number of steps of a rank; 0 for all if there is only one rank.
    fn steps(&self, rank: u32) -> u64;

    /// Step `index` of a rank.
    fn step(&self, rank: u32, index: u64) -> CollectiveStep;

    /// Number of messages of all ranks, if each carries a single block, or pair, and all blocks are carried by equally
    /// many; `None` for other algorithms.
    fn messages_of_a_block(&self) -> Option<u64> {
        None
    }

    /// The labels of the messages of all ranks, if they are a range; `None` for algorithms of few messages, whose labels
    /// are looked up.
    fn labels(&self) -> Option<Range<u64>> {
        None
    }

    /// Number of blocks, or pairs, in the largest message.
    fn largest(&self) -> u32 {
        1
    }
}

/// What a rank does with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It sends its data.
    Send,
    /// It receives data that replaces its own.
    Copy,
    /// It receives data and combines it with its own.
    Combine,
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The action.
    pub act: Act,
    /// The rank at the other end.
    pub peer: u32,
    /// Label of the message: the same at both ends; two ranks use it only once in each direction.
    pub label: u64,
    /// What the message carries.
    pub piece: Piece,
}

/// What a rank does at one time: it posts the receives, begins the sends, and waits for all of them. (So two ranks that
/// exchange do not block each other, even if a send lasts until its receive is posted.) Received data counts from the
/// end of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveStep {
    receives: Moves,
    sends: Moves,
    open: bool,
}

/// At most two moves: those that there are come first, and the others are [`NO_MOVE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moves {
    places: [Move; 2],
    count: usize,
}

const NO_MOVE: Move = Move { act: Act::Send, peer: 0, label: 0, piece: Piece::NOTHING };

impl Moves {
    const NONE: Self = Self { places: [NO_MOVE; 2], count: 0 };

    #[inline]
    fn put(&mut self, new: Move) {
        assert!(self.count < 2, "a step has at most two sends and two receives");
        self.places[self.count] = new;
        self.count += 1;
    }

    #[inline]
    fn all(&self) -> &[Move] {
        &self.places[..self.count]
    }
}

impl CollectiveStep {
    /// An empty step. Without moves it waits for the operations of open steps.
    #[inline]
    pub(super) fn new() -> Self {
        Self { receives: Moves::NONE, sends: Moves::NONE, open: false }
    }

    /// ... and sends.
    #[inline]
    pub(super) fn send(mut self, to: u32, label: u64, piece: Piece) -> Self {
        self.sends.put(Move { act: Act::Send, peer: to, label, piece });
        self
    }

    /// ... and receives data that replaces its own.
    #[inline]
    pub(super) fn copy(mut self, from: u32, label: u64, piece: Piece) -> Self {
        self.receives.put(Move { act: Act::Copy, peer: from, label, piece });
        self
    }

    /// ... and receives data that is combined with its own.
    #[inline]
    pub(super) fn combine(mut self, from: u32, label: u64, piece: Piece) -> Self {
        self.receives.put(Move { act: Act::Combine, peer: from, label, piece });
        self
    }

    /// ... but does not wait at the end. A later step without moves must wait.
    #[inline]
    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The same among other ranks, each of which has a block: `rank` names the one that a peer or a block stands for.
    #[inline]
    pub(super) fn among(mut self, rank: impl Fn(u32) -> u32) -> Self {
        for moves in [&mut self.receives, &mut self.sends] {
            for of in &mut moves.places[..moves.count] {
                of.peer = rank(of.peer);
                if let Piece::Blocks { first, count: 1 } = &mut of.piece {
                    *first = rank(*first);
                }
            }
        }
        self
    }

    /// The same with another label of all messages.
    #[inline]
    pub(super) fn labelled(mut self, label: u64) -> Self {
        for moves in [&mut self.receives, &mut self.sends] {
            moves.places[..moves.count].iter_mut().for_each(|of| of.label = label);
        }
        self
    }

    /// The moves in the order of their operations.
    pub fn moves(&self) -> impl Iterator<Item = &Move> + Clone {
        self.receives.all().iter().chain(self.sends.all())
    }

    /// Appends the operations: those of the moves in their order, then a wait, then the combining of what was received.
    /// (A single move blocks instead of the wait.)
    #[inline]
    pub(super) fn ops(&self, division: &Division, ops: &mut Vec<Op>) {
        let (receives, sends) = (self.receives.all(), self.sends.all());
        let alone = !self.open && receives.len() + sends.len() == 1;
        ops.reserve(2 * receives.len() + sends.len() + 1);
        for &Move { peer, label, piece, .. } in receives {
            ops.push(Op::Receive { from: peer, label, bytes: division.bytes(piece), blocking: alone });
        }
        for &Move { peer, label, piece, .. } in sends {
            ops.push(Op::Send { to: peer, label, bytes: division.bytes(piece), blocking: alone });
        }
        if !self.open && !alone {
            ops.push(Op::Wait);
        }
        for &Move { act, piece, .. } in receives {
            if act == Act::Combine {
                debug_assert!(!self.open, "an open step does not wait for what it combines");
                let (bytes, of) = (division.bytes(piece), division.total());
                if bytes > 0 {
                    ops.push(Op::Combine { bytes, of });
                }
            }
        }
    }
}
