//! Machines and specifications by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use odonata_sim::Spec;
use odonata_sim::routing::direct::Direct;
use odonata_sim::spec::{
    AriesMode, Delivery, Entropy, FabricSpec, Failures, Gateways, InsideGroup, JobSpec, Knowledge, LinkSpec,
    MAX_CHANNELS, MeasureSpec, NicOrder, NicSpec, Prepared, Rail, RoutingSpec, SPEC_VERSION, Select, Sensing, StopSpec,
    Switching, TopologySpec, Via,
};
use odonata_topology::{CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, Machine, Peer, RouterId, SlotId};

use crate::support::{PACKET, link};

pub const NEAREST: Gateways = Gateways::Nearest;
pub const ALL: Gateways = Gateways::All;

/// `[groups, routers, nodes_per_router, global_links_per_router]`, relative.
pub fn dragonfly(size: [u32; 4]) -> DragonflySpec {
    let [groups, routers, nodes_per_router, global_links_per_router] = size;
    let arrangement = DragonflyArrangement::Relative;
    DragonflySpec {
        groups,
        routers,
        nodes_per_router,
        global_links_per_router,
        arrangement,
        ..DragonflySpec::default()
    }
}

/// `[groups, rows, columns, nodes_per_router, global_links_per_router]`, absolute; one link along rows, two along
/// columns.
pub fn cascade(size: [u32; 5]) -> CascadeSpec {
    let [groups, rows, columns, nodes_per_router, global_links_per_router] = size;
    let arrangement = DragonflyArrangement::Absolute;
    CascadeSpec {
        groups,
        rows,
        columns,
        nodes_per_router,
        row_links: 1,
        column_links: 2,
        global_links_per_router,
        arrangement,
        ..CascadeSpec::default()
    }
}

pub fn flat(size: [u32; 4]) -> TopologySpec {
    TopologySpec::Dragonfly(dragonfly(size))
}

pub fn grid(size: [u32; 5]) -> TopologySpec {
    TopologySpec::Cascade(cascade(size))
}

