//! Paths through a direct machine: cables to other groups, ports inside a group, channels.

use std::sync::Arc;

use odonata_topology::{Dragonfly, GroupId, RouterId, SlotId};

use super::inside::Inside;
use super::{Departure, MINIMAL_BASE, PacketPosition, ROUTER_BASE};
use crate::engine::random::{below32, packet_random};
use crate::fabric::RouterPlace;
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, InGroups, Loads, Ports};
use crate::spec::FabricSpec;

/// Cables that are considered for the least loaded one.
const LOOKED_AT: u32 = 8;
/// Link class along a row; the next one, if it does not join groups, is along a column.
const ROW: u8 = 1;

/// How one of several paths is picked (docs/model.md, section 6, "Paths to a cable").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// All at random.
    Random,
    /// The cable at random, the ports by load.
    Adaptive,
    /// All by load.
    LeastLoaded,
}

/// A direct machine with the look-ups of its routing algorithms.
#[derive(Clone, Debug)]
pub struct Paths {
    machine: Arc<Dragonfly>,
    groups: usize,
    /// Where the cables of each ordered pair of groups start in `gates`, with one more entry.
    gate_start: Vec<u32>,
    gates: Vec<Gate>,
    /// For each router and other group, the cables that count as shortest; none if all do.
    nearest: Option<Nearest>,
    inside: Inside,
    /// Whether some groups have no cable between them.
    bridged: bool,
    subs: u8,
    /// Stage and sub by channel.
    of_channel: [(u8, u8); 16],
    first_global: u8,
    /// Class of each slot.
    class: Vec<u8>,
    /// Time of one channel's buffer, in picoseconds, by class.
    buffers: Vec<u64>,
}

/// The near end of a cable.
#[derive(Clone, Copy, Debug)]
struct Gate {
    /// Router, numbered in its group.
    router: u16,
    port: u16,
}

/// Positions of the nearest cables.
#[derive(Clone, Debug)]
struct Nearest {
    /// Row `router * groups + group` of `cables`, with one more entry.
    start: Vec<u32>,
    cables: Vec<u16>,
}

/// The groups through which a non-minimal path may go.
#[derive(Clone, Copy, Debug)]
pub enum IntermediateGroups<'a> {
    /// All groups of the machine except two (the lower first).
    AllBut(u16, u16, u32),
    /// These.
    List(&'a [u16]),
}

impl IntermediateGroups<'_> {
    /// The number of groups.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        match *self {
            Self::AllBut(_, _, groups) => groups - 2,
            Self::List(list) => list.len() as u32,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The group at a position, ascending.
    #[inline]
    #[must_use]
    pub fn get(&self, index: u32) -> u16 {
        match *self {
            Self::AllBut(low, high, _) => {
                let mut group = index as u16;
                group += u16::from(group >= low);
                group + u16::from(group >= high)
            }
            Self::List(list) => list[index as usize],
        }
    }

    /// A random group, uniformly; none if there are none.
    #[inline]
    #[must_use]
    pub fn random(&self, packet: &Event, base: u8) -> Option<u16> {
        (!self.is_empty()).then(|| self.get(below32(packet_random(packet.key, packet.hop(), base), self.len())))
    }
}

