//! A wheel of windows, each holding its events place by place.
//!
//! Time is cut into windows no longer than the lookahead. Events of one window and place wait, unsorted, in chunks of
//! a few records; when the window opens, the places are visited in turn and each one's few events are sorted. Nothing
//! is ordered across places, because nothing needs to be. Events beyond the wheel wait in one list per turn of it.

use std::collections::BTreeMap;

use super::{Queue, Record, Table, prefetch};

/// Windows on the wheel.
const WINDOWS: u64 = 64;
/// Records in a chunk: with records of 32 bytes a chunk is four cache lines.
const CHUNK: usize = 7;
/// Bits of the index in a key: a window of 2^31 ps, a tie of 2^22 and the index fill 64 bits.
const INDEX_BITS: u32 = 11;
/// Events of a place that are handed out in one piece; the rest of the index is for those that come meanwhile.
const PIECE: usize = 1 << (INDEX_BITS - 1);
/// Places among which the next one with events is looked for ahead of time.
const LOOK_AHEAD: usize = 16;
const NONE: u32 = u32::MAX;
/// Longest window, so that a time within a window fits 31 bits.
pub const MAX_WINDOW_PS: u64 = 1 << 31;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Chunk<R> {
    next: u32,
    records: [R; CHUNK],
}

/// Pending events of many places, ordered only as far as they can affect each other.
pub struct Wheel<R> {
    places: usize,
    /// `ceil(2^64 / window)`: the window of a time is its product with this, upper half.
    inverse: u64,
    /// Window that is open.
    window: u64,
    /// Start of the open window.
    base: u64,
    /// Next place to visit in the open window.
    place: usize,
    /// For each window and place `chunk << 3 | records in it`, or `NONE`.
    heads: Table<u32>,
    /// Events of each window on the wheel.
    counts: [u32; WINDOWS as usize],
    chunks: Table<Chunk<R>>,
    free: u32,
    /// Events beyond the wheel, by turn.
    far: BTreeMap<u64, Vec<(u32, R)>>,
    /// The events of the place being visited.
    batch: Table<R>,
    /// The order in which to hand them out: keys, with the index in `batch` in the lowest bits.
    order: Table<u64>,
    at: usize,
    /// Whether the place has more events in this window, all of them after those in the batch.
    more: bool,
}

impl<R: Record> Wheel<R> {
    /// An empty wheel for `places` places whose effects on each other take at least `lookahead_ps`.
    #[must_use]
    pub fn new(places: usize, lookahead_ps: u64) -> Self {
        let window = lookahead_ps.clamp(2, MAX_WINDOW_PS);
        Self {
            places,
            inverse: u64::try_from((1_u128 << 64).div_ceil(u128::from(window))).unwrap_or(u64::MAX),
            window: 0,
            base: 0,
            place: 0,
            heads: vec![NONE; places * WINDOWS as usize].into(),
            counts: [0; WINDOWS as usize],
            chunks: Vec::new().into(),
            free: NONE,
            far: BTreeMap::new(),
            batch: Vec::new().into(),
            order: Vec::new().into(),
            at: 0,
            more: false,
        }
    }

    /// The window of a time. Any monotone map will do in which a window is no longer than the lookahead; this one
    /// costs one multiplication.
    #[inline(always)]
    fn window_of(&self, time: u64) -> u64 {
        ((u128::from(time) * u128::from(self.inverse)) >> 64) as u64
    }

    /// First instant of a window.
    fn start_of(&self, window: u64) -> u64 {
        ((u128::from(window) << 64).div_ceil(u128::from(self.inverse))) as u64
    }

    #[inline(always)]
    fn store(&mut self, window: u64, place: u32, record: R) {
        let in_turn = (window % WINDOWS) as usize;
        let head = &mut self.heads[in_turn * self.places + place as usize];
        self.counts[in_turn] += 1;
        let filled = *head & 7;
        if *head != NONE && filled < CHUNK as u32 {
            self.chunks[(*head >> 3) as usize].records[filled as usize] = record;
            *head += 1;
            return;
        }
        let next = *head;
        let chunk = self.chunk(next, record);
        self.heads[in_turn * self.places + place as usize] = chunk << 3 | 1;
    }

    /// A chunk with one record, before `next`.
    #[inline]
    fn chunk(&mut self, next: u32, record: R) -> u32 {
        let chunk = self.free;
        if chunk == NONE {
            self.chunks.vec().push(Chunk { next, records: [record; CHUNK] });
            return (self.chunks.len() - 1) as u32;
        }
        let slot = &mut self.chunks[chunk as usize];
        self.free = slot.next;
        slot.next = next;
        slot.records[0] = record;
        chunk
    }

