//! Incast: all ranks but one send to that one, at the same time.

use odonata_error::{Error, ErrorKind, path};

use super::check;
use crate::{Incast, Op, Part};

/// The messages; a chunk of the root is a receive, and the last one waits for all.
pub struct ToOne {
    ranks: u32,
    root: u32,
    bytes: u64,
}

impl ToOne {
    pub fn new(incast: &Incast, ranks: u32) -> Result<Self, Error> {
        let Incast { root, bytes } = *incast;
        check::bytes(path!["bytes"], bytes)?;
        if root >= ranks {
            return Err(ErrorKind::RootNotARank { root, ranks: ranks.into() }.at(path!["root"]));
        }
        Ok(Self { ranks, root, bytes })
    }
}

impl Part for ToOne {
    fn chunks(&self, rank: u32) -> u64 {
        match self.ranks {
            1 => 0,
            ranks if rank == self.root => ranks.into(),
            _ => 1,
        }
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        let &Self { ranks, root, bytes } = self;
        let place = index as u32;
        ops.push(if rank != root {
            Op::Send { to: root, label: 0, bytes, blocking: true }
        } else if place + 1 < ranks {
            Op::Receive { from: place + u32::from(place >= root), label: 0, bytes, blocking: false }
        } else {
            Op::Wait
        });
    }
}
