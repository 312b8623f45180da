//! `adaptive-local`: a non-minimal path if there is much more free buffer on it.

use super::{MINIMAL, NON_MINIMAL, Position, leg_to_cable};
use crate::packet::{Intermediate, Packet};

impl Position<'_> {
    /// The port of a packet between groups, if there is a non-minimal path.
    pub(super) fn adaptive_local(&self, packet: &mut Packet, factor_milli: u64) -> Option<usize> {
        if self.group() == self.target() {
            return None;
        }
        let intermediate = self.intermediate(0)?;
        let direct = self.cable(self.target(), MINIMAL);
        let other = self.cable(intermediate, NON_MINIMAL);
        let (capacity, free) = self.capacity_and_free(direct.port);
        let (other_capacity, other_free) = self.capacity_and_free(other.port);
        if other_free * capacity * 1000 > free * other_capacity * u128::from(factor_milli) {
            packet.direct.intermediate = Some(Intermediate::Group { via_router: false });
            packet.minimal = false;
            return Some(leg_to_cable(packet, other));
        }
        Some(leg_to_cable(packet, direct))
    }

    fn capacity_and_free(&self, port: usize) -> (u128, u128) {
        let link = &self.at.links[port];
        let capacity = link.serialisation(link.sensed_buffer(self.at.spec.sensing.kind));
        (u128::from(capacity), u128::from(capacity.saturating_sub(self.at.load(port))))
    }
}
