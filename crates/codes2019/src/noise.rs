//! The small random delays that CODES and its event engine add to every step, in picoseconds.
//!
//! They prevent ties, and decide which of many simultaneous processes is first.

use odonata_sim::engine::random::{below, mix64};

/// Least time between cause and effect in the event engine: 0.005 ns.
pub(crate) const LOOKAHEAD: u64 = 5;

/// Mixed into the number of a draw, so that these draws are independent of the other random streams.
const STREAM: u64 = 0xc0de_5201_9d1a_90f1;
/// Spreads counters (splitmix64).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The delays of one router port or NIC: draw `n` of component `c` depends only on the seed, `c` and `n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    base: u64,
    count: u64,
}

impl Noise {
    /// The delays of a component.
    pub(crate) fn new(seed: u64, component: u64) -> Self {
        Self { base: mix64(mix64(seed ^ STREAM) ^ (component + 1).wrapping_mul(GOLDEN)), count: 0 }
    }

    fn random(&mut self) -> u64 {
        self.count += 1;
        mix64(self.base ^ self.count.wrapping_mul(GOLDEN))
    }

    /// Uniform up to 1 ns.
    pub(crate) fn tie(&mut self) -> u64 {
        below(self.random(), 1000)
    }

    /// A step inside a component: the look-ahead and 0.5 ns up to 1 ns.
    pub(crate) fn step(&mut self) -> u64 {
        LOOKAHEAD + 500 + below(self.random(), 500)
    }
}