impl Paths {
    /// Builds the look-ups. With `nearest`, only the nearest cables count as shortest.
    #[must_use]
    pub fn new(machine: Arc<Dragonfly>, nearest: bool, fabric: &FabricSpec) -> Self {
        let network = &machine.network;
        let groups = network.groups;
        let pairs = || (0..groups).flat_map(|a| (0..groups).map(move |b| (GroupId(a), GroupId(b))));
        let (mut gate_start, mut gates) = (vec![0], Vec::new());
        for (a, b) in pairs() {
            gates.extend(machine.cables(a, b).iter().map(|&slot| {
                let (router, port) = network.port_of(slot);
                Gate { router: network.local(router) as u16, port: port.0 }
            }));
            gate_start.push(gates.len() as u32);
        }
        let bridged = pairs().any(|(a, b)| a != b && lacks_cable(&machine, a, b));
        let several = pairs().any(|(a, b)| machine.cables(a, b).len() > 1);
        let subs = machine.subs();
        let buffer = |class: &&str| {
            let link = &fabric.links[*class];
            link.bandwidth.serialisation_ps(link.buffer_bytes)
        };
        Self {
            groups: groups as usize,
            gate_start,
            gates,
            nearest: (nearest && several).then(|| Nearest::new(&machine)),
            inside: Inside::new(&machine),
            bridged,
            subs,
            of_channel: std::array::from_fn(|channel| (channel as u8 / subs, channel as u8 % subs)),
            first_global: network.first_global.0,
            class: network.class.iter().map(|class| class.0).collect(),
            buffers: network.classes.iter().map(buffer).collect(),
            machine,
        }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Dragonfly {
        &self.machine
    }

    /// Whether some groups have no cable between them.
    #[must_use]
    pub fn bridged(&self) -> bool {
        self.bridged
    }

    /// Whether two groups have no cable between them.
    #[inline]
    #[must_use]
    pub fn is_bridged(&self, a: u16, b: u16) -> bool {
        self.bridged && a != b && self.cables(a, b).1 == 0
    }

    /// Two groups that neither a cable nor a third group joins, if there are any.
    #[must_use]
    pub fn apart(&self) -> Option<(u16, u16)> {
        let groups = self.machine.network.groups as u16;
        let mut pairs = (0..groups).flat_map(|a| (0..groups).filter(move |&b| b != a).map(move |b| (a, b)));
        pairs.find(|&(a, b)| {
            lacks_cable(&self.machine, GroupId(a.into()), GroupId(b.into())) && self.intermediates(a, b).is_empty()
        })
    }

    /// Channels of each stage.
    #[must_use]
    pub fn subs(&self) -> u8 {
        self.subs
    }

    /// The cables of a pair of groups: the first, and their number.
    #[inline(always)]
    fn cables(&self, from: u16, to: u16) -> (u32, u32) {
        let row = usize::from(from) * self.groups + usize::from(to);
        let first = self.gate_start[row];
        (first, self.gate_start[row + 1] - first)
    }

    #[inline(always)]
    fn gate(&self, from: u16, to: u16, cable: u16) -> Gate {
        self.gates[(self.cables(from, to).0 + u32::from(cable)) as usize]
    }

    /// Groups that have cables to both `a` and `b`.
    #[inline]
    #[must_use]
    pub fn intermediates(&self, a: u16, b: u16) -> IntermediateGroups<'_> {
        match self.machine.intermediates(GroupId(a.into()), GroupId(b.into())) {
            odonata_topology::IntermediateGroups::All => {
                IntermediateGroups::AllBut(a.min(b), a.max(b), self.machine.network.groups)
            }
            odonata_topology::IntermediateGroups::List(list) => IntermediateGroups::List(list),
        }
    }

    /// Router (numbered in its group) and port of a cable.
    #[inline(always)]
    #[must_use]
    pub fn cable(&self, from: u16, to: u16, cable: u16) -> (u16, u16) {
        let gate = self.gate(from, to, cable);
        (gate.router, gate.port)
    }

    /// Slot of a cable.
    #[must_use]
    pub fn cable_slot(&self, from: u16, to: u16, cable: u16) -> SlotId {
        self.machine.cables(GroupId(from.into()), GroupId(to.into()))[usize::from(cable)]
    }

    /// Positions of the cables to a group that count as shortest, unless all do.
    #[inline(always)]
    fn shortest(&self, place: RouterPlace, group: u16) -> Option<&[u16]> {
        let nearest = self.nearest.as_ref()?;
        let row = self.router(place).index() * self.groups + usize::from(group);
        Some(&nearest.cables[nearest.start[row] as usize..nearest.start[row + 1] as usize])
    }

    /// Positions of the cables from a router to a group that count as shortest.
    #[must_use]
    pub fn shortest_cables(&self, place: RouterPlace, group: u16) -> Vec<u16> {
        let all = || (0..self.cables(place.group, group).1 as u16).collect();
        self.shortest(place, group).map_or_else(all, <[u16]>::to_vec)
    }

