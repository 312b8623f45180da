//! A heap of events in one global order: slower than the wheel, but indifferent to how close they lie.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Queue, Record};

/// Pending events in the order (time, place, tie).
pub struct Ordered<R> {
    heap: BinaryHeap<Reverse<Entry<R>>>,
    now: u64,
}

struct Entry<R> {
    key: (u64, u32, u32),
    record: R,
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

impl<R: Record> Queue<R> for Ordered<R> {
    fn push(&mut self, place: u32, record: R) {
        debug_assert!(record.time() >= self.now, "an event in the past");
        self.heap.push(Reverse(Entry { key: (record.time(), place, record.tie()), record }));
    }

    fn pop(&mut self) -> Option<(u32, R)> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.key.0;
        Some((entry.key.1, entry.record))
    }

    fn opened(&self) -> &[R] {
        &[]
    }

    fn horizon(&self) -> u64 {
        self.now
    }
}
