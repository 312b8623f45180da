//! Valiant's routing on a Dragonfly+.

use odonata_sim::spec::{Select, Via};

use super::{INTERMEDIATE, Position};
use crate::packet::{Packet, ValiantState};

impl Position<'_> {
    /// The output port and channel.
    pub(super) fn valiant(&self, packet: &mut Packet, via: Via, select: Select) -> (usize, usize) {
        if self.at.came_from_node() {
            self.choose_intermediate(packet, via);
        }
        let ValiantState::ToIntermediate { group, leaf } = packet.valiant else {
            return (self.minimal(select), self.at.channel);
        };
        if self.is_leaf() {
            if self.at.came_from_node() {
                return (self.pick(&self.map.up_to(self.router, self.leaf, group), select), 0);
            }
            packet.valiant = ValiantState::ToDestination;
            return (self.pick(&self.onward(), select), 1);
        }
        if self.group() != group {
            return (self.pick(&self.map.around_by(self.router, self.leaf, group), select), 0);
        }
        if let Some(leaf) = leaf {
            return (self.down_to(leaf), 0);
        }
        let onward = self.onward();
        if onward.is_empty() {
            return (self.pick(&self.map.down(self.router, self.leaf), select), 0);
        }
        packet.valiant = ValiantState::ToDestination;
        (self.pick(&onward, select), 1)
    }

    /// At the first router: the intermediate group, and its leaf. An unreachable group counts as none.
    fn choose_intermediate(&self, packet: &mut Packet, via: Via) {
        let groups = self.other_groups();
        if self.group() == self.target() || groups.is_empty() {
            return;
        }
        let group = groups[self.random.u(INTERMEDIATE, groups.len())];
        if self.map.up_to(self.router, self.leaf, group).is_empty() {
            return;
        }
        let leaf = (via == Via::Leaf).then(|| {
            let leaves = self.map.leaves(group);
            leaves[self.random.u(INTERMEDIATE + 1, leaves.len())]
        });
        packet.valiant = ValiantState::ToIntermediate { group, leaf };
        packet.minimal = false;
    }
}
