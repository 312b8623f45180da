//! A wheel of windows, each with a log of its events.
//!
//! Time is cut into windows no longer than the lookahead. An event is appended to the log of its window. When the
//! window opens, a counting sort brings its log into order of places, and then the few events of each place are sorted.
//! Events of different places need no order. So memory is accessed in long runs, freed blocks are reused at once, and
//! the next accesses are known in advance. Events beyond the wheel wait in one list per turn of the wheel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::ordered::Entry;
use super::{Queue, Record, Window, rank};

/// Number of windows on the wheel.
const WINDOWS: u64 = 64;
/// Number of records in a block of a log.
const BLOCK: u32 = 32;
/// In a window with fewer than one event per this many places, the places with events are marked in a bitmap, so that
/// the others are not looked at.
const SPARSE: usize = 4;
/// Longest window. A time within a window has 31 bits.
pub const MAX_WINDOW_PS: u64 = 1 << 31;

/// Pending events of many places, sorted only as far as they can affect each other.
pub struct Wheel<R> {
    /// `ceil(2^64 / window)`: the window of a time is the upper half of the product with this.
    inverse: u64,
    /// The window after the open one.
    next: u64,
    /// Start of the open window.
    base: u64,
    logs: Logs<R>,
    /// Events beyond the wheel, by turn.
    far: BTreeMap<u64, Vec<(u32, R)>>,
    /// Whether the events of all places are in one order.
    one_order: bool,
    /// Events that were added to the open window.
    late: BinaryHeap<Reverse<Entry<R>>>,
    /// The places that have events here.
    own: Range<usize>,
    /// While the events of a window are sorted: for each place, where its events end.
    ends: Vec<u32>,
    /// While the events of a sparse window are counted: a bit for each place, set if it has events.
    marks: Vec<u64>,
}

/// The events of each window on the wheel, in blocks.
///
/// `records` and `places` have [`BLOCK`] entries for each entry of `before`. Each tail and each entry of `before` is
/// zero or the end of an existing block: block `k` has the entries from `k * BLOCK` up to `(k + 1) * BLOCK`.
struct Logs<R> {
    /// For each window, the position of its next event, from 1 on, if its block has room: a block begins at each
    /// multiple of [`BLOCK`]. Zero for a window without events.
    tails: [u32; WINDOWS as usize],
    records: Vec<R>,
    places: Vec<u32>,
    /// For each block, the end of the previous block of its log, or zero.
    before: Vec<u32>,
    free: Vec<u32>,
}

impl<R: Record> Logs<R> {
    /// Appends an event; returns it.
    #[inline(always)]
    fn push(&mut self, window: u64, place: u32, record: R) -> &mut R {
        let in_turn = (window % WINDOWS) as usize;
        let mut at = self.tails[in_turn];
        if at.is_multiple_of(BLOCK) {
            at = self.block(at, record);
        }
        self.tails[in_turn] = at + 1;
        // SAFETY: entry `at` is in an existing block: either it is not the first of its block, and the one before it
        // was written, or `block` has just returned the block that begins with it.
        let (to, slot) =
            unsafe { (self.places.get_unchecked_mut(at as usize), self.records.get_unchecked_mut(at as usize)) };
        (*to, *slot) = (place, record);
        slot
    }

    /// Returns the start of a free block for a log that ends at `before`.
    #[cold]
    #[inline(never)]
    fn block(&mut self, before: u32, record: R) -> u32 {
        let block = self.free.pop().unwrap_or_else(|| {
            let end = self.records.len() + BLOCK as usize;
            self.records.resize(end, record);
            self.places.resize(end, 0);
            self.before.push(0);
            self.before.len() as u32 - 1
        });
        self.before[block as usize] = before;
        block * BLOCK
    }

    /// The blocks of a window's log, each with its start and end.
    fn blocks(&self, window: u64) -> impl Iterator<Item = (usize, usize)> {
        let mut end = self.tails[(window % WINDOWS) as usize];
        std::iter::from_fn(move || {
            let block = end.checked_sub(1)? / BLOCK;
            let ended = std::mem::replace(&mut end, self.before[block as usize]);
            Some(((block * BLOCK) as usize, ended as usize))
        })
    }

