//! A pseudo-random stream of choices.

use odonata_sim::engine::random::mix64;

/// A stream of choices that depends only on its seed.
#[derive(Debug)]
pub struct Choices(u64);

impl Choices {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(mix64(seed ^ 0x0d0a_7a5e))
    }

    /// 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "a stream without end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0)
    }

    /// Another stream, which depends on what was drawn so far and takes nothing from this one.
    pub fn aside(&self) -> Self {
        Self::new(self.0)
    }

    /// Uniform in `low ..= high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// As [`within`](Self::within), of 32 bits.
    pub fn count(&mut self, low: u32, high: u32) -> u32 {
        self.within(u64::from(low), u64::from(high)) as u32
    }

    /// One of several, all with the same chance.
    pub fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.within(0, options.len() as u64 - 1) as usize].clone()
    }

    /// Whether an event with this chance happens.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.within(1, 100) <= percent
    }

    /// Puts items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.within(0, at as u64) as usize);
        }
    }
}
