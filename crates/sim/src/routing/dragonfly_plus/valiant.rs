//! Valiant routing: every packet to another group goes through a random third group, whatever the load.
//!
//! Packets use channel 0 to the intermediate stop, and channel 1 after it. Via a spine, the second phase begins where
//! the packet enters the intermediate group (unless that spine has no link to the destination's group: then at a leaf
//! below). Via a leaf, the packet goes down to a random leaf first. Source: Valiant 1982; the two kinds of stop are
//! those of Kang 2019, Fig. 3.

use odonata_error::{Error, ErrorKind, Path};

use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};
use odonata_topology::{Address, DragonflyPlus, GroupId};

use super::{
    CandidatePorts, CongestionMetric, DragonflyPlusAlgorithm, INTERMEDIATE_BASE, InGroups, Loads, PathGranularity,
    Ports, RouterPlace, across, down, failed, intermediate_group, intermediate_groups, minimal, select, up,
};
use crate::engine::random::{below32, packet_random};
use crate::fabric::packet::{Event, NO_INTERMEDIATE};
use crate::spec::{FabricSpec, RoutingSpec, Select, Via};

/// The routing.
#[derive(Clone, Debug)]
pub struct Valiant {
    /// Where the second phase begins.
    pub via: Via,
    /// How one of several equal ports is picked.
    pub select: Select,
}

impl DragonflyPlusAlgorithm for Valiant {
    const NAME: &'static str = "valiant";
    const CHANNELS: u8 = 2;
    const MAX_HOPS: u8 = 6;

    fn new(_: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error> {
        let RoutingSpec::Valiant { via, select, inside, .. } = *routing else { unreachable!("it has another name") };
        if inside.is_some() {
            return Err(ErrorKind::NeedlessInside { machine: super::MACHINE_KIND }.at(at.join("inside")));
        }
        if matches!(via, Via::Group | Via::Router) {
            let choices = vec!["spine", "leaf"];
            return Err(ErrorKind::ViaNotForMachine { machine: super::MACHINE_KIND, choices }.at(at.join("via")));
        }
        Ok(Self { via, select })
    }

    #[inline(always)]
    fn enter(&self, machine: &DragonflyPlus, packet: &mut Event, from: Address) {
        packet.intermediate = intermediate(machine, self.via, packet.key, from.group(), packet.to.group());
        if machine.has_failures() && packet.intermediate != NO_INTERMEDIATE {
            failed::enter(machine, packet, from);
        }
        if packet.intermediate != NO_INTERMEDIATE {
            packet.divert();
        }
    }

    fn diverts_at_once(&self) -> bool {
        true
    }

    fn intermediates(&self, machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
        let groups = intermediate_groups(machine, from, to);
        if self.via != Via::Leaf || groups == [NO_INTERMEDIATE] {
            return groups;
        }
        groups
            .into_iter()
            .flat_map(|group| (0..machine.leaves_in(GroupId(group >> 16))).map(move |leaf| group | leaf))
            .collect()
    }

    #[inline(always)]
    fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        candidates(machine, self.via, place, packet)
    }

    fn candidates_with_failures<'a>(
        &self,
        machine: &'a DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
    ) -> CandidatePorts<'a> {
        if packet.intermediate == NO_INTERMEDIATE || packet.in_second_phase() {
            return failed::shortest(machine, place, packet);
        }
        failed::valiant(machine, place, packet, (packet.intermediate >> 16) as u16)
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

/// The intermediate stop of a packet, drawn where it enters the network.
fn intermediate(machine: &DragonflyPlus, via: Via, key: u32, from: u16, to: u16) -> u32 {
    let group = intermediate_group(machine, key, 0, from, to);
    match via {
        Via::Leaf if group != NO_INTERMEDIATE => {
            let leaves = machine.leaves_in(GroupId(group >> 16));
            group | below32(packet_random(key, 0, INTERMEDIATE_BASE + 1), leaves)
        }
        _ => group,
    }
}

/// Candidate ports towards the intermediate stop, or after it.
fn candidates<'a>(machine: &'a DragonflyPlus, via: Via, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
    if packet.intermediate == NO_INTERMEDIATE || packet.in_second_phase() {
        return minimal::shortest(machine, place, packet);
    }
    let (group, leaf) = ((packet.intermediate >> 16) as u16, packet.intermediate as u16);
    if place.is_leaf() {
        let first = packet.hop() == 0;
        if first {
            return CandidatePorts::only(up(machine, place, group), LOCAL.0, 0);
        }
        return CandidatePorts {
            begins_second_phase: true,
            ..CandidatePorts::only(up(machine, place, packet.to.group()), LOCAL.0, 1)
        };
    }
    if place.group != group {
        return CandidatePorts::only(across(machine, place, group), GLOBAL.0, 0);
    }
    if via == Via::Leaf {
        return CandidatePorts::only(Ports::range(leaf, 1), LOCAL.0, 0);
    }
    let on = across(machine, place, packet.to.group());
    if on.is_empty() {
        return CandidatePorts::only(down(place), LOCAL.0, 0);
    }
    CandidatePorts { begins_second_phase: true, ..CandidatePorts::only(on, GLOBAL.0, 1) }
}
