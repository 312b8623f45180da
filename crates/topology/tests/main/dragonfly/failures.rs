//! Failed links and routers: paths inside groups, sub-channels, and groups that have lost cables.

use std::collections::{BTreeSet, VecDeque};

use odonata_error::{Error, ErrorKind};
use odonata_topology::{
    Dragonfly, DragonflyArrangement, Failures, GroupId, IntermediateGroups, Network, Peer, RouterId, SlotId,
    TopologySpec,
};
use proptest::prelude::*;

use super::support::{Shape, cascade, direct, dragonfly, members, specs, try_direct};

/// What a user would list as failed, from random numbers: cables by either end, and routers.
fn failing(network: &Network, links: &[usize], routers: &[usize]) -> Failures {
    let cables: Vec<usize> =
        (0..network.peer.len()).filter(|&slot| matches!(network.peer[slot], Peer::Router(_))).collect();
    let end = |&at: &usize| {
        let (r, port) = network.port_of(SlotId(cables[at % cables.len()] as u32));
        [r.0, u32::from(port.0)]
    };
    let links = if cables.is_empty() { Vec::new() } else { links.iter().map(end).collect() };
    Failures { links, routers: routers.iter().map(|&r| (r % network.routers()) as u32).collect() }
}

/// Slots that have failed, worked out from the list.
fn failed_slots(network: &Network, failures: &Failures) -> BTreeSet<usize> {
    let slots = |r: u32| network.first_slot[r as usize] as usize..network.first_slot[r as usize + 1] as usize;
    let mut failed: BTreeSet<usize> = failures.routers.iter().flat_map(|&r| slots(r)).collect();
    failed.extend(failures.links.iter().map(|&[r, port]| network.first_slot[r as usize] as usize + port as usize));
    let far: Vec<usize> = failed
        .iter()
        .filter_map(|&slot| if let Peer::Router(far) = network.peer[slot] { Some(far.index()) } else { None })
        .collect();
    failed.extend(far);
    failed
}

/// A link inside a group that works: (port, router at the far end, whether it runs along a row).
fn open_links(machine: &Dragonfly, failed: &BTreeSet<usize>, r: u32) -> Vec<(u16, u32, bool)> {
    let network = &machine.network;
    let first = network.first_slot[r as usize] as usize;
    (first..network.first_slot[r as usize + 1] as usize)
        .filter(|slot| !failed.contains(slot))
        .filter_map(|slot| match network.peer[slot] {
            Peer::Router(far) if network.class[slot] < network.first_global => {
                let port = (slot - first) as u16;
                Some((port, network.router_of_slot[far.index()].0, machine.is_row_link(RouterId(r), port)))
            }
            _ => None,
        })
        .collect()
}

/// Links from every router of a group to router `to`, by a plain search.
fn search(machine: &Dragonfly, failed: &BTreeSet<usize>, to: u32) -> Vec<Option<u8>> {
    let mut distance = vec![None; machine.network.routers()];
    distance[to as usize] = Some(0);
    let mut open = VecDeque::from([to]);
    while let Some(at) = open.pop_front() {
        for (_, next, _) in open_links(machine, failed, at) {
            if distance[next as usize].is_none() {
                distance[next as usize] = distance[at as usize].map(|d| d + 1);
                open.push_back(next);
            }
        }
    }
    distance
}

/// The largest sub-channel on any shortest path from `r`, having come by a link along a row or not, path by path.
fn largest_sub(
    machine: &Dragonfly,
    failed: &BTreeSet<usize>,
    distance: &[Option<u8>],
    r: u32,
    before: Option<(bool, u8)>,
) -> u8 {
    let mut largest = before.map_or(0, |(_, sub)| sub);
    for (_, next, row) in open_links(machine, failed, r) {
        if distance[next as usize].map(|d| d + 1) == distance[r as usize] {
            let sub = match before {
                None => 0,
                Some((true, sub)) if !row => sub,
                Some((_, sub)) => sub + 1,
            };
            largest = largest.max(largest_sub(machine, failed, distance, next, Some((row, sub))));
        }
    }
    largest
}

