//! Fat trees: times by hand, the throughput of full and tapered trees, how packets are spread, rails, and paths.

use std::collections::{BTreeMap, BTreeSet};

use odonata_error::{ErrorKind, path};
use odonata_sim::routing::deadlock::{cycle, explore};
use odonata_sim::routing::fat_tree::UpDown;
use odonata_sim::routing::show::paths;
use odonata_sim::spec::{Arrival, JobSpec, Pattern, Record, RoutingSpec, Spread, TopologySpec};
use odonata_sim::{Spec, check};
use odonata_topology::{FatTreeSpec, Machine, TreeRails};

use crate::graph::acyclic;
use crate::support::{MINIMAL, PACKET, job, link, link_mut, machine, output, ser, stream};

/// Pods, leaves, spines, cores and nodes per leaf; single cables, one NIC.
fn tree([pods, leaves, spines, cores, nodes_per_leaf]: [u32; 5]) -> FatTreeSpec {
    FatTreeSpec {
        pods,
        leaves,
        spines,
        cores,
        nodes_per_leaf,
        leaf_links: 1,
        core_links: 1,
        rails: 1,
        rails_on: TreeRails::OneLeaf,
    }
}

/// All links have 10 GB/s; a router decides 100 ns after it has a packet.
fn spec(topology: FatTreeSpec, spread: Spread, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = crate::support::spec(machine([1, 1, 1, 1, 0], None), RoutingSpec::UpDown { spread }, jobs);
    let classes: &[&str] = if topology.cores > 0 { &["node", "leaf", "core"] } else { &["node", "leaf"] };
    spec.fabric.links = classes.iter().map(|&class| (class.to_owned(), link(10))).collect::<BTreeMap<_, _>>();
    spec.fabric.channels = 1;
    spec.topology = TopologySpec::FatTree(topology);
    spec
}

/// Catches a path of the wrong length: 2, 4 and 6 links with the two to nodes, with a router at each of the 1, 3 and 5
/// places between them. With store-and-forward each link takes the whole packet.
#[test]
fn one_packet_takes_the_sum_of_its_parts() {
    for spread in Spread::ALL {
        for (to, routers) in [(1, 1), (2, 3), (4, 5)] {
            let spec = spec(tree([2, 2, 2, 4, 2]), *spread, vec![stream(0, to, PACKET)]);
            let expected = (routers + 1) * ser(PACKET, 10) + routers * 100_000;
            let totals = &output(&spec).jobs[0];
            assert_eq!((totals.latency.max, totals.hops), (expected, routers - 1), "{spread:?} to node {to}");
            assert_eq!(totals.minimal, 1);
        }
    }
}

/// The accepted load in the second half of a run at full offered load, as a share of the injection bandwidth.
fn accepted(topology: FatTreeSpec, spread: Spread, pattern: Pattern) -> f64 {
    const END_PS: u64 = 40_000_000;
    let nodes = topology.pods * topology.leaves * topology.nodes_per_leaf;
    let mut job = job("all", (0..nodes).collect(), pattern, PACKET, ser(PACKET, 10), 1);
    (job.traffic_mut().intervals, job.traffic_mut().arrival, job.record) = (None, Arrival::Poisson {}, Record::Nothing);
    let mut spec = spec(topology, spread, vec![job]);
    for class in spec.fabric.links.keys().cloned().collect::<Vec<_>>() {
        link_mut(&mut spec, &class).buffer_bytes = 16 * PACKET;
    }
    spec.stop.jobs.clear();
    let [half, all] = [END_PS / 2, END_PS].map(|at| {
        spec.stop.at_ps = Some(at);
        output(&spec).jobs[0].bytes
    });
    (all - half) as f64 / (f64::from(nodes) * (END_PS / 2) as f64 / ser(PACKET, 10) as f64 * PACKET as f64)
}

/// Catches a link of the tree that idles or is used twice: a tree that does not block carries a permutation at nearly
/// full load if packets are sprayed or go where the load is least, and D-mod-k carries a shift without any conflict.
#[test]
fn a_tree_that_does_not_block_has_full_bisection_bandwidth() {
    for size in [[1, 8, 4, 0, 4], [4, 4, 4, 16, 4]] {
        let nodes = u64::from(size[0] * size[1] * size[4]);
        for (spread, least) in [(Spread::Packet, 0.9), (Spread::LeastLoaded, 0.9), (Spread::DModK, 0.97)] {
            let found = accepted(tree(size), spread, Pattern::Tornado { offset: nodes / 2 });
            assert!(found > least && found <= 1.0, "{size:?}, {spread:?}: {found}");
        }
    }
}

