//! The order of the events of one router in one window.

use super::Record;

/// Bits of the index in a key: a window of 2^31 ps, a tie of 2^22 and the index fill 64 bits.
const INDEX_BITS: u32 = 11;

/// Writes the order of the events in `batch`, by time and tie, into `order`. The first event has the number `first`.
/// All times are less than 2^31 ps after `base`.
#[inline(always)]
pub fn order<R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
    match batch.len() {
        1 => order[0] = first,
        2 => few::<2, R>(base, batch, first, order),
        3 => few::<3, R>(base, batch, first, order),
        4 => few::<4, R>(base, batch, first, order),
        5..=32 => some(base, batch, first, order),
        _ => sort(base, batch, first, order),
    }
}

/// Time within the window, tie and index, as one number to sort by.
#[inline(always)]
fn key<R: Record>(base: u64, record: &R, index: usize) -> u64 {
    debug_assert!(record.tie() < 1 << 22 && index < 1 << INDEX_BITS);
    (record.time() - base) << (22 + INDEX_BITS) | u64::from(record.tie()) << INDEX_BITS | index as u64
}

/// Orders `N` events: the position of an event is the number of earlier ones. Branch-free.
#[inline(always)]
fn few<const N: usize, R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
    let (batch, order): (&[R; N], &mut [u32; N]) = (batch.try_into().expect("N"), order.try_into().expect("N"));
    let keys: [u64; N] = std::array::from_fn(|index| key(base, &batch[index], index));
    let mut earlier = [0_usize; N];
    for (i, &key) in keys.iter().enumerate() {
        for (j, &other) in keys.iter().enumerate().skip(i + 1) {
            let after = usize::from(other < key);
            earlier[i] += after;
            earlier[j] += 1 - after;
        }
    }
    for (at, position) in (first..).zip(earlier) {
        order[position % N] = at;
    }
}

/// Orders up to 32 events by time, or by key if two times are equal.
#[inline(never)]
fn some<R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has both features.
        return unsafe { avx2::some(base, batch, first, order) };
    }
    portable(base, batch, first, order);
}

/// The same as [`some`] for any processor.
fn portable<R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
    match batch.len() {
        0..=8 => by_time(base, batch, first, order, |times: &[i32; 8], time| count(times, time)),
        9..=16 => by_time(base, batch, first, order, |times: &[i32; 16], time| count(times, time)),
        _ => by_time(base, batch, first, order, |times: &[i32; 32], time| count(times, time)),
    }
}

/// Counts the times that are earlier than one.
#[inline(always)]
fn count<const N: usize>(times: &[i32; N], time: i32) -> usize {
    times.iter().map(|&other| i32::from(other < time)).sum::<i32>() as usize
}

/// Orders up to `N` events by time, given a function that counts the earlier ones.
#[inline(always)]
fn by_time<const N: usize, R: Record>(
    base: u64,
    batch: &[R],
    first: u32,
    order: &mut [u32],
    earlier: impl Fn(&[i32; N], i32) -> usize,
) {
    let count = batch.len();
    let order = &mut order[..count];
    let mut times = [i32::MAX; N];
    for (time, record) in times.iter_mut().zip(batch) {
        *time = (record.time() - base) as i32;
    }
    let mut pairs = 0;
    for (at, &time) in (first..).zip(&times[..count]) {
        let position = earlier(&times, time);
        order[position] = at;
        pairs += position;
    }
    if pairs != count * (count - 1) / 2 {
        sort(base, batch, first, order); // two times are equal
    }
}

/// Eight comparisons in one instruction.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2 {
    use std::arch::x86_64::{__m256i, _mm256_castsi256_ps, _mm256_cmpgt_epi32, _mm256_movemask_ps, _mm256_set1_epi32};

    use super::{Record, by_time};

    /// The same as [`super::some`].
    #[target_feature(enable = "avx2,popcnt")]
    pub fn some<R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
        // A closure inherits the target features.
        match batch.len() {
            0..=8 => by_time(base, batch, first, order, |times: &[i32; 8], time| count::<8, 1>(times, time)),
            9..=16 => by_time(base, batch, first, order, |times: &[i32; 16], time| count::<16, 2>(times, time)),
            17..=24 => by_time(base, batch, first, order, |times: &[i32; 24], time| count::<24, 3>(times, time)),
            _ => by_time(base, batch, first, order, |times: &[i32; 32], time| count::<32, 4>(times, time)),
        }
    }

    /// Counts the times that are earlier than one; `N` is eight times `VECTORS`.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn count<const N: usize, const VECTORS: usize>(times: &[i32; N], time: i32) -> usize {
        const { assert!(N == 8 * VECTORS) };
        let time = _mm256_set1_epi32(time);
        let mut earlier = 0_u32;
        for (vector, eight) in times.as_chunks::<8>().0.iter().enumerate() {
            // SAFETY: a vector is eight 32-bit numbers, and any bits are valid.
            let eight: __m256i = unsafe { std::mem::transmute::<[i32; 8], __m256i>(*eight) };
            let mask = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(time, eight)));
            earlier |= (mask as u32) << (8 * vector);
        }
        earlier.count_ones() as usize
    }
}

/// Orders many events.
#[cold]
#[inline(never)]
fn sort<R: Record>(base: u64, batch: &[R], first: u32, order: &mut [u32]) {
    if batch.len() > 1 << INDEX_BITS {
        order.iter_mut().zip(first..).for_each(|(to, at)| *to = at);
        order.sort_unstable_by_key(|&at| {
            let record = &batch[(at - first) as usize];
            (record.time(), record.tie())
        });
        return;
    }
    let mut keys: Vec<u64> = batch.iter().enumerate().map(|(index, record)| key(base, record, index)).collect();
    keys.sort_unstable();
    for (to, key) in order.iter_mut().zip(keys) {
        *to = first + (key as u32 & ((1 << INDEX_BITS) - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    #[derive(Clone, Copy)]
    struct Event(u64, u32);

    impl Record for Event {
        fn time(&self) -> u64 {
            self.0
        }

        fn tie(&self) -> u32 {
            self.1
        }
    }

    #[test]
    fn every_way_to_order_events_agrees_with_a_sort() {
        for case in 0..4_000_u64 {
            let (count, span) = (1 + case as usize % 33, [3, 40, 1 << 31][case as usize / 33 % 3]);
            let batch: Vec<Event> = (0..count as u64)
                .map(|k| Event(1_000 + mix64(case << 8 | k) % span, (mix64(k << 20 | case) & 0x3f_ffff) as u32))
                .collect();
            let mut expected: Vec<u32> = (7..).take(count).collect();
            expected.sort_by_key(|&at| (batch[at as usize - 7].0, batch[at as usize - 7].1, at));
            let mut ordered = vec![0; count];
            order(1_000, &batch, 7, &mut ordered);
            assert_eq!(ordered, expected, "case {case}");
            if (1..=32).contains(&count) {
                ordered.fill(0);
                portable(1_000, &batch, 7, &mut ordered);
                assert_eq!(ordered, expected, "case {case}, on any processor");
            }
        }
    }
}
