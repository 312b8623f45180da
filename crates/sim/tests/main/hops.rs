//! The number of links that packets take, in the graph of paths and in runs.

use std::collections::BTreeSet;

use odonata_sim::Spec;
use odonata_sim::spec::{ChannelSwitch, Compare, FparCandidates, Pattern, RoutingSpec, Via};
use odonata_topology::{NodeId, Port, RouterId};

use crate::graph::graph;
use crate::support::{
    MINIMAL, algorithm, build, fpar, job, link, link_mut, machine, output, prog_adaptive, routings, spec, valiant,
};

/// Dense, sparse, very sparse.
const SIZES: [([u32; 5], Option<u32>); 3] =
    [([4, 2, 3, 2, 6], None), ([4, 2, 3, 2, 6], Some(2)), ([5, 2, 2, 2, 2], Some(1))];

/// All-to-all traffic at several times the bandwidth of the global links.
fn crowded(size: [u32; 5], links: Option<u32>, routing: RoutingSpec) -> Spec {
    let nodes = (0..size[0] * size[1] * size[3]).collect();
    let job = job("all", nodes, Pattern::UniformRandom {}, 1_500, 50_000, 100);
    let mut spec = spec(machine(size, links), routing, vec![job]);
    *link_mut(&mut spec, "global") = link(1);
    for (class, bytes) in [("node", 2_000), ("local", 8_000), ("global", 2_000)] {
        link_mut(&mut spec, class).buffer_bytes = bytes;
    }
    spec
}

/// Catches a packet that wanders: longer paths than a routing promises, or virtual channels that the deadlock proof did
/// not cover.
#[test]
fn runs_keep_to_the_paths_that_were_explored() {
    for (size, links) in SIZES {
        for routing in routings() {
            let spec = crowded(size, links, routing);
            let case = format!("{size:?}, {links:?}, {:?}", spec.routing);
            let graph = graph(&spec);
            let bound = algorithm(&spec).max_hops();
            assert!(graph.longest <= bound, "a way of {} links, not {bound}: {case}", graph.longest);
            let (machine, output) = (build(&spec), output(&spec));
            let channels = usize::from(spec.fabric.channels);
            let mut used = BTreeSet::new();
            for slot in 0..machine.network.peer.len() {
                let (router, port) = machine.network.port_of(odonata_topology::SlotId(slot as u32));
                let to_node = machine.is_leaf(router) && u32::from(port.0) < machine.spec.nodes_per_leaf;
                for channel in (0..channels).filter(|c| !to_node && output.links.packets[slot * channels + c] > 0) {
                    used.insert((router, port, channel as u8));
                }
            }
            let beyond: Vec<&(RouterId, Port, u8)> = used.difference(&graph.vcs).collect();
            assert!(beyond.is_empty(), "{beyond:?} were used but not explored: {case}");
            assert!(used.len() * 5 > graph.vcs.len() * 4, "only {} of {}: {case}", used.len(), graph.vcs.len());
        }
    }
}

/// Messages of a run by distance: in one leaf, in one group, between groups; in packets.
fn packets_by_distance(spec: &Spec) -> [u64; 3] {
    let (machine, output) = (build(spec), output(spec));
    let job = &spec.jobs[0];
    let packets = job.traffic().message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes));
    let mut count = [0; 3];
    for (&from, &to) in output.messages.source.iter().zip(&output.messages.destination) {
        let leaf = |rank: u32| machine.leaf_of(NodeId(job.nodes[rank as usize]));
        let (a, b) = (leaf(from), leaf(to));
        count[if a == b { 0 } else { 1 + usize::from(machine.group(a) != machine.group(b)) }] += packets;
    }
    assert!(count.iter().all(|&c| c > 0), "all distances occur");
    count
}

/// Catches hops that are counted wrongly, and routings that take other paths than they say: minimal three links between
/// groups, Valiant via a spine four, via a leaf six; adaptive routings leave the minimal path under this load.
#[test]
fn links_per_packet_are_what_the_routing_says() {
    for (size, links) in SIZES {
        for routing in routings() {
            let spec = crowded(size, links, routing);
            let case = format!("{size:?}, {links:?}, {:?}", spec.routing);
            let [_, near, far] = packets_by_distance(&spec);
            let job = &output(&spec).jobs[0];
            let between = job.hops - 2 * near;
            match spec.routing {
                RoutingSpec::Minimal { .. } => assert_eq!((between, job.minimal), (3 * far, job.packets), "{case}"),
                RoutingSpec::Valiant { via: Via::Leaf, .. } => assert_eq!(between, 6 * far, "{case}"),
                RoutingSpec::Valiant { via: Via::Spine, .. } if links.is_none() => {
                    assert_eq!(between, 4 * far, "{case}")
                }
                RoutingSpec::Valiant { .. } => assert!(between > 4 * far && between <= 6 * far, "{case}"),
                _ => {
                    assert!(between > 3 * far && between <= 6 * far, "{case}");
                    // A diverted packet takes 4 to 6 links; any other packet takes 3.
                    let diverted = job.packets - job.minimal;
                    assert!(diverted > 0 && (diverted..=3 * diverted).contains(&(between - 3 * far)), "{case}");
                }
            }
            if let RoutingSpec::Valiant { .. } = spec.routing {
                assert_eq!(job.packets - job.minimal, far, "exactly those to other groups are diverted: {case}");
            }
        }
    }
}

/// Catches an adaptive routing that leaves the minimal path without need: on an empty machine it must not.
#[test]
fn adaptive_routings_are_minimal_without_load() {
    let candidates = FparCandidates::AllGroups;
    for routing in [fpar(1, candidates), fpar(500_000, candidates), prog_adaptive(candidates), MINIMAL] {
        let job = job("sparse", (0..16).collect(), Pattern::Tornado { offset: 5 }, 900, 100_000_000, 20);
        let mut spec = spec(machine([4, 2, 3, 2, 6], None), routing, vec![job]);
        spec.jobs[0].traffic_mut().arrival = odonata_sim::spec::Arrival::Staggered { jitter_ps: 1_000 };
        let totals = &output(&spec).jobs[0];
        assert_eq!((totals.packets, totals.minimal), (320, 320), "{:?}", spec.routing);
    }
    // With fewer than three groups there is no non-minimal path.
    for via in [Via::Spine, Via::Leaf] {
        let job = job("pair of groups", (0..8).collect(), Pattern::Tornado { offset: 4 }, 900, 1_000, 20);
        let totals = &output(&spec(machine([2, 2, 3, 2, 6], None), valiant(via), vec![job])).jobs[0];
        assert_eq!((totals.hops, totals.minimal), (3 * 160, 160));
    }
}

/// Catches `<` taken for `<=`: no score is below 0, but that of an idle port is at most 0.
#[test]
fn a_threshold_of_zero_diverts_only_with_at_most() {
    for (compare, diverts) in [(Compare::Below, false), (Compare::AtMost, true)] {
        let (candidates, channel_switch) = (FparCandidates::AllGroups, ChannelSwitch::Intermediate);
        let routing = RoutingSpec::Fpar { threshold_ppm: 0, compare, candidates, channel_switch };
        let totals = &output(&crowded(SIZES[0].0, SIZES[0].1, routing)).jobs[0];
        assert_eq!(totals.minimal < totals.packets, diverts, "{compare:?}");
    }
}
