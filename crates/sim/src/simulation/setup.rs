//! From a specification to the first events.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::zeroed_vec;
use odonata_error::{Error, ErrorKind, path};

use super::audit::audit_all;
use super::choice::{Choice, QueueChoice};
use super::jobs::Jobs;
use super::partitions::{self, Pace, Posts};
use super::{Audit, EVENTS_PER_LOOK, PREFETCH_BYTES, Simulation, finish};
use crate::counters::{ArrivalCounts, BlameCounts, ByClass, SeriesCounts};
use crate::engine::random::{Source, Stream};
use crate::engine::{Ordered, Partition, Queue, Wheel};
use crate::fabric::packet::Event;
use crate::fabric::{
    AriesNics, BlockedPackets, CreditMetric, Credits, Crossbars, Flights, Logs, ModePolicies, NicAttachment,
    OutputPort, OutputVcState, PacketTimes, Wire, Wiring,
};
use crate::output::Output;
use crate::program::{Programs, Sizes, compiled};
use crate::routing::{Behind, Routing, RoutingAlgorithm, with_algorithm};
use crate::spec::{JobSpec, SETTLE_PS, Spec};
use crate::{Cost, Monitor};
use odonata_programs::Program;
use odonata_topology::{ClassId, Machine};

pub(super) fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    with_queue(spec, choice, Finish { monitor })
}

/// Simulates, and audits the run instead of writing its output.
///
/// # Errors
/// As [`run`](super::run).
pub fn audit(spec: &Spec, choice: QueueChoice) -> Result<Audit, Error> {
    with_queue(spec, choice, Balance)
}

/// What to do with a simulation, for any queue.
trait SimulationTask {
    type Result;

    /// Simulates on this thread.
    fn alone<Q: Queue<Event>, R: RoutingAlgorithm>(
        self,
        simulation: Simulation<'_, Q, R>,
    ) -> Result<Self::Result, Error>;

    /// Simulates so many partitions, each made by `make`.
    fn partitioned<'s, R: RoutingAlgorithm>(
        self,
        partitions: usize,
        pace: Pace,
        make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R> + Sync,
    ) -> Result<Self::Result, Error>;
}

struct Finish<'m> {
    monitor: &'m mut dyn Monitor,
}

impl SimulationTask for Finish<'_> {
    type Result = (Output, Cost);

    fn alone<Q: Queue<Event>, R: RoutingAlgorithm>(
        self,
        mut simulation: Simulation<'_, Q, R>,
    ) -> Result<Self::Result, Error> {
        simulation.play(self.monitor)?;
        finish::refuse_deadlock([&simulation])?;
        finish::output(simulation)
    }

    fn partitioned<'s, R: RoutingAlgorithm>(
        self,
        partitions: usize,
        pace: Pace,
        make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R> + Sync,
    ) -> Result<Self::Result, Error> {
        let mut all = partitions::play(partitions, pace, self.monitor, make)?;
        finish::refuse_deadlock(&all)?;
        let others = all.split_off(1);
        let mut first = all.remove(0);
        others.into_iter().for_each(|other| first.absorb(other));
        finish::output(first)
    }
}

struct Balance;

impl SimulationTask for Balance {
    type Result = Audit;

    fn alone<Q: Queue<Event>, R: RoutingAlgorithm>(self, mut simulation: Simulation<'_, Q, R>) -> Result<Audit, Error> {
        simulation.play(&mut ())?;
        Ok(audit_all([&mut simulation]))
    }

    fn partitioned<'s, R: RoutingAlgorithm>(
        self,
        partitions: usize,
        pace: Pace,
        make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R> + Sync,
    ) -> Result<Audit, Error> {
        Ok(audit_all(&mut partitions::play(partitions, pace, &mut (), make)?))
    }
}

/// What a run needs that is the same in all partitions.
pub struct Prepared {
    pub(super) machine: Machine,
    pub(super) routing: Routing,
    pub(super) wiring: Wiring,
    pub(super) packets: Vec<PacketTimes>,
    /// For each job that has one, its compiled program, and the sizes of what it sends.
    programs: Vec<Option<Arc<Program>>>,
    pub(super) sizes: Vec<Option<Sizes>>,
}

