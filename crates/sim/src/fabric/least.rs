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

/// The results of up to 64 tests as bits of a word, the first one lowest.
#[inline(always)]
#[must_use]
pub fn as_bits(tests: impl Iterator<Item = bool>) -> u64 {
    (0_u32..).zip(tests).fold(0, |bits, (position, passed)| bits | u64::from(passed) << position)
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

    use super::OutputPort;

    /// Fours of 64 loads.
    const FOURS: usize = 16;

    /// Up to 64 loads, and the least of them. All numbers are below 2^63, so they may be compared as signed ones.
    pub struct Loads {
        /// Four each. Those not yet added are more than any load.
        fours: [__m256i; FOURS],
        least: __m256i,
        count: usize,
    }

    impl Loads {
        /// No loads.
        #[inline]
        #[target_feature(enable = "avx2")]
        #[must_use]
        pub fn new() -> Self {
            let most = _mm256_set1_epi64x(i64::MAX);
            Self { fours: [most; FOURS], least: most, count: 0 }
        }

        /// Adds four loads: those at the positions 0, 2, 1 and 3 of four ports.
        #[inline]
        #[target_feature(enable = "avx2")]
        pub fn add(&mut self, loads: __m256i) {
            let loads = _mm256_permute4x64_epi64::<0b11_01_10_00>(loads);
            self.fours[self.count % FOURS] = loads;
            self.count += 1;
            self.least = _mm256_blendv_epi8(self.least, loads, _mm256_cmpgt_epi64(self.least, loads));
        }

        /// The least load, and the positions at which it occurs, as bits; after up to three more loads.
        #[inline]
        #[target_feature(enable = "avx2")]
        #[must_use]
        pub fn load_and_ties(mut self, rest: impl Iterator<Item = u64>) -> (u64, u64) {
            let (mut last, mut count) = ([i64::MAX; 4], 0);
            for (to, load) in last.iter_mut().zip(rest) {
                *to = load as i64;
                count += 1;
            }
            if count > 0 {
                let [a, b, c, d] = last;
                self.add(_mm256_setr_epi64x(a, c, b, d));
            }
            let halves = (_mm256_castsi256_si128(self.least), _mm256_extracti128_si256::<1>(self.least));
            let of = |half| _mm_extract_epi64::<0>(half).min(_mm_extract_epi64::<1>(half));
            let least = of(halves.0).min(of(halves.1));
            let (all, mut ties) = (_mm256_set1_epi64x(least), 0);
            for (four, &loads) in self.fours[..self.count.min(FOURS)].iter().enumerate() {
                let equal = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(loads, all)));
                ties |= (equal as u64) << (4 * four);
            }
            (least as u64, ties)
        }
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
        let mut loads = Loads::new();
        for four in fours {
            let (free, blocked) = four_ports(four);
            let later = _mm256_blendv_epi8(at, free, _mm256_cmpgt_epi64(free, at));
            loads.add(_mm256_add_epi64(_mm256_sub_epi64(later, at), blocked));
        }
        loads.load_and_ties(rest.iter().map(|port| port.backlog(now)))
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
