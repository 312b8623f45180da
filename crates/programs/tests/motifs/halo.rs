//! Exchanges with neighbours: destinations and sizes.

use std::collections::BTreeMap;

use odonata_programs::{Exchange, Halo, motif};

use crate::run::{BOTH, run};

const FACE: [u64; 3] = [100, 20, 3];
const EDGE: [u64; 3] = [7_000, 800_000, 90_000_000];
const CORNER: u64 = 11_000_000_000;

pub const ORDERS: [Exchange; 3] = [Exchange::AllAtOnce, Exchange::AxisByAxis, Exchange::EvenReceivesFirst];

pub fn faces(grid: [u32; 3], periodic: bool, order: Exchange) -> Halo {
    Halo { grid, periodic, face_bytes: FACE, edge_bytes: [0; 3], corner_bytes: 0, order }
}

fn all(grid: [u32; 3], periodic: bool) -> Halo {
    Halo { edge_bytes: EDGE, corner_bytes: CORNER, ..faces(grid, periodic, Exchange::AllAtOnce) }
}

/// Extents small and large, even and odd, of 1 and of 2, in one, two and three dimensions.
fn grids() -> impl Iterator<Item = [u32; 3]> {
    let extents = [1, 2, 3, 4, 5];
    extents.into_iter().flat_map(move |x| extents.into_iter().flat_map(move |y| [1, 2, 3].map(move |z| [x, y, z])))
}

/// What each rank sends to each other by the definition, worked out from coordinates.
fn expected(halo: &Halo) -> BTreeMap<(u32, u32), Vec<u64>> {
    let [x_extent, y_extent, z_extent] = halo.grid.map(i64::from);
    let mut sizes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for at in 0..x_extent * y_extent * z_extent {
        let here = [at % x_extent, at / x_extent % y_extent, at / (x_extent * y_extent)];
        for way in 0..27 {
            let step = [way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1];
            let moved: Vec<usize> = (0..3).filter(|&axis| step[axis] != 0).collect();
            let resting = (0..3).find(|&axis| step[axis] == 0);
            let bytes = match moved.len() {
                0 => continue,
                1 => halo.face_bytes[moved[0]],
                2 => halo.edge_bytes[resting.unwrap()],
                _ => halo.corner_bytes,
            };
            let mut there: Vec<i64> = (0..3).map(|axis| here[axis] + step[axis]).collect();
            if moved.iter().any(|&axis| halo.grid[axis] == 1) || bytes == 0 {
                continue;
            }
            if halo.periodic {
                there = (0..3).map(|axis| there[axis].rem_euclid(i64::from(halo.grid[axis]))).collect();
            } else if (0..3).any(|axis| !(0..i64::from(halo.grid[axis])).contains(&there[axis])) {
                continue;
            }
            let to = there[0] + x_extent * (there[1] + y_extent * there[2]);
            sizes.entry((at as u32, to as u32)).or_default().push(bytes);
        }
    }
    sizes
}

fn sorted(mut messages: BTreeMap<(u32, u32), Vec<u64>>) -> BTreeMap<(u32, u32), Vec<u64>> {
    messages.values_mut().for_each(|sizes| sizes.sort_unstable());
    messages
}

fn holds(halo: &Halo) {
    let ranks = halo.grid.iter().product();
    let part = motif::halo(halo, ranks).unwrap();
    for sends in BOTH {
        let run = run(&*part, ranks, sends);
        assert_eq!(sorted(run.messages), sorted(expected(halo)), "{halo:?}");
    }
}

/// A neighbour that is wrong, missing or repeated; a size of another face; a deadlock in any order, on any grid.
#[test]
fn faces_reach_their_neighbours_in_every_order() {
    for grid in grids() {
        for periodic in [false, true] {
            ORDERS.into_iter().for_each(|order| holds(&faces(grid, periodic, order)));
        }
    }
}

