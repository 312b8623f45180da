//! HyperX: times by hand, throughput against theory, paths, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::fabric::RouterPlace;
use odonata_sim::routing::AllPaths;
use odonata_sim::routing::deadlock::{VcAddress, explore};
use odonata_sim::routing::hyperx::HyperXRouting;
use odonata_sim::routing::show::paths;
use odonata_sim::spec::{
    Arrival, Failures, Gateways, JobSpec, MAX_CHANNELS, Pattern, Record, RoutingSpec, Select, TopologySpec, Via,
};
use odonata_sim::{Spec, check};
use odonata_testkit::Choices;
use odonata_topology::{HyperXSpec, Machine, RouterId};

use crate::decisions::{branches, decisions, entries};
use crate::graph::acyclic;
use crate::support::{PACKET, job, link, link_mut, machine, output, ser, stream};

const SELECTS: [Select; 3] = [Select::Random, Select::Hash, Select::LeastLoaded];

fn minimal(select: Select) -> RoutingSpec {
    RoutingSpec::Minimal { select, gateways: None }
}

fn valiant(select: Select) -> RoutingSpec {
    RoutingSpec::Valiant { via: Via::Router, select, inside: None, gateways: None }
}

fn dimension_order() -> RoutingSpec {
    RoutingSpec::DimensionOrder { select: Select::Random }
}

fn omni_war(deroutes: u8) -> RoutingSpec {
    RoutingSpec::OmniWar { deroutes }
}

fn grid(dimensions: &[u32], links: u32, nodes_per_router: u32) -> HyperXSpec {
    let (dimensions, dimension_links) = (dimensions.to_vec(), vec![links; dimensions.len()]);
    HyperXSpec { dimensions, dimension_links, nodes_per_router, rails: 1 }
}

/// All links have 10 GB/s; a router decides 100 ns after it has a packet. There are channels for every routing.
fn spec(topology: HyperXSpec, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = crate::support::spec(machine([1, 1, 1, 1, 0], None), routing, jobs);
    let classes = &["node", "dim1", "dim2", "dim3"][..=topology.dimensions.len()];
    spec.fabric.links = classes.iter().map(|&class| (class.to_owned(), link(10))).collect::<BTreeMap<_, _>>();
    spec.fabric.channels = 8;
    spec.topology = TopologySpec::HyperX(topology);
    spec
}

/// Catches a path of the wrong length: routers that differ in n dimensions have n links between them. With
/// store-and-forward each of the n + 2 links takes the whole packet, and n + 1 routers decide.
#[test]
fn one_packet_takes_the_sum_of_its_parts() {
    let mut routings: Vec<RoutingSpec> = SELECTS.map(minimal).to_vec();
    routings.extend([dimension_order(), omni_war(0), omni_war(3)]);
    for routing in routings {
        // Node 1 is on the same router; routers 1, 6 and 7 of 2 x 2 x 2 differ in one, two and three dimensions.
        for (to, links) in [(1, 0), (2, 1), (12, 2), (14, 3)] {
            let spec = spec(grid(&[2, 2, 2], 1, 2), routing.clone(), vec![stream(0, to, PACKET)]);
            let expected = (links + 2) * ser(PACKET, 10) + (links + 1) * 100_000;
            let totals = &output(&spec).jobs[0];
            assert_eq!((totals.latency.max, totals.hops), (expected, links), "{routing:?} to node {to}");
            assert_eq!(totals.minimal, 1);
        }
    }
}

/// Catches a Valiant path that goes straight, and one that turns more than once: in a row of three there is one other
/// router.
#[test]
fn a_packet_of_valiant_goes_through_the_third_router() {
    for select in SELECTS {
        let totals = &output(&spec(grid(&[3], 1, 1), valiant(select), vec![stream(0, 2, PACKET)])).jobs[0];
        assert_eq!((totals.latency.max, totals.hops, totals.minimal), (4 * ser(PACKET, 10) + 300_000, 2, 0));
        // Two routers have no third: the packet goes straight.
        let totals = &output(&spec(grid(&[2], 1, 1), valiant(select), vec![stream(0, 1, PACKET)])).jobs[0];
        assert_eq!((totals.hops, totals.minimal), (1, 1));
    }
}

