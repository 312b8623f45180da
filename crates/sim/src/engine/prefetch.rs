//! Prefetching of memory.

/// Bytes of a cache line of common processors.
const LINE: usize = 64;

/// Prefetches an element, or its first cache line; an index beyond the end is harmless.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    prefetch_line(elements.as_ptr().wrapping_add(index).cast());
}

/// Prefetches all cache lines of an element; an index beyond the end is harmless.
#[inline(always)]
pub fn prefetch_whole<T>(elements: &[T], index: usize) {
    let first = elements.as_ptr().wrapping_add(index).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        prefetch_line(first.wrapping_add(line * LINE));
    }
}

#[inline(always)]
fn prefetch_line(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))] // Miri does not know the instruction
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_end_is_harmless() {
        prefetch(&[1_u64, 2, 3], 1);
        prefetch(&[1_u64, 2, 3], 1_000_000);
        prefetch::<u64>(&[], usize::MAX);
        prefetch_whole(&[[1_u8; 200]], 0);
        prefetch_whole::<[u8; 200]>(&[], usize::MAX);
    }
}
