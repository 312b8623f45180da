//! The accepted load of a balanced dragonfly at full offered load, against the capacity of its cables (Kim 2008,
//! section 4; Jiang 2009).
//!
//! Nine groups of four routers (a = 4) with two nodes (p = 2) and two global links (h = 2) each: one cable between each
//! pair of groups, with the bandwidth of a node. When all nodes of a group send to the next group, the accepted load as
//! a share of injection bandwidth is as follows. Minimal routing has one cable for eight nodes: 1/(a h) = 1/8. Valiant
//! routing has the seven cables to third groups, each of which carries first legs of one group and second legs of
//! another: 7/(2 * 8) = 0.4375. An adaptive routing can use both: 0.5625.

use odonata_sim::Spec;
use odonata_sim::spec::{
    AriesMode, Arrival, JobSpec, Knowledge, Pattern, Record, RoutingSpec, Select, TopologySpec, Via,
};
use odonata_topology::Spread;

use super::support::{ALL, NEAREST, adaptive_local, aries, dragonfly, flat, minimal, par, spec, ugal, valiant};
use crate::support::{PACKET, job, link, link_mut, output, ser, stream};

const NODES: u32 = 72;
const END_PS: u64 = 50_000_000;
const MINIMAL: f64 = 1.0 / 8.0;
const VALIANT: f64 = 7.0 / 16.0;

fn balanced(routing: RoutingSpec, pattern: Pattern) -> Spec {
    let mut job = job("all", (0..NODES).collect(), pattern, PACKET, ser(PACKET, 10), 1);
    (job.traffic_mut().intervals, job.traffic_mut().arrival, job.record) = (None, Arrival::Poisson {}, Record::Nothing);
    let mut spec = spec(flat([9, 4, 2, 2]), routing, vec![job]);
    for class in ["node", "local", "global"] {
        link_mut(&mut spec, class).buffer_bytes = 16 * PACKET;
    }
    spec.stop.jobs.clear();
    spec
}

/// The accepted load in the second half of a run at full offered load, as a share of the injection bandwidth.
fn accepted(routing: &RoutingSpec, pattern: Pattern) -> f64 {
    let mut spec = balanced(routing.clone(), pattern);
    let [half, all] = [END_PS / 2, END_PS].map(|at| {
        spec.stop.at_ps = Some(at);
        output(&spec).jobs[0].bytes
    });
    (all - half) as f64 / (f64::from(NODES) * (END_PS - END_PS / 2) as f64 / ser(PACKET, 10) as f64 * PACKET as f64)
}

fn uniform(routing: &RoutingSpec) -> f64 {
    accepted(routing, Pattern::UniformRandom {})
}

fn worst_case(routing: &RoutingSpec) -> f64 {
    accepted(routing, Pattern::GroupShift { shift: 1 })
}

/// Catches a link that idles, a cable that is not used or used twice, and non-minimal paths: uniform traffic is
/// accepted almost completely (the injection links are the bottleneck), and the worst case at the bandwidth of one
/// cable.
#[test]
fn minimal_routing_reaches_the_capacity_of_its_cables() {
    for select in [Select::Random, Select::Hash, Select::LeastLoaded] {
        let routing = minimal(select, NEAREST);
        let (uniform, worst) = (uniform(&routing), worst_case(&routing));
        assert!(uniform > 0.97 && uniform <= 1.0, "{select:?}: {uniform}");
        assert!((worst / MINIMAL - 1.0).abs() < 0.01, "{select:?}: {worst}");
    }
    let routing = aries(AriesMode::MinHash, ALL);
    assert!((worst_case(&routing) / MINIMAL - 1.0).abs() < 0.01);
}

/// Catches uneven draws of third groups, or the destination's or the own group drawn as a third group.
#[test]
fn valiant_routing_reaches_about_one_half_whatever_the_traffic() {
    for (via, select) in
        [(Via::Group, Select::Random), (Via::Group, Select::LeastLoaded), (Via::Router, Select::Random)]
    {
        let routing = valiant(via, select, NEAREST);
        let (uniform, worst) = (uniform(&routing), worst_case(&routing));
        assert!((worst / VALIANT - 1.0).abs() < 0.04, "{via:?}, {select:?}: {worst}");
        assert!((0.45..0.65).contains(&uniform), "{via:?}, {select:?}: {uniform}");
    }
}

