//! From a specification to the first events.

use odonata_error::{Error, ErrorKind, path};

use super::jobs::Jobs;
use super::{Audit, BYTES_TO_ASK_FOR, EVENTS_PER_LOOK, Simulation, finish};
use crate::counters::{ArrivalCounts, ByClass};
use crate::engine::random::{Source, Stream};
use crate::engine::{Ordered, Queue, Wheel};
use crate::fabric::packet::Event;
use crate::fabric::{Credits, Flights, Home, Lane, Logs, Nic, Out, PacketTimes, Parked, Sensor, Wire, Wiring};
use crate::output::Output;
use crate::program::Programs;
use crate::routing::{Routing, Rule, modes, with_rule};
use crate::spec::{JobSpec, SETTLE_PS, Spec};
use crate::{Cost, Monitor};
use odonata_topology::ClassId;

/// Which queue holds the pending events. The result is the same; tests compare the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueChoice {
    /// The faster one, by an estimate of how many events fall into one lookahead.
    Estimate,
    /// Windows.
    Wheel,
    /// One global order.
    Ordered,
}

/// Routers per event and window beyond which visiting all routers in each window costs more than a heap.
const ROUTERS_PER_EVENT: f64 = 200.0;

pub(super) fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    with_queue(spec, choice, Finish { monitor })
}

/// Simulates, and balances the books instead of writing them up.
///
/// # Errors
/// As [`run`](super::run).
pub fn audit(spec: &Spec, choice: QueueChoice) -> Result<Audit, Error> {
    with_queue(spec, choice, Balance)
}

/// What to do with a simulation, whatever its queue.
trait Task {
    type Result;
    fn with<Q: Queue<Event>, R: Rule>(self, simulation: Simulation<'_, Q, R>) -> Result<Self::Result, Error>;
}

struct Finish<'m> {
    monitor: &'m mut dyn Monitor,
}

impl Task for Finish<'_> {
    type Result = (Output, Cost);

    fn with<Q: Queue<Event>, R: Rule>(self, mut simulation: Simulation<'_, Q, R>) -> Result<Self::Result, Error> {
        simulation.play(self.monitor)?;
        let cost = Cost { events: simulation.events };
        Ok((finish::output(simulation)?, cost))
    }
}

struct Balance;

impl Task for Balance {
    type Result = Audit;

    fn with<Q: Queue<Event>, R: Rule>(self, mut simulation: Simulation<'_, Q, R>) -> Result<Audit, Error> {
        simulation.play(&mut ())?;
        Ok(simulation.audit())
    }
}

/// Checks everything that can be checked before a run; returns the tables and the routing.
///
/// # Errors
/// [`Error`].
pub fn prepare(spec: &Spec) -> Result<(Tables, Routing), Error> {
    let machine = spec.checked()?;
    if spec.compat.is_some() {
        return Err(ErrorKind::NoSuchModel {}.at(path!["compat"]));
    }
    let network = machine.network();
    let wiring = Wiring::new(spec, network);
    let packets = wiring.packets(&spec.fabric, network);
    let sensor = Sensor::new(&spec.sensing, &wiring, network.classes);
    let jobs = Jobs::new(spec, network);
    let programs = Programs::new(spec, network.nodes());
    let classes = network.classes.len();
    Ok((Tables { wiring, packets, sensor, jobs, programs, classes }, Routing::new(spec, machine)?))
}

/// What a run is about, whatever its routing and its queue.
pub struct Tables {
    wiring: Wiring,
    packets: Vec<PacketTimes>,
    sensor: Option<Sensor>,
    jobs: Jobs,
    programs: Option<Programs>,
    classes: usize,
}

fn with_queue<T: Task>(spec: &Spec, choice: QueueChoice, task: T) -> Result<T::Result, Error> {
    let (mut tables, routing) = prepare(spec)?;
    let packets = std::mem::take(&mut tables.packets);
    let wiring = &tables.wiring;
    // What ends a run with programs is known only SETTLE_PS before.
    let longest = if tables.programs.is_some() { SETTLE_PS } else { u64::MAX };
    let lookahead = wiring.lookahead(&packets[least_packet(spec, tables.programs.as_ref()) as usize]).min(longest);
    let routers = wiring.places.len();
    let windows = match choice {
        QueueChoice::Estimate => expected_rate(spec, lookahead) * lookahead as f64 * ROUTERS_PER_EVENT > routers as f64,
        QueueChoice::Wheel => true,
        QueueChoice::Ordered => false,
    };
    if windows && lookahead >= 2 {
        let one_order = routing.sees_other_routers();
        let wheel = if one_order { Wheel::in_one_order(routers, lookahead) } else { Wheel::new(routers, lookahead) };
        with_rule!(routing, rule => task.with(Simulation::new(spec, tables, &packets, rule, wheel)))
    } else {
        with_rule!(routing, rule => task.with(Simulation::new(spec, tables, &packets, rule, Ordered::default())))
    }
}

