//! Fully progressive adaptive routing: at the source spine and again at the intermediate spine, a packet leaves the
//! minimal path if all its ports are fuller than a threshold and another port is not.
//!
//! Source: Shpiner 2017; Kang 2019, section 3.1.2 (K5 to K7). The score of a port is its backlog divided by the
//! capacity of its link's buffers, all channels together. Packets use channel 0 until an intermediate spine or leaf
//! sends them on minimally, and channel 1 from there, on minimal paths only. Three options cover the differences in the
//! authors' published code: `compare` (`<=`), `channel_switch`, and `candidates` (one random group instead of all).

use odonata_error::{Error, Path};

use odonata_topology::DragonflyPlus;
use odonata_topology::dragonfly_plus::{CLASSES, GLOBAL, LOCAL};

use super::{
    CandidatePorts, CongestionMetric, DragonflyPlusAlgorithm, InGroups, LEAST_BASE, Loads, MINIMAL_BASE,
    NON_MINIMAL_BASE, Ports, RouterPlace,
};
use super::{across, down, failed, minimal, no_choice, up};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{ChannelSwitch, Compare, FabricSpec, FparCandidates, RoutingSpec};

/// The routing.
#[derive(Clone, Debug)]
pub struct Fpar {
    /// Backlog at the threshold, by link class.
    limit: [u64; 3],
    at_most: bool,
    one_group: bool,
    switch_at_spine: bool,
}

impl DragonflyPlusAlgorithm for Fpar {
    const NAME: &'static str = "fpar";
    const CHANNELS: u8 = 2;
    const MAX_HOPS: u8 = 6;

    fn new(fabric: &FabricSpec, routing: &RoutingSpec, _: &Path) -> Result<Self, Error> {
        let RoutingSpec::Fpar { threshold_ppm, compare, candidates, channel_switch } = *routing else {
            unreachable!("it has another name")
        };
        let limit = std::array::from_fn(|class| {
            let link = &fabric.links[CLASSES[class]];
            let capacity = link.bandwidth.serialisation_ps(link.buffer_bytes * u64::from(fabric.channels));
            (u128::from(capacity) * u128::from(threshold_ppm) / 1_000_000) as u64
        });
        Ok(Self {
            limit,
            at_most: compare == Compare::AtMost,
            one_group: candidates == FparCandidates::OneGroup,
            switch_at_spine: channel_switch == ChannelSwitch::Intermediate,
        })
    }

    #[inline(always)]
    fn one_group(&self) -> bool {
        self.one_group
    }

    #[inline(always)]
    fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        progressive(machine, self.one_group, self.switch_at_spine, place, packet)
    }

    fn candidates_with_failures<'a>(
        &self,
        machine: &'a DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
    ) -> CandidatePorts<'a> {
        failed::progressive(machine, self.one_group, self.switch_at_spine, place, packet)
    }

    #[inline(always)]
    fn decide_early(
        &self,
        machine: &DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<RouteDecision> {
        outside_spines_of_choice(machine, place, packet, loads)
    }

    #[inline(always)]
    fn choose(
        &self,
        candidates: &CandidatePorts<'_>,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, bool) {
        if let Some(only) = no_choice(candidates, packet, loads) {
            return only;
        }
        let (key, hop) = (packet.key, packet.hop());
        // Loads are whole numbers, so `<= limit` is `< limit + 1`.
        let limit = |class: u8| self.limit[usize::from(class)].saturating_add(u64::from(self.at_most));
        if let Some(port) = loads.below(limit(candidates.minimal_class), &candidates.minimal, key, hop, MINIMAL_BASE) {
            return (port, false);
        }
        if let Some(port) =
            loads.below(limit(candidates.non_minimal_class), &candidates.non_minimal, key, hop, NON_MINIMAL_BASE)
        {
            return (port, true);
        }
        (loads.least(&candidates.minimal, key, hop, LEAST_BASE), false)
    }
}

/// The decision of a progressive algorithm at a leaf, and at a spine of the destination's group.
#[inline(always)]
pub(super) fn outside_spines_of_choice(
    machine: &DragonflyPlus,
    place: RouterPlace,
    packet: &Event,
    loads: &Loads<'_, impl CongestionMetric>,
) -> Option<RouteDecision> {
    if place.is_leaf() {
        let least = |ports| loads.least(&ports, packet.key, packet.hop(), LEAST_BASE);
        // The same as `up`, but each kind of list has code of its own.
        let port = if machine.complete {
            least(Ports::range(place.down, machine.spec.spines as u16))
        } else {
            least(up(machine, place, packet.to.group()))
        };
        return Some(RouteDecision::new(packet, port, u8::from(packet.hop() > 0)));
    }
    (place.group == packet.to.group()).then(|| RouteDecision::new(packet, packet.to.local(), packet.channel()))
}

/// Minimal ports, and non-minimal ports at the source spine and the intermediate spine.
#[inline(always)]
pub(super) fn progressive<'a>(
    machine: &'a DragonflyPlus,
    one_group: bool,
    switch_at_spine: bool,
    place: RouterPlace,
    packet: &Event,
) -> CandidatePorts<'a> {
    if place.is_leaf() {
        let channel = u8::from(packet.hop() > 0);
        return CandidatePorts::only(up(machine, place, packet.to.group()), LOCAL.0, channel);
    }
    if place.group == packet.to.group() || packet.channel() == 1 {
        return minimal::shortest(machine, place, packet);
    }
    let minimal = across(machine, place, packet.to.group());
    if packet.port >= place.down {
        return CandidatePorts {
            non_minimal: down(place),
            non_minimal_channel: 0,
            non_minimal_class: LOCAL.0,
            ..CandidatePorts::only(minimal, GLOBAL.0, u8::from(switch_at_spine))
        };
    }
    let non_minimal = if !one_group {
        let start = if minimal.is_empty() { place.down } else { minimal.get(0) };
        Ports::range_without(place.down, place.ports, start..start + minimal.len())
    } else if packet.intermediate == NO_INTERMEDIATE {
        Ports::NONE
    } else {
        across(machine, place, (packet.intermediate >> 16) as u16)
    };
    CandidatePorts { non_minimal, ..CandidatePorts::only(minimal, GLOBAL.0, 0) }
}
