//! Properties of the modes of Aries, and of hashed paths on all machines.

use std::collections::{BTreeMap, BTreeSet};

use odonata_sim::spec::{AriesMode, Arrival, Gateways, Pattern, Record, RoutingSpec, Select, Via};
use odonata_sim::{Output, Spec};

use super::support::{ALL, NEAREST, aries, flat, grid, minimal, spec, valiant};
use crate::support::{job, output, stream};

/// The share of packets that take minimal paths under steady uniform traffic.
fn minimal_share(mode: AriesMode, topology: &odonata_sim::spec::TopologySpec, nodes: u32) -> f64 {
    let mut job = job("all", (0..nodes).collect(), Pattern::UniformRandom {}, 1_000, 143_000, 250);
    (job.traffic_mut().arrival, job.record) = (Arrival::Poisson {}, Record::Nothing);
    let mut spec = spec(topology.clone(), aries(mode, ALL), vec![job]);
    spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 16_000);
    let totals = &output(&spec).jobs[0];
    totals.minimal as f64 / totals.packets as f64
}

/// Catches a bias that is left out, on the wrong side, or the same at every router (D7).
#[test]
fn a_larger_bias_keeps_more_packets_on_minimal_paths() {
    for (topology, nodes) in [(flat([9, 4, 2, 2]), 72), (grid([5, 2, 3, 2, 2]), 60)] {
        let [none, growing, low, high] =
            [AriesMode::Adaptive0, AriesMode::Adaptive1, AriesMode::Adaptive2, AriesMode::Adaptive3]
                .map(|mode| minimal_share(mode, &topology, nodes));
        let shares = [none, growing, low, high];
        assert!(none + 0.05 < growing && growing + 0.1 < high, "{shares:?}: {topology:?}");
        assert!(none + 0.1 < low && low + 0.01 < high, "{shares:?}: {topology:?}");
    }
}

/// Messages of a pair of nodes that arrive before one that was sent earlier.
fn overtaken(routing: RoutingSpec) -> usize {
    let mut job = job("all", (0..36).collect(), Pattern::Tornado { offset: 13 }, 1_700, 400_000, 60);
    job.traffic_mut().arrival = Arrival::Staggered { jitter_ps: 30_000 };
    let mut spec = spec(grid([3, 2, 3, 2, 2]), routing, vec![job]);
    spec.fabric.links.values_mut().for_each(|link| link.buffer_bytes = 6_000);
    let rows = output(&spec).messages;
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    let mut order: Vec<usize> = (0..rows.job.len()).collect();
    order.sort_by_key(|&row| (rows.issue_ps[row], rows.interval[row]));
    order
        .into_iter()
        .filter(|&row| {
            let arrival = rows.issue_ps[row] + rows.latency_ps[row];
            let before = last.insert(rows.source[row], arrival).unwrap_or(0);
            last.insert(rows.source[row], before.max(arrival));
            arrival < before
        })
        .count()
}

/// Catches packets of a pair that take different paths although they must stay in order, on a congested machine with
/// several cables per pair and parallel links. Under other routings packets do overtake each other.
#[test]
fn packets_of_a_pair_stay_in_order() {
    for gateways in [NEAREST, ALL] {
        for routing in [
            aries(AriesMode::InOrder, gateways),
            minimal(Select::Hash, gateways),
            valiant(Via::Router, Select::Hash, gateways),
        ] {
            assert_eq!(overtaken(routing.clone()), 0, "{routing:?}");
        }
    }
    for routing in [aries(AriesMode::Adaptive0, ALL), aries(AriesMode::MinHash, ALL), minimal(Select::Random, ALL)] {
        assert!(overtaken(routing.clone()) > 20, "{routing:?}");
    }
}

/// Links between routers that were used, and how many each packet took.
fn used(spec: &Spec, output: &Output) -> (u64, u64) {
    let machine = spec.machine().expect("it can be built");
    let network = machine.network();
    let channels = usize::from(spec.fabric.channels);
    let vcs = (0..network.peer.len()).filter(|&slot| network.class[slot].0 > 0);
    let packets = |slot: &usize| output.links.packets[slot * channels..][..channels].iter().any(|&packets| packets > 0);
    let (hops, packets_sent) = output.jobs.iter().fold((0, 0), |sum, job| (sum.0 + job.hops, sum.1 + job.packets));
    assert_eq!(hops % packets_sent, 0, "all take ways of one length");
    (vcs.filter(packets).count() as u64, hops / packets_sent)
}