/// Checks everything that can be checked before a run.
///
/// # Errors
/// [`Error`].
pub fn prepare(spec: &Spec) -> Result<Prepared, Error> {
    let machine = spec.checked()?;
    if spec.compat.is_some() {
        return Err(ErrorKind::NoSuchModel {}.at(path!["compat"]));
    }
    let routing = Routing::new(spec, machine.clone())?;
    let wiring = Wiring::new(spec, machine.network());
    let packets = wiring.packets(&spec.fabric, machine.network());
    let programs = compiled(spec);
    let of_job = |(job, compiled): (&JobSpec, &Option<Arc<Program>>)| {
        let (program, ranks) = (job.program.as_ref()?, job.nodes.len() as u32);
        Some(Sizes::new(compiled.as_ref()?, ranks, &program.costs, spec.fabric.packet_bytes))
    };
    let sizes = spec.jobs.iter().zip(&programs).map(of_job).collect();
    Ok(Prepared { machine, routing, wiring, packets, programs, sizes })
}

/// The tables of a run, for any routing and any queue.
struct Tables {
    wiring: Wiring,
    crossbars: Crossbars,
    jobs: Jobs,
    programs: Option<Programs>,
    /// Names of the link classes.
    classes: &'static [&'static str],
}

impl Tables {
    fn new(spec: &Spec, prepared: &Prepared) -> Self {
        let (network, wiring) = (prepared.machine.network(), prepared.wiring.clone());
        Self {
            crossbars: Crossbars::new(&spec.fabric, network),
            jobs: Jobs::new(spec, network),
            programs: Programs::new(spec, &prepared.programs, network.nodes()),
            classes: network.classes,
            wiring,
        }
    }
}

/// Evaluates `$body` with `$algorithm` bound to the routing: to its own type with ideal routers, to one type for all
/// routings with crossbars.
macro_rules! with_routing {
    ($spec:expr, $routing:expr, $algorithm:ident => $body:expr) => {{
        let fabric = &$spec.fabric;
        match (fabric.router.is_some(), fabric.nic.aries.is_some()) {
            (false, false) => with_algorithm!($routing, $algorithm => $body),
            (true, false) => {
                let $algorithm = Behind::<true, false>::new($routing, fabric);
                $body
            }
            (false, true) => {
                let $algorithm = Behind::<false, true>::new($routing, fabric);
                $body
            }
            (true, true) => {
                let $algorithm = Behind::<true, true>::new($routing, fabric);
                $body
            }
        }
    }};
}

/// How the events of a run are taken.
struct Windows {
    /// Length of a window.
    lookahead: u64,
    /// See [`Simulation::delivery`].
    delivery: Option<u64>,
}

impl Windows {
    fn new(spec: &Spec, prepared: &Prepared, tables: &Tables) -> Self {
        let (wiring, packets) = (&prepared.wiring, &prepared.packets);
        // The end of a run with programs is known only SETTLE_PS in advance.
        let longest = if tables.programs.is_some() { SETTLE_PS } else { u64::MAX };
        let least = least_packet(spec, &prepared.sizes);
        let departure = (!tables.crossbars.is_empty()).then(|| tables.crossbars.crossing(least));
        let least = &packets[least as usize];
        let lookahead = wiring.lookahead(least, departure).min(longest);
        let delivery = wiring.delivery(least);
        if tables.jobs.list.iter().any(|job| job.waits_for_delivery) {
            // The root begins the next interval when the last message is delivered.
            return Self { lookahead: lookahead.min(delivery), delivery: None };
        }
        if !tables.jobs.end_the_run() || delivery >= lookahead {
            return Self { lookahead, delivery: None };
        }
        // Packets reach their last decision by an event that is known when its window opens, unless they wait in a router
        // with a crossbar or are injected in this window.
        if delivery >= 2 && wiring.injection(least) >= lookahead && tables.crossbars.is_empty() {
            return Self { lookahead, delivery: Some(delivery) };
        }
        Self { lookahead: delivery, delivery: None }
    }
}

