//! Ping-pong: in each round the first rank of a pair sends and waits for the reply.
//!
//! Labels: the number of the round.

use odonata_error::{Error, ErrorKind, path};

use super::check;
use crate::{Op, Part, PingPong};

/// The pairs; a chunk is a round.
pub struct PingPongPairs {
    stride: u32,
    bytes: u64,
    rounds: u32,
}

impl PingPongPairs {
    pub fn new(spec: &PingPong, ranks: u32) -> Result<Self, Error> {
        let PingPong { stride, bytes, rounds } = *spec;
        check::some("stride", stride)?;
        check::some("rounds", rounds)?;
        check::bytes(path!["bytes"], bytes)?;
        if ranks == 0 || u64::from(ranks) % (2 * u64::from(stride)) != 0 {
            let block = 2 * u64::from(stride);
            return Err(ErrorKind::NoPartner { ranks, stride, block }.at(path!["stride"]));
        }
        Ok(Self { stride, bytes, rounds })
    }
}

impl Part for PingPongPairs {
    fn chunks(&self, _: u32) -> u64 {
        self.rounds.into()
    }

    fn chunk(&self, rank: u32, label: u64, ops: &mut Vec<Op>) {
        let &Self { stride, bytes, .. } = self;
        let first = (rank / stride).is_multiple_of(2);
        let peer = if first { rank + stride } else { rank - stride };
        let send = Op::Send { to: peer, label, bytes, blocking: true };
        let receive = Op::Receive { from: peer, label, bytes, blocking: true };
        ops.extend(if first { [send, receive] } else { [receive, send] });
    }
}
