//! The next link of a packet: `fpar`, `prog-adaptive` and `minimal` as in CODES of 2019.

use std::sync::Arc;

use odonata_sim::spec::{ChannelSwitch, RoutingSpec};
use odonata_topology::{DragonflyPlus, GroupId, NodeId, Peer, RouterId};

use crate::select::{LEAST, MINIMAL, NON_MINIMAL, PacketRandom};
use crate::without::Without;

/// The part of a packet that a decision reads and changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedPacket {
    /// Its random key.
    pub(crate) key: u32,
    /// Group of its source.
    pub(crate) origin: GroupId,
    /// Its destination.
    pub(crate) destination: NodeId,
    /// Routers visited before.
    pub(crate) hop: u8,
    /// Its channel from here on: 1 once it continues minimally from an intermediate group.
    pub(crate) channel: u8,
    /// Whether it was never diverted.
    pub(crate) minimal: bool,
}

/// The tables of a machine in the order in which CODES scans its ports: leaves and spines by number, global links
/// by the number of the spine at their far end.
pub(crate) struct Map {
    pub(crate) machine: Arc<DragonflyPlus>,
    /// The slots of each router, its global links to one group by far end.
    scan: Vec<u32>,
}

impl Map {
    /// Puts the ports of a machine into the order of the scans.
    pub(crate) fn new(machine: Arc<DragonflyPlus>) -> Self {
        let network = &machine.network;
        let far = |slot: u32| match network.peer[slot as usize] {
            Peer::Router(far) => network.router_of_slot[far.index()].0,
            Peer::Node(_) | Peer::None => 0,
        };
        let mut scan: Vec<u32> = (0..network.peer.len() as u32).collect();
        for router in (0..network.routers() as u32).map(RouterId).filter(|&r| !machine.is_leaf(r)) {
            let first = network.first_slot[router.index()] as usize;
            for group in (0..network.groups).map(GroupId).filter(|&g| g != machine.group(router)) {
                let ports = machine.ports_to_group(router, group);
                scan[first + usize::from(ports.start)..first + usize::from(ports.end)].sort_by_key(|&s| (far(s), s));
            }
        }
        Self { machine, scan }
    }

    fn slots(&self, router: RouterId, ports: std::ops::Range<u32>) -> &[u32] {
        let first = self.machine.network.first_slot[router.index()];
        &self.scan[(first + ports.start) as usize..(first + ports.end) as usize]
    }
}

/// A decision: the scores of the ports at this instant.
pub(crate) struct Decision<'a> {
    pub(crate) map: &'a Map,
    pub(crate) scores: &'a [u64],
    pub(crate) routing: &'a RoutingSpec,
    /// The defects that are repaired.
    pub(crate) without: Without,
    pub(crate) router: RouterId,
}

