//! Routers with a crossbar: queues at the inputs, arbitration, output buffers (docs/model.md, section 4).
//!
//! An arbitration inside the open window is not an event: no other router can affect this one before the window ends,
//! so it takes place between the events of the router.

mod observed;
mod tables;

use odonata_topology::Network;

use super::{NEVER, Switch, route};
use crate::commit::{Fabric, Nics, Target, Waiting};
use crate::engine::Queue;
use crate::fabric::packet::{Event, RouteDecision};
use crate::fabric::{Chain, HopTiming, Links, OutputVc, PacketTimes, RouterPlace};
use crate::observe::Left;
use crate::routing::{Loads, RoutingAlgorithm};
use crate::spec::{MetricKind, Spec};
use observed::{needs, observe_crossing};
use tables::{Crossbars, Departure, InputQueue, Output, OutputBuffers, Sensed};

/// Routers with a crossbar between queues at their inputs and buffers at their outputs.
pub struct Crossbar {
    /// Queues, crossbars and output buffers.
    pub tables: Crossbars,
    /// Which bytes in the output buffers of a port are its load, if the metric reads them.
    sensed: Option<Sensed>,
    /// Arbitrations before this time are done between the events of the open window; later ones are events.
    foreseen_until: u64,
    /// Whether the router being visited has no other event at the present instant, apart from late ones.
    last_of_instant: bool,
    /// Queues that take part in an arbitration, kept to avoid allocations.
    requested: Vec<u32>,
}

impl Crossbar {
    /// The routers of a machine.
    pub fn new(spec: &Spec, network: &Network) -> Self {
        Self {
            tables: Crossbars::new(&spec.fabric, network),
            sensed: match spec.sensing.kind {
                MetricKind::OutputBuffer => Some(Sensed::All),
                MetricKind::OutputCredits => Some(Sensed::NotBegun),
                _ => None,
            },
            foreseen_until: 0,
            last_of_instant: false,
            requested: Vec::new(),
        }
    }
}

impl Waiting for Crossbar {
    const BUFFERS_OUTPUT: bool = true;
    /// The router.
    type From = u32;

    #[inline(always)]
    fn from(_: RouterPlace, router: u32) -> u32 {
        router
    }

    #[inline(always)]
    fn earliest(_: &Links<'_>, _: u32, packet: &Event, _: &PacketTimes, _: u8) -> u64 {
        packet.time
    }

    #[inline(always)]
    fn leaves(_: &Links<'_>, _: u32, _: &Event) -> Left {
        Left::Output
    }

    #[inline(always)]
    fn left<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        router: u32,
        output: OutputVc,
        packet: &Event,
        (bytes, end): (u32, u64),
    ) {
        let job = if fabric.observers.blame.is_some() { nics.job(packet) } else { 0 };
        let begin = if matches!(self.sensed, Some(Sensed::NotBegun)) {
            end - fabric.links.times(nics, packet).serialisation(fabric.links.vcs[output.vc()].class())
        } else {
            end
        };
        if self.tables.leave(output, Departure { begin, end, bytes, job }) {
            self.expect_arbitration(fabric, router, end);
        }
    }
}

impl Switch for Crossbar {
    /// A packet joins a queue, or an arbitration is due.
    #[inline(never)]
    fn arrive<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        event: &Event,
    ) {
        if event.is_arbitration() {
            self.arbitrate(fabric, routing, nics, router, event.time);
        } else {
            self.join(fabric, routing, nics, router, event);
        }
    }

    fn open(&mut self, closed_until: u64) {
        self.foreseen_until = closed_until;
    }

    #[inline(always)]
    fn see_last_of_instant(&mut self, last: bool) {
        self.last_of_instant = last;
    }

    #[inline(always)]
    fn next_arbitration(&self, router: u32) -> u64 {
        self.tables.next(router)
    }

    fn drop_arbitration(&mut self, router: u32, at: u64) {
        self.tables.begin(router, at);
    }

    fn waiting(&self, vc: usize) -> Option<u64> {
        Some(self.tables.waiting(vc))
    }

    fn queues(&self) -> impl Iterator<Item = (Chain, u32)> {
        self.tables.queues().map(|queue| (queue.chain, queue.input))
    }
}