/// Checks all look-ups of a machine that could be built against plain searches.
fn check(machine: &Dragonfly, failures: &Failures) {
    let network = &machine.network;
    let failed = failed_slots(network, failures);
    for slot in 0..network.peer.len() {
        assert_eq!(network.has_failed(SlotId(slot as u32)), failed.contains(&slot), "slot {slot}");
    }
    let alive = |r: u32| !failures.routers.contains(&r);
    let (mut diameter, mut subs) = (0, 1);
    for group in 0..network.groups {
        for to in members(network, group) {
            assert_eq!(network.router_works(RouterId(to)), alive(to));
            let distance = search(machine, &failed, to);
            for r in members(network, group) {
                let s = network.local(RouterId(to));
                let ports: Vec<u16> = open_links(machine, &failed, r)
                    .into_iter()
                    .filter(|&(_, next, _)| {
                        distance[r as usize].is_some_and(|d| distance[next as usize].is_some_and(|e| e + 1 == d))
                    })
                    .map(|(port, ..)| port)
                    .collect();
                assert_eq!(machine.local_ports(RouterId(r), s), ports, "from {r} to {to}");
                let both = alive(r) && alive(to);
                assert_eq!(
                    machine.local_distance(RouterId(r), s),
                    distance[r as usize].filter(|_| both).unwrap_or(255)
                );
                if both {
                    diameter = diameter.max(distance[r as usize].expect("a way"));
                    subs = subs.max(largest_sub(machine, &failed, &distance, r, None) + 1);
                }
            }
        }
    }
    assert_eq!((machine.diameter(), machine.subs()), (diameter, subs), "diameter and sub-channels");
    let cables = |a: u32, b: u32| {
        let joins = |&slot: &usize| match network.peer[slot] {
            Peer::Router(far) => {
                let group = |slot: usize| network.group_of_router[network.router_of_slot[slot].index()];
                a != b && group(slot) == a && group(far.index()) == b && !failed.contains(&slot)
            }
            _ => false,
        };
        (0..network.peer.len()).filter(joins).map(|slot| SlotId(slot as u32)).collect::<Vec<_>>()
    };
    for (a, b) in (0..network.groups).flat_map(|a| (0..network.groups).map(move |b| (a, b))) {
        assert_eq!(machine.cables(GroupId(a), GroupId(b)), cables(a, b));
        let between: Vec<u16> = (0..network.groups)
            .filter(|&v| ![a, b].contains(&v) && !cables(a, v).is_empty() && !cables(v, b).is_empty())
            .map(|v| v as u16)
            .collect();
        let all = between.len() as u32 + 2 == network.groups;
        if a != b {
            let expected = if all { IntermediateGroups::All } else { IntermediateGroups::List(&between) };
            assert_eq!(machine.intermediates(GroupId(a), GroupId(b)), expected);
        }
    }
}

