//! The order in which every second rank receives first (ember's halo2d), extended to periodic axes.
//!
//! As in ember, ranks are counted along an axis by rank / stride. (Along x that is the rank. Its parity is that of x in
//! even rows only if the extent is odd, but it alternates.) Even ranks exchange upwards first along x, and downwards
//! first along y and z. Odd ranks do the reverse, so an exchange is the first of both ranks or the second of both. In
//! each exchange the even rank receives first.
//!
//! Across the border of a periodic axis of odd extent, two neighbours have the same parity. There the rank in the first
//! place receives first, and the rank in the last place sends first. So every exchange can complete, and an exchange
//! waits for the next one along the axis only where a rank has them in this order. Ranks have them in both orders, so
//! there is no cycle.

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
