//! Every path that a packet may take, for all loads and random numbers: for deadlock proofs and for `odonata show`.
//!
//! This code is separate from the decisions; tests compare the two.

use odonata_topology::GroupId;

use super::{
    AnyDirectAlgorithm, Branch, Departure, Direct, DirectAlgorithm, InGroups, NO_GROUP, NonMinimal, PacketPosition,
    remember,
};
use crate::fabric::RouterPlace;
use crate::fabric::packet::Event;

impl Direct {
    /// Every possible next link at a router other than the packet's destination.
    pub(super) fn all_branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        let position = self.paths.position(place, packet);
        let algorithm = &self.algorithms[usize::from(packet.routing())];
        if packet.hop() == 0 {
            let all = self.departures(place, algorithm, packet);
            return all.into_iter().map(|departure| self.leave(position, packet, departure)).collect();
        }
        self.onward(position, algorithm, packet)
    }

    fn branch(&self, position: PacketPosition, port: u16, packet: Event) -> Branch {
        Branch { port, channel: self.paths.channel(position, port), packet }
    }

    /// The packet leaves as decided at the start of a leg.
    fn leave(&self, position: PacketPosition, packet: &Event, departure: Departure) -> Branch {
        let mut packet = *packet;
        packet.intermediate = remember(departure.via, departure.to);
        if departure.via.is_some() && !departure.bridge {
            packet.divert();
        }
        self.branch(position, departure.port, packet)
    }

    fn departures(&self, place: RouterPlace, algorithm: &AnyDirectAlgorithm, packet: &Event) -> Vec<Departure> {
        let (group, to) = (place.group, packet.to.group());
        if group != to && self.paths.is_bridged(group, to) {
            let departures = self.non_minimal_departures(place, algorithm, packet).into_iter();
            return departures.map(|departure| Departure { bridge: true, ..departure }).collect();
        }
        let minimal: Vec<Departure> = if group == to {
            self.paths.local(place, packet.to.local()).iter().map(|port| Departure::minimal(port, 0)).collect()
        } else {
            self.cables(place, to).map(|(cable, port)| Departure::minimal(port, cable)).collect()
        };
        let non_minimal = with_direct_algorithm!(algorithm, algorithm => algorithm.non_minimal());
        let mut departures = if non_minimal == NonMinimal::Never {
            Vec::new()
        } else {
            self.non_minimal_departures(place, algorithm, packet)
        };
        let routers = self.paths.machine().network.routers_in(GroupId(group.into()));
        let some_failed = group == to && (0..routers).any(|router| !self.paths.works(group, router as u16));
        if non_minimal != NonMinimal::Always || departures.is_empty() || some_failed {
            departures.extend(minimal);
        }
        departures
    }

    /// Cables to a group that count as shortest, with each first port.
    fn cables(&self, place: RouterPlace, group: u16) -> impl Iterator<Item = (u16, u16)> + '_ {
        let cables = self.paths.shortest_cables(place, group).into_iter();
        cables.flat_map(move |cable| {
            self.paths.towards(place, group, cable).iter().map(|port| (cable, port)).collect::<Vec<_>>()
        })
    }

    fn non_minimal_departures(
        &self,
        place: RouterPlace,
        algorithm: &AnyDirectAlgorithm,
        packet: &Event,
    ) -> Vec<Departure> {
        let (group, to) = (place.group, packet.to.group());
        if group != to {
            let intermediates = self.paths.intermediates(group, to);
            let vias = (0..intermediates.len()).map(|k| intermediates.get(k));
            let departures = vias.flat_map(|via| {
                self.cables(place, via)
                    .map(move |(cable, port)| Departure::non_minimal(port, via, cable))
                    .collect::<Vec<_>>()
            });
            return departures.collect();
        }
        if !with_direct_algorithm!(algorithm, algorithm => algorithm.detours_inside()) {
            return Vec::new();
        }
        let routers = 0..self.paths.machine().network.routers_in(GroupId(group.into())) as u16;
        let others =
            routers.filter(|&r| r != place.address.local() && r != packet.to.local() && self.paths.works(group, r));
        let departures = others.flat_map(|router| {
            let ports = self.paths.local(place, router);
            ports.iter().map(|port| Departure::non_minimal(port, group, router)).collect::<Vec<_>>()
        });
        departures.collect()
    }

    fn onward(&self, mut position: PacketPosition, algorithm: &AnyDirectAlgorithm, packet: &Event) -> Vec<Branch> {
        let (place, mut packet) = (position.place, *packet);
        let via = (packet.intermediate >> 16) as u16;
        if via == NO_GROUP || packet.in_second_phase() {
            return if place.group == packet.to.group() {
                self.to_router(position, packet.to.local(), packet)
            } else {
                self.along_or_non_minimal(position, algorithm, packet)
            };
        }
        if place.group != via {
            return self.along_branches(position, via, packet);
        }
        if position.inside.is_none() && packet.diverted() && algorithm.via_router() {
            let routers = 0..self.paths.machine().network.routers_in(GroupId(via.into())) as u16;
            let mut all = self.second_phase(position, packet);
            for router in routers.filter(|&r| r != place.address.local() && self.paths.works(via, r)) {
                packet.intermediate = remember(Some(via), router);
                all.extend(self.to_router(position, router, packet));
            }
            return all;
        }
        let router = if position.inside.is_none() { place.address.local() } else { packet.intermediate as u16 };
        if router != place.address.local() {
            return self.to_router(position, router, packet);
        }
        if position.inside.is_some() {
            position.begin_stage();
        }
        self.second_phase(position, packet)
    }

    /// Possible next links where the second phase begins.
    fn second_phase(&self, position: PacketPosition, mut packet: Event) -> Vec<Branch> {
        packet.begin_second_phase();
        if position.place.group == packet.to.group() {
            return self.to_router(position, packet.to.local(), packet);
        }
        let via = (packet.intermediate >> 16) as u16;
        let paths = self.cables(position.place, packet.to.group()).collect::<Vec<_>>().into_iter();
        paths
            .map(|(cable, port)| {
                packet.intermediate = remember(Some(via), cable);
                self.branch(position, port, packet)
            })
            .collect()
    }

    fn to_router(&self, position: PacketPosition, router: u16, packet: Event) -> Vec<Branch> {
        self.paths.local(position.place, router).iter().map(|port| self.branch(position, port, packet)).collect()
    }

    fn along_branches(&self, position: PacketPosition, group: u16, packet: Event) -> Vec<Branch> {
        let ports = self.paths.towards(position.place, group, packet.intermediate as u16);
        ports.iter().map(|port| self.branch(position, port, packet)).collect()
    }

    fn along_or_non_minimal(
        &self,
        position: PacketPosition,
        algorithm: &AnyDirectAlgorithm,
        packet: Event,
    ) -> Vec<Branch> {
        let mut all = self.along_branches(position, packet.to.group(), packet);
        let undecided = (packet.intermediate >> 16) as u16 == NO_GROUP;
        if undecided && with_direct_algorithm!(algorithm, algorithm => algorithm.decides_again()) {
            let mut anew = position;
            anew.begin_stage();
            let departures = self.non_minimal_departures(position.place, algorithm, &packet).into_iter();
            all.extend(departures.map(|departure| self.leave(anew, &packet, departure)));
        }
        all
    }
}
