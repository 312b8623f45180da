//! From a specification to the first events.

use odonata_error::{Error, ErrorKind, path};

use super::jobs::Jobs;
use super::{Audit, EVENTS_PER_LOOK, PREFETCH_BYTES, Simulation, finish};
use crate::counters::{ArrivalCounts, BlameCounts, ByClass, SeriesCounts};
use crate::engine::random::{Source, Stream};
use crate::engine::{Ordered, Queue, Wheel};
use crate::fabric::packet::Event;
use crate::fabric::{
    AriesNics, BlockedPackets, CreditMetric, Credits, Crossbars, Flights, Logs, ModePolicies, Nic, NicAttachment,
    OutputPort, OutputVcState, PacketTimes, Wire, Wiring,
};
use crate::output::Output;
use crate::program::Programs;
use crate::routing::{Behind, Routing, RoutingAlgorithm, with_algorithm};
use crate::spec::{JobSpec, SETTLE_PS, Spec};
use crate::{Cost, Monitor};
use odonata_topology::ClassId;

/// The queue that holds the pending events. The result is the same; tests compare the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueChoice {
    /// The one that should be faster, by an estimate of the number of events per lookahead.
    Estimate,
    /// Windows.
    Wheel,
    /// One global order.
    Ordered,
}

/// Routers per event and window above which visiting all routers in each window costs more than a heap.
const ROUTERS_PER_EVENT: f64 = 200.0;

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
    fn with<Q: Queue<Event>, R: RoutingAlgorithm>(
        self,
        simulation: Simulation<'_, Q, R>,
    ) -> Result<Self::Result, Error>;
}

struct Finish<'m> {
    monitor: &'m mut dyn Monitor,
}

impl SimulationTask for Finish<'_> {
    type Result = (Output, Cost);

    fn with<Q: Queue<Event>, R: RoutingAlgorithm>(
        self,
        mut simulation: Simulation<'_, Q, R>,
    ) -> Result<Self::Result, Error> {
        simulation.play(self.monitor)?;
        let cost = Cost { events: simulation.events };
        Ok((finish::output(simulation)?, cost))
    }
}

struct Balance;

impl SimulationTask for Balance {
    type Result = Audit;

    fn with<Q: Queue<Event>, R: RoutingAlgorithm>(self, mut simulation: Simulation<'_, Q, R>) -> Result<Audit, Error> {
        simulation.play(&mut ())?;
        Ok(simulation.audit())
    }
}

/// Checks everything that can be checked before a run. Returns the tables and the routing.
///
/// # Errors
/// [`Error`].
pub fn prepare(spec: &Spec) -> Result<(Tables, Routing), Error> {
    let machine = spec.checked()?;
    if spec.compat.is_some() {
        return Err(ErrorKind::NoSuchModel {}.at(path!["compat"]));
    }
    let routing = Routing::new(spec, machine.clone())?;
    let network = machine.network();
    let wiring = Wiring::new(spec, network);
    let packets = wiring.packets(&spec.fabric, network);
    let credit_metric = CreditMetric::new(&spec.sensing, &wiring, network.classes);
    let jobs = Jobs::new(spec, network);
    let programs = Programs::new(spec, network.nodes());
    let classes = network.classes.len();
    let crossbars = Crossbars::new(&spec.fabric, network);
    Ok((Tables { wiring, packets, credit_metric, crossbars, jobs, programs, classes, delivery: None }, routing))
}

