//! From a specification to the first events.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::zeroed_vec;
use odonata_error::{Error, ErrorKind, path};

use super::audit::audit_all;
use super::choice::{Choice, QueueChoice};
use super::driven::{Driving, Network, driven_spec};
use super::pace::Pace;
use super::partitions;
use super::{Audit, EVENTS_PER_LOOK, Prefetches, Simulation, finish};
use crate::commit::{Course, Fabric, FabricPost};
use crate::endpoint::{Answers, Aries, Control, Endpoint, Entropies, Numbered, Simple, Windowed};
use crate::engine::random::{Source, Stream};
use crate::engine::{Ordered, Partition, Queue, Wheel};
use crate::fabric::packet::Event;
use crate::fabric::{
    BlockedPackets, CreditMetric, Credits, Levels, Links, Logs, Marks, NicAttachment, OutputPort, OutputVcState,
    PacketTimes, Wire, Wiring,
};
use crate::nodes::{Flights, Jobs, Nodes, Posts, Streams};
use crate::observe::{ArrivalCounts, BlameCounts, ByClass, Observers, SeriesCounts};
use crate::output::Output;
use crate::program::{Programs, Sizes, compiled};
use crate::routing::{AnyAlgorithm, ClassedAlgorithm, Routing, RoutingAlgorithm, with_algorithm};
use crate::spec::{Delivery, JobSpec, MarkingPorts, SETTLE_PS, Spec};
use crate::switch::{Classed, Crossbar, Ideal, Switch};
use crate::{Cost, Monitor};
use odonata_programs::Program;
use odonata_topology::{ClassId, Machine};

pub(super) fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    let (output, cost, _) = with_queue(spec, choice, Finish { monitor, audits: false })?;
    Ok((output, cost))
}

/// Simulates, and audits the run at its end.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_audited(spec: &Spec, choice: QueueChoice) -> Result<(Output, Cost, Audit), Error> {
    with_queue(spec, choice, Finish { monitor: &mut (), audits: true })
}

/// What follows the events of a simulation.
struct Finish<'m> {
    monitor: &'m mut dyn Monitor,
    /// Without, the audit is one of nothing.
    audits: bool,
}

impl Finish<'_> {
    /// Simulates on this thread.
    fn alone<Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint>(
        self,
        mut simulation: Simulation<'_, Q, R, S, E>,
    ) -> Result<(Output, Cost, Audit), Error> {
        simulation.play(self.monitor)?;
        finish::refuse_deadlock([&simulation])?;
        let audit = if self.audits { audit_all([&mut simulation]) } else { Audit::default() };
        let (output, cost) = finish::output(simulation)?;
        Ok((output, cost, audit))
    }

    /// Simulates so many partitions, each made by `make`.
    fn partitioned<'s, R: RoutingAlgorithm, S: Switch, E: Endpoint>(
        self,
        partitions: usize,
        pace: Pace,
        make: impl Fn(usize) -> Simulation<'s, Partition<Event>, R, S, E> + Sync,
    ) -> Result<(Output, Cost, Audit), Error> {
        let mut all = partitions::play(partitions, pace, self.monitor, make)?;
        finish::refuse_deadlock(&all)?;
        let audit = if self.audits { audit_all(&mut all) } else { Audit::default() };
        let others = all.split_off(1);
        let mut first = all.remove(0);
        others.into_iter().for_each(|other| first.absorb(other));
        let (output, cost) = finish::output(first)?;
        Ok((output, cost, audit))
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
    prepare_on(spec, machine)
}

