//! The main loop of a run: it takes events from the queue window by window and handles each at its router, which
//! schedules further events.

mod arbitrations;
mod audit;
mod choice;
mod driven;
mod finish;
mod merge;
mod pace;
mod partitions;
mod setup;

use std::ops::Range;

use odonata_error::Error;

use crate::commit::Fabric;
use crate::endpoint::Endpoint;
use crate::engine::{Queue, Window, prefetch};
use crate::fabric::RouterPlace;
use crate::fabric::packet::{Event, EventKind};
use crate::nodes::{DRIVEN, Nodes};
use crate::output::Output;
use crate::routing::RoutingAlgorithm;
use crate::spec::Spec;
use crate::switch::Switch;
use crate::{Cost, Monitor, Progress};

pub use audit::Audit;
pub use choice::QueueChoice;
pub use driven::{Happening, Network};
pub use setup::{drive, prepare, run_audited};

/// Number of events between two calls of the monitor.
const EVENTS_PER_LOOK: u64 = 1 << 15;
/// How many events ahead memory is prefetched; values from 3 to 12 make no measurable difference.
const EVENTS_AHEAD: usize = 8;
/// Size of a run's tables, in bytes, from which on memory is prefetched: half of a server's second-level cache
/// (assumed). At 2 MB prefetching costs what it saves, or saves a little under overload; smaller tables stay in the
/// cache.
const PREFETCH_BYTES: usize = 1 << 20;

/// Size of a run's tables, in bytes, from which on they are taken to be in no cache (assumed: a core's share of a server's
/// last-level cache).
const FAR_BYTES: usize = 32 << 20;
/// Tables of these sizes are taken to be so in builds for tests, which can afford such machines.
const FAR_IN_TESTS: Range<usize> = 1 << 12..PREFETCH_BYTES;
/// Number of ranks of programs from which on their state is taken to be in no second-level cache, with about 1 KB each.
const FAR_RANKS: usize = 1 << 11;

/// Which memory is prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefetches {
    Nothing,
    /// What an event certainly needs, and outputs that can be guessed cheaply.
    Near,
    /// What takes look-ups to find as well: outputs, and the state of ranks.
    Far,
}

impl Prefetches {
    /// For tables of so many bytes, and programs of so many ranks.
    fn of(bytes: usize, ranks: usize) -> Self {
        match bytes {
            FAR_BYTES.. => Self::Far,
            _ if ranks >= FAR_RANKS => Self::Far,
            _ if cfg!(debug_assertions) && FAR_IN_TESTS.contains(&bytes) => Self::Far,
            PREFETCH_BYTES.. => Self::Near,
            _ => Self::Nothing,
        }
    }
}

/// A run in progress: one field for each room, and what the main loop needs.
pub struct Simulation<'s, Q, R, S, E> {
    /// Links, pending events, and who observes them.
    fabric: Fabric<'s, Q>,
    routing: R,
    /// The routers.
    switch: S,
    /// The NICs, and the jobs that use them.
    nodes: Nodes<'s, E>,
    /// If a message may end the run sooner than a window ahead: how long ahead its delivery is known. (Each event of a
    /// window delivers at most one. So windows stay long until there are fewer messages left than events in a window.)
    delivery: Option<u64>,
    prefetches: Prefetches,
    /// Number of events at which the monitor is called next.
    next_look: u64,
    /// Whether no event is left, not even after the end.
    ran_dry: bool,
    /// Events after the end that were taken from the queue in its last window.
    too_late: Vec<(u32, Event)>,
    /// Whether a program is deadlocked, in several partitions.
    deadlocked: bool,
}

impl<'s, Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'s, Q, R, S, E> {
    /// Handles events until the run ends. (Not inlined, so that the generated code does not depend on the caller.)
    #[inline(never)]
    fn play(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        monitor.progress(&self.progress(0))?;
        let mut window = Window::default();
        loop {
            if !self.fabric.queue.open(&mut window) {
                self.ran_dry = self.too_late.is_empty();
                break;
            }
            let may_end = |_: &mut u64| self.nodes.jobs.incomplete() <= window.len() as u64;
            if let Some(delivery) = self.delivery.take_if(may_end) {
                self.fabric.queue.shorten(&window, delivery);
                continue;
            }
            self.visit(&window, monitor)?;
            self.routing.failure().map_or(Ok(()), Err)?;
            if self.fabric.queue.horizon() > self.fabric.course.end {
                break;
            }
            self.look(monitor)?;
        }
        self.fabric.course.failure.take().map_or(Ok(()), Err)?;
        self.settle()
    }

    /// Lets ranks handle what they have not handled by the end of the run because nothing outside them depended on it.
    fn settle(&mut self) -> Result<(), Error> {
        let end = self.fabric.course.end;
        let failure = self.nodes.programs.as_mut().and_then(|programs| programs.settle(end));
        failure.map_or(Ok(()), |failure| Err(*failure))
    }

