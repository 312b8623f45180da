//! Conditions that a specification must satisfy before anything is simulated.

use std::collections::{BTreeSet, HashSet};

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_programs::Program;
use odonata_topology::{Machine, Network, NodeId, PreparedMachine};

use super::gpus::check_gpus;
use super::{
    Arrival, CongestionSpec, Costs, Delivery, Entropy, FabricSpec, Length, MarkingPorts, Pattern, Prepared,
    ProgramSpec, RouterSpec, RoutingSpec, SPEC_VERSION, Spec, Traffic,
};

/// Largest packet.
pub const MAX_PACKET_BYTES: u32 = 65_536;
/// Largest message.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 40;
/// Most virtual channels of a link.
pub const MAX_CHANNELS: u8 = 16;
/// Most virtual channels of all router ports together: about 5 GB.
pub const MAX_VCS: u64 = 1 << 25;
/// How long a run continues after the last rank of a program that it waits for, in picoseconds. Routers are
/// synchronised only to within the lookahead, so the event that ends a run must be known before the end.
pub const SETTLE_PS: u64 = 1_000_000;
/// Largest single time (delay, interval, horizon), in picoseconds: 2^62, 53 days.
pub const MAX_TIME_PS: u64 = 1 << 62;
/// Longest interval, gap, jitter and computing time, in picoseconds: 2^54, 5 hours.
pub(super) const MAX_DURATION_PS: u64 = MAX_TIME_PS >> 8;
/// Longest burst or pause, in picoseconds: 2^54, 5 hours. Longer ones that are drawn are cut.
pub const LONGEST_BURST_PS: u64 = MAX_DURATION_PS;
/// Largest sigma of a lognormal length, in millionths. (Assumed: with 10, one length in 1e6 is longer than the mean.)
const MOST_SIGMA: u64 = 10_000_000;
/// Largest exponent of a Pareto length, in millionths. (Assumed: with 1,000, all lengths are nearly the same.)
const MOST_SHAPE: u64 = 1_000_000_000;
/// Largest delay of a router, wire or credit, in picoseconds: 1 ms.
pub(super) const MAX_DELAY_PS: u64 = 1_000_000_000;
/// Most levels of loads.
const MAX_LEVELS: u64 = u32::MAX as u64;
/// Largest window of a NIC, in packets.
pub(super) const MAX_WINDOW: u32 = 1 << 20;
/// Largest window of a NIC towards a destination.
pub(super) const MAX_WINDOW_BYTES: u64 = 1 << 40;
/// Largest buffer of a channel.
pub(super) const MAX_BUFFER_BYTES: u64 = 1 << 30;
/// Most counts by window, job and group: 2 GiB.
pub(crate) const MAX_ARRIVAL_COUNTS: u64 = 1 << 26;
/// Most intervals or iterations.
pub(super) const MAX_ITERATIONS: u64 = u32::MAX as u64 / 2;
/// Longest serialisation of one full packet, in picoseconds: 4 ms.
const MAX_SERIALISATION_PS: u64 = 4_000_000_000;