fn with_queue<T: SimulationTask>(spec: &Spec, choice: QueueChoice, task: T) -> Result<T::Result, Error> {
    let prepared = prepare(spec)?;
    let (packets, routers) = (&*prepared.packets, prepared.wiring.places.len());
    let tables = Tables::new(spec, &prepared);
    let Windows { lookahead, delivery } = Windows::new(spec, &prepared, &tables);
    let Choice { windows, threads, pace } = Choice::new(spec, choice, &prepared, &tables.jobs, lookahead);
    let routing = prepared.routing.clone();
    if !windows || lookahead < 2 {
        let queue = Ordered::default();
        return with_routing!(spec, routing, algorithm => {
            task.alone(Simulation::new(spec, tables, packets, algorithm, queue))
        });
    }
    if threads > 1 {
        let first = partitions::first_routers(&prepared.wiring, &tables.jobs, threads);
        drop(tables);
        let prepared = &prepared;
        return with_routing!(spec, routing, algorithm => task.partitioned(first.len(), pace, |index| {
            let queue = Partition::new(index, Arc::clone(&first), routers, lookahead);
            let simulation = Simulation::new(spec, Tables::new(spec, prepared), packets, algorithm.clone(), queue);
            Simulation { delivery, ..simulation }.in_partition(index, first.len())
        }));
    }
    let one_order = routing.sees_other_routers();
    let wheel = if one_order { Wheel::in_one_order(routers, lookahead) } else { Wheel::new(routers, lookahead) };
    with_routing!(spec, routing, algorithm => {
        let simulation = Simulation::new(spec, tables, packets, algorithm, wheel);
        task.alone(Simulation { delivery, ..simulation })
    })
}

/// Number in tables of the smallest packet that any job sends.
fn least_packet(spec: &Spec, programs: &[Option<Sizes>]) -> u32 {
    let full = spec.fabric.packet_bytes;
    if spec.fabric.nic.aries.is_some() {
        return full + 2; // without payload, for one byte
    }
    let least = spec.jobs.iter().enumerate().map(|(index, job)| match &job.traffic {
        Some(traffic) => match traffic.message_bytes % u64::from(full) {
            0 => full,
            rest => rest as u32,
        },
        None => programs[index].map_or(1, |sizes| sizes.least),
    });
    least.min().unwrap_or(full)
}