    /// An event for the place being visited, within the open window.
    #[cold]
    fn insert_now(&mut self, place: u32, record: R) {
        debug_assert_eq!(place as usize + 1, self.place, "a place was affected sooner than the lookahead allows");
        let key = key(self.base, &record, self.batch.len());
        let full = self.batch.len() + 1 == 1 << INDEX_BITS;
        if full || (self.more && self.order.last().is_none_or(|&last| key > last)) {
            if full {
                self.put_back();
            }
            self.more = true;
            self.store(self.window, place, record);
            return;
        }
        let later = (*self.order)[self.at..].partition_point(|&k| k < key);
        self.order.vec().insert(self.at + later, key);
        self.batch.vec().push(record);
    }

    /// Puts the events of the batch that are not handed out back on the wheel.
    #[cold]
    fn put_back(&mut self) {
        let rest: Vec<R> = (*self.order)[self.at..].iter().map(|&key| self.batch[index_of(key)]).collect();
        for record in rest {
            self.store(self.window, self.place as u32 - 1, record);
        }
        self.order.vec().clear();
        self.at = 0;
    }

    /// Takes the events of one window and place into the batch, in order. Returns whether there are any.
    #[inline]
    fn load(&mut self, in_turn: usize, place: usize) -> bool {
        let head = std::mem::replace(&mut self.heads[in_turn * self.places + place], NONE);
        if head == NONE {
            return false;
        }
        self.batch.vec().clear();
        self.at = 0;
        self.more = false;
        let (mut chunk, mut filled) = (head >> 3, (head & 7) as usize);
        loop {
            let slot = &mut self.chunks[chunk as usize];
            self.batch.vec().extend(slot.records[..filled].iter().copied());
            let next = slot.next;
            slot.next = self.free;
            self.free = chunk;
            if next == NONE {
                break;
            }
            (chunk, filled) = (next >> 3, CHUNK);
        }
        self.counts[in_turn] -= self.batch.len() as u32;
        self.ask_for_next(in_turn, place);
        if self.batch.len() > PIECE {
            self.split(place);
        }
        let base = self.base;
        let count = self.batch.len();
        self.order.vec().resize(count, 0);
        if count <= FEW {
            // The keys go from registers to where they are compared: copying them would read together what was written apart.
            let mut keys = [u64::MAX; FEW];
            for (index, record) in self.batch.iter().enumerate() {
                keys[index] = key(base, record, index);
            }
            rank(&keys, &mut self.order);
        } else {
            for index in 0..count {
                self.order[index] = key(base, &self.batch[index], index);
            }
            self.order.sort_unstable();
        }
        true
    }

    /// Asks for the events of the next place that has any, if it is near.
    #[inline(always)]
    fn ask_for_next(&self, in_turn: usize, place: usize) {
        let from = in_turn * self.places + place + 1;
        let to = (from + LOOK_AHEAD).min((in_turn + 1) * self.places);
        for at in from..to {
            let head = self.heads[at];
            if head != NONE {
                // A chunk is longer than a cache line: ask for where its first and its last records are.
                let records = &self.chunks[(head >> 3) as usize].records;
                prefetch(records, 0);
                prefetch(records, 2);
                prefetch(records, 4);
                prefetch(records, 6);
                return;
            }
        }
    }

    /// Keeps the first events of a large batch and puts the others back.
    #[cold]
    fn split(&mut self, place: usize) {
        self.batch.sort_unstable_by_key(|record| (record.time(), record.tie()));
        let rest = self.batch.vec().split_off(PIECE);
        for record in rest {
            self.store(self.window, place as u32, record);
        }
        self.more = true;
    }

    /// An event in the open window, or beyond the wheel.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, window: u64, place: u32, record: R) {
        if window > self.window {
            self.far.entry(window / WINDOWS).or_default().push((place, record));
        } else if self.place == 0 {
            self.store(window, place, record); // before the first event is handed out
        } else {
            self.insert_now(place, record);
        }
    }

    /// Opens the next window that has events. Returns whether there is one.
    #[cold]
    fn advance(&mut self) -> bool {
        if self.counts.iter().all(|&count| count == 0) {
            let Some((&turn, _)) = self.far.first_key_value() else { return false };
            self.window = self.window.max(turn * WINDOWS - 1);
        }
        loop {
            self.window += 1;
            if self.window.is_multiple_of(WINDOWS)
                && let Some(records) = self.far.remove(&(self.window / WINDOWS))
            {
                for (place, record) in records {
                    self.store(self.window_of(record.time()), place, record);
                }
            }
            if self.counts[(self.window % WINDOWS) as usize] > 0 {
                self.base = self.start_of(self.window);
                self.place = 0;
                return true;
            }
        }
    }
}

