//! Events that are handled one after the other, known beforehand.

use super::Table;

/// The events of a window of time, place by place.
#[derive(Debug)]
pub struct Window<R> {
    /// Number of events. The tables may be longer: what is in them does not have to be written again when a window grows.
    len: usize,
    pub(super) records: Table<R>,
    /// The place of each.
    pub(super) places: Table<u32>,
    /// Their order.
    pub(super) order: Table<u32>,
}

impl<R> Default for Window<R> {
    fn default() -> Self {
        Self { len: 0, records: Table::default(), places: Table::default(), order: Table::default() }
    }
}

impl<R: Copy> Window<R> {
    /// Number of events.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An event with its place, by its position in the order of handling, below [`len`](Self::len).
    #[inline(always)]
    #[must_use]
    pub fn get(&self, position: usize) -> (u32, &R) {
        debug_assert!(position < self.len);
        let at = self.order[position] as usize;
        (self.places[at], &self.records[at])
    }

    /// An event that is handled at about that position, below [`len`](Self::len): what it will need can be asked for. All
    /// positions together show all events.
    #[inline(always)]
    #[must_use]
    pub fn about(&self, position: usize) -> (u32, &R) {
        debug_assert!(position < self.len);
        (self.places[position], &self.records[position])
    }

    /// Makes it one event, or none.
    pub(super) fn replace(&mut self, event: Option<(u32, R)>) {
        self.len = 0;
        if let Some((place, record)) = event {
            self.resize(1, record);
            (self.places[0], self.records[0], self.order[0]) = (place, record, 0);
        }
    }

    /// Makes room for so many events, of which some one is given; all have to be written.
    pub(super) fn resize(&mut self, count: usize, some: R) {
        if count > self.order.len() {
            self.records.vec().resize(count, some);
            self.places.vec().resize(count, 0);
            self.order.vec().resize(count, 0);
        }
        self.len = count;
    }
}
