//! What a specification must satisfy before anything is simulated.

use std::collections::{BTreeSet, HashSet};

use odonata_programs::{Program, ProgramError};
use odonata_topology::{Machine, Network, NodeId};

use super::{Arrival, Costs, FabricSpec, Pattern, ProgramSpec, RoutingSpec, SPEC_VERSION, Spec, Traffic};
use crate::error::SimError;

/// Largest packet.
pub const MAX_PACKET_BYTES: u32 = 65_536;
/// Largest message.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 40;
/// Most virtual channels of a link.
pub const MAX_CHANNELS: u8 = 16;
/// Most virtual channels of all router ports together: about 5 GB.
pub const MAX_LANES: u64 = 1 << 25;
/// How long a run goes on after the last rank of a program that it waits for, in picoseconds: what ends a run must be known
/// before it ends, since routers do not keep step more closely than the time from one to the next.
pub const SETTLE_PS: u64 = 1_000_000;
/// Largest single time (delay, interval, horizon), in picoseconds: 2^62, 53 days.
pub const MAX_TIME_PS: u64 = 1 << 62;
/// Largest delay of a router, wire or credit, in picoseconds: 1 ms.
const MAX_DELAY_PS: u64 = 1_000_000_000;
/// Longest serialisation of one full packet, in picoseconds: 4 ms.
const MAX_SERIALISATION_PS: u64 = 4_000_000_000;

impl Spec {
    /// Reads a specification from JSON.
    ///
    /// # Errors
    /// [`SimError::Json`] with the position of what is wrong.
    pub fn from_json(text: &str) -> Result<Self, SimError> {
        serde_json::from_str(text).map_err(|e| SimError::Json(e.to_string()))
    }