impl Spec {
    /// Reads a specification from JSON.
    ///
    /// # Errors
    /// [`ErrorKind::UnreadableSpecification`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|e| ErrorKind::UnreadableSpecification { problem: e.to_string() }.into())
    }

    /// The specification as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a specification has no maps with other keys than strings")
    }

    /// The same specification with its wired machine. A machine that is not its own is ignored.
    #[must_use]
    pub fn on(mut self, machine: &PreparedMachine) -> Self {
        self.prepared = Prepared(Some(machine.clone()));
        self
    }

    /// The machine without what has failed: the one that the specification carries, or built anew.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn machine(&self) -> Result<Machine, Error> {
        match &self.prepared.0 {
            Some(prepared) if prepared.is_of(&self.topology, &self.failures) => Ok(prepared.machine().clone()),
            _ => Machine::build(&self.topology, &self.failures),
        }
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    /// The first thing that is wrong, with the path of the value.
    pub fn check(&self) -> Result<(), Error> {
        self.checked().map(|_| ())
    }

    /// As [`check`](Self::check); returns the machine.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn checked(&self) -> Result<Machine, Error> {
        if self.version != SPEC_VERSION {
            let kind = ErrorKind::UnsupportedVersion { found: self.version, supported: SPEC_VERSION };
            return Err(kind.at(path!["version"]));
        }
        let machine = self.machine()?;
        self.fabric.check(machine.network())?;
        self.check_size(machine.network())?;
        self.check_sensing(machine.network())?;
        self.routing.check_ranges(&path!["routing"])?;
        self.check_application_aware()?;
        self.check_entropy()?;
        self.check_jobs(machine.network())?;
        self.check_classes()?;
        self.check_stop()?;
        if self.compat.is_none() && !self.compat_without.is_empty() {
            return Err(ErrorKind::DefectWithoutModel {}.at(path!["compat_without"]));
        }
        if self.measure.roots && !self.measure.blame {
            return Err(ErrorKind::RootsWithoutBlame {}.at(path!["measure", "roots"]));
        }
        if self.measure.arrivals_every_ps == Some(0) {
            return Err(ErrorKind::Zero {}.at(path!["measure", "arrivals_every_ps"]));
        }
        if let Some(until_ps) = self.measure.until_ps
            && until_ps <= self.measure.from_ps
        {
            let kind = ErrorKind::WindowEndsEarly { from_ps: self.measure.from_ps, until_ps };
            return Err(kind.at(path!["measure", "until_ps"]));
        }
        Ok(machine)
    }

    /// Refuses machines that do not fit into memory: the simulator needs about 160 B for each channel of each port.
    fn check_size(&self, network: &Network) -> Result<(), Error> {
        let (ports, channels) = (network.peer.len() as u64, u64::from(self.fabric.all_channels()));
        if ports * channels <= MAX_VCS {
            return Ok(());
        }
        Err(ErrorKind::TooManyVcs { ports, channels, most: MAX_VCS }.at(path!["topology"]))
    }

    /// Refuses application-aware routing without the counters that it reads.
    fn check_application_aware(&self) -> Result<(), Error> {
        if self.fabric.nic.aries.is_some() {
            return Ok(());
        }
        for (index, job) in self.jobs.iter().enumerate() {
            if matches!(self.routing_of(job), RoutingSpec::ApplicationAware { .. }) {
                let at = if job.routing.is_some() { path!["jobs", index, "routing"] } else { path!["routing"] };
                return Err(ErrorKind::ApplicationAwareWithoutCounters {}.at(at.join("name")));
            }
        }
        Ok(())
    }

    /// Refuses to use keys of packets again without marks, or where the path of a packet does not follow from its key.
    fn check_entropy(&self) -> Result<(), Error> {
        if self.fabric.nic.entropy == Entropy::Fresh {
            return Ok(());
        }
        let marks = |of: CongestionSpec| of.law.marking() == MarkingPorts::All && of.mark_above_bytes.is_some();
        if !self.fabric.congestion_control.is_some_and(marks) {
            return Err(ErrorKind::RepsWithoutMarks {}.at(path!["fabric", "nic", "entropy"]));
        }
        for (index, job) in self.jobs.iter().enumerate() {
            let routing = self.routing_of(job);
            if !routing.sprays() {
                let at = if job.routing.is_some() { path!["jobs", index, "routing"] } else { path!["routing"] };
                return Err(ErrorKind::RepsWithoutSpraying { routing: routing.name() }.at(at));
            }
        }
        Ok(())
    }

    fn check_sensing(&self, network: &Network) -> Result<(), Error> {
        if self.sensing.kind.reads_output_buffers() && self.fabric.router.is_none() {
            return Err(ErrorKind::NoOutputBuffers {}.at(path!["sensing", "kind"]));
        }
        if let Some(levels) = self.sensing.levels {
            range(&path!["sensing", "levels"], levels.into(), 1, MAX_LEVELS)?;
        }
        for (class, &delay) in &self.sensing.delay_ps {
            let at = path!["sensing", "delay_ps", class.clone()];
            if !network.classes[1..].contains(&class.as_str()) {
                let classes = network.classes[1..].iter().map(ToString::to_string).collect();
                return Err(ErrorKind::UnknownClass { class: class.clone(), classes }.at(at));
            }
            range(&at, delay, 0, MAX_DELAY_PS)?;
        }
        Ok(())
    }

    fn check_jobs(&self, network: &Network) -> Result<(), Error> {
        if self.jobs.is_empty() || self.jobs.len() > usize::from(u16::MAX) {
            let kind = ErrorKind::JobCount { found: self.jobs.len(), most: u16::MAX.into() };
            return Err(kind.at(path!["jobs"]));
        }
        let mut owner: Vec<Option<usize>> = vec![None; network.nodes()];
        let mut names = HashSet::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let at = |field: &'static str| path!["jobs", index, field];
            if !names.insert(job.name.as_str()) {
                return Err(ErrorKind::JobNameTaken { name: job.name.clone() }.at(at("name")));
            }
            for &node in &job.nodes {
                let Some(slot) = owner.get_mut(node as usize) else {
                    return Err(ErrorKind::NoSuchNode { node, nodes: network.nodes() }.at(at("nodes")));
                };
                if let Some(other) = slot
                    && !(*other == index && job.program.is_some())
                {
                    let kind = if *other == index {
                        ErrorKind::NodeTwice { node }
                    } else {
                        ErrorKind::NodeTaken { node, job: self.jobs[*other].name.clone() }
                    };
                    return Err(kind.at(at("nodes")));
                }
                let nics = &network.node_slot[node as usize * network.rails as usize..][..network.rails as usize];
                if nics.iter().any(|slot| !network.router_works(network.router_of_slot[slot.index()])) {
                    return Err(ErrorKind::NodeFailed { node }.at(at("nodes")));
                }
                *slot = Some(index);
            }
            if let Some(routing) = &job.routing {
                routing.check_ranges(&at("routing"))?;
            }
            if let Some(bursts) = &job.bursts {
                check_length(&bursts.on, &at("bursts").join("on"))?;
                check_length(&bursts.off, &at("bursts").join("off"))?;
            }
            let ranks = job.nodes.len() as u64;
            if ranks < 2 {
                return Err(ErrorKind::TooFewRanks { ranks }.at(at("nodes")));
            }
            match (&job.traffic, &job.program) {
                (Some(traffic), None) => check_traffic(traffic, &job.nodes, network, &at("traffic"))?,
                (None, Some(program)) => check_program(program, ranks, network.rails, &at("program"))?,
                _ => return Err(ErrorKind::TrafficOrProgram {}.at(path!["jobs", index])),
            }
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<(), Error> {
        if self.stop.jobs.is_empty() && self.stop.at_ps.is_none() {
            return Err(ErrorKind::NoEnd {}.at(path!["stop"]));
        }
        if let Some(at) = self.stop.at_ps {
            range(&path!["stop", "at_ps"], at, 1, MAX_TIME_PS)?;
        }
        for &job in &self.stop.jobs {
            let kind = match self.jobs.get(job as usize) {
                None => ErrorKind::NoSuchJob { job },
                Some(endless) if endless.is_endless() => ErrorKind::EndlessJob { job: endless.name.clone() },
                Some(_) => continue,
            };
            return Err(kind.at(path!["stop", "jobs"]));
        }
        Ok(())
    }
}

