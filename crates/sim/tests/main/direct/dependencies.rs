//! No routing of a dragonfly or a cascade lets packets wait for each other in a cycle if it has as many channels as the
//! model says. With one channel less it is refused.

use odonata_error::{ErrorKind, path};
use odonata_sim::check;
use odonata_sim::routing::Routing;
use odonata_sim::spec::{AriesMode, Gateways, Select, TopologySpec, Via};
use odonata_topology::GroupId;

use super::support::{
    ALL, Known, Made, NEAREST, adaptive_local, aries, bridged, direct, flat, machines, minimal, par, routings, ugal,
    valiant,
};
use super::walk::{Vc, Walk};
use crate::graph::acyclic;
use crate::support::{output, stream};

fn walk(made: &Made, known: &Known) -> Walk {
    let mut walked = Walk::default();
    walked.walk(&direct(made, &known.routing), 0);
    walked
}

/// Channels from the table of docs/model.md, section 6.
fn needed(made: &Made, known: &Known) -> u8 {
    let machine = made.build();
    machine.subs() * if bridged(&machine) { known.bridged } else { known.stages }
}

fn bound(made: &Made, known: &Known) -> u8 {
    let machine = made.build();
    let (d, links) = if bridged(&machine) && known.links == (2, 1) { (3, 2) } else { known.links };
    d * machine.diameter() + links
}

/// Catches a routing that uses its channels in the wrong order, or more channels or links than the model's table
/// allows; a path that ends at the wrong router or nowhere; and a path over a failed part. On regular and irregular
/// machines, with and without failures, for each routing alone and for all of them in one run.
#[test]
fn no_packets_can_wait_in_a_cycle() {
    for made in machines() {
        for gateways in [NEAREST, ALL] {
            let mut together = Walk::default();
            for known in routings(gateways) {
                let walked = walk(&made, &known);
                let case = format!("{}, {:?}", made.name, known.routing);
                assert!(acyclic(&walked.edges), "{case}");
                let most = walked.vcs.iter().map(|&(_, channel)| channel + 1).max().unwrap_or(0);
                assert!(most <= needed(&made, &known), "{most} channels: {case}");
                assert!(walked.longest <= bound(&made, &known), "{} links: {case}", walked.longest);
                together.edges.extend(walked.edges);
            }
            assert!(acyclic(&together.edges), "{}, {gateways:?}, all routings together", made.name);
        }
    }
}

/// The same on random machines: any arrangement, parallel links, uneven groups, failures; with the random routings of
/// their jobs, all in one graph.
#[test]
fn no_packets_can_wait_in_a_cycle_on_random_machines() {
    let mut edges = 0;
    for seed in 0..250 {
        let spec = odonata_testkit::direct_spec(seed);
        let machine = spec.machine().expect("it was built before");
        let Ok(Routing::Direct(direct)) = Routing::new(&spec, machine) else { panic!("seed {seed} is refused") };
        let mut walked = Walk::default();
        (0..direct.algorithms().len() as u8).for_each(|routing| walked.walk(&direct, routing));
        assert!(acyclic(&walked.edges), "seed {seed}: {}", spec.to_json());
        assert!(walked.vcs.iter().all(|&(_, channel)| channel < spec.fabric.channels), "seed {seed}");
        edges += walked.edges.len();
    }
    assert!(edges > 50_000, "only {edges} edges");
}

/// Catches a list of machines that lacks the cases of the other tests.
#[test]
fn the_machines_are_of_all_kinds() {
    let subs: Vec<(u8, u8)> = machines().iter().map(Made::build).map(|m| (m.subs(), m.diameter())).collect();
    // Whole dragonflies, whole cascades, lines of four routers; a path of four in a grid of four.
    for kind in [(1, 1), (2, 2), (3, 3), (2, 3)] {
        assert!(subs.contains(&kind), "{kind:?} of {subs:?}");
    }
    assert!(machines().iter().filter(|made| bridged(&made.build())).count() >= 3);
    let most = |made: &Made| made.build().links_per_pair();
    assert!(machines().iter().map(most).max().is_some_and(|links| links >= 3));
}

