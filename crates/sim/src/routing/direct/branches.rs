//! Every way that a packet may take, whatever the loads and the draws: for proofs, and for people who ask.
//!
//! Written apart from the decisions themselves; tests hold the two against each other.

use odonata_topology::GroupId;

use super::{Departure, Direct, DirectAlgorithm, Here, Mode, NO_GROUP, NonMinimal, remember};
use crate::fabric::Place;
use crate::fabric::packet::Event;

/// One way on from a router.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Port taken.
    pub port: u16,
    /// Channel on it.
    pub channel: u8,
    /// The packet with what it remembers from then on.
    pub packet: Event,
}

impl Direct {
    /// Every way on from a router that is not the packet's destination.
    #[must_use]
    pub fn branches(&self, place: Place, packet: &Event) -> Vec<Branch> {
        let here = self.ways.here(place, packet);
        let mode = &self.modes[usize::from(packet.mode())];
        if packet.hop() == 0 {
            let all = self.departures(place, mode, packet);
            return all.into_iter().map(|departure| self.leave(here, packet, departure)).collect();
        }
        self.onward(here, mode, packet)
    }

    fn branch(&self, here: Here, port: u16, packet: Event) -> Branch {
        Branch { port, channel: self.ways.channel(here, port), packet }
    }

    /// The packet leaves as decided at the beginning of a leg.
    fn leave(&self, here: Here, packet: &Event, departure: Departure) -> Branch {
        let mut packet = *packet;
        packet.middle = remember(departure.via, departure.to);
        if departure.via.is_some() && !departure.bridge {
            packet.divert();
        }
        self.branch(here, departure.port, packet)
    }

    fn departures(&self, place: Place, mode: &Mode, packet: &Event) -> Vec<Departure> {
        let (group, to) = (place.group, packet.to_group);
        if group != to && self.ways.is_bridged(group, to) {
            let rounds = self.rounds(place, mode, packet).into_iter();
            return rounds.map(|round| Departure { bridge: true, ..round }).collect();
        }
        let straight: Vec<Departure> = if group == to {
            self.ways.local(place, packet.to_local).iter().map(|port| Departure::straight(port, 0)).collect()
        } else {
            self.cables(place, to).map(|(cable, port)| Departure::straight(port, cable)).collect()
        };
        let non_minimal = with_mode!(mode, rule => rule.non_minimal());
        let mut rounds = if non_minimal == NonMinimal::Never { Vec::new() } else { self.rounds(place, mode, packet) };
        let routers = self.ways.machine().network.routers_in(GroupId(group.into()));
        let some_dead = group == to && (0..routers).any(|router| !self.ways.works(group, router as u16));
        if non_minimal != NonMinimal::Always || rounds.is_empty() || some_dead {
            rounds.extend(straight);
        }
        rounds
    }

    /// Cables to a group that count as shortest, with each first port.
    fn cables(&self, place: Place, group: u16) -> impl Iterator<Item = (u16, u16)> + '_ {
        let cables = self.ways.shortest_cables(place, group).into_iter();
        cables.flat_map(move |cable| {
            self.ways.towards(place, group, cable).iter().map(|port| (cable, port)).collect::<Vec<_>>()
        })
    }

    fn rounds(&self, place: Place, mode: &Mode, packet: &Event) -> Vec<Departure> {
        let (group, to) = (place.group, packet.to_group);
        if group != to {
            let middles = self.ways.middles(group, to);
            let vias = (0..middles.len()).map(|k| middles.get(k));
            let rounds = vias.flat_map(|via| {
                self.cables(place, via).map(move |(cable, port)| Departure::round(port, via, cable)).collect::<Vec<_>>()
            });
            return rounds.collect();
        }
        if !with_mode!(mode, rule => rule.detours_inside()) {
            return Vec::new();
        }
        let routers = 0..self.ways.machine().network.routers_in(GroupId(group.into())) as u16;
        let others = routers.filter(|&r| r != place.local && r != packet.to_local && self.ways.works(group, r));
        let rounds = others.flat_map(|router| {
            let ports = self.ways.local(place, router);
            ports.iter().map(|port| Departure::round(port, group, router)).collect::<Vec<_>>()
        });
        rounds.collect()
    }

    fn onward(&self, mut here: Here, mode: &Mode, packet: &Event) -> Vec<Branch> {
        let (place, mut packet) = (here.place, *packet);
        let via = (packet.middle >> 16) as u16;
        if via == NO_GROUP || packet.turned() {
            return if place.group == packet.to_group {
                self.to_router(here, packet.to_local, packet)
            } else {
                self.along_or_round(here, mode, packet)
            };
        }
        if place.group != via {
            return self.along_branches(here, via, packet);
        }
        if here.inside.is_none() && packet.diverted() && mode.turns_at_router() {
            let routers = 0..self.ways.machine().network.routers_in(GroupId(via.into())) as u16;
            let mut all = self.turned(here, packet);
            for router in routers.filter(|&r| r != place.local && self.ways.works(via, r)) {
                packet.middle = remember(Some(via), router);
                all.extend(self.to_router(here, router, packet));
            }
            return all;
        }
        let router = if here.inside.is_none() { place.local } else { packet.middle as u16 };
        if router != place.local {
            return self.to_router(here, router, packet);
        }
        if here.inside.is_some() {
            here.begin_stage();
        }
        self.turned(here, packet)
    }

    /// Ways on from where the packet turns.
    fn turned(&self, here: Here, mut packet: Event) -> Vec<Branch> {
        packet.turn();
        if here.place.group == packet.to_group {
            return self.to_router(here, packet.to_local, packet);
        }
        let via = (packet.middle >> 16) as u16;
        let ways = self.cables(here.place, packet.to_group).collect::<Vec<_>>().into_iter();
        ways.map(|(cable, port)| {
            packet.middle = remember(Some(via), cable);
            self.branch(here, port, packet)
        })
        .collect()
    }

    fn to_router(&self, here: Here, router: u16, packet: Event) -> Vec<Branch> {
        self.ways.local(here.place, router).iter().map(|port| self.branch(here, port, packet)).collect()
    }

    fn along_branches(&self, here: Here, group: u16, packet: Event) -> Vec<Branch> {
        let ports = self.ways.towards(here.place, group, packet.middle as u16);
        ports.iter().map(|port| self.branch(here, port, packet)).collect()
    }

    fn along_or_round(&self, here: Here, mode: &Mode, packet: Event) -> Vec<Branch> {
        let mut all = self.along_branches(here, packet.to_group, packet);
        let undecided = (packet.middle >> 16) as u16 == NO_GROUP;
        if undecided && with_mode!(mode, rule => rule.decides_again()) {
            let mut anew = here;
            anew.begin_stage();
            let rounds = self.rounds(here.place, mode, &packet).into_iter();
            all.extend(rounds.map(|round| self.leave(anew, &packet, round)));
        }
        all
    }
}
