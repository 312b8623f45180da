//! The next link of a packet on a Dragonfly+ (model, section 6, "Dragonfly+ positions").

mod adaptive;
mod valiant;

use odonata_sim::spec::{RoutingSpec, Select, Via};

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::LeafSpine;
use crate::packet::Packet;

/// Draw bases.
const MINIMAL: u8 = 0;
const NON_MINIMAL: u8 = 8;
const LEAST_SCORED: u8 = 16;
const INTERMEDIATE: u8 = 24;

/// Virtual channels that a routing needs; none if it is not for this machine.
pub(super) fn channels(routing: &RoutingSpec) -> Option<usize> {
    match routing {
        RoutingSpec::Minimal { .. } => Some(1),
        RoutingSpec::Valiant { via: Via::Spine | Via::Leaf, .. }
        | RoutingSpec::Fpar { .. }
        | RoutingSpec::ProgAdaptive { .. } => Some(2),
        _ => None,
    }
}

/// The output port and channel of a packet.
pub(super) fn route(at: &DecisionContext<'_>, map: &LeafSpine, packet: &mut Packet) -> (usize, usize) {
    let leaf = at.map.router_of(packet.destination);
    let router = at.router();
    if router == leaf {
        return at.ejection(packet.destination);
    }
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    let position = Position { at, map, random, router, leaf };
    match *at.routing {
        RoutingSpec::Minimal { select, .. } => (position.minimal(select), at.channel),
        RoutingSpec::Valiant { via, select, .. } => position.valiant(packet, via, select),
        RoutingSpec::Fpar { .. } | RoutingSpec::ProgAdaptive { .. } => position.adaptive(packet),
        _ => unreachable!("`check` refuses `{}` on a Dragonfly+", at.routing.name()),
    }
}

/// A packet at a router.
struct Position<'a> {
    at: &'a DecisionContext<'a>,
    map: &'a LeafSpine,
    random: PacketRandom,
    /// The router.
    router: usize,
    /// The destination's leaf.
    leaf: usize,
}

impl Position<'_> {
    fn is_leaf(&self) -> bool {
        self.map.is_leaf[self.router]
    }

    fn group(&self) -> usize {
        self.at.map.group(self.router)
    }

    /// The destination's group.
    fn target(&self) -> usize {
        self.at.map.group(self.leaf)
    }

    /// At a spine: the port to a leaf of its group.
    fn down_to(&self, leaf: usize) -> usize {
        self.map.port_to(self.router, leaf).expect("only spines with a link to the leaf are used")
    }

    /// M: of a leaf, or of a spine outside the destination's group.
    fn onward(&self) -> Vec<usize> {
        if self.is_leaf() { self.map.up(self.router, self.leaf) } else { self.map.across(self.router, self.leaf) }
    }

    /// The groups other than this one and the destination's, ascending.
    fn other_groups(&self) -> Vec<usize> {
        let groups = 0..self.at.map.network.groups as usize;
        groups.filter(|&g| g != self.group() && g != self.target()).collect()
    }

    fn least(&self, list: &[usize], base: u8) -> usize {
        self.at.least(self.random, list, base)
    }

    fn pick(&self, list: &[usize], select: Select) -> usize {
        match select {
            Select::Random | Select::Hash => self.random.any(list, MINIMAL),
            Select::LeastLoaded => self.least(list, MINIMAL),
        }
    }

    fn minimal(&self, select: Select) -> usize {
        if !self.is_leaf() && self.group() == self.target() {
            return self.down_to(self.leaf);
        }
        self.pick(&self.onward(), select)
    }
}
