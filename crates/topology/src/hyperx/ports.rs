//! The ports that lead from a router to another, if nothing has failed. They depend only on the number that the router
//! gives to the other one in each dimension, so all routers share a table.

use super::{HyperXSpec, MAX_DIMENSIONS, padded};
use crate::lists::Lists;

/// Lists of ports by the numbers of a router in the dimensions of another, the first dimension slowest. In a dimension
/// of S routers, 0 to S - 2 are the others of the row and S - 1 is the row's own position.
#[derive(Clone, Debug, Default)]
pub(super) struct PortTable {
    minimal: Lists,
    aside: Lists,
    /// How many of the minimal ports are of the first dimension that differs.
    first: Vec<u16>,
}

impl PortTable {
    /// Computes the table of a checked description.
    pub fn new(spec: &HyperXSpec) -> Self {
        let sizes = padded(&spec.dimensions);
        let missing = MAX_DIMENSIONS - spec.dimensions.len();
        let links: [u32; MAX_DIMENSIONS] = std::array::from_fn(|dimension| {
            dimension.checked_sub(missing).map_or(0, |dimension| spec.dimension_links[dimension])
        });
        let mut table = Self::default();
        for row in 0..sizes.iter().product() {
            let numbers = [row / (sizes[1] * sizes[2]), row / sizes[2] % sizes[1], row % sizes[2]];
            let mut base = spec.node_ports();
            let (mut minimal, mut aside, mut first) = (Vec::new(), Vec::new(), 0);
            for dimension in 0..MAX_DIMENSIONS {
                let (number, others, links) = (numbers[dimension], sizes[dimension] - 1, links[dimension]);
                if number < others {
                    let (begin, end) = (base + number * links, base + (number + 1) * links);
                    first = if minimal.is_empty() { links as u16 } else { first };
                    minimal.extend((begin..end).map(|port| port as u16));
                    aside.extend((base..begin).chain(end..base + others * links).map(|port| port as u16));
                }
                base += others * links;
            }
            table.minimal.push(minimal);
            table.aside.push(aside);
            table.first.push(first);
        }
        table
    }

    /// The cables to a router, in every dimension in which it differs.
    #[inline]
    pub fn minimal(&self, row: u32) -> &[u16] {
        self.minimal.get(row as usize)
    }

    /// The other cables of these dimensions.
    #[inline]
    pub fn aside(&self, row: u32) -> &[u16] {
        self.aside.get(row as usize)
    }

    /// The minimal ports of the first dimension that differs.
    #[inline]
    pub fn first_dimension(&self, row: u32) -> &[u16] {
        &self.minimal(row)[..usize::from(self.first[row as usize])]
    }
}