    /// Number of events of a window.
    fn count(&self, window: u64) -> usize {
        self.blocks(window).map(|(begin, end)| end - begin).sum()
    }

    /// Forgets a window's events.
    fn clear(&mut self, window: u64) {
        let mut end = std::mem::take(&mut self.tails[(window % WINDOWS) as usize]);
        while end > 0 {
            let block = (end - 1) / BLOCK;
            self.free.push(block);
            end = self.before[block as usize];
        }
    }
}

impl<R: Record> Wheel<R> {
    /// An empty wheel. An event at one of its places affects other places at least `lookahead_ps` later.
    #[must_use]
    pub fn new(places: usize, lookahead_ps: u64) -> Self {
        let window = lookahead_ps.clamp(2, MAX_WINDOW_PS);
        Self {
            inverse: u64::try_from((1_u128 << 64).div_ceil(u128::from(window))).unwrap_or(u64::MAX),
            next: 0,
            base: 0,
            logs: Logs {
                tails: [0; WINDOWS as usize],
                records: Vec::new(),
                places: Vec::new(),
                before: Vec::new(),
                free: Vec::new(),
            },
            far: BTreeMap::new(),
            one_order: false,
            late: BinaryHeap::new(),
            own: 0..places,
            ends: vec![0; places],
            marks: vec![0; places.div_ceil(64)],
        }
    }

    /// The same with all events in one order, by (time, place, tie), for runs in which places see each other's state.
    #[must_use]
    pub fn in_one_order(places: usize, lookahead_ps: u64) -> Self {
        Self { one_order: true, ..Self::new(places, lookahead_ps) }
    }

    /// The same as [`new`](Self::new), for the events of a range of the places.
    #[must_use]
    pub fn of_some(own: Range<usize>, places: usize, lookahead_ps: u64) -> Self {
        Self { own, ..Self::new(places, lookahead_ps) }
    }

    /// The window of a time. Any monotone map would do if its windows are no longer than the lookahead; this one costs
    /// one multiplication.
    #[inline(always)]
    fn window_of(&self, time: u64) -> u64 {
        ((u128::from(time) * u128::from(self.inverse)) >> 64) as u64
    }

    /// Start of a window.
    fn start_of(&self, window: u64) -> u64 {
        ((u128::from(window) << 64).div_ceil(u128::from(self.inverse))) as u64
    }

