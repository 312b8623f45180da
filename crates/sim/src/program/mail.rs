//! What sending and receiving means: handing over, matching, asking for leave (docs/model.md, section 10).

use super::agenda::Moment;
use super::letters::{Letter, Sort};
use super::matching::{Asking, Half, Key};
use super::running::{Here, Running, Token};
use crate::fabric::NO_ROW;

impl Running {
    fn is_near(&self, rank: u32, other: u32) -> bool {
        self.nodes[rank as usize] == self.nodes[other as usize]
    }

    fn is_eager(&self, from: u32, to: u32, bytes: u64) -> bool {
        bytes <= self.costs.eager_bytes || self.is_near(from, to)
    }

    fn copy_ps(&self, bytes: u64) -> u64 {
        self.costs.copy.map_or(0, |copy| copy.serialisation_ps(bytes))
    }

    /// CPU time to send a message.
    pub(super) fn sending(&self, from: u32, to: u32, bytes: u64) -> u64 {
        let copy = if self.is_eager(from, to, bytes) { self.copy_ps(bytes) } else { 0 };
        self.costs.send_ps.saturating_add(copy)
    }

    /// Hands a message over whose work is done. Returns whether the send is complete; if not, `token` says what follows when it is.
    pub(super) fn hand_over(&mut self, key: Key, bytes: u64, token: Token, here: &mut Here) -> bool {
        let Key { to, from, iteration, label } = key;
        let (near, eager) = (self.is_near(from, to), self.is_eager(from, to, bytes));
        let row = self.tally.issue(key, here.now);
        let sort = if eager { Sort::Eager } else { Sort::Request };
        let nics = self.nics(from, token);
        let letter = Letter { rank: to, peer: from, iteration, label, sort, nics, bytes, issue: here.now, row };
        self.alive += 1;
        if near {
            self.tally.near(row, here.now, self.costs.memory_ps);
            here.agenda.add(letter.arrival(here.now + self.costs.memory_ps));
        } else {
            here.outbox.push(letter);
        }
        if !eager {
            self.tally.control += 1;
            self.at_sender.insert(key, Asking { token, bytes, issue: here.now, row });
        }
        eager
    }

    /// Posts a receive. Returns whether it is complete; if not, `token` says what follows when it is.
    pub(super) fn post(&mut self, key: Key, bytes: u64, cpu: u16, token: Token, here: &mut Here) -> bool {
        match self.at_receiver.remove(&key) {
            None => {
                self.at_receiver.insert(key, Half::Posted { token, cpu, bytes });
                false
            }
            Some(Half::Come { bytes }) => self.take_in(key, bytes, cpu, token, here),
            Some(Half::Asked { bytes }) => {
                self.clear(key, bytes, cpu, token, here);
                false
            }
            Some(half) => unreachable!("a key is used once, but {half:?} was there"),
        }
    }

    /// The work for a message that is there and wanted. Returns whether the receive is complete.
    fn take_in(&mut self, key: Key, bytes: u64, cpu: u16, token: Token, here: &mut Here) -> bool {
        let copy = if self.is_eager(key.from, key.to, bytes) { self.copy_ps(bytes) } else { 0 };
        let ps = self.costs.receive_ps.saturating_add(copy);
        self.occupy(key.to, cpu, ps, token, here).1 <= here.now
    }

    /// Tells the sender of a message that its receive is posted.
    fn clear(&mut self, key: Key, bytes: u64, cpu: u16, token: Token, here: &mut Here) {
        self.at_receiver.insert(key, Half::Cleared { token, cpu });
        let Key { to, from, iteration, label } = key;
        let (sort, nics, issue, row) = (Sort::Clearance, self.nics(to, token), here.now, NO_ROW);
        self.tally.control += 1;
        self.alive += 1;
        here.outbox.push(Letter { rank: from, peer: to, iteration, label, sort, nics, bytes, issue, row });
    }

    /// Something has arrived.
    pub(super) fn arrival(&mut self, moment: Moment, here: &mut Here) {
        let Moment { rank, peer, iteration, label, sort, value: bytes, .. } = moment;
        if sort == Sort::Clearance {
            let key = Key { to: peer, from: rank, iteration, label };
            let &Asking { token, bytes, issue, row } = &self.at_sender[&key];
            let (sort, nics) = (Sort::Data, self.nics(rank, token));
            self.alive += 1;
            here.outbox.push(Letter { rank: peer, peer: rank, iteration, label, sort, nics, bytes, issue, row });
            return;
        }
        let key = Key { to: rank, from: peer, iteration, label };
        match (self.at_receiver.remove(&key), sort) {
            (None, Sort::Request) => {
                self.at_receiver.insert(key, Half::Asked { bytes });
            }
            (None, _) => {
                self.at_receiver.insert(key, Half::Come { bytes });
            }
            (Some(Half::Posted { token, cpu, .. }), Sort::Request) => {
                self.clear(key, bytes, cpu, token, here);
            }
            (Some(Half::Posted { token, cpu, .. } | Half::Cleared { token, cpu, .. }), _) => {
                if self.take_in(key, bytes, cpu, token, here) {
                    self.complete(rank, token, here);
                }
            }
            (Some(half), _) => unreachable!("a key is used once, but {half:?} was there"),
        }
    }
}
