//! The look-ups of a machine agree with its cables.

use std::collections::BTreeSet;

use odonata_topology::dragonfly_plus::peer_rank;
use odonata_topology::{Arrangement, DragonflyPlus, GroupId, RouterId};

use crate::support::{build, far, kang2019, spec};

/// Ports of a router that lead to a group, read off the wiring.
fn ports_to(machine: &DragonflyPlus, router: RouterId, to: GroupId) -> Vec<u16> {
    let leads_there =
        |&port: &u16| far(&machine.network, router.0, port).is_some_and(|(r, _)| machine.group(RouterId(r)) == to);
    (0..machine.network.ports(router)).filter(leads_there).collect()
}

pub fn check(machine: &DragonflyPlus) {
    let groups = machine.spec.groups;
    let mut complete = true;
    for from in 0..groups {
        let leaves = machine.leaves_in(GroupId(from));
        let first = from * machine.routers_per_group() + leaves;
        let spines = (0..machine.spec.spines).map(|k| (k, RouterId(first + k)));
        for (k, spine) in spines.clone() {
            assert!(!machine.is_leaf(spine) && machine.local(spine) == leaves + k);
            assert_eq!(machine.global_ports(spine), leaves as u16..machine.network.ports(spine));
        }
        for to in (0..groups).filter(|&to| to != from) {
            let mut expected = BTreeSet::new();
            for (k, spine) in spines.clone() {
                let ports = ports_to(machine, spine, GroupId(to));
                assert_eq!(machine.ports_to_group(spine, GroupId(to)).collect::<Vec<_>>(), ports, "{spine} to {to}");
                assert_eq!(machine.spine_ports(GroupId(from), k, GroupId(to)).collect::<Vec<_>>(), ports);
                if !ports.is_empty() {
                    expected.insert(k as u16);
                }
            }
            let gateways = machine.gateways(GroupId(from), GroupId(to));
            assert_eq!(gateways, expected.into_iter().collect::<Vec<_>>(), "groups {from} to {to}");
            assert!(!gateways.is_empty(), "groups {from} and {to} are not connected");
            complete &= gateways.len() == machine.spec.spines as usize;
        }
        assert!(machine.gateways(GroupId(from), GroupId(from)).is_empty(), "no global link leads home");
    }
    assert_eq!(machine.complete, complete, "every spine has a link to every other group");
}

/// Catches a look-up that names a spine without a link, leaves one out, names one twice, or is off by a port: packets
/// would go to the wrong group.
#[test]
fn gateways_and_ports_are_what_the_wiring_says() {
    for arrangement in [Arrangement::Linear, Arrangement::Parallel] {
        check(&kang2019(arrangement));
        check(&build(&spec([4, 2, 3, 1, 4], Some(3), arrangement)));
    }
    // Fewer links than spines, whole rounds and a rest, one spine, one group, all links of a group to one other.
    for (size, links) in [
        ([5, 2, 3, 1, 2], Some(1)),
        ([4, 2, 3, 1, 4], Some(4)),
        ([3, 3, 5, 2, 7], None),
        ([6, 1, 1, 1, 5], None),
        ([1, 4, 3, 2, 2], None),
        ([2, 2, 4, 1, 9], Some(35)),
        ([7, 2, 4, 1, 3], Some(2)),
    ] {
        check(&build(&spec(size, links, Arrangement::Linear)));
    }
}

/// Catches a rank that does not leave out the group itself.
#[test]
fn rank_among_the_other_groups() {
    let ranks = |from: u32| (0..5).filter(|&to| to != from).map(|to| peer_rank(from, to)).collect::<Vec<_>>();
    for from in 0..5 {
        assert_eq!(ranks(from), [0, 1, 2, 3]);
    }
}
