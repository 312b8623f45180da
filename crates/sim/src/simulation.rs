//! The main loop of a run: it takes events from the queue window by window and handles each at its router, which
//! schedules further events.

mod aries;
mod audit;
mod choice;
mod crossbar;
mod finish;
mod inject;
mod jobs;
mod merge;
mod partitions;
mod programs;
mod setup;
mod switch;

use odonata_error::Error;

use crate::counters::{ArrivalCounts, BlameCounts, ByClass, SeriesCounts};
use crate::engine::random::Source;
use crate::engine::{Queue, Window, prefetch};
use crate::fabric::packet::{Event, EventKind};
use crate::fabric::{
    AriesNics, BlockedPackets, CreditMetric, Credits, Crossbars, Flights, Logs, ModePolicies, Nic, OutputPort,
    OutputVcState, PacketTimes, RouterPlace, Wiring,
};
use crate::output::Output;
use crate::program::Programs;
use crate::routing::RoutingAlgorithm;
use crate::spec::Spec;
use crate::{Cost, Monitor, Progress};
use jobs::Jobs;
use partitions::Posts;

pub use audit::Audit;
pub use choice::QueueChoice;
pub use setup::{audit, prepare};

/// Number of events between two calls of the monitor.
const EVENTS_PER_LOOK: u64 = 1 << 15;
/// How many events ahead memory is prefetched; values from 3 to 12 make no measurable difference.
const EVENTS_AHEAD: usize = 8;
/// Size of a run's tables, in bytes, from which on memory is prefetched: half of a server's second-level cache
/// (assumed). At 2 MB prefetching costs what it saves, or saves a little under overload; smaller tables stay in the
/// cache.
const PREFETCH_BYTES: usize = 1 << 20;