    #[inline(always)]
    fn router(&self, place: RouterPlace) -> RouterId {
        RouterId(self.machine.network.first_router(GroupId(place.group.into())).0 + u32::from(place.address.local()))
    }

    /// Ports on shortest paths to a router of the group.
    #[inline(always)]
    #[must_use]
    pub fn local(&self, place: RouterPlace, router: u16) -> Ports<'_> {
        self.inside.ports(self.router(place).index(), router)
    }

    /// First ports towards a cable.
    #[inline(always)]
    #[must_use]
    pub fn towards(&self, place: RouterPlace, group: u16, cable: u16) -> Ports<'_> {
        let (router, port) = self.cable(place.group, group, cable);
        if router == place.address.local() { Ports::range(port, 1) } else { self.local(place, router) }
    }

    /// A cable to another group, and a port towards it.
    #[inline(always)]
    pub fn to_group(
        &self,
        position: PacketPosition,
        group: u16,
        base: u8,
        pick: Pick,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, u16) {
        let (key, hop) = (packet.key, packet.hop());
        let list = self.shortest(position.place, group);
        let count = list.map_or_else(|| self.cables(position.place.group, group).1, |list| list.len() as u32);
        let cable = |index: u32| list.map_or(index as u16, |list| list[index as usize]);
        let first = below32(packet_random(key, hop, base), count);
        let ports = |cable| self.towards(position.place, group, cable);
        match pick {
            Pick::Random => (cable(first), ports(cable(first)).any(key, hop, base + 1)),
            Pick::Adaptive => (cable(first), loads.least(&ports(cable(first)), key, hop, base + 1)),
            Pick::LeastLoaded => {
                let looked_at = (0..count.min(LOOKED_AT)).map(|k| {
                    let cable = cable((first + k) % count);
                    (cable, loads.least(&ports(cable), key, hop, base + 1))
                });
                looked_at.min_by_key(|&(_, port)| loads.backlog(port)).expect("groups that are not bridged have cables")
            }
        }
    }

    /// A port towards another router of the group.
    #[inline(always)]
    pub fn inside(
        &self,
        position: PacketPosition,
        router: u16,
        base: u8,
        pick: Pick,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> u16 {
        let ports = self.local(position.place, router);
        match pick {
            Pick::Random => ports.any(packet.key, packet.hop(), base),
            Pick::Adaptive | Pick::LeastLoaded => loads.least(&ports, packet.key, packet.hop(), base),
        }
    }

    /// A minimal path from a packet's first router.
    #[inline]
    pub fn minimal(
        &self,
        position: PacketPosition,
        pick: Pick,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        if position.place.group == packet.to.group() {
            return Departure::minimal(
                self.inside(position, packet.to.local(), super::LEG_BASE, pick, packet, loads),
                0,
            );
        }
        let (cable, port) = self.to_group(position, packet.to.group(), MINIMAL_BASE, pick, packet, loads);
        Departure::minimal(port, cable)
    }

    /// The router of the intermediate group at which a packet that enters it begins its second phase; the present
    /// router if the drawn one has failed.
    #[must_use]
    pub fn intermediate_router(&self, place: RouterPlace, packet: &Event) -> u16 {
        let count = self.machine.network.routers_in(GroupId(place.group.into()));
        let router = below32(packet_random(packet.key, packet.hop(), ROUTER_BASE), count) as u16;
        if self.works(place.group, router) { router } else { place.address.local() }
    }

    /// Random number `k` of an intermediate router in the own group: not the present one, not the destination's, not a
    /// failed one.
    #[must_use]
    pub fn router_inside(&self, place: RouterPlace, packet: &Event, k: u8) -> Option<u16> {
        let count = self.machine.network.routers_in(GroupId(place.group.into()));
        if count < 3 {
            return None;
        }
        let mut router = below32(packet_random(packet.key, packet.hop(), ROUTER_BASE + k), count - 2) as u16;
        let (a, b) = (place.address.local().min(packet.to.local()), place.address.local().max(packet.to.local()));
        router += u16::from(router >= a);
        router += u16::from(router >= b);
        self.works(place.group, router).then_some(router)
    }

    /// A random router of the own group, not the present one; none if that is the destination's or has failed.
    #[must_use]
    pub fn router_of_group(&self, place: RouterPlace, packet: &Event) -> Option<u16> {
        let count = self.machine.network.routers_in(GroupId(place.group.into()));
        if count < 2 {
            return None;
        }
        let mut router = below32(packet_random(packet.key, packet.hop(), ROUTER_BASE), count - 1) as u16;
        router += u16::from(router >= place.address.local());
        (router != packet.to.local() && self.works(place.group, router)).then_some(router)
    }

    /// Whether a router works.
    #[must_use]
    pub fn works(&self, group: u16, router: u16) -> bool {
        let network = &self.machine.network;
        network.router_works(RouterId(network.first_router(GroupId(group.into())).0 + u32::from(router)))
    }

    /// Class of the link behind a port.
    #[inline]
    #[must_use]
    pub fn class(&self, place: RouterPlace, port: u16) -> u8 {
        self.class[(place.first + u32::from(port)) as usize]
    }

    /// Time of one channel's buffer of the link behind a port, in picoseconds.
    #[inline]
    #[must_use]
    pub fn buffer(&self, place: RouterPlace, port: u16) -> u64 {
        self.buffers[usize::from(self.class(place, port))]
    }

    /// The position of a packet, from the port and channel on which it came.
    #[inline]
    #[must_use]
    pub fn position(&self, place: RouterPlace, packet: &Event) -> PacketPosition {
        if packet.hop() == 0 {
            return PacketPosition { place, stage: 0, inside: None };
        }
        let class = self.class(place, packet.port);
        let (stage, sub) = self.of_channel[usize::from(packet.channel())];
        if class >= self.first_global {
            return PacketPosition { place, stage: stage + 1, inside: None };
        }
        PacketPosition { place, stage, inside: Some((sub, class == ROW)) }
    }

    /// The channel on which a packet leaves through a port.
    #[inline]
    #[must_use]
    pub fn channel(&self, position: PacketPosition, port: u16) -> u8 {
        let channel = self.channel_if(position, port);
        debug_assert!(channel / self.subs == position.stage, "{position:?} by port {port}");
        channel
    }

    /// The channel on which a packet left through a port.
    #[inline]
    #[must_use]
    pub fn channel_if(&self, position: PacketPosition, port: u16) -> u8 {
        let class = self.class(position.place, port);
        let sub = match position.inside {
            Some((sub, row)) if class < self.first_global => sub + u8::from(!row || class == ROW),
            _ => 0,
        };
        position.stage * self.subs + sub
    }
}

