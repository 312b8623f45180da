//! Where a packet goes next on a Dragonfly+ (model, section 6, from "Dragonfly+ positions").

use odonata_sim::SimError;
use odonata_sim::spec::{ChannelSwitch, Compare, FparCandidates, RoutingSpec, Select, Spec, Via};
use odonata_topology::dragonfly_plus::GLOBAL;
use odonata_topology::{DragonflyPlus, GroupId, Peer, Port, RouterId};

use crate::choice::Draws;
use crate::link::Link;
use crate::packet::{Course, Packet};

/// Draw bases.
const MINIMAL: u8 = 0;
const NON_MINIMAL: u8 = 8;
const LEAST_SCORED: u8 = 16;
const INTERMEDIATE: u8 = 24;

/// Refuses a fabric with fewer channels than the routing changes through.
pub(crate) fn check_channels(spec: &Spec) -> Result<(), SimError> {
    let needed = if matches!(spec.routing, RoutingSpec::Minimal { .. }) { 1 } else { 2 };
    if spec.fabric.channels >= needed {
        return Ok(());
    }
    Err(SimError::invalid("fabric.channels", format!("this routing needs {needed} channels")))
}

/// Where and when a decision is made.
pub(crate) struct Place<'a> {
    /// The run.
    pub(crate) spec: &'a Spec,
    /// The machine.
    pub(crate) machine: &'a DragonflyPlus,
    /// All links; the output ports of the router are among them, by slot.
    pub(crate) links: &'a [Link],
    /// Slot of the input port.
    pub(crate) slot: usize,
    /// Channel on which the packet came.
    pub(crate) channel: usize,
    /// The time.
    pub(crate) t: u64,
}

