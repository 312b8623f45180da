//! Which queue a run gets, and how many threads, by an estimate of its events.

use odonata_topology::{ClassId, Machine};

use super::pace::Pace;
use super::setup::Prepared;
use crate::nodes::{Job, Jobs};
use crate::program::Sizes;
use crate::spec::{JobSpec, Spec};

/// The queue that holds the pending events. The result is the same; tests compare them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueChoice {
    /// The one that should be faster, by an estimate of the number of events per lookahead.
    Estimate,
    /// The same on this many threads, if that should be faster.
    Threads(usize),
    /// Windows, on this many threads if the run can be partitioned.
    Partitions(usize),
    /// The same with threads that stop and start every few windows, for tests.
    Changing(usize),
    /// Windows.
    Wheel,
    /// One global order.
    Ordered,
}

/// Routers per event and window above which visiting all routers in each window costs more than a heap.
const ROUTERS_PER_EVENT: f64 = 200.0;
/// Route decisions in a window for which a thread pays off, without and with responses: they take some ten microseconds,
/// and an exchange between threads about one.
const DECISIONS_PER_THREAD: f64 = 140.0;
const ANSWERED_PER_THREAD: f64 = 50.0;
/// What sharing a run costs for each event of the time in which one thread plays all partitions, in events: what an event
/// takes longer. (Measured: 0.4 with two threads, 1.0 with four.)
const IN_TURN: f64 = 0.5;
/// What two threads save for each event that they share, in events. (Measured: they take 0.6 to 0.7 of the time.)
const SAVED: f64 = 0.4;

/// How a run is simulated.
pub struct Choice {
    /// Whether events are kept by window.
    pub windows: bool,
    pub threads: usize,
    pub pace: Pace,
}

impl Choice {
    /// The choice for a run with these jobs.
    pub fn new(spec: &Spec, choice: QueueChoice, prepared: &Prepared, jobs: &Jobs, lookahead: u64) -> Self {
        let phases = phases(spec, prepared, jobs, lookahead);
        let most = phases.iter().map(|phase| phase.rate).fold(0.0, f64::max) * lookahead as f64;
        let pays = most * ROUTERS_PER_EVENT > prepared.wiring.places.len() as f64;
        let (windows, threads) = match choice {
            QueueChoice::Estimate => (pays, 1),
            QueueChoice::Threads(threads) => (pays, threads.min(threads_for(spec, &phases, lookahead))),
            QueueChoice::Partitions(threads) | QueueChoice::Changing(threads) => (true, threads),
            QueueChoice::Wheel => (true, 1),
            QueueChoice::Ordered => (false, 1),
        };
        let threads = if can_be_partitioned(spec, prepared) { threads } else { 1 };
        let pace = if matches!(choice, QueueChoice::Changing(_)) { Pace::CHANGING } else { Pace::MEASURED };
        Self { windows, threads, pace }
    }
}

/// Whether several threads can share a run: whether all that an event reads or changes belongs to one router and its nodes.
/// What UGAL-G reads does not, nor a node's NICs on several routers whose packets are answered, or that share messages.
fn can_be_partitioned(spec: &Spec, prepared: &Prepared) -> bool {
    let answered_elsewhere = spec.fabric.answers() && prepared.wiring.is_split();
    let striped_elsewhere = spec.fabric.nic.stripe_bytes.is_some() && prepared.wiring.is_split();
    !(prepared.routing.sees_other_routers() || answered_elsewhere || striped_elsewhere)
}

/// The most threads that pay off in some phase; one if the other phases cost more than that saves.
fn threads_for(spec: &Spec, phases: &[Phase], lookahead: u64) -> usize {
    let per_thread = if spec.fabric.answers() { ANSWERED_PER_THREAD } else { DECISIONS_PER_THREAD };
    let pays = |phase: &Phase| (phase.rate * lookahead as f64 / per_thread) as usize;
    let saved = |phase: &Phase| phase.rate * phase.time * if pays(phase) > 1 { SAVED } else { -IN_TURN };
    if phases.iter().map(saved).sum::<f64>() <= 0.0 { 1 } else { phases.iter().map(pays).max().unwrap_or(1) }
}

/// A time in which the same jobs send.
struct Phase {
    /// Rough number of route decisions per picosecond.
    rate: f64,
    /// Picoseconds.
    time: f64,
}

/// The phases of a run, in order. How long a program runs is not known: it is taken to run until the end.
fn phases(spec: &Spec, prepared: &Prepared, jobs: &Jobs, lookahead: u64) -> Vec<Phase> {
    let of_job = |((of, job), sizes): ((&JobSpec, &Job), &Option<Sizes>)| {
        let rate = rate(of, job, *sizes, prepared, spec, lookahead);
        let traffic = of.traffic.as_ref();
        let end = traffic.and_then(|traffic| Some(traffic.intervals? as f64 * traffic.interval_ps as f64));
        (end.unwrap_or(f64::INFINITY), rate, job.waited_for)
    };
    let mut rates: Vec<_> = spec.jobs.iter().zip(&jobs.list).zip(&prepared.sizes).map(of_job).collect();
    let until = rates.iter().filter(|(.., waited_for)| *waited_for).map(|(end, ..)| *end).fold(0.0, f64::max);
    let until = spec.stop.at_ps.map_or(until, |at| if until > 0.0 { until.min(at as f64) } else { at as f64 });
    // Where nothing has an end, what goes on is taken to last as long again as what ends.
    let ends = rates.iter().map(|(end, ..)| *end).filter(|end| end.is_finite());
    let until = if until.is_finite() { until } else { 2.0 * ends.fold(1.0, f64::max) };
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut phases = Vec::new();
    let mut begin = 0.0;
    for position in 0..rates.len() {
        let end = rates[position].0.min(until);
        if end > begin {
            let rate = rates[position..].iter().map(|(_, rate, _)| rate).sum();
            phases.push(Phase { rate, time: end - begin });
            begin = end;
        }
    }
    phases
}

/// Rough number of route decisions of a job per picosecond while it sends.
fn rate(of: &JobSpec, job: &Job, sizes: Option<Sizes>, prepared: &Prepared, spec: &Spec, lookahead: u64) -> f64 {
    /// Number of lookaheads that a rank of a program needs for a short message.
    const LOOKAHEADS: f64 = 20.0;
    let hops = match prepared.machine {
        Machine::DragonflyPlus(_) | Machine::FatTree(_) => 4.0,
        Machine::Dragonfly(_) => 6.0,
        Machine::HyperX(ref machine) => f64::from(machine.diameter()) + 1.0,
        Machine::Graph(ref machine) => f64::from(machine.diameter()) + 1.0,
    };
    let answers = if spec.fabric.answers() { 2.0 } else { 1.0 };
    let full = prepared.packets[spec.fabric.packet_bytes as usize].serialisation(ClassId::NODE.0) as f64;
    let packets = match (&of.traffic, sizes) {
        (Some(traffic), _) => {
            let messages = f64::from(job.rows.senders) * f64::from(job.rows.per_interval);
            messages * job.packets as f64 / traffic.interval_ps as f64
        }
        (None, sizes) => {
            let packets = sizes.map_or(1.0, |sizes| sizes.packets);
            f64::from(job.ranks) * packets / (LOOKAHEADS * lookahead as f64 + packets * full)
        }
    };
    hops * answers * packets
}
