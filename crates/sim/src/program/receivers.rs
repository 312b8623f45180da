//! What receivers know of messages, by rank.

use super::matching::{Map, MessageKey, ReceiverState};

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

    /// Removes what a rank knows of a message, if it knows of it.
    #[inline]
    pub fn remove(&mut self, key: &MessageKey) -> Option<ReceiverState> {
        let of = &mut self.ranks[key.to as usize];
        for place in &mut of.places {
            if place.as_ref().is_some_and(|(other, _)| other == key) {
                return place.take().map(|(_, state)| state);
            }
        }
        if of.others == 0 {
            return None;
        }
        let found = self.others.remove(key);
        of.others -= u32::from(found.is_some());
        found
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
        let bytes = |state: Option<ReceiverState>| match state {
            Some(ReceiverState::Arrived { bytes }) => Some(bytes),
            _ => None,
        };
        let mut receivers = Receivers::new(3);
        for (to, from, label) in (0..3).flat_map(|to| (0..5).flat_map(move |from| (0..2).map(move |l| (to, from, l)))) {
            let state = ReceiverState::Arrived { bytes: u64::from(to * 100 + from * 10) + label };
            receivers.insert(key(to, from, label), state);
        }
        assert_eq!(receivers.iter().count(), 30);
        let mut all = Receivers::new(3);
        all.absorb(&receivers);
        for (to, from, label) in [(1, 4, 1), (1, 0, 0), (2, 3, 0), (0, 0, 1)] {
            assert_eq!(bytes(all.remove(&key(to, from, label))), Some(u64::from(to * 100 + from * 10) + label));
            assert_eq!(bytes(all.remove(&key(to, from, label))), None, "it is known once");
        }
        all.insert(key(1, 0, 0), ReceiverState::Arrived { bytes: 7 });
        assert_eq!(bytes(all.remove(&key(1, 0, 0))), Some(7));
        assert_eq!(bytes(all.remove(&key(1, 1, 1))), Some(111));
        assert_eq!(all.iter().count(), 25);
    }
}