    /// Adds an event in the open window or beyond the wheel.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, window: u64, place: u32, record: R) {
        if window >= self.next {
            self.far.entry(window / WINDOWS).or_default().push((place, record));
            return;
        }
        debug_assert_eq!(window + 1, self.next, "an event in the past");
        self.late.push(Reverse(Entry::new(place, record)));
    }

    /// A window that is not open yet, and before which there are no events; it has some, unless it begins a turn.
    #[must_use]
    pub fn upcoming(&self) -> Option<u64> {
        let far = self.far.first_key_value().map(|(&turn, _)| self.next.max(turn * WINDOWS));
        let near = (self.next..self.next + WINDOWS).find(|window| self.number_in(*window) > 0);
        far.into_iter().chain(near).min()
    }

    /// 0 if no event of a window is on the wheel.
    fn number_in(&self, window: u64) -> u32 {
        self.logs.tails[(window % WINDOWS) as usize]
    }

    /// The most events that a window before the end of the wheel has.
    #[must_use]
    pub fn most(&self, window: u64) -> usize {
        let far = if window.is_multiple_of(WINDOWS) { self.far.get(&(window / WINDOWS)) } else { None };
        self.logs.count(window) + far.map_or(0, Vec::len)
    }

    /// Opens a window before which there are no events, and replaces the events of the last one by its events.
    pub fn open_at(&mut self, window: u64, events: &mut Window<R>) {
        debug_assert!(self.late.is_empty(), "a window was left too early");
        self.next = window;
        if window.is_multiple_of(WINDOWS)
            && let Some(records) = self.far.remove(&(window / WINDOWS))
        {
            for (place, record) in records {
                self.logs.push(self.window_of(record.time()), place, record);
            }
        }
        self.next += 1;
        self.base = self.start_of(window);
        if self.number_in(window) == 0 {
            events.replace(None);
            return;
        }
        if self.one_order {
            self.gather_in_order(window, events);
        } else {
            self.gather(window, events);
            self.put_in_order(events);
        }
        self.logs.clear(window);
    }

    /// Takes the events of a window from its log, place by place.
    fn gather(&mut self, window: u64, to: &mut Window<R>) {
        let (count, logs, ends) = (self.logs.count(window), &self.logs, &mut self.ends);
        let Some((some, _)) = logs.blocks(window).next() else { return };
        to.resize(count, logs.records[some]);
        let places = logs.blocks(window).map(|(begin, end)| &logs.places[begin..end]);
        let begins = if count * SPARSE < self.own.len() {
            begin_sparse(places, ends, &mut self.marks)
        } else {
            begin_dense(places, ends, &self.own)
        };
        assert!(begins as usize == count && count <= to.places.len() && count <= to.records.len());
        for (begin, end) in logs.blocks(window) {
            for at in begin..end {
                // SAFETY: the first loop looked up the same event and counted it at its place. So the position is
                // within the range of the place's events, and the ranges of all places end at `count`.
                unsafe {
                    let place = *logs.places.get_unchecked(at);
                    let position = ends.get_unchecked_mut(place as usize);
                    *to.records.get_unchecked_mut(*position as usize) = *logs.records.get_unchecked(at);
                    *to.places.get_unchecked_mut(*position as usize) = place;
                    *position += 1;
                }
            }
        }
    }

    /// Takes the events of a window from its log in one order.
    fn gather_in_order(&mut self, window: u64, to: &mut Window<R>) {
        let logs = &self.logs;
        let all = logs.blocks(window).flat_map(|(begin, end)| begin..end);
        let mut keys: Vec<u64> = all.map(|at| (logs.records[at].time() - self.base) << 32 | at as u64).collect();
        keys.sort_unstable();
        let rest = |&key: &u64| (logs.places[key as u32 as usize], logs.records[key as u32 as usize].tie());
        for same_time in keys.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            same_time.sort_unstable_by_key(rest);
        }
        let Some(&some) = keys.first() else { return };
        to.resize(keys.len(), logs.records[some as u32 as usize]);
        for (position, &key) in keys.iter().enumerate() {
            to.records[position] = logs.records[key as u32 as usize];
            to.places[position] = logs.places[key as u32 as usize];
            to.order[position] = position as u32;
        }
    }

    /// Sorts the events of each place.
    fn put_in_order(&mut self, window: &mut Window<R>) {
        let (base, count) = (self.base, window.len());
        let mut begin = 0;
        while begin < count {
            // SAFETY: `begin` is below the number of events, and `gather` looked up the place of each.
            let end = unsafe { *self.ends.get_unchecked(*window.places.get_unchecked(begin) as usize) } as usize;
            let (batch, order) = (&window.records[begin..end], &mut window.order[begin..end]);
            rank::order(base, batch, begin as u32, order);
            begin = end;
        }
    }
}

/// Counts the events of each place and writes where they begin into `ends`. All places are in the range `own`. Returns
/// the number of events.
#[inline(always)]
fn begin_dense<'a>(places: impl Iterator<Item = &'a [u32]>, ends: &mut [u32], own: &Range<usize>) -> u32 {
    ends[own.clone()].fill(0);
    for block in places {
        for &place in block {
            ends[place as usize] += 1;
        }
    }
    let mut begins = 0;
    for end in &mut ends[own.clone()] {
        begins += std::mem::replace(end, begins);
    }
    begins
}

