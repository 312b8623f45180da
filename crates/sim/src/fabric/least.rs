//! The least of up to 64 loads, found in one pass.

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
    pub fn found(&self) -> (u64, u64) {
        (self.load, self.ties)
    }
}
