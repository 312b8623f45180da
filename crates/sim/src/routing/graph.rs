//! Routing on any graph (docs/model.md, section 6, "Positions in a graph").
//!
//! The channel of a packet is the number of links between routers that it has taken. So channels rise along every path,
//! and packets never wait for each other in a cycle, whatever the graph. Packets of `autonet` stay on channel 0, on paths
//! that go up and then down in one order of all routers; those of the others leave channel 0 at once.

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path};
use odonata_topology::{Address, Failures, Graph, GraphSpec, Network, Port, RouterId, UpDown};

use super::{
    AllPaths, Branch, CongestionMetric, Loads, PathGranularity, Ports, RouterPlace, RoutingAlgorithm, enough_channels,
    not_for,
};
use crate::engine::random::{below32, packet_random};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{FabricSpec, RoutingSpec, Select, Via};

/// The kind of machine, as the list of routings names it.
const MACHINE_KIND: &str = "graph";
/// First of the random numbers for a choice among minimal ports, for one among those of a non-minimal path and what
/// lies between two of these, and for intermediate routers.
const MINIMAL_BASE: u8 = 0;
const OTHER_BASE: u8 = 8;
const APART: u8 = 8;
const INTERMEDIATE_BASE: u8 = 24;

/// A routing of a run.
#[derive(Clone, Debug)]
enum Algorithm {
    Minimal(Select),
    Valiant(Select),
    UgalHops {
        candidates: u8,
        /// Time of the bias on a link, by class.
        bias: Vec<u64>,
    },
    Autonet(Select),
}

impl Algorithm {
    /// The algorithm of a specification; none if it is not for these machines. `time` is that of so many bytes, by class.
    fn of(routing: &RoutingSpec, times: impl Fn(u64) -> Vec<u64>) -> Option<Self> {
        match *routing {
            RoutingSpec::Minimal { select, .. } => Some(Self::Minimal(select)),
            RoutingSpec::Valiant { via: Via::Router, select, inside: None, .. } => Some(Self::Valiant(select)),
            RoutingSpec::UgalHops { other_candidates, bias_bytes } => {
                Some(Self::UgalHops { candidates: other_candidates, bias: times(bias_bytes) })
            }
            RoutingSpec::Autonet { select } => Some(Self::Autonet(select)),
            _ => None,
        }
    }

    /// Channels that it needs, where the longest shortest path has so many links: with rising channels, as many as the
    /// most links of its paths.
    fn channels(&self, diameter: u16) -> u16 {
        let halves = match self {
            Self::Autonet(_) => return 1,
            Self::Minimal(_) => 1,
            Self::Valiant(_) | Self::UgalHops { .. } => 2,
        };
        (halves * diameter).max(1)
    }

    /// How a port is picked where packets only go on.
    fn select(&self) -> Select {
        match self {
            Self::Minimal(select) | Self::Valiant(select) | Self::Autonet(select) => *select,
            Self::UgalHops { .. } => Select::LeastLoaded,
        }
    }
}

/// Virtual channels that a routing needs on a graph without failures; none if it is not for these machines, or if there
/// is no such machine.
pub(super) fn channels(routing: &RoutingSpec, machine: &GraphSpec) -> Option<u8> {
    let algorithm = Algorithm::of(routing, |_| Vec::new())?;
    if matches!(algorithm, Algorithm::Autonet(_)) {
        return Some(1);
    }
    let diameter = Graph::build(machine, &Failures::default()).ok()?.diameter();
    Some(u8::try_from(algorithm.channels(diameter)).unwrap_or(u8::MAX))
}

/// A graph with the routings of a run.
#[derive(Clone, Debug)]
pub struct GraphRouting {
    machine: Arc<Graph>,
    /// By the number that a packet carries.
    algorithms: Vec<Algorithm>,
    /// The paths of `autonet`, if a job has it.
    up_down: Option<Arc<UpDown>>,
}

impl GraphRouting {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is not for these machines, or needs more channels than the fabric has.
    pub fn new(machine: Arc<Graph>, fabric: &FabricSpec, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let times = |bytes: u64| {
            let time = |class: &&str| fabric.links[*class].bandwidth.serialisation_ps(bytes);
            machine.network.classes.iter().map(time).collect()
        };
        let algorithm = |(at, routing): &(Path, RoutingSpec)| {
            if routing.gateways().is_some() {
                return Err(ErrorKind::NeedlessGateways { machine: MACHINE_KIND }.at(at.join("gateways")));
            }
            let Some(algorithm) = Algorithm::of(routing, times) else {
                return Err(not_for(MACHINE_KIND, routing, at));
            };
            enough_channels(routing.name(), algorithm.channels(machine.diameter()), fabric)?;
            Ok(algorithm)
        };
        let algorithms = specs.iter().map(algorithm).collect::<Result<Vec<_>, _>>()?;
        let climbs = algorithms.iter().any(|algorithm| matches!(algorithm, Algorithm::Autonet(_)));
        let up_down = climbs.then(|| UpDown::new(&machine)).transpose()?.map(Arc::new);
        Ok(Self { machine, algorithms, up_down })
    }