/// The same for a specification that is checked, with its machine.
fn prepare_on(spec: &Spec, machine: Machine) -> Result<Prepared, Error> {
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

/// Evaluates `$body` once for each routing.
macro_rules! each_algorithm {
    ($routing:expr, $fabric:expr, $algorithm:ident => $body:expr) => {
        with_algorithm!($routing, $algorithm => $body)
    };
}

/// Evaluates `$body` with one type for all routings, where their speed matters less than the time to compile.
macro_rules! any_algorithm {
    ($routing:expr, $fabric:expr, $algorithm:ident => $body:expr) => {{
        let $algorithm = AnyAlgorithm::new($routing, $fabric);
        $body
    }};
}

/// Evaluates `$body` with `$routing`, `$switch` and `$endpoint` bound to the routing of a run, to a function that makes its
/// routers, and to one that makes its NICs in one of several partitions. With the routers and NICs that are fastest, the
/// simulation is compiled as `$algorithms` says; with each other pair of them, once for all routings.
macro_rules! with_parts {
    ($algorithms:ident, $spec:expr, $prepared:expr, ($routing:ident, $switch:ident, $endpoint:ident) => $body:expr) => {{
        let (spec, prepared) = ($spec, $prepared);
        let (fabric, packets) = (&spec.fabric, &*prepared.packets);
        let (network, nics) = (prepared.machine.network(), prepared.wiring.attachments.len());
        let answers = |partition: [u32; 2]| Answers::new(spec, (&prepared.wiring, packets), (nics, prepared.wiring.rails), partition);
        let simple = |_: [u32; 2]| -> Simple { Simple::default() };
        let numbered = |_: [u32; 2]| -> Numbered { Numbered::default() };
        let aries = |partition| {
            Aries::new(answers(partition), fabric.nic.aries.map_or(0, |aries| aries.window), nics)
        };
        let windowed = |partition| {
            Windowed::new(answers(partition), Control::of(fabric), nics)
        };
        let ideal = || Ideal;
        let crossbar = || Crossbar::new(spec, network);
        let classed = || Classed::new(spec, network);
        let routing = prepared.routing.clone();
        if !fabric.traffic_classes.is_empty() {
            let $routing = ClassedAlgorithm::new(routing, spec);
            let $switch = classed;
            if fabric.most_in_flight().is_some() {
                let $endpoint = windowed;
                return $body;
            }
            if spec.numbers_packets() {
                let $endpoint = numbered;
                return $body;
            }
            let $endpoint = simple;
            return $body;
        }
        macro_rules! with {
            ($made_switch:ident, $made_endpoint:ident) => {{
                let ($routing, $switch, $endpoint) =
                    (AnyAlgorithm::new(routing, fabric), $made_switch, $made_endpoint);
                $body
            }};
        }
        match (fabric.router.is_some(), fabric.nic.aries.is_some(), fabric.most_in_flight().is_some()) {
            (false, false, false) if spec.numbers_packets() => with!(ideal, numbered),
            (true, false, false) if spec.numbers_packets() => with!(crossbar, numbered),
            (false, false, false) => $algorithms!(routing, fabric, algorithm => {
                let ($routing, $switch, $endpoint) = (algorithm, ideal, simple);
                $body
            }),
            (true, false, false) => with!(crossbar, simple),
            (false, true, _) => with!(ideal, aries),
            (true, true, _) => with!(crossbar, aries),
            (false, false, true) => with!(ideal, windowed),
            (true, false, true) => with!(crossbar, windowed),
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
    fn new(spec: &Spec, prepared: &Prepared, jobs: &Jobs) -> Self {
        let (wiring, packets) = (&prepared.wiring, &prepared.packets);
        // The end of a run with programs is known only SETTLE_PS in advance.
        let programs = spec.jobs.iter().any(|job| job.program.is_some());
        let longest = if programs { SETTLE_PS } else { u64::MAX };
        let least = least_packet(spec, &prepared.sizes);
        let crossbar = spec.fabric.router.map(|router| router.crossbar);
        let departure = crossbar.map(|bandwidth| bandwidth.serialisation_ps(packets[least as usize].wire.into()));
        let least = &packets[least as usize];
        let answers = prepared.routing.answers_after().unwrap_or(u64::MAX);
        let lookahead = wiring.lookahead(least, departure).min(longest).min(answers);
        let delivery = wiring.delivery(least);
        if jobs.list.iter().any(|job| job.waits_for_delivery) {
            // The root begins the next interval when the last message is delivered.
            return Self { lookahead: lookahead.min(delivery), delivery: None };
        }
        if !jobs.end_the_run() || delivery >= lookahead {
            return Self { lookahead, delivery: None };
        }
        // Packets reach their last decision by an event that is known when its window opens, unless they wait in a router
        // with a crossbar, wait for others of their class, or are injected in this window.
        // A packet may bring many with it that waited for it in order.
        let waits_in_queue = departure.is_some()
            || !spec.fabric.traffic_classes.is_empty()
            || spec.fabric.nic.delivery == Delivery::InOrder;
        if delivery >= 2 && wiring.injection(least) >= lookahead && !waits_in_queue {
            return Self { lookahead, delivery: Some(delivery) };
        }
        Self { lookahead: delivery, delivery: None }
    }
}

fn with_queue(spec: &Spec, choice: QueueChoice, task: Finish) -> Result<(Output, Cost, Audit), Error> {
    let prepared = &prepare(spec)?;
    let routers = prepared.wiring.places.len();
    let jobs = Jobs::new(spec, prepared.machine.network());
    let Windows { lookahead, delivery } = Windows::new(spec, prepared, &jobs);
    let Choice { windows, threads, pace } = Choice::new(spec, choice, prepared, &jobs, lookahead);
    let one_order = prepared.routing.sees_other_routers();
    let (ordered, one_thread) = (!windows || lookahead < 2, threads <= 1);
    let first = (!one_thread).then(|| partitions::first_routers(&prepared.wiring, &jobs, threads));
    drop(jobs);
    if ordered {
        return with_parts!(any_algorithm, spec, prepared, (routing, switch, endpoint) => {
            let simulation = Simulation::new(spec, prepared, Ordered::default(), routing, switch(), endpoint([0, 1]));
            task.alone(simulation)
        });
    }
    with_parts!(each_algorithm, spec, prepared, (routing, switch, endpoint) => {
        if let Some(first) = first {
            let partitions = first.len();
            return task.partitioned(partitions, pace, |index| {
                let queue = Partition::new(index, Arc::clone(&first), routers, lookahead);
                let endpoint = endpoint([index as u32, partitions as u32]);
                let simulation = Simulation::new(spec, prepared, queue, routing.clone(), switch(), endpoint);
                Simulation { delivery, ..simulation }.in_partition(index, partitions)
            });
        }
        let wheel = if one_order { Wheel::in_one_order(routers, lookahead) } else { Wheel::new(routers, lookahead) };
        let simulation = Simulation::new(spec, prepared, wheel, routing, switch(), endpoint([0, 1]));
        task.alone(Simulation { delivery, ..simulation })
    })
}

/// Simulates while a caller issues the messages of a job (see [`crate::drive`]).
///
/// # Errors
/// As [`prepare`], and a job that does not exist.
#[inline] // As in `crate::drive`.
pub fn drive(spec: &Spec, job: u32, caller: &mut dyn FnMut(&mut dyn Network)) -> Result<(), Error> {
    let machine = spec.checked()?;
    let spec = &driven_spec(spec, job)?;
    let prepared = &prepare_on(spec, machine)?;
    with_parts!(each_algorithm, spec, prepared, (routing, switch, endpoint) => {
        let simulation = Simulation::new(spec, prepared, Ordered::default(), routing, switch(), endpoint([0, 1]));
        caller(&mut Driving::new(simulation, job));
        Ok(())
    })
}

/// Number in tables of the smallest packet that any job sends.
fn least_packet(spec: &Spec, programs: &[Option<Sizes>]) -> u32 {
    let full = spec.fabric.packet_bytes;
    if spec.fabric.answers() {
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

/// The links of the routers in `own`, which are those that it `has`. (Compiled once for all simulations.)
fn links<'s>(
    spec: &Spec,
    prepared: &'s Prepared,
    own: &Range<u32>,
    has: &dyn Fn(u32) -> bool,
    responses: bool,
) -> Links<'s> {
    let (classes, wiring) = (prepared.machine.network().classes, prepared.wiring.clone());
    // Memory of the ports of other partitions is never touched.
    let own = wiring.slots(own);
    let vcs = vcs(&wiring, own.clone(), |nic| has(wiring.event_attachment(nic).router), responses);
    Links {
        packets: &prepared.packets,
        outs: zeroed_vec(wiring.wires.len()),
        logs: Logs::new(vcs.len()),
        vcs,
        credits: Credits::new(wiring.wires.iter().map(|wire| wire.class), wiring.channels, own.clone()),
        metric: CreditMetric::new(&spec.sensing, &wiring, classes, own),
        levels: Levels::new(&spec.sensing, &spec.fabric, classes),
        marks: Marks::new(&spec.fabric, classes, spec.seed),
        blocked: BlockedPackets::default(),
        wiring,
    }
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

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'s, Q, R, S, E> {
    fn new(spec: &'s Spec, prepared: &'s Prepared, queue: Q, routing: R, switch: S, endpoint: E) -> Self {
        let network = prepared.machine.network();
        let programs = Programs::new(spec, &prepared.programs, network.nodes());
        let own = queue.own(prepared.wiring.places.len() as u32);
        let links = links(spec, prepared, &own, &|router| queue.has(router), E::ANSWERS);
        let ports = size_of::<OutputPort>() * links.wiring.wires.len();
        let bytes = size_of_val(&*links.vcs) + links.credits.bytes() + ports;
        let with_programs = spec.jobs.iter().filter(|job| job.program.is_some());
        let ranks = with_programs.map(|job| job.nodes.len()).sum();
        let observers = observers(spec, &links.wiring, network.classes.len(), S::BUFFERS_OUTPUT);
        let nics = links.wiring.attachments.len();
        let fabric = Fabric {
            special: links.wiring.cut_through && !S::BUFFERS_OUTPUT
                || observers.see_commits()
                || observers.by_class.is_some(),
            watches_decisions: links.marks.is_some() || observers.see_decisions(),
            links,
            queue,
            observers,
            course: Course { end: spec.stop.at_ps.unwrap_or(u64::MAX), ..Course::default() },
            posts: Vec::new(),
        };
        let nodes = Nodes {
            spec,
            nics: zeroed_vec(nics),
            endpoint,
            jobs: Jobs::new(spec, network),
            programs,
            driven: None,
            flights: Flights::of_partition(0, 1, spec.fabric.nic.stripe_bytes.is_some()),
            posts: Posts::default(),
            streams: Streams::new(spec, nics),
            entropies: Entropies::new(spec, nics),
            keys: Source::new(spec.seed, Stream::Message),
            destinations: Vec::new(),
        };
        let mut simulation = Self {
            fabric,
            routing,
            switch,
            nodes,
            delivery: None,
            prefetches: if S::ARBITRATES { Prefetches::Nothing } else { Prefetches::of(bytes, ranks) },
            next_look: EVENTS_PER_LOOK,
            ran_dry: false,
            too_late: Vec::new(),
            deadlocked: false,
        };
        simulation.schedule_starts();
        simulation
    }

    /// Schedules the first event of each node that sends.
    fn schedule_starts(&mut self) {
        let Self { fabric: Fabric { links, queue, .. }, nodes, .. } = self;
        let of_patterns = nodes.jobs.senders().map(|(node, job)| (node, job.clock.start(node)));
        let of_programs = nodes.programs.as_mut().map_or_else(Vec::new, Programs::starts);
        for (node, start) in of_patterns.chain(of_programs) {
            let attachment = links.wiring.node_attachment(node);
            if queue.has(attachment.router) {
                queue.push(attachment.router, Event::issue(start, attachment.port, node, 0));
            }
        }
    }

    /// The same simulation as one of several partitions.
    fn in_partition(mut self, index: usize, partitions: usize) -> Self {
        let (queue, wiring) = (&self.fabric.queue, &self.fabric.links.wiring);
        let has = |node| queue.has(wiring.node_attachment(node).router);
        self.nodes.jobs.keep_rows(has);
        if let Some(programs) = &mut self.nodes.programs {
            programs.keep(has);
        }
        self.nodes.posts = Posts::new(index, partitions, self.fabric.observers.see_packets());
        self.nodes.flights = {
            let striped = self.nodes.spec.fabric.nic.stripe_bytes.is_some();
            Flights::of_partition(index as u32, partitions as u32, striped)
        };
        if let Some(streams) = &mut self.nodes.streams {
            streams.in_partition(index as u32, partitions as u32);
        }
        self.fabric.posts = (0..partitions).map(|_| FabricPost::default()).collect();
        self.fabric.observers.blame =
            self.fabric.observers.blame.take().map(|blame| blame.of_partitions(index, partitions));
        self
    }
}

/// Who observes a run.
fn observers(spec: &Spec, wiring: &Wiring, classes: usize, behind_crossbar: bool) -> Observers {
    let (measure, jobs) = (&spec.measure, spec.jobs.len());
    let measured = measure.from_ps..measure.until_ps.unwrap_or(u64::MAX);
    let sizes = [wiring.wires.len(), wiring.channels, wiring.attachments.len(), jobs];
    let blame = measure.blame.then(|| {
        let main = (0..jobs).rev().max_by_key(|&job| spec.jobs[job].nodes.len()).unwrap_or(0);
        let parts = if spec.fabric.nic.stripe_bytes.is_some() { wiring.rails } else { 1 };
        let mut blame = BlameCounts::new(sizes, behind_crossbar, main as u16, measured, parts);
        if measure.roots {
            blame.follow_roots(sizes, behind_crossbar);
        }
        let control = spec.fabric.congestion_control;
        // Ports to nodes take packets of one job.
        if control.is_some_and(|of| of.mark_above_bytes.is_some() && of.law.marking() == MarkingPorts::All) {
            blame.name_marks(spec.seed);
        }
        blame
    });
    let programs = spec.jobs.iter().any(|job| job.program.is_some());
    Observers::new(
        blame,
        measure.series.then(SeriesCounts::default),
        programs.then(|| ByClass::new(jobs, classes)),
        measure.arrivals_every_ps.map(|every_ps| ArrivalCounts::new(every_ps, jobs, wiring.groups)),
    )
}
