//! Events that are handled one after the other, known beforehand.

use super::Table;

/// The events of a window of time, place by place.
#[derive(Debug)]
pub struct Window<R> {
    pub(super) records: Table<R>,
    /// The place of each.
    pub(super) places: Table<u32>,
    /// Their order.
    pub(super) order: Table<u32>,
}

impl<R> Default for Window<R> {
    fn default() -> Self {
        Self { records: Table::default(), places: Table::default(), order: Table::default() }
    }
}

impl<R: Copy> Window<R> {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// An event with its place, by its position in the order of handling, below [`len`](Self::len).
    #[inline(always)]
    #[must_use]
    pub fn get(&self, position: usize) -> (u32, &R) {
        let at = self.order[position] as usize;
        (self.places[at], &self.records[at])
    }

    /// An event that is handled at about that position, below [`len`](Self::len): what it will need can be asked for. All
    /// positions together show all events.
    #[inline(always)]
    #[must_use]
    pub fn about(&self, position: usize) -> (u32, &R) {
        (self.places[position], &self.records[position])
    }

    /// Makes it one event, or none.
    pub(super) fn replace(&mut self, event: Option<(u32, R)>) {
        self.resize(0, None);
        if let Some((place, record)) = event {
            self.records.vec().push(record);
            self.places.vec().push(place);
            self.order.vec().push(0);
        }
    }

    /// Makes room for so many events, of which some one is given; all have to be written.
    pub(super) fn resize(&mut self, count: usize, some: Option<R>) {
        if let Some(some) = some {
            self.records.vec().resize(count, some);
        } else {
            self.records.vec().clear();
        }
        self.places.vec().resize(count, 0);
        self.order.vec().resize(count, 0);
    }
}
