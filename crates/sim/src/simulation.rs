//! The life of a run: events are taken from the queue window by window, handled at their router, and lead to others.

mod audit;
mod crossbar;
mod finish;
mod inject;
mod jobs;
mod programs;
mod setup;
mod switch;

use odonata_error::Error;

use crate::counters::{ArrivalCounts, BlameCounts, ByClass};
use crate::engine::random::Source;
use crate::engine::{Queue, Window, prefetch};
use crate::fabric::packet::{Event, EventKind};
use crate::fabric::{
    BlockedPackets, CreditMetric, Credits, Crossbars, Flights, Logs, Nic, OutputPort, OutputVcState, PacketTimes,
    Wiring,
};
use crate::output::Output;
use crate::program::Programs;
use crate::routing::RoutingAlgorithm;
use crate::spec::Spec;
use crate::{Cost, Monitor, Progress};
use jobs::Jobs;

pub use audit::Audit;
pub use setup::{QueueChoice, audit, prepare};

/// Events between two looks at the clock by the monitor.
const EVENTS_PER_LOOK: u64 = 1 << 15;
/// Events between asking for memory and needing it; from 3 to 12 make no difference that could be measured.
const EVENTS_AHEAD: usize = 8;
/// Bytes of a run's tables from which on memory is asked for: half of a server's second-level cache (assumed). With 2
/// MB asking costs what it gains, or gains a little under overload; smaller tables stay in the cache.
const BYTES_TO_ASK_FOR: usize = 1 << 20;

