//! Fully progressive adaptive routing: at the source spine and again at the intermediate spine, a packet leaves the
//! shortest way if all its ports are fuller than a threshold and another port is not.
//!
//! Source: Shpiner 2017; Kang 2019, section 3.1.2 (K5 to K7). The score of a port is its backlog over what its link's
//! buffers hold, channels pooled. Channel 0 until an intermediate spine or leaf sends the packet minimally on, channel
//! 1 from there; on channel 1 only shortest ways. Options that the authors' published code differs in: `compare`
//! (`<=`), `channel_switch`, and `candidates` (one random group instead of all).

use odonata_topology::DragonflyPlus;
use odonata_topology::dragonfly_plus::{CLASSES, GLOBAL, LOCAL};

use super::{LEAST_DRAWS, Loads, MINIMAL_DRAWS, OTHER_DRAWS, Place, Plan, Ports, across, down, minimal, up};
use crate::fabric::packet::{Event, NO_MIDDLE};
use crate::spec::{ChannelSwitch, FabricSpec, FparCandidates};

/// The threshold rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Backlog at the threshold, by link class.
    limit: [u64; 3],
    at_most: bool,
    pub(super) one_group: bool,
    pub(super) switch_at_spine: bool,
}

impl Rule {
    pub(super) fn new(
        fabric: &FabricSpec,
        threshold_ppm: u32,
        at_most: bool,
        candidates: FparCandidates,
        switch: ChannelSwitch,
    ) -> Self {
        let limit = std::array::from_fn(|class| {
            let link = &fabric.links[CLASSES[class]];
            let capacity = link.bandwidth.serialisation_ps(link.buffer_bytes * u64::from(fabric.channels));
            (u128::from(capacity) * u128::from(threshold_ppm) / 1_000_000) as u64
        });
        Self {
            limit,
            at_most,
            one_group: candidates == FparCandidates::OneGroup,
            switch_at_spine: switch == ChannelSwitch::Intermediate,
        }
    }

    /// The port, and whether it is one of the others.
    #[inline(always)]
    pub(super) fn decide(&self, plan: &Plan<'_>, word: u32, hop: u8, loads: &Loads<'_>) -> (u16, bool) {
        if plan.other.is_empty() {
            return (loads.least(&plan.minimal, word, hop, LEAST_DRAWS), false);
        }
        if plan.minimal.is_empty() {
            return (loads.least(&plan.other, word, hop, LEAST_DRAWS), true);
        }
        let test = |class: u8| {
            let (limit, at_most) = (self.limit[usize::from(class)], self.at_most);
            move |backlog: u64| backlog < limit || (at_most && backlog == limit)
        };
        if let Some(port) = loads.passing(&plan.minimal, word, hop, MINIMAL_DRAWS, test(plan.minimal_class)) {
            return (port, false);
        }
        if let Some(port) = loads.passing(&plan.other, word, hop, OTHER_DRAWS, test(plan.other_class)) {
            return (port, true);
        }
        (loads.least(&plan.minimal, word, hop, LEAST_DRAWS), false)
    }
}

/// Shortest ways, and at the source spine and the intermediate spine the ways round.
#[inline(always)]
pub(super) fn plan<'a>(
    machine: &'a DragonflyPlus,
    one_group: bool,
    switch_at_spine: bool,
    place: Place,
    packet: &Event,
) -> Plan<'a> {
    if place.leaf {
        let channel = u8::from(packet.hop() > 0);
        return Plan::only(up(machine, place, packet.to_group), LOCAL.0, channel);
    }
    if place.group == packet.to_group || packet.channel() == 1 {
        return minimal::plan(machine, place, packet);
    }
    let minimal = across(machine, place, packet.to_group);
    let leaves = machine.spec.leaves as u16;
    if packet.port >= leaves {
        return Plan {
            other: down(machine),
            other_channel: 0,
            other_class: LOCAL.0,
            ..Plan::only(minimal, GLOBAL.0, u8::from(switch_at_spine))
        };
    }
    let other = if !one_group {
        let start = if minimal.is_empty() { leaves } else { minimal.get(0) };
        Ports::range_without(leaves, place.ports, start..start + minimal.len())
    } else if packet.middle == NO_MIDDLE {
        Ports::NONE
    } else {
        across(machine, place, (packet.middle >> 16) as u16)
    };
    Plan { other, ..Plan::only(minimal, GLOBAL.0, 0) }
}