/// Links used by one message of many packets, and by many messages, in links of one path.
fn paths_taken(
    routing: &RoutingSpec,
    make: &dyn Fn(RoutingSpec, Vec<odonata_sim::spec::JobSpec>) -> Spec,
    to: u32,
) -> [bool; 2] {
    let many = job("many", vec![0, to], Pattern::Broadcast { root: 0 }, 1_000, 1_000_000, 120);
    [stream(0, to, 120_000), many].map(|job| {
        let spec = make(routing.clone(), vec![job]);
        let (links, one_path) = used(&spec, &output(&spec));
        assert!(links >= one_path);
        links == one_path
    })
}

/// Catches a hash over too little or too much: with `min-hash` and `nmin-hash` a message takes one path, and messages
/// differ; with `in-order` and `hash` all messages of a pair take one path; with random paths packets differ.
#[test]
fn hashed_paths_are_one_for_each_message_or_pair() {
    // Pairs whose paths all have the same length: minimal paths in the own group, or else over the only two cables.
    let direct = |routing, jobs| {
        let mut spec = spec(grid([3, 2, 2, 1, 1]), routing, jobs);
        if let odonata_sim::spec::TopologySpec::Cascade(topology) = &mut spec.topology {
            topology.column_links = 4;
        }
        spec
    };
    for gateways in [Gateways::Nearest, ALL] {
        for (routing, expected) in [
            (minimal(Select::Random, gateways), [false, false]),
            (minimal(Select::Hash, gateways), [true, true]),
            (aries(AriesMode::InOrder, gateways), [true, true]),
            (aries(AriesMode::MinHash, gateways), [true, false]),
        ] {
            assert_eq!(paths_taken(&routing, &direct, 3), expected, "{routing:?}");
        }
    }
    // Three routers in a row, four links each: a non-minimal path in the own group.
    let row = |routing, jobs| {
        let mut topology = super::support::dragonfly([1, 4, 1, 0]);
        topology.local_links = 3;
        spec(odonata_sim::spec::TopologySpec::Dragonfly(topology), routing, jobs)
    };
    for (routing, expected) in [
        (valiant(Via::Router, Select::Random, ALL), [false, false]),
        (valiant(Via::Router, Select::Hash, ALL), [true, true]),
        (aries(AriesMode::NminHash, ALL), [true, false]),
    ] {
        assert_eq!(paths_taken(&routing, &row, 3), expected, "{routing:?}");
    }
}

/// The same on a Dragonfly+, where only `hash` is known.
#[test]
fn hashed_paths_on_a_dragonfly_plus() {
    let plus = |routing, jobs| crate::support::spec(crate::support::machine([4, 2, 3, 2, 6], None), routing, jobs);
    for (select, expected) in [(Select::Random, [false, false]), (Select::Hash, [true, true])] {
        for routing in [
            RoutingSpec::Minimal { select, gateways: None },
            RoutingSpec::Valiant { via: Via::Spine, select, inside: None, gateways: None },
            RoutingSpec::Valiant { via: Via::Leaf, select, inside: None, gateways: None },
        ] {
            assert_eq!(paths_taken(&routing, &plus, 15), expected, "{routing:?}");
        }
    }
}

/// Catches a hash that sends all pairs along one path, and one that depends only on the destination.
#[test]
fn hashed_paths_of_different_pairs_differ() {
    let jobs: Vec<_> = (0..6).map(|node| stream(node, 6 + node, 5_000)).collect();
    let mut spec = spec(flat([2, 1, 6, 12]), minimal(Select::Hash, ALL), jobs);
    let cables = |spec: &Spec| {
        let output = output(spec);
        let channels = usize::from(spec.fabric.channels);
        (6..18_usize).map(|port| output.links.packets[port * channels]).collect::<Vec<_>>()
    };
    let once = cables(&spec);
    assert_eq!(once.iter().sum::<u64>(), 30);
    assert!(once.iter().filter(|&&packets| packets > 0).count() >= 3, "{once:?}");
    let other_seeds: BTreeSet<Vec<u64>> = (2..6)
        .map(|seed| {
            spec.seed = seed;
            cables(&spec)
        })
        .collect();
    assert!(other_seeds.len() >= 3, "the seed of the run matters");
}