/// A run in progress.
pub struct Simulation<'s, Q, R> {
    spec: &'s Spec,
    wiring: Wiring,
    /// What packets take, by payload.
    packets: &'s [PacketTimes],
    routing: R,
    queue: Q,
    /// Output ports, by slot.
    outs: Vec<OutputPort>,
    /// Lanes at the sender: channel by channel the ports by slot, then the injection links by node.
    vcs: Vec<OutputVcState>,
    /// What of the lanes is rarely needed.
    logs: Logs,
    /// Credits of the buffer behind each port, at the receiver: channel by channel the ports by slot.
    credits: Credits,
    /// Whether there is a sensor, or arrivals are counted: most runs do without.
    observed: bool,
    /// Whether packets cut through, there is a sensor, or bytes are counted by link class.
    special: bool,
    /// What routings sense, if it is not the backlog.
    credit_metric: Option<CreditMetric>,
    /// What is inside the routers, if they are not ideal.
    crossbars: Crossbars,
    /// Arbitrations before this time are found between the events of the open window; others are events.
    foreseen_until: u64,
    /// Whether no other event of the present instant comes to the router being visited, but for what comes late.
    last_of_instant: bool,
    /// Queues that an arbitration asks, kept to save allocations.
    asked: Vec<u32>,
    blocked: BlockedPackets,
    nics: Vec<Nic>,
    flights: Flights,
    /// Words of messages.
    messages: Source,
    jobs: Jobs,
    /// What the ranks of jobs with programs do, if there are any.
    programs: Option<Programs>,
    by_class: ByClass,
    arrivals: ArrivalCounts,
    /// Who makes whom wait, if that is asked for.
    blame: Option<BlameCounts>,
    /// Last instant of the run, once known.
    end: u64,
    /// Whether memory is asked for ahead of time.
    asks: bool,
    packet_hops: u64,
    events: u64,
    /// Events after which the monitor looks.
    next_look: u64,
    /// Whether nothing was left to happen, not even after the end.
    ran_dry: bool,
    /// Events beyond the end that were taken from the queue in its last window.
    too_late: Vec<(u32, Event)>,
    /// Why the run cannot go on.
    failure: Option<Error>,
    /// Destinations of an interval, kept to save allocations.
    destinations: Vec<u32>,
}

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'s, Q, R> {
    /// Handles events until the run ends. (Not inlined, so that its code does not depend on what surrounds a run.)
    #[inline(never)]
    fn play(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        monitor.progress(&self.progress(0))?;
        let mut window = Window::default();
        loop {
            if !self.queue.open(&mut window) {
                self.ran_dry = self.too_late.is_empty();
                break;
            }
            self.visit(&window, monitor)?;
            if self.queue.horizon() > self.end {
                break;
            }
            self.look(monitor)?;
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// What a packet takes. (It does not borrow the simulation.)
    #[inline(always)]
    fn times_of(&self, packet: &Event) -> &'s PacketTimes {
        // SAFETY: NICs cut packets no larger than the largest.
        unsafe { self.packets.get_unchecked(packet.bytes() as usize) }
    }

    /// Lets the monitor look, if it is time.
    #[inline]
    fn look(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        if self.events < self.next_look {
            return Ok(());
        }
        self.next_look = self.events + EVENTS_PER_LOOK;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        monitor.progress(&self.progress(self.queue.horizon()))
    }

    /// Handles the events of a window, and what comes late for it.
    fn visit(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        if R::BEHIND_CROSSBAR {
            return self.visit_crossbars(window, monitor);
        }
        for position in 0..window.len() {
            // SAFETY: it is below the number of events.
            let (router, event) = unsafe { window.get_unchecked(position) };
            if self.queue.has_late() {
                self.handle_late(window, position, monitor)?;
            }
            if self.asks && position + EVENTS_AHEAD < window.len() {
                // SAFETY: it was just checked.
                self.ask_for(unsafe { window.about(position + EVENTS_AHEAD) });
            }
            self.handle(router, event);
        }
        if self.queue.has_late() {
            self.handle_late(window, window.len(), monitor)?;
        }
        Ok(())
    }

    /// Handles the events that have come for the present window and precede one of it.
    #[cold]
    #[inline(never)]
    fn handle_late(&mut self, window: &Window<Event>, position: usize, monitor: &mut dyn Monitor) -> Result<(), Error> {
        let next = window.get(position);
        while let Some((router, event)) = self.queue.late(next) {
            let visited = position.checked_sub(1).and_then(|last| window.get(last)).map(|(router, _)| router);
            debug_assert!(
                visited == Some(router) || self.queue.in_one_order(),
                "affected sooner than the lookahead allows"
            );
            self.handle(router, &event);
            self.look(monitor)?; // there may be any number of them
        }
        Ok(())
    }

    #[inline(always)]
    fn handle(&mut self, router: u32, event: &Event) {
        if event.time > self.end {
            self.too_late.push((router, *event));
            return;
        }
        self.events += 1;
        if event.is_packet() {
            if R::BEHIND_CROSSBAR {
                self.at_crossbar(router, event);
            } else {
                self.decide(router, event);
            }
            return;
        }
        match event.kind() {
            EventKind::Decision => unreachable!("a packet"),
            EventKind::OutputCredit => self.wake(router, event),
            EventKind::NicCredit => self.pump_nic(event.message, event.time),
            EventKind::Issue => self.issue(router, event.port, event.key, event.message, event.time),
        }
    }

    /// Asks for the memory that an event a little ahead is sure to need.
    #[inline(always)]
    fn ask_for(&self, (router, event): (u32, &Event)) {
        // SAFETY: as in `decide`.
        let place = *unsafe { self.wiring.places.get_unchecked(router as usize) };
        let slot = place.first + u32::from(event.port);
        let vc = self.vc(slot, event.channel());
        if !event.is_packet() {
            self.ask_for_other(event, vc);
            return;
        }
        // Where it notes its credit, and at its last router the way out and the message. Whether it is there cannot be
        // foreseen, so that is chosen without a branch.
        self.credits.ask(vc);
        let last = place.is_last(event);
        let (port, channel) = self.routing.guess(place, event).unwrap_or((event.port, 0));
        let (port, channel) = if last { (event.to_port, 0) } else { (port, channel) };
        let slot = place.first + u32::from(port);
        prefetch(&self.vcs, self.vc(slot, channel));
        prefetch(&self.outs, slot as usize);
        self.flights.ask(event.message & 0_u32.wrapping_sub(u32::from(last)));
    }

    /// The same for what is not a packet.
    #[inline(never)]
    fn ask_for_other(&self, event: &Event, vc: usize) {
        if event.kind() == EventKind::OutputCredit {
            self.credits.ask_for_waiting(event.message as usize);
            prefetch(&self.vcs, vc);
            self.logs.ask(vc);
        } else {
            let nic = if event.kind() == EventKind::Issue { event.key * self.wiring.rails } else { event.message };
            self.credits.ask(vc);
            prefetch(&self.nics, nic as usize);
            prefetch(&self.vcs, self.nic_vc(nic));
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
/// [`Error`].
pub fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    setup::run(spec, monitor, choice)
}