/// Smallest packet that any job sends.
fn least_packet(spec: &Spec, programs: Option<&Programs>) -> u32 {
    let full = spec.fabric.packet_bytes;
    let least = spec.jobs.iter().enumerate().map(|(index, job)| match &job.traffic {
        Some(traffic) => match traffic.message_bytes % u64::from(full) {
            0 => full,
            rest => rest as u32,
        },
        None => programs.and_then(|programs| programs.least_packet(index, full)).unwrap_or(1),
    });
    least.min().unwrap_or(full)
}

/// Routing decisions per picosecond, roughly.
fn expected_rate(spec: &Spec, lookahead: u64) -> f64 {
    const HOPS: f64 = 4.0;
    /// Lookaheads that a rank of a program needs for a message, if messages are short.
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

impl<'s, Q: Queue<Event>, R: Rule> Simulation<'s, Q, R> {
    pub(super) fn new(spec: &'s Spec, tables: Tables, packets: &'s [PacketTimes], routing: R, queue: Q) -> Self {
        let Tables { wiring, packets: _, sensor, jobs, programs, classes } = tables;
        let (wires, nics, channels) = (&wiring.wires, wiring.homes.len(), wiring.channels);
        let lane = |wire: &Wire| Lane::new(wiring.times(wire.class).buffer, *wire);
        let injection = |home: &Home| Wire { to: home.router, port: home.port, class: ClassId::NODE.0, node: false };
        let mut lanes: Vec<Lane> = Vec::with_capacity(channels * wires.len() + nics);
        lanes.extend(wires.iter().map(lane));
        for _ in 1..channels {
            lanes.extend_from_within(..wires.len());
        }
        lanes.extend(wiring.homes.iter().map(injection).map(|wire| lane(&wire)));
        let credits = Credits::new(wires.iter().map(|wire| wire.class), channels);
        let bytes = size_of_val(&*lanes) + credits.bytes() + size_of::<Out>() * wires.len();
        let asks = bytes > BYTES_TO_ASK_FOR;
        let arrivals = ArrivalCounts::new(spec.measure.arrivals_every_ps.unwrap_or(0), spec.jobs.len(), wiring.groups);
        let mut simulation = Self {
            spec,
            routing,
            queue,
            logs: Logs::new(lanes.len()),
            outs: vec![Out::default(); wires.len()],
            observed: sensor.is_some() || arrivals.on(),
            special: wiring.cut_through || sensor.is_some() || programs.is_some(),
            sensor,
            packets,
            lanes,
            credits,
            messages: Source::new(spec.seed, Stream::Message),
            parked: Parked::default(),
            nics: vec![Nic::default(); nics],
            flights: Flights::default(),
            jobs,
            by_class: programs.as_ref().map_or_else(ByClass::default, |_| ByClass::new(spec.jobs.len(), classes)),
            programs,
            arrivals,
            end: spec.stop.at_ps.unwrap_or(u64::MAX),
            asks,
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
            let home = simulation.wiring.homes[(node * simulation.wiring.rails) as usize];
            let start = job.clock.start(node);
            simulation.queue.push(home.router, Event::issue(start, home.port, node, 0));
        }
        for (node, start) in simulation.programs.as_mut().map_or_else(Vec::new, Programs::starts) {
            let home = simulation.wiring.homes[(node * simulation.wiring.rails) as usize];
            simulation.queue.push(home.router, Event::issue(start, home.port, node, 0));
        }
        for (job, mode) in modes(spec).into_iter().enumerate() {
            for &node in &spec.jobs[job].nodes {
                simulation.nics_of(node).for_each(|nic| nic.mode = mode);
            }
        }
        simulation
    }
}
