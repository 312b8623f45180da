//! Events that are known in advance and handled one after the other.

/// The events of a window of time, place by place.
///
/// All tables have the same length, at least `len`, and the first `len` entries of `order` are below `len`. Only this
/// module and the wheel change them; the wheel writes the order when it opens a window.
#[derive(Debug)]
pub struct Window<R> {
    /// Number of events. The tables may be longer, so that they need not be initialised again when a window grows.
    len: usize,
    pub(super) records: Vec<R>,
    /// The place of each.
    pub(super) places: Vec<u32>,
    /// Their order.
    pub(super) order: Vec<u32>,
}

impl<R> Default for Window<R> {
    fn default() -> Self {
        Self { len: 0, records: Vec::new(), places: Vec::new(), order: Vec::new() }
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

    /// The events with their places, in the order of handling.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &R)> {
        (0..self.len).filter_map(|position| self.get(position))
    }

    /// An event with its place, by its position in the order of handling, if there is one.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<(u32, &R)> {
        let at = *self.order[..self.len].get(position)? as usize;
        Some((self.places[at], &self.records[at]))
    }

    /// The same as [`get`](Self::get).
    ///
    /// # Safety
    /// `position` is below [`len`](Self::len).
    #[inline(always)]
    #[must_use]
    pub unsafe fn get_unchecked(&self, position: usize) -> (u32, &R) {
        debug_assert!(position < self.len);
        // SAFETY: the tables are at least `len` long, and `order` holds positions below it; see the type.
        unsafe {
            let at = *self.order.get_unchecked(position) as usize;
            (*self.places.get_unchecked(at), self.records.get_unchecked(at))
        }
    }

    /// An event that is handled around this position, for prefetching. Over all positions, each event occurs once.
    ///
    /// # Safety
    /// `position` is below [`len`](Self::len).
    #[inline(always)]
    #[must_use]
    pub unsafe fn about(&self, position: usize) -> (u32, &R) {
        debug_assert!(position < self.len);
        // SAFETY: the tables are at least `len` long.
        unsafe { (*self.places.get_unchecked(position), self.records.get_unchecked(position)) }
    }

    /// Replaces the events by one event, or none.
    pub(super) fn replace(&mut self, event: Option<(u32, R)>) {
        self.len = 0;
        if let Some((place, record)) = event {
            self.resize(1, record);
            (self.places[0], self.records[0], self.order[0]) = (place, record, 0);
        }
    }

    /// Resizes to this number of events, with `some` in the new entries. The caller must write all events.
    pub(super) fn resize(&mut self, count: usize, some: R) {
        if count > self.order.len() {
            self.records.resize(count, some);
            self.places.resize(count, 0);
            self.order.resize(count, 0);
        }
        self.len = count;
    }
}
