//! Each rank sends to a random rank in each interval, uniformly; its own number is replaced by the next (K14).

use odonata_topology::Network;

use super::TrafficPattern;
use crate::engine::random::{Source, below};
use crate::spec::{JobSpec, Pattern};

/// The pattern.
pub struct UniformRandom(Source);

impl TrafficPattern for UniformRandom {
    fn of(pattern: &Pattern, _: &JobSpec, _: &Network, source: Source) -> Option<Self> {
        matches!(pattern, Pattern::UniformRandom {}).then_some(Self(source))
    }

    #[inline(always)]
    fn only(&self, node: u32, rank: u32, ranks: u32, k: u32) -> Option<u32> {
        Some(destination(self.0, node, rank, ranks, k))
    }
}

/// The destination of `rank`, which runs on `node`, in interval `k`.
#[inline]
fn destination(source: Source, node: u32, rank: u32, ranks: u32, k: u32) -> u32 {
    let chosen = below(source.random(u64::from(node), u64::from(k)), u64::from(ranks)) as u32;
    if chosen == rank { (rank + 1) % ranks } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::Stream;

    #[test]
    fn never_itself_and_its_successor_twice_as_often() {
        let mut counts = [0_u32; 8];
        for k in 0..80_000 {
            counts[destination(Source::new(3, Stream::Destination), 17, 7, 8, k) as usize] += 1;
        }
        assert_eq!(counts[7], 0);
        assert!(
            counts[0].abs_diff(20_000) < 600 && counts[1..7].iter().all(|c| c.abs_diff(10_000) < 400),
            "{counts:?}"
        );
    }
}
