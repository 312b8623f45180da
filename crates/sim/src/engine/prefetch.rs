//! Prefetching of memory.

/// Prefetches an element; an index beyond the end is harmless.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))] // Miri does not know the instruction
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(elements.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = (elements, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_end_is_harmless() {
        prefetch(&[1_u64, 2, 3], 1);
        prefetch(&[1_u64, 2, 3], 1_000_000);
        prefetch::<u64>(&[], usize::MAX);
    }
}
