//! Receivers that say who sends next: acknowledgements that are held back until it is the turn of the sender
//! (docs/model.md, section 3, "receiver-credit").

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::engine::random::Mixer;
use crate::fabric::packet::Event;

/// What a NIC knows of another one that sends to it.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// Acknowledgements that are held back, in order.
    held: VecDeque<Event>,
    /// Payload of their packets, for which the sender has no room.
    held_bytes: u64,
    /// Whether its turn will come.
    listed: bool,
    /// Payload that it has been asked for.
    asked: u64,
    /// Packets that have come without having been asked for.
    unasked: u64,
    /// When the latest packet left that has come and did not announce more.
    last: u64,
}

/// One NIC.
#[derive(Clone, Debug, Default)]
struct Receiver {
    /// The map is only accessed by key, so its order does not matter.
    senders: HashMap<u32, Sender, BuildHasherDefault<Mixer>>,
    /// The senders whose turn will come, in order.
    turns: VecDeque<u32>,
    /// Payload that all senders have been asked for.
    asked: u64,
    /// When the next credit may be given.
    next: u64,
    /// When the NIC looks for that, if it is known that it will.
    looks_at: u64,
}

/// The credits of all NICs of a run.
#[derive(Clone, Debug)]
pub struct Grants {
    /// Payload of a credit: a full packet.
    full: u64,
    /// Most payload that a NIC asks for ahead of its arrival.
    ahead: u64,
    /// Payload that a sender may have on the way.
    window: u64,
    /// Full packets in a window, which a sender may send before it has been asked.
    first: u64,
    /// Time of a full packet on the link of a node.
    spacing: u64,
    nics: Vec<Receiver>,
}

impl Grants {
    /// So many NICs, for packets of so much payload, and senders with windows of so many bytes.
    #[must_use]
    pub fn new(full: u32, window: u64, ahead: u64, spacing: u64, nics: usize) -> Self {
        let full = u64::from(full);
        Self { full, ahead, window, first: window / full, spacing, nics: vec![Receiver::default(); nics] }
    }

    /// A packet that left `from` at `left` has come to a NIC at the time of its response, which joins `released` now or when
    /// it is the turn of `from`. Returns when the NIC must look again.
    pub fn come(
        &mut self,
        nic: u32,
        (from, left): (u32, u64),
        response: Event,
        announces_more: bool,
        released: &mut VecDeque<Event>,
    ) -> Option<u64> {
        let of = &mut self.nics[nic as usize];
        let sender = of.senders.entry(from).or_default();
        if left < sender.last {
            released.push_back(response); // it was overtaken
            return None;
        }
        let unasked = announces_more && sender.unasked < self.first;
        let served = match (announces_more, unasked) {
            (false, _) => sender.asked,
            (true, true) => 0,
            (true, false) => sender.asked.min(self.full),
        };
        sender.unasked = if announces_more { sender.unasked + u64::from(unasked) } else { 0 };
        sender.asked -= served;
        of.asked -= served;
        if announces_more {
            if !std::mem::replace(&mut sender.listed, true) {
                of.turns.push_back(from);
            }
            sender.held_bytes += u64::from(response.bytes());
            sender.held.push_back(response);
        } else {
            sender.last = left;
            sender.held_bytes = 0;
            if std::mem::take(&mut sender.listed) {
                of.turns.retain(|other| *other != from);
            }
            released.extend(sender.held.drain(..).map(|held| held.at(response.time)));
            released.push_back(response);
        }
        self.grant(nic, response.time, released)
    }

    /// Gives the credits whose time has come by `now`. Returns when the NIC must look again, if that is not known yet.
    pub fn grant(&mut self, nic: u32, now: u64, released: &mut VecDeque<Event>) -> Option<u64> {
        let of = &mut self.nics[nic as usize];
        while (of.asked == 0 || of.asked + self.full <= self.ahead)
            && let Some(from) = of.turns.front().copied()
        {
            if now < of.next {
                let looks = std::mem::replace(&mut of.looks_at, of.next);
                return (looks != of.next).then_some(of.next);
            }
            of.turns.pop_front();
            let sender = of.senders.get_mut(&from).expect("something is held for it");
            // What the sender needs room for: what it will send unasked, what it has been asked for, and this packet.
            let needed = (self.first - sender.unasked + 1) * self.full + sender.asked;
            if needed > self.window {
                sender.listed = false; // another packet of it will come
                continue;
            }
            // One is released in any case. After short packets several make room for a full one.
            loop {
                let oldest = sender.held.pop_front().expect("something is held for it");
                sender.held_bytes -= u64::from(oldest.bytes());
                released.push_back(oldest.at(now));
                if sender.held_bytes + needed <= self.window {
                    break;
                }
            }
            sender.asked += self.full;
            of.asked += self.full;
            of.next = now + self.spacing;
            sender.listed = !sender.held.is_empty();
            if sender.listed {
                of.turns.push_back(from);
            }
        }
        None
    }

    /// All acknowledgements that are held back, for audits.
    pub fn held(&self) -> impl Iterator<Item = &Event> {
        self.nics.iter().flat_map(|of| of.senders.values()).flat_map(|sender| &sender.held)
    }