/// The same for few events: only their places are written, and all of `marks` is zero before and after.
#[inline(never)]
fn begin_sparse<'a>(places: impl Iterator<Item = &'a [u32]>, ends: &mut [u32], marks: &mut [u64]) -> u32 {
    for block in places {
        for &place in block {
            let (word, bit) = (&mut marks[place as usize / 64], 1 << (place % 64));
            let end = &mut ends[place as usize];
            *end = 1 + if *word & bit == 0 { 0 } else { *end };
            *word |= bit;
        }
    }
    let mut begins = 0;
    for (word, first) in marks.iter_mut().zip((0..).step_by(64)) {
        let mut marked = std::mem::take(word);
        while marked != 0 {
            begins += std::mem::replace(&mut ends[first + marked.trailing_zeros() as usize], begins);
            marked &= marked - 1;
        }
    }
    begins
}

impl<R: Record> Queue<R> for Wheel<R> {
    #[inline(always)]
    fn push(&mut self, place: u32, record: R) {
        self.push_changed(place, record.time(), &record, |_| ());
    }

    #[inline(always)]
    fn push_changed(&mut self, place: u32, time: u64, record: &R, change: impl FnOnce(&mut R)) {
        let window = self.window_of(time);
        if window.wrapping_sub(self.next) < WINDOWS {
            change(self.logs.push(window, place, *record));
        } else {
            let mut record = *record;
            change(&mut record);
            self.push_elsewhere(window, place, record);
        }
    }

    #[inline(never)]
    fn open(&mut self, events: &mut Window<R>) -> bool {
        while let Some(window) = self.upcoming() {
            self.open_at(window, events);
            if !events.is_empty() {
                return true;
            }
        }
        events.replace(None);
        false
    }

    #[cold]
    fn shorten(&mut self, window: &Window<R>, lookahead_ps: u64) {
        let new = Self::of_some(self.own.clone(), self.ends.len(), lookahead_ps);
        let mut shorter = Self { one_order: self.one_order, ..new };
        shorter.next = shorter.window_of(self.base);
        window.iter().for_each(|(place, record)| shorter.push(place, *record));
        for window in self.next..self.next + WINDOWS {
            for at in self.logs.blocks(window).flat_map(|(begin, end)| begin..end) {
                shorter.push(self.logs.places[at], self.logs.records[at]);
            }
        }
        self.far.values().flatten().for_each(|&(place, record)| shorter.push(place, record));
        *self = shorter;
    }

    #[inline(always)]
    fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    fn late(&mut self, before: Option<(u32, &R)>) -> Option<(u32, R)> {
        let Reverse(first) = self.late.peek()?;
        if let Some((place, record)) = before
            && (self.one_order || place == first.place())
            && Entry::new(place, *record) <= *first
        {
            return None;
        }
        self.late.pop().map(|Reverse(entry)| (entry.place(), entry.record))
    }

    fn in_one_order(&self) -> bool {
        self.one_order
    }

    fn closed_until(&self) -> u64 {
        if self.one_order { 0 } else { self.start_of(self.next) }
    }

