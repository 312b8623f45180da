//! The number of links that packets take, in the graph of paths and in runs.

use std::collections::BTreeSet;

use odonata_sim::Spec;
use odonata_sim::routing::AllPaths;
use odonata_sim::routing::{Routing, RoutingAlgorithm};
use odonata_sim::spec::{AriesMode, Gateways, Pattern, RoutingSpec, Select, Via};
use odonata_topology::{NodeId, SlotId};

use super::support::{ALL, Made, NEAREST, aries, bridged, direct, grid, machines, minimal, routings, valiant};
use super::walk::{Vc, Walk};
use crate::support::{job, link, link_mut, output};

/// Uniform traffic at several times the bandwidth of the links between routers, in small buffers.
fn crowded(made: &Made, mut routing: RoutingSpec) -> Spec {
    if let RoutingSpec::Aries { bias_low_bytes, bias_high_bytes, .. } = &mut routing {
        // Less than the capacity of the small buffers.
        (*bias_low_bytes, *bias_high_bytes) = (100, 200);
    }
    let machine = made.build();
    let network = &machine.network;
    let works = |&node: &u32| network.router_works(network.router_of_node(NodeId(node)));
    let nodes = (0..network.nodes() as u32).filter(works).collect();
    let job = job("all", nodes, Pattern::UniformRandom {}, 1_500, 100_000, 60);
    let mut spec = made.spec(routing, vec![job]);
    for &class in network.classes {
        *link_mut(&mut spec, class) = link(if class == "node" { 10 } else { 2 });
        link_mut(&mut spec, class).buffer_bytes = 3_000;
    }
    spec
}

/// Catches a packet that wanders (links, channels or paths that the deadlock proof did not cover), and packets that are
/// lost or stuck under congestion.
#[test]
fn runs_keep_to_the_paths_that_were_explored() {
    for made in machines() {
        for known in routings(if made.name.len() % 2 == 0 { NEAREST } else { ALL }) {
            let mut spec = crowded(&made, known.routing.clone());
            let mut walked = Walk::default();
            let direct = direct(&made, &spec.routing);
            walked.walk(&direct, 0);
            let case = format!("{}, {:?}", made.name, known.routing);
            assert!(walked.longest <= direct.max_hops(0), "{case}");
            // No more channels than needed, so that a cycle would show.
            let (subs, machine) = (direct.paths().subs(), direct.paths().machine());
            spec.fabric.channels = subs * if bridged(machine) { known.bridged } else { known.stages };
            let output = output(&spec);
            let channels = u32::from(spec.fabric.channels);
            let mut used: BTreeSet<Vc> = BTreeSet::new();
            for slot in 0..machine.network.peer.len() as u32 {
                if machine.network.class[SlotId(slot).index()].0 == 0 {
                    continue;
                }
                let packets = |channel: &u32| output.links.packets[(slot * channels + channel) as usize] > 0;
                used.extend((0..channels).filter(packets).map(|channel| (slot, channel as u8)));
            }
            let beyond: Vec<&Vc> = used.difference(&walked.vcs).collect();
            assert!(beyond.is_empty(), "{beyond:?} were used but not explored: {case}");
            assert!(used.len() * 2 > walked.vcs.len(), "only {} of {}: {case}", used.len(), walked.vcs.len());
            let job = &output.jobs[0];
            assert_eq!((job.delivered, job.bytes), (job.issued, job.issued * 1_500), "{case}");
            assert!(job.hops <= job.packets * u64::from(direct.max_hops(0)), "{case}");
        }
    }
}

/// Catches a bound other than that of Aries: between routers of a cascade without failures, at most 5 links on a
/// minimal path and 10 on a non-minimal one, and both occur.
#[test]
fn aries_takes_at_most_five_links_or_ten() {
    let made = Made { name: "Aries", topology: grid([3, 2, 3, 1, 2]), failures: Default::default() };
    for (mode, links) in [
        (AriesMode::MinHash, 5),
        (AriesMode::InOrder, 5),
        (AriesMode::NminHash, 8),
        (AriesMode::Adaptive0, 10),
        (AriesMode::Adaptive3, 10),
    ] {
        let direct = direct(&made, &aries(mode, ALL));
        let mut walked = Walk::default();
        walked.walk(&direct, 0);
        assert_eq!((walked.longest, direct.max_hops(0)), (links, direct.max_hops(0)), "{mode:?}");
    }
}

