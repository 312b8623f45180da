//! Steps: the parts of an algorithm.

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectiveStep {
    receives: [Option<Move>; 2],
    sends: [Option<Move>; 2],
    open: bool,
}

impl CollectiveStep {
    /// An empty step. Without moves it waits for the operations of open steps.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// ... and sends.
    pub(super) fn send(mut self, to: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.sends, Move { act: Act::Send, peer: to, label, piece });
        self
    }

    /// ... and receives data that replaces its own.
    pub(super) fn copy(mut self, from: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.receives, Move { act: Act::Copy, peer: from, label, piece });
        self
    }

    /// ... and receives data that is combined with its own.
    pub(super) fn combine(mut self, from: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.receives, Move { act: Act::Combine, peer: from, label, piece });
        self
    }

    /// ... but does not wait at the end. A later step without moves must wait.
    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The moves in the order of their operations.
    pub fn moves(&self) -> impl Iterator<Item = &Move> + Clone {
        self.receives.iter().chain(&self.sends).flatten()
    }

    /// Appends the operations: those of the moves in their order, then a wait, then the combining of what was received.
    /// (A single move blocks instead of the wait.)
    pub(super) fn ops(&self, division: &Division, ops: &mut Vec<Op>) {
        let alone = !self.open && self.moves().count() == 1;
        for &Move { act, peer, label, piece } in self.moves() {
            let bytes = division.bytes(piece);
            ops.push(match act {
                Act::Send => Op::Send { to: peer, label, bytes, blocking: alone },
                Act::Copy | Act::Combine => Op::Receive { from: peer, label, bytes, blocking: alone },
            });
        }
        if !self.open && !alone {
            ops.push(Op::Wait);
        }
        let (combined, of) = (self.moves().filter(|of| of.act == Act::Combine), division.total());
        debug_assert!(!self.open || combined.clone().count() == 0, "an open step does not wait for what it combines");
        ops.extend(
            combined.map(|of| division.bytes(of.piece)).filter(|&b| b > 0).map(|bytes| Op::Combine { bytes, of }),
        );
    }
}

fn put(places: &mut [Option<Move>; 2], new: Move) {
    let free = places.iter_mut().find(|place| place.is_none());
    *free.expect("a step has at most two sends and two receives") = Some(new);
}