/// Whether a plain search finds a group in two parts.
fn parted(machine: &Dragonfly, failures: &Failures) -> BTreeSet<(u32, u32)> {
    let network = &machine.network;
    let failed = failed_slots(network, failures);
    let mut apart = BTreeSet::new();
    for group in 0..network.groups {
        let alive: Vec<u32> = members(network, group).filter(|r| !failures.routers.contains(r)).collect();
        for &to in &alive {
            let distance = search(machine, &failed, to);
            apart.extend(alive.iter().filter(|&&r| distance[r as usize].is_none()).map(|&r| (r, to)));
        }
    }
    apart
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Catches paths that are not shortest, or are missing; failed things in any look-up; too few sub-channels; a group
    /// in two parts that goes unnoticed; groups between two others that have lost their cables.
    #[test]
    fn what_is_left_is_what_a_plain_search_finds(
        spec in specs(),
        links in prop::collection::vec(any::<usize>(), 0..=14),
        routers in prop::collection::vec(any::<usize>(), 0..=2),
    ) {
        prop_assume!(Shape::of(&spec).reason().is_none());
        let whole = direct(&spec, &Failures::default());
        let failures = failing(&whole.network, &links, &routers);
        let apart = parted(&whole, &failures);
        match try_direct(&spec, &failures) {
            Ok(machine) => {
                prop_assert!(apart.is_empty(), "{:?} are apart", apart);
                check(&machine, &failures);
            }
            Err(Error { kind: ErrorKind::GroupCutApart { group, routers }, .. }) => {
                let (from, to) = (routers[0], routers[1]);
                prop_assert!(apart.contains(&(from, to)), "{} and {} are not apart", from, to);
                prop_assert_eq!(whole.network.group_of_router[from as usize], group);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

/// Catches too few sub-channels on long paths: a grid of 2 x 4 routers that has lost 6 of its 16 links, so that paths
/// along the row are long (worked out by hand: row, row, row is sub 0, 1, 2).
#[test]
fn a_long_path_along_a_row() {
    // A ring of 5 routers: all links of a complete graph but those between neighbours have failed.
    let spec = dragonfly([1, 5, 1, 0], DragonflyArrangement::Absolute);
    let links = [[0, 2], [0, 3], [1, 3], [1, 4], [2, 4]];
    let links = links.map(|[r, s]: [u32; 2]| [r, 1 + s - 1]).to_vec(); // port 1 + rank of s among the others
    let ring = Dragonfly::build(&spec, &Failures { links, ..Failures::default() }).expect("a ring");
    assert_eq!((ring.diameter(), ring.subs()), (2, 2));
    let ports = |r: u32, s| ring.local_ports(RouterId(r), s).to_vec();
    assert_eq!([ports(0, 1), ports(0, 2), ports(0, 3), ports(0, 4)], [[1], [1], [4], [4]]);
    // One more, and it is a line 0 - 4 - 3 - 2 - 1: up to four links, each on a further channel.
    let links = [[0, 1], [0, 2], [0, 3], [1, 3], [1, 4], [2, 4]].map(|[r, s]: [u32; 2]| [r, 1 + s - 1]).to_vec();
    let line = Dragonfly::build(&spec, &Failures { links, ..Failures::default() }).expect("a line");
    assert_eq!((line.diameter(), line.subs()), (4, 4));
}

/// Catches a rise of the sub-channel from a row to a column: row, column is 0, 0; column, row is 0, 1; row, column, row
/// is 0, 0, 1.
#[test]
fn a_column_after_a_row_keeps_the_channel() {
    let spec = cascade([1, 2, 2, 1, 1, 1, 0], DragonflyArrangement::Absolute);
    let whole = Dragonfly::build_cascade(&spec, &Failures::default()).expect("a square");
    assert_eq!((whole.diameter(), whole.subs()), (2, 2));
    // Routers 0 1 / 2 3; ports: node, row, column. Without the column of 0 and 2: 0 - 1 - 3 - 2.
    let failures = Failures { links: vec![[2, 2]], ..Failures::default() };
    let path = Dragonfly::build_cascade(&spec, &failures).expect("a path");
    assert_eq!((path.diameter(), path.subs()), (3, 2));
    // Without the row of 0 and 1: 0 - 2 - 3 - 1 is column, row, column.
    let failures = Failures { links: vec![[0, 1], [1, 1]], ..Failures::default() };
    let path = Dragonfly::build_cascade(&spec, &failures).expect("a path");
    assert_eq!((path.diameter(), path.subs()), (3, 2));
    assert_eq!(path.local_ports(RouterId(0), 1), [2]);
}

/// Catches a failed group that takes others with it: groups without a failure keep their paths.
#[test]
fn only_the_group_with_the_failure_changes() {
    let spec = TopologySpec::Cascade(cascade([3, 2, 3, 1, 1, 2, 2], DragonflyArrangement::Relative));
    let whole = direct(&spec, &Failures::default());
    let hurt = direct(&spec, &Failures { links: vec![[6, 1]], ..Failures::default() });
    let ports = |machine: &Dragonfly, group: u32| {
        let of = |r: u32| (0..6).map(|s| machine.local_ports(RouterId(r), s).to_vec()).collect::<Vec<_>>();
        members(&machine.network, group).map(of).collect::<Vec<_>>()
    };
    assert_eq!([ports(&hurt, 0), ports(&hurt, 2)], [ports(&whole, 0), ports(&whole, 2)]);
    assert_ne!(ports(&hurt, 1), ports(&whole, 1));
}

/// Catches a whole group lost that still counts as a path between others.
#[test]
fn a_group_may_be_lost() {
    let spec = TopologySpec::Dragonfly(dragonfly([4, 2, 1, 3], DragonflyArrangement::Absolute));
    let machine = direct(&spec, &Failures { routers: vec![2, 3], ..Failures::default() });
    assert_eq!(machine.cables(GroupId(0), GroupId(1)), []);
    assert_eq!(machine.intermediates(GroupId(0), GroupId(2)), IntermediateGroups::List(&[3]));
    assert_eq!(machine.intermediates(GroupId(0), GroupId(1)), IntermediateGroups::List(&[]));
    assert!(!machine.network.has_failed(machine.cables(GroupId(0), GroupId(3))[0]));
}
