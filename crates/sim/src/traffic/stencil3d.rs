//! Each rank sends to its six neighbours in a periodic grid (K15).

use odonata_topology::Network;

use super::TrafficPattern;
use crate::engine::random::Source;
use crate::spec::{JobSpec, Pattern};

/// The pattern, with its grid of ranks, x fastest.
pub struct Stencil3d {
    extent: [u32; 3],
}

impl TrafficPattern for Stencil3d {
    fn of(pattern: &Pattern, _: &JobSpec, _: &Network, _: Source) -> Option<Self> {
        if let Pattern::Stencil3d { grid } = *pattern { Some(Self { extent: grid }) } else { None }
    }

    /// Two along each axis that has more than one point.
    fn per_interval(&self, _: u32) -> u32 {
        2 * self.extent.iter().filter(|&&e| e > 1).count() as u32
    }

    /// The neighbours of `rank`: x-1, x+1, y-1, y+1, z-1, z+1.
    fn list(&self, _: u32, rank: u32, _: u32, _: u32, to: &mut Vec<u32>) {
        let mut stride = 1;
        for extent in self.extent {
            let at = rank / stride % extent;
            if extent > 1 {
                let origin = rank - at * stride;
                to.push(origin + (at + extent - 1) % extent * stride);
                to.push(origin + (at + 1) % extent * stride);
            }
            stride *= extent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(extent: [u32; 3], rank: u32) -> Vec<u32> {
        let mut to = Vec::new();
        let pattern = Stencil3d { extent };
        pattern.list(0, rank, 0, 0, &mut to);
        assert_eq!(to.len() as u32, pattern.per_interval(0));
        to
    }

    #[test]
    fn neighbours_by_hand() {
        assert_eq!(list([3, 4, 5], 0), [2, 1, 9, 3, 48, 12]);
        assert_eq!(list([3, 4, 5], 3 * 4 * 5 - 1), [58, 57, 56, 50, 47, 11]);
        assert_eq!(list([4, 1, 2], 3), [2, 0, 7, 7]);
    }

    #[test]
    fn being_a_neighbour_is_mutual() {
        let extent = [3, 4, 5];
        for rank in 0..60 {
            for to in list(extent, rank) {
                assert!(list(extent, to).contains(&rank));
            }
        }
    }
}