    /// The ports of `autonet`: those of shortest paths that go up no more once they have come down.
    #[inline]
    fn legal(&self, from: RouterId, to: RouterId, down: bool) -> &[u16] {
        self.up_down.as_ref().map_or(&[], |paths| paths.ports(from, to, down))
    }

    /// Whether a link goes down in the order of `autonet`.
    #[inline]
    fn goes_down(&self, from: RouterId, port: u16) -> bool {
        self.up_down.as_ref().is_some_and(|paths| paths.goes_down(&self.machine.network, from, port))
    }

    /// The decision of `autonet`. A packet that has come down is in its second phase.
    #[inline]
    fn climb(
        &self,
        here: RouterId,
        packet: &Event,
        select: Select,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> RouteDecision {
        let down = packet.in_second_phase();
        let port = self.pick(self.legal(here, router(packet.to), down), packet, select, loads);
        RouteDecision::new(packet, port, 0).marked(false, !down && self.goes_down(here, port))
    }

    /// One of several equal ports.
    #[inline(always)]
    fn pick(&self, ports: &[u16], packet: &Event, select: Select, loads: &Loads<'_, impl CongestionMetric>) -> u16 {
        let ports = Ports::list(0, ports);
        match select {
            Select::Random | Select::Hash => ports.any(packet.key, packet.hop(), MINIMAL_BASE),
            Select::LeastLoaded => loads.least(&ports, packet.key, packet.hop(), MINIMAL_BASE),
        }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Graph {
        &self.machine
    }

    #[inline(always)]
    fn algorithm(&self, routing: u8) -> &Algorithm {
        &self.algorithms[usize::from(routing)]
    }

    /// The router that is random number `k` of those with nodes other than two, if there are others and it works.
    #[inline]
    fn through(&self, packet: &Event, k: u8, from: RouterId, to: RouterId) -> Option<RouterId> {
        let others = self.others(from);
        let index = (others > 0).then(|| below32(packet_random(packet.key, packet.hop(), k), others))?;
        self.other(index, from, to)
    }

    /// The `index`-th router with nodes other than two different ones, if it works.
    fn other(&self, index: u32, from: RouterId, to: RouterId) -> Option<RouterId> {
        let ends = self.machine.ends(from);
        let place = |router: RouterId| ends.partition_point(|&end| end < router.0) as u32;
        let (from, to) = (place(from), place(to));
        let index = index + u32::from(index >= from.min(to));
        let router = RouterId(ends[(index + u32::from(index >= from.max(to))) as usize]);
        self.machine.network.router_works(router).then_some(router)
    }

    /// Routers with nodes other than two.
    fn others(&self, of: RouterId) -> u32 {
        (self.machine.ends(of).len() as u32).saturating_sub(2)
    }

    /// The decision of `ugal-hops` at the first router of a packet: the port, and the router through which it goes.
    #[inline]
    fn compare(
        &self,
        [here, to]: [RouterId; 2],
        candidates: u8,
        bias: &[u64],
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, Option<RouterId>) {
        let least = |to: RouterId, base: u8| {
            loads.least(&Ports::list(0, self.machine.minimal(here, to)), packet.key, packet.hop(), base)
        };
        let network = &self.machine.network;
        let links = |from: RouterId, to: RouterId| u128::from(self.machine.distance(from, to));
        let minimal = least(to, MINIMAL_BASE);
        let weight = u128::from(loads.backlog(minimal)) * links(here, to);
        let mut best: Option<(u128, u16, RouterId)> = None;
        for i in 0..candidates {
            let Some(router) = self.through(packet, INTERMEDIATE_BASE + i, here, to) else { continue };
            let port = least(router, OTHER_BASE + APART * i);
            let class = network.class[network.slot(here, Port(port)).index()];
            let load = u128::from(loads.backlog(port)) + u128::from(bias[class.index()]);
            let weight = load * (links(here, router) + links(router, to));
            if best.is_none_or(|(least, ..)| weight < least) {
                best = Some((weight, port, router));
            }
        }
        match best {
            Some((other, port, router)) if other < weight => (port, Some(router)),
            _ => (minimal, None),
        }
    }
}

/// The router with an address.
#[inline(always)]
fn router(address: Address) -> RouterId {
    RouterId(u32::from(address.high) << 16 | u32::from(address.low))
}

/// The router with the bits of an address.
#[inline(always)]
fn from_bits(bits: u32) -> RouterId {
    router(Address::new(bits & 0xffff, bits >> 16))
}

/// Where a packet goes from here, and whether its second phase begins here.
#[inline(always)]
fn target(place: RouterPlace, packet: &Event) -> (RouterId, bool) {
    if packet.intermediate == NO_INTERMEDIATE || packet.in_second_phase() {
        return (router(packet.to), false);
    }
    let turns = packet.intermediate == place.address.bits();
    (if turns { router(packet.to) } else { from_bits(packet.intermediate) }, turns)
}

/// Sends a packet through a router first.
fn divert(packet: &mut Event, network: &Network, through: RouterId) {
    packet.intermediate = network.address_of_router[through.index()].bits();
    packet.divert();
}

impl RoutingAlgorithm for GraphRouting {
    #[inline(always)]
    fn enter(&self, packet: &mut Event, from: Address) {
        if matches!(self.algorithm(packet.routing()), Algorithm::Valiant(_)) && from != packet.to {
            let through = self.through(packet, INTERMEDIATE_BASE, router(from), router(packet.to));
            if let Some(through) = through {
                divert(packet, &self.machine.network, through);
            }
        }
    }

    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        if let &Algorithm::Autonet(select) = self.algorithm(packet.routing()) {
            return self.climb(router(place.address), packet, select, loads);
        }
        let (to, turns) = target(place, packet);
        let (here, hop) = (router(place.address), packet.hop());
        let algorithm = self.algorithm(packet.routing());
        if let Algorithm::UgalHops { candidates, bias } = algorithm
            && hop == 0
        {
            let (port, through) = self.compare([here, to], *candidates, bias, packet, loads);
            let mut on = *packet;
            if let Some(through) = through {
                divert(&mut on, &self.machine.network, through);
            }
            return RouteDecision::new(&on, port, hop).marked(through.is_some(), false);
        }
        let port = self.pick(self.machine.minimal(here, to), packet, algorithm.select(), loads);
        RouteDecision::new(packet, port, hop).marked(false, turns)
    }

    #[inline(always)]
    fn granularity(&self, routing: u8) -> PathGranularity {
        PathGranularity::of(self.algorithm(routing).select())
    }
}

impl AllPaths for GraphRouting {
    fn network(&self) -> &Network {
        &self.machine.network
    }

