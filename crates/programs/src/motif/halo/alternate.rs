//! The order in which every second rank receives first (ember's halo2d), for periodic axes too.
//!
//! Ranks are counted along an axis as ember does it, by rank / stride. (Along x that is the rank, whose parity is that of x in
//! even rows only if the extent is odd; but it alternates.) Even ones exchange upwards first along x, and downwards first along y
//! and z; odd ones the other way round, so an exchange is the first of both ranks or the second of both. In it the even rank
//! receives first.
//!
//! Across the border of a periodic axis of odd extent two neighbours are alike. There the rank on the first place receives first,
//! and that on the last sends first. Thus every exchange by itself goes well, and one waits for the next one round the axis only
//! where a rank has them in this order; since ranks have them in both orders, no circle closes.

use super::Neighbours;
use crate::Op;

impl Neighbours {
    pub(super) fn alternate(&self, rank: u32, axis: usize, ops: &mut Vec<Op>) {
        let even = (rank / self.stride(axis)).is_multiple_of(2);
        let mut directions: Vec<_> = self.along(axis).collect();
        if even == (axis == 0) {
            directions.reverse();
        }
        for direction in directions {
            let alike = self.grid[axis] % 2 == 1 && self.leaves(rank, axis, direction.offset[axis]);
            let receives_first = if alike { self.at(rank, axis) == 0 } else { even };
            let (send, receive) = (self.send(rank, direction, true), self.receive(rank, direction, true));
            ops.extend((if receives_first { [receive, send] } else { [send, receive] }).into_iter().flatten());
        }
    }
}