/// Machines with paths of every kind: several cables per pair, and routers in addition to the two at the ends of a
/// cable.
fn rich() -> Vec<Made> {
    let names = ["a full dragonfly", "several cables a pair", "a cascade with several cables a pair"];
    machines().into_iter().filter(|made| names.contains(&made.name)).collect()
}

/// The graph with the channels renumbered by a function, so that different channels may become one.
fn merged(walked: &Walk, channel: impl Fn(u8) -> u8) -> std::collections::BTreeSet<(Vc, Vc)> {
    let vc = |(slot, old): Vc| (slot, channel(old));
    walked.edges.iter().map(|&(a, b)| (vc(a), vc(b))).collect()
}

/// Catches a proof that proves nothing: if any two stages, or the two halves of a stage of a cascade, shared channels,
/// packets could wait for each other in a cycle. So no routing needs fewer channels than it asks for.
#[test]
fn every_channel_is_needed() {
    for gateways in [NEAREST, ALL] {
        let rich = rich();
        let of = |known: &Known| rich.iter().map(|made| (made.build().subs(), walk(made, known))).collect::<Vec<_>>();
        for known in routings(gateways) {
            let graphs = of(&known);
            for stage in 1..known.stages {
                let cycle = graphs.iter().any(|(subs, walked)| {
                    let down = |channel: u8| if channel / subs >= stage { channel - subs } else { channel };
                    !acyclic(&merged(walked, down))
                });
                assert!(cycle, "stages {} and {stage} of {:?} could be one", stage - 1, known.routing);
            }
            let most = |walked: &Walk| walked.vcs.iter().map(|&(_, channel)| channel + 1).max().unwrap_or(0);
            let all = graphs.iter().any(|(subs, walked)| most(walked) == known.stages * subs);
            assert!(all, "{:?} uses fewer channels than it asks for", known.routing);
            for (subs, walked) in &graphs {
                if *subs == 2 {
                    let cycle = !acyclic(&merged(walked, |channel| channel / 2 * 2));
                    assert!(cycle, "the two halves of each stage of {:?} could be one", known.routing);
                }
            }
        }
    }
}

/// Catches a routing that runs on fewer channels than it needs, or asks for too many.
#[test]
fn one_channel_too_few_is_refused() {
    for made in machines() {
        let machine = made.build();
        let network = &machine.network;
        let works = |node: &u32| network.router_works(network.router_of_node(odonata_topology::NodeId(*node)));
        let nodes: Vec<u32> = (0..network.nodes() as u32).filter(works).collect();
        for known in routings(NEAREST) {
            let mut spec = made.spec(known.routing.clone(), vec![stream(nodes[0], nodes[nodes.len() - 1], 5_000)]);
            let need = needed(&made, &known);
            spec.fabric.channels = need;
            assert_eq!(check(&spec), Ok(()), "{}, {:?}", made.name, known.routing);
            spec.fabric.channels = need - 1;
            let (routing, need) = (known.routing.name(), u32::from(need));
            let kind = ErrorKind::TooFewChannels { routing, need, have: need - 1 };
            let refusal = kind.at(path!["fabric", "channels"]);
            assert_eq!(check(&spec), Err(refusal), "{}, {:?}", made.name, known.routing);
        }
    }
}

