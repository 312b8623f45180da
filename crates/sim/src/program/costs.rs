//! The costs of messages by size.

use std::cell::Cell;

use crate::spec::{SizedCosts, sized};

/// A list of costs by ascending size; it may be empty.
///
/// The costs of the sizes that were asked for last are kept, because the blocks of a vector differ by at most a byte.
pub struct SizedList {
    list: Vec<SizedCosts>,
    /// By the last bit of the size.
    kept: [Cell<Option<SizedCosts>>; 2],
}

impl SizedList {
    /// A list by ascending size.
    #[must_use]
    pub fn new(list: &[SizedCosts]) -> Self {
        Self { list: list.to_vec(), kept: [Cell::new(None), Cell::new(None)] }
    }

    /// Whether the costs do not depend on the size.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The costs of a message of this size; none if the list is empty.
    #[inline]
    #[must_use]
    pub fn of(&self, bytes: u64) -> Option<SizedCosts> {
        if self.list.is_empty() {
            return None;
        }
        let kept = &self.kept[bytes as usize % 2];
        if kept.get().is_none_or(|costs| costs.bytes != bytes) {
            // A size beyond the ends of the list has the costs of the end.
            kept.set(sized(&self.list, bytes).map(|costs| SizedCosts { bytes, ..costs }));
        }
        kept.get()
    }
}