impl Place<'_> {
    fn router(&self) -> RouterId {
        self.machine.network.router_of_slot[self.slot]
    }

    fn group(&self) -> GroupId {
        self.machine.group(self.router())
    }

    fn came_from_node(&self) -> bool {
        matches!(self.machine.network.peer[self.slot], Peer::Node(_))
    }

    fn came_by_global_link(&self) -> bool {
        self.machine.network.class[self.slot] == GLOBAL
    }

    fn ports(&self, ports: impl Iterator<Item = u32>) -> Vec<usize> {
        ports.map(|p| self.machine.network.slot(self.router(), Port(p as u16)).index()).collect()
    }

    /// Of a leaf: the ports to spines of this group from which `group` can be reached.
    fn up(&self, group: GroupId) -> Vec<usize> {
        let nodes = self.machine.spec.nodes_per_leaf;
        if group == self.group() {
            return self.ports(nodes..nodes + self.machine.spec.spines);
        }
        self.ports(self.machine.gateways(self.group(), group).iter().map(|&spine| nodes + u32::from(spine)))
    }

    /// Of a spine: the ports to another group.
    fn across(&self, group: GroupId) -> Vec<usize> {
        self.ports(self.machine.ports_to_group(self.router(), group).map(u32::from))
    }

    /// Of a spine: the ports to its leaves.
    fn down(&self) -> Vec<usize> {
        self.ports(0..self.machine.spec.leaves)
    }

    fn backlog(&self, port: usize) -> u64 {
        self.links[port].backlog(self.t)
    }

    fn least(&self, draws: Draws, list: &[usize], base: u8) -> usize {
        draws.least(list, |port| self.backlog(port), base)
    }

    fn pick(&self, draws: Draws, list: &[usize], select: Select) -> usize {
        match select {
            Select::Random => draws.any(list, MINIMAL),
            Select::LeastLoaded => self.least(draws, list, MINIMAL),
        }
    }

    /// The groups other than two, ascending.
    fn groups_except(&self, a: GroupId, b: GroupId) -> Vec<GroupId> {
        (0..self.machine.spec.groups).map(GroupId).filter(|&g| g != a && g != b).collect()
    }

    /// The output port (its slot) and channel of a packet.
    pub(crate) fn route(&self, packet: &mut Packet) -> (usize, usize) {
        let network = &self.machine.network;
        if self.router() == network.router_of_node(packet.destination) {
            return (network.node_slot[packet.destination.index()].index(), 0);
        }
        match self.spec.routing {
            RoutingSpec::Minimal { select, .. } => (self.minimal(packet, select), self.channel),
            RoutingSpec::Valiant { via, select, .. } => self.valiant(packet, via, select),
            RoutingSpec::Fpar { .. } | RoutingSpec::ProgAdaptive { .. } => self.adaptive(packet),
        }
    }

    fn draws(&self, packet: &Packet) -> Draws {
        Draws { word: packet.word, hop: packet.hop }
    }

    fn minimal(&self, packet: &Packet, select: Select) -> usize {
        let home = self.machine.leaf_of(packet.destination);
        let target = self.machine.group(home);
        if self.machine.is_leaf(self.router()) {
            self.pick(self.draws(packet), &self.up(target), select)
        } else if self.group() == target {
            self.down()[self.machine.local(home) as usize]
        } else {
            self.pick(self.draws(packet), &self.across(target), select)
        }
    }

    fn valiant(&self, packet: &mut Packet, via: Via, select: Select) -> (usize, usize) {
        let draws = self.draws(packet);
        let target = self.machine.network.group_of_node(packet.destination);
        if self.came_from_node() && self.group() != target && self.machine.spec.groups >= 3 {
            let groups = self.groups_except(self.group(), target);
            let group = groups[draws.u(INTERMEDIATE, groups.len())].0;
            let leaf = (via == Via::Leaf).then(|| draws.u(INTERMEDIATE + 1, self.machine.spec.leaves as usize) as u32);
            packet.course = Course::Detour { group, leaf };
            packet.minimal = false;
        }
        let Course::Detour { group, leaf } = packet.course else {
            return (self.minimal(packet, select), self.channel);
        };
        if self.machine.is_leaf(self.router()) {
            if self.came_from_node() {
                return (self.pick(draws, &self.up(GroupId(group)), select), 0);
            }
            packet.course = Course::Straight;
            return (self.pick(draws, &self.up(target), select), 1);
        }
        if self.group().0 != group {
            return (self.pick(draws, &self.across(GroupId(group)), select), 0);
        }
        if let Some(leaf) = leaf {
            return (self.down()[leaf as usize], 0);
        }
        let onward = self.across(target);
        if onward.is_empty() {
            return (self.pick(draws, &self.down(), select), 0);
        }
        packet.course = Course::Straight;
        (self.pick(draws, &onward, select), 1)
    }

    fn adaptive(&self, packet: &mut Packet) -> (usize, usize) {
        let draws = self.draws(packet);
        let home = self.machine.leaf_of(packet.destination);
        let target = self.machine.group(home);
        if self.machine.is_leaf(self.router()) {
            let channel = if self.came_from_node() { 0 } else { 1 };
            return (self.least(draws, &self.up(target), LEAST_SCORED), channel);
        }
        if self.group() == target {
            return (self.down()[self.machine.local(home) as usize], self.channel);
        }
        let onward = self.across(target);
        if self.channel == 1 {
            return (self.least(draws, &onward, LEAST_SCORED), 1);
        }
        let at_intermediate = self.came_by_global_link();
        let aside = if at_intermediate { self.down() } else { self.candidates(packet, target) };
        let (port, diverted) = self.decide(draws, &onward, &aside);
        if diverted {
            packet.minimal = false;
        }
        let late =
            matches!(self.spec.routing, RoutingSpec::Fpar { channel_switch: ChannelSwitch::IntermediateLeaf, .. });
        (port, usize::from(at_intermediate && !diverted && !late))
    }

    /// The non-minimal ports of a source spine.
    fn candidates(&self, packet: &Packet, target: GroupId) -> Vec<usize> {
        let (RoutingSpec::Fpar { candidates, .. } | RoutingSpec::ProgAdaptive { candidates, .. }) = self.spec.routing
        else {
            return Vec::new();
        };
        let groups = self.groups_except(self.group(), target);
        match candidates {
            FparCandidates::AllGroups => groups.into_iter().flat_map(|g| self.across(g)).collect(),
            FparCandidates::OneGroup if groups.is_empty() => Vec::new(),
            FparCandidates::OneGroup => {
                let once = Draws { word: packet.word, hop: 255 };
                self.across(groups[once.u(INTERMEDIATE, groups.len())])
            }
        }
    }

    /// A port of the minimal list or of the other one, and whether it is of the other one.
    fn decide(&self, draws: Draws, minimal: &[usize], aside: &[usize]) -> (usize, bool) {
        if aside.is_empty() {
            return (self.least(draws, minimal, LEAST_SCORED), false);
        }
        if minimal.is_empty() {
            return (self.least(draws, aside, LEAST_SCORED), true);
        }
        if let RoutingSpec::ProgAdaptive { threshold_bytes, factor_milli, .. } = self.spec.routing {
            let m = self.least(draws, minimal, MINIMAL);
            let n = self.least(draws, aside, NON_MINIMAL);
            let (load, other) = (u128::from(self.backlog(m)), u128::from(self.backlog(n)));
            let small = load <= u128::from(self.links[m].serialisation(threshold_bytes));
            let stay = small || load * 1000 <= other * u128::from(factor_milli);
            return if stay { (m, false) } else { (n, true) };
        }
        if let Some(port) = draws.passing(minimal, |port| self.is_free(port), MINIMAL) {
            return (port, false);
        }
        if let Some(port) = draws.passing(aside, |port| self.is_free(port), NON_MINIMAL) {
            return (port, true);
        }
        (self.least(draws, minimal, LEAST_SCORED), false)
    }

    /// Whether the score of a port passes the threshold of FPAR.
    fn is_free(&self, port: usize) -> bool {
        let RoutingSpec::Fpar { threshold_ppm, compare, .. } = self.spec.routing else { return false };
        let link = &self.links[port];
        let full = link.serialisation(u64::from(self.spec.fabric.channels) * link.spec.buffer_bytes);
        let limit = u128::from(full) * u128::from(threshold_ppm) / 1_000_000;
        let backlog = u128::from(self.backlog(port));
        match compare {
            Compare::Below => backlog < limit,
            Compare::AtMost => backlog <= limit,
        }
    }
}
