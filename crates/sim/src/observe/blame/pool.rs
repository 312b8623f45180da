//! Values that are used again and again.

use crate::engine::prefetch;

/// Values by number. Of those that are not in use, the last one is used again first: it is most likely in a cache.
///
/// Numbers begin at 1, so 0 can mean that there is no value.
#[derive(Debug)]
pub(super) struct Pool<T> {
    values: Vec<T>,
    unused: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { values: Vec::new(), unused: Vec::new() }
    }
}

impl<T: Default> Pool<T> {
    /// The number of a value that is new, or as it was given back.
    pub(super) fn take(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.values.push(T::default());
            self.values.len() as u32
        })
    }

    /// A value is not in use any more.
    pub(super) fn give_back(&mut self, number: u32) {
        self.unused.push(number);
    }

    /// A value that is in use.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize - 1]
    }

    /// A value that is in use.
    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.values[number as usize - 1]
    }

    /// A value is needed soon; 0 is harmless.
    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        prefetch(&self.values, (number as usize).wrapping_sub(1));
    }
}
