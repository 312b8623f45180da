//! The candidate ports of all algorithms on a Dragonfly+ with failures: the same, without failed ports and ports from
//! which the destination can no longer be reached (docs/model.md, section 6).

use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};
use odonata_topology::{Address, DragonflyPlus, GroupId, RouterId};

use super::{CandidatePorts, InGroups, Ports, RouterPlace};
use crate::fabric::packet::{Event, NO_INTERMEDIATE};

/// Most spines of a group, for the list of those that lead to an intermediate group.
pub(super) const MAX_SPINES: u32 = u64::BITS;

fn router(machine: &DragonflyPlus, group: u16, local: u16) -> RouterId {
    RouterId(machine.network.first_router(GroupId(group.into())).0 + u32::from(local))
}

/// The router of a decision, and the destination's leaf.
fn ends(machine: &DragonflyPlus, place: RouterPlace, packet: &Event) -> (RouterId, RouterId) {
    (router(machine, place.group, place.address.local()), router(machine, packet.to.group(), packet.to.local()))
}

/// As [`super::minimal::shortest`].
pub(super) fn shortest<'a>(machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
    let (here, to) = ends(machine, place, packet);
    let channel = packet.channel();
    if place.is_leaf() {
        return CandidatePorts::only(Ports::list(0, machine.up_live(here, to)), LOCAL.0, channel);
    }
    if place.group == packet.to.group() {
        return CandidatePorts::only(Ports::range(packet.to.local(), 1), LOCAL.0, channel);
    }
    CandidatePorts::only(Ports::list(0, machine.across_live(here, to)), GLOBAL.0, channel)
}

/// As [`super::fpar::progressive`].
pub(super) fn progressive<'a>(
    machine: &'a DragonflyPlus,
    one_group: bool,
    switch_at_spine: bool,
    place: RouterPlace,
    packet: &Event,
) -> CandidatePorts<'a> {
    let candidates = shortest(machine, place, packet);
    if place.is_leaf() {
        return CandidatePorts { minimal_channel: u8::from(packet.hop() > 0), ..candidates };
    }
    if place.group == packet.to.group() || packet.channel() == 1 {
        return candidates;
    }
    let (here, to) = ends(machine, place, packet);
    if packet.port >= place.down {
        return CandidatePorts {
            minimal_channel: u8::from(switch_at_spine),
            non_minimal: Ports::list(0, machine.down_live(here, to)),
            non_minimal_channel: 0,
            non_minimal_class: LOCAL.0,
            ..candidates
        };
    }
    let non_minimal = if !one_group {
        machine.around_live(here, to)
    } else if packet.intermediate == NO_INTERMEDIATE {
        &[]
    } else {
        machine.around_live_by(here, to, GroupId(packet.intermediate >> 16))
    };
    CandidatePorts {
        minimal_channel: 0,
        non_minimal: Ports::list(0, non_minimal),
        non_minimal_channel: 0,
        ..candidates
    }
}

/// Removes the intermediate group of a packet that cannot go through it.
pub(super) fn enter(machine: &DragonflyPlus, packet: &mut Event, from: Address) {
    let (here, to) =
        (router(machine, from.group(), from.local()), router(machine, packet.to.group(), packet.to.local()));
    if up_to(machine, here, to, packet.intermediate >> 16).is_empty() {
        packet.intermediate = NO_INTERMEDIATE;
    }
}

/// Ports of a leaf to spines from which a packet for leaf `to` can go through group `via`.
fn up_to(machine: &DragonflyPlus, leaf: RouterId, to: RouterId, via: u32) -> Ports<'_> {
    let group = machine.group(leaf);
    let first_spine = machine.network.first_router(group).0 + machine.leaves_in(group);
    let first_port = machine.spec.node_ports() as u16;
    let mut mask = 0;
    for &port in machine.spines_live(leaf) {
        let spine = port - first_port;
        if !machine.around_live_by(RouterId(first_spine + u32::from(spine)), to, GroupId(via)).is_empty() {
            mask |= 1 << spine;
        }
    }
    Ports::mask(first_port, mask)
}

/// As the candidates of [`super::valiant`], via a spine, for a packet in its first phase.
pub(super) fn valiant<'a>(
    machine: &'a DragonflyPlus,
    place: RouterPlace,
    packet: &Event,
    via: u16,
) -> CandidatePorts<'a> {
    let (here, to) = ends(machine, place, packet);
    if place.is_leaf() {
        if packet.hop() == 0 {
            return CandidatePorts::only(up_to(machine, here, to, via.into()), LOCAL.0, 0);
        }
        return CandidatePorts {
            begins_second_phase: true,
            ..CandidatePorts::only(Ports::list(0, machine.up_live(here, to)), LOCAL.0, 1)
        };
    }
    if place.group != via {
        return CandidatePorts::only(
            Ports::list(0, machine.around_live_by(here, to, GroupId(via.into()))),
            GLOBAL.0,
            0,
        );
    }
    let on = Ports::list(0, machine.across_live(here, to));
    if on.is_empty() {
        return CandidatePorts::only(Ports::list(0, machine.down_live(here, to)), LOCAL.0, 0);
    }
    CandidatePorts { begins_second_phase: true, ..CandidatePorts::only(on, GLOBAL.0, 1) }
}
