//! Random numbers without state: a mix of (seed, stream, component, counter).
//!
//! A number depends only on its purpose and not on what happened before, so it is the same in any order of events, on
//! any number of threads, and in the reference simulator.

use std::hash::Hasher;

/// The purpose of a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Destination of a message: component = node, counter = interval.
    Destination = 1,
    /// Jitter or exponential gap before an interval: component = node, counter = interval.
    Gap = 2,
    /// Phase of a staggered arrival: component = node, counter 0.
    Phase = 3,
    /// Key of a message, from which the keys of its packets come: component = node, counter = message of the node.
    Message = 4,
    /// Key of all packets between two nodes, for routings by hash: component = source, counter = destination.
    Flow = 5,
    /// Jitter of a computation: component = job << 32 | rank, counter = computations of the rank before.
    Compute = 6,
    /// Length of a burst or a pause of a job: component = node of its rank 0, counter = 2 * burst, and + 1 for the pause.
    Burst = 7,
    /// Job that a mark names: component = link, counter = time.
    Holder = 8,
    /// From which work on a port marks a packet: component = link, counter = time.
    Mark = 9,
}

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection in which every input bit affects every output bit.
#[inline]
#[must_use]
pub const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The odd constant of splitmix64, which spreads counters.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes the keys of a map by mixing. No result depends on the order of a map.
#[derive(Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = mix64(self.0.wrapping_add(GOLDEN) ^ value);
    }
}

/// The random numbers of one stream of a run.
#[derive(Clone, Copy, Debug)]
pub struct Source(u64);

impl Source {
    /// A stream for a seed.
    #[must_use]
    pub const fn new(seed: u64, stream: Stream) -> Self {
        Self(mix64(seed.wrapping_add(GOLDEN.wrapping_mul(stream as u64))))
    }

    /// A random 64-bit number.
    #[inline]
    #[must_use]
    pub const fn random(self, component: u64, counter: u64) -> u64 {
        let b = mix64(self.0 ^ component.wrapping_add(1).wrapping_mul(GOLDEN));
        mix64(b ^ counter.wrapping_add(1).wrapping_mul(GOLDEN))
    }
}

/// A random 64-bit number of a stream.
#[inline]
#[must_use]
pub const fn random(seed: u64, stream: Stream, component: u64, counter: u64) -> u64 {
    Source::new(seed, stream).random(component, counter)
}

/// Uniform in `0 .. n` from a 64-bit random number, by multiplication (bias below `n / 2^64`).
#[inline]
#[must_use]
pub const fn below(key: u64, n: u64) -> u64 {
    ((key as u128 * n as u128) >> 64) as u64
}

/// Exponentially distributed time of the given mean, in picoseconds, at most `45 * mean`.
///
/// The logarithm is that of `libm`, not the platform's, so that results are the same everywhere.
#[must_use]
pub fn exponential(key: u64, mean_ps: u64) -> u64 {
    let unit = ((key >> 11) as f64 + 1.0) / (1_u64 << 53) as f64; // (0, 1]
    (-libm::log(unit) * mean_ps as f64) as u64
}

