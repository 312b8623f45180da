//! Tables whose indices are right by construction.
//!
//! Ids are dense, handed out by the tables' own sizes and checked with the specification, so a look-up in the inner loop need
//! not check them again; one hop makes about twenty. Builds with debug assertions, and so all tests, check every one.

use std::ops::{Deref, DerefMut, Index, IndexMut};

/// A vector of which elements are taken by dense ids.
///
/// # Safety
/// Private to the simulator, which only uses indices made from ids of the machine and the run that the table was sized for. A
/// lane's index is made from a slot and a channel: routings return ports of their router, and channels below the number
/// that they are checked for before a run (`Direct::new`, `AnyPlus::new`).
#[derive(Clone, Debug)]
pub(crate) struct Table<T>(Vec<T>);

impl<T> Table<T> {
    /// The elements, to change their number.
    #[inline]
    pub(crate) fn vec(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(elements)
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: see the type.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: see the type.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}
