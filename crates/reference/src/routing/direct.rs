//! The next link of a packet on a dragonfly or a cascade (model, section 6, from "Positions in a dragonfly or
//! cascade").
//!
//! A routing has a file. Here is what all of them answer: the stages that they need, how they pick one of several paths,
//! and what they decide at the first router.

mod adaptive_local;
mod cable_paths;
mod position;
mod ugal;
mod valiant;

use odonata_sim::spec::{AriesMode, Gateways, InsideGroup, RoutingSpec, Select, Via};

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::Paths;
use crate::packet::Packet;
use position::Position;

/// The output port and channel of a packet.
pub(super) fn route(at: &DecisionContext<'_>, paths: &Paths, packet: &mut Packet) -> (usize, usize) {
    let router = at.router();
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    let position = Position { at, paths, random, router, destination_router: at.map.router_of(packet.destination) };
    if router == position.destination_router {
        return at.ejection(packet.destination);
    }
    let port = position.next(packet);
    (port, position.channel(packet, port))
}

/// The table of stages of "Positions in a dragonfly or cascade".
pub(super) fn stages(routing: &RoutingSpec, bridged: bool) -> Option<usize> {
    Some(match routing {
        RoutingSpec::Minimal { .. } | RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::InOrder, .. } => {
            if bridged {
                3
            } else {
                2
            }
        }
        RoutingSpec::Valiant { via: Via::Group, .. }
        | RoutingSpec::Aries { mode: AriesMode::NminHash, .. }
        | RoutingSpec::Ugal { via: Via::Group, .. }
        | RoutingSpec::AdaptiveLocal { .. } => 3,
        RoutingSpec::Valiant { via: Via::Router, .. }
        | RoutingSpec::Ugal { via: Via::Router, .. }
        | RoutingSpec::Par { via: Via::Group, .. }
        | RoutingSpec::Aries { .. }
        | RoutingSpec::ApplicationAware { .. } => 4,
        RoutingSpec::Par { via: Via::Router, .. } => 5,
        _ => return None,
    })
}

/// How one of several paths is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Cable and port at random.
    Random,
    /// Cable at random, port by load.
    Adaptive,
    /// Both by load.
    LeastLoaded,
}

/// The pick of a routing.
pub(super) fn pick(routing: &RoutingSpec) -> Pick {
    match routing {
        RoutingSpec::Minimal { select, .. } | RoutingSpec::Valiant { select, .. } => match select {
            Select::Random | Select::Hash => Pick::Random,
            Select::LeastLoaded => Pick::LeastLoaded,
        },
        RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::NminHash | AriesMode::InOrder, .. } => Pick::Random,
        _ => Pick::Adaptive,
    }
}

/// Which cables of a routing count as shortest.
pub(super) fn gateways(routing: &RoutingSpec) -> Gateways {
    routing
        .gateways()
        .expect("it was checked that this machine knows the routing, and all of its routings have gateways")
}

/// Whether packets inside a group may go through a router of it.
pub(super) fn by_router(via: Via, inside: Option<InsideGroup>) -> bool {
    inside.unwrap_or(if via == Via::Router { InsideGroup::Router } else { InsideGroup::Minimal }) == InsideGroup::Router
}

impl Position<'_> {
    /// The output port.
    pub(super) fn start(&self, packet: &mut Packet) -> usize {
        let between = self.group() != self.target();
        if between && self.paths.cables(self.group(), self.target()).is_empty() {
            return self.bridge(packet);
        }
        let chosen = match *self.at.routing {
            RoutingSpec::Valiant { via, inside, .. } => {
                self.valiant(packet, via == Via::Router, by_router(via, inside))
            }
            RoutingSpec::Aries { mode: AriesMode::NminHash, .. } => self.valiant(packet, false, true),
            RoutingSpec::AdaptiveLocal { factor_milli, inside, .. } => {
                self.adaptive_local(packet, factor_milli, inside == Some(InsideGroup::Router))
            }
            RoutingSpec::Minimal { .. } | RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::InOrder, .. } => {
                None
            }
            RoutingSpec::Ugal { .. }
            | RoutingSpec::Par { .. }
            | RoutingSpec::Aries {
                mode: AriesMode::Adaptive0 | AriesMode::Adaptive1 | AriesMode::Adaptive2 | AriesMode::Adaptive3,
                ..
            } => self.compare(packet),
            _ => unreachable!("no packet on a dragonfly or cascade has `{}`", self.at.routing.name()),
        };
        chosen.unwrap_or_else(|| self.begin_leg(packet))
    }
}
