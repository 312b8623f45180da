//! Each rank sends to the rank a fixed distance ahead (K16: one group's nodes).

use odonata_topology::Network;

use super::TrafficPattern;
use crate::engine::random::Source;
use crate::spec::{JobSpec, Pattern};

/// The pattern, with its distance.
pub struct Tornado(u64);

impl TrafficPattern for Tornado {
    fn of(pattern: &Pattern, _: &JobSpec, _: &Network, _: Source) -> Option<Self> {
        if let Pattern::Tornado { offset } = *pattern { Some(Self(offset)) } else { None }
    }

    #[inline(always)]
    fn only(&self, _: u32, rank: u32, ranks: u32, _: u32) -> Option<u32> {
        Some(destination(self.0, rank, ranks))
    }
}

/// The destination of `rank`.
#[inline]
fn destination(offset: u64, rank: u32, ranks: u32) -> u32 {
    ((u64::from(rank) + offset % u64::from(ranks)) % u64::from(ranks)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_round() {
        assert_eq!(destination(384, 2_000, 2_304), 80);
        assert_eq!(destination(u64::MAX, 0, 7), (u64::MAX % 7) as u32);
    }
}