/// Time within the window, tie and index, as one number to sort by.
#[inline(always)]
fn key<R: Record>(base: u64, record: &R, index: usize) -> u64 {
    debug_assert!(record.tie() < 1 << 22 && index < 1 << INDEX_BITS);
    (record.time() - base) << (22 + INDEX_BITS) | u64::from(record.tie()) << INDEX_BITS | index as u64
}

/// The index in a key.
#[inline(always)]
fn index_of(key: u64) -> usize {
    key as usize & ((1 << INDEX_BITS) - 1)
}

/// Keys that are put in order by counting.
const FEW: usize = 8;

/// Puts as many of the keys, all different, as there is room for in order: each goes where the number of smaller ones says,
/// without a branch to mispredict.
#[inline(always)]
fn rank(keys: &[u64; FEW], order: &mut Table<u64>) {
    if order.len() == 1 {
        order[0] = keys[0];
    } else if order.len() == 2 {
        (order[0], order[1]) = (keys[0].min(keys[1]), keys[0].max(keys[1]));
    } else {
        for &key in &keys[..order.len()] {
            let smaller: usize = keys.iter().map(|&other| usize::from(other < key)).sum();
            order[smaller] = key;
        }
    }
}

impl<R: Record> Wheel<R> {
    /// Fills the batch with the events of the next place that has any. Returns whether there is one.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        if self.more {
            self.place -= 1;
        }
        loop {
            let in_turn = (self.window % WINDOWS) as usize;
            if self.counts[in_turn] > 0 {
                while self.place < self.places {
                    self.place += 1;
                    if self.load(in_turn, self.place - 1) {
                        return true;
                    }
                }
            } else if !self.advance() {
                self.order.vec().clear();
                self.at = 0;
                return false;
            }
        }
    }
}

impl<R: Record> Queue<R> for Wheel<R> {
    #[inline(always)]
    fn push(&mut self, place: u32, record: R) {
        let window = self.window_of(record.time());
        debug_assert!(window >= self.window, "an event in the past");
        if window.wrapping_sub(self.window + 1) < WINDOWS - 1 {
            self.store(window, place, record);
        } else {
            self.push_elsewhere(window, place, record);
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, R)> {
        if self.at >= self.order.len() && !self.refill() {
            return None;
        }
        let key = self.order[self.at];
        self.at += 1;
        Some((self.place as u32 - 1, self.batch[index_of(key)]))
    }

    #[inline(always)]
    fn opened(&self) -> &[R] {
        if self.at == 1 { &self.batch } else { &[] }
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

    /// Events that spawn others, as routers do: elsewhere at least `lookahead` later, here at any later time.
    /// Returns what happened at each place, in order.
    fn play(mut queue: impl Queue<Event>, places: u32, lookahead: u64, spread: u64) -> Vec<Vec<Event>> {
        let mut seen = vec![Vec::new(); places as usize];
        for place in 0..places {
            queue.push(place, Event { time: u64::from(place) * 3, tie: 1, id: u64::from(place) });
        }
        let end = 400 * (lookahead + spread);
        while let Some((place, event)) = queue.pop() {
            seen[place as usize].push(event);
            if event.time > end {
                continue;
            }
            for child in 0..if event.id.is_multiple_of(100) { 2 } else { 1 } {
                let id = mix64(event.id.wrapping_mul(2) + child + 1);
                let here = id.is_multiple_of(3);
                let delay = mix64(id) % if id.is_multiple_of(17) { spread * 100 } else { spread };
                let to = if here { place } else { (id >> 8) as u32 % places };
                let time = event.time + if here { 1 + delay } else { lookahead + delay };
                queue.push(to, Event { time, tie: (id >> 40) as u32 & 0xfffff, id });
            }
        }
        seen
    }

    #[test]
    fn the_wheel_hands_each_place_the_same_events_in_the_same_order_as_a_heap() {
        // The last two have thousands of events of one place in one window.
        for (places, lookahead, spread) in [
            (1, 100, 50),
            (5, 2, 10),
            (7, 1000, 500),
            (40, 113_000, 9_000_000),
            (3, 4096, 1),
            (1, 1 << 20, 60),
            (2, 1 << 24, 900),
        ] {
            let wheel = play(Wheel::new(places as usize, lookahead), places, lookahead, spread);
            let heap = play(Ordered::default(), places, lookahead, spread);
            assert!(heap.iter().map(Vec::len).sum::<usize>() > 100);
            assert_eq!(wheel, heap, "{places} places, lookahead {lookahead}, spread {spread}");
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
