//! Communicators: how the ranks of a job are split for a phase.

use odonata_error::{Error, ErrorKind, path};

use crate::GridAxis;

/// The split of a job's ranks: one communicator of all, or those along one axis of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicators {
    /// Distance, in ranks of the job, between neighbours of a communicator.
    stride: u32,
    /// Ranks of a communicator.
    count: u32,
}

impl Communicators {
    /// The split of `ranks` ranks.
    ///
    /// # Errors
    /// If the grid does not have as many points as there are ranks, or does not have this axis.
    pub fn new(along: Option<&GridAxis>, ranks: u32) -> Result<Self, Error> {
        let Some(GridAxis { grid, axis }) = along else { return Ok(Self { stride: 1, count: ranks }) };
        let points = grid.iter().fold(1_u128, |product, &extent| product.saturating_mul(extent.into()));
        if points != u128::from(ranks) {
            let kind = ErrorKind::GridOfOtherSize { grid: grid.clone(), points, ranks: ranks.into() };
            return Err(kind.at(path!["grid"]));
        }
        let Some(&count) = grid.get(*axis as usize) else {
            return Err(ErrorKind::NoSuchAxis { axis: *axis, axes: grid.len() }.at(path!["axis"]));
        };
        Ok(Self { stride: grid[..*axis as usize].iter().product(), count })
    }

    /// Ranks of each communicator.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A rank's number in its communicator.
    #[must_use]
    pub fn member(&self, rank: u32) -> u32 {
        rank / self.stride % self.count
    }

    /// The rank of the job that is number `member` in the communicator of `rank`.
    #[must_use]
    pub fn rank(&self, rank: u32, member: u32) -> u32 {
        rank - self.member(rank) * self.stride + member * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_along_an_axis_part_the_ranks() {
        for axis in 0..3 {
            let grid = vec![2, 3, 4];
            let communicators = Communicators::new(Some(&GridAxis { grid: grid.clone(), axis }), 24).unwrap();
            assert_eq!(communicators.count(), grid[axis as usize]);
            for rank in 0..24 {
                assert_eq!(communicators.rank(rank, communicators.member(rank)), rank);
                let members: Vec<u32> = (0..communicators.count()).map(|m| communicators.rank(rank, m)).collect();
                assert!(members.contains(&rank));
                for (m, &other) in members.iter().enumerate() {
                    assert_eq!(
                        (communicators.member(other), communicators.rank(other, communicators.member(rank))),
                        (m as u32, rank)
                    );
                }
            }
        }
        // x fastest: along y, neighbours are two apart.
        let communicators = Communicators::new(Some(&GridAxis { grid: vec![2, 3, 4], axis: 1 }), 24).unwrap();
        assert_eq!((0..3).map(|m| communicators.rank(7, m)).collect::<Vec<_>>(), [7, 9, 11]);
    }

    #[test]
    fn a_grid_that_does_not_fit_is_refused() {
        let along = |grid: &[u32], axis| GridAxis { grid: grid.to_vec(), axis };
        assert!(Communicators::new(Some(&along(&[4, 4], 0)), 15).is_err());
        assert!(Communicators::new(Some(&along(&[4, 4], 2)), 16).is_err());
        assert!(Communicators::new(Some(&along(&[1 << 20, 1 << 20], 0)), 16).is_err());
    }
}
