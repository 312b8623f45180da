//! The next link of a packet on a HyperX (model, section 6, "Positions in a HyperX").

use odonata_sim::spec::{RoutingSpec, Select, Via};

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::Grid;
use crate::packet::Packet;

/// Draw bases.
const MINIMAL: u8 = 0;
const ASIDE: u8 = 8;
const LEAST_WEIGHT: u8 = 16;
const INTERMEDIATE: u8 = 24;

/// Virtual channels that a routing needs; none if it is not for this machine.
pub(super) fn channels(routing: &RoutingSpec, diameter: usize) -> Option<usize> {
    let needed = match routing {
        RoutingSpec::Minimal { gateways: None, .. } => diameter,
        RoutingSpec::DimensionOrder { .. } => 1,
        RoutingSpec::Valiant { via: Via::Router, inside: None, gateways: None, .. } => 2 * diameter,
        RoutingSpec::OmniWar { deroutes } => diameter + usize::from(*deroutes),
        _ => return None,
    };
    Some(needed.max(1))
}

/// The output port and channel of a packet.
pub(super) fn route(at: &DecisionContext<'_>, grid: &Grid, packet: &mut Packet) -> (usize, usize) {
    let (router, destination) = (at.router(), at.map.router_of(packet.destination));
    if router == destination {
        return at.ejection(packet.destination);
    }
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    let pick = |list: &[usize], select: Select| match select {
        Select::Random | Select::Hash => random.any(list, MINIMAL),
        Select::LeastLoaded => at.least(random, list, MINIMAL),
    };
    let taken = usize::from(packet.hop);
    match *at.routing {
        RoutingSpec::Minimal { select, .. } => (pick(&grid.minimal(router, destination), select), taken),
        RoutingSpec::DimensionOrder { select } => {
            let minimal = grid.minimal(router, destination);
            let class = |port: usize| at.map.network.class[port];
            let lowest = minimal.iter().map(|&port| class(port)).min().expect("it is not the destination's router");
            let cables: Vec<usize> = minimal.into_iter().filter(|&port| class(port) == lowest).collect();
            (pick(&cables, select), 0)
        }
        RoutingSpec::Valiant { select, .. } => {
            if at.came_from_node() {
                let others = grid.others(router, destination);
                let drawn = (!others.is_empty()).then(|| others[random.u(INTERMEDIATE, others.len())]);
                packet.through = drawn.filter(|&router| grid.works(router));
                packet.minimal = packet.through.is_none();
            }
            if packet.through == Some(router) {
                packet.through = None;
            }
            (pick(&grid.minimal(router, packet.through.unwrap_or(destination)), select), taken)
        }
        RoutingSpec::OmniWar { deroutes } => {
            let distance = grid.distance(router, destination);
            let (minimal, aside) = (grid.minimal(router, destination), grid.aside(router, destination));
            if aside.is_empty() || taken + 1 + distance > grid.diameter + usize::from(deroutes) {
                return (at.least(random, &minimal, LEAST_WEIGHT), taken);
            }
            let (m, n) = (at.least(random, &minimal, MINIMAL), at.least(random, &aside, ASIDE));
            let weight = |port: usize, links: usize| u128::from(at.load(port)) * links as u128;
            if weight(m, distance) <= weight(n, distance + 1) {
                return (m, taken);
            }
            packet.minimal = false;
            (n, taken)
        }
        _ => unreachable!("`check` refuses `{}` on a HyperX", at.routing.name()),
    }
}
