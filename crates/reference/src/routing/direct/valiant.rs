//! Valiant's routing on a dragonfly or a cascade, and the common part of all non-minimal paths.

use super::position::{INTERMEDIATE_ROUTER, NON_MINIMAL, Position, leg_to_cable};
use crate::packet::{Intermediate, Packet};

impl Position<'_> {
    /// The port of a non-minimal path; none if the packet goes minimally.
    pub(super) fn valiant(&self, packet: &mut Packet, via_router: bool, inside: bool) -> Option<usize> {
        if self.group() != self.target() {
            let path = self.cable(self.intermediate(0)?, NON_MINIMAL);
            packet.direct.intermediate = Some(Intermediate::Group { via_router });
            packet.minimal = false;
            return Some(leg_to_cable(packet, path));
        }
        if !inside {
            return None;
        }
        let intermediate = self.intermediate_router(0)?;
        packet.direct.intermediate = Some(Intermediate::Router(intermediate));
        packet.minimal = false;
        Some(self.leg_to_router(packet, intermediate, NON_MINIMAL))
    }

    /// Intermediate router number `i` of the own group; none if there is none or it has failed.
    pub(super) fn intermediate_router(&self, i: u8) -> Option<usize> {
        let members = self.paths.members(self.group()).iter().copied();
        let others: Vec<usize> = members.filter(|&r| r != self.router && r != self.destination_router).collect();
        if others.is_empty() {
            return None;
        }
        let chosen = others[self.random.u(INTERMEDIATE_ROUTER + i, others.len())];
        self.works(chosen).then_some(chosen)
    }
}
