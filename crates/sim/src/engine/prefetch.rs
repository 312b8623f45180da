//! Asking for memory before it is needed.

/// Starts to bring an element into the cache; an index beyond the end asks for nothing.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = elements.get(index) {
        // SAFETY: a prefetch reads nothing and cannot fault; the pointer comes from a reference besides.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, index);
}