/// In (0, 1], from 53 bits of a random number.
fn unit(key: u64) -> f64 {
    ((key >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
}

/// Lognormally distributed time of the given mean, in picoseconds; sigma is the standard deviation of its logarithm.
///
/// The normal number is that of Box and Muller ("A note on the generation of random normal deviates", Annals of
/// Mathematical Statistics 1958), of this key and its mix.
#[must_use]
pub fn lognormal(key: u64, mean_ps: u64, sigma_millionths: u64) -> u64 {
    let normal = libm::sqrt(-2.0 * libm::log(unit(key))) * libm::cos(std::f64::consts::TAU * unit(mix64(key)));
    let sigma = sigma_millionths as f64 / 1e6;
    (libm::exp(sigma * normal - sigma * sigma / 2.0) * mean_ps as f64) as u64
}

/// Time of the Pareto distribution of the given mean and shape, in picoseconds; the shape is more than 1.
#[must_use]
pub fn pareto(key: u64, mean_ps: u64, shape_millionths: u64) -> u64 {
    let shape = shape_millionths as f64 / 1e6;
    ((shape - 1.0) / shape * mean_ps as f64 * libm::exp(-libm::log(unit(key)) / shape)) as u64
}

/// The 32-bit key of a packet, from which all its routing draws come.
#[inline]
#[must_use]
pub const fn packet_key(message_key: u64, packet: u64) -> u32 {
    (mix64(message_key ^ packet.wrapping_mul(GOLDEN)) >> 32) as u32
}

/// The word of the packet that answers a packet with this word.
#[inline]
#[must_use]
pub const fn response_key(packet_key: u32) -> u32 {
    (mix64(packet_key as u64 | 1 << 32) >> 32) as u32
}

/// Draw number `k` of a packet's decision at hop `hop`, 32 random bits.
#[inline]
#[must_use]
pub const fn packet_random(packet_key: u32, hop: u8, k: u8) -> u32 {
    (mix64(((packet_key as u64) << 32) | ((hop as u64) << 8) | k as u64) >> 32) as u32
}

/// Uniform in `0 .. n` from a draw.
#[inline]
#[must_use]
pub const fn below32(random: u32, n: u32) -> u32 {
    ((random as u64 * n as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-squared of `counts` against a uniform distribution.
    fn chi_squared(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum()
    }

    /// 99.9 % point of chi-squared with 63 degrees of freedom.
    const CHI2_63_999: f64 = 103.4;

    #[test]
    fn random_numbers_of_neighbouring_counters_and_components_are_uniform() {
        for (name, of) in [
            ("counter", (|i| random(7, Stream::Destination, 3, i)) as fn(u64) -> u64),
            ("component", |i| random(7, Stream::Destination, i, 3)),
            ("seed", |i| random(i, Stream::Destination, 3, 3)),
        ] {
            let mut counts = [0; 64];
            for i in 0..64_000 {
                counts[below(of(i), 64) as usize] += 1;
            }
            assert!(chi_squared(&counts) < CHI2_63_999, "{name}: {}", chi_squared(&counts));
        }
    }

    #[test]
    fn random_numbers_of_one_packet_are_independent() {
        let mut counts = [0; 64];
        for packet in 0..64_000 {
            let w = packet_key(11, packet);
            let (a, b) = (below32(packet_random(w, 0, 0), 8), below32(packet_random(w, 1, 0), 8));
            counts[(a * 8 + b) as usize] += 1;
        }
        assert!(chi_squared(&counts) < CHI2_63_999, "{}", chi_squared(&counts));
    }

    #[test]
    fn exponential_has_its_mean_and_variance() {
        let n = 200_000;
        let mean_ps = 1_000_000;
        let xs: Vec<f64> = (0..n).map(|i| exponential(random(1, Stream::Gap, 0, i), mean_ps) as f64 / 1e6).collect();
        let mean = xs.iter().sum::<f64>() / n as f64;
        let var = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 1.0).abs() < 0.01 && (var - 1.0).abs() < 0.03, "{mean} {var}");
    }

    #[test]
    fn lognormal_and_pareto_have_their_means_and_medians() {
        let n = 400_000;
        let draws = |of: fn(u64) -> u64| {
            let mut xs: Vec<u64> = (0..n).map(|i| of(random(3, Stream::Burst, 0, i))).collect();
            xs.sort_unstable();
            (xs.iter().sum::<u64>() as f64 / n as f64 / 1e6, xs[n as usize / 2] as f64 / 1e6, xs[0])
        };
        let (mean, median, _) = draws(|key| lognormal(key, 1_000_000, 800_000));
        assert!((mean - 1.0).abs() < 0.01 && (median - (-0.32_f64).exp()).abs() < 0.01, "{mean} {median}");
        let (mean, median, least) = draws(|key| pareto(key, 1_000_000, 3_000_000));
        let scale = 2.0 / 3.0;
        assert!((mean - 1.0).abs() < 0.01 && (median - scale * 2_f64.cbrt()).abs() < 0.01, "{mean} {median}");
        assert!((666_666..667_000).contains(&least), "{least}");
    }

    #[test]
    fn fixed_values_never_change() {
        // A change here changes every result of every user: see CHANGELOG, "results may change".
        assert_eq!(mix64(1), 0x5692_161d_100b_05e5);
        assert_eq!(exponential(u64::MAX, 1_000), 0);
        assert_eq!(lognormal(u64::MAX, 1_000, 500_000), 882);
        assert_eq!(pareto(u64::MAX, 1_000, 1_500_000), 333);
    }
}
