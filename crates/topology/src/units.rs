//! Bandwidth and the one function that turns bytes into picoseconds.

use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
pub const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// A bandwidth in millionths of a byte per second, so that decimal GiB/s figures of the literature are exact
/// (4.37 GiB/s is 4,692,251,770.88 B/s).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bandwidth(pub u64);

impl Bandwidth {
    /// The bandwidth in millionths of a byte per second.
    #[must_use]
    pub const fn micro_bytes_per_second(self) -> u64 {
        self.0
    }

    /// The time for which `bytes` occupy a link of this bandwidth, in picoseconds, rounded up once.
    ///
    /// Every serialisation time in the project comes from this function. A result beyond `u64` saturates.
    ///
    /// # Panics
    /// If the bandwidth is zero. A specification with a zero bandwidth is refused before this call.
    #[must_use]
    pub fn serialisation_ps(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(PS_PER_SECOND) * 1_000_000;
        u64::try_from(scaled.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4.37 GiB/s, the global links of Kang 2019.
    const GLOBAL: Bandwidth = Bandwidth(4_692_251_770_880_000);

    #[test]
    fn rounds_up_once() {
        // 2048 B / 4,692,251,770.88 B/s = 436,464,2xx.. ps by long division
        let exact = 2048.0 / 4_692_251_770.88 * 1e12;
        let ps = GLOBAL.serialisation_ps(2048);
        assert!(ps as f64 >= exact && (ps as f64) < exact + 1.0, "{ps} against {exact}");
        assert_eq!(Bandwidth(1_000_000).serialisation_ps(1), PS_PER_SECOND);
        assert_eq!(Bandwidth(3_000_000).serialisation_ps(1), PS_PER_SECOND.div_ceil(3));
    }

    #[test]
    fn nothing_takes_no_time_and_too_much_saturates() {
        assert_eq!(GLOBAL.serialisation_ps(0), 0);
        assert_eq!(Bandwidth(1).serialisation_ps(u64::MAX), u64::MAX);
    }
}
