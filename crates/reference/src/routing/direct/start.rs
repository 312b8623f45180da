//! What is decided at a packet's first router.

use odonata_sim::spec::{AriesMode, RoutingSpec, Via};

use super::{MIDDLE_GROUP, MINIMAL, Position, aim_at_cable};
use crate::packet::{Packet, Stop};

impl Position<'_> {
    /// The output port; none if the packet is at its destination already.
    pub(super) fn start(&self, packet: &mut Packet) -> Option<usize> {
        if self.here == self.home {
            return None;
        }
        let between = self.group() != self.target();
        if between && self.paths.cables(self.group(), self.target()).is_empty() {
            return Some(self.bridge(packet));
        }
        let drawn = match *self.at.routing {
            RoutingSpec::Valiant { via, .. } => self.valiant(packet, via == Via::Router, via == Via::Router),
            RoutingSpec::Aries { mode: AriesMode::NminHash, .. } => self.valiant(packet, false, true),
            RoutingSpec::AdaptiveLocal { factor_milli, .. } => self.adaptive_local(packet, factor_milli),
            _ => self.compare(packet),
        };
        drawn.or_else(|| self.begin_leg(packet))
    }

    /// Between groups without a cable: by way of a third group, whatever the routing.
    fn bridge(&self, packet: &mut Packet) -> usize {
        let middle = self.middle(0).expect("it was checked that a third group joins them");
        packet.tour.stop = Some(Stop::Group { draws_router: false });
        aim_at_cable(packet, self.cable(middle, MINIMAL))
    }

    /// Intermediate group number `i`; none if there is none.
    pub(super) fn middle(&self, i: u8) -> Option<usize> {
        let middles = self.paths.middles(self.group(), self.target());
        if middles.is_empty() { None } else { Some(middles[self.draws.u(MIDDLE_GROUP + i, middles.len())]) }
    }
}
