//! Where a packet goes next on a dragonfly or a cascade (model, section 6, from "Dragonfly and cascade positions").

mod adaptive_local;
mod rules;
mod start;
mod ugal;
mod valiant;
mod ways;

use super::Place;
use crate::choice::Draws;
use crate::map::Paths;
use crate::packet::{Aim, Packet, Stop};
use ways::Way;

/// Draw bases.
const MINIMAL: u8 = 0;
const OTHER: u8 = 16;
const MIDDLE_GROUP: u8 = 32;
const BRIDGE: u8 = 39;
const MIDDLE_ROUTER: u8 = 40;
const LEG: u8 = 48;

/// The output port and channel of a packet.
pub(super) fn route(at: &Place<'_>, paths: &Paths, packet: &mut Packet) -> (usize, usize) {
    let here = at.router();
    let draws = Draws { word: packet.word, hop: packet.hop };
    let position = Position { at, paths, draws, here, home: at.map.home(packet.destination) };
    if here == position.home {
        return at.ejection(packet.destination);
    }
    let port = position.next(packet);
    (port, position.channel(packet, port))
}

/// A packet at a router.
struct Position<'a> {
    at: &'a Place<'a>,
    paths: &'a Paths,
    draws: Draws,
    /// The router.
    here: usize,
    /// The destination's router.
    home: usize,
}

impl Position<'_> {
    fn group(&self) -> usize {
        self.at.map.group(self.here)
    }

    /// The destination's group.
    fn target(&self) -> usize {
        self.at.map.group(self.home)
    }

    /// The output port of a packet that is not at its destination's router.
    fn next(&self, packet: &mut Packet) -> usize {
        if self.at.came_from_node() {
            return self.start(packet);
        }
        if self.at.came_by_global_link() {
            next_stage(packet);
            if let Some(Stop::Group { draws_router }) = packet.tour.stop {
                packet.tour.stop = if draws_router { self.drawn_router() } else { None };
            }
            return self.begin_leg(packet);
        }
        if packet.tour.stop == Some(Stop::Router(self.here)) {
            packet.tour.stop = None;
            next_stage(packet);
            return self.begin_leg(packet);
        }
        // In stage 0 after a local link: in the source group, and not diverted before.
        if packet.tour.stage == 0
            && packet.tour.stop.is_none()
            && let Some(port) = self.decide_again(packet)
        {
            return port;
        }
        self.follow(packet)
    }

    /// Where a packet enters an intermediate group in which it turns at a router: that router, unless it turns here.
    fn drawn_router(&self) -> Option<Stop> {
        let routers = self.paths.members(self.group());
        let drawn = routers[self.draws.u(MIDDLE_ROUTER, routers.len())];
        (drawn != self.here && self.works(drawn)).then_some(Stop::Router(drawn))
    }

    fn works(&self, router: usize) -> bool {
        crate::map::works(&self.at.map.network, router)
    }

    /// The first port of a leg to where the packet turns in this group, or to its destination.
    fn begin_leg(&self, packet: &mut Packet) -> usize {
        if let Some(Stop::Router(router)) = packet.tour.stop {
            return self.aim_at_router(packet, router, LEG);
        }
        if self.group() != self.target() {
            return aim_at_cable(packet, self.cable(self.target(), MINIMAL));
        }
        self.aim_at_router(packet, self.home, LEG)
    }

    /// The next port of the leg.
    fn follow(&self, packet: &Packet) -> usize {
        match packet.tour.aim.expect("a packet that came by a local link is on a leg") {
            Aim::Cable(cable) => self.towards(cable, LEG),
            Aim::Router(router) => self.inside(router, LEG),
        }
    }

    fn aim_at_router(&self, packet: &mut Packet, router: usize, base: u8) -> usize {
        packet.tour.aim = Some(Aim::Router(router));
        self.inside(router, base)
    }

    /// The channel of a port between routers; the packet remembers the local links of its stage.
    fn channel(&self, packet: &mut Packet, port: usize) -> usize {
        let first = packet.tour.stage * self.paths.subs;
        if self.at.map.is_global(port) {
            return first;
        }
        let sub = self.paths.sub(packet.tour.local, port);
        packet.tour.local = Some((sub, port));
        first + sub
    }
}

fn aim_at_cable(packet: &mut Packet, way: Way) -> usize {
    packet.tour.aim = Some(Aim::Cable(way.cable));
    way.port
}

fn next_stage(packet: &mut Packet) {
    packet.tour.stage += 1;
    packet.tour.local = None;
}
