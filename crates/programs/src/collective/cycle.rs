//! Arithmetic with ranks in a ring.

/// Ranks in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub ranks: u32,
}

impl Cycle {
    /// The rank `by` places after `rank`. `by` is less than the number of ranks.
    pub fn after(self, rank: u32, by: u32) -> u32 {
        let left = self.ranks - rank;
        if by < left { rank + by } else { by - left }
    }

    /// The rank `by` places before `rank`; likewise.
    pub fn before(self, rank: u32, by: u32) -> u32 {
        if by <= rank { rank - by } else { self.ranks - (by - rank) }
    }

    /// Pairs of different ranks.
    pub fn pairs(self) -> u64 {
        u64::from(self.ranks) * u64::from(self.ranks - 1)
    }

    /// ceil(log2(ranks)): the number of steps at distances 1, 2, 4, ... below the number of ranks.
    pub fn doublings(self) -> u32 {
        u32::BITS - (self.ranks - 1).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_close_at_every_size() {
        for ranks in [1, 2, 3, 7, u32::MAX] {
            let (cycle, last) = (Cycle { ranks }, ranks - 1);
            assert_eq!(
                (cycle.after(last, last), cycle.before(0, last)),
                ((2 * u64::from(last) % u64::from(ranks)) as u32, 1 % ranks)
            );
            assert_eq!(cycle.before(cycle.after(last / 2, last), last), last / 2);
        }
        let doublings = |ranks| Cycle { ranks }.doublings();
        assert_eq!([1, 2, 3, 4, 5, 8, 9, u32::MAX].map(doublings), [0, 1, 2, 2, 3, 3, 4, 32]);
    }
}
