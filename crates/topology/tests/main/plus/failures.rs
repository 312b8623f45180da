//! Paths of a Dragonfly+ with failures, against plain searches of the working links.

use std::collections::{BTreeSet, VecDeque};

use odonata_error::{Error, ErrorKind};
use odonata_topology::{Arrangement, DragonflyPlus, DragonflyPlusSpec, Failures, GroupId, Peer, RouterId, SlotId};
use proptest::prelude::*;

use super::irregular::specs;
use crate::support::{build, spec};

/// Slots of links that work, by router: (port, router at the far end).
struct Left {
    links: Vec<Vec<(u16, u32)>>,
}

impl Left {
    fn new(machine: &DragonflyPlus, failures: &Failures) -> Self {
        let network = &machine.network;
        let slot = |[r, port]: [u32; 2]| network.first_slot[r as usize] + port;
        let lost: BTreeSet<u32> = failures.links.iter().copied().map(slot).collect();
        let works = |r: u32| !failures.routers.contains(&r);
        let links = (0..network.routers() as u32)
            .map(|r| {
                let first = network.first_slot[r as usize];
                let open = |slot: u32| match network.peer[slot as usize] {
                    Peer::Router(far) => {
                        let other = network.router_of_slot[far.index()].0;
                        let whole = works(r) && works(other) && !lost.contains(&slot) && !lost.contains(&far.0);
                        whole.then_some(((slot - first) as u16, other))
                    }
                    _ => None,
                };
                (first..network.first_slot[r as usize + 1]).filter_map(open).collect()
            })
            .collect();
        Left { links }
    }

    /// Links from every router to router `to`.
    fn distances(&self, to: u32) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.links.len()];
        distance[to as usize] = 0;
        let mut open = VecDeque::from([to]);
        while let Some(at) = open.pop_front() {
            for &(_, next) in &self.links[at as usize] {
                if distance[next as usize] == u32::MAX {
                    distance[next as usize] = distance[at as usize] + 1;
                    open.push_back(next);
                }
            }
        }
        distance
    }

    fn ports(&self, r: u32, leads: impl Fn(u32) -> bool) -> Vec<u16> {
        self.links[r as usize].iter().filter(|&&(_, far)| leads(far)).map(|&(port, _)| port).collect()
    }
}

/// Two leaves that work but are further apart than a shortest path: 2 links in a group, 3 between groups.
fn too_far(machine: &DragonflyPlus, failures: &Failures, left: &Left) -> BTreeSet<(u32, u32)> {
    let leaves = || {
        (0..machine.network.routers() as u32)
            .filter(|&r| machine.is_leaf(RouterId(r)) && !failures.routers.contains(&r))
    };
    let mut far = BTreeSet::new();
    for to in leaves() {
        let distance = left.distances(to);
        for from in leaves().filter(|&from| from != to) {
            let same = machine.group(RouterId(from)) == machine.group(RouterId(to));
            if distance[from as usize] != if same { 2 } else { 3 } {
                far.insert((from, to));
            }
        }
    }
    far
}

/// All look-ups for all destinations.
fn check(machine: &DragonflyPlus, failures: &Failures, left: &Left) {
    let network = &machine.network;
    let group = |r: u32| machine.group(RouterId(r));
    let is_leaf = |r: u32| machine.is_leaf(RouterId(r));
    let routers = || (0..network.routers() as u32).filter(|r| !failures.routers.contains(r));
    for to in routers().filter(|&r| is_leaf(r)) {
        let distance = left.distances(to);
        let at = |r: u32, links: u32| distance[r as usize] == links;
        let d = RouterId(to);
        for r in routers() {
            let id = RouterId(r);
            let home = group(r) == group(to);
            if is_leaf(r) {
                assert_eq!(machine.spines_live(id), left.ports(r, |_| true));
                if r != to {
                    // A spine is right if it is one link away (in the group), or two (elsewhere).
                    let up = left.ports(r, |far| at(far, if home { 1 } else { 2 }));
                    assert_eq!(machine.up_live(id, d), up, "up from {r} to {to}");
                    assert!(!up.is_empty());
                }
            } else if !home {
                let across = left.ports(r, |far| group(far) == group(to) && at(far, 1));
                assert_eq!(machine.across_live(id, d), across, "across from {r} to {to}");
                let down = left.ports(r, |far| is_leaf(far) && at(far, 3));
                assert_eq!(machine.down_live(id, d), down, "down from {r} for {to}");
                // A spine of another group serves if it is two links from the leaf, or has a leaf that is three.
                let serves = |far: u32| at(far, 2) || !left.ports(far, |leaf| is_leaf(leaf) && at(leaf, 3)).is_empty();
                let other = |far: u32| !is_leaf(far) && group(far) != group(to);
                let around = left.ports(r, |far| other(far) && serves(far));
                assert_eq!(machine.around_live(id, d), around, "round from {r} to {to}");
                for via in (0..network.groups).map(GroupId).filter(|&via| via != group(r)) {
                    let by = left.ports(r, |far| other(far) && group(far) == via && serves(far));
                    assert_eq!(machine.around_live_by(id, d, via), by, "round from {r} to {to} by {via}");
                }
                assert!(machine.around_live_by(id, d, group(r)).is_empty());
            }
        }
    }
    for r in 0..network.routers() as u32 {
        for port in 0..network.ports(RouterId(r)) {
            let slot = SlotId(network.first_slot[r as usize] + u32::from(port));
            let works = match network.peer[slot.index()] {
                Peer::Router(_) => left.links[r as usize].iter().any(|&(p, _)| p == port),
                _ => !failures.routers.contains(&r),
            };
            assert_eq!(network.has_failed(slot), !works, "router {r}, port {port}");
        }
    }
}

