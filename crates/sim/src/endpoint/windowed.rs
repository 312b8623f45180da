//! A window towards each destination: bytes without an acknowledgement, fixed or under congestion control
//! (docs/model.md, section 3).

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::control::{Answer, Control, Window};
use super::{Answers, Endpoint, Waiting};
use crate::engine::random::Mixer;
use crate::observe::{Held, OWN};

/// What a NIC has sent to another one.
#[derive(Clone, Debug)]
struct Pair {
    window: Window,
    /// Payload without an acknowledgement, as far as the NIC has looked.
    in_flight: u64,
    /// Packets that asked for an acknowledgement that has not come; not counted if each one asks.
    asking: u64,
    /// Since when nothing may be sent.
    held_since: Option<u64>,
    /// The job for which, or [`OWN`].
    holder: u16,
    /// For how long nothing might be sent before.
    held: Held,
}

impl Pair {
    fn new(control: &Control) -> Self {
        Self { window: control.first(), in_flight: 0, asking: 0, held_since: None, holder: OWN, held: Held::default() }
    }

    /// Whether there is room for a full packet. With acknowledgements of several packets, there also is if none is sure to
    /// come.
    #[inline]
    fn has_room(&self, control: &Control) -> bool {
        control.has_room(&self.window, self.in_flight) || (control.coalesces() && self.asking == 0)
    }

    /// A pause may have ended by `now`.
    fn advance(&mut self, control: &Control, now: u64) {
        if self.window.pause_end <= now
            && self.has_room(control)
            && let Some(since) = self.held_since.take()
        {
            self.held.add(self.window.pause_end.max(since) - since, self.holder);
        }
    }

    /// Whether something may be sent has perhaps changed at `now`.
    fn note(&mut self, control: &Control, now: u64) {
        if !self.has_room(control) || self.window.pause_end > now {
            self.held_since.get_or_insert(now);
        } else if let Some(since) = self.held_since.take() {
            self.held.add(now - since, self.holder);
        }
    }

    fn acknowledge(&mut self, control: &Control, answer: &Answer) {
        self.advance(control, answer.at);
        self.in_flight -= answer.bytes;
        self.asking -= u64::from(control.coalesces() && answer.asks);
        control.acknowledge(&mut self.window, answer);
        let holder = match answer.marked {
            _ if control.is_widest(&self.window) => OWN,
            true => answer.named,
            false => self.holder,
        };
        if holder != self.holder {
            if let Some(since) = &mut self.held_since {
                self.held.add(answer.at - *since, self.holder);
                *since = answer.at;
            }
            self.holder = holder;
        }
        self.note(control, answer.at);
    }
}

/// A destination of a NIC.
#[derive(Clone, Debug)]
struct Destination {
    pair: Pair,
    /// The messages that wait, each with its place in the order of service of the NIC.
    lane: VecDeque<(u64, Waiting)>,
}

/// One NIC.
#[derive(Clone, Debug, Default)]
struct NicWindows {
    /// The map is only accessed by key, so its order does not matter.
    destinations: HashMap<u32, Destination, BuildHasherDefault<Mixer>>,
    /// The acknowledgements that come and that the NIC has not looked at, in order.
    returned: VecDeque<Answer>,
    /// The places of messages that wait, with their destinations: the first of each lane that may have room.
    ready: BTreeMap<u64, u32>,
    /// When pauses of destinations with waiting messages end. (A pause that was replaced may remain.)
    pauses: BTreeSet<(u64, u32)>,
    /// Messages that wait.
    waiting: usize,
    /// The next place in the order of service.
    next_place: u64,
}

impl NicWindows {
    fn destination(&mut self, control: &Control, to: u32) -> &mut Destination {
        let new = || Destination { pair: Pair::new(control), lane: VecDeque::new() };
        self.destinations.entry(to).or_insert_with(new)
    }

    /// Looks at the acknowledgements that have come by `now`, and at pauses that have ended.
    fn look(&mut self, control: &Control, now: u64) {
        let Self { destinations, returned, ready, pauses, .. } = self;
        while let Some(answer) = returned.front()
            && answer.at <= now
        {
            let of = destinations.get_mut(&answer.to).expect("something was sent there");
            of.pair.acknowledge(control, answer);
            if let Some(&(place, _)) = of.lane.front() {
                ready.insert(place, answer.to);
            }
            returned.pop_front();
        }
        while let Some(&(end, to)) = pauses.first()
            && end <= now
        {
            pauses.pop_first();
            if let Some(&(place, _)) = destinations.get(&to).and_then(|of| of.lane.front()) {
                ready.insert(place, to);
            }
        }
    }
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
    const NUMBERED: bool = true;

    fn answers(&self) -> Option<&Answers> {
        Some(&self.answers)
    }