/// The accepted load in the second half of a run at full offered load, as a share of the injection bandwidth.
fn accepted(topology: &HyperXSpec, routing: RoutingSpec, pattern: Pattern) -> f64 {
    const END_PS: u64 = 60_000_000;
    let nodes = topology.dimensions.iter().product::<u32>() * topology.nodes_per_router;
    let mut job = job("all", (0..nodes).collect(), pattern, PACKET, ser(PACKET, 10), 1);
    (job.traffic_mut().intervals, job.traffic_mut().arrival, job.record) = (None, Arrival::Poisson {}, Record::Nothing);
    let mut spec = spec(topology.clone(), routing, vec![job]);
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

fn uniform() -> Pattern {
    Pattern::UniformRandom {}
}

fn next_slice() -> Pattern {
    Pattern::GroupShift { shift: 1 }
}

/// Catches a cable that idles or is used twice. A router of T nodes sends the share 1/S of its packets to each place of
/// a dimension by K cables, so uniform random traffic saturates at K S / T: that is twice the relative bisection
/// K S / 2 T (Ahn 2009), because half of the packets cross it.
#[test]
fn uniform_random_traffic_saturates_at_the_bisection() {
    for (dimensions, links, nodes, bound) in [(&[8][..], 1, 16, 0.5), (&[4, 4, 4], 1, 8, 0.5), (&[4, 4], 2, 16, 0.5)] {
        let topology = grid(dimensions, links, nodes);
        // A node never sends to itself, so slightly more packets than 1/S leave the router.
        let bound = bound + 0.002;
        for routing in [dimension_order(), minimal(Select::Random), minimal(Select::LeastLoaded), omni_war(1)] {
            // Deroutes use cables that others need.
            let least = if matches!(routing, RoutingSpec::OmniWar { .. }) { 0.8 } else { 0.93 };
            let load = accepted(&topology, routing.clone(), uniform());
            println!("{dimensions:?} {routing:?} {load}");
            assert!((least * bound..=bound).contains(&load), "{dimensions:?}, {routing:?}: {load}");
        }
    }
}

/// Catches deroutes that are not taken, or taken where they do not help. All T nodes of a router send to the next place
/// of the last dimension, by one cable: minimal paths carry 1 / T of what is offered. In a row of S routers Valiant's
/// paths use the cables to and from the S - 2 others twice, so (S - 2) / 2 T; with deroutes as well as the direct cable,
/// (1 + (S - 2) / 2) / T = S / 2 T.
#[test]
fn deroutes_carry_what_one_cable_does_not() {
    for dimensions in [&[8][..], &[4, 8]] {
        let (nodes, routers) = (8, 8.0);
        let topology = grid(dimensions, 1, nodes);
        let t = f64::from(nodes);
        let bounds = [
            (dimension_order(), 0.95, 1.0 / t),
            (minimal(Select::LeastLoaded), 0.95, 1.0 / t),
            (omni_war(2), 0.95, routers / 2.0 / t),
        ];
        for (routing, least, bound) in bounds {
            let load = accepted(&topology, routing.clone(), next_slice());
            println!("{dimensions:?} {routing:?} {load} of {bound}");
            assert!((least * bound..=bound + 0.001).contains(&load), "{dimensions:?}, {routing:?}: {load} of {bound}");
        }
    }
    let load = accepted(&grid(&[8], 1, 8), valiant(Select::LeastLoaded), next_slice());
    println!("valiant {load}");
    assert!((0.95 * 0.375..=0.376).contains(&load), "valiant: {load}");
}

/// Catches paths that are missing or counted twice. Worked out by hand.
#[test]
fn all_paths_are_listed() {
    let count = |dimensions: &[u32], links, routing: RoutingSpec, to| {
        let spec = spec(grid(dimensions, links, 1), routing, vec![stream(0, to, PACKET)]);
        let listed = paths(&spec, 0, to, 100).expect("there are paths");
        (listed.total, listed.first.iter().filter(|path| path.minimal).count())
    };
    // The three dimensions in any order; each link by either of two cables.
    assert_eq!(count(&[2, 2, 2], 1, minimal(Select::Random), 7), (6, 6));
    assert_eq!(count(&[2, 2, 2], 2, minimal(Select::Random), 7), (48, 48));
    assert_eq!(count(&[2, 2, 2], 2, dimension_order(), 7), (8, 8));
    // In a row of four: straight, or through either of the two others.
    assert_eq!(count(&[4], 1, omni_war(0), 3), (1, 1));
    assert_eq!(count(&[4], 1, omni_war(1), 3), (3, 1));
    // With two deroutes: from either of them to the other, or back.
    assert_eq!(count(&[4], 1, omni_war(2), 3), (3 + 2 * 2, 1));
    assert_eq!(count(&[4], 1, valiant(Select::Random), 3), (2, 0));
    // 3 x 3 with three channels, to (1, 1): two shortest paths; a deroute first, in either dimension, and two shortest
    // paths from there; or a deroute in the second dimension that is used.
    assert_eq!(count(&[3, 3], 1, omni_war(1), 4), (2 + 2 * 2 + 2, 2));
}

/// Every path on machines of the generator ends, avoids what has failed, and uses channels in rising order; the graph of
/// channels of all routings together has no cycle. It has one as soon as channels are not told apart.
#[test]
fn no_packets_can_wait_in_a_cycle() {
    let (mut total, mut merged_cycles, mut broken, mut longer) = (0, 0, 0, 0);
    for seed in 0..150 {
        let mut spec = odonata_testkit::hyperx_spec(seed);
        let Ok(Machine::HyperX(machine)) = spec.machine() else { panic!("seed {seed} is no HyperX") };
        spec.fabric.channels = MAX_CHANNELS;
        let mut routings = vec![minimal(Select::Random), valiant(Select::Random), omni_war(0), omni_war(2)];
        if !machine.has_failures() {
            routings.push(dimension_order());
        }
        broken += u32::from(machine.has_failures());
        longer += u32::from(machine.diameter() > machine.spec.diameter());
        let routings: Vec<_> = routings.into_iter().map(|routing| (path!["routing"], routing)).collect();
        let Ok(routing) = HyperXRouting::new(machine.clone(), &spec.fabric, &routings) else { continue };
        let network = &machine.network;
        let works: Vec<RouterId> =
            (0..network.routers() as u32).map(RouterId).filter(|&r| network.router_works(r)).collect();
        let (mut edges, mut merged) = (BTreeSet::new(), BTreeSet::new());
        for (&from, &to) in works.iter().flat_map(|from| works.iter().map(move |to| (from, to))) {
            for number in 0..routings.len() as u8 {
                let ends = explore(&routing, number, from, to, &mut |step| {
                    let (router, port, channel) = step.goes;
                    assert!(!network.has_failed(network.slot(router, port)), "seed {seed}: a failed link is used");
                    assert!(channel < routing.max_hops(number).max(1), "seed {seed}: channel {channel}");
                    edges.extend(step.came.map(|came| (came, step.goes)));
                    let zero = |(router, port, _): VcAddress| (router, port, 0);
                    merged.extend(step.came.map(|came| (zero(came), zero(step.goes))));
                });
                assert!(ends, "seed {seed}: a path from {from} to {to} does not end");
            }
        }
        assert!(acyclic(&edges), "seed {seed}");
        merged_cycles += u32::from(!acyclic(&merged));
        total += edges.len();
    }
    assert!(total > 20_000 && merged_cycles > 50, "only {total} edges, {merged_cycles} cycles without channels");
    assert!(broken > 20 && longer > 10, "{broken} machines with failures, {longer} with longer paths");
}

/// Catches a path that is proved and listed and never taken, and the reverse: with random loads and keys the decisions
/// at a router are exactly its branches, and packets enter in exactly the states of `starts`.
#[test]
fn decisions_and_branches_know_the_same_paths() {
    let mut c = Choices::new(6);
    let mut states = 0;
    for seed in 0..60 {
        let mut spec = odonata_testkit::hyperx_spec(seed);
        let Ok(Machine::HyperX(machine)) = spec.machine() else { panic!("seed {seed} is no HyperX") };
        spec.fabric.channels = MAX_CHANNELS;
        let mut routings = vec![minimal(Select::Random), minimal(Select::LeastLoaded)];
        routings.extend([valiant(Select::Random), omni_war(1), omni_war(2)]);
        if !machine.has_failures() {
            routings.push(dimension_order());
        }
        let routings: Vec<_> = routings.into_iter().map(|routing| (path!["routing"], routing)).collect();
        let Ok(routing) = HyperXRouting::new(machine.clone(), &spec.fabric, &routings) else { continue };
        let network = &machine.network;
        let works: Vec<RouterId> =
            (0..network.routers() as u32).map(RouterId).filter(|&r| network.router_works(r)).collect();
        for number in 0..routings.len() as u8 {
            let (mut router, to) = (c.of(&works), c.of(&works));
            if router == to {
                continue;
            }
            let [from, destination] = [router, to].map(|r| network.address_of_router[r.index()]);
            let starts = routing.starts(from, destination, number);
            let entered = entries(&routing, from, destination, number, &mut c);
            let known: BTreeSet<_> = starts.iter().map(|packet| (packet.intermediate, packet.diverted())).collect();
            assert_eq!(entered, known, "seed {seed}, {:?}", routings[usize::from(number)]);
            let mut packet = c.of(&starts);
            while router != to {
                let place = RouterPlace::of(network, router);
                let known = branches(&routing, place, &packet);
                let decided = decisions(&routing, place, &packet, &known, network.peer.len(), &mut c);
                assert_eq!(decided, known, "seed {seed}, {:?}", routings[usize::from(number)]);
                states += 1;
                (router, packet) = routing.follow(router, c.of(&routing.branches(place, &packet)));
            }
        }
    }
    assert!(states > 300, "only {states} states");
}

/// The error of a specification on 3 x 3 routers.
fn refusal(routing: RoutingSpec, channels: u8, failures: Failures) -> Result<(), Error> {
    let mut spec = spec(grid(&[3, 3], 1, 1), routing, vec![stream(0, 1, PACKET)]);
    (spec.fabric.channels, spec.failures) = (channels, failures);
    check(&spec)
}

/// Catches a routing that is silently replaced by another, options that are ignored, and too few channels.
#[test]
fn what_does_not_fit_is_refused() {
    let none = Failures::default();
    let choices = vec!["minimal", "valiant", "dimension-order", "omni-war"];
    let other = |routing| ErrorKind::RoutingNotForMachine { routing, machine: "hyperx", choices: choices.clone() };
    let up_down = RoutingSpec::UpDown { spread: odonata_sim::spec::Spread::Hash };
    assert_eq!(refusal(up_down, 8, none.clone()), Err(other("up-down").at(path!["routing", "name"])));
    for via in [Via::Spine, Via::Leaf, Via::Group] {
        let routing = RoutingSpec::Valiant { via, select: Select::Random, inside: None, gateways: None };
        assert_eq!(refusal(routing, 8, none.clone()), Err(other("valiant").at(path!["routing", "name"])));
    }
    let gateways = RoutingSpec::Minimal { select: Select::Random, gateways: Some(Gateways::All) };
    let needless = ErrorKind::NeedlessGateways { machine: "hyperx" };
    assert_eq!(refusal(gateways, 8, none.clone()), Err(needless.at(path!["routing", "gateways"])));
    for (routing, need) in [
        (minimal(Select::Random), 2),
        (valiant(Select::Hash), 4),
        (omni_war(0), 2),
        (omni_war(3), 5),
        (dimension_order(), 1),
    ] {
        assert_eq!(refusal(routing.clone(), need, none.clone()), Ok(()));
        if need > 1 {
            let kind =
                ErrorKind::TooFewChannels { routing: routing.name(), need: need.into(), have: u32::from(need) - 1 };
            assert_eq!(refusal(routing, need - 1, none.clone()), Err(kind.at(path!["fabric", "channels"])));
        }
    }
    // Router 0 has ports 1 and 2 to its row. Without both, routers of its row are three links away.
    let failures = Failures { links: vec![[0, 1], [0, 2]], routers: vec![] };
    let kind = ErrorKind::TooFewChannels { routing: "minimal", need: 3, have: 2 };
    assert_eq!(refusal(minimal(Select::Random), 2, failures.clone()), Err(kind.at(path!["fabric", "channels"])));
    let kind = ErrorKind::DimensionOrderWithFailures {};
    assert_eq!(refusal(dimension_order(), 8, failures), Err(kind.at(path!["routing", "name"])));
}
