//! Latency of one message on an empty machine, in closed form, to the picosecond. Catches a delay that is charged
//! twice, late or never, wrong rounding, and wrong pipelining of the packets of a message.

use std::collections::BTreeMap;

use odonata_sim::Spec;
use odonata_sim::spec::{
    Arrival, ChannelSwitch, Compare, Delivery, Entropy, FabricSpec, Failures, First, FparCandidates, JobSpec, LinkSpec,
    MeasureSpec, NicOrder, NicSpec, Pattern, Prepared, Rail, Record, RoutingSpec, SPEC_VERSION, Select, Sensing,
    StopSpec, Switching, TopologySpec, Traffic,
};
use odonata_topology::{Arrangement, Bandwidth, DragonflyPlusSpec};

const PACKET: u32 = 1000;
const ROUTER_DELAY: u64 = 91_003;
const OVERHEAD: u64 = 10_007;

fn link(bandwidth: u64, latency_ps: u64) -> LinkSpec {
    // Room for all packets of a message: credits play no part here.
    LinkSpec { bandwidth: Bandwidth(bandwidth), latency_ps, buffer_bytes: 1 << 20, credit_delay_ps: 77 }
}

/// Two nodes of a machine of 3 groups, 2 leaves each, 2 nodes each; node `to` gets one message from node `from`.
fn spec(bandwidths: [u64; 3], spines: u32, routing: RoutingSpec, (from, to): (u32, u32), bytes: u64) -> Spec {
    let [node, local, global] = bandwidths;
    let links = [("node", link(node, 5_001)), ("local", link(local, 20_011)), ("global", link(global, 300_017))];
    Spec {
        version: SPEC_VERSION,
        seed: 9,
        compat: None,
        compat_without: Vec::new(),
        topology: TopologySpec::DragonflyPlus(DragonflyPlusSpec {
            groups: 3,
            leaves: 2,
            spines,
            nodes_per_leaf: 2,
            global_links_per_spine: 2,
            links_per_pair: None,
            arrangement: Arrangement::Linear,
            ..DragonflyPlusSpec::default()
        }),
        fabric: FabricSpec {
            packet_bytes: PACKET,
            router_delay_ps: ROUTER_DELAY,
            channels: 2,
            switching: Switching::StoreAndForward,
            header_bytes: 0,
            flit_bytes: 1,
            router: None,
            nic: NicSpec {
                overhead_ps: OVERHEAD,
                order: NicOrder::Fcfs,
                rail: Rail::Hash,
                stripe_bytes: None,
                aries: None,
                window_bytes: None,
                delivery: Delivery::default(),
                entropy: Entropy::default(),
                acknowledge_every: None,
            },
            congestion_control: None,
            traffic_classes: Vec::new(),
            links: BTreeMap::from(links.map(|(name, link)| (name.to_owned(), link))),
        },
        routing,
        jobs: vec![JobSpec {
            name: "pair".into(),
            nodes: vec![from, to],
            traffic: Some(Traffic {
                pattern: Pattern::Broadcast { root: 0 },
                message_bytes: bytes,
                interval_ps: 1,
                intervals: Some(1),
                arrival: Arrival::Constant { jitter_ps: 0 },
                first: First::AtZero,
            }),
            program: None,
            record: Record::EveryMessage,
            routing: None,
            bursts: None,
            class: 0,
        }],
        stop: StopSpec { jobs: vec![0], at_ps: None },
        measure: MeasureSpec {
            from_ps: 0,
            until_ps: None,
            arrivals_every_ps: None,
            blame: false,
            roots: false,
            series: false,
            operations: false,
            reordering: false,
        },
        prepared: Prepared::default(),
        sensing: Sensing::default(),
        failures: Failures::default(),
    }
}

/// Link classes on the way between two nodes: the injection link, links between routers, the ejection link.
const PAIRS: [(&str, (u32, u32), &[usize]); 3] = [
    ("same leaf", (0, 1), &[0, 0]),
    ("same group", (0, 2), &[0, 1, 1, 0]),
    ("different group", (1, 11), &[0, 1, 2, 1, 0]),
];

