//! The events of one of several partitions of the places, which threads handle at the same time.

use std::ops::Range;
use std::sync::Arc;

use super::{Queue, Record, Wheel, Window};

/// Pending events of the places of a partition, and the events that it sends to others.
///
/// Within a window no place can affect another, so each partition handles its events of the window on its own. What it
/// sends to others must be taken before the next window opens.
pub struct Partition<R> {
    wheel: Wheel<R>,
    /// The places of this partition.
    own: Range<u32>,
    /// First place of each partition, in ascending order.
    first: Arc<[u32]>,
    /// Events for the places of each partition.
    sent: Vec<Vec<(u32, R)>>,
}

impl<R: Record> Partition<R> {
    /// An empty partition, number `index` of those that begin at the places `first`.
    #[must_use]
    pub fn new(index: usize, first: Arc<[u32]>, places: usize, lookahead_ps: u64) -> Self {
        let end = first.get(index + 1).map_or(places as u32, |&next| next);
        let own = first[index]..end;
        let wheel = Wheel::of_some(own.start as usize..own.end as usize, places, lookahead_ps);
        Self { wheel, own, sent: first.iter().map(|_| Vec::new()).collect(), first }
    }

    /// Exchanges the events that were sent to a partition with an empty list.
    pub fn take_sent(&mut self, to: usize, empty: &mut Vec<(u32, R)>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.sent[to], empty);
    }

    /// See [`Wheel::upcoming`].
    #[must_use]
    pub fn upcoming(&self) -> Option<u64> {
        self.wheel.upcoming()
    }

    /// See [`Wheel::most`].
    #[must_use]
    pub fn most(&self, window: u64) -> usize {
        self.wheel.most(window)
    }

    /// See [`Wheel::open_at`].
    pub fn open_at(&mut self, window: u64, events: &mut Window<R>) {
        self.wheel.open_at(window, events);
    }

    #[cold]
    #[inline(never)]
    fn send(&mut self, place: u32, record: R) {
        let to = self.partition_of(place);
        self.sent[to].push((place, record));
    }
}

impl<R: Record> Queue<R> for Partition<R> {
    const PARTITIONED: bool = true;

    #[inline(always)]
    fn push(&mut self, place: u32, record: R) {
        self.push_changed(place, record.time(), &record, |_| ());
    }

    #[inline(always)]
    fn push_changed(&mut self, place: u32, time: u64, record: &R, change: impl FnOnce(&mut R)) {
        if self.has(place) {
            self.wheel.push_changed(place, time, record, change);
        } else {
            let mut record = *record;
            change(&mut record);
            self.send(place, record);
        }
    }

    fn open(&mut self, window: &mut Window<R>) -> bool {
        self.wheel.open(window)
    }

    fn shorten(&mut self, window: &Window<R>, lookahead_ps: u64) {
        self.wheel.shorten(window, lookahead_ps);
    }

    #[inline(always)]
    fn has_late(&self) -> bool {
        self.wheel.has_late()
    }

    fn late(&mut self, before: Option<(u32, &R)>) -> Option<(u32, R)> {
        self.wheel.late(before)
    }

    fn in_one_order(&self) -> bool {
        false
    }

    fn closed_until(&self) -> u64 {
        self.wheel.closed_until()
    }

    #[inline(always)]
    fn horizon(&self) -> u64 {
        self.wheel.horizon()
    }

    fn own(&self, _: u32) -> Range<u32> {
        self.own.clone()
    }

    #[inline(always)]
    fn has(&self, place: u32) -> bool {
        self.own.contains(&place)
    }

    fn partition_of(&self, place: u32) -> usize {
        self.first.partition_point(|&first| first <= place) - 1
    }
}
