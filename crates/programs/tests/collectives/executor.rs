//! Runs scripts with data: each item is a count of contributions by rank. There is no clock: a rank runs until it
//! blocks.

use std::collections::{BTreeMap, BTreeSet};

use odonata_programs::Op;
use odonata_programs::collective::Act;

use crate::script::{Item, Key, Script};

/// How often each rank has contributed to an item.
pub type Counts = Vec<u8>;

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// At once.
    Eager,
    /// When the receive is posted.
    Rendezvous,
}

/// The state of a rank.
#[derive(Clone, Debug)]
pub struct Rank {
    pub data: BTreeMap<Item, Counts>,
    /// The ranks from which it has received data, directly or not, one bit for each rank.
    pub heard: u64,
    at: usize,
    /// Receives and sends that a wait is for.
    receives: Vec<(Key, Act, Vec<Item>)>,
    sends: Vec<(Key, Vec<Item>)>,
}

struct Message {
    items: Vec<Item>,
    data: Vec<Counts>,
    heard: u64,
}

struct World<'a> {
    script: &'a Script,
    sends: Sends,
    ranks: Vec<Rank>,
    sent: BTreeMap<Key, Message>,
    posted: BTreeSet<Key>,
}

/// Runs a script from the given data, and returns what the ranks have in the end.
pub fn run(script: &Script, sends: Sends, data: Vec<BTreeMap<Item, Counts>>) -> Vec<Rank> {
    let new = |(rank, data)| Rank { data, heard: 1_u64 << rank, at: 0, receives: Vec::new(), sends: Vec::new() };
    let ranks = data.into_iter().enumerate().map(new).collect();
    let mut world = World { script, sends, ranks, sent: BTreeMap::new(), posted: BTreeSet::new() };
    loop {
        let ahead = (0..script.ranks as usize).filter(|&rank| world.advance(rank)).count();
        if ahead == 0 {
            break;
        }
    }
    for (rank, state) in world.ranks.iter().enumerate() {
        let rest = script.lines[rank].get(state.at).map(|line| line.op);
        assert_eq!(rest, None, "{} ({sends:?}): rank {rank} waits for ever", script.name);
        assert!(state.receives.is_empty() && state.sends.is_empty(), "{}: rank {rank} does not wait", script.name);
    }
    assert!(world.sent.is_empty(), "{}: messages that nobody takes", script.name);
    world.ranks
}

impl World<'_> {
    /// Runs a rank until it blocks; returns whether it made progress.
    fn advance(&mut self, rank: usize) -> bool {
        let begin = self.ranks[rank].at;
        while let Some(line) = self.script.lines[rank].get(self.ranks[rank].at) {
            let goes_on = match (line.op, &line.moved) {
                (Op::Wait, _) => self.wait(rank),
                (Op::Send { blocking, .. }, Some((key, _, items))) => self.send(rank, *key, items, blocking),
                (Op::Receive { blocking, .. }, Some((key, act, items))) => {
                    self.receive(rank, (*key, *act, items.clone()), blocking)
                }
                _ => unreachable!(),
            };
            if !goes_on {
                break;
            }
            self.ranks[rank].at += 1;
        }
        self.ranks[rank].at > begin
    }

    fn send(&mut self, rank: usize, key: Key, items: &[Item], blocking: bool) -> bool {
        let name = &self.script.name;
        let state = &mut self.ranks[rank];
        for (_, _, others) in state.receives.iter().filter(|r| r.1 == Act::Copy) {
            assert!(others.iter().all(|o| !items.contains(o)), "{name}: rank {rank} sends what may be overwritten");
        }
        let pending = state.sends.iter().any(|(other, _)| *other == key);
        if !pending {
            let item = |item| state.data.get(item).cloned();
            let data = items.iter().map(item).collect::<Option<Vec<_>>>();
            let data = data.unwrap_or_else(|| panic!("{name}: rank {rank} sends what it does not have: {items:?}"));
            self.sent.insert(key, Message { items: items.to_vec(), data, heard: state.heard });
            state.sends.push((key, items.to_vec()));
        }
        if !blocking {
            return true;
        }
        let complete = self.is_sent(key);
        if complete {
            self.ranks[rank].sends.retain(|(other, _)| *other != key);
        }
        complete
    }

    fn receive(&mut self, rank: usize, receive: (Key, Act, Vec<Item>), blocking: bool) -> bool {
        let name = &self.script.name;
        let state = &mut self.ranks[rank];
        if self.posted.insert(receive.0) {
            let outgoing = state.sends.iter().flat_map(|s| &s.1);
            let incoming = state.receives.iter().filter(|r| r.1 == Act::Copy).flat_map(|r| &r.2);
            if receive.1 == Act::Copy {
                let clash = outgoing.chain(incoming).any(|item| receive.2.contains(item));
                assert!(!clash, "{name}: rank {rank} receives where data is in use");
            }
            state.receives.push(receive);
        }
        !blocking || self.wait_for_receives(rank)
    }

    fn wait(&mut self, rank: usize) -> bool {
        let sends_complete = self.ranks[rank].sends.iter().all(|s| self.is_sent(s.0));
        if !sends_complete || !self.wait_for_receives(rank) {
            return false;
        }
        self.ranks[rank].sends.clear();
        true
    }

    fn is_sent(&self, key: Key) -> bool {
        self.sends == Sends::Eager || self.posted.contains(&key)
    }

    fn wait_for_receives(&mut self, rank: usize) -> bool {
        let state = &mut self.ranks[rank];
        if !state.receives.iter().all(|r| self.sent.contains_key(&r.0)) {
            return false;
        }
        for (key, act, items) in std::mem::take(&mut state.receives) {
            let message = self.sent.remove(&key).unwrap();
            state.heard |= message.heard;
            assert_eq!(message.items, items, "{}: {key:?} carries something else", self.script.name);
            for (item, new) in items.into_iter().zip(message.data) {
                let own = state.data.entry(item).or_insert_with(|| vec![0; new.len()]);
                match act {
                    Act::Combine => own.iter_mut().zip(new).for_each(|(own, new)| *own += new),
                    _ => *own = new,
                }
            }
        }
        true
    }
}