impl FabricSpec {
    fn check(&self, network: &Network) -> Result<(), Error> {
        self.check_ranges(&path!["fabric"])?;
        let wire_bytes = self.wire_bytes(self.packet_bytes);
        if wire_bytes > u64::from(MAX_PACKET_BYTES) {
            let (packet_bytes, header_bytes, flit_bytes) = (self.packet_bytes, self.header_bytes, self.flit_bytes);
            let most_bytes = MAX_PACKET_BYTES;
            let kind =
                ErrorKind::PacketOnWireTooLarge { wire_bytes, packet_bytes, header_bytes, flit_bytes, most_bytes };
            return Err(kind.at(path!["fabric", "packet_bytes"]));
        }
        self.check_aries()?;
        self.check_window()?;
        self.check_congestion_control()?;
        range(&path!["fabric", "channels"], self.channels.into(), 1, self.most_channels().into())?;
        self.nic.check_ranges(&path!["fabric", "nic"])?;
        if let Some(router) = self.router {
            self.check_router(router, wire_bytes)?;
        }
        let wanted: BTreeSet<&str> = network.classes.iter().copied().collect();
        let given: BTreeSet<&str> = self.links.keys().map(String::as_str).collect();
        if wanted != given {
            let texts = |classes: BTreeSet<&str>| classes.into_iter().map(String::from).collect();
            let kind = ErrorKind::OtherClasses { classes: texts(wanted), found: texts(given) };
            return Err(kind.at(path!["fabric", "links"]));
        }
        for (class, link) in &self.links {
            let at = |field: &'static str| path!["fabric", "links", class.clone(), field];
            if link.bandwidth.micro_bytes_per_second() == 0 {
                return Err(ErrorKind::NoBandwidth {}.at(at("bandwidth")));
            }
            let ser = link.bandwidth.serialisation_ps(wire_bytes);
            if ser > MAX_SERIALISATION_PS {
                let (packet_bytes, most_ps) = (wire_bytes, MAX_SERIALISATION_PS);
                return Err(ErrorKind::SlowLink { packet_bytes, found_ps: ser, most_ps }.at(at("bandwidth")));
            }
            let (found_bytes, packet_bytes, most_bytes) = (link.buffer_bytes, wire_bytes, MAX_BUFFER_BYTES);
            if found_bytes < packet_bytes || found_bytes > most_bytes {
                let kind = ErrorKind::BufferOutOfRange { found_bytes, packet_bytes, most_bytes };
                return Err(kind.at(at("buffer_bytes")));
            }
            link.check_ranges(&path!["fabric", "links", class.clone()])?;
        }
        Ok(())
    }
}

