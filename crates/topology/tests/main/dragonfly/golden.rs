//! Global wiring of small dragonflies, worked out by hand from the published rules and from their formulas (Camarero
//! 2014, section 3; Hastings 2015, section 2). Catches any other order of peers, ports or links, which would silently
//! change every result.

use odonata_topology::{Dragonfly, DragonflyArrangement, DragonflySpec, Failures};

use crate::support::far;

const ARRANGED: [DragonflyArrangement; 4] = [
    DragonflyArrangement::Absolute,
    DragonflyArrangement::Relative,
    DragonflyArrangement::Circulant,
    DragonflyArrangement::Palmtree,
];

/// Cables of 5 groups with 4 global ports each: (group, position) at both ends, the lower group first. Position 0 to 3
/// of group i leads to, in this order: absolute the others ascending; relative i + 1, i + 2, i + 3, i + 4; circulant
/// i + 1, i - 1, i + 2, i - 2; palmtree i - 1, i - 2, i - 3, i - 4 (mod 5).
const BY_HAND: [[[u32; 4]; 10]; 4] = [
    [
        [0, 0, 1, 0],
        [0, 1, 2, 0],
        [0, 2, 3, 0],
        [0, 3, 4, 0],
        [1, 1, 2, 1],
        [1, 2, 3, 1],
        [1, 3, 4, 1],
        [2, 2, 3, 2],
        [2, 3, 4, 2],
        [3, 3, 4, 3],
    ],
    [
        [0, 0, 1, 3],
        [0, 1, 2, 2],
        [0, 2, 3, 1],
        [0, 3, 4, 0],
        [1, 0, 2, 3],
        [1, 1, 3, 2],
        [1, 2, 4, 1],
        [2, 0, 3, 3],
        [2, 1, 4, 2],
        [3, 0, 4, 3],
    ],
    [
        [0, 0, 1, 1],
        [0, 1, 4, 0],
        [0, 2, 2, 3],
        [0, 3, 3, 2],
        [1, 0, 2, 1],
        [1, 2, 3, 3],
        [1, 3, 4, 2],
        [2, 0, 3, 1],
        [2, 2, 4, 3],
        [3, 0, 4, 1],
    ],
    [
        [0, 0, 4, 3],
        [0, 1, 3, 2],
        [0, 2, 2, 1],
        [0, 3, 1, 0],
        [1, 1, 4, 2],
        [1, 2, 3, 1],
        [1, 3, 2, 0],
        [2, 2, 4, 1],
        [2, 3, 3, 0],
        [3, 3, 4, 0],
    ],
];

/// `[groups, routers, nodes_per_router, global_links_per_router]`.
fn build(size: [u32; 4], arrangement: DragonflyArrangement) -> Dragonfly {
    let [groups, routers, nodes_per_router, global_links_per_router] = size;
    let spec = DragonflySpec {
        groups,
        routers,
        nodes_per_router,
        global_links_per_router,
        arrangement,
        ..DragonflySpec::default()
    };
    Dragonfly::build(&spec, &Failures::default()).expect("it fits")
}

/// Far end of global position `at` of a group, as (group, position).
fn there(machine: &Dragonfly, size: [u32; 4], group: u32, at: u32) -> Option<(u32, u32)> {
    let [_, a, p, h] = size;
    let first = p + a - 1;
    let (router, port) = far(&machine.network, group * a + at / h, (first + at % h) as u16)?;
    Some((router / a, router % a * h + u32::from(port) - first))
}

#[test]
fn five_groups_by_hand() {
    let size = [5, 2, 3, 2];
    for (arrangement, cables) in ARRANGED.into_iter().zip(BY_HAND) {
        let machine = build(size, arrangement);
        for [i, at, j, to] in cables {
            assert_eq!(there(&machine, size, i, at), Some((j, to)), "{arrangement:?}: {at} of group {i}");
            assert_eq!(there(&machine, size, j, to), Some((i, at)), "{arrangement:?}: {to} of group {j}");
        }
        // Routers of one group, in ports 3: after three nodes.
        assert_eq!(far(&machine.network, 6, 3), Some((7, 3)));
    }
}