    /// The specification as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a specification has no maps with other keys than strings")
    }

    /// Builds the machine, without what has failed.
    ///
    /// # Errors
    /// [`SimError::Topology`] if it cannot be built.
    pub fn machine(&self) -> Result<Machine, SimError> {
        Ok(Machine::build(&self.topology, &self.failures)?)
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    /// [`SimError::Invalid`] with the path of the value, or [`SimError::Topology`].
    pub fn check(&self) -> Result<(), SimError> {
        self.checked().map(|_| ())
    }

    /// As [`check`](Self::check); returns the machine.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn checked(&self) -> Result<Machine, SimError> {
        if self.version != SPEC_VERSION {
            let problem = format!("this core reads version {SPEC_VERSION}, not {}", self.version);
            return Err(SimError::invalid("version", problem));
        }
        let machine = self.machine()?;
        self.fabric.check(machine.network())?;
        self.check_size(machine.network())?;
        self.check_sensing(machine.network())?;
        check_routing(&self.routing, "routing")?;
        self.check_jobs(machine.network())?;
        self.check_stop()?;
        if self.measure.arrivals_every_ps == Some(0) {
            return Err(SimError::invalid("measure.arrivals_every_ps", "a window of 0 ps has no end"));
        }
        if let Some(until) = self.measure.until_ps
            && until <= self.measure.from_ps
        {
            let problem = format!("the measured interval ends at {until} ps, before it begins");
            return Err(SimError::invalid("measure.until_ps", problem));
        }
        Ok(machine)
    }

    /// Refuses what no memory would hold: the simulator takes about 160 B for each channel of each port.
    fn check_size(&self, network: &Network) -> Result<(), SimError> {
        let (ports, channels) = (network.peer.len() as u64, u64::from(self.fabric.channels));
        if ports * channels <= MAX_LANES {
            return Ok(());
        }
        let problem = format!(
            "{ports} router ports with {channels} virtual channels each are more than the {MAX_LANES} channels that can be \
             simulated; use a smaller machine or fewer channels"
        );
        Err(SimError::invalid("topology", problem))
    }

    fn check_sensing(&self, network: &Network) -> Result<(), SimError> {
        for (class, &delay) in &self.sensing.delay_ps {
            let at = format!("sensing.delay_ps.{class}");
            if !network.classes[1..].contains(&class.as_str()) {
                let problem = format!("the links between routers are of the classes {:?}", &network.classes[1..]);
                return Err(SimError::invalid(at, problem));
            }
            time(at, delay, 0, MAX_DELAY_PS)?;
        }
        Ok(())
    }

    fn check_jobs(&self, network: &Network) -> Result<(), SimError> {
        if self.jobs.is_empty() || self.jobs.len() > usize::from(u16::MAX) {
            let problem = format!("a run has between 1 and 65,535 jobs, not {}", self.jobs.len());
            return Err(SimError::invalid("jobs", problem));
        }
        let mut owner: Vec<Option<usize>> = vec![None; network.nodes()];
        let mut names = HashSet::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let at = |field: &str| format!("jobs[{index}].{field}");
            if !names.insert(job.name.as_str()) {
                return Err(SimError::invalid(at("name"), format!("another job is named `{}` too", job.name)));
            }
            for &node in &job.nodes {
                let Some(slot) = owner.get_mut(node as usize) else {
                    let problem = format!("node {node} does not exist: the machine has {} nodes", network.nodes());
                    return Err(SimError::invalid(at("nodes"), problem));
                };
                if let Some(other) = slot
                    && !(*other == index && job.program.is_some())
                {
                    let problem = if *other == index {
                        format!("node {node} is listed twice")
                    } else {
                        format!("node {node} belongs to job `{}` already", self.jobs[*other].name)
                    };
                    return Err(SimError::invalid(at("nodes"), problem));
                }
                let nics = &network.node_slot[node as usize * network.rails as usize..][..network.rails as usize];
                if nics.iter().any(|slot| !network.alive_router(network.router_of_slot[slot.index()])) {
                    return Err(SimError::invalid(at("nodes"), format!("node {node} is on a router that has failed")));
                }
                *slot = Some(index);
            }
            if let Some(routing) = &job.routing {
                check_routing(routing, &at("routing"))?;
            }
            let ranks = job.nodes.len() as u64;
            if ranks < 2 {
                return Err(SimError::invalid(at("nodes"), format!("{ranks} ranks have nobody to send to")));
            }
            match (&job.traffic, &job.program) {
                (Some(traffic), None) => check_traffic(traffic, &job.nodes, network, &at)?,
                (None, Some(program)) => check_program(program, ranks, &at)?,
                _ => {
                    let problem = "a job has either `traffic` or a `program`";
                    return Err(SimError::invalid(format!("jobs[{index}]"), problem));
                }
            }
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<(), SimError> {
        if self.stop.jobs.is_empty() && self.stop.at_ps.is_none() {
            return Err(SimError::invalid("stop", "neither a job nor a time ends the run"));
        }
        if let Some(at) = self.stop.at_ps {
            time("stop.at_ps".into(), at, 1, MAX_TIME_PS)?;
        }
        for &job in &self.stop.jobs {
            match self.jobs.get(job as usize) {
                None => return Err(SimError::invalid("stop.jobs", format!("there is no job {job}"))),
                Some(j) if j.is_endless() => {
                    let problem = format!("job `{}` never ends, so the run would not either", j.name);
                    return Err(SimError::invalid("stop.jobs", problem));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

impl FabricSpec {
    fn check(&self, network: &Network) -> Result<(), SimError> {
        if !(1..=MAX_PACKET_BYTES).contains(&self.packet_bytes) {
            let problem = format!("{} is not between 1 and {MAX_PACKET_BYTES} bytes", self.packet_bytes);
            return Err(SimError::invalid("fabric.packet_bytes", problem));
        }
        if !(1..=MAX_CHANNELS).contains(&self.channels) {
            let problem = format!("{} is not between 1 and {MAX_CHANNELS}", self.channels);
            return Err(SimError::invalid("fabric.channels", problem));
        }
        time("fabric.router_delay_ps".into(), self.router_delay_ps, 0, MAX_DELAY_PS)?;
        time("fabric.nic.overhead_ps".into(), self.nic.overhead_ps, 0, MAX_DELAY_PS)?;
        let wanted: BTreeSet<&str> = network.classes.iter().copied().collect();
        let given: BTreeSet<&str> = self.links.keys().map(String::as_str).collect();
        if wanted != given {
            let problem = format!("this machine has links of the classes {wanted:?}, found {given:?}");
            return Err(SimError::invalid("fabric.links", problem));
        }
        for (class, link) in &self.links {
            let at = |field: &str| format!("fabric.links.{class}.{field}");
            if link.bandwidth.micro_bytes_per_second() == 0 {
                return Err(SimError::invalid(at("bandwidth"), "a link of no bandwidth never delivers"));
            }
            let ser = link.bandwidth.serialisation_ps(u64::from(self.packet_bytes));
            if ser > MAX_SERIALISATION_PS {
                let problem = format!("a packet of {} bytes takes {ser} ps, more than 4 ms", self.packet_bytes);
                return Err(SimError::invalid(at("bandwidth"), problem));
            }
            time(at("latency_ps"), link.latency_ps, 0, MAX_DELAY_PS)?;
            time(at("credit_delay_ps"), link.credit_delay_ps, 0, MAX_DELAY_PS)?;
            if link.buffer_bytes < u64::from(self.packet_bytes) || link.buffer_bytes > 1 << 30 {
                let problem = format!(
                    "{} bytes must hold at least one packet ({} bytes) and at most 2^30 bytes",
                    link.buffer_bytes, self.packet_bytes
                );
                return Err(SimError::invalid(at("buffer_bytes"), problem));
            }
        }
        Ok(())
    }
}

/// Refuses numbers of a routing that make no sense on any machine.
fn check_routing(routing: &RoutingSpec, at: &str) -> Result<(), SimError> {
    for (field, value, range) in routing.numbers() {
        if !range.contains(&value) {
            let problem = match *range.start() {
                0 => format!("{value} is more than {}", range.end()),
                least => format!("{value} is not between {least} and {}", range.end()),
            };
            return Err(SimError::invalid(format!("{at}.{field}"), problem));
        }
    }
    Ok(())
}

fn time(at: String, value: u64, least: u64, most: u64) -> Result<(), SimError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SimError::invalid(at, format!("{value} ps is not between {least} and {most} ps")))
}

/// Refuses traffic that no rank could send. `at` makes the path of a field of the job.
fn check_traffic(
    traffic: &Traffic,
    nodes: &[u32],
    network: &Network,
    at: &impl Fn(&str) -> String,
) -> Result<(), SimError> {
    if !(1..=MAX_MESSAGE_BYTES).contains(&traffic.message_bytes) {
        let problem = format!("{} is not between 1 and 2^40 bytes", traffic.message_bytes);
        return Err(SimError::invalid(at("traffic.message_bytes"), problem));
    }
    time(at("traffic.interval_ps"), traffic.interval_ps, 1, MAX_TIME_PS >> 8)?;
    if let Arrival::Constant { jitter_ps } | Arrival::Staggered { jitter_ps } = traffic.arrival {
        time(at("traffic.arrival.jitter_ps"), jitter_ps, 0, MAX_TIME_PS >> 8)?;
    }
    if let Some(intervals) = traffic.intervals
        && !(1..=u64::from(u32::MAX) / 2).contains(&intervals)
    {
        let problem = format!("{intervals} is not between 1 and 2^31 - 1");
        return Err(SimError::invalid(at("traffic.intervals"), problem));
    }
    check_pattern(&traffic.pattern, nodes, network).map_err(|e| SimError::invalid(at("traffic.pattern"), e))?;
    Ok(())
}

/// Refuses a program that no rank could run. `at` makes the path of a field of the job.
fn check_program(program: &ProgramSpec, ranks: u64, at: &impl Fn(&str) -> String) -> Result<(), SimError> {
    let ProgramSpec { start_ps, iterations, gap_ps, every_ps, costs, body } = program;
    time(at("program.start_ps"), *start_ps, 0, MAX_TIME_PS >> 8)?;
    time(at("program.gap_ps"), *gap_ps, 0, MAX_TIME_PS >> 8)?;
    time(at("program.every_ps"), *every_ps, 0, MAX_TIME_PS >> 8)?;
    if let Some(iterations) = iterations
        && !(1..=u64::from(u32::MAX) / 2).contains(iterations)
    {
        return Err(SimError::invalid(at("program.iterations"), format!("{iterations} is not between 1 and 2^31 - 1")));
    }
    let Costs { send_ps, receive_ps, copy, memory_ps, eager_bytes: _, control_bytes } = *costs;
    for (field, value) in [("send_ps", send_ps), ("receive_ps", receive_ps), ("memory_ps", memory_ps)] {
        time(at(&format!("program.costs.{field}")), value, 0, MAX_DELAY_PS)?;
    }
    if copy.is_some_and(|copy| copy.micro_bytes_per_second() == 0) {
        let problem = "a copy at no bandwidth never ends; leave `copy` out if copying takes no time";
        return Err(SimError::invalid(at("program.costs.copy"), problem));
    }
    if !(1..=MAX_PACKET_BYTES).contains(&control_bytes) {
        let problem = format!("{control_bytes} is not between 1 and {MAX_PACKET_BYTES} bytes");
        return Err(SimError::invalid(at("program.costs.control_bytes"), problem));
    }
    let refuse = |problem: ProgramError| match problem {
        ProgramError::Invalid { field, problem } => SimError::invalid(at(&format!("program.body.{field}")), problem),
        ProgramError::Grid { .. } => SimError::invalid(at("program.body.phases"), problem.to_string()),
        ProgramError::Trace { .. } | ProgramError::Binary { .. } | ProgramError::Operation { .. } => {
            SimError::invalid(at("program.body.goal"), problem.to_string())
        }
    };
    Program::new(body, ranks as u32).map(|_| ()).map_err(refuse)
}

fn check_pattern(pattern: &Pattern, nodes: &[u32], network: &Network) -> Result<(), String> {
    let ranks = nodes.len() as u64;
    match *pattern {
        Pattern::UniformRandom {} => Ok(()),
        Pattern::Tornado { offset } if offset % ranks == 0 => {
            Err(format!("an offset of {offset} makes each of {ranks} ranks its own partner"))
        }
        Pattern::Tornado { .. } => Ok(()),
        Pattern::Stencil3d { grid: [x, y, z] } => {
            let product = u128::from(x) * u128::from(y) * u128::from(z);
            if product == u128::from(ranks) {
                return Ok(());
            }
            Err(format!("a grid of {x} x {y} x {z} has {product} points for {ranks} ranks"))
        }
        Pattern::Broadcast { root } if u64::from(root) >= ranks => {
            Err(format!("root {root} is not one of {ranks} ranks"))
        }
        Pattern::Broadcast { .. } => Ok(()),
        Pattern::GroupShift { shift } => {
            let used: BTreeSet<_> = nodes.iter().map(|&n| network.group_of_node(NodeId(n))).collect();
            if u64::from(shift).is_multiple_of(used.len() as u64) {
                return Err(format!(
                    "a shift of {shift} makes each of the job's {} groups its own partner",
                    used.len()
                ));
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
                return Err("group-peers needs ranks in at least two groups".into());
            }
            match used.iter().find(|&&(_, c)| c != used[0].1) {
                None => Ok(()),
                Some((group, c)) => {
                    let (first, n) = used[0];
                    Err(format!(
                        "group-peers needs equally many ranks in each group, but group {first} has {n} and group {group} has {c}"
                    ))
                }
            }
        }
    }
}