impl FabricSpec {
    /// Refuses a NIC of Aries whose window holds no packet, or that is slower than its link.
    fn check_aries(&self) -> Result<(), Error> {
        let Some(aries) = self.nic.aries else { return Ok(()) };
        if self.nic.delivery == Delivery::InOrder {
            return Err(ErrorKind::AriesInOrder {}.at(path!["fabric", "nic", "delivery"]));
        }
        let at = |field: &'static str| path!["fabric", "nic", "aries", field];
        aries.check_ranges(&path!["fabric", "nic", "aries"])?;
        let control_bytes = self.control_bytes(self.packet_bytes);
        if control_bytes > MAX_PACKET_BYTES.into() {
            let most_bytes = MAX_PACKET_BYTES;
            let (packet_bytes, header_bytes, flit_bytes) = (self.packet_bytes, self.header_bytes, self.flit_bytes);
            let wire_bytes = control_bytes;
            let kind =
                ErrorKind::PacketOnWireTooLarge { wire_bytes, packet_bytes, header_bytes, flit_bytes, most_bytes };
            return Err(kind.at(path!["fabric", "packet_bytes"]));
        }
        range(&at("window"), aries.window.into(), aries.burst(self.packet_bytes).into(), MAX_WINDOW.into())?;
        let node = self.links.get("node").filter(|node| node.bandwidth.micro_bytes_per_second() > 0);
        let Some(node) = node else { return Ok(()) }; // refused later
        let flit_ps = node.bandwidth.serialisation_ps(self.flit_bytes.into());
        if flit_ps < aries.cycle_ps {
            let kind = ErrorKind::CycleTooLong { cycle_ps: aries.cycle_ps, flit_bytes: self.flit_bytes, flit_ps };
            return Err(kind.at(at("cycle_ps")));
        }
        Ok(())
    }

    /// Refuses a window towards each destination that holds no full packet, or that NICs of Aries would have.
    fn check_window(&self) -> Result<(), Error> {
        if let Some(window) = self.nic.window_bytes {
            let at = path!["fabric", "nic", "window_bytes"];
            if self.nic.aries.is_some() {
                return Err(ErrorKind::TwoWindows {}.at(at));
            }
            range(&at, window, self.packet_bytes.into(), MAX_WINDOW_BYTES)?;
        }
        if self.nic.acknowledge_every.is_some()
            && let Some(of) = self.answers_none_or_each()
        {
            return Err(ErrorKind::FixedAcknowledgements { of }.at(path!["fabric", "nic", "acknowledge_every"]));
        }
        Ok(())
    }

