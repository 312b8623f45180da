//! A seeded generator of small specifications that reach into every corner of the model.
#![allow(dead_code)] // each test binary uses its part

use std::collections::BTreeMap;

use odonata_sim::Spec;
use odonata_sim::engine::random::mix64;
use odonata_sim::spec::{
    Arrival, ChannelSwitch, Compare, FabricSpec, Failures, First, FparCandidates, JobSpec, LinkSpec, MeasureSpec,
    NicOrder, NicSpec, Pattern, Rail, Record, RoutingSpec, SPEC_VERSION, Select, Sensing, StopSpec, TopologySpec,
    Traffic, Via,
};
use odonata_topology::{Arrangement, Bandwidth, DragonflyPlusSpec};

/// A stream of choices.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(mix64(seed ^ 0x0d0a_7a5e))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0)
    }

    /// Uniform in `low ..= high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.within(0, options.len() as u64 - 1) as usize].clone()
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.within(1, 100) <= percent
    }
}

/// A valid specification of a small machine for a seed.
pub fn spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed);
    let topology = topology(&mut c);
    let fabric = fabric(&mut c);
    on(c, seed, topology, fabric)
}

/// A valid specification for a seed in which events lie a few picoseconds apart: packets of a few bytes, fast links,
/// wires without length, routers without delay.
pub fn instant_spec(seed: u64) -> Spec {
    let mut c = Choices::new(seed ^ 0x1257_a217);
    let topology = topology(&mut c);
    let fabric = instant_fabric(&mut c);
    on(c, seed, topology, fabric)
}

/// A valid specification of a machine of 144 nodes for a seed.
pub fn larger_spec(seed: u64) -> Spec {
    let topology = DragonflyPlusSpec {
        groups: 9,
        leaves: 4,
        spines: 4,
        nodes_per_leaf: 4,
        global_links_per_spine: 4,
        links_per_pair: None,
        arrangement: Arrangement::Linear,
        ..DragonflyPlusSpec::default()
    };
    let mut c = Choices::new(seed);
    let fabric = fabric(&mut c);
    on(c, seed, topology, fabric)
}

fn on(mut c: Choices, seed: u64, topology: DragonflyPlusSpec, fabric: FabricSpec) -> Spec {
    let routing = routing(&mut c);
    let jobs = jobs(&mut c, &topology, &fabric);
    let (stop, horizon) = stop(&mut c, &jobs);
    let measure = MeasureSpec {
        from_ps: if c.chance(50) { c.within(0, horizon / 2) } else { 0 },
        until_ps: c.chance(30).then(|| c.within(horizon / 2 + 1, horizon + 1)),
        arrivals_every_ps: c.chance(60).then(|| c.within(horizon / 40 + 1, horizon)),
    };
    let topology = TopologySpec::DragonflyPlus(topology);
    let spec = Spec {
        version: SPEC_VERSION,
        seed: c.next(),
        compat: None,
        topology,
        fabric,
        routing,
        sensing: Sensing::default(),
        failures: Failures::default(),
        jobs,
        stop,
        measure,
    };
    spec.check().unwrap_or_else(|e| panic!("the generator made an invalid specification from seed {seed}: {e}"));
    spec
}

fn topology(c: &mut Choices) -> DragonflyPlusSpec {
    loop {
        let groups = c.of(&[1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5]);
        let spec = DragonflyPlusSpec {
            groups,
            leaves: c.within(1, 3) as u32,
            spines: c.within(1, 3) as u32,
            nodes_per_leaf: c.within(1, 3) as u32,
            global_links_per_spine: c.within(1, 6) as u32,
            links_per_pair: (groups > 1 && c.chance(50)).then(|| c.within(1, 3) as u32),
            arrangement: c.of(&[Arrangement::Linear, Arrangement::Parallel]),
            ..DragonflyPlusSpec::default()
        };
        let nodes = spec.groups * spec.leaves * spec.nodes_per_leaf;
        if nodes >= 2 && odonata_topology::DragonflyPlus::build(&spec).is_ok() {
            return spec;
        }
    }
}

