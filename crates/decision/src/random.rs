//! Random numbers without state: a hash of a seed, a stream and a counter.

/// The odd constant of splitmix64, which spreads counters.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014).
const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Uniform in (0, 1].
fn uniform(seed: u64, stream: u64, counter: u64) -> f64 {
    let a = mix64(mix64(seed.wrapping_add(GOLDEN)) ^ stream.wrapping_add(1).wrapping_mul(GOLDEN));
    let word = mix64(a ^ counter.wrapping_add(1).wrapping_mul(GOLDEN));
    ((word >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
}

/// A number of the standard normal distribution, by Box and Muller. It uses the counters `2 counter` and
/// `2 counter + 1`. Logarithm and cosine are those of `libm`, so that the bits are the same everywhere.
pub fn normal(seed: u64, stream: u64, counter: u64) -> f64 {
    let counter = counter.wrapping_mul(2);
    let radius = (-2.0 * libm::log(uniform(seed, stream, counter))).sqrt();
    radius * libm::cos(core::f64::consts::TAU * uniform(seed, stream, counter.wrapping_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_their_mean_and_variance() {
        for (name, of) in [
            ("counter", (|i| normal(1, 2, i)) as fn(u64) -> f64),
            ("stream", |i| normal(1, i, 2)),
            ("seed", |i| normal(i, 1, 2)),
        ] {
            let n = 50_000;
            let xs: Vec<f64> = (0..n).map(of).collect();
            let mean = xs.iter().sum::<f64>() / n as f64;
            let variance = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{name}: {mean} {variance}");
        }
    }
}
