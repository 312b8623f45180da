//! Shortest ways only: leaf, spine, spine, leaf (three links between groups, two inside one). One channel is enough:
//! every way goes up, across, down, in this order.

use odonata_topology::DragonflyPlus;
use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};

use super::{Place, Plan, Ports, across, up};
use crate::fabric::packet::Event;

/// All shortest ways from `place`, on the channel the packet came by.
#[inline(always)]
pub(super) fn plan<'a>(machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a> {
    let channel = packet.channel();
    if place.leaf {
        return Plan::only(up(machine, place, packet.to_group), LOCAL.0, channel);
    }
    if place.group == packet.to_group {
        return Plan::only(Ports::range(packet.to_leaf, 1), LOCAL.0, channel);
    }
    Plan::only(across(machine, place, packet.to_group), GLOBAL.0, channel)
}
