//! Valiant's routing on a dragonfly or a cascade, and what all ways round share.

use super::{MIDDLE_ROUTER, OTHER, Position, aim_at_cable};
use crate::packet::{Packet, Stop};

impl Position<'_> {
    /// The port of a way round; none if the packet goes minimally.
    pub(super) fn valiant(&self, packet: &mut Packet, draws_router: bool, inside: bool) -> Option<usize> {
        if self.group() != self.target() {
            let way = self.cable(self.middle(0)?, OTHER);
            packet.tour.stop = Some(Stop::Group { draws_router });
            packet.minimal = false;
            return Some(aim_at_cable(packet, way));
        }
        if !inside {
            return None;
        }
        let middle = self.middle_router(0)?;
        packet.tour.stop = Some(Stop::Router(middle));
        packet.minimal = false;
        Some(self.aim_at_router(packet, middle, OTHER))
    }

    /// Intermediate router number `i` of the own group; none if there is none or it has failed.
    pub(super) fn middle_router(&self, i: u8) -> Option<usize> {
        let members = self.paths.members(self.group()).iter().copied();
        let others: Vec<usize> = members.filter(|&r| r != self.here && r != self.home).collect();
        if others.is_empty() {
            return None;
        }
        let drawn = others[self.draws.u(MIDDLE_ROUTER + i, others.len())];
        self.works(drawn).then_some(drawn)
    }
}
