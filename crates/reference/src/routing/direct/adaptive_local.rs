//! `adaptive-local`: a non-minimal path if there is much more free buffer on it.

use super::position::{INTERMEDIATE_ROUTER, MINIMAL, NON_MINIMAL, Position, leg_to_cable};
use crate::packet::{Intermediate, LegEnd, Packet};

impl Position<'_> {
    /// The port of a packet that has two paths to compare.
    pub(super) fn adaptive_local(&self, packet: &mut Packet, factor_milli: u64, inside: bool) -> Option<usize> {
        if self.group() == self.target() {
            return if inside { self.adaptive_local_inside(packet, factor_milli) } else { None };
        }
        let intermediate = self.intermediate(0)?;
        let direct = self.cable(self.target(), MINIMAL);
        let other = self.cable(intermediate, NON_MINIMAL);
        if self.has_more_room(other.port, direct.port, factor_milli) {
            packet.direct.intermediate = Some(Intermediate::Group { via_router: false });
            packet.minimal = false;
            return Some(leg_to_cable(packet, other));
        }
        Some(leg_to_cable(packet, direct))
    }

    /// Through a router of the own group that is drawn among all but this one; the drawn one may be the destination's,
    /// and then there is nothing to compare.
    fn adaptive_local_inside(&self, packet: &mut Packet, factor_milli: u64) -> Option<usize> {
        let others: Vec<usize> =
            self.paths.members(self.group()).iter().copied().filter(|&r| r != self.router).collect();
        if others.is_empty() {
            return None;
        }
        let drawn = others[self.random.u(INTERMEDIATE_ROUTER, others.len())];
        if drawn == self.destination_router || !self.works(drawn) {
            return None;
        }
        let direct = self.inside(self.destination_router, MINIMAL);
        let other = self.inside(drawn, NON_MINIMAL);
        if !self.has_more_room(other, direct, factor_milli) {
            packet.direct.leg_end = Some(LegEnd::Router(self.destination_router));
            return Some(direct);
        }
        packet.direct.leg_end = Some(LegEnd::Router(drawn));
        packet.direct.intermediate = Some(Intermediate::Router(drawn));
        packet.minimal = false;
        Some(other)
    }

    /// Whether the share of free buffer of a port is more than a factor times that of another.
    fn has_more_room(&self, port: usize, than: usize, factor_milli: u64) -> bool {
        let (capacity, free) = self.capacity_and_free(than);
        let (other_capacity, other_free) = self.capacity_and_free(port);
        other_free * capacity * 1000 > free * other_capacity * u128::from(factor_milli)
    }

    fn capacity_and_free(&self, port: usize) -> (u128, u128) {
        let link = &self.at.links[port];
        let capacity = link.serialisation(link.sensed_buffer(self.at.spec.sensing.kind));
        (u128::from(capacity), u128::from(capacity.saturating_sub(self.at.load(port))))
    }
}
