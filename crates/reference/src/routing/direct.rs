//! The next link of a packet on a dragonfly or a cascade (model, section 6, from "Positions in a dragonfly or
//! cascade").

mod adaptive_local;
mod cable_paths;
mod options;
mod start;
mod ugal;
mod valiant;

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::Paths;
use crate::packet::{Intermediate, LegEnd, Packet};
use cable_paths::CablePath;

/// Bases of random numbers.
const MINIMAL: u8 = 0;
const NON_MINIMAL: u8 = 16;
const INTERMEDIATE_GROUP: u8 = 32;
const BRIDGE: u8 = 39;
const INTERMEDIATE_ROUTER: u8 = 40;
const LEG: u8 = 48;

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

/// A packet at a router.
struct Position<'a> {
    at: &'a DecisionContext<'a>,
    paths: &'a Paths,
    random: PacketRandom,
    /// The router.
    router: usize,
    /// The destination's router.
    destination_router: usize,
}

impl Position<'_> {
    fn group(&self) -> usize {
        self.at.map.group(self.router)
    }

    /// The destination's group.
    fn target(&self) -> usize {
        self.at.map.group(self.destination_router)
    }

    /// The output port of a packet that is not at its destination's router.
    fn next(&self, packet: &mut Packet) -> usize {
        if self.at.came_from_node() {
            return self.start(packet);
        }
        if self.at.came_by_global_link() {
            next_stage(packet);
            if let Some(Intermediate::Group { via_router }) = packet.direct.intermediate {
                packet.direct.intermediate = if via_router { self.intermediate_router_here() } else { None };
            }
            return self.begin_leg(packet);
        }
        if packet.direct.intermediate == Some(Intermediate::Router(self.router)) {
            packet.direct.intermediate = None;
            next_stage(packet);
            return self.begin_leg(packet);
        }
        // In stage 0 after a local link: in the source group, and not diverted before.
        if packet.direct.stage == 0
            && packet.direct.intermediate.is_none()
            && let Some(port) = self.decide_again(packet)
        {
            return port;
        }
        self.follow(packet)
    }

    /// When a packet enters an intermediate group with an intermediate router: draws that router, unless the second
    /// phase begins here.
    fn intermediate_router_here(&self) -> Option<Intermediate> {
        let routers = self.paths.members(self.group());
        let chosen = routers[self.random.u(INTERMEDIATE_ROUTER, routers.len())];
        (chosen != self.router && self.works(chosen)).then_some(Intermediate::Router(chosen))
    }

    fn works(&self, router: usize) -> bool {
        crate::map::works(&self.at.map.network, router)
    }

    /// The first port of a leg to the intermediate router in this group, or to the destination.
    fn begin_leg(&self, packet: &mut Packet) -> usize {
        if let Some(Intermediate::Router(router)) = packet.direct.intermediate {
            return self.leg_to_router(packet, router, LEG);
        }
        if self.group() != self.target() {
            return leg_to_cable(packet, self.cable(self.target(), MINIMAL));
        }
        self.leg_to_router(packet, self.destination_router, LEG)
    }

    /// The next port of the leg.
    fn follow(&self, packet: &Packet) -> usize {
        match packet.direct.leg_end.expect("a packet that came by a local link is on a leg") {
            LegEnd::Cable(cable) => self.towards(cable, LEG),
            LegEnd::Router(router) => self.inside(router, LEG),
        }
    }

    fn leg_to_router(&self, packet: &mut Packet, router: usize, base: u8) -> usize {
        packet.direct.leg_end = Some(LegEnd::Router(router));
        self.inside(router, base)
    }

    /// The channel of a port between routers; stores the local links of the stage in the packet.
    fn channel(&self, packet: &mut Packet, port: usize) -> usize {
        let first = packet.direct.stage * self.paths.subs;
        if self.at.map.is_global(port) {
            return first;
        }
        let sub = self.paths.sub(packet.direct.local, port);
        packet.direct.local = Some((sub, port));
        first + sub
    }
}

fn leg_to_cable(packet: &mut Packet, path: CablePath) -> usize {
    packet.direct.leg_end = Some(LegEnd::Cable(path.cable));
    path.port
}

fn next_stage(packet: &mut Packet) {
    packet.direct.stage += 1;
    packet.direct.local = None;
}
