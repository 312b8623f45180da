//! What receivers know of messages, by rank.

use super::matching::{Map, MessageKey, ReceiverState};
use crate::engine::prefetch_whole;

/// What each rank knows of messages that have not been received.
///
/// Most ranks wait for one message and have early news of at most one more, so these are kept at the rank: a table by key
/// would take longer, and the longer the more ranks there are.
pub struct Receivers {
    ranks: Vec<Places>,
    /// What finds no place.
    others: Map<ReceiverState>,
}

/// What is kept at a rank.
#[derive(Clone, Copy)]
struct Places {
    places: [Option<(MessageKey, ReceiverState)>; 2],
    /// How many more there are of the rank.
    others: u32,
}

impl Places {
    const EMPTY: Self = Self { places: [None; 2], others: 0 };
}

impl Receivers {
    /// Of so many ranks, which know nothing.
    #[must_use]
    pub fn new(ranks: usize) -> Self {
        Self { ranks: vec![Places::EMPTY; ranks], others: Map::default() }
    }

    /// Adds what a rank knows of a message of which it knew nothing.
    #[inline]
    pub fn insert(&mut self, key: MessageKey, state: ReceiverState) {
        let of = &mut self.ranks[key.to as usize];
        for place in &mut of.places {
            if place.is_none() {
                *place = Some((key, state));
                return;
            }
        }
        of.others += 1;
        self.others.insert(key, state);
    }

    /// A receive is posted, or a message comes: removes what the rank knows of it. If it knows nothing, `state` is what it
    /// knows from now on.
    #[inline]
    pub fn meet(&mut self, key: MessageKey, state: ReceiverState) -> Option<ReceiverState> {
        let of = &mut self.ranks[key.to as usize];
        let mut empty = None;
        for place in &mut of.places {
            match place {
                None => empty = Some(place),
                Some((other, found)) if *other == key => {
                    let found = *found;
                    *place = None;
                    return Some(found);
                }
                Some(_) => {}
            }
        }
        if of.others > 0
            && let Some(found) = self.others.remove(&key)
        {
            of.others -= 1;
            return Some(found);
        }
        if let Some(empty) = empty {
            *empty = Some((key, state));
        } else {
            of.others += 1;
            self.others.insert(key, state);
        }
        None
    }

    /// Prefetches what is kept at a rank.
    #[inline(always)]
    pub fn prefetch(&self, rank: u32) {
        prefetch_whole(&self.ranks, rank as usize);
    }

    /// All that is known, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (MessageKey, ReceiverState)> {
        let kept = self.ranks.iter().flat_map(|of| of.places).flatten();
        kept.chain(self.others.iter().map(|(&key, &state)| (key, state)))
    }

    /// Adds what the ranks of another partition know.
    pub fn absorb(&mut self, other: &Self) {
        other.iter().for_each(|(key, state)| self.insert(key, state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_knows_is_found_however_much_it_is() {
        let key = |to, from, label| MessageKey { to, from, iteration: 0, label };
        let arrived = |bytes| ReceiverState::Arrived { bytes };
        let bytes = |state: Option<ReceiverState>| match state {
            Some(ReceiverState::Arrived { bytes }) => Some(bytes),
            _ => None,
        };
        let mut receivers = Receivers::new(3);
        for (to, from, label) in (0..3).flat_map(|to| (0..5).flat_map(move |from| (0..2).map(move |l| (to, from, l)))) {
            let state = arrived(u64::from(to * 100 + from * 10) + label);
            assert!(receivers.meet(key(to, from, label), state).is_none(), "nothing was known");
        }
        assert_eq!(receivers.iter().count(), 30);
        let mut all = Receivers::new(3);
        all.absorb(&receivers);
        for (to, from, label) in [(1, 4, 1), (1, 0, 0), (2, 3, 0), (0, 0, 1)] {
            let (key, number) = (key(to, from, label), u64::from(to * 100 + from * 10) + label);
            for known in [&mut receivers, &mut all] {
                assert_eq!(bytes(known.meet(key, arrived(0))), Some(number));
                assert_eq!(bytes(known.meet(key, arrived(1))), None, "it is known once");
                assert_eq!(bytes(known.meet(key, arrived(2))), Some(1), "and again");
            }
        }
        all.insert(key(1, 0, 0), arrived(7));
        assert_eq!(bytes(all.meet(key(1, 0, 0), arrived(8))), Some(7));
        assert_eq!(bytes(all.meet(key(1, 1, 1), arrived(8))), Some(111));
        assert_eq!(all.iter().count(), 25);
    }
}
