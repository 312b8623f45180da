//! What is decided at a packet's first router.

use odonata_sim::spec::{AriesMode, RoutingSpec, Via};

use super::{BRIDGE, MIDDLE_GROUP, MINIMAL, Position, aim_at_cable};
use crate::packet::{Packet, Stop};

impl Position<'_> {
    /// The output port.
    pub(super) fn start(&self, packet: &mut Packet) -> usize {
        let between = self.group() != self.target();
        if between && self.paths.cables(self.group(), self.target()).is_empty() {
            return self.bridge(packet);
        }
        let drawn = match *self.at.routing {
            RoutingSpec::Valiant { via, .. } => self.valiant(packet, via == Via::Router, via == Via::Router),
            RoutingSpec::Aries { mode: AriesMode::NminHash, .. } => self.valiant(packet, false, true),
            RoutingSpec::AdaptiveLocal { factor_milli, .. } => self.adaptive_local(packet, factor_milli),
            _ => self.compare(packet),
        };
        drawn.unwrap_or_else(|| self.begin_leg(packet))
    }

    /// Between groups without a cable: by way of a third group, whatever the routing.
    fn bridge(&self, packet: &mut Packet) -> usize {
        let middles = self.paths.middles(self.group(), self.target());
        let middle = middles[self.draws.u(BRIDGE, middles.len())]; // it was checked that there is one
        packet.tour.stop = Some(Stop::Group { draws_router: false });
        aim_at_cable(packet, self.cable(middle, MINIMAL))
    }

    /// Intermediate group number `i`; none if there is none.
    pub(super) fn middle(&self, i: u8) -> Option<usize> {
        let middles = self.paths.middles(self.group(), self.target());
        if middles.is_empty() { None } else { Some(middles[self.draws.u(MIDDLE_GROUP + i, middles.len())]) }
    }
}