/// As above for edges and corners: an edge that is taken for one of another direction, for instance.
#[test]
fn edges_and_corners_reach_their_neighbours() {
    for grid in grids() {
        [false, true].into_iter().for_each(|periodic| holds(&all(grid, periodic)));
    }
}

/// Sizes of 0 that are sent, or that suppress other messages.
#[test]
fn a_size_of_zero_is_no_message() {
    for axis in 0..3 {
        let mut face_bytes = FACE;
        face_bytes[axis] = 0;
        for order in ORDERS {
            holds(&Halo { face_bytes, ..faces([3, 4, 2], true, order) });
        }
        let mut edge_bytes = [0; 3];
        edge_bytes[axis] = 5;
        holds(&Halo { face_bytes: [0; 3], edge_bytes, corner_bytes: 0, ..all([3, 2, 3], false) });
    }
    holds(&Halo { face_bytes: [0; 3], edge_bytes: [0; 3], ..all([3, 2, 3], false) });
}

/// The formulas of the documentation, each for several grids: counts and bytes across faces, edges and corners.
#[test]
fn messages_are_as_many_as_the_formulas_say() {
    let of = |halo: &Halo, ranks, bytes: u64| {
        let run = run(&*motif::halo(halo, ranks).unwrap(), ranks, BOTH[0]);
        run.messages.values().flatten().filter(|&&size| size == bytes).count() as u64
    };
    for (grid, open) in [
        // 2D.
        ([4, 4, 1], [24, 24, 0]),
        ([5, 3, 1], [24, 20, 0]),
        ([8, 2, 1], [28, 16, 0]),
        // 3D.
        ([2, 2, 2], [8, 8, 8]),
        ([3, 3, 3], [36, 36, 36]),
        ([4, 3, 2], [36, 32, 24]),
    ] {
        let [x, y, z] = grid.map(u64::from);
        assert_eq!(open, [2 * (x - 1) * y * z, 2 * x * (y - 1) * z, 2 * x * y * (z - 1)]);
        let ranks = grid.iter().product();
        for (axis, count) in open.into_iter().enumerate() {
            assert_eq!(of(&all(grid, false), ranks, FACE[axis]), count, "{grid:?}");
            let round = if grid[axis] == 1 { 0 } else { 2 * x * y * z };
            assert_eq!(of(&all(grid, true), ranks, FACE[axis]), round, "{grid:?}");
        }
        let edges = [4 * x * (y - 1) * (z - 1), 4 * (x - 1) * y * (z - 1), 4 * (x - 1) * (y - 1) * z];
        for (axis, count) in edges.into_iter().enumerate() {
            assert_eq!(of(&all(grid, false), ranks, EDGE[axis]), count, "{grid:?}");
        }
        assert_eq!(of(&all(grid, false), ranks, CORNER), 8 * (x - 1) * (y - 1) * (z - 1));
        if z > 1 {
            for edge in EDGE {
                assert_eq!(of(&all(grid, true), ranks, edge), 4 * x * y * z);
            }
            assert_eq!(of(&all(grid, true), ranks, CORNER), 8 * x * y * z);
        }
    }
}

/// An inner rank of a grid has 26 neighbours, and the corner of an open grid has 7.
#[test]
fn the_middle_has_26_neighbours_and_a_corner_7() {
    let run = run(&*motif::halo(&all([3, 3, 3], false), 27).unwrap(), 27, BOTH[1]);
    let neighbours = |rank| run.messages.keys().filter(|&&(from, _)| from == rank).count();
    assert_eq!((neighbours(13), neighbours(0), neighbours(26)), (26, 7, 7));
}

/// A message to the same rank on the other side must not be taken for the one on this side.
#[test]
fn on_a_ring_of_two_the_same_rank_gets_two_messages() {
    for order in ORDERS {
        let run = run(&*motif::halo(&faces([2, 1, 1], true, order), 2).unwrap(), 2, BOTH[1]);
        assert_eq!(run.messages, BTreeMap::from([((0, 1), vec![100, 100]), ((1, 0), vec![100, 100])]));
        assert_eq!(run.count(), 4);
    }
}