    /// Refuses a router with a crossbar that could not move a packet of so many bytes.
    fn check_router(&self, router: RouterSpec, packet_bytes: u64) -> Result<(), Error> {
        let at = |field: &'static str| path!["fabric", "router", field];
        if router.crossbar.micro_bytes_per_second() == 0 {
            return Err(ErrorKind::NoBandwidth {}.at(at("crossbar")));
        }
        let (found_ps, most_ps) = (router.crossbar.serialisation_ps(packet_bytes), MAX_SERIALISATION_PS);
        if found_ps > most_ps {
            return Err(ErrorKind::SlowLink { packet_bytes, found_ps, most_ps }.at(at("crossbar")));
        }
        let (found_bytes, most_bytes) = (router.output_buffer_bytes, MAX_BUFFER_BYTES);
        if found_bytes < packet_bytes || found_bytes > most_bytes {
            let kind = ErrorKind::BufferOutOfRange { found_bytes, packet_bytes, most_bytes };
            return Err(kind.at(at("output_buffer_bytes")));
        }
        Ok(())
    }
}

pub(crate) fn range(at: &Path, found: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(ErrorKind::OutOfRange { found, least, most }.at(at.clone()))
}

/// Refuses traffic that no rank could send. `at` is its path.
fn check_traffic(traffic: &Traffic, nodes: &[u32], network: &Network, at: &Path) -> Result<(), Error> {
    range(&at.join("message_bytes"), traffic.message_bytes, 1, MAX_MESSAGE_BYTES)?;
    range(&at.join("interval_ps"), traffic.interval_ps, 1, MAX_DURATION_PS)?;
    if let Arrival::Constant { jitter_ps } | Arrival::Staggered { jitter_ps } = traffic.arrival {
        range(&at.join("arrival").join("jitter_ps"), jitter_ps, 0, MAX_DURATION_PS)?;
    }
    if let Some(intervals) = traffic.intervals {
        range(&at.join("intervals"), intervals, 1, MAX_ITERATIONS)?;
    }
    check_pattern(&traffic.pattern, nodes, network).map_err(|e| e.under(at.join("pattern")))
}

/// Refuses a length of bursts or pauses without a meaning. `at` is its path.
fn check_length(length: &Length, at: &Path) -> Result<(), Error> {
    let time = |field: &'static str, found, least| range(&at.join(field), found, least, LONGEST_BURST_PS);
    match *length {
        Length::Fixed { ps } => time("ps", ps, 1),
        Length::Exponential { mean_ps } => time("mean_ps", mean_ps, 1),
        Length::Uniform { least_ps, most_ps } => time("least_ps", least_ps, 1).and(time("most_ps", most_ps, least_ps)),
        Length::Lognormal { mean_ps, sigma_millionths } => {
            time("mean_ps", mean_ps, 1)?;
            range(&at.join("sigma_millionths"), sigma_millionths, 1, MOST_SIGMA)
        }
        Length::Pareto { mean_ps, shape_millionths } => {
            time("mean_ps", mean_ps, 1)?;
            range(&at.join("shape_millionths"), shape_millionths, 1_000_001, MOST_SHAPE)
        }
    }
}