/// A run in progress.
pub struct Simulation<'s, Q, R> {
    spec: &'s Spec,
    wiring: Wiring,
    /// The durations of packets, by payload.
    packets: &'s [PacketTimes],
    routing: R,
    queue: Q,
    /// Output ports, by slot.
    outs: Vec<OutputPort>,
    /// Output VCs at the sender: for each channel the ports by slot, then the injection links by node.
    vcs: Vec<OutputVcState>,
    /// Rarely used data of the output VCs.
    logs: Logs,
    /// Credits of the buffer behind each port, at the receiver: for each channel the ports by slot.
    credits: Credits,
    /// Whether packets cut through, or bytes, blame or series are counted by link.
    special: bool,
    /// Whether bytes by class, roots or series are counted.
    counts_more: bool,
    /// The congestion metric, if it is not the backlog.
    credit_metric: Option<CreditMetric>,
    /// The crossbars; empty if routers are ideal.
    crossbars: Crossbars,
    /// Arbitrations before this time are done between the events of the open window; later ones are events.
    foreseen_until: u64,
    /// Whether the router being visited has no other event at the present instant, apart from late ones.
    last_of_instant: bool,
    /// Queues that take part in an arbitration, kept to avoid allocations.
    requested: Vec<u32>,
    blocked: BlockedPackets,
    nics: Vec<Nic>,
    /// What NICs know of requests and responses, if packets are answered.
    aries: AriesNics,
    /// The policies of application-aware jobs.
    policies: ModePolicies,
    flights: Flights,
    /// What goes to other partitions.
    posts: Posts,
    /// Random keys of messages.
    messages: Source,
    jobs: Jobs,
    /// The programs of ranks, if there are any.
    programs: Option<Programs>,
    by_class: ByClass,
    arrivals: ArrivalCounts,
    /// Counts of who makes whom wait, if blame is measured.
    blame: Option<BlameCounts>,
    /// The load of links over time, if that is asked for.
    series: Option<SeriesCounts>,
    /// If a message may end the run sooner than a window ahead: how long ahead its delivery is known. (Each event of a
    /// window delivers at most one. So windows stay long until there are fewer messages left than events in a window.)
    delivery: Option<u64>,
    /// Last instant of the run, once known.
    end: u64,
    /// Whether memory is prefetched.
    prefetches: bool,
    packet_hops: u64,
    events: u64,
    /// Number of events at which the monitor is called next.
    next_look: u64,
    /// Whether no event is left, not even after the end.
    ran_dry: bool,
    /// Events after the end that were taken from the queue in its last window.
    too_late: Vec<(u32, Event)>,
    /// Why the run cannot go on.
    failure: Option<Error>,
    /// Whether a program is deadlocked, in several partitions.
    deadlocked: bool,
    /// Destinations of an interval, kept to avoid allocations.
    destinations: Vec<u32>,
}

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'s, Q, R> {
    /// Handles events until the run ends. (Not inlined, so that the generated code does not depend on the caller.)
    #[inline(never)]
    fn play(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        monitor.progress(&self.progress(0))?;
        let mut window = Window::default();
        loop {
            if !self.queue.open(&mut window) {
                self.ran_dry = self.too_late.is_empty();
                break;
            }
            let may_end = |_: &mut u64| self.jobs.incomplete() <= window.len() as u64;
            if let Some(delivery) = self.delivery.take_if(may_end) {
                self.queue.shorten(&window, delivery);
                continue;
            }
            self.visit(&window, monitor)?;
            if self.queue.horizon() > self.end {
                break;
            }
            self.look(monitor)?;
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// The durations of a packet. (The result does not borrow the simulation.)
    #[inline(always)]
    fn times_of(&self, packet: &Event) -> &'s PacketTimes {
        if R::RESPONSES {
            return &self.packets[self.number(packet) as usize];
        }
        // SAFETY: no packet is larger than the largest one, which the table covers.
        unsafe { self.packets.get_unchecked(packet.bytes() as usize) }
    }

    /// Number of a packet in tables.
    #[inline(always)]
    fn number(&self, packet: &Event) -> u32 {
        if R::RESPONSES {
            return self.aries.number(packet);
        }
        packet.bytes()
    }

    /// The message of a packet.
    #[inline]
    fn message_of(&self, packet: &Event) -> u32 {
        if R::RESPONSES { self.aries.message(packet) } else { packet.message }
    }

    /// The job of a packet.
    #[inline]
    fn job_of(&self, packet: &Event) -> u16 {
        self.flights.job(self.message_of(packet))
    }

    /// Calls the monitor if it is time.
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

    /// Handles the events of a window, and those that are added to it meanwhile. Not inlined: inside `play` the compiler
    /// gave this loop 16 more instructions per packet-hop.
    #[inline(never)]
    fn visit(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        if R::BEHIND_CROSSBAR {
            return self.visit_crossbars(window, monitor);
        }
        for position in 0..window.len() {
            // SAFETY: `position` is below the number of events.
            let (router, event) = unsafe { window.get_unchecked(position) };
            if self.queue.has_late() {
                self.handle_late(window, position, monitor)?;
            }
            if self.prefetches && position + EVENTS_AHEAD < window.len() {
                self.prefetch_for(window, position + EVENTS_AHEAD);
            }
            self.handle(router, event);
        }
        if self.queue.has_late() {
            self.handle_late(window, window.len(), monitor)?;
        }
        Ok(())
    }

    /// Handles the events that were added to the open window and precede the one at `position`.
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
            self.look(monitor)?; // there may be any number of late events
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
            EventKind::NicCredit if R::RESPONSES => self.hear(event),
            EventKind::NicCredit => self.pump_nic(event.message, event.time),
            EventKind::Issue => self.issue(router, event.port, event.key, event.message, event.time),
        }
    }

    /// An event that is handled around this position, with its router's place and the slot of the port by which it comes.
    #[inline(always)]
    fn about<'w>(&self, window: &'w Window<Event>, position: usize) -> (RouterPlace, u32, &'w Event) {
        assert!(position < window.len());
        // SAFETY: the position is below the number of events; and as in `decide`.
        let (place, event) = unsafe {
            let (router, event) = window.about(position);
            (*self.wiring.places.get_unchecked(router as usize), event)
        };
        (place, place.first + u32::from(event.port), event)
    }

    /// Prefetches the memory that the event at a position slightly ahead will need.
    #[inline(always)]
    fn prefetch_for(&self, window: &Window<Event>, position: usize) {
        let (place, slot, event) = self.about(window, position);
        let vc = self.vc(slot, event.channel());
        if !event.is_packet() {
            self.prefetch_for_other(event, vc);
            return;
        }
        // A packet needs the place of its credit, and at its last router the message. Whether this is the last router is
        // unpredictable, so the address is chosen without a branch.
        self.credits.prefetch(vc);
        if let Some(metric) = &self.credit_metric {
            metric.prefetch(slot as usize);
            if position + EVENTS_AHEAD < window.len() {
                metric.prefetch_sender(self.about(window, position + EVENTS_AHEAD).1 as usize);
            }
        }
        let last = place.is_last(event);
        self.flights.prefetch(event.message & 0_u32.wrapping_sub(u32::from(last)));
        if let Some(guess) = self.routing.guess(place, event) {
            let (port, channel) = if last { (event.to_port, 0) } else { guess };
            let slot = place.first + u32::from(port);
            prefetch(&self.vcs, self.vc(slot, channel));
            prefetch(&self.outs, slot as usize);
        }
    }

    /// The same for events that are not packets.
    #[inline(never)]
    fn prefetch_for_other(&self, event: &Event, vc: usize) {
        if event.kind() == EventKind::OutputCredit {
            self.credits.prefetch_waiting(event.message as usize);
            prefetch(&self.vcs, vc);
            self.logs.prefetch(vc);
        } else {
            let nic = if event.kind() == EventKind::Issue { event.key * self.wiring.rails } else { event.message };
            self.credits.prefetch(vc);
            prefetch(&self.nics, nic as usize);
            prefetch(&self.vcs, self.nic_vc(nic));
        }
    }

    fn progress(&self, now_ps: u64) -> Progress {
        let (delivered, expected) = self.progress_of_jobs();
        Progress { now_ps, events: self.events, packet_hops: self.packet_hops, delivered, expected }
    }
}

/// Simulates one checked specification with the chosen queue.
///
/// # Errors
/// [`Error`].
pub fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    setup::run(spec, monitor, choice)
}
