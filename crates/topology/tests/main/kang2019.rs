//! The machine of Kang 2019: every number of catalogue rows K1, K2 and K4.

use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};
use odonata_topology::{Arrangement, ClassId, RouterId};

use crate::support::{distances, far, global_cables, kang2019, links};

const GROUPS: u32 = 9;
const SPINES: u32 = 24;
const LEAVES: u32 = 24;

fn spine(group: u32, k: u32) -> u32 {
    group * (LEAVES + SPINES) + LEAVES + k
}

/// Catches a machine of the wrong size: a lost cable, a spine with the wrong number of links (K1).
#[test]
fn counts_are_those_of_the_paper() {
    let machine = kang2019(Arrangement::Linear);
    let network = &machine.network;
    assert_eq!((network.nodes(), network.routers(), network.groups), (3_456, 432, 9));
    let cables = network.cables();
    assert_eq!(cables[ClassId::NODE.index()], 3_456);
    assert_eq!(cables[LOCAL.index()], 5_184);
    assert_eq!(cables[GLOBAL.index()], 1_728);
    assert_eq!(machine.links_per_pair(), 48);
    assert_eq!(machine.routers_per_group(), 48);
    for router in (0..432).map(RouterId) {
        assert_eq!(network.ports(router), 40, "16 + 24 ports of a leaf, 24 + 16 of a spine, of 48: router {router}");
    }
    for group in 0..GROUPS {
        let of_group = |r: RouterId| network.group_of_router[r.index()] == group;
        let out = links(network).filter(|&(_, a, b)| of_group(a) && !of_group(b)).count();
        assert_eq!(out, 384, "global links of group {group}");
        assert_eq!((0..3_456).filter(|&n| of_group(network.router_of_slot[network.node_slot[n].index()])).count(), 384);
    }
}

/// Catches a pair of groups that is wired apart from the rest: leaves must be three links apart, never more (K1).
#[test]
fn leaves_are_at_most_three_links_apart() {
    let machine = kang2019(Arrangement::Linear);
    for from in [0, 23, 48, 431 - 24] {
        assert!(machine.is_leaf(RouterId(from)));
        for (to, &distance) in distances(&machine.network, RouterId(from)).iter().enumerate() {
            let to = RouterId(to as u32);
            let same_group = machine.group(to) == machine.group(RouterId(from));
            let expected = match (machine.is_leaf(to), same_group) {
                (true, true) => {
                    if to.0 == from {
                        0
                    } else {
                        2
                    }
                }
                (true, false) => 3,
                (false, true) => 1,
                (false, false) => 2,
            };
            assert_eq!(distance, expected, "router {from} to {to}");
        }
    }
}

/// Catches a linear arrangement that is not `k' = (k + l) mod spines` for links l = 0, 1 of every spine k and every
/// pair of groups i < j, or whose ports are out of order (K4).
#[test]
fn linear_follows_the_formula_port_by_port() {
    let machine = kang2019(Arrangement::Linear);
    for (i, j) in (0..GROUPS).flat_map(|i| (i + 1..GROUPS).map(move |j| (i, j))) {
        for (k, l) in (0..SPINES).flat_map(|k| (0..2).map(move |l| (k, l))) {
            let end = (k + l) % SPINES;
            let port = (LEAVES + 2 * (j - 1) + l) as u16; // two ports a group, group i itself left out
            let there = far(&machine.network, spine(i, k), port).expect("a global port leads to a router");
            assert_eq!(there.0, spine(j, end), "spine {k} of group {i}, link {l} to group {j}");
            // Spine k' of the higher group has link (k', 0) and link (k' - 1, 1), in order of link number x = k + 24 l.
            let at = (LEAVES + 2 * i + l) as u16;
            assert_eq!(there.1, at, "port at spine {end} of group {j}");
            assert_eq!(far(&machine.network, there.0, there.1), Some((spine(i, k), port)), "the way back");
        }
    }
    assert!(global_cables(&machine).values().all(|&cables| cables == 1), "no two spines are joined twice");
}

/// Catches a parallel arrangement that spreads the two links of a spine (K4: what the old script did).
#[test]
fn parallel_joins_equal_spines_twice() {
    let cables = global_cables(&kang2019(Arrangement::Parallel));
    assert_eq!(cables.len() as u32, GROUPS * (GROUPS - 1) / 2 * SPINES);
    for (&(a, b), &count) in &cables {
        let (k, k_far) = (a % (LEAVES + SPINES), b % (LEAVES + SPINES));
        assert_eq!((k, count), (k_far, 2), "routers {a} and {b}");
    }
}