    #[inline(always)]
    fn horizon(&self) -> u64 {
        self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Ordered;
    use crate::engine::random::mix64;

    #[test]
    fn the_places_of_few_events_are_counted_as_those_of_many() {
        let (mut marks, mut sparse, mut dense) = (vec![0; 4], vec![7; 200], vec![7; 200]);
        for case in 0..400_u64 {
            let places: Vec<u32> = (0..1 + case % 60).map(|k| (mix64(case << 8 | k) % 200) as u32).collect();
            let blocks = || places.chunks(7);
            let count = begin_dense(blocks(), &mut dense, &(0..200));
            assert_eq!(begin_sparse(blocks(), &mut sparse, &mut marks), count);
            assert_eq!((count as usize, &*marks), (places.len(), &[0; 4][..]));
            assert!(places.iter().all(|&place| sparse[place as usize] == dense[place as usize]), "case {case}");
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Event {
        time: u64,
        tie: u32,
        id: u64,
    }

    impl Record for Event {
        fn time(&self) -> u64 {
            self.time
        }
        fn tie(&self) -> u32 {
            self.tie
        }
    }

    /// Events that spawn others, as routers do: at other places at least `lookahead` later, at the same place at any
    /// later time. After some windows, the queue shortens them. Returns the history of each place and that of all places
    /// together.
    fn play(
        mut queue: impl Queue<Event>,
        places: u32,
        lookahead: u64,
        spread: u64,
    ) -> (Vec<Vec<Event>>, Vec<(u32, Event)>) {
        let mut all = Vec::new();
        let mut seen = vec![Vec::new(); places as usize];
        for place in 0..places {
            queue.push(place, Event { time: u64::from(place) * 3, tie: 1, id: u64::from(place) });
        }
        let end = if cfg!(miri) { 4 } else { 400 } * (lookahead + spread);
        let mut handle = |queue: &mut dyn FnMut(u32, Event), place: u32, event: Event| {
            seen[place as usize].push(event);
            all.push((place, event));
            if event.time > end {
                return;
            }
            for child in 0..if event.id.is_multiple_of(100) { 2 } else { 1 } {
                let id = mix64(event.id.wrapping_mul(2) + child + 1);
                let here = id.is_multiple_of(3);
                let delay = mix64(id) % if id.is_multiple_of(17) { spread * 100 } else { spread };
                let to = if here { place } else { (id >> 8) as u32 % places };
                let time = event.time + if here { 1 + delay } else { lookahead + delay };
                queue(to, Event { time, tie: (id >> 40) as u32 & 0xfffff, id });
            }
        };
        let (mut window, mut windows) = (Window::default(), 0);
        while queue.open(&mut window) {
            windows += 1;
            if windows == if cfg!(miri) { 3 } else { 20 } {
                queue.shorten(&window, lookahead / 3);
                continue;
            }
            for position in 0..=window.len() {
                let next = window.get(position);
                while let Some((place, event)) = queue.late(next) {
                    handle(&mut |place, event| queue.push(place, event), place, event);
                }
                if let Some((place, &event)) = next {
                    handle(&mut |place, event| queue.push(place, event), place, event);
                }
            }
        }
        (seen, all)
    }

    #[test]
    fn the_wheel_hands_each_place_the_same_events_in_the_same_order_as_a_heap() {
        // The last two have thousands of events of one place in one window.
        let cases = [
            (1, 100, 50),
            (5, 2, 10),
            (7, 1000, 500),
            (40, 113_000, 9_000_000),
            (3, 4096, 1),
            (1, 1 << 20, 60),
            (2, 1 << 24, 900),
        ];
        for (places, lookahead, spread) in cases.into_iter().take(if cfg!(miri) { 5 } else { cases.len() }) {
            let case = format!("{places} places, lookahead {lookahead}, spread {spread}");
            let (by_place, _) = play(Wheel::new(places as usize, lookahead), places, lookahead, spread);
            let (heap, all) = play(Ordered::default(), places, lookahead, spread);
            assert!(all.len() > if cfg!(miri) { 3 } else { 100 });
            assert_eq!(by_place, heap, "{case}");
            let in_one_order = play(Wheel::in_one_order(places as usize, lookahead), places, lookahead, spread);
            assert!(in_one_order.1 == all, "{case}, all events in one order");
        }
    }

    #[test]
    fn a_window_is_never_longer_than_the_lookahead() {
        for lookahead in [2_u64, 3, 1000, 113_637, MAX_WINDOW_PS] {
            let wheel: Wheel<Event> = Wheel::new(1, lookahead);
            for window in [0_u64, 1, 77, 1_000_003] {
                let (start, next) = (wheel.start_of(window), wheel.start_of(window + 1));
                assert!(next - start <= lookahead, "{lookahead} {window}");
                assert_eq!((wheel.window_of(start), wheel.window_of(next)), (window, window + 1));
                assert!(start == 0 || wheel.window_of(start - 1) == window - 1);
            }
        }
    }
}