/// A run of `jobs` until all of them have ended. All links have 10 GB/s, no latency, and more room than any test fills;
/// there are as many channels as there may be.
pub fn spec(topology: TopologySpec, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
    let classes = match topology {
        TopologySpec::Cascade(_) => odonata_topology::dragonfly::CASCADE_CLASSES,
        _ => odonata_topology::dragonfly::CLASSES,
    };
    let links: BTreeMap<String, LinkSpec> = classes.iter().map(|&name| (name.to_owned(), link(10))).collect();
    Spec {
        version: SPEC_VERSION,
        seed: 1,
        compat: None,
        compat_without: Vec::new(),
        topology,
        fabric: FabricSpec {
            packet_bytes: PACKET as u32,
            router_delay_ps: 100_000,
            channels: MAX_CHANNELS,
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
            links,
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

pub fn minimal(select: Select, gateways: Gateways) -> RoutingSpec {
    RoutingSpec::Minimal { select, gateways: Some(gateways) }
}

pub fn valiant(via: Via, select: Select, gateways: Gateways) -> RoutingSpec {
    RoutingSpec::Valiant { via, select, inside: None, gateways: Some(gateways) }
}

/// With this many candidates of each kind.
pub fn ugal(knowledge: Knowledge, via: Via, candidates: u8, gateways: Gateways) -> RoutingSpec {
    let (minimal_candidates, other_candidates) = (candidates, candidates);
    let (factor_milli, bias_bytes) = (2_000, 0);
    RoutingSpec::Ugal {
        knowledge,
        via,
        inside: None,
        minimal_candidates,
        other_candidates,
        factor_milli,
        bias_bytes,
        gateways,
    }
}

/// As [`ugal`].
pub fn par(via: Via, candidates: u8, gateways: Gateways) -> RoutingSpec {
    let (minimal_candidates, other_candidates) = (candidates, candidates);
    RoutingSpec::Par {
        via,
        inside: None,
        minimal_candidates,
        other_candidates,
        factor_milli: 2_000,
        bias_bytes: 0,
        gateways,
    }
}

pub fn adaptive_local(gateways: Gateways) -> RoutingSpec {
    RoutingSpec::AdaptiveLocal { factor_milli: 2_000, inside: None, gateways }
}

/// Valiant, UGAL and PAR via a group and [`adaptive_local`], all also inside groups.
pub fn inside_groups(gateways: Gateways) -> [RoutingSpec; 4] {
    let (inside, select) = (Some(InsideGroup::Router), Select::Random);
    let (via, minimal_candidates, other_candidates, factor_milli, bias_bytes) = (Via::Group, 2, 2, 2_000, 0);
    [
        RoutingSpec::Ugal {
            knowledge: Knowledge::Local,
            via,
            inside,
            minimal_candidates,
            other_candidates,
            factor_milli,
            bias_bytes,
            gateways,
        },
        RoutingSpec::Par { via, inside, minimal_candidates, other_candidates, factor_milli, bias_bytes, gateways },
        RoutingSpec::Valiant { via: Via::Group, select, inside, gateways: Some(gateways) },
        RoutingSpec::AdaptiveLocal { factor_milli: 2_000, inside, gateways },
    ]
}

/// With biases of two and of eight packets.
pub fn aries(mode: AriesMode, gateways: Gateways) -> RoutingSpec {
    RoutingSpec::Aries { mode, bias_low_bytes: 2 * PACKET, bias_high_bytes: 8 * PACKET, gateways }
}

pub const ARIES: [AriesMode; 7] = [
    AriesMode::Adaptive0,
    AriesMode::Adaptive1,
    AriesMode::Adaptive2,
    AriesMode::Adaptive3,
    AriesMode::MinHash,
    AriesMode::NminHash,
    AriesMode::InOrder,
];

/// A routing and its row of the table in docs/model.md, section 6: stages, stages with bridged pairs, and the most
/// links as `(D, links)` for `D * diameter + links`.
#[derive(Clone, Debug)]
pub struct Known {
    pub routing: RoutingSpec,
    pub stages: u8,
    pub bridged: u8,
    pub links: (u8, u8),
}

/// Every routing with every option that changes which paths there are.
pub fn routings(gateways: Gateways) -> Vec<Known> {
    let mut all = Vec::new();
    let mut add = |stages, links, routing| all.push(Known { routing, stages, bridged: stages.max(3), links });
    for select in [Select::Random, Select::Hash, Select::LeastLoaded] {
        add(2, (2, 1), minimal(select, gateways));
        add(3, (3, 2), valiant(Via::Group, select, gateways));
        add(4, (4, 2), valiant(Via::Router, select, gateways));
    }
    for knowledge in [Knowledge::Local, Knowledge::Global] {
        add(3, (3, 2), ugal(knowledge, Via::Group, 2, gateways));
        add(4, (4, 2), ugal(knowledge, Via::Router, 1, gateways));
    }
    add(4, (4, 2), par(Via::Group, 1, gateways));
    add(5, (5, 2), par(Via::Router, 2, gateways));
    add(3, (3, 2), adaptive_local(gateways));
    for routing in inside_groups(gateways) {
        let stages = if matches!(routing, RoutingSpec::Par { .. }) { 4 } else { 3 };
        add(stages, (stages, 2), routing);
    }
    for mode in ARIES {
        let (stages, links) = match mode {
            AriesMode::MinHash | AriesMode::InOrder => (2, (2, 1)),
            AriesMode::NminHash => (3, (3, 2)),
            _ => (4, (4, 2)),
        };
        add(stages, links, aries(mode, gateways));
    }
    all
}

/// A machine and its failures.
#[derive(Clone, Debug)]
pub struct Made {
    pub name: &'static str,
    pub topology: TopologySpec,
    pub failures: Failures,
}

impl Made {
    pub fn build(&self) -> Dragonfly {
        match Machine::build(&self.topology, &self.failures) {
            Ok(Machine::Dragonfly(machine)) => Arc::unwrap_or_clone(machine),
            other => panic!("{}: {other:?}", self.name),
        }
    }

    pub fn spec(&self, routing: RoutingSpec, jobs: Vec<JobSpec>) -> Spec {
        let mut spec = spec(self.topology.clone(), routing, jobs);
        spec.failures = self.failures.clone();
        spec
    }
}

fn made(name: &'static str, topology: TopologySpec) -> Made {
    Made { name, topology, failures: Failures::default() }
}

/// The machine without all links between these pairs of routers.
pub fn without(mut made: Made, pairs: &[(u32, u32)]) -> Made {
    let machine = Made { failures: Failures::default(), ..made.clone() }.build();
    let network = &machine.network;
    for slot in 0..network.peer.len() {
        if let Peer::Router(far) = network.peer[slot] {
            let (router, port) = network.port_of(SlotId(slot as u32));
            if pairs.contains(&(router.0, network.router_of_slot[far.index()].0)) {
                made.failures.links.push([router.0, u32::from(port.0)]);
            }
        }
    }
    assert!(!made.failures.links.is_empty());
    made
}

/// The machine without these routers.
pub fn without_routers(mut made: Made, routers: &[u32]) -> Made {
    made.failures.routers.extend(routers);
    made
}

/// One and two groups, some with several cables per pair, one smaller last group, parallel links; groups without a
/// cable between them; failed links, which make paths longer and need more channels; failed routers.
pub fn machines() -> Vec<Made> {
    let ring = DragonflySpec {
        arrangement: DragonflyArrangement::Explicit,
        global_links: Some(vec![[0, 3], [4, 6], [7, 9], [10, 1]]),
        ..dragonfly([4, 3, 1, 2])
    };
    let uneven = DragonflySpec { last_group_routers: Some(2), ..dragonfly([4, 3, 1, 2]) };
    let double = DragonflySpec { local_links: 2, ..dragonfly([3, 2, 1, 2]) };
    let unjoined = CascadeSpec { pair_links: vec![[0, 1, 0]], ..cascade([3, 2, 2, 1, 1]) };
    let short = CascadeSpec { last_group_rows: Some(1), ..cascade([3, 2, 2, 1, 2]) };
    let line = made("a dragonfly whose groups are lines", flat([3, 4, 1, 1]));
    let path = made("a cascade with a path for a group", grid([3, 2, 2, 1, 2]));
    vec![
        made("one group", flat([1, 4, 1, 0])),
        made("two groups", flat([2, 3, 1, 1])),
        made("one router a group", flat([4, 1, 1, 3])),
        made("a full dragonfly", flat([5, 4, 1, 1])),
        made("several cables a pair", flat([3, 3, 1, 2])),
        made("parallel links", TopologySpec::Dragonfly(double)),
        made("a smaller last group", TopologySpec::Dragonfly(uneven)),
        made("a ring of groups", TopologySpec::Dragonfly(ring)),
        made("one grid", grid([1, 2, 3, 1, 0])),
        made("a cascade", grid([3, 2, 2, 1, 1])),
        made("a cascade with several cables a pair", grid([3, 2, 3, 1, 1])),
        made("a cascade with a smaller last group", TopologySpec::Cascade(short)),
        made("a cascade with groups that are not joined", TopologySpec::Cascade(unjoined)),
        without(line, &[(0, 2), (0, 3), (1, 3), (4, 6), (4, 7), (5, 7)]),
        without(path, &[(0, 2)]),
        without(made("a dragonfly without a cable", flat([4, 3, 1, 1])), &[(0, 5), (1, 7), (3, 4)]),
        without_routers(made("a dragonfly without a router", flat([4, 4, 1, 1])), &[5]),
        without_routers(made("a cascade without routers", grid([3, 2, 3, 1, 1])), &[1, 9]),
        without_routers(made("a dragonfly without a group", flat([4, 2, 1, 2])), &[2, 3]),
    ]
}

/// The routings of a specification, on its machine.
pub fn direct(made: &Made, routing: &RoutingSpec) -> Direct {
    let spec = made.spec(routing.clone(), Vec::new());
    Direct::new(&spec, made.build().into(), &[(odonata_error::path!["routing"], routing.clone())])
        .unwrap_or_else(|e| panic!("{}, {routing:?}: {e}", made.name))
}

/// Whether two groups with working routers have no cable between them.
pub fn bridged(machine: &Dragonfly) -> bool {
    let groups = || (0..machine.network.groups).map(odonata_topology::GroupId);
    let works = |g| {
        let first = machine.network.first_router(g).0;
        (first..first + machine.network.routers_in(g)).any(|r| machine.network.router_works(RouterId(r)))
    };
    groups().any(|a| groups().any(|b| a != b && works(a) && works(b) && machine.cables(a, b).is_empty()))
}