/// Refuses a program that no rank could run. `at` is its path.
fn check_program(program: &ProgramSpec, ranks: u64, rails: u32, at: &Path) -> Result<(), Error> {
    let ProgramSpec { start_ps, iterations, gap_ps, every_ps, costs, by_size, combine_by_size, gpus, body } = program;
    range(&at.join("start_ps"), *start_ps, 0, MAX_DURATION_PS)?;
    range(&at.join("gap_ps"), *gap_ps, 0, MAX_DURATION_PS)?;
    range(&at.join("every_ps"), *every_ps, 0, MAX_DURATION_PS)?;
    if let Some(iterations) = iterations {
        range(&at.join("iterations"), *iterations, 1, MAX_ITERATIONS)?;
    }
    let costs_at = at.join("costs");
    let Costs { send_ps, receive_ps, copy, combine, rendezvous_ps, memory_ps, .. } = *costs;
    let Costs { eager_bytes: _, control_bytes, header_bytes, .. } = *costs;
    let times =
        [("send_ps", send_ps), ("receive_ps", receive_ps), ("rendezvous_ps", rendezvous_ps), ("memory_ps", memory_ps)];
    for (field, value) in times {
        range(&costs_at.join(field), value, 0, MAX_DELAY_PS)?;
    }
    for (field, bandwidth) in [("copy", copy), ("combine", combine)] {
        if bandwidth.is_some_and(|bandwidth| bandwidth.micro_bytes_per_second() == 0) {
            return Err(ErrorKind::NoBandwidth {}.at(costs_at.join(field)));
        }
    }
    for (place, of) in by_size.iter().enumerate() {
        let at = at.join("by_size").join(place);
        let least = if place == 0 { 0 } else { by_size[place - 1].bytes + 1 };
        range(&at.join("bytes"), of.bytes, least, MAX_MESSAGE_BYTES)?;
        for (field, value) in [("send_ps", of.send_ps), ("receive_ps", of.receive_ps), ("delay_ps", of.delay_ps)] {
            range(&at.join(field), value, 0, MAX_DELAY_PS)?;
        }
    }
    for (place, of) in combine_by_size.iter().enumerate() {
        let at = at.join("combine_by_size").join(place);
        let least = if place == 0 { 0 } else { combine_by_size[place - 1].bytes + 1 };
        range(&at.join("bytes"), of.bytes, least, MAX_MESSAGE_BYTES)?;
        if of.combine.micro_bytes_per_second() == 0 {
            return Err(ErrorKind::NoBandwidth {}.at(at.join("combine")));
        }
    }
    range(&costs_at.join("control_bytes"), control_bytes.into(), 1, MAX_PACKET_BYTES.into())?;
    range(&costs_at.join("header_bytes"), header_bytes.into(), 0, MAX_PACKET_BYTES.into())?;
    if let Some(gpus) = gpus {
        check_gpus(gpus, rails, &at.join("gpus"))?;
    }
    Program::new(body, ranks as u32).map(|_| ()).map_err(|e| e.under(at.join("body")))
}

/// Paths are relative to the pattern.
fn check_pattern(pattern: &Pattern, nodes: &[u32], network: &Network) -> Result<(), Error> {
    let ranks = nodes.len() as u64;
    match *pattern {
        Pattern::UniformRandom {} => Ok(()),
        Pattern::Tornado { offset } if offset % ranks == 0 => {
            Err(ErrorKind::OffsetToSelf { offset, ranks }.at(path!["offset"]))
        }
        Pattern::Tornado { .. } => Ok(()),
        Pattern::Stencil3d { grid: [x, y, z] } => {
            let points = u128::from(x) * u128::from(y) * u128::from(z);
            if points == u128::from(ranks) {
                return Ok(());
            }
            Err(ErrorKind::GridOfOtherSize { grid: vec![x, y, z], points, ranks }.at(path!["grid"]))
        }
        Pattern::Broadcast { root } if u64::from(root) >= ranks => {
            Err(ErrorKind::RootNotARank { root, ranks }.at(path!["root"]))
        }
        Pattern::Broadcast { .. } => Ok(()),
        Pattern::GroupShift { shift } => {
            let used: BTreeSet<_> = nodes.iter().map(|&n| network.group_of_node(NodeId(n))).collect();
            if u64::from(shift).is_multiple_of(used.len() as u64) {
                return Err(ErrorKind::ShiftToSelf { shift, groups: used.len() }.at(path!["shift"]));
            }
            Ok(())
        }
        Pattern::GroupPeers {} => {
            let mut count = vec![0_u64; network.groups as usize];
            for &node in nodes {
                count[network.group_of_node(NodeId(node)).index()] += 1;
            }
            let used: Vec<(usize, u64)> = count.into_iter().enumerate().filter(|&(_, c)| c > 0).collect();
            if used.len() < 2 {
                return Err(ErrorKind::OneGroup {}.into());
            }
            match used.iter().find(|&&(_, c)| c != used[0].1) {
                None => Ok(()),
                Some(&(other, other_ranks)) => {
                    let (group, ranks) = used[0];
                    Err(ErrorKind::UnequalGroups { group, ranks, other, other_ranks }.into())
                }
            }
        }
    }
}
