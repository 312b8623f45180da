//! A packet at a router of a dragonfly or cascade, and the legs of its path (model, section 6, "Positions in a dragonfly
//! or cascade").

use super::cable_paths::CablePath;
use crate::choice::PacketRandom;
use crate::map::Paths;
use crate::packet::{Intermediate, LegEnd, Packet};
use crate::routing::DecisionContext;

/// Bases of random numbers.
pub(super) const MINIMAL: u8 = 0;
pub(super) const NON_MINIMAL: u8 = 16;
pub(super) const INTERMEDIATE_GROUP: u8 = 32;
pub(super) const BRIDGE: u8 = 39;
pub(super) const INTERMEDIATE_ROUTER: u8 = 40;
pub(super) const LEG: u8 = 48;

/// A packet at a router.
pub(super) struct Position<'a> {
    pub(super) at: &'a DecisionContext<'a>,
    pub(super) paths: &'a Paths,
    pub(super) random: PacketRandom,
    /// The router.
    pub(super) router: usize,
    /// The destination's router.
    pub(super) destination_router: usize,
}

impl Position<'_> {
    pub(super) fn group(&self) -> usize {
        self.at.map.group(self.router)
    }

    /// The destination's group.
    pub(super) fn target(&self) -> usize {
        self.at.map.group(self.destination_router)
    }

    /// The output port of a packet that is not at its destination's router.
    pub(super) fn next(&self, packet: &mut Packet) -> usize {
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
    pub(super) fn intermediate_router_here(&self) -> Option<Intermediate> {
        let routers = self.paths.members(self.group());
        let chosen = routers[self.random.u(INTERMEDIATE_ROUTER, routers.len())];
        (chosen != self.router && self.works(chosen)).then_some(Intermediate::Router(chosen))
    }

    pub(super) fn works(&self, router: usize) -> bool {
        crate::map::works(&self.at.map.network, router)
    }

    /// Between groups without a cable: through a third group, with any routing.
    pub(super) fn bridge(&self, packet: &mut Packet) -> usize {
        let intermediates = self.paths.intermediates(self.group(), self.target());
        let intermediate = intermediates[self.random.u(BRIDGE, intermediates.len())]; // `check` ensures that there is one
        packet.direct.intermediate = Some(Intermediate::Group { via_router: false });
        leg_to_cable(packet, self.cable(intermediate, MINIMAL))
    }

    /// Intermediate group number `i`; none if there is none.
    pub(super) fn intermediate(&self, i: u8) -> Option<usize> {
        let intermediates = self.paths.intermediates(self.group(), self.target());
        if intermediates.is_empty() {
            None
        } else {
            Some(intermediates[self.random.u(INTERMEDIATE_GROUP + i, intermediates.len())])
        }
    }

    /// The first port of a leg to the intermediate router in this group, or to the destination.
    pub(super) fn begin_leg(&self, packet: &mut Packet) -> usize {
        if let Some(Intermediate::Router(router)) = packet.direct.intermediate {
            return self.leg_to_router(packet, router, LEG);
        }
        if self.group() != self.target() {
            return leg_to_cable(packet, self.cable(self.target(), MINIMAL));
        }
        self.leg_to_router(packet, self.destination_router, LEG)
    }

    /// The next port of the leg.
    pub(super) fn follow(&self, packet: &Packet) -> usize {
        match packet.direct.leg_end.expect("a packet that came by a local link is on a leg") {
            LegEnd::Cable(cable) => self.towards(cable, LEG),
            LegEnd::Router(router) => self.inside(router, LEG),
        }
    }

    pub(super) fn leg_to_router(&self, packet: &mut Packet, router: usize, base: u8) -> usize {
        packet.direct.leg_end = Some(LegEnd::Router(router));
        self.inside(router, base)
    }

    /// The channel of a port between routers; stores the local links of the stage in the packet.
    pub(super) fn channel(&self, packet: &mut Packet, port: usize) -> usize {
        let first = packet.direct.stage * self.paths.subs;
        if self.at.map.is_global(port) {
            return first;
        }
        let sub = self.paths.sub(packet.direct.local, port);
        packet.direct.local = Some((sub, port));
        first + sub
    }
}

pub(super) fn leg_to_cable(packet: &mut Packet, path: CablePath) -> usize {
    packet.direct.leg_end = Some(LegEnd::Cable(path.cable));
    path.port
}

pub(super) fn next_stage(packet: &mut Packet) {
    packet.direct.stage += 1;
    packet.direct.local = None;
}
