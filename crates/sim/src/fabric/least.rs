//! The least of up to 64 loads.

use super::OutputPort;

/// The least of the loads seen so far, and where it occurred.
pub struct Least {
    load: u64,
    ties: u64,
    bit: u64,
}

impl Default for Least {
    fn default() -> Self {
        Self { load: u64::MAX, ties: 0, bit: 1 }
    }
}

impl Least {
    /// Looks at the next load.
    #[inline(always)]
    pub fn see(&mut self, load: u64) {
        if load < self.load {
            (self.load, self.ties) = (load, 0);
        }
        self.ties |= if load == self.load { self.bit } else { 0 };
        self.bit <<= 1;
    }

    /// The least load, and the positions at which it was seen, as bits.
    #[inline(always)]
    #[must_use]
    pub fn load_and_ties(&self) -> (u64, u64) {
        (self.load, self.ties)
    }
}

/// The least backlog of up to 64 ports, and the ports that have it, as bits.
#[inline(always)]
#[must_use]
pub fn least_backlog(ports: &[OutputPort], now: u64) -> (u64, u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature.
        return unsafe { avx2::least_backlog(ports, now) };
    }
    portable(ports, now)
}

/// The same for any processor.
#[inline(always)]
fn portable(ports: &[OutputPort], now: u64) -> (u64, u64) {
    let mut least = Least::default();
    ports.iter().for_each(|port| least.see(port.backlog(now)));
    least.load_and_ties()
}

/// Four loads at once.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub mod avx2 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::OutputPort;

    /// Fours of 64 loads.
    const FOURS: usize = 16;

    /// The least of up to 64 loads, and the positions at which it occurs, as bits. The loads come in fours, each with
    /// the positions 0, 2, 1 and 3, and the last ones, up to three, one by one. All are below 2^63, so they may be
    /// compared as signed numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[must_use]
    pub fn least(fours: impl Iterator<Item = __m256i>, rest: impl Iterator<Item = u64>) -> (u64, u64) {
        let most = _mm256_set1_epi64x(i64::MAX);
        let (mut loads, mut least, mut count) = ([MaybeUninit::uninit(); FOURS], most, 0_usize);
        let min = |a, b| _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
        for (place, four) in loads.iter_mut().zip(fours) {
            place.write(four);
            least = min(least, four);
            count += 1;
        }
        let (mut last, mut some) = ([i64::MAX; 4], false);
        for (to, load) in last.iter_mut().zip(rest) {
            (*to, some) = (load as i64, true);
        }
        if some {
            let [a, b, c, d] = last;
            let four = _mm256_setr_epi64x(a, c, b, d);
            loads[count].write(four);
            least = min(least, four);
            count += 1;
        }
        if let Some(place) = loads.get_mut(count) {
            place.write(most); // so that the last four has a partner
        }
        let halves = (_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
        let of = |half| _mm_extract_epi64::<0>(half).min(_mm_extract_epi64::<1>(half));
        let least = of(halves.0).min(of(halves.1));
        // The upper halves of the comparisons of two fours are at the positions 0, 2, 4, 6, 1, 3, 5 and 7.
        let (all, ascending) = (_mm256_set1_epi64x(least), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        let mut ties = 0;
        for (eight, fours) in loads.as_chunks::<2>().0[..count.div_ceil(2)].iter().enumerate() {
            // SAFETY: the first `count` have been written, and the one after them.
            let equal = |four: &MaybeUninit<_>| _mm256_cmpeq_epi64(unsafe { four.assume_init() }, all);
            let [low, high] = [equal(&fours[0]), equal(&fours[1])].map(|equal| _mm256_castsi256_ps(equal));
            let equal = _mm256_permutevar8x32_ps(_mm256_shuffle_ps::<0b10_00_10_00>(low, high), ascending);
            ties |= (_mm256_movemask_ps(equal) as u64) << (8 * eight);
        }
        (least as u64, ties)
    }

    /// Two pairs of numbers of each of four consecutive ports: the first ones at the positions 0, 2, 1, 3, and the second
    /// ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[must_use]
    pub fn pairs(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high))
    }

    /// The ends of the transmissions and the blocked times of four ports.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[must_use]
    pub fn four_ports(ports: &[OutputPort; 4]) -> (__m256i, __m256i) {
        // SAFETY: four ports are eight 64-bit numbers, and any bits are valid.
        let [low, high]: [__m256i; 2] = unsafe { std::mem::transmute(*ports) };
        pairs(low, high)
    }

    /// The same as [`super::least_backlog`].
    #[target_feature(enable = "avx2")]
    #[must_use]
    pub fn least_backlog(ports: &[OutputPort], now: u64) -> (u64, u64) {
        let (fours, rest) = ports.as_chunks::<4>();
        let at = _mm256_set1_epi64x(now as i64);
        let backlogs = |four| {
            let (free, blocked) = four_ports(four);
            let later = _mm256_blendv_epi8(at, free, _mm256_cmpgt_epi64(free, at));
            _mm256_add_epi64(_mm256_sub_epi64(later, at), blocked)
        };
        least(fours.iter().map(backlogs), rest.iter().map(|port| port.backlog(now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    #[test]
    fn the_least_backlog_is_the_same_one_by_one_and_four_at_once() {
        for case in 0..6_000_u64 {
            let random = |k: u64| mix64(case << 8 | k);
            let span = [1, 3, 1 << 50][case as usize % 3];
            let port = |k: u64| OutputPort { free: 1_000 + random(k) % span, blocked_ps: random(k + 100) % span };
            let ports: Vec<_> = (0..1 + random(255) % 64).map(port).collect();
            let now = 1_000 + random(254) % span;
            let backlogs: Vec<u64> = ports.iter().map(|port| port.backlog(now)).collect();
            let least = *backlogs.iter().min().expect("there is one");
            let ties = backlogs.iter().rev().fold(0, |ties, &one| ties << 1 | u64::from(one == least));
            assert_eq!(portable(&ports, now), (least, ties), "case {case}");
            assert_eq!(least_backlog(&ports, now), (least, ties), "case {case}");
        }
    }
}