fn fabric(c: &mut Choices) -> FabricSpec {
    let packet_bytes = c.of(&[1, 8, 64, 100, 256, 512, 1024, 2048]);
    // Equal bandwidths without latencies make many events tie, odd ones make none tie: both are wanted.
    let plain = c.chance(40);
    // Slow links between groups fill the queues that adaptive routing looks at.
    let slow = c.of(&[1, 1, 4, 10]);
    let mut links = BTreeMap::new();
    for class in ["node", "local", "global"] {
        let bandwidth = if plain {
            Bandwidth(8_000_000_000_000_000)
        } else {
            Bandwidth(c.within(1_000_000_000_000_000, 20_000_000_000_000_000))
        };
        let bandwidth = if class == "global" { Bandwidth(bandwidth.0 / slow) } else { bandwidth };
        let delay = |c: &mut Choices| if c.chance(if plain { 70 } else { 30 }) { 0 } else { c.within(1, 200_000) };
        let (latency_ps, credit_delay_ps) = (delay(c), delay(c));
        let packets = c.of(&[1, 1, 2, 4, 16, 200]);
        let extra = if c.chance(30) { c.within(0, u64::from(packet_bytes)) } else { 0 };
        let buffer_bytes = u64::from(packet_bytes) * packets + extra;
        links.insert(class.to_owned(), LinkSpec { bandwidth, latency_ps, buffer_bytes, credit_delay_ps });
    }
    FabricSpec {
        packet_bytes,
        router_delay_ps: if c.chance(40) { 0 } else { c.within(1, 150_000) },
        channels: c.within(2, 3) as u8,
        nic: NicSpec {
            overhead_ps: if c.chance(50) { 0 } else { c.within(1, 50_000) },
            order: c.of(&[NicOrder::Fcfs, NicOrder::RoundRobin]),
            rail: Rail::Hash,
        },
        links,
    }
}

fn instant_fabric(c: &mut Choices) -> FabricSpec {
    let packet_bytes = c.of(&[1, 4, 4, 4, 8]);
    let same = c.chance(50).then_some(Bandwidth(1_000_000_000_000_000_000)); // one byte each picosecond
    let mut links = BTreeMap::new();
    for class in ["node", "local", "global"] {
        let bandwidth = same.unwrap_or_else(|| Bandwidth(c.within(20_000_000_000_000_000, 2_000_000_000_000_000_000)));
        let delay = |c: &mut Choices| if c.chance(80) { 0 } else { c.within(1, 5) };
        let (latency_ps, credit_delay_ps) = (delay(c), delay(c));
        let buffer_bytes = u64::from(packet_bytes) * c.of(&[1, 1, 2, 5, 100]);
        links.insert(class.to_owned(), LinkSpec { bandwidth, latency_ps, buffer_bytes, credit_delay_ps });
    }
    let overhead_ps = if c.chance(80) { 0 } else { c.within(1, 10) };
    FabricSpec {
        packet_bytes,
        router_delay_ps: if c.chance(70) { 0 } else { c.within(1, 4) },
        channels: 2,
        nic: NicSpec { overhead_ps, order: c.of(&[NicOrder::Fcfs, NicOrder::RoundRobin]), rail: Rail::Hash },
        links,
    }
}

fn routing(c: &mut Choices) -> RoutingSpec {
    let select = c.of(&[Select::Random, Select::LeastLoaded]);
    let candidates = c.of(&[FparCandidates::AllGroups, FparCandidates::OneGroup]);
    match c.within(0, 9) {
        0 | 1 => RoutingSpec::Minimal { select, gateways: None },
        2 | 3 => RoutingSpec::Valiant { via: c.of(&[Via::Spine, Via::Leaf]), select, gateways: None },
        4 | 5 => RoutingSpec::ProgAdaptive {
            threshold_bytes: c.of(&[0, 100, 2048, 100_000]),
            factor_milli: c.of(&[0, 333, 500, 1000, 2000]),
            candidates,
        },
        _ => RoutingSpec::Fpar {
            threshold_ppm: c.of(&[0, 1, 10_000, 100_000, 250_000, 500_000, 1_000_000]),
            compare: c.of(&[Compare::Below, Compare::AtMost]),
            candidates,
            channel_switch: ChannelSwitch::Intermediate,
        },
    }
}