/// Whether two groups exchange packets but have no cable. (A group without working routers exchanges none.)
fn lacks_cable(machine: &Dragonfly, a: GroupId, b: GroupId) -> bool {
    let network = &machine.network;
    let works = |g: GroupId| {
        let first = network.first_router(g).0;
        (first..first + network.routers_in(g)).any(|r| network.router_works(RouterId(r)))
    };
    machine.cables(a, b).is_empty() && works(a) && works(b)
}

impl Nearest {
    fn new(machine: &Dragonfly) -> Self {
        let network = &machine.network;
        let (mut start, mut nearest) = (vec![0], Vec::new());
        let mut distances = Vec::new();
        for router in (0..network.routers() as u32).map(RouterId) {
            let own = GroupId(network.group_of_router[router.index()]);
            for group in (0..network.groups).map(GroupId) {
                let cables = machine.cables(own, group);
                distances.clear();
                distances.extend(cables.iter().map(|slot| {
                    let far = network.router_of_slot[slot.index()];
                    machine.local_distance(router, network.local(far))
                }));
                let least = distances.iter().min().copied();
                let near = distances.iter().enumerate().filter(|&(_, &distance)| Some(distance) == least);
                nearest.extend(near.map(|(cable, _)| cable as u16));
                start.push(nearest.len() as u32);
            }
        }
        Self { start, cables: nearest }
    }
}