/// Catches a table with the same error as the code: channels counted by hand, on a dragonfly (S = 1), a cascade (S =
/// 2), a line of four routers (S = 3) and a ring of groups.
#[test]
fn channels_by_hand() {
    let channels = |made: &Made, routing| {
        let mut spec = made.spec(routing, vec![stream(0, 1, 100)]);
        (1..=16).find(|&channels| {
            spec.fabric.channels = channels;
            check(&spec).is_ok()
        })
    };
    let machines = machines();
    let [dragonfly, cascade, line, ring] =
        ["a full dragonfly", "a cascade", "a dragonfly whose groups are lines", "a ring of groups"]
            .map(|name| machines.iter().find(|made| made.name == name).expect("it is listed"));
    for (routing, expected) in [
        (minimal(Select::Random, NEAREST), [2, 4, 6, 3]),
        (valiant(Via::Group, Select::Random, ALL), [3, 6, 9, 3]),
        (valiant(Via::Router, Select::Random, ALL), [4, 8, 12, 4]),
        (ugal(odonata_sim::spec::Knowledge::Global, Via::Group, 1, ALL), [3, 6, 9, 3]),
        (adaptive_local(ALL), [3, 6, 9, 3]),
        (par(Via::Group, 1, NEAREST), [4, 8, 12, 4]),
        (par(Via::Router, 1, NEAREST), [5, 10, 15, 5]),
        (aries(AriesMode::Adaptive2, ALL), [4, 8, 12, 4]),
        (aries(AriesMode::InOrder, ALL), [2, 4, 6, 3]),
        (aries(AriesMode::NminHash, ALL), [3, 6, 9, 3]),
    ] {
        let found = [dragonfly, cascade, line, ring].map(|made| channels(made, routing.clone()).unwrap_or(0));
        assert_eq!(found, expected, "{routing:?}");
    }
}

/// Catches a number of channels that is counted in 8 bits: 5 stages of a line of 53 routers need 260 channels, not 4.
#[test]
fn more_channels_than_can_be_counted_are_refused() {
    for (routers, routing, need) in [(53, par(Via::Router, 1, ALL), 260), (53, minimal(Select::Random, ALL), 104)] {
        let mut made = Made { name: "a line", topology: flat([1, routers, 1, 0]), failures: Default::default() };
        // Port 1 + k leads to the k-th of the other routers; links that skip a router have failed.
        made.failures.links = (0..routers).flat_map(|r| (r + 2..routers).map(move |s| [r, s])).collect();
        let mut spec = made.spec(routing, vec![stream(0, 1, 100)]);
        spec.fabric.channels = 16;
        let error = check(&spec).expect_err("too few channels");
        let ErrorKind::TooFewChannels { need: told, .. } = error.kind else { panic!("{error}") };
        assert_eq!(told, need);
    }
}

/// Catches cables whose index does not fit into a packet: those beyond the 65,536th of a pair would never be used.
#[test]
fn more_cables_than_can_be_numbered_are_refused() {
    for (cables, refused) in [(65_536, false), (65_537, true)] {
        let mut topology = super::support::dragonfly([2, 300, 1, 219]);
        topology.links_per_pair = Some(cables);
        let spec = super::support::spec(
            TopologySpec::Dragonfly(topology),
            minimal(Select::Random, ALL),
            vec![stream(0, 1, 100)],
        );
        let refusal = ErrorKind::TooManyCables { found: 65_537, most: 65_536 }.at(path!["topology"]);
        let expected = if refused { Err(refusal) } else { Ok(()) };
        assert_eq!(check(&spec), expected);
    }
}

/// Catches hops that are counted in too few bits: the longest path that sixteen channels allow is minimal on a
/// staircase of rows and columns. It has 15 links in each of two groups and one between them.
#[test]
fn the_longest_path_fits() {
    let (rows, columns) = (8, 9);
    // (0, 0) - (0, 1) - (1, 1) - (1, 2) - ... - (7, 7) - (7, 8): all other routers have failed.
    let on_path = |group: u32, r: u32| (0..8).any(|i| [i * 9 + i, i * 9 + i + 1].contains(&(r - group * 72)));
    let mut topology = super::support::cascade([2, rows, columns, 1, 1]);
    topology.arrangement = odonata_topology::DragonflyArrangement::Explicit;
    topology.global_links = Some(vec![[71, 72]]);
    let mut made = Made { name: "a path", topology: TopologySpec::Cascade(topology), failures: Default::default() };
    made.failures.routers = (0..144).filter(|&r| !on_path(r / 72, r)).collect();
    let machine = made.build();
    assert_eq!((machine.diameter(), machine.subs(), machine.cables(GroupId(0), GroupId(1)).len()), (15, 8, 1));
    for gateways in [Gateways::Nearest, ALL] {
        let spec = made.spec(minimal(Select::Random, gateways), vec![stream(0, 143, 5_000)]);
        let totals = &output(&spec).jobs[0];
        assert_eq!((totals.packets, totals.hops), (5, 5 * 31));
    }
}