/// Catches a comparison in the wrong direction, a weight on the wrong side, and loads that are ignored: adaptive
/// routings are nearly minimal under uniform traffic, and in the worst case better than both routings that they choose
/// between.
#[test]
fn adaptive_routings_are_as_good_as_the_better_of_two() {
    let least = uniform(&minimal(Select::Random, NEAREST)) * 0.95;
    for routing in [
        ugal(Knowledge::Local, Via::Group, 1, NEAREST),
        ugal(Knowledge::Local, Via::Router, 2, NEAREST),
        ugal(Knowledge::Global, Via::Group, 1, NEAREST),
        ugal(Knowledge::Global, Via::Router, 1, NEAREST),
        par(Via::Group, 1, NEAREST),
        par(Via::Router, 2, NEAREST),
        adaptive_local(NEAREST),
        aries(AriesMode::Adaptive0, NEAREST),
        aries(AriesMode::Adaptive1, NEAREST),
        aries(AriesMode::Adaptive3, NEAREST),
    ] {
        let (uniform, worst) = (uniform(&routing), worst_case(&routing));
        assert!(uniform > least, "{uniform}, {routing:?}");
        assert!(worst > 1.1 * VALIANT && worst < 1.04 * (MINIMAL + VALIANT), "{worst}, {routing:?}");
    }
}

/// Two groups of three routers of two nodes, one cable between routers 0 and 3, or more.
fn two_groups(links_per_pair: u32, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
    let mut topology = dragonfly([2, 3, 2, 2]);
    (topology.links_per_pair, topology.spread) = (Some(links_per_pair), Spread::RoundRobin);
    let mut spec = spec(TopologySpec::Dragonfly(topology), routing, jobs);
    for class in ["node", "local"] {
        *link_mut(&mut spec, class) = link(20);
    }
    *link_mut(&mut spec, "global") = link(2);
    spec
}

/// Catches a cable that gives more or less than its bandwidth to all that share it: it is never idle from its first
/// packet to its last.
#[test]
fn one_cable_delivers_its_bandwidth() {
    const PACKETS: u64 = 300;
    let jobs = |n: u32| (0..n).map(|node| stream(node, 6 + node, PACKETS * PACKET)).collect::<Vec<_>>();
    for routing in
        [minimal(Select::Random, ALL), ugal(Knowledge::Global, Via::Router, 2, ALL), aries(AriesMode::Adaptive0, ALL)]
    {
        // Two nodes at the cable's own routers: the path has no other links between routers.
        let own = output(&two_groups(1, routing.clone(), jobs(2)));
        assert_eq!(own.end_ps, 2 * ser(PACKET, 20) + 2 * 100_000 + 2 * PACKETS * ser(PACKET, 2), "{routing:?}");
        let all = output(&two_groups(1, routing.clone(), jobs(6)));
        let (cable, once) = (6 * PACKETS * ser(PACKET, 2), 4 * ser(PACKET, 20) + 4 * 100_000);
        assert!(all.end_ps > cable && all.end_ps <= cable + once, "{}, {routing:?}", all.end_ps);
    }
}

/// Catches `gateways` that are read and ignored: with three cables, one at each router, the nearest one is each
/// router's own; otherwise all are used equally.
#[test]
fn gateways_say_which_cables_are_used() {
    for (gateways, routers) in [(NEAREST, 1), (ALL, 3)] {
        let spec = two_groups(3, minimal(Select::Random, gateways), vec![stream(0, 7, 900 * PACKET)]);
        let machine = spec.machine().expect("it can be built");
        let network = machine.network();
        let output = output(&spec);
        let channels = usize::from(spec.fabric.channels);
        let global = |slot: &usize| network.class[*slot] == network.first_global;
        let carried: Vec<u64> = (0..network.peer.len())
            .filter(global)
            .map(|slot| output.links.packets[slot * channels..][..channels].iter().sum())
            .filter(|&packets| packets > 0)
            .collect();
        assert_eq!((carried.len(), carried.iter().sum::<u64>()), (routers, 900), "{gateways:?}");
        assert!(carried.iter().all(|&packets| packets.abs_diff(900 / routers as u64) < 60), "{carried:?}");
    }
}