/// From random numbers, failed cables by either end, and failed routers.
fn failing(machine: &DragonflyPlus, links: &[usize], routers: &[usize]) -> Failures {
    let network = &machine.network;
    let cables: Vec<u32> =
        (0..network.peer.len() as u32).filter(|&slot| matches!(network.peer[slot as usize], Peer::Router(_))).collect();
    let end = |&at: &usize| {
        let (r, port) = network.port_of(SlotId(cables[at % cables.len()]));
        [r.0, u32::from(port.0)]
    };
    Failures {
        links: links.iter().map(end).collect(),
        routers: routers.iter().map(|&r| (r % network.routers()) as u32).collect(),
    }
}

/// Failed spines with failed links to leaves: those are where few failures make a difference.
fn machines() -> impl Strategy<Value = DragonflyPlusSpec> {
    let sizes = (2..=4_u32, 1..=3_u32, 2..=4_u32, 3..=6_u32);
    let regular = sizes.prop_map(|(g, l, s, p)| spec([g, l, s, 1, p], None, Arrangement::Linear));
    let one_nic = prop_oneof![3 => regular, 1 => specs()];
    (one_nic, 1..=2_u32).prop_map(|(spec, rails)| DragonflyPlusSpec { rails, ..spec })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500, failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default()
    })]

    /// Catches a path over something failed, a path that is missing, and two leaves that cannot reach each other
    /// unnoticed.
    #[test]
    fn what_is_left_is_what_a_plain_search_finds(
        spec in machines(),
        links in prop::collection::vec(any::<usize>(), 0..=8),
        routers in prop::collection::vec(any::<usize>(), 0..=2),
    ) {
        prop_assume!(DragonflyPlus::build(&spec).is_ok());
        let whole = build(&spec);
        let failures = failing(&whole, &links, &routers);
        let left = Left::new(&whole, &failures);
        let far = too_far(&whole, &failures, &left);
        match DragonflyPlus::build_with(&spec, &failures) {
            Ok(machine) => {
                prop_assert!(far.is_empty(), "{:?} cannot reach each other", far);
                prop_assert_eq!(machine.has_failures(), !failures.is_empty());
                if machine.has_failures() {
                    check(&machine, &failures, &left);
                }
            }
            Err(Error { kind: ErrorKind::LeavesCutApart { routers }, .. }) => {
                prop_assert!(far.contains(&(routers[0], routers[1])), "{routers:?} can reach each other");
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

/// A spine without leaves serves only destinations that it has a link to: 3 groups of 1 leaf and 2 spines, 4 cables a
/// pair. Catches a packet sent round by a spine from which it cannot get on.
#[test]
fn a_spine_without_leaves() {
    let spec = spec([3, 1, 2, 1, 4], None, Arrangement::Linear);
    // Leaf 3 of group 1 has lost spine 4; spine 4 has lost its cables to group 2 (ports 3 and 4).
    let failures = Failures { links: vec![[4, 0], [4, 3], [4, 4]], ..Failures::default() };
    let machine = DragonflyPlus::build_with(&spec, &failures).expect("spine 5 is left");
    // From spine 1 of group 0 (ports 1, 2 to spines 4 and 5 of group 1; 3, 4 to group 2) to leaf 6 in group 2.
    let [spine, to] = [1, 6].map(RouterId);
    assert_eq!(machine.across_live(spine, to), [3, 4]);
    assert_eq!(machine.around_live(spine, to), [2]);
    assert_eq!(machine.up_live(RouterId(3), to), [2]);
    assert_eq!(machine.across_live(spine, RouterId(3)), [2]);
    assert!(machine.down_live(RouterId(4), to).is_empty());
}

/// A machine without failures has no tables.
#[test]
fn nothing_is_built_if_nothing_failed() {
    let machine = build(&spec([3, 1, 2, 1, 4], None, Arrangement::Linear));
    assert!(!machine.has_failures() && machine.network.failed.is_empty() && machine.network.failed_router.is_empty());
    assert!(!machine.network.has_failed(SlotId(3)) && machine.network.router_works(RouterId(2)));
    assert!(machine.up_live(RouterId(0), RouterId(3)).is_empty());
}
