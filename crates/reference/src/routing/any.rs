//! The next link of a packet on a graph (model, section 6, "Positions in a graph").

use odonata_sim::spec::{RoutingSpec, Select, Via};

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::Web;
use crate::packet::Packet;

/// Draw bases.
const MINIMAL: u8 = 0;
const INTERMEDIATE: u8 = 24;

/// Virtual channels that a routing needs; none if it is not for this machine.
pub(super) fn channels(routing: &RoutingSpec, diameter: usize) -> Option<usize> {
    let needed = match routing {
        RoutingSpec::Autonet { .. } => 1,
        RoutingSpec::Minimal { gateways: None, .. } => diameter,
        RoutingSpec::Valiant { via: Via::Router, inside: None, gateways: None, .. } | RoutingSpec::UgalHops { .. } => {
            2 * diameter
        }
        _ => return None,
    };
    Some(needed.max(1))
}

/// The output port and channel of a packet.
pub(super) fn route(at: &DecisionContext<'_>, web: &Web, packet: &mut Packet) -> (usize, usize) {
    let (router, destination) = (at.router(), at.map.router_of(packet.destination));
    if router == destination {
        return at.ejection(packet.destination);
    }
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    if let RoutingSpec::Autonet { select } = *at.routing {
        // The link by which it came shows whether it has come down.
        let down = !at.came_from_node() && web.went_down(at.map, at.slot);
        let ports = web.legal(router, destination, down);
        let port = match select {
            Select::Random | Select::Hash => random.any(&ports, MINIMAL),
            Select::LeastLoaded => at.least(random, &ports, MINIMAL),
        };
        return (port, 0);
    }
    let channel = usize::from(packet.hop);
    if packet.through == Some(router) {
        packet.through = None;
    }
    let select = match *at.routing {
        RoutingSpec::Minimal { select, .. } => select,
        RoutingSpec::Valiant { select, .. } => {
            if at.came_from_node() {
                packet.through = draw(web, random, router, destination, 0);
                packet.minimal = packet.through.is_none();
            }
            select
        }
        RoutingSpec::UgalHops { other_candidates, bias_bytes } => {
            if at.came_from_node() {
                let port = compare(at, web, packet, [router, destination], other_candidates, bias_bytes);
                return (port, channel);
            }
            Select::LeastLoaded
        }
        _ => unreachable!("`check` refuses `{}` on a graph", at.routing.name()),
    };
    let ports = web.minimal(router, packet.through.unwrap_or(destination));
    let port = match select {
        Select::Random | Select::Hash => random.any(&ports, MINIMAL),
        Select::LeastLoaded => at.least(random, &ports, MINIMAL),
    };
    (port, channel)
}

/// Intermediate router number `i`; none if there is none, or if it has failed.
fn draw(web: &Web, random: PacketRandom, router: usize, destination: usize, i: u8) -> Option<usize> {
    let others = web.others(router, destination);
    let drawn = (!others.is_empty()).then(|| others[random.u(INTERMEDIATE + i, others.len())]);
    drawn.filter(|&router| web.works(router))
}

/// The port of the path that weighs least, by `ugal-hops`.
fn compare(
    at: &DecisionContext<'_>,
    web: &Web,
    packet: &mut Packet,
    [router, destination]: [usize; 2],
    candidates: u8,
    bias_bytes: u64,
) -> usize {
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    let minimal = at.least(random, &web.minimal(router, destination), MINIMAL);
    let weight = u128::from(at.load(minimal)) * web.distance(router, destination) as u128;
    let other = |i: u8| {
        let through = draw(web, random, router, destination, i)?;
        let port = at.least(random, &web.minimal(router, through), 8 * (i + 1));
        let name = at.map.network.classes[at.map.network.class[port].index()];
        let bias = at.spec.fabric.links[name].bandwidth.serialisation_ps(bias_bytes);
        let links = web.distance(router, through) + web.distance(through, destination);
        Some(((u128::from(at.load(port)) + u128::from(bias)) * links as u128, port, through))
    };
    let best = (0..candidates).filter_map(other).min_by_key(|&(weight, ..)| weight);
    let Some((_, port, through)) = best.filter(|&(other, ..)| weight > other) else { return minimal };
    packet.through = Some(through);
    packet.minimal = false;
    port
}