    fn max_hops(&self, routing: u8) -> u8 {
        match (self.algorithm(routing), &self.up_down) {
            (Algorithm::Autonet(_), Some(paths)) => paths.longest().max(1),
            (algorithm, _) => algorithm.channels(self.machine.diameter()) as u8,
        }
    }

    fn starts(&self, from: Address, to: Address, routing: u8) -> Vec<Event> {
        let start = Event::to_address(to, routing);
        let others = self.others(router(from));
        if !matches!(self.algorithm(routing), Algorithm::Valiant(_)) || from == to || others == 0 {
            return vec![start];
        }
        let through = |index| {
            let mut packet = start;
            if let Some(through) = self.other(index, router(from), router(to)) {
                divert(&mut packet, &self.machine.network, through);
            }
            packet
        };
        let all = (0..others).map(through);
        let mut minimal = false; // All routers that have failed count as one.
        all.filter(|packet| packet.diverted() || !std::mem::replace(&mut minimal, true)).collect()
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        if matches!(self.algorithm(packet.routing()), Algorithm::Autonet(_)) {
            let (here, down) = (router(place.address), packet.in_second_phase());
            let branch = |&port: &u16| {
                let mut on = *packet;
                if !down && self.goes_down(here, port) {
                    on.begin_second_phase();
                }
                Branch { port, channel: 0, packet: on }
            };
            return self.legal(here, router(packet.to), down).iter().map(branch).collect();
        }
        let (to, turns) = target(place, packet);
        let here = router(place.address);
        let mut on = *packet;
        if turns {
            on.begin_second_phase();
        }
        let branches = |to: RouterId, packet: Event| {
            let branch = move |&port: &u16| Branch { port, channel: packet.hop(), packet };
            self.machine.minimal(here, to).iter().map(branch)
        };
        let mut all: Vec<Branch> = branches(to, on).collect();
        if matches!(self.algorithm(packet.routing()), Algorithm::UgalHops { .. }) && packet.hop() == 0 {
            for through in (0..self.others(here)).filter_map(|index| self.other(index, here, to)) {
                let mut diverted = on;
                divert(&mut diverted, &self.machine.network, through);
                all.extend(branches(through, diverted));
            }
        }
        all
    }
}