/// Catches wrong bounds in the model's table, on a machine with every path that it allows.
#[test]
fn the_longest_paths_are_those_of_the_table() {
    let names = ["several cables a pair", "a cascade with several cables a pair"];
    for made in machines().into_iter().filter(|made| names.contains(&made.name)) {
        let diameter = made.build().diameter();
        for known in routings(ALL) {
            let direct = direct(&made, &known.routing);
            let mut walked = Walk::default();
            walked.walk(&direct, 0);
            let bound = known.links.0 * diameter + known.links.1;
            assert_eq!((walked.longest, direct.max_hops(0)), (bound, bound), "{}, {:?}", made.name, known.routing);
            assert_eq!(walked.most_global, if known.stages == 2 { 1 } else { 2 });
        }
    }
}

/// Links of a run's packets between groups, by pattern: every packet of a `group-shift` leaves its group.
fn far_links(routing: RoutingSpec) -> (u64, u64, u64) {
    let made = &machines()[3];
    assert_eq!(made.name, "a full dragonfly");
    let job = job("shift", (0..20).collect(), Pattern::GroupShift { shift: 1 }, 1_000, 2_000_000, 50);
    let totals = &output(&made.spec(routing, vec![job])).jobs[0];
    (totals.packets, totals.hops, totals.minimal)
}

/// Catches hops that are counted wrongly, and routings that take other paths than they say: with four routers per group
/// and one cable per pair, a packet starts at its cable's router with probability 1/4.
#[test]
fn links_per_packet_are_what_the_routing_says() {
    for gateways in [Gateways::Nearest, ALL] {
        let (packets, hops, minimal_packets) = far_links(minimal(Select::Random, gateways));
        assert_eq!((packets, minimal_packets), (1_000, 1_000));
        assert!(hops > 2 * packets && hops <= 3 * packets, "{hops}");
        let (packets, hops, minimal_packets) = far_links(valiant(Via::Group, Select::Random, gateways));
        assert_eq!(minimal_packets, 0, "all go round");
        assert!(hops > 3 * packets && hops <= 5 * packets, "{hops}");
        let (_, more, minimal_packets) = far_links(valiant(Via::Router, Select::Random, gateways));
        assert_eq!(minimal_packets, 0, "all go round");
        assert!(more > hops && more <= 6 * packets, "{more}");
    }
}

/// Catches a path granularity that is lost between a specification and the NIC.
#[test]
fn routings_of_a_run_keep_their_numbers() {
    let made = &machines()[3];
    let pairs: [[u32; 2]; 3] = [[0, 19], [1, 18], [2, 17]];
    let jobs = pairs.map(|[a, b]| job(&format!("{a}"), vec![a, b], Pattern::Tornado { offset: 1 }, 100, 100, 1));
    let mut spec = made.spec(minimal(Select::Random, ALL), jobs.to_vec());
    spec.jobs[1].routing = Some(minimal(Select::Hash, ALL));
    spec.jobs[2].routing = Some(aries(AriesMode::MinHash, ALL));
    let routing = Routing::new(&spec, spec.machine().expect("it can be built")).expect("they are for this machine");
    let Routing::Direct(direct) = routing else { panic!("{routing:?}") };
    use odonata_sim::routing::PathGranularity;
    assert_eq!(
        [0, 1, 2].map(|mode| direct.granularity(mode)),
        [PathGranularity::Packet, PathGranularity::Flow, PathGranularity::Message]
    );
    assert_eq!(odonata_sim::routing::routing_numbers(&spec), [[0; 3], [1; 3], [2; 3]]);
}
