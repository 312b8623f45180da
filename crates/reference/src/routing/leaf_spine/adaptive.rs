//! `fpar` and `prog-adaptive`.

use odonata_sim::spec::{ChannelSwitch, Compare, FparCandidates, RoutingSpec};

use super::{INTERMEDIATE, LEAST_SCORED, MINIMAL, NON_MINIMAL, Position};
use crate::choice::PacketRandom;
use crate::packet::Packet;

impl Position<'_> {
    /// The output port and channel.
    pub(super) fn adaptive(&self, packet: &mut Packet) -> (usize, usize) {
        if self.is_leaf() {
            let channel = if self.at.came_from_node() { 0 } else { 1 };
            return (self.least(&self.onward(), LEAST_SCORED), channel);
        }
        if self.group() == self.target() {
            return (self.down_to(self.leaf), self.at.channel);
        }
        let onward = self.onward();
        if self.at.channel == 1 {
            return (self.least(&onward, LEAST_SCORED), 1);
        }
        let at_intermediate = self.at.came_by_global_link();
        let aside = if at_intermediate { self.map.down(self.router, self.leaf) } else { self.candidates(packet) };
        let (port, diverted) = self.decide(&onward, &aside);
        if diverted {
            packet.minimal = false;
        }
        let late = matches!(self.at.routing, RoutingSpec::Fpar { channel_switch: ChannelSwitch::IntermediateLeaf, .. });
        (port, usize::from(at_intermediate && !diverted && !late))
    }

    /// The non-minimal ports of a source spine.
    fn candidates(&self, packet: &Packet) -> Vec<usize> {
        let (RoutingSpec::Fpar { candidates, .. } | RoutingSpec::ProgAdaptive { candidates, .. }) = self.at.routing
        else {
            return Vec::new();
        };
        let groups = self.other_groups();
        match candidates {
            FparCandidates::AllGroups => self.map.around(self.router, self.leaf),
            FparCandidates::OneGroup if groups.is_empty() => Vec::new(),
            FparCandidates::OneGroup => {
                let once = PacketRandom { key: packet.key, hop: 255 };
                self.map.around_by(self.router, self.leaf, groups[once.u(INTERMEDIATE, groups.len())])
            }
        }
    }

    /// A port of the minimal list or of the other list, and whether it is of the other.
    fn decide(&self, minimal: &[usize], aside: &[usize]) -> (usize, bool) {
        if aside.is_empty() {
            return (self.least(minimal, LEAST_SCORED), false);
        }
        if minimal.is_empty() {
            return (self.least(aside, LEAST_SCORED), true);
        }
        if let RoutingSpec::ProgAdaptive { threshold_bytes, factor_milli, .. } = *self.at.routing {
            let m = self.least(minimal, MINIMAL);
            let n = self.least(aside, NON_MINIMAL);
            let (load, other) = (u128::from(self.at.load(m)), u128::from(self.at.load(n)));
            let small = load <= u128::from(self.at.links[m].serialisation(threshold_bytes));
            let stay = small || load * 1000 <= other * u128::from(factor_milli);
            return if stay { (m, false) } else { (n, true) };
        }
        if let Some(port) = self.random.passing(minimal, |port| self.is_free(port), MINIMAL) {
            return (port, false);
        }
        if let Some(port) = self.random.passing(aside, |port| self.is_free(port), NON_MINIMAL) {
            return (port, true);
        }
        (self.least(minimal, LEAST_SCORED), false)
    }

    /// Whether the score of a port passes the threshold of FPAR.
    fn is_free(&self, port: usize) -> bool {
        let RoutingSpec::Fpar { threshold_ppm, compare, .. } = *self.at.routing else { return false };
        let link = &self.at.links[port];
        let buffer = link.sensed_buffer(self.at.spec.sensing.kind);
        let full = link.serialisation(u64::from(self.at.spec.fabric.channels) * buffer);
        let limit = u128::from(full) * u128::from(threshold_ppm) / 1_000_000;
        let load = u128::from(self.at.load(port));
        match compare {
            Compare::Below => load < limit,
            Compare::AtMost => load <= limit,
        }
    }
}
