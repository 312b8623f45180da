//! Failed links and routers carry nothing, and all other traffic arrives.

use odonata_error::{ErrorKind, path};
use odonata_sim::spec::{Pattern, Select, Via};
use odonata_sim::{Spec, check};
use odonata_topology::{Network, RouterId, SlotId};

use super::support::{ALL, Made, NEAREST, aries, flat, grid, machines, minimal, routings, valiant, without};
use crate::support::{job, output, stream};
use odonata_testkit as generator;

/// Slots whose link has failed.
fn failed(network: &Network) -> impl Iterator<Item = usize> + '_ {
    (0..network.peer.len()).filter(|&slot| {
        let router = network.router_of_slot[slot];
        network.has_failed(SlotId(slot as u32)) || !network.router_works(router)
    })
}

/// Catches a byte on a failed link or through a failed router, in random runs on machines of all kinds with failures,
/// with every routing.
#[test]
fn what_has_failed_carries_nothing() {
    let of: [fn(u64) -> Spec; 2] = [generator::direct_spec, generator::odd_spec];
    let (mut links, mut routers) = (0, 0);
    for (seed, spec) in (0..500).map(|seed| (seed, of[(seed % 2) as usize](seed))) {
        if spec.failures.is_empty() {
            continue;
        }
        let (machine, output) = (spec.machine().expect("it was built before"), output(&spec));
        let network = machine.network();
        let channels = usize::from(spec.fabric.channels);
        for slot in failed(network) {
            let packets: u64 = output.links.packets[slot * channels..][..channels].iter().sum();
            assert_eq!(packets, 0, "seed {seed}, {:?}\nspec: {}", network.port_of(SlotId(slot as u32)), spec.to_json());
        }
        links += u32::from(!spec.failures.links.is_empty());
        routers += u32::from(!spec.failures.routers.is_empty());
    }
    assert!(links >= 80 && routers >= 25, "{links} runs with links, {routers} with routers that have failed");
}

/// Catches a failure that is read and ignored, and paths that lead nowhere. With one of the three cables of a pair
/// failed, the others carry its share; with all of them failed, packets go through a third group.
#[test]
fn the_other_cables_carry_on() {
    let made = Made { name: "three cables a pair", topology: flat([3, 3, 1, 2]), failures: Default::default() };
    let machine = made.build();
    let cables = machine.cables(odonata_topology::GroupId(0), odonata_topology::GroupId(1)).to_vec();
    assert_eq!(cables.len(), 3);
    for lost in 0..=3 {
        for known in routings(ALL) {
            let mut made = made.clone();
            for &slot in &cables[..lost] {
                let (router, port) = machine.network.port_of(slot);
                made.failures.links.push([router.0, port.0.into()]);
            }
            let jobs = vec![job("pairs", (0..6).collect(), Pattern::GroupShift { shift: 1 }, 1_000, 50_000, 40)];
            let spec = made.spec(known.routing.clone(), jobs);
            let output = output(&spec);
            let carried = cables.iter().map(|slot| {
                let first = slot.index() * usize::from(spec.fabric.channels);
                output.links.packets[first..][..usize::from(spec.fabric.channels)].iter().sum::<u64>()
            });
            let carried: Vec<u64> = carried.collect();
            assert!(
                carried[..lost].iter().all(|&packets| packets == 0),
                "{lost} lost: {carried:?}, {:?}",
                known.routing
            );
            assert_eq!(output.jobs[0].bytes, 6 * 40 * 1_000, "{lost} lost, {:?}", known.routing);
            if lost == 3 {
                assert_eq!(output.jobs[0].minimal, output.jobs[0].packets, "there is no shorter way");
                assert!(output.jobs[0].hops >= 2 * output.jobs[0].packets, "by way of the third group");
            }
        }
    }
}

/// Catches a job that is given unreachable nodes.
#[test]
fn nodes_of_failed_routers_are_refused() {
    for made in machines().into_iter().filter(|made| !made.failures.routers.is_empty()) {
        let machine = made.build();
        let network = &machine.network;
        let of = |alive: bool| {
            let router = (0..network.routers() as u32).map(RouterId).find(|&r| network.router_works(r) == alive);
            router.map(|r| r.0).expect("some work and some do not")
        };
        // One node per router.
        let [works, lost] = [of(true), of(false)];
        let spec = made.spec(minimal(Select::Random, ALL), vec![stream(works, lost, 100)]);
        let refusal = ErrorKind::NodeFailed { node: lost }.at(path!["jobs", 0, "nodes"]);
        assert_eq!(check(&spec), Err(refusal), "{}", made.name);
    }
}

/// Catches a run that begins although some of its nodes cannot reach each other: two parts of a group, two groups
/// without a connection, two leaves of a Dragonfly+. Each error names the two.
#[test]
fn pairs_that_nothing_joins_are_named() {
    let named = |name, topology| Made { name, topology, failures: Default::default() };
    let refusal = |made: &Made, routing| {
        check(&made.spec(routing, vec![stream(0, 1, 100)])).expect_err("it is accepted").to_string()
    };
    let parted = without(named("a square", grid([1, 2, 2, 1, 0])), &[(0, 1), (2, 3)]);
    let text = refusal(&parted, aries(odonata_sim::spec::AriesMode::Adaptive0, ALL));
    assert!(text == "failures: group-cut-apart (group = 0, routers = [0, 1])", "{text}");

    let apart = without(named("four groups", flat([4, 3, 1, 1])), &[(0, 5), (1, 7), (2, 9)]);
    for routing in [minimal(Select::Random, NEAREST), valiant(Via::Group, Select::Random, NEAREST)] {
        let text = refusal(&apart, routing);
        assert_eq!(text, "topology: groups-cut-apart (groups = [0, 1])");
    }
    // A group whose routers have all failed needs no paths.
    let mut gone = apart.clone();
    gone.failures.routers = vec![0, 1, 2];
    assert_eq!(check(&gone.spec(minimal(Select::Random, NEAREST), vec![stream(3, 11, 100)])), Ok(()));

    // Leaves 0, 1 and 5, 6; spines 2 to 4 and 7 to 9; each spine has one cable to its counterpart.
    let mut plus = crate::support::spec(
        crate::support::machine([2, 2, 3, 1, 1], None),
        crate::support::MINIMAL,
        vec![stream(0, 3, 100)],
    );
    assert_eq!(output(&plus).jobs[0].delivered, 1);
    // Leaf 0 keeps its link to spine 2 only, leaf 6 to spine 8 only. Ports of a leaf: node, spines.
    plus.failures.links = vec![[0, 2], [0, 3], [6, 1], [6, 3]];
    let unreachable = ErrorKind::LeavesCutApart { routers: vec![0, 6] }.at(path!["failures"]);
    assert_eq!(check(&plus), Err(unreachable));
    plus.failures.links.pop();
    plus.failures.links.pop();
    assert_eq!(output(&plus).jobs[0].delivered, 1);
}
