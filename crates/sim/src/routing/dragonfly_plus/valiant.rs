//! Valiant routing: every packet to another group goes by way of a random third group, whatever the load.
//!
//! Channel 0 to the intermediate stop, channel 1 from there on. By way of a spine the packet turns where it enters the
//! intermediate group (unless that spine has no link to the destination's group: then at a leaf below); by way of a
//! leaf it goes down to a random leaf first. Source: Valiant 1982; the two kinds of stop are those of Kang 2019, Fig. 3.

use odonata_error::{Error, ErrorKind, Path};

use odonata_topology::dragonfly_plus::{GLOBAL, LOCAL};
use odonata_topology::{DragonflyPlus, GroupId};

use super::{
    Grain, Loads, MIDDLE_DRAWS, Place, Plan, PlusRule, Ports, Sense, across, down, failed, middle_group, middle_groups,
    minimal, select, up,
};
use crate::engine::random::{below32, draw};
use crate::fabric::packet::{Event, NO_MIDDLE};
use crate::spec::{FabricSpec, RoutingSpec, Select, Via};

/// The routing.
#[derive(Clone, Debug)]
pub struct Valiant {
    /// Where packets turn.
    pub via: Via,
    /// Which of several equal ports.
    pub select: Select,
}

impl PlusRule for Valiant {
    const NAME: &'static str = "valiant";
    const CHANNELS: u8 = 2;
    const MAX_HOPS: u8 = 6;

    fn new(_: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error> {
        let RoutingSpec::Valiant { via, select, .. } = *routing else { unreachable!("it has another name") };
        if matches!(via, Via::Group | Via::Router) {
            let choices = vec!["spine", "leaf"];
            return Err(ErrorKind::ViaNotForMachine { machine: super::MACHINE, choices }.at(at.join("via")));
        }
        Ok(Self { via, select })
    }

    #[inline(always)]
    fn enter(&self, machine: &DragonflyPlus, packet: &mut Event, from: u16, leaf: u16) {
        packet.middle = middle(machine, self.via, packet.word, from, packet.to_group);
        if machine.has_failures() && packet.middle != NO_MIDDLE {
            failed::enter(machine, packet, from, leaf);
        }
        if packet.middle != NO_MIDDLE {
            packet.divert();
        }
    }

    fn middles(&self, machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
        let groups = middle_groups(machine, from, to);
        if self.via != Via::Leaf || groups == [NO_MIDDLE] {
            return groups;
        }
        groups
            .into_iter()
            .flat_map(|group| (0..machine.leaves_in(GroupId(group >> 16))).map(move |leaf| group | leaf))
            .collect()
    }

    #[inline(always)]
    fn plan<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a> {
        plan(machine, self.via, place, packet)
    }

    fn plan_with_failures<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a> {
        if packet.middle == NO_MIDDLE || packet.turned() {
            return failed::shortest(machine, place, packet);
        }
        failed::valiant(machine, place, packet, (packet.middle >> 16) as u16)
    }

    #[inline(always)]
    fn grain(&self) -> Grain {
        Grain::of(self.select)
    }

    #[inline(always)]
    fn choose(&self, plan: &Plan<'_>, packet: &Event, loads: &Loads<'_, impl Sense>) -> (u16, bool) {
        (select(self.select, &plan.minimal, packet, loads), false)
    }
}

/// The intermediate stop of a packet, drawn where it enters the network.
fn middle(machine: &DragonflyPlus, via: Via, word: u32, from: u16, to: u16) -> u32 {
    let group = middle_group(machine, word, 0, from, to);
    match via {
        Via::Leaf if group != NO_MIDDLE => {
            let leaves = machine.leaves_in(GroupId(group >> 16));
            group | below32(draw(word, 0, MIDDLE_DRAWS + 1), leaves)
        }
        _ => group,
    }
}

/// Ways to the intermediate stop, or on from it.
fn plan<'a>(machine: &'a DragonflyPlus, via: Via, place: Place, packet: &Event) -> Plan<'a> {
    if packet.middle == NO_MIDDLE || packet.turned() {
        return minimal::shortest(machine, place, packet);
    }
    let (group, leaf) = ((packet.middle >> 16) as u16, packet.middle as u16);
    if place.leaf {
        let first = packet.hop() == 0;
        if first {
            return Plan::only(up(machine, place, group), LOCAL.0, 0);
        }
        return Plan { turns: true, ..Plan::only(up(machine, place, packet.to_group), LOCAL.0, 1) };
    }
    if place.group != group {
        return Plan::only(across(machine, place, group), GLOBAL.0, 0);
    }
    if via == Via::Leaf {
        return Plan::only(Ports::range(leaf, 1), LOCAL.0, 0);
    }
    let on = across(machine, place, packet.to_group);
    if on.is_empty() {
        return Plan::only(down(place), LOCAL.0, 0);
    }
    Plan { turns: true, ..Plan::only(on, GLOBAL.0, 1) }
}