    /// Calls the monitor if it is time.
    #[inline]
    fn look(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        if self.fabric.course.events < self.next_look {
            return Ok(());
        }
        self.next_look = self.fabric.course.events + EVENTS_PER_LOOK;
        if let Some(failure) = self.fabric.course.failure.take() {
            return Err(failure);
        }
        monitor.progress(&self.progress(self.fabric.queue.horizon()))
    }

    /// Handles the events of a window, and those that are added to it meanwhile. Not inlined: inside `play` the compiler
    /// gave this loop 16 more instructions per packet-hop.
    #[inline(never)]
    fn visit(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        if S::ARBITRATES {
            return self.visit_arbitrating(window, monitor);
        }
        if self.prefetches == Prefetches::Far {
            return self.visit_far(window, monitor);
        }
        for position in 0..window.len() {
            // SAFETY: `position` is below the number of events.
            let (router, event) = unsafe { window.get_unchecked(position) };
            if self.fabric.queue.has_late() {
                self.handle_late(window, position, monitor)?;
            }
            if self.prefetches == Prefetches::Near && position + EVENTS_AHEAD < window.len() {
                self.prefetch_for(window, position + EVENTS_AHEAD);
            }
            self.handle(router, event);
        }
        if self.fabric.queue.has_late() {
            self.handle_late(window, window.len(), monitor)?;
        }
        Ok(())
    }

    /// The same with [`Prefetches::Far`].
    #[inline(never)]
    fn visit_far(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        for position in 0..window.len() {
            // SAFETY: `position` is below the number of events.
            let (router, event) = unsafe { window.get_unchecked(position) };
            if self.fabric.queue.has_late() {
                self.handle_late(window, position, monitor)?;
            }
            if position + EVENTS_AHEAD < window.len() {
                self.prefetch_far_for(window, position + EVENTS_AHEAD);
            }
            self.handle_apart(router, event);
        }
        if self.fabric.queue.has_late() {
            self.handle_late(window, window.len(), monitor)?;
        }
        Ok(())
    }

    /// Handles the events that were added to the open window and precede the one at `position`.
    #[cold]
    #[inline(never)]
    fn handle_late(&mut self, window: &Window<Event>, position: usize, monitor: &mut dyn Monitor) -> Result<(), Error> {
        let next = window.get(position);
        while let Some((router, event)) = self.fabric.queue.late(next) {
            let visited = position.checked_sub(1).and_then(|last| window.get(last)).map(|(router, _)| router);
            debug_assert!(
                visited == Some(router) || self.fabric.queue.in_one_order(),
                "affected sooner than the lookahead allows"
            );
            self.handle_apart(router, &event);
            self.look(monitor)?; // there may be any number of late events
        }
        Ok(())
    }

    /// The same as [`handle`](Self::handle), compiled once for all who call it. (Marked as seldom called, so that the
    /// compiler optimises the loop of [`visit`](Self::visit) for speed alone.)
    #[cold]
    #[inline(never)]
    fn handle_apart(&mut self, router: u32, event: &Event) {
        self.handle(router, event);
    }

    /// Handles an event of a router.
    #[inline(always)]
    fn handle(&mut self, router: u32, event: &Event) {
        if event.time > self.fabric.course.end {
            self.too_late.push((router, *event));
            return;
        }
        self.fabric.course.events += 1;
        let Self { fabric, routing, switch, nodes, .. } = self;
        if event.is_packet() {
            switch.arrive(fabric, routing, nodes, router, event);
            return;
        }
        match event.kind() {
            EventKind::Decision => unreachable!("a packet"),
            EventKind::OutputCredit => switch.credit(fabric, nodes, router, event),
            EventKind::NicCredit if E::ANSWERS => nodes.come(fabric, routing, event),
            EventKind::NicCredit => nodes.pump_nic(fabric, routing, event.message, event.time),
            EventKind::Issue if nodes.is_host(event.key) => nodes.run_programs(fabric, routing, router, event),
            EventKind::Issue if event.message == DRIVEN => nodes.issue_driven(fabric, routing, event),
            EventKind::Issue => nodes.issue(fabric, routing, router, event),
        }
    }

