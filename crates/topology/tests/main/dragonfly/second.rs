//! Global links by a second method, written from the rule and not from the code: every group writes down a list of all
//! its links, sorts it by (slice, position), and the two lists of a pair are matched link by link.

use std::collections::BTreeMap;

use odonata_topology::{DragonflyArrangement, Failures, RouterId, Spread};
use proptest::prelude::*;

use super::support::{Shape, direct, specs};
use crate::support::far;

/// Position of group `j` in the list of group `i`.
fn position(arrangement: DragonflyArrangement, groups: u32, i: u32, j: u32) -> u32 {
    let ahead = (j + groups - i) % groups;
    match arrangement {
        DragonflyArrangement::Absolute => j - u32::from(j > i),
        DragonflyArrangement::Relative => ahead - 1,
        DragonflyArrangement::Palmtree => groups - ahead - 1,
        DragonflyArrangement::Circulant if 2 * ahead <= groups => 2 * (ahead - 1),
        DragonflyArrangement::Circulant => 2 * (groups - ahead - 1) + 1,
        DragonflyArrangement::Random | DragonflyArrangement::Explicit => unreachable!("no rule"),
    }
}

/// Where each link (pair, number) of a group ends: router and global port.
fn seats(shape: &Shape, i: u32) -> BTreeMap<(u32, u32), (u32, u32)> {
    let mut list = Vec::new();
    for j in (0..shape.groups).filter(|&j| j != i) {
        list.extend((0..shape.links(i, j)).map(|l| (l, position(shape.arrangement, shape.groups, i, j), j)));
    }
    list.sort_unstable();
    let seat = |q: u32| match shape.spread {
        Spread::Consecutive => (q / shape.per_router, q % shape.per_router),
        Spread::RoundRobin => (q % shape.routers(i), q / shape.routers(i)),
    };
    list.into_iter().zip(0..).map(|((l, _, j), q)| ((j, l), seat(q))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Catches entries numbered in another order, laid on another router, or matched with another link.
    #[test]
    fn cables_are_where_the_rule_puts_them(spec in specs()) {
        let shape = Shape::of(&spec);
        prop_assume!(shape.reason().is_none() && shape.arrangement != DragonflyArrangement::Random);
        let machine = direct(&spec, &Failures::default());
        let network = &machine.network;
        let port = |group: u32, at: u32| {
            let (rows, columns) = shape.grid(group);
            shape.nodes_per_router + (columns - 1) * shape.parallel.0 + (rows - 1) * shape.parallel.1 + at
        };
        let seats: Vec<_> = (0..shape.groups).map(|i| seats(&shape, i)).collect();
        for i in 0..shape.groups {
            let mut used = vec![0; shape.routers(i) as usize];
            for (&(j, l), &(r, at)) in &seats[i as usize] {
                let (s, far_at) = seats[j as usize][&(i, l)];
                let full = shape.grid[0].0 * shape.grid[0].1;
                let there = far(network, i * full + r, port(i, at) as u16);
                prop_assert_eq!(there, Some((j * full + s, port(j, far_at) as u16)), "link {} of {} and {}", l, i, j);
                used[r as usize] += 1;
            }
            for (r, used) in used.into_iter().enumerate() {
                let ports = network.ports(RouterId(i * shape.grid[0].0 * shape.grid[0].1 + r as u32));
                prop_assert_eq!(u32::from(ports), port(i, used), "ports of router {} of group {}", r, i);
            }
        }
    }
}
