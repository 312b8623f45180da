//! The life of a run: events are taken from the queue, handled at their router, and lead to others.

mod audit;
mod finish;
mod inject;
mod jobs;
mod programs;
mod setup;
mod switch;

use crate::counters::{ArrivalCounts, ByClass};
use crate::engine::random::Source;
use crate::engine::{Queue, Record, Table, prefetch};
use crate::error::SimError;
use crate::fabric::packet::{Event, Kind};
use crate::fabric::{Flights, Lane, LaneLog, Nic, Out, Parked, Returns, Sensor, Wiring, credits::Spill};
use crate::output::Output;
use crate::program::Programs;
use crate::routing::Rule;
use crate::spec::Spec;
use crate::{Cost, Monitor, Progress};
use jobs::Jobs;

pub use audit::Audit;
pub use setup::{QueueChoice, audit, prepare};

/// Events between two looks at the clock by the monitor.
const EVENTS_PER_LOOK: u64 = 1 << 15;
/// Times beyond this are taken for a mistake in the input.
pub(crate) const LAST_TIME: u64 = 1 << 63;

/// A run in progress.
pub struct Simulation<'s, Q, R> {
    spec: &'s Spec,
    wiring: Wiring,
    routing: R,
    queue: Q,
    /// Output ports, by slot.
    outs: Table<Out>,
    /// Lanes at the sender: channel by channel the ports by slot, then the injection links by node.
    lanes: Table<Lane>,
    /// What of the lanes is rarely needed.
    logs: Vec<LaneLog>,
    /// Credits of the buffer behind each port, at the receiver: channel by channel the ports by slot.
    returns: Table<Returns>,
    spill: Spill,
    /// What routings sense, if it is not the backlog.
    sensor: Option<Sensor>,
    parked: Parked,
    nics: Table<Nic>,
    flights: Flights,
    /// Words of messages.
    messages: Source,
    jobs: Jobs,
    /// What the ranks of jobs with programs do, if there are any.
    programs: Option<Programs>,
    by_class: ByClass,
    arrivals: ArrivalCounts,
    /// Last instant of the run, once known.
    end: u64,
    packet_hops: u64,
    events: u64,
    /// Whether nothing was left to happen, not even after the end.
    ran_dry: bool,
    /// Events beyond the end that were taken from the queue in its last window.
    too_late: Vec<(u32, Event)>,
    /// Why the run cannot go on.
    failure: Option<SimError>,
    /// Destinations of an interval, kept to save allocations.
    destinations: Vec<u32>,
}

impl<Q: Queue<Event>, R: Rule> Simulation<'_, Q, R> {
    /// Handles events until the run ends.
    fn play(&mut self, monitor: &mut dyn Monitor) -> Result<(), SimError> {
        monitor.progress(&self.progress(0))?;
        loop {
            let Some((router, event)) = self.queue.pop() else {
                self.ran_dry = self.too_late.is_empty();
                break;
            };
            if event.time > self.end {
                self.too_late.push((router, event));
                if self.queue.horizon() > self.end {
                    break;
                }
                continue;
            }
            self.ask_ahead(router);
            self.events += 1;
            match event.kind() {
                Kind::Decision => self.decide(router, event),
                Kind::OutputCredit => self.wake(router, event.port, event.channel(), event.time),
                Kind::NicCredit => self.pump_nic(event.message, event.time),
                Kind::Issue => self.issue(router, event.port, event.word, event.message, event.time),
            }
            if self.events.is_multiple_of(EVENTS_PER_LOOK) {
                if let Some(failure) = self.failure.take() {
                    return Err(failure);
                }
                monitor.progress(&self.progress(event.time()))?;
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Asks for the memory that the events just opened are sure to need: where they note their credits, and for those
    /// at their last router the message and the way out.
    #[inline(always)]
    fn ask_ahead(&self, router: u32) {
        let opened = self.queue.opened();
        if opened.is_empty() {
            return;
        }
        let place = self.wiring.places[router as usize];
        for event in opened {
            prefetch(&self.returns, self.lane(place.first + u32::from(event.port), event.channel()));
            if event.to_group == place.group && event.to_local == place.local {
                let out = (place.first + u32::from(event.to_port)) as usize;
                prefetch(&self.lanes, out);
                prefetch(&self.outs, out);
                self.flights.ask(event.message);
            } else if let Some((port, channel)) = self.routing.guess(place, event) {
                let slot = place.first + u32::from(port);
                prefetch(&self.lanes, self.lane(slot, channel));
                prefetch(&self.outs, slot as usize);
            }
        }
    }

    fn progress(&self, now_ps: u64) -> Progress {
        let (delivered, expected) = self.progress_of_jobs();
        Progress { now_ps, events: self.events, packet_hops: self.packet_hops, delivered, expected }
    }
}

/// Simulates one checked specification with the queue of choice.
///
/// # Errors
/// [`SimError`].
pub fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), SimError> {
    setup::run(spec, monitor, choice)
}
