//! An exchange with the neighbours in a grid of X x Y x Z ranks.
//!
//! A neighbour is one step away along one axis (across a face), two (an edge) or all three (a corner). If the grid is
//! periodic, the last rank along an axis and the first are neighbours. An axis of extent 1 has no neighbours. On a
//! periodic axis of extent 2 both neighbours are the same rank, which gets a message for each. Messages of an exchange:
//!
//! | | open | periodic, no extent of 1 |
//! |---|---|---|
//! | across faces, along x | 2 (X - 1) Y Z | 2 X Y Z |
//! | across edges parallel to x | 4 X (Y - 1) (Z - 1) | 4 X Y Z |
//! | across corners | 8 (X - 1) (Y - 1) (Z - 1) | 8 X Y Z |
//!
//! Labels: the direction in which a message travels, `(dx + 1) + 3 (dy + 1) + 9 (dz + 1)`.

mod alternate;
mod directions;

use odonata_error::{Error, ErrorKind, path};

use super::check;
use crate::{Exchange, Halo, Op, Part};
use directions::Direction;

/// The neighbours of every rank.
pub struct Neighbours {
    grid: [u32; 3],
    periodic: bool,
    order: Exchange,
    /// The directions of messages: faces, edges, corners.
    directions: Vec<Direction>,
    /// Axes along which there are messages.
    axes: Vec<usize>,
}

impl Neighbours {
    pub fn new(spec: &Halo, ranks: u32) -> Result<Self, Error> {
        let Halo { grid, periodic, face_bytes, edge_bytes, corner_bytes, order } = *spec;
        check::grid("grid", &grid, ranks)?;
        for axis in 0..3 {
            check::bytes(path!["face_bytes", axis], face_bytes[axis])?;
            check::bytes(path!["edge_bytes", axis], edge_bytes[axis])?;
        }
        check::bytes(path!["corner_bytes"], corner_bytes)?;
        if order != Exchange::AllAtOnce {
            for (field, given) in [("edge_bytes", edge_bytes != [0; 3]), ("corner_bytes", corner_bytes != 0)] {
                if given {
                    return Err(ErrorKind::FacesOnly { order: "all-at-once" }.at(path![field]));
                }
            }
        }
        if face_bytes == [0; 3] && edge_bytes == [0; 3] && corner_bytes == 0 {
            return Err(ErrorKind::NothingToSend {}.at(path!["face_bytes"]));
        }
        let directions = directions::all(face_bytes, edge_bytes, corner_bytes)
            .filter(|direction| direction.bytes > 0 && (0..3).all(|axis| direction.offset[axis] == 0 || grid[axis] > 1))
            .collect();
        let axes = (0..3).filter(|&axis| grid[axis] > 1 && face_bytes[axis] > 0).collect();
        Ok(Self { grid, periodic, order, directions, axes })
    }

    /// Distance between two ranks that are neighbours along an axis.
    fn stride(&self, axis: usize) -> u32 {
        self.grid[..axis].iter().product()
    }

    /// A rank's coordinate along an axis.
    fn at(&self, rank: u32, axis: usize) -> u32 {
        rank / self.stride(axis) % self.grid[axis]
    }

    /// Whether a step along an axis leaves the grid, or wraps around to its other side.
    fn leaves(&self, rank: u32, axis: usize, offset: i8) -> bool {
        match offset {
            -1 => self.at(rank, axis) == 0,
            1 => self.at(rank, axis) == self.grid[axis] - 1,
            _ => false,
        }
    }

    /// The neighbour in a direction, if there is one.
    fn neighbour(&self, rank: u32, direction: &Direction) -> Option<u32> {
        (0..3).try_fold(rank, |to, axis| {
            let (offset, stride) = (direction.offset[axis], self.stride(axis));
            let round = (self.grid[axis] - 1) * stride;
            match (offset, self.leaves(rank, axis, offset)) {
                (0, _) => Some(to),
                (_, true) if !self.periodic => None,
                (-1, false) => Some(to - stride),
                (-1, true) => Some(to + round),
                (_, false) => Some(to + stride),
                (_, true) => Some(to - round),
            }
        })
    }

    fn send(&self, rank: u32, direction: &Direction, blocking: bool) -> Option<Op> {
        self.neighbour(rank, direction).map(|to| Op::Send {
            to,
            label: direction.label(),
            bytes: direction.bytes,
            blocking,
        })
    }

    /// The receive of the message from the neighbour in a direction.
    fn receive(&self, rank: u32, direction: &Direction, blocking: bool) -> Option<Op> {
        let label = direction.back().label();
        self.neighbour(rank, direction).map(|from| Op::Receive { from, label, bytes: direction.bytes, blocking })
    }

    /// The two directions along an axis, downwards first.
    fn along(&self, axis: usize) -> impl Iterator<Item = &Direction> {
        self.directions.iter().filter(move |direction| direction.is_face(axis))
    }
}

impl Part for Neighbours {
    fn chunks(&self, _: u32) -> u64 {
        match self.order {
            Exchange::AllAtOnce if self.directions.is_empty() => 0,
            Exchange::AllAtOnce => 2,
            Exchange::AxisByAxis | Exchange::EvenReceivesFirst => self.axes.len() as u64,
        }
    }

    fn chunk(&self, rank: u32, index: u64, ops: &mut Vec<Op>) {
        match (self.order, index) {
            (Exchange::AllAtOnce, 0) => {
                ops.extend(self.directions.iter().filter_map(|direction| self.receive(rank, direction, false)))
            }
            (Exchange::AllAtOnce, _) => {
                ops.extend(self.directions.iter().filter_map(|direction| self.send(rank, direction, false)));
                ops.push(Op::Wait);
            }
            (Exchange::AxisByAxis, index) => {
                let axis = self.axes[index as usize];
                ops.extend(self.along(axis).filter_map(|direction| self.receive(rank, direction, false)));
                ops.extend(self.along(axis).filter_map(|direction| self.send(rank, direction, true)));
                ops.push(Op::Wait);
            }
            (Exchange::EvenReceivesFirst, index) => self.alternate(rank, self.axes[index as usize], ops),
        }
    }
}