/// The tables of a run, for any routing and any queue.
pub struct Tables {
    wiring: Wiring,
    packets: Vec<PacketTimes>,
    credit_metric: Option<CreditMetric>,
    crossbars: Crossbars,
    jobs: Jobs,
    programs: Option<Programs>,
    classes: usize,
    /// See [`Simulation::delivery`].
    delivery: Option<u64>,
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

fn with_queue<T: SimulationTask>(spec: &Spec, choice: QueueChoice, task: T) -> Result<T::Result, Error> {
    let (mut tables, routing) = prepare(spec)?;
    let packets = std::mem::take(&mut tables.packets);
    let wiring = &tables.wiring;
    // The end of a run with programs is known only SETTLE_PS in advance.
    let longest = if tables.programs.is_some() { SETTLE_PS } else { u64::MAX };
    let least = least_packet(spec, tables.programs.as_ref());
    let departure = (!tables.crossbars.is_empty()).then(|| tables.crossbars.crossing(least));
    let least = &packets[least as usize];
    let mut lookahead = wiring.lookahead(least, departure).min(longest);
    let delivery = wiring.delivery(least);
    if tables.jobs.list.iter().any(|job| job.waits_for_delivery) {
        lookahead = lookahead.min(delivery); // the root begins the next interval when the last message is delivered
    } else if tables.jobs.end_the_run() && delivery < lookahead {
        // Packets reach their last decision by an event that is known when its window opens, unless they wait in a router
        // with a crossbar or are injected in this window.
        if delivery >= 2 && wiring.injection(least) >= lookahead && tables.crossbars.is_empty() {
            tables.delivery = Some(delivery);
        } else {
            lookahead = delivery;
        }
    }
    let routers = wiring.places.len();
    let windows = match choice {
        QueueChoice::Estimate => expected_rate(spec, lookahead) * lookahead as f64 * ROUTERS_PER_EVENT > routers as f64,
        QueueChoice::Wheel => true,
        QueueChoice::Ordered => false,
    };
    if windows && lookahead >= 2 {
        let one_order = routing.sees_other_routers();
        let wheel = if one_order { Wheel::in_one_order(routers, lookahead) } else { Wheel::new(routers, lookahead) };
        with_routing!(spec, routing, algorithm => task.with(Simulation::new(spec, tables, &packets, algorithm, wheel)))
    } else {
        let queue = Ordered::default();
        with_routing!(spec, routing, algorithm => task.with(Simulation::new(spec, tables, &packets, algorithm, queue)))
    }
}

/// Number in tables of the smallest packet that any job sends.
fn least_packet(spec: &Spec, programs: Option<&Programs>) -> u32 {
    let full = spec.fabric.packet_bytes;
    if spec.fabric.nic.aries.is_some() {
        return full + 2; // without payload, for one byte
    }
    let least = spec.jobs.iter().enumerate().map(|(index, job)| match &job.traffic {
        Some(traffic) => match traffic.message_bytes % u64::from(full) {
            0 => full,
            rest => rest as u32,
        },
        None => programs.and_then(|programs| programs.least_packet(index, full)).unwrap_or(1),
    });
    least.min().unwrap_or(full)
}

/// Rough number of route decisions per picosecond.
fn expected_rate(spec: &Spec, lookahead: u64) -> f64 {
    const HOPS: f64 = 4.0;
    /// Number of lookaheads that a rank of a program needs for a short message.
    const LOOKAHEADS: f64 = 20.0;
    let full = f64::from(spec.fabric.packet_bytes);
    let rate = |job: &JobSpec| {
        let ranks = job.nodes.len() as f64;
        job.traffic.as_ref().map_or(HOPS * ranks / (LOOKAHEADS * lookahead as f64), |traffic| {
            HOPS * (traffic.message_bytes as f64 / full).ceil() * ranks / traffic.interval_ps as f64
        })
    };
    spec.jobs.iter().map(rate).sum()
}

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'s, Q, R> {
    pub(super) fn new(spec: &'s Spec, tables: Tables, packets: &'s [PacketTimes], routing: R, queue: Q) -> Self {
        let Tables { wiring, packets: _, credit_metric, crossbars, jobs, programs, classes, delivery } = tables;
        let (wires, nics, channels) = (&wiring.wires, wiring.attachments.len(), wiring.channels);
        let vc = |wire: &Wire| OutputVcState::new(wiring.times(wire.class).buffer, *wire);
        let injection = |attachment: &NicAttachment| Wire {
            to: attachment.router,
            port: attachment.port,
            class: ClassId::NODE.0,
            node: false,
        };
        let mut vcs: Vec<OutputVcState> = Vec::with_capacity(channels * wires.len() + nics);
        vcs.extend(wires.iter().map(vc));
        for _ in 1..channels {
            vcs.extend_from_within(..wires.len());
        }
        for _ in 0..if R::RESPONSES { 2 } else { 1 } {
            vcs.extend(wiring.attachments.iter().map(injection).map(|wire| vc(&wire)));
        }
        let credits = Credits::new(wires.iter().map(|wire| wire.class), channels);
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
            outs: vec![OutputPort::default(); wires.len()],
            special: wiring.cut_through || programs.is_some() || blame.is_some() || series.is_some(),
            counts_more: programs.is_some() || spec.measure.roots || series.is_some(),
            credit_metric,
            packets,
            vcs,
            credits,
            messages: Source::new(spec.seed, Stream::Message),
            crossbars,
            foreseen_until: 0,
            last_of_instant: false,
            requested: Vec::new(),
            blocked: BlockedPackets::default(),
            nics: vec![Nic::default(); nics],
            aries: AriesNics::new(&spec.fabric, packets, nics, spec.jobs.len()),
            policies: ModePolicies::new(spec),
            flights: Flights::default(),
            jobs,
            by_class: programs.as_ref().map_or_else(ByClass::default, |_| ByClass::new(spec.jobs.len(), classes)),
            programs,
            arrivals,
            blame,
            series,
            delivery,
            end: spec.stop.at_ps.unwrap_or(u64::MAX),
            prefetches,
            packet_hops: 0,
            events: 0,
            next_look: EVENTS_PER_LOOK,
            ran_dry: false,
            too_late: Vec::new(),
            failure: None,
            destinations: Vec::new(),
            wiring,
        };
        for (node, job) in simulation.jobs.senders() {
            let attachment = simulation.wiring.attachments[(node * simulation.wiring.rails) as usize];
            let start = job.clock.start(node);
            simulation.queue.push(attachment.router, Event::issue(start, attachment.port, node, 0));
        }
        for (node, start) in simulation.programs.as_mut().map_or_else(Vec::new, Programs::starts) {
            let attachment = simulation.wiring.attachments[(node * simulation.wiring.rails) as usize];
            simulation.queue.push(attachment.router, Event::issue(start, attachment.port, node, 0));
        }
        simulation
    }
}