/// Catches a taper that is not there: with half the cores, pods that send everything to the next pod get half as much
/// across. The same for half the spines of two levels.
#[test]
fn a_taper_of_two_to_one_halves_what_crosses_it() {
    for (spread, least) in [(Spread::Packet, 0.47), (Spread::LeastLoaded, 0.48)] {
        let full = accepted(tree([4, 4, 4, 16, 4]), spread, Pattern::GroupShift { shift: 1 });
        let half = accepted(tree([4, 4, 4, 8, 4]), spread, Pattern::GroupShift { shift: 1 });
        assert!(full > 0.85, "{spread:?}: {full}");
        assert!((least..=0.5).contains(&half), "{spread:?}: {half}");
        let two = accepted(tree([1, 4, 2, 0, 4]), spread, Pattern::Tornado { offset: 8 });
        assert!((least..=0.5).contains(&two), "{spread:?}: {two}");
    }
}

/// The spines that packets from node 0 to the others pass, on one pod of four leaves with four nodes and four spines.
fn spines_used(spread: Spread, to: u32, packets: u64) -> BTreeSet<u32> {
    let mut spec = spec(tree([1, 4, 4, 0, 4]), spread, vec![stream(0, to, packets * PACKET)]);
    spec.fabric.links.get_mut("leaf").expect("it exists").bandwidth =
        odonata_topology::Bandwidth(1_000_000_000_000_000);
    let output = output(&spec);
    // Ports 4 to 7 of leaf 0 lead to its spines.
    (0..4).filter(|spine| output.links.packets[4 + *spine as usize] > 0).collect()
}

/// Catches a flow that leaves its path, packets that are not spread, and D-mod-k with another modulus: the fourth node
/// of a leaf is reached by the fourth spine.
#[test]
fn spreads_use_the_spines_that_they_should() {
    let all: BTreeSet<u32> = (0..4).collect();
    assert_eq!(spines_used(Spread::Packet, 4, 200), all);
    assert_eq!(spines_used(Spread::LeastLoaded, 4, 40), all);
    let hashed: BTreeSet<BTreeSet<u32>> = (4..16).map(|to| spines_used(Spread::Hash, to, 40)).collect();
    assert!(hashed.iter().all(|spines| spines.len() == 1) && hashed.len() > 2, "{hashed:?}");
    for to in 4..16 {
        assert_eq!(spines_used(Spread::DModK, to, 40), BTreeSet::from([to % 4]), "node {to}");
    }
}

/// Catches a D-mod-k that sends two destinations of a leaf up by one core: at a spine the destination is divided by the
/// ports up of a leaf, which are two cables to each of two spines with two cores each. So destinations 0, 2, 4, 6 (mod
/// 8) come down from four cores.
#[test]
fn d_mod_k_divides_by_the_ports_of_the_level_below() {
    let topology = FatTreeSpec { leaf_links: 2, ..tree([2, 1, 2, 4, 8]) };
    let mut cores = BTreeSet::new();
    for to in 8..16 {
        let spec = spec(topology.clone(), Spread::DModK, vec![stream(0, to, PACKET)]);
        let found = paths(&spec, 0, to, 10).expect("there is a path");
        assert_eq!((found.total, found.first[0].hops.len()), (1, 5));
        let core = found.first[0].hops[2].router;
        // Spine k has cores 2 k and 2 k + 1; cores follow the two pods of three routers.
        let expected = 6 + to % 4 / 2 * 2 + to / 4 % 2;
        assert_eq!(core, expected, "node {to}");
        cores.insert(core);
    }
    assert_eq!(cores.len(), 4);
}

/// Catches paths that are missing or counted twice: every spine, and every core of every spine.
#[test]
fn all_paths_are_listed() {
    let spec = spec(tree([3, 2, 2, 6, 2]), Spread::Packet, vec![stream(0, 1, PACKET)]);
    for (to, expected) in [(1, 1), (2, 2), (4, 6), (11, 6)] {
        let found = paths(&spec, 0, to, 100).expect("there are paths");
        assert_eq!((found.total, found.first.len()), (expected, expected as usize), "node {to}");
        assert!(found.first.iter().all(|path| path.minimal));
    }
}

