//! A heap of events in one global order: slower than the wheel, but its cost does not depend on the lookahead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Queue, Record, Window};

/// Pending events in the order (time, place, tie).
pub struct Ordered<R> {
    heap: BinaryHeap<Reverse<Entry<R>>>,
    now: u64,
}

/// An event, ordered by (time, place, tie).
pub(super) struct Entry<R> {
    key: (u64, u32, u32),
    pub record: R,
}

impl<R: Record> Entry<R> {
    pub fn new(place: u32, record: R) -> Self {
        Self { key: (record.time(), place, record.tie()), record }
    }

    pub fn place(&self) -> u32 {
        self.key.1
    }
}

impl<R> PartialEq for Entry<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<R> Eq for Entry<R> {}
impl<R> PartialOrd for Entry<R> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<R> Ord for Entry<R> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<R> Default for Ordered<R> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), now: 0 }
    }
}

impl<R> Ordered<R> {
    /// The time of the next event.
    pub fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.key.0)
    }
}

impl<R: Record> Queue<R> for Ordered<R> {
    fn push(&mut self, place: u32, record: R) {
        debug_assert!(record.time() >= self.now, "an event in the past");
        self.heap.push(Reverse(Entry::new(place, record)));
    }

    fn push_changed(&mut self, place: u32, time: u64, record: &R, change: impl FnOnce(&mut R)) {
        let mut record = *record;
        change(&mut record);
        debug_assert_eq!(record.time(), time);
        self.push(place, record);
    }

    fn open(&mut self, window: &mut Window<R>) -> bool {
        window.replace(self.heap.pop().map(|Reverse(entry)| {
            self.now = entry.key.0;
            (entry.key.1, entry.record)
        }));
        !window.is_empty()
    }

    fn shorten(&mut self, window: &Window<R>, _: u64) {
        for (place, record) in window.iter() {
            self.push(place, *record);
        }
    }

    fn has_late(&self) -> bool {
        false
    }

    fn late(&mut self, _: Option<(u32, &R)>) -> Option<(u32, R)> {
        None
    }

    fn in_one_order(&self) -> bool {
        true
    }

    fn closed_until(&self) -> u64 {
        0
    }

    fn horizon(&self) -> u64 {
        self.now
    }
}
