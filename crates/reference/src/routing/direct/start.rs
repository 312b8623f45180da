//! The decision at a packet's first router.

use odonata_sim::spec::{AriesMode, InsideGroup, RoutingSpec, Via};

use super::options::by_router;
use super::{BRIDGE, INTERMEDIATE_GROUP, MINIMAL, Position, leg_to_cable};
use crate::packet::{Intermediate, Packet};

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

    /// Between groups without a cable: through a third group, with any routing.
    fn bridge(&self, packet: &mut Packet) -> usize {
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
}
