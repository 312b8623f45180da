//! Minimal paths only: leaf, spine, spine, leaf (three links between groups, two inside one). One channel is enough:
//! every path goes up, across, down, in this order.

use odonata_error::{Error, Path};

use odonata_topology::DragonflyPlus;
use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};

use super::{
    CandidatePorts, CongestionMetric, DragonflyPlusAlgorithm, InGroups, Loads, PathGranularity, Ports, RouterPlace,
    across, failed, select, up,
};
use crate::fabric::packet::Event;
use crate::spec::{FabricSpec, RoutingSpec, Select};

/// The routing.
#[derive(Clone, Debug)]
pub struct Minimal {
    /// How one of several equal ports is picked.
    pub select: Select,
}

impl DragonflyPlusAlgorithm for Minimal {
    const NAME: &'static str = "minimal";
    const CHANNELS: u8 = 1;
    const MAX_HOPS: u8 = 3;

    fn new(_: &FabricSpec, routing: &RoutingSpec, _: &Path) -> Result<Self, Error> {
        let RoutingSpec::Minimal { select, .. } = *routing else { unreachable!("it has another name") };
        Ok(Self { select })
    }

    #[inline(always)]
    fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        shortest(machine, place, packet)
    }

    fn candidates_with_failures<'a>(
        &self,
        machine: &'a DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
    ) -> CandidatePorts<'a> {
        failed::shortest(machine, place, packet)
    }

    #[inline(always)]
    fn granularity(&self) -> PathGranularity {
        PathGranularity::of(self.select)
    }

    #[inline(always)]
    fn choose(
        &self,
        candidates: &CandidatePorts<'_>,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, bool) {
        (select(self.select, &candidates.minimal, packet, loads), false)
    }
}

/// All minimal ports at `place`, on the channel on which the packet came.
#[inline(always)]
pub(super) fn shortest<'a>(machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
    let channel = packet.channel();
    if place.is_leaf() {
        return CandidatePorts::only(up(machine, place, packet.to.group()), LOCAL.0, channel);
    }
    if place.group == packet.to.group() {
        return CandidatePorts::only(Ports::range(packet.to.local(), 1), LOCAL.0, channel);
    }
    CandidatePorts::only(across(machine, place, packet.to.group()), GLOBAL.0, channel)
}
