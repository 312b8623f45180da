//! Routing on fat trees: `up-down`. A packet goes up until its destination is below, then down (docs/model.md, section
//! 6, "Positions in a fat tree"). One channel is enough: no packet goes up after it has gone down.
//!
//! At each router the ports that lead on are equally good; the routing picks one of them: by a hash of source and
//! destination (ECMP), by the number of the destination (D-mod-k, Zahavi 2010), at random for each packet (packet
//! spraying), or by load.

use std::sync::Arc;

use odonata_error::{Error, Path};
use odonata_topology::{Address, FatTree, FatTreeSpec, Network, RouterId};

use super::deadlock::Proof;
use super::{
    AllPaths, Branch, CongestionMetric, Loads, PathGranularity, Ports, RouterPlace, RoutingAlgorithm, not_for,
};
use crate::fabric::packet::{Event, RouteDecision};
use crate::spec::{RoutingSpec, Spread};

/// The kind of machine, as the list of routings names it.
pub(super) const MACHINE_KIND: &str = "fat-tree";
/// Virtual channels that a routing needs.
pub(super) const CHANNELS: u8 = 1;
/// First of the random numbers for a choice.
const BASE: u8 = 0;

/// A fat tree with the routings of a run.
#[derive(Clone, Debug)]
pub struct UpDown {
    machine: Arc<FatTree>,
    /// By the number that a packet carries.
    spreads: Vec<Spread>,
}

impl UpDown {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is not for fat trees.
    pub fn new(machine: Arc<FatTree>, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let spread = |(at, routing): &(Path, RoutingSpec)| {
            if let RoutingSpec::UpDown { spread } = routing {
                return Ok(*spread);
            }
            Err(not_for(MACHINE_KIND, routing, at))
        };
        let spreads = specs.iter().map(spread).collect::<Result<_, _>>()?;
        Ok(Self { machine, spreads })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &FatTree {
        &self.machine
    }

    /// The ports that lead on from a router other than the destination's.
    #[inline(always)]
    fn ports(&self, place: RouterPlace, packet: &Event) -> Ports<'_> {
        if self.machine.has_failures() {
            return self.ports_with_failures(place, packet);
        }
        let spec = &self.machine.spec;
        let below = match place.kind {
            0 => None,
            1 if place.group == packet.to.high => {
                // A spine's address has the first leaf of its plane.
                Some((packet.to.low - place.address.low, spec.leaf_links))
            }
            1 => None,
            _ => Some((packet.to.high, spec.core_links)),
        };
        match below {
            Some((child, cables)) => Ports::range(child * cables as u16, cables as u16),
            None => Ports::range(place.down, place.ports - place.down),
        }
    }

    #[inline(never)]
    fn ports_with_failures(&self, place: RouterPlace, packet: &Event) -> Ports<'_> {
        let router = self.machine.network.router_of_slot[place.first as usize];
        Ports::list(0, self.machine.ports_live(router, self.machine.leaf(packet.to.high, packet.to.low)))
    }

    /// The position that D-mod-k chooses among `ports` ports.
    fn by_destination(&self, place: RouterPlace, packet: &Event, ports: u16) -> u16 {
        let spec = &self.machine.spec;
        let leaf = u32::from(packet.to.high) * spec.leaves + u32::from(packet.to.low) % spec.leaves;
        let destination = leaf * spec.node_ports() + u32::from(packet.to_port());
        let goes_up = place.kind == 1 && place.group != packet.to.high;
        let divisor = if goes_up { spec.spines * spec.leaf_links } else { 1 };
        (destination / divisor % u32::from(ports)) as u16
    }
}

impl RoutingAlgorithm for UpDown {
    #[inline(always)]
    fn enter(&self, _: &mut Event, _: Address) {}

    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let ports = self.ports(place, packet);
        let port = match self.spreads[usize::from(packet.routing())] {
            Spread::LeastLoaded => loads.least(&ports, packet.key, packet.hop(), BASE),
            Spread::Packet | Spread::Hash => ports.any(packet.key, packet.hop(), BASE),
            Spread::DModK => ports.get(self.by_destination(place, packet, ports.len())),
        };
        RouteDecision::new(packet, port, 0)
    }

    #[inline(always)]
    fn granularity(&self, routing: u8) -> PathGranularity {
        match self.spreads[usize::from(routing)] {
            Spread::Hash => PathGranularity::Flow,
            Spread::LeastLoaded | Spread::Packet | Spread::DModK => PathGranularity::Packet,
        }
    }
}

impl AllPaths for UpDown {
    fn network(&self) -> &Network {
        &self.machine.network
    }

    fn max_hops(&self, _: u8) -> u8 {
        if self.machine.spec.cores == 0 { 2 } else { 4 }
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        let ports = self.ports(place, packet);
        let branch = |port| Branch { port, channel: 0, packet: *packet };
        if self.spreads[usize::from(packet.routing())] == Spread::DModK {
            return vec![branch(ports.get(self.by_destination(place, packet, ports.len())))];
        }
        ports.iter().map(branch).collect()
    }
}

/// The paths are walked on a tree of as many levels with two of everything: up and down follow each other in the same
/// way in all trees, with failures too.
impl Proof for UpDown {
    fn small(&self) -> Vec<Self> {
        let levels = self.machine.spec.cores > 0;
        let spec = FatTreeSpec {
            pods: if levels { 2 } else { 1 },
            leaves: 2,
            spines: 2,
            cores: if levels { 4 } else { 0 },
            nodes_per_leaf: 4,
            leaf_links: 2,
            core_links: 2,
            rails: 1,
            rails_on: odonata_topology::TreeRails::OneLeaf,
        };
        let machine = FatTree::build(&spec, &odonata_topology::Failures::default()).expect("it is regular");
        vec![Self { machine: Arc::new(machine), spreads: self.spreads.clone() }]
    }

    fn direction(&self, router: RouterId, port: u16) -> &'static str {
        let kind = self.machine.network.kind_of_router[router.index()];
        match (port < self.machine.network.ports_down(router), kind) {
            (false, 0) => "up from a leaf",
            (false, _) => "up from a spine",
            (true, 1) => "down from a spine",
            (true, _) => "down from a core",
        }
    }

    fn routings(&self) -> Vec<&'static str> {
        vec!["up-down"; self.spreads.len()]
    }
}