/// The output VCs of a run: for each channel the ports, then the injection links of the NICs, and those of responses. Of
/// the ports, those with slots in `own` are used; of the NICs, those that are `mine`.
fn vcs(wiring: &Wiring, own: Range<usize>, mine: impl Fn(u32) -> bool, responses: bool) -> Vec<OutputVcState> {
    let (slots, nics) = (wiring.wires.len(), wiring.attachments.len());
    let vc = |wire: Wire| OutputVcState::new(wiring.times(wire.class).buffer, wire);
    let links = if responses { 2 } else { 1 };
    let mut vcs: Vec<OutputVcState> = zeroed_vec(wiring.channels * slots + links * nics);
    let (ports, injection) = vcs.split_at_mut(wiring.channels * slots);
    for of_channel in ports.chunks_mut(slots) {
        of_channel[own.clone()].iter_mut().zip(&wiring.wires[own.clone()]).for_each(|(to, wire)| *to = vc(*wire));
    }
    for of_link in injection.chunks_mut(nics.max(1)) {
        for ((nic, attachment), to) in (0..).zip(&*wiring.attachments).zip(of_link) {
            if mine(nic) {
                let NicAttachment { router, port, .. } = *attachment;
                *to = vc(Wire { to: router, port, class: ClassId::NODE.0, node: false });
            }
        }
    }
    vcs
}

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'s, Q, R> {
    fn new(spec: &'s Spec, tables: Tables, packets: &'s [PacketTimes], routing: R, queue: Q) -> Self {
        let Tables { wiring, crossbars, jobs, programs, classes } = tables;
        let (wires, nics, channels) = (&wiring.wires, wiring.attachments.len(), wiring.channels);
        // Memory of the ports of other partitions is never touched.
        let own = wiring.slots(&queue.own(wiring.places.len() as u32));
        let vcs = vcs(&wiring, own.clone(), |nic| queue.has(wiring.event_attachment(nic).router), R::RESPONSES);
        let credits = Credits::new(wires.iter().map(|wire| wire.class), channels, own.clone());
        let bytes = size_of_val(&*vcs) + credits.bytes() + size_of::<OutputPort>() * wires.len();
        let prefetches = bytes > PREFETCH_BYTES && !R::BEHIND_CROSSBAR;
        let arrivals = ArrivalCounts::new(spec.measure.arrivals_every_ps.unwrap_or(0), spec.jobs.len(), wiring.groups);
        let measured = spec.measure.from_ps..spec.measure.until_ps.unwrap_or(u64::MAX);
        let sizes = [wires.len(), channels, nics, spec.jobs.len()];
        let blame = spec.measure.blame.then(|| {
            let main = (0..spec.jobs.len()).rev().max_by_key(|&job| spec.jobs[job].nodes.len()).unwrap_or(0);
            let mut blame = BlameCounts::new(sizes, R::BEHIND_CROSSBAR, main as u16, measured);
            if spec.measure.roots {
                blame.follow_roots(sizes, R::BEHIND_CROSSBAR);
            }
            blame
        });
        let series = spec.measure.series.then(SeriesCounts::default);
        let mut simulation = Self {
            spec,
            routing,
            queue,
            logs: Logs::new(vcs.len()),
            outs: zeroed_vec(wires.len()),
            special: wiring.cut_through || programs.is_some() || blame.is_some() || series.is_some(),
            counts_more: programs.is_some() || spec.measure.roots || series.is_some(),
            credit_metric: CreditMetric::new(&spec.sensing, &wiring, classes, own),
            packets,
            vcs,
            credits,
            messages: Source::new(spec.seed, Stream::Message),
            crossbars,
            foreseen_until: 0,
            last_of_instant: false,
            requested: Vec::new(),
            blocked: BlockedPackets::default(),
            nics: zeroed_vec(nics),
            aries: AriesNics::new(&spec.fabric, packets, nics, spec.jobs.len()),
            policies: ModePolicies::new(spec),
            flights: Flights::default(),
            posts: Posts::default(),
            jobs,
            by_class: programs.as_ref().map_or_else(ByClass::default, |_| ByClass::new(spec.jobs.len(), classes.len())),
            programs,
            arrivals,
            blame,
            series,
            delivery: None,
            end: spec.stop.at_ps.unwrap_or(u64::MAX),
            prefetches,
            packet_hops: 0,
            events: 0,
            next_look: EVENTS_PER_LOOK,
            ran_dry: false,
            too_late: Vec::new(),
            failure: None,
            deadlocked: false,
            destinations: Vec::new(),
            wiring,
        };
        for (node, job) in simulation.jobs.senders() {
            let attachment = simulation.wiring.attachments[(node * simulation.wiring.rails) as usize];
            let start = job.clock.start(node);
            if simulation.queue.has(attachment.router) {
                simulation.queue.push(attachment.router, Event::issue(start, attachment.port, node, 0));
            }
        }
        for (node, start) in simulation.programs.as_mut().map_or_else(Vec::new, Programs::starts) {
            let attachment = simulation.wiring.attachments[(node * simulation.wiring.rails) as usize];
            if simulation.queue.has(attachment.router) {
                simulation.queue.push(attachment.router, Event::issue(start, attachment.port, node, 0));
            }
        }
        simulation
    }

    /// The same simulation as one of several partitions.
    fn in_partition(mut self, index: usize, partitions: usize) -> Self {
        let (queue, wiring) = (&self.queue, &self.wiring);
        let has = |node| queue.has(wiring.attachments[(node * wiring.rails) as usize].router);
        self.jobs.keep_rows(has);
        if let Some(programs) = &mut self.programs {
            programs.keep(has);
        }
        let posts = Posts::new(index, partitions, self.counts_more || self.arrivals.on());
        let (index, partitions) = (index as u32, partitions as u32);
        let aries = std::mem::take(&mut self.aries).of_partition(index, partitions);
        Self { posts, flights: Flights::of_partition(index, partitions), aries, ..self }
    }
}