impl Crossbar {
    /// A packet joins a queue at its decision time.
    #[inline]
    fn join<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        packet: &Event,
    ) {
        // SAFETY: events are pushed only for routers of the wiring, and the queue returns what was pushed.
        let place = *unsafe { fabric.links.wiring.places.get_unchecked(router as usize) };
        let now = packet.time;
        let input = place.first + u32::from(packet.port);
        let buffer = fabric.links.vc(input, packet.channel());
        let times = fabric.links.times(nics, packet);
        let virtual_outputs = self.tables.virtual_outputs();
        if !virtual_outputs && !self.tables.get(buffer as u32).chain.is_empty() {
            fabric.links.blocked.push(&mut self.tables.get_mut(buffer as u32).chain, packet);
            return;
        }
        let (output, decision, marked) = self.output_of(fabric, routing, nics, place, packet, now);
        let packet = if marked { &packet.marked() } else { packet };
        let number = if virtual_outputs {
            self.tables.virtual_output_queue(buffer, input, (packet.port, packet.channel()), output)
        } else {
            buffer as u32
        };
        let is_head = self.tables.get(number).chain.is_empty();
        let at = if is_head { self.tables.earliest_of(input, output.vc, times.wire, now) } else { NEVER };
        // Nothing else can be granted at this instant, and no other event can change that.
        if at == now && self.last_of_instant && self.tables.next(router) > now && !fabric.queue.has_late() {
            if fabric.observers.blame.is_some() {
                self.observe_passing(fabric, nics, router, needs(number, input, output.vc), packet, now);
            }
            let across = self.tables.grant(router, number, output.vc, (nics.number(packet), times.wire), now);
            let mut packet = *packet;
            packet.follow(decision);
            self.cross(fabric, nics, router, output, packet, (across, now));
            return;
        }
        fabric.links.outs[output.vc.slot()].blocked_ps += times.serialisation(fabric.links.vcs[output.vc.vc()].class());
        fabric.links.blocked.push(&mut self.tables.get_mut(number).chain, packet).follow(decision);
        if is_head {
            self.tables.request(router, number, times.wire, output);
            if fabric.observers.blame.is_some() {
                self.observe_head(fabric, nics, number, now);
            }
            self.expect_arbitration(fabric, router, at);
        }
    }

    /// The output of a packet: its route decision with the present loads, and whether the router marks it.
    #[inline]
    fn output_of<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &N,
        place: RouterPlace,
        packet: &Event,
        now: u64,
    ) -> (Output, RouteDecision, bool) {
        let routed = packet.at(now);
        fabric.course.packet_hops += 1;
        let links = &fabric.links;
        let decision = if place.is_last(packet) {
            routing.ends(place, &routed);
            RouteDecision::new(packet, packet.to_port(), 0)
        } else if let Some(sensed) = self.sensed {
            let metric =
                OutputBuffers { crossbars: &self.tables, wiring: &links.wiring, sensed, levels: links.levels.as_ref() };
            routing.route(place, &routed, &Loads::new(&links.outs, metric, place.first, place.ports, now))
        } else {
            route(links, routing, place, &routed)
        };
        let marked = fabric.watches_decisions && fabric.decided(nics, place, &routed, decision.port());
        let vc = fabric.links.wiring.output(place, decision.port(), decision.channel());
        (Output { vc, port: decision.port(), channel: decision.channel() }, decision, marked)
    }

    /// Grants all that can be granted now.
    #[inline]
    fn arbitrate<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        now: u64,
    ) {
        if !self.tables.begin(router, now) {
            return;
        }
        let mut requested = std::mem::take(&mut self.requested);
        let mut next = self.tables.take_requests(router, now, &mut requested);
        if fabric.observers.blame.is_some() && requested.len() > 1 {
            self.observe_requests(fabric, &requested, now);
        }
        let mut first = true;
        requested.retain(|&number| {
            // An earlier grant of this instant may have taken what this one needs.
            let at = if std::mem::take(&mut first) { now } else { self.tables.earliest(number, now) };
            if at == now {
                self.grant(fabric, nics, router, number, now);
            } else {
                self.tables.wait(router, number);
                if fabric.observers.blame.is_some() {
                    self.observe_waiting(fabric, nics, number, now);
                }
                next = next.min(at);
            }
            at == now
        });
        if requested.len() > 1 {
            requested.sort_unstable_by_key(|&number| self.tables.get(number).order);
        }
        for &number in &requested {
            next = next.min(self.move_up(fabric, routing, nics, router, number, now));
        }
        requested.clear();
        self.requested = requested;
        self.expect_arbitration(fabric, router, next);
    }

    /// Grants the head of a queue its output.
    #[inline]
    fn grant<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        number: u32,
        now: u64,
    ) {
        let output = self.tables.get(number).output.expect("its head has an output");
        let packet = fabric.links.blocked.pop(&mut self.tables.get_mut(number).chain);
        let times = fabric.links.times(nics, &packet);
        if fabric.observers.blame.is_some() {
            self.observe_grant(fabric, nics, router, number, &packet, now);
        }
        fabric.links.outs[output.vc.slot()].blocked_ps -= times.serialisation(fabric.links.vcs[output.vc.vc()].class());
        let across = self.tables.grant(router, number, output.vc, (nics.number(&packet), times.wire), now);
        self.cross(fabric, nics, router, output, packet, (across, now));
    }

    /// A queue whose head was just granted may have a new head, which gets its output if it has none. Returns the
    /// earliest time at which that head could be granted, as far as is known.
    #[inline]
    fn move_up<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &N,
        router: u32,
        number: u32,
        now: u64,
    ) -> u64 {
        let InputQueue { chain, output, .. } = *self.tables.get(number);
        if chain.is_empty() {
            return NEVER;
        }
        let mut output = output.expect("its last head had an output");
        let packet = *fabric.links.blocked.first(&chain);
        let times = fabric.links.times(nics, &packet);
        if !self.tables.virtual_outputs() {
            let place = fabric.links.wiring.places[router as usize];
            let (given, decision, marked) = self.output_of(fabric, routing, nics, place, &packet, now);
            let head = fabric.links.blocked.first_mut(&chain);
            head.follow(decision);
            if marked {
                head.mark();
            }
            fabric.links.outs[given.vc.slot()].blocked_ps +=
                times.serialisation(fabric.links.vcs[given.vc.vc()].class());
            output = given;
        }
        self.tables.request(router, number, times.wire, output);
        let at = self.tables.earliest(number, now);
        if fabric.observers.blame.is_some() {
            self.observe_head(fabric, nics, number, now);
        }
        at
    }

    /// Schedules an arbitration of a router at `at`, unless an earlier one is scheduled.
    #[inline]
    fn expect_arbitration<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, router: u32, at: u64) {
        if at != NEVER && self.tables.foresee(router, at) && at >= self.foreseen_until {
            fabric.queue.push(router, Event::arbitration(at));
        }
    }

    /// A packet crosses to its output from `now` on: its head arrives at `head`, and its tail at `tail` if the input buffer
    /// has it by then.
    #[inline]
    fn cross<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        output: Output,
        mut packet: Event,
        ((head, tail), now): ((u64, u64), u64),
    ) {
        let place = fabric.links.wiring.places[router as usize];
        let times = fabric.links.times(nics, &packet);
        let (slot, came_on) = (place.first + u32::from(packet.port), packet.channel());
        // SAFETY: the packet came by this port and channel, so there is a buffer.
        let class = unsafe { fabric.links.credits.class(fabric.links.vc(slot, came_on)) };
        let tail = tail.max(packet.time + fabric.links.wiring.tail(times, class));
        let Output { vc, port, channel } = output;
        if fabric.observers.blame.is_some() {
            observe_crossing(fabric, nics, &packet, slot, vc, tail);
        }
        fabric.return_credit(slot, came_on, times.wire, tail);
        let state = fabric.links.vcs[vc.vc()];
        let serialisation = times.serialisation(state.class());
        // From now on its time is the earliest at which it may leave.
        packet.time = HopTiming::earliest_start(tail, 0, serialisation).max(head);
        let room = state.node()
            || !state.waits() && (state.room >= times.wire || fabric.links.look_for_room(vc, channel, times.wire, now));
        if room {
            let decision = RouteDecision::new(&packet, port, channel);
            let target = Target { output: vc, to_node: state.node() };
            fabric.commit((self, nics), router, target, &packet, now, decision);
        } else {
            fabric.block(nics, router, vc, (port, channel), &packet, now);
        }
    }
}