    #[inline(always)]
    fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    fn admits(&mut self, nic: u32, to: u32, _: u32, now: u64) -> bool {
        let of = &mut self.nics[nic as usize];
        of.look(&self.control, now);
        let Some(of) = of.destinations.get_mut(&to) else { return true };
        of.pair.advance(&self.control, now);
        of.pair.held_since.is_none()
    }

    fn sent(&mut self, nic: u32, to: u32, (bytes, rest): (u32, bool), now: u64) -> bool {
        let (control, pair) = (&self.control, &mut self.nics[nic as usize].destination(&self.control, to).pair);
        control.sent(&mut pair.window, pair.in_flight, u64::from(bytes), now);
        pair.in_flight += u64::from(bytes);
        let fills = || pair.asking == 0 && !control.has_room(&pair.window, pair.in_flight);
        let asks = !control.coalesces() || !rest || fills();
        pair.asking += u64::from(control.coalesces() && asks);
        pair.note(control, now);
        asks
    }

    fn answered(&mut self, nic: u32, answer: Answer) {
        self.nics[nic as usize].returned.push_back(answer);
    }

    fn next_look(&self, nic: u32) -> Option<u64> {
        let of = &self.nics[nic as usize];
        let answer = of.returned.front().map(|answer| answer.at);
        of.pauses.first().map(|&(end, _)| end).into_iter().chain(answer).min()
    }

    fn enqueue(&mut self, nic: u32, message: Waiting) {
        let of = &mut self.nics[nic as usize];
        let (place, to) = (of.next_place, message.to());
        of.next_place += 1;
        of.waiting += 1;
        let lane = &mut of.destination(&self.control, to).lane;
        lane.push_back((place, message));
        if lane.len() == 1 {
            of.ready.insert(place, to);
        }
    }

    fn put_back(&mut self, nic: u32, place: u64, message: Waiting) {
        let of = &mut self.nics[nic as usize];
        let to = message.to();
        of.waiting += 1;
        let lane = &mut of.destination(&self.control, to).lane;
        let second = lane.front().map(|&(second, _)| second);
        lane.push_front((place, message));
        if let Some(second) = second {
            of.ready.remove(&second);
        }
        of.ready.insert(place, to);
    }

    fn take_next(&mut self, nic: u32, now: u64) -> Option<(u64, Waiting)> {
        let of = &mut self.nics[nic as usize];
        of.look(&self.control, now);
        while let Some((place, to)) = of.ready.pop_first() {
            let Destination { pair, lane } = of.destinations.get_mut(&to).expect("a message waits for it");
            pair.advance(&self.control, now);
            if pair.held_since.is_none() {
                let (_, message) = lane.pop_front().expect("a message waits there");
                if let Some(&(second, _)) = lane.front() {
                    of.ready.insert(second, to);
                }
                of.waiting -= 1;
                return Some((place, message));
            }
            if pair.has_room(&self.control) {
                of.pauses.insert((pair.window.pause_end, to));
            }
        }
        None
    }

    fn announces_more(&self, nic: u32, to: u32, rest: bool) -> bool {
        let waits = |of: &Destination| !of.lane.is_empty();
        self.answers.announced() && (rest || self.nics[nic as usize].destinations.get(&to).is_some_and(waits))
    }

    fn is_idle(&self, nic: u32) -> bool {
        self.nics[nic as usize].waiting == 0
    }

    fn waiting_bytes(&self, nic: u32) -> u64 {
        let lanes = self.nics[nic as usize].destinations.values().flat_map(|of| &of.lane);
        lanes.map(|(_, message)| message.bytes_left).sum()
    }

    /// The time for which the window towards the destination had no room for a full packet, or the pair paused.
    fn held(&self, nic: u32, to: u32, now: u64) -> Held {
        let NicWindows { destinations, returned, .. } = &self.nics[nic as usize];
        let Some(mut pair) = destinations.get(&to).map(|of| of.pair.clone()) else { return Held::default() };
        // The NIC may not have looked yet at acknowledgements that have come.
        for answer in returned.iter().take_while(|answer| answer.at <= now).filter(|answer| answer.to == to) {
            pair.acknowledge(&self.control, answer);
        }
        pair.advance(&self.control, now);
        if let Some(since) = pair.held_since {
            pair.held.add(now - since, pair.holder);
        }
        pair.held
    }

    fn overfull(&self) -> u64 {
        // What is sent because no acknowledgement is sure to come may exceed the window by less than a packet.
        let more = if self.control.coalesces() { self.control.full() - 1 } else { 0 };
        let most = self.control.most().saturating_add(more);
        let exceeds = |nic: &&NicWindows| nic.destinations.values().any(|of| of.pair.in_flight > most);
        self.nics.iter().filter(exceeds).count() as u64
    }

    fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.answers.absorb(nic, &mut other.answers);
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}