/// The closed form, for k packets on one path of links 0 ..= m without contention.
///
/// Let `S_h` be the serialisation of a full packet on link h, `s_h` that of the last one, `d` the sum of all wire
/// latencies and router delays. The end of packet j on link h obeys
/// `E(j, h) = max(E(j, h - 1) + delay, E(j - 1, h)) + S_h`: a packet starts when it has come and the one before has
/// gone. Unrolled, the end of the last packet on the last link is the longest of all staircase walks from (first
/// packet, link 0) to (last packet, link m), each step costing the serialisation at the place stepped on; every walk
/// crosses all wires once, so `d` adds to all of them. A walk moves on to the last packet at some link i. Before that
/// it passes k - 1 full packets on links 0 ..= i: it steps on each of these links at least once and spends the other
/// k - 2 steps best on the slowest of them. After that it steps on links i ..= m with the last packet:
///
/// `max over i of (sum_{h<=i} S_h + (k - 2) max_{h<=i} S_h + sum_{h>=i} s_h) + d + overhead`.
///
/// A message of one packet is simply `sum of s_h + d + overhead`.
fn closed_form(bandwidths: [u64; 3], path: &[usize], bytes: u64) -> u64 {
    let latencies = [5_001, 20_011, 300_017];
    let packets = bytes.div_ceil(u64::from(PACKET));
    let last = bytes - (packets - 1) * u64::from(PACKET);
    let serialise = |bytes: u64| -> Vec<u64> {
        path.iter().map(|&c| (u128::from(bytes) * 10_u128.pow(18)).div_ceil(u128::from(bandwidths[c])) as u64).collect()
    };
    let (full, rest) = (serialise(u64::from(PACKET)), serialise(last));
    let wires: u64 = path.iter().map(|&c| latencies[c]).sum();
    let delays = wires + ROUTER_DELAY * (path.len() as u64 - 1) + OVERHEAD;
    let turning_at = |i: usize| {
        let slowest = full[..=i].iter().max().expect("a path has links");
        full[..=i].iter().sum::<u64>() + (packets - 2) * slowest + rest[i..].iter().sum::<u64>()
    };
    let work = if packets == 1 { rest.iter().sum() } else { (0..path.len()).map(turning_at).max().expect("links") };
    work + delays
}

fn routings() -> Vec<RoutingSpec> {
    let fpar = RoutingSpec::Fpar {
        threshold_ppm: 1_000_000,
        compare: Compare::AtMost,
        candidates: FparCandidates::AllGroups,
        channel_switch: ChannelSwitch::Intermediate,
    };
    let [random, least] =
        [Select::Random, Select::LeastLoaded].map(|select| RoutingSpec::Minimal { select, gateways: None });
    vec![random, least, fpar]
}

fn check(bandwidths: [u64; 3], spines: u32, bytes: u64) {
    for (what, pair, path) in PAIRS {
        for routing in routings() {
            let spec = spec(bandwidths, spines, routing, pair, bytes);
            let output = odonata_reference::run(&spec, &mut ()).expect("it runs");
            let expected = closed_form(bandwidths, path, bytes);
            let case = format!("{bytes} bytes, {what}, {:?}", spec.routing);
            assert_eq!(output.messages.latency_ps, [expected], "{case}");
            assert_eq!(output.end_ps, expected, "{case}");
            assert_eq!(output.jobs[0].hops, output.jobs[0].packets * (path.len() as u64 - 2), "{case}");
            assert_eq!(output.jobs[0].minimal, output.jobs[0].packets, "{case}");
        }
    }
}

const GB: u64 = 1_000_000_000_000_000;

#[test]
fn one_packet_takes_the_sum_of_its_parts() {
    for spines in 1..=3 {
        for bytes in [1, 7, 999, 1000] {
            check([17 * GB / 3, 4 * GB, 3 * GB], spines, bytes);
        }
    }
}

#[test]
fn packets_of_a_message_are_pipelined() {
    // One spine: all packets take one path. The slowest link is the first, the second or the third one; or all tie.
    for bandwidths in [[2 * GB, 5 * GB, 7 * GB], [9 * GB, 2 * GB, 3 * GB], [9 * GB, 7 * GB, GB], [4 * GB; 3]] {
        for bytes in [1001, 1999, 2000, 2001, 5000, 17_123] {
            check(bandwidths, 1, bytes);
        }
    }
}

/// With room for one packet behind the injection link, the next one may start when the credit of the one before has
/// come back: one packet for each round trip of injection, decision, ejection and credit. Catches credits that come
/// back at the wrong time and stalled time that is measured wrongly.
#[test]
fn a_buffer_of_one_packet_lets_one_packet_through_each_round_trip() {
    let ser = 1_250_000; // 1000 B at 0.8 GB/s
    for packets in [2, 3, 10] {
        let mut spec = spec([4 * GB / 5, GB, GB], 1, routings()[0].clone(), (0, 1), packets * u64::from(PACKET));
        let node = spec.fabric.links.get_mut("node").expect("there are nodes");
        node.buffer_bytes = u64::from(PACKET);
        let way = ser + node.latency_ps + ROUTER_DELAY + ser;
        let round_trip = way + node.latency_ps + node.credit_delay_ps;
        let latency = node.latency_ps;
        let output = odonata_reference::run(&spec, &mut ()).expect("it runs");
        let last_starts = OVERHEAD + (packets - 1) * round_trip;
        assert_eq!(output.messages.latency_ps, [last_starts + way + latency], "{packets} packets");
        let injection = output.links.stalled_ps.len() - 12; // row of node 0 of 12
        assert_eq!(output.links.stalled_ps[injection], last_starts, "{packets} packets");
        assert_eq!(output.links.stalled_ps.iter().sum::<u64>(), last_starts, "nothing else waits");
    }
}