    /// An event that is handled around this position, with its router's place and the slot of the port by which it comes.
    #[inline(always)]
    fn about<'w>(&self, window: &'w Window<Event>, position: usize) -> (RouterPlace, u32, &'w Event) {
        assert!(position < window.len());
        // SAFETY: the position is below the number of events; and as in `Ideal::arrive`.
        let (place, event) = unsafe {
            let (router, event) = window.about(position);
            (*self.fabric.links.wiring.places.get_unchecked(router as usize), event)
        };
        (place, place.first + u32::from(event.port), event)
    }

    /// Prefetches the memory that the event at a position slightly ahead will need.
    #[inline(always)]
    fn prefetch_for(&self, window: &Window<Event>, position: usize) {
        let (place, slot, event) = self.about(window, position);
        let vc = self.fabric.links.vc(slot, event.channel());
        if !event.is_packet() {
            self.prefetch_for_other(event, vc);
            return;
        }
        // A packet needs the place of its credit, and at its last router the message. Whether this is the last router is
        // unpredictable, so the address is chosen without a branch.
        self.fabric.links.credits.prefetch(vc);
        if let Some(metric) = &self.fabric.links.metric {
            metric.prefetch(slot as usize);
            if position + EVENTS_AHEAD < window.len() {
                metric.prefetch_sender(self.about(window, position + EVENTS_AHEAD).1 as usize);
            }
        }
        let last = place.is_last(event);
        self.nodes.flights.prefetch(event.message & 0_u32.wrapping_sub(u32::from(last)));
        if let Some(guess) = self.routing.guess(place, event) {
            self.prefetch_output(place, if last { (event.to_port(), 0) } else { guess });
        }
    }

    /// Prefetches a router's output: its port and the output VC of a channel. Returns its slot, and the output VC.
    #[inline(always)]
    fn prefetch_output(&self, place: RouterPlace, (port, channel): (u16, u8)) -> (usize, usize) {
        let slot = place.first + u32::from(port);
        let vc = self.fabric.links.vc(slot, channel);
        prefetch(&self.fabric.links.vcs, vc);
        prefetch(&self.fabric.links.outs, slot as usize);
        (slot as usize, vc)
    }

    /// The same as [`prefetch_for`](Self::prefetch_for), and what takes look-ups to find: the output that a packet will
    /// probably take, and the state of ranks. What these look-ups read is prefetched for an event further ahead.
    #[inline(never)]
    fn prefetch_far_for(&self, window: &Window<Event>, position: usize) {
        if position + EVENTS_AHEAD < window.len() {
            self.prefetch_look_ups(window, position + EVENTS_AHEAD);
        }
        self.prefetch_for(window, position);
        let (place, _, event) = self.about(window, position);
        let programs = self.nodes.programs.as_ref();
        if !event.is_packet() {
            if let (EventKind::Issue, Some(programs)) = (event.kind(), programs) {
                programs.prefetch_rank(event.key);
            }
        } else if place.is_last(event) {
            let (_, vc) = self.prefetch_output(place, (event.to_port(), 0));
            if let Some(programs) = programs {
                programs.prefetch_host(self.fabric.links.vcs[vc].to() / self.fabric.links.wiring.rails);
            }
        } else if let Some(guess) = self.routing.guess_far(place, event) {
            let (slot, _) = self.prefetch_output(place, guess);
            if let Some(metric) = &self.fabric.links.metric {
                metric.prefetch_load(slot);
            }
        }
    }

    /// Prefetches what [`prefetch_far_for`](Self::prefetch_far_for) looks up for the event at a position.
    #[inline]
    fn prefetch_look_ups(&self, window: &Window<Event>, position: usize) {
        let (place, _, event) = self.about(window, position);
        if !event.is_packet() {
            if let (EventKind::Issue, Some(programs)) = (event.kind(), &self.nodes.programs) {
                programs.prefetch_host(event.key);
            }
        } else if place.is_last(event) {
            self.prefetch_output(place, (event.to_port(), 0));
        } else {
            self.routing.prefetch_rows(place, event);
        }
    }

    /// The same as [`prefetch_for`](Self::prefetch_for) for events that are not packets.
    #[inline(never)]
    fn prefetch_for_other(&self, event: &Event, vc: usize) {
        if event.kind() == EventKind::OutputCredit {
            self.fabric.links.credits.prefetch_waiting(event.message as usize);
            prefetch(&self.fabric.links.vcs, vc);
            self.fabric.links.logs.prefetch(vc);
        } else {
            let nic = if event.kind() == EventKind::Issue {
                event.key * self.fabric.links.wiring.rails
            } else {
                event.message
            };
            self.fabric.links.credits.prefetch(vc);
            prefetch(&self.nodes.nics, nic as usize);
            prefetch(&self.fabric.links.vcs, self.fabric.links.nic_vc(nic));
        }
    }

    fn progress(&self, now_ps: u64) -> Progress {
        let (delivered, expected) = self.nodes.progress();
        let course = &self.fabric.course;
        Progress { now_ps, events: course.events, packet_hops: course.packet_hops, delivered, expected }
    }
}

/// Simulates one checked specification with the chosen queue.
///
/// # Errors
/// [`Error`].
pub fn run(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    setup::run(spec, monitor, choice)
}
