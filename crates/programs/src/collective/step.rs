//! Steps: what an algorithm consists of.

use super::piece::{Division, Piece};
use crate::Op;

/// An algorithm, for a number of ranks that it knows. Both answers are O(log ranks) at most.
pub trait Algorithm {
    /// Steps of a rank; 0 for all if there is but one rank.
    fn steps(&self, rank: u32) -> u64;

    /// Step `index` of a rank.
    fn step(&self, rank: u32, index: u64) -> CollectiveStep;

    /// Number of blocks, or pairs, in the largest message.
    fn largest(&self) -> u32 {
        1
    }
}

/// What a rank does with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It sends what it has.
    Send,
    /// It receives, in place of what it has.
    Copy,
    /// It receives, and combines with what it has.
    Combine,
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// What is done.
    pub act: Act,
    /// The rank at the other end.
    pub peer: u32,
    /// Label of the message: the same at both ends; two ranks use it once in each direction.
    pub label: u64,
    /// What the message carries.
    pub piece: Piece,
}

/// What a rank does at a time: it posts the receives, begins the sends, and waits for all of them. (So two ranks that
/// exchange do not block each other, even if a send lasts until its receive is posted.) What is received counts from
/// the end of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectiveStep {
    receives: [Option<Move>; 2],
    sends: [Option<Move>; 2],
    open: bool,
}

impl CollectiveStep {
    /// Nothing yet. By itself it waits for what open steps have begun.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// ... and sends.
    pub(super) fn send(mut self, to: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.sends, Move { act: Act::Send, peer: to, label, piece });
        self
    }

    /// ... and receives in place of what is there.
    pub(super) fn copy(mut self, from: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.receives, Move { act: Act::Copy, peer: from, label, piece });
        self
    }

    /// ... and receives what is combined with what is there.
    pub(super) fn combine(mut self, from: u32, label: u64, piece: Piece) -> Self {
        put(&mut self.receives, Move { act: Act::Combine, peer: from, label, piece });
        self
    }

    /// ... but does not wait at the end. A later step without moves must.
    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The moves in the order of their operations.
    pub fn moves(&self) -> impl Iterator<Item = &Move> {
        self.receives.iter().chain(&self.sends).flatten()
    }

    /// Appends the operations: those of the moves in their order, then a wait. (A move that is alone blocks instead.)
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
    }
}

fn put(places: &mut [Option<Move>; 2], new: Move) {
    let free = places.iter_mut().find(|place| place.is_none());
    *free.expect("a step has at most two sends and two receives") = Some(new);
}
