//! A window towards each destination: bytes without an acknowledgement, fixed or under congestion control
//! (docs/model.md, section 3).

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::control::{Answer, Control, Window};
use super::{Answers, Endpoint};
use crate::engine::random::Mixer;

/// What a NIC has sent to another one.
#[derive(Clone, Copy, Debug)]
struct Pair {
    window: Window,
    /// Payload without an acknowledgement, as far as the NIC has looked.
    in_flight: u64,
    /// Since when nothing may be sent.
    held_since: Option<u64>,
    /// For how long nothing might be sent before.
    held: u64,
}

impl Pair {
    fn new(control: &Control) -> Self {
        Self { window: control.first(), in_flight: 0, held_since: None, held: 0 }
    }

    /// A pause may have ended by `now`.
    fn advance(&mut self, control: &Control, now: u64) {
        if self.window.pause_end <= now
            && control.has_room(&self.window, self.in_flight)
            && let Some(since) = self.held_since.take()
        {
            self.held += self.window.pause_end.max(since) - since;
        }
    }

    /// Whether something may be sent has perhaps changed at `now`.
    fn note(&mut self, control: &Control, now: u64) {
        if !control.has_room(&self.window, self.in_flight) || self.window.pause_end > now {
            self.held_since.get_or_insert(now);
        } else if let Some(since) = self.held_since.take() {
            self.held += now - since;
        }
    }

    fn acknowledge(&mut self, control: &Control, answer: &Answer) {
        self.advance(control, answer.at);
        self.in_flight -= u64::from(answer.bytes);
        control.acknowledge(&mut self.window, answer);
        self.note(control, answer.at);
    }
}

/// One NIC.
#[derive(Clone, Debug, Default)]
struct NicWindows {
    /// By destination. The map is only accessed by key, so its order does not matter.
    pairs: HashMap<u32, Pair, BuildHasherDefault<Mixer>>,
    /// The acknowledgements that come and that the NIC has not looked at, in order.
    returned: VecDeque<Answer>,
}

/// NICs that acknowledge each packet, and whose bytes in flight to a destination are limited. A window that has no room
/// for a full packet holds back all packets to its destination, and no others.
pub struct Windowed {
    answers: Answers,
    control: Control,
    nics: Vec<NicWindows>,
}

impl Windowed {
    /// So many NICs with windows that are controlled so.
    #[must_use]
    pub fn new(answers: Answers, control: Control, nics: usize) -> Self {
        Self { answers, control, nics: vec![NicWindows::default(); nics] }
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
        while let Some(answer) = returned.front()
            && answer.at <= now
        {
            let pair = pairs.get_mut(&answer.to).expect("something was sent there");
            pair.acknowledge(&self.control, answer);
            returned.pop_front();
        }
        let Some(pair) = pairs.get_mut(&to) else { return true };
        pair.advance(&self.control, now);
        pair.held_since.is_none()
    }

    fn may_close(&self) -> bool {
        self.control.changes()
    }

    fn sent(&mut self, nic: u32, to: u32, bytes: u32, now: u64) {
        let pair = self.nics[nic as usize].pairs.entry(to).or_insert_with(|| Pair::new(&self.control));
        pair.in_flight += u64::from(bytes);
        pair.note(&self.control, now);
    }

    fn answered(&mut self, nic: u32, answer: Answer) {
        self.nics[nic as usize].returned.push_back(answer);
    }

    fn next_look(&self, nic: u32, now: u64, waiting: impl Iterator<Item = u32>) -> Option<u64> {
        let NicWindows { pairs, returned } = &self.nics[nic as usize];
        let answer = returned.front().map(|answer| answer.at);
        if !self.control.pauses() {
            return answer;
        }
        let pause_end = |to| {
            let pair: &Pair = pairs.get(&to)?;
            let end = pair.window.pause_end;
            (end > now && self.control.has_room(&pair.window, pair.in_flight)).then_some(end)
        };
        waiting.filter_map(pause_end).chain(answer).min()
    }

    /// The time for which the window towards the destination had no room for a full packet, or the pair paused.
    fn held(&self, nic: u32, to: u32, now: u64) -> u64 {
        let NicWindows { pairs, returned } = &self.nics[nic as usize];
        let Some(mut pair) = pairs.get(&to).copied() else { return 0 };
        // The NIC may not have looked yet at acknowledgements that have come.
        for answer in returned.iter().take_while(|answer| answer.at <= now).filter(|answer| answer.to == to) {
            pair.acknowledge(&self.control, answer);
        }
        pair.advance(&self.control, now);
        pair.held + pair.held_since.map_or(0, |since| now - since)
    }

    fn overfull(&self) -> u64 {
        let exceeds = |nic: &&NicWindows| nic.pairs.values().any(|pair| pair.in_flight > self.control.most());
        self.nics.iter().filter(exceeds).count() as u64
    }

    fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.answers.absorb(nic, &mut other.answers);
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}