/// Where position `k` of group `i` leads, by the published formulas: (group, position there).
fn formula(arrangement: DragonflyArrangement, g: u32, i: u32, k: u32) -> (u32, u32) {
    match arrangement {
        DragonflyArrangement::Absolute if k < i => (k, i - 1),
        DragonflyArrangement::Absolute => (k + 1, i),
        DragonflyArrangement::Relative => ((i + k + 1) % g, g - 2 - k),
        DragonflyArrangement::Palmtree => ((i + g - k - 1) % g, g - 2 - k),
        // For an even number of groups the last position leads to the opposite group, whose last one leads back.
        DragonflyArrangement::Circulant if k + 2 == g && g.is_multiple_of(2) => ((i + g / 2) % g, k),
        DragonflyArrangement::Circulant if k.is_multiple_of(2) => ((i + k / 2 + 1) % g, k + 1),
        DragonflyArrangement::Circulant => ((i + g - k / 2 - 1) % g, k - 1),
        DragonflyArrangement::Random | DragonflyArrangement::Explicit => unreachable!("no formula"),
    }
}

#[test]
fn one_link_a_pair_follows_the_published_formulas() {
    for size in [[9, 4, 2, 2], [10, 3, 1, 3], [7, 2, 2, 3], [33, 8, 4, 4], [6, 3, 1, 3], [4, 5, 1, 1], [2, 1, 1, 1]] {
        for arrangement in ARRANGED {
            let mut spec = DragonflySpec { links_per_pair: Some(1), arrangement, ..DragonflySpec::default() };
            [spec.groups, spec.routers, spec.nodes_per_router, spec.global_links_per_router] = size;
            let machine = Dragonfly::build(&spec, &Failures::default()).expect("it fits");
            for (i, k) in (0..size[0]).flat_map(|i| (0..size[0] - 1).map(move |k| (i, k))) {
                let expected = formula(arrangement, size[0], i, k);
                assert_eq!(there(&machine, size, i, k), Some(expected), "{arrangement:?} {size:?}: {k} of group {i}");
            }
        }
    }
}

/// Orders of 7 groups with seed 42, computed by another program from the documented rule (splitmix64, Fisher and Yates
/// from the last place down). Catches any change of the shuffle, which would rewire every machine that uses it.
const SHUFFLED: [[u32; 6]; 7] = [
    [3, 6, 1, 5, 2, 4],
    [2, 4, 0, 5, 3, 6],
    [1, 3, 5, 0, 4, 6],
    [6, 5, 2, 1, 0, 4],
    [1, 0, 3, 5, 6, 2],
    [1, 0, 4, 3, 2, 6],
    [4, 5, 0, 2, 1, 3],
];

#[test]
fn the_shuffle_of_a_seed() {
    let size = [7, 3, 2, 2];
    let [groups, routers, nodes_per_router, global_links_per_router] = size;
    let spec = DragonflySpec {
        groups,
        routers,
        nodes_per_router,
        global_links_per_router,
        arrangement: DragonflyArrangement::Random,
        arrangement_seed: Some(42),
        ..DragonflySpec::default()
    };
    let machine = Dragonfly::build(&spec, &Failures::default()).expect("it fits");
    for (i, order) in (0..).zip(SHUFFLED) {
        for (at, j) in (0..).zip(order) {
            let back = SHUFFLED[j as usize].iter().position(|&peer| peer == i).expect("a cable") as u32;
            assert_eq!(there(&machine, size, i, at), Some((j, back)), "{at} of group {i}");
        }
    }
    let other = DragonflySpec { arrangement_seed: Some(43), ..spec };
    let other = Dragonfly::build(&other, &Failures::default()).expect("it fits");
    assert_ne!(other.network.peer, machine.network.peer, "the seed decides");
}
