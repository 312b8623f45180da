//! Routing on a HyperX (docs/model.md, section 6, "Positions in a HyperX").
//!
//! Except for `dimension-order`, the channel of a packet is the number of links between routers that it has taken, its
//! *distance class*. So channels rise along every path, and packets never wait for each other in a cycle. Packets of
//! `dimension-order` stay on channel 0 and use dimensions in rising order.

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path};
use odonata_topology::{Address, HyperX, HyperXSpec, Network, RouterId};

use super::{
    AllPaths, Branch, CongestionMetric, Loads, PathGranularity, Ports, RouterPlace, RoutingAlgorithm, enough_channels,
    not_for,
};
use crate::engine::random::{below32, packet_random};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{FabricSpec, RoutingSpec, Select, Via};

/// The kind of machine, as the list of routings names it.
const MACHINE_KIND: &str = "hyperx";
/// First of the random numbers for a choice among minimal ports, among deroutes, for the only choice, and for an
/// intermediate router.
const MINIMAL_BASE: u8 = 0;
const ASIDE_BASE: u8 = 8;
const LEAST_BASE: u8 = 16;
const INTERMEDIATE_BASE: u8 = 24;

/// A routing of a run.
#[derive(Clone, Copy, Debug)]
enum Algorithm {
    Minimal(Select),
    DimensionOrder(Select),
    Valiant(Select),
    /// Distance classes beyond those of the longest shortest path.
    OmniWar(u8),
}

impl Algorithm {
    /// The algorithm of a specification; none if it is not for these machines.
    fn of(routing: &RoutingSpec) -> Option<Self> {
        match *routing {
            RoutingSpec::Minimal { select, .. } => Some(Self::Minimal(select)),
            RoutingSpec::DimensionOrder { select } => Some(Self::DimensionOrder(select)),
            RoutingSpec::Valiant { via: Via::Router, select, inside: None, .. } => Some(Self::Valiant(select)),
            RoutingSpec::OmniWar { deroutes } => Some(Self::OmniWar(deroutes)),
            _ => None,
        }
    }

    /// Channels that it needs where the longest shortest path has so many links.
    fn channels(self, diameter: u16) -> u16 {
        let needed = match self {
            Self::Minimal(_) => diameter,
            Self::DimensionOrder(_) => 1,
            Self::Valiant(_) => 2 * diameter,
            Self::OmniWar(deroutes) => diameter + u16::from(deroutes),
        };
        needed.max(1)
    }
}

/// Virtual channels that a routing needs on a HyperX without failures; none if it is not for these machines.
pub(super) fn channels(routing: &RoutingSpec, machine: &HyperXSpec) -> Option<u8> {
    Some(Algorithm::of(routing)?.channels(machine.diameter()) as u8)
}

/// A HyperX with the routings of a run.
#[derive(Clone, Debug)]
pub struct HyperXRouting {
    machine: Arc<HyperX>,
    /// By the number that a packet carries.
    algorithms: Vec<Algorithm>,
}

