//! Each rank sends to its six neighbours in a periodic grid (K15).

/// A grid of ranks, x fastest.
pub struct Grid {
    extent: [u32; 3],
}

impl Grid {
    pub(super) fn new(extent: [u32; 3]) -> Self {
        Self { extent }
    }

    /// Messages of each rank: two along each axis that has more than one point.
    pub(super) fn neighbours(&self) -> u32 {
        2 * self.extent.iter().filter(|&&e| e > 1).count() as u32
    }

    /// The neighbours of `rank`: x-1, x+1, y-1, y+1, z-1, z+1.
    pub(super) fn list(&self, rank: u32, to: &mut Vec<u32>) {
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
        Grid::new(extent).list(rank, &mut to);
        assert_eq!(to.len() as u32, Grid::new(extent).neighbours());
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