    /// Takes over a NIC of another partition.
    pub fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1,000 B that take 100 ps, and at most two of them ahead; each response carries a number in its key.
    #[test]
    fn senders_take_turns_at_the_rate_of_the_link_and_a_last_packet_waits_for_nothing() {
        let mut grants = Grants::new(1_000, 1_000, 2_000, 100, 1);
        let mut come = |from: u32, key: u32, at: u64, more: bool| {
            let mut released = VecDeque::new();
            let look = grants.come(0, (from, at), Event::packet(at, 0, 0, key, 1), more, &mut released);
            (released.iter().map(|response| (response.key, response.time)).collect::<Vec<_>>(), look)
        };
        assert_eq!(come(5, 1, 1_000, true), (vec![(1, 1_000)], None), "the first credit");
        assert_eq!(come(6, 2, 1_050, true), (vec![], Some(1_100)), "the next one is due a packet later");
        assert_eq!(come(7, 3, 1_060, true), (vec![], None), "which is known");
        assert_eq!(come(8, 4, 1_150, true), (vec![(2, 1_150)], None), "two packets are asked for");
        assert_eq!(come(9, 5, 1_400, true), (vec![], None), "no more are");
        assert_eq!(come(5, 6, 1_500, true), (vec![(3, 1_500)], None), "one of them has come");
        assert_eq!(come(8, 7, 1_600, false), (vec![(4, 1_600), (7, 1_600)], None), "its last packet");
        assert_eq!(come(7, 8, 1_700, false), (vec![(8, 1_700), (5, 1_700)], None), "the turn after that");
        let mut released = VecDeque::new();
        assert_eq!((grants.grant(0, 9_000, &mut released), grants.held().count()), (None, 1));
    }

    #[test]
    fn what_comes_unasked_is_not_what_was_asked_for() {
        let mut grants = Grants::new(1_000, 2_000, 1_000, 100, 1);
        let mut come = |key: u32, at: u64| {
            let mut released = VecDeque::new();
            grants.come(0, (5, at), Event::packet(at, 0, 0, key, 1), true, &mut released);
            released.iter().map(|response| response.key).collect::<Vec<_>>()
        };
        assert_eq!(come(1, 1_000), [1]);
        assert!(come(2, 2_000).is_empty(), "the first window is two packets");
        assert_eq!(come(3, 3_000), [2]);
    }

    /// Packets of 1,000 B, windows of 2,500 B, at most one packet ahead: a credit for a full packet opens the window
    /// for one, and asks for no more than the window holds.
    #[test]
    fn a_credit_after_short_packets_makes_room_for_a_full_one() {
        let mut grants = Grants::new(1_000, 2_500, 1_000, 100, 1);
        let mut come = |from: u32, key: u32, at: u64, bytes: u32| {
            let mut released = VecDeque::new();
            let more = bytes < 2_000;
            grants.come(0, (from, at), Event::packet(at, 0, 0, key, bytes), more, &mut released);
            released.iter().map(|response| response.key).collect::<Vec<_>>()
        };
        assert_eq!(come(6, 1, 1_000, 1_000), [1], "sender 6 is asked for a packet");
        for (key, bytes) in [(2, 200), (3, 300), (4, 1_000), (5, 1_000)] {
            assert!(come(5, key, 1_100, bytes).is_empty(), "nobody else is");
        }
        // The window of sender 5 is full: 200 and 300 B leave 2,000 B, and only the third makes room.
        assert_eq!(come(6, 6, 2_000, 2_000), [6, 2, 3, 4], "sender 6 has no more");
        assert_eq!(come(5, 7, 3_000, 500), [5], "its oldest leaves 500 B");

        let mut grants = Grants::new(1_000, 2_500, 9_000, 100, 1);
        let mut come = |key: u32, at: u64, bytes: u32| {
            let mut released = VecDeque::new();
            grants.come(0, (5, at), Event::packet(at, 0, 0, key, bytes), true, &mut released);
            released.iter().map(|response| response.key).collect::<Vec<_>>()
        };
        assert_eq!(come(1, 1_000, 100), [1]);
        for key in 2..6 {
            assert!(come(key, 1_010, 100).is_empty(), "its credit is not due");
        }
        assert_eq!(come(6, 2_000, 100), [2], "it has room for two");
        assert_eq!(come(7, 3_000, 100), [3], "one of which has come");
    }

    /// Catches credits for what a sender does not have any more, which nobody would ever use.
    #[test]
    fn a_packet_that_was_overtaken_by_the_last_one_announces_nothing() {
        let mut grants = Grants::new(1_000, 1_000, 1_000, 100, 1);
        let mut come = |left: u64, key: u32, more: bool| {
            let mut released = VecDeque::new();
            grants.come(0, (5, left), Event::packet(9_000 + u64::from(key), 0, 0, key, 1), more, &mut released);
            let keys = released.iter().map(|response| response.key).collect::<Vec<_>>();
            (keys, grants.nics[0].asked)
        };
        assert_eq!(come(30, 1, false), (vec![1], 0), "the last packet comes first");
        assert_eq!(come(20, 2, true), (vec![2], 0), "it is answered, and nothing is asked for");
        assert_eq!(come(40, 3, true), (vec![3], 1_000), "there is more again");
    }
}