impl HyperXRouting {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is not for these machines, needs more channels than the fabric has, or does not know failures.
    pub fn new(machine: Arc<HyperX>, fabric: &FabricSpec, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let algorithm = |(at, routing): &(Path, RoutingSpec)| {
            if routing.gateways().is_some() {
                return Err(ErrorKind::NeedlessGateways { machine: MACHINE_KIND }.at(at.join("gateways")));
            }
            let Some(algorithm) = Algorithm::of(routing) else {
                return Err(not_for(MACHINE_KIND, routing, at));
            };
            if machine.has_failures() && matches!(algorithm, Algorithm::DimensionOrder(_)) {
                return Err(ErrorKind::DimensionOrderWithFailures {}.at(at.join("name")));
            }
            enough_channels(routing.name(), algorithm.channels(machine.diameter()), fabric)?;
            Ok(algorithm)
        };
        let algorithms = specs.iter().map(algorithm).collect::<Result<_, _>>()?;
        Ok(Self { machine, algorithms })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &HyperX {
        &self.machine
    }

    #[inline(always)]
    fn algorithm(&self, routing: u8) -> Algorithm {
        self.algorithms[usize::from(routing)]
    }

    /// Where a packet goes from here, and whether its second phase begins here.
    #[inline(always)]
    fn target(place: RouterPlace, packet: &Event) -> (Address, bool) {
        if packet.intermediate == NO_INTERMEDIATE || packet.in_second_phase() {
            return (packet.to, false);
        }
        let turns = packet.intermediate == place.address.bits();
        (if turns { packet.to } else { from_bits(packet.intermediate) }, turns)
    }

    /// The router that the `index`-th of those other than two different routers is.
    fn other(&self, index: u32, from: Address, to: Address) -> RouterId {
        let [from, to] = [from, to].map(|address| self.machine.router(address).0);
        let index = index + u32::from(index >= from.min(to));
        RouterId(index + u32::from(index >= from.max(to)))
    }

    /// Gives a packet of Valiant's routing an intermediate router; none that has failed.
    fn go_through(&self, packet: &mut Event, router: RouterId) {
        let network = &self.machine.network;
        if network.router_works(router) {
            packet.intermediate = network.address_of_router[router.index()].bits();
            packet.divert();
        }
    }

    /// Routers other than two.
    fn others(&self) -> u32 {
        (self.machine.network.routers() as u32).saturating_sub(2)
    }
}

/// The address with these bits.
#[inline(always)]
fn from_bits(bits: u32) -> Address {
    Address::new(bits & 0xffff, bits >> 16)
}

/// A port among equally good ones.
#[inline(always)]
fn pick(select: Select, ports: &[u16], packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> u16 {
    let ports = Ports::list(0, ports);
    match select {
        Select::Random | Select::Hash => ports.any(packet.key, packet.hop(), MINIMAL_BASE),
        Select::LeastLoaded => loads.least(&ports, packet.key, packet.hop(), MINIMAL_BASE),
    }
}

/// Whether a packet so far from its destination may take a deroute and still has a distance class for every link.
#[inline(always)]
fn may_deroute(packet: &Event, distance: u16, classes: u16) -> bool {
    u16::from(packet.hop()) + 1 + distance <= classes
}

impl RoutingAlgorithm for HyperXRouting {
    #[inline(always)]
    fn enter(&self, packet: &mut Event, from: Address) {
        if matches!(self.algorithm(packet.routing()), Algorithm::Valiant(_)) && from != packet.to && self.others() > 0 {
            let index = below32(packet_random(packet.key, packet.hop(), INTERMEDIATE_BASE), self.others());
            self.go_through(packet, self.other(index, from, packet.to));
        }
    }

    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let (target, turns) = Self::target(place, packet);
        let to = self.machine.offset(place.address, target);
        match self.algorithm(packet.routing()) {
            Algorithm::DimensionOrder(select) => {
                RouteDecision::new(packet, pick(select, self.machine.first_dimension(to), packet, loads), 0)
            }
            Algorithm::Minimal(select) | Algorithm::Valiant(select) => {
                let port = pick(select, self.machine.minimal(to), packet, loads);
                RouteDecision::new(packet, port, packet.hop()).marked(false, turns)
            }
            algorithm @ Algorithm::OmniWar(_) => {
                let (key, hop) = (packet.key, packet.hop());
                let minimal = Ports::list(0, self.machine.minimal(to));
                let aside = Ports::list(0, self.machine.aside(to));
                if aside.is_empty() || !may_deroute(packet, to.distance, algorithm.channels(self.machine.diameter())) {
                    return RouteDecision::new(packet, loads.least(&minimal, key, hop, LEAST_BASE), hop);
                }
                let nearer = loads.least(&minimal, key, hop, MINIMAL_BASE);
                let deroute = loads.least(&aside, key, hop, ASIDE_BASE);
                let weight = |port, links: u16| u128::from(loads.backlog(port)) * u128::from(links);
                let minimally = weight(nearer, to.distance) <= weight(deroute, to.distance + 1);
                RouteDecision::new(packet, if minimally { nearer } else { deroute }, hop).marked(!minimally, false)
            }
        }
    }

    #[inline(always)]
    fn granularity(&self, routing: u8) -> PathGranularity {
        match self.algorithm(routing) {
            Algorithm::Minimal(select) | Algorithm::DimensionOrder(select) | Algorithm::Valiant(select) => {
                PathGranularity::of(select)
            }
            Algorithm::OmniWar(_) => PathGranularity::Packet,
        }
    }
}

impl AllPaths for HyperXRouting {
    fn network(&self) -> &Network {
        &self.machine.network
    }

    fn max_hops(&self, routing: u8) -> u8 {
        match self.algorithm(routing) {
            Algorithm::DimensionOrder(_) => self.machine.diameter() as u8,
            algorithm => algorithm.channels(self.machine.diameter()) as u8,
        }
    }

    fn starts(&self, from: Address, to: Address, routing: u8) -> Vec<Event> {
        let start = Event::to_address(to, routing);
        if !matches!(self.algorithm(routing), Algorithm::Valiant(_)) || from == to || self.others() == 0 {
            return vec![start];
        }
        let through = |index| {
            let mut packet = start;
            self.go_through(&mut packet, self.other(index, from, to));
            packet
        };
        let all = (0..self.others()).map(through);
        let mut minimal = false; // All routers that have failed count as one.
        all.filter(|packet| packet.diverted() || !std::mem::replace(&mut minimal, true)).collect()
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        let (target, turns) = Self::target(place, packet);
        let to = self.machine.offset(place.address, target);
        let mut on = *packet;
        if turns {
            on.begin_second_phase();
        }
        let algorithm = self.algorithm(packet.routing());
        let mut diverted = on;
        diverted.divert();
        let branch = |channel, packet| move |&port: &u16| Branch { port, channel, packet };
        if let Algorithm::DimensionOrder(_) = algorithm {
            return self.machine.first_dimension(to).iter().map(branch(0, on)).collect();
        }
        let mut all: Vec<Branch> = self.machine.minimal(to).iter().map(branch(packet.hop(), on)).collect();
        let classes = algorithm.channels(self.machine.diameter());
        if matches!(algorithm, Algorithm::OmniWar(_)) && may_deroute(packet, to.distance, classes) {
            all.extend(self.machine.aside(to).iter().map(branch(packet.hop(), diverted)));
        }
        all
    }
}