fn jobs(c: &mut Choices, topology: &DragonflyPlusSpec, fabric: &FabricSpec) -> Vec<JobSpec> {
    let per_group = topology.leaves * topology.nodes_per_leaf;
    let mut free: Vec<u32> = (0..topology.groups * per_group).collect();
    for at in (1..free.len()).rev() {
        free.swap(at, c.within(0, at as u64) as usize);
    }
    let wanted = c.within(1, 3).min(free.len() as u64 / 2) as usize;
    let mut jobs = Vec::new();
    for index in 0..wanted {
        let most = free.len() - 2 * (wanted - index - 1);
        let ranks = if index + 1 == wanted && c.chance(60) { most } else { c.within(2, most as u64) as usize };
        let mut nodes: Vec<u32> = free.drain(..ranks).collect();
        if c.chance(40) {
            nodes.sort_unstable();
        }
        let pattern = pattern(c, &nodes, per_group);
        let traffic = traffic(c, pattern, fabric);
        let record = c.of(&[
            Record::EveryMessage,
            Record::EveryMessage,
            Record::EveryMessage,
            Record::Histogram,
            Record::Nothing,
        ]);
        jobs.push(JobSpec { name: format!("job-{index}"), nodes, traffic, record, routing: None });
    }
    jobs
}

fn pattern(c: &mut Choices, nodes: &[u32], per_group: u32) -> Pattern {
    let ranks = nodes.len() as u64;
    let mut in_group: BTreeMap<u32, u32> = BTreeMap::new();
    for node in nodes {
        *in_group.entry(node / per_group).or_default() += 1;
    }
    let level = in_group.len() > 1 && in_group.values().all(|n| Some(n) == in_group.values().next());
    match c.within(0, 9) {
        0..=2 => Pattern::UniformRandom {},
        3 | 4 => Pattern::Tornado { offset: c.within(1, ranks - 1) + ranks * c.within(0, 1) },
        5 | 6 => Pattern::Stencil3d { grid: grid(c, ranks as u32) },
        7 => Pattern::Broadcast { root: c.within(0, ranks - 1) as u32 },
        _ if level => Pattern::GroupPeers {},
        _ => Pattern::UniformRandom {},
    }
}

/// A random way to write a number as a product of three.
fn grid(c: &mut Choices, ranks: u32) -> [u32; 3] {
    let divisors = |n: u32| (1..=n).filter(|d| n.is_multiple_of(*d)).collect::<Vec<_>>();
    let x = c.of(&divisors(ranks));
    let y = c.of(&divisors(ranks / x));
    [x, y, ranks / x / y]
}

fn traffic(c: &mut Choices, pattern: Pattern, fabric: &FabricSpec) -> Traffic {
    let packet = u64::from(fabric.packet_bytes);
    let message_bytes = match c.within(0, 4) {
        0 => packet,
        1 => c.within(1, packet),
        2 => packet * c.within(2, 4),
        _ => c.within(1, packet * 5),
    };
    // From light load to several times what the injection link takes.
    let ser = fabric.links["node"].bandwidth.serialisation_ps(message_bytes) + fabric.nic.overhead_ps;
    let interval_ps = (ser * c.of(&[20, 100, 200, 500, 3_000]) / 100).max(1);
    let jitter_ps = c.of(&[0, 0, 1_000, interval_ps]);
    Traffic {
        pattern,
        message_bytes,
        interval_ps,
        intervals: c.chance(70).then(|| c.of(&[1, 2, 5, 12, 40])),
        arrival: c.of(&[Arrival::Constant { jitter_ps }, Arrival::Poisson {}, Arrival::Staggered { jitter_ps }]),
        first: c.of(&[First::AfterInterval, First::AtZero]),
    }
}

/// When the run ends, and about how long it takes.
fn stop(c: &mut Choices, jobs: &[JobSpec]) -> (StopSpec, u64) {
    let finite: Vec<u32> = (0..jobs.len() as u32).filter(|&j| jobs[j as usize].traffic.intervals.is_some()).collect();
    let awaited: Vec<u32> = finite.into_iter().filter(|_| c.chance(80)).collect();
    // Limits how often the fastest job begins an interval, so that a run stays small.
    let fastest = jobs.iter().map(|j| j.traffic.interval_ps).min().expect("there is a job");
    let slowest = jobs.iter().map(|j| j.traffic.interval_ps).max().expect("there is a job");
    let horizon = (fastest * 120).min(slowest * 40).max(20);
    let bounded = jobs.iter().all(|j| j.traffic.intervals.is_some());
    let at_ps = (awaited.is_empty() || !bounded || c.chance(30)).then(|| c.within(horizon / 4, horizon));
    (StopSpec { jobs: awaited, at_ps }, horizon)
}