/// Catches a path that does not end, one over a failed part, and packets that could wait for each other in a cycle: on
/// random trees with failures and several rails, for all spreads in one graph.
#[test]
fn no_packets_can_wait_in_a_cycle() {
    let mut edges = BTreeSet::new();
    let mut total = 0;
    for seed in 0..200 {
        let spec = odonata_testkit::tree_spec(seed);
        let Ok(Machine::FatTree(tree)) = spec.machine() else { panic!("seed {seed} is no fat tree") };
        let routings: Vec<_> =
            Spread::ALL.iter().map(|&spread| (path!["routing"], RoutingSpec::UpDown { spread })).collect();
        let routing = UpDown::new(tree.clone(), &routings).expect("they are for fat trees");
        let network = &tree.network;
        let works: Vec<_> = tree.leaves().filter(|&r| network.router_works(r)).collect();
        edges.clear();
        for (&from, &to) in works.iter().flat_map(|from| works.iter().map(move |to| (from, to))) {
            if tree.plane(from) != tree.plane(to) {
                continue;
            }
            for number in 0..routings.len() as u8 {
                let ends = explore(&routing, number, from, to, &mut |step| {
                    let (router, port, _) = step.goes;
                    assert!(!network.has_failed(network.slot(router, port)), "seed {seed}: a failed link is used");
                    edges.extend(step.came.map(|came| (came, step.goes)));
                });
                assert!(ends, "seed {seed}: a path from {from} to {to} does not end");
            }
        }
        assert!(acyclic(&edges) && cycle(&edges).is_none(), "seed {seed}");
        total += edges.len();
    }
    assert!(total > 5_000, "only {total} edges");
}

/// Catches a message that changes planes, where there is no link: its bytes would be lost or the run deadlocked.
#[test]
fn every_plane_is_a_tree_of_its_own() {
    let topology = FatTreeSpec { rails: 2, rails_on: TreeRails::Planes, ..tree([1, 2, 2, 0, 2]) };
    let nodes: Vec<u32> = (0..4).collect();
    let spec = spec(topology, Spread::Packet, vec![job("all", nodes, Pattern::UniformRandom {}, 3_000, 1_000_000, 50)]);
    let machine = spec.machine().expect("it is regular");
    let output = output(&spec);
    assert_eq!((output.jobs[0].delivered, output.jobs[0].packets), (200, 600));
    let network = machine.network();
    assert_eq!((network.routers(), network.nodes(), network.endpoints()), (8, 4, 8));
    // Both planes carry about half: leaves 0 and 1 are of plane 0, 2 and 3 of plane 1.
    let of_leaf = |leaf: usize| -> u64 {
        let slots = network.first_slot[leaf] as usize..network.first_slot[leaf + 1] as usize;
        slots.map(|slot| output.links.packets[slot]).sum()
    };
    let [first, second] = [of_leaf(0) + of_leaf(1), of_leaf(2) + of_leaf(3)];
    assert!(first > 300 && second > 300 && first.abs_diff(second) < 400, "{first} and {second}");
}

/// Catches a routing that is silently replaced by another.
#[test]
fn routings_of_other_machines_are_refused() {
    let mut spec = spec(tree([1, 2, 2, 0, 2]), Spread::Hash, vec![stream(0, 1, PACKET)]);
    spec.routing = MINIMAL;
    let kind = ErrorKind::RoutingNotForMachine { routing: "minimal", machine: "fat-tree", choices: vec!["up-down"] };
    assert_eq!(check(&spec), Err(kind.at(path!["routing", "name"])));
    let mut other =
        crate::support::spec(machine([2, 2, 2, 1, 2], None), RoutingSpec::UpDown { spread: Spread::Hash }, vec![]);
    other.jobs = vec![stream(0, 1, PACKET)];
    other.stop.jobs = vec![0];
    let refused = check(&other).expect_err("it is for fat trees");
    assert!(matches!(refused.kind, ErrorKind::RoutingNotForMachine { routing: "up-down", .. }), "{refused}");
}
