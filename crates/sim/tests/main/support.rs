//! Specifications by hand: a machine, a fabric that slows nothing down unless a test says so, jobs.

use std::collections::BTreeMap;
use std::sync::Arc;

use odonata_sim::routing::dragonfly_plus::{AnyDragonflyPlusAlgorithm, Mixed};
use odonata_sim::spec::{
    Arrival, ChannelSwitch, Compare, Delivery, Entropy, FabricSpec, Failures, First, FparCandidates, JobSpec, LinkSpec,
    MeasureSpec, NicOrder, NicSpec, Pattern, Prepared, Rail, Record, RoutingSpec, SPEC_VERSION, Select, Sensing, Spec,
    StopSpec, Switching, TopologySpec, Traffic, Via,
};
use odonata_sim::{Audit, Output, QueueChoice, run, run_audited};
use odonata_topology::{Arrangement, Bandwidth, DragonflyPlus, DragonflyPlusSpec, Machine};

/// Gigabytes per second in millionths of a byte.
pub const GB: u64 = 1_000_000_000_000_000;

/// Packet size of [`spec`].
pub const PACKET: u64 = 1_000;

/// `[groups, leaves, spines, nodes_per_leaf, global_links_per_spine]`, linear.
pub fn machine(size: [u32; 5], links_per_pair: Option<u32>) -> DragonflyPlusSpec {
    let [groups, leaves, spines, nodes_per_leaf, global_links_per_spine] = size;
    let arrangement = Arrangement::Linear;
    DragonflyPlusSpec {
        groups,
        leaves,
        spines,
        nodes_per_leaf,
        global_links_per_spine,
        links_per_pair,
        arrangement,
        ..DragonflyPlusSpec::default()
    }
}

pub fn build(spec: &Spec) -> DragonflyPlus {
    match spec.machine().expect("the machine can be built") {
        Machine::DragonflyPlus(machine) => Arc::unwrap_or_clone(machine),
        _ => panic!("these tests are about Dragonfly+ machines"),
    }
}

/// The algorithm of a specification's routing on a Dragonfly+.
pub fn algorithm(spec: &Spec) -> AnyDragonflyPlusAlgorithm {
    AnyDragonflyPlusAlgorithm::new(&spec.fabric, &spec.routing, &odonata_error::path!["routing"])
        .expect("there are channels enough")
}

/// The machine of a specification with its routing.
pub fn paths(spec: &Spec) -> Mixed {
    Mixed::new(spec, Arc::new(build(spec)), &[(odonata_error::path!["routing"], spec.routing.clone())])
        .expect("there are channels enough")
}

/// A link of this many GB/s without latency, with larger buffers than any test fills.
pub fn link(gigabytes: u64) -> LinkSpec {
    LinkSpec { bandwidth: Bandwidth(gigabytes * GB), latency_ps: 0, buffer_bytes: 1 << 30, credit_delay_ps: 0 }
}

/// A run of `jobs` until all of them have ended; links between nodes, leaves and spines have 10, 20 and 40 GB/s.
pub fn spec(machine: DragonflyPlusSpec, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
    let links = [("node", link(10)), ("local", link(20)), ("global", link(40))];
    Spec {
        version: SPEC_VERSION,
        seed: 1,
        compat: None,
        compat_without: Vec::new(),
        topology: TopologySpec::DragonflyPlus(machine),
        fabric: FabricSpec {
            packet_bytes: PACKET as u32,
            router_delay_ps: 100_000,
            channels: 2,
            switching: Switching::StoreAndForward,
            header_bytes: 0,
            flit_bytes: 1,
            router: None,
            nic: NicSpec {
                overhead_ps: 0,
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
        stop: StopSpec { jobs: (0..jobs.len() as u32).collect(), at_ps: None },
        jobs,
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

/// The links of a class, mutable.
pub fn link_mut<'s>(spec: &'s mut Spec, class: &str) -> &'s mut LinkSpec {
    spec.fabric.links.get_mut(class).expect("the class exists")
}

/// Constant arrival without jitter, the first messages at time 0.
pub fn job(name: &str, nodes: Vec<u32>, pattern: Pattern, bytes: u64, interval_ps: u64, intervals: u64) -> JobSpec {
    let traffic = Traffic {
        pattern,
        message_bytes: bytes,
        interval_ps,
        intervals: Some(intervals),
        arrival: Arrival::Constant { jitter_ps: 0 },
        first: First::AtZero,
    };
    JobSpec {
        name: name.into(),
        nodes,
        traffic: Some(traffic),
        program: None,
        record: Record::EveryMessage,
        routing: None,
        bursts: None,
        class: 0,
    }
}

/// One message from one node to another at time 0.
pub fn stream(from: u32, to: u32, bytes: u64) -> JobSpec {
    job(&format!("{from} to {to}"), vec![from, to], Pattern::Broadcast { root: 0 }, bytes, 1, 1)
}

pub const MINIMAL: RoutingSpec = RoutingSpec::Minimal { select: Select::Random, gateways: None };

pub fn valiant(via: Via) -> RoutingSpec {
    RoutingSpec::Valiant { via, select: Select::Random, inside: None, gateways: None }
}

pub fn fpar(threshold_ppm: u32, candidates: FparCandidates) -> RoutingSpec {
    let channel_switch = ChannelSwitch::Intermediate;
    RoutingSpec::Fpar { threshold_ppm, compare: Compare::Below, candidates, channel_switch }
}

pub fn prog_adaptive(candidates: FparCandidates) -> RoutingSpec {
    RoutingSpec::ProgAdaptive { threshold_bytes: 0, factor_milli: 1_000, candidates }
}

/// Every routing with every option that changes which paths there are.
pub fn routings() -> Vec<RoutingSpec> {
    let mut all = vec![MINIMAL, RoutingSpec::Minimal { select: Select::LeastLoaded, gateways: None }];
    all.extend([Via::Spine, Via::Leaf].map(valiant));
    for candidates in [FparCandidates::AllGroups, FparCandidates::OneGroup] {
        all.extend([fpar(1_000, candidates), fpar(500_000, candidates), prog_adaptive(candidates)]);
    }
    all
}

pub fn output(spec: &Spec) -> Output {
    run(spec, &mut ()).unwrap_or_else(|e| panic!("{e}\nspec: {}", spec.to_json())).0
}

/// The output with this queue, and the audit at its end, which must be balanced.
pub fn audited(spec: &Spec, queue: QueueChoice) -> (Output, Audit) {
    let (output, _, audit) =
        run_audited(spec, queue).unwrap_or_else(|e| panic!("{queue:?}: {e}\nspec: {}", spec.to_json()));
    assert!(audit.balanced(), "{queue:?}: {audit:?}\nspec: {}", spec.to_json());
    (output, audit)
}

/// The output and the audit, which must be the same with both queues.
pub fn audited_with_both_queues(spec: &Spec) -> (Output, Audit) {
    let [wheel, ordered] = [QueueChoice::Wheel, QueueChoice::Ordered].map(|queue| audited(spec, queue));
    assert!(wheel.0 == ordered.0, "the queues differ\nspec: {}", spec.to_json());
    assert_eq!(wheel.1, ordered.1, "the queues differ\nspec: {}", spec.to_json());
    wheel
}

/// Picoseconds that `bytes` take at this many GB/s, rounded up.
pub fn ser(bytes: u64, gigabytes: u64) -> u64 {
    (bytes * 1_000).div_ceil(gigabytes)
}