impl Decision<'_> {
    /// The slot through which a packet leaves. Updates its channel and whether it is minimal.
    pub(crate) fn route(&self, packet: &mut RoutedPacket) -> u32 {
        let machine = &self.map.machine;
        let leaf = machine.leaf_of(packet.destination);
        let (group, target) = (machine.group(self.router), machine.group(leaf));
        if self.router == leaf {
            return machine.network.node_slot[packet.destination.index()].0;
        }
        let random = PacketRandom { key: packet.key, hop: packet.hop };
        if machine.is_leaf(self.router) {
            if group != packet.origin && group != target {
                packet.channel = 1; // an intermediate leaf: minimal from here on
            }
            return self.up(random, group, target);
        }
        if group == target {
            return self.map.slots(self.router, 0..machine.spec.leaves)[machine.local(leaf) as usize];
        }
        let across = machine.ports_to_group(self.router, target);
        let (start, end) = (u32::from(across.start), u32::from(across.end));
        let minimal = self.map.slots(self.router, start..end);
        if packet.channel == 1 {
            return self.best_global(random, minimal.iter().copied(), MINIMAL);
        }
        let intermediate = group != packet.origin;
        let (slot, onward) = if intermediate {
            let down = self.map.slots(self.router, 0..machine.spec.leaves);
            self.choose(random, minimal, down.iter().copied(), intermediate)
        } else {
            let all = machine.global_ports(self.router);
            let before = self.map.slots(self.router, u32::from(all.start)..start);
            let after = self.map.slots(self.router, end..u32::from(all.end));
            self.choose(random, minimal, before.iter().chain(after).copied(), intermediate)
        };
        packet.minimal &= onward;
        if onward && intermediate && self.switches_at_spine() {
            packet.channel = 1;
        }
        slot
    }

    /// At a leaf: the least-scored of the ports to the spines that lead to a group, or to all spines inside its own.
    fn up(&self, random: PacketRandom, group: GroupId, target: GroupId) -> u32 {
        let spec = &self.map.machine.spec;
        let all = self.map.slots(self.router, spec.nodes_per_leaf..spec.nodes_per_leaf + spec.spines);
        if group == target {
            return self.least(random, all.iter().copied());
        }
        let gateways = self.map.machine.gateways(group, target);
        self.least(random, gateways.iter().map(|&spine| all[usize::from(spine)]))
    }

    fn switches_at_spine(&self) -> bool {
        matches!(self.routing, RoutingSpec::Fpar { channel_switch: ChannelSwitch::Intermediate, .. })
    }

    fn score(&self, slot: u32) -> u64 {
        self.scores[slot as usize]
    }

    fn least(&self, random: PacketRandom, list: impl Iterator<Item = u32> + Clone) -> u32 {
        let score = |slot| self.score(slot);
        if self.without.running_minima {
            random.minima(list, score, LEAST)
        } else {
            random.running_minima(list, score, LEAST)
        }
    }

    /// The best of some global links.
    fn best_global(&self, random: PacketRandom, list: impl Iterator<Item = u32> + Clone, k: u8) -> u32 {
        match self.routing {
            RoutingSpec::ProgAdaptive { .. } => random.better_of_two(list, |slot| self.score(slot), k),
            _ => self.least(random, list),
        }
    }

    /// At a spine on channel 0: a minimal or a non-minimal port, and whether it is minimal.
    fn choose(
        &self,
        random: PacketRandom,
        minimal: &[u32],
        other: impl Iterator<Item = u32> + Clone,
        intermediate: bool,
    ) -> (u32, bool) {
        if minimal.is_empty() {
            return (self.least(random, other), false);
        }
        let minimal = minimal.iter().copied();
        match *self.routing {
            RoutingSpec::Minimal { .. } => (random.any(minimal, MINIMAL), true),
            _ if other.clone().next().is_none() => (self.best_global(random, minimal, MINIMAL), true),
            RoutingSpec::Fpar { threshold_ppm, .. } => {
                let free = |slot: u32| self.score(slot) <= u64::from(threshold_ppm / 10_000);
                let found = random.passing(minimal.clone(), free, MINIMAL).map(|slot| (slot, true));
                let found = found.or_else(|| random.passing(other, free, NON_MINIMAL).map(|slot| (slot, false)));
                found.unwrap_or_else(|| (self.least(random, minimal), true))
            }
            // In an intermediate group a packet goes down to a leaf, always.
            RoutingSpec::ProgAdaptive { .. } if intermediate => (self.least(random, other), false),
            RoutingSpec::ProgAdaptive { threshold_bytes, factor_milli, .. } => {
                let m = self.best_global(random, minimal, MINIMAL);
                let n = self.best_global(random, other, NON_MINIMAL);
                let (load_m, load_n) = (u128::from(self.score(m)), u128::from(self.score(n)));
                let onward =
                    load_m <= u128::from(threshold_bytes) || load_m * 1000 <= load_n * u128::from(factor_milli);
                if onward { (m, true) } else { (n, false) }
            }
            _ => unreachable!("a routing that the checks refuse"),
        }
    }
}
