//! A window towards each destination: bytes without an acknowledgement (docs/model.md, section 3).

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::{Answers, Endpoint};
use crate::engine::random::Mixer;

/// What a NIC has sent to another one.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Payload without an acknowledgement, as far as the NIC has looked.
    in_flight: u64,
    /// Since when the window has no room for a full packet.
    full_since: Option<u64>,
    /// For how long it had none before.
    held: u64,
}

/// One NIC.
#[derive(Clone, Debug, Default)]
struct NicWindows {
    /// By destination. The map is only accessed by key, so its order does not matter.
    pairs: HashMap<u32, Pair, BuildHasherDefault<Mixer>>,
    /// When acknowledgements come that the NIC has not looked at: for which destination, and for how many bytes.
    returned: VecDeque<(u64, u32, u32)>,
}

/// NICs that acknowledge each packet, and whose bytes in flight to a destination are limited. A window that has no room
/// for a full packet holds back all packets to its destination, and no others.
pub struct Windowed {
    answers: Answers,
    /// Most bytes of payload in flight between two NICs, less a full packet.
    limit: u64,
    /// Payload of a full packet.
    full: u64,
    nics: Vec<NicWindows>,
}

impl Windowed {
    /// So many NICs with windows of `window` bytes, which hold at least one packet of `full` bytes.
    #[must_use]
    pub fn new(answers: Answers, window: u64, full: u32, nics: usize) -> Self {
        let full = u64::from(full);
        Self { answers, limit: window - full, full, nics: vec![NicWindows::default(); nics] }
    }
}

impl Endpoint for Windowed {
    const ANSWERS: bool = true;
    const SELECTIVE: bool = true;

    fn answers(&self) -> Option<&Answers> {
        Some(&self.answers)
    }

    #[inline(always)]
    fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    fn admits(&mut self, nic: u32, to: u32, _: u32, now: u64) -> bool {
        let NicWindows { pairs, returned } = &mut self.nics[nic as usize];
        while let Some(&(at, to, bytes)) = returned.front()
            && at <= now
        {
            returned.pop_front();
            let pair = pairs.entry(to).or_default();
            pair.in_flight -= u64::from(bytes);
            if pair.in_flight <= self.limit
                && let Some(since) = pair.full_since.take()
            {
                pair.held += at - since;
            }
        }
        pairs.get(&to).is_none_or(|pair| pair.full_since.is_none())
    }

    fn sent(&mut self, nic: u32, to: u32, bytes: u32, now: u64) {
        let pair = self.nics[nic as usize].pairs.entry(to).or_default();
        pair.in_flight += u64::from(bytes);
        if pair.in_flight > self.limit {
            pair.full_since = Some(now);
        }
    }

    fn answered(&mut self, nic: u32, to: u32, bytes: u32, at: u64) {
        self.nics[nic as usize].returned.push_back((at, to, bytes));
    }

    fn next_answer(&self, nic: u32) -> Option<u64> {
        self.nics[nic as usize].returned.front().map(|&(at, ..)| at)
    }

    /// The time for which the window towards the destination had no room for a full packet.
    fn held(&self, nic: u32, to: u32, now: u64) -> u64 {
        let NicWindows { pairs, returned } = &self.nics[nic as usize];
        let Some(pair) = pairs.get(&to) else { return 0 };
        let Some(since) = pair.full_since else { return pair.held };
        // The NIC may not have looked yet at acknowledgements that have come.
        let mut in_flight = pair.in_flight;
        let come = returned.iter().take_while(|&&(at, ..)| at <= now).filter(|&&(_, of, _)| of == to);
        for &(at, _, bytes) in come {
            in_flight -= u64::from(bytes);
            if in_flight <= self.limit {
                return pair.held + (at - since);
            }
        }
        pair.held + (now - since)
    }

    fn overfull(&self) -> u64 {
        let most = self.limit + self.full;
        self.nics.iter().filter(|nic| nic.pairs.values().any(|pair| pair.in_flight > most)).count() as u64
    }

    fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.answers.absorb(nic, &mut other.answers);
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}
