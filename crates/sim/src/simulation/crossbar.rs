//! The events of a router with a crossbar: queues, arbitration, output buffers (docs/model.md, section 4).
//!
//! An arbitration inside the open window is not an event: no other router can affect this one before the window ends,
//! so it takes place between the events of the router.

use odonata_error::Error;

use super::Simulation;
use crate::Monitor;
use crate::counters::{Crossing, Needs, Release, Sides, Stay};
use crate::engine::{Queue, Window};
use crate::fabric::packet::{Event, RouteDecision};
use crate::fabric::{Departure, HopTiming, InputQueue, NEVER, Output, OutputVc, PacketTimes, RouterPlace};
use crate::routing::{Backlog, Loads, OutputBuffers, RoutingAlgorithm};
use crate::spec::MetricKind;
use odonata_topology::ClassId;

/// What the head of a queue needs.
fn needs(queue: u32, input: u32, output: OutputVc) -> Needs {
    Needs { queue, input, output: output.slot() as u32, vc: output.vc() as u32 }
}

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// A packet joins a queue, or an arbitration is due.
    #[inline(never)]
    pub(super) fn at_crossbar(&mut self, router: u32, event: &Event) {
        if event.is_arbitration() {
            self.arbitrate(router, event.time);
        } else {
            self.join(router, event);
        }
    }

    /// Handles the events of a window, those that are added to it meanwhile, and the arbitrations between them.
    #[inline(always)]
    pub(super) fn visit_crossbars(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        self.foreseen_until = self.queue.closed_until();
        // SAFETY: the position is below the number of events.
        let event_at = |position| (position < window.len()).then(|| unsafe { window.get_unchecked(position) });
        let mut next = event_at(0);
        for position in 1..=window.len() {
            let Some((router, event)) = next else { break };
            next = event_at(position);
            let goes_on = next.filter(|&(following, _)| following == router);
            self.last_of_instant = self.foreseen_until > 0 && goes_on.is_none_or(|(_, next)| next.time > event.time);
            self.handle(router, event);
            let until = goes_on.map_or(self.foreseen_until, |(_, next)| next.time.min(self.foreseen_until));
            if self.crossbars.next(router) < until || self.queue.has_late() {
                self.catch_up(router, next, monitor)?;
            }
        }
        Ok(())
    }

    /// Handles what precedes the next event of the window: late events, and arbitrations of the router being visited.
    #[inline(never)]
    fn catch_up(&mut self, visited: u32, next: Option<(u32, &Event)>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        self.last_of_instant = false;
        loop {
            let at = self.crossbars.next(visited);
            let until = match next {
                Some((router, event)) if router == visited => event.time.min(self.foreseen_until),
                _ => self.foreseen_until,
            };
            let arbitrates = at < until;
            if self.queue.has_late() {
                let arbitration = Event::arbitration(at);
                let before = if arbitrates { Some((visited, &arbitration)) } else { next };
                if let Some((router, event)) = self.queue.late(before) {
                    self.handle(router, &event);
                    self.look(monitor)?; // there may be any number of late events
                    continue;
                }
            }
            if !arbitrates {
                return Ok(());
            }
            if at > self.end {
                self.crossbars.begin(visited, at);
            }
            self.handle(visited, &Event::arbitration(at));
            self.look(monitor)?;
        }
    }

    /// A packet joins a queue at its decision time.
    #[inline]
    fn join(&mut self, router: u32, packet: &Event) {
        // SAFETY: as in `decide`.
        let place = *unsafe { self.wiring.places.get_unchecked(router as usize) };
        let now = packet.time;
        let input = place.first + u32::from(packet.port);
        let buffer = self.vc(input, packet.channel());
        let times = self.times_of(packet);
        let virtual_outputs = self.crossbars.virtual_outputs();
        if !virtual_outputs && !self.crossbars.get(buffer as u32).chain.is_empty() {
            self.blocked.push(&mut self.crossbars.get_mut(buffer as u32).chain, packet);
            return;
        }
        let (output, decision) = self.output_of(place, packet, now);
        let number = if virtual_outputs {
            self.crossbars.virtual_output_queue(buffer, input, (packet.port, packet.channel()), output)
        } else {
            buffer as u32
        };
        let is_head = self.crossbars.get(number).chain.is_empty();
        let at = if is_head { self.crossbars.earliest_of(input, output.vc, times.wire, now) } else { NEVER };
        // Nothing else can be granted at this instant, and no other event can change that.
        if at == now && self.last_of_instant && self.crossbars.next(router) > now && !self.queue.has_late() {
            if self.blame.is_some() {
                self.blame_passing(router, needs(number, input, output.vc), packet, now);
            }
            let across = self.crossbars.grant(router, number, output.vc, (self.number(packet), times.wire), now);
            let mut packet = *packet;
            packet.follow(decision);
            self.cross(router, output, packet, across, now);
            return;
        }
        self.outs[output.vc.slot()].blocked_ps += times.serialisation(self.vcs[output.vc.vc()].class());
        self.blocked.push(&mut self.crossbars.get_mut(number).chain, packet).follow(decision);
        if is_head {
            self.crossbars.request(router, number, times.wire, output);
            if self.blame.is_some() {
                self.blame_lead(number, now);
            }
            self.expect_arbitration(router, at);
        }
    }

    /// What the head of a queue needs, and from when on the sides of the crossbar that it needs are free.
    fn needs_of(&self, queue: u32) -> (Needs, Sides) {
        let InputQueue { input, output, .. } = *self.crossbars.get(queue);
        let vc = output.expect("its head has an output").vc;
        let (input_free, output_free) = self.crossbars.free(input, vc);
        (needs(queue, input, vc), Sides { input_free, output_free })
    }

    /// The head of a queue, which has an output, begins to wait.
    #[inline(never)]
    fn blame_lead(&mut self, queue: u32, now: u64) {
        let (needs, _) = self.needs_of(queue);
        if let Some(blame) = &mut self.blame {
            blame.lead(needs, now);
        }
        if self.crossbars.lacks_room(queue) {
            self.follow_buffer(needs, now);
        }
    }

    /// The head of a queue, which is up to date, may lack room in its output buffer from now on.
    #[cold]
    #[inline(never)]
    fn follow_buffer(&mut self, needs: Needs, now: u64) {
        let Some(blame) = &mut self.blame else { return };
        if blame.follows(needs.queue) {
            return;
        }
        let vc = needs.vc as usize;
        let leaving = self.crossbars.leaving(vc, now);
        let waiting = self.blocked.chain(&self.logs.get(vc).chain);
        let mut stays: Vec<_> = leaving.map(|&Departure { end, bytes, job }| Stay { end, bytes, job }).collect();
        for packet in waiting {
            let (times, message) = (self.times_of(packet), self.message_of(packet));
            let job = self.blame.as_ref().map_or(0, |blame| blame.victim(message).job);
            stays.push(Stay { end: Stay::OPEN, bytes: times.wire, job });
        }
        if let Some(blame) = &mut self.blame {
            blame.follow_buffer(needs, stays);
        }
    }

    /// Brings the heads of a router up to date that need a side of the crossbar which is about to be given to a packet.
    #[cold]
    #[inline(never)]
    fn blame_heads(&mut self, router: u32, same: Needs, now: u64) {
        for place in 0..self.crossbars.requests(router).len() {
            let queue = self.crossbars.requests(router)[place];
            let (needs, sides) = self.needs_of(queue);
            if needs.input == same.input || needs.output == same.output {
                if let Some(blame) = &mut self.blame {
                    blame.wait(needs, sides, now);
                }
                if needs.vc == same.vc {
                    self.follow_buffer(needs, now);
                }
            }
        }
    }

    /// A packet is about to be given the sides of the crossbar.
    #[inline(never)]
    fn blame_passing(&mut self, router: u32, needs: Needs, packet: &Event, now: u64) {
        if self.blame.as_ref().is_some_and(|blame| blame.competitors(needs) > 0) {
            self.blame_heads(router, needs, now);
        }
        let (bytes, message) = (self.times_of(packet).wire, self.message_of(packet));
        if let Some(blame) = &mut self.blame {
            blame.pass(needs, blame.victim(message).job, bytes, now);
        }
    }

    /// The output of a packet: its route decision with the present loads.
    #[inline]
    fn output_of(&mut self, place: RouterPlace, packet: &Event, now: u64) -> (Output, RouteDecision) {
        let routed = packet.at(now);
        self.packet_hops += 1;
        let decision = if place.is_last(packet) {
            RouteDecision::new(packet, packet.to_port, 0)
        } else if self.spec.sensing.kind == MetricKind::OutputBuffer {
            let metric = OutputBuffers { crossbars: &self.crossbars, wiring: &self.wiring };
            self.routing.route(place, &routed, &Loads::new(&self.outs, metric, place.first, place.ports, now))
        } else if let Some(metric) = &self.credit_metric {
            self.routing.route(place, &routed, &Loads::new(&self.outs, metric, place.first, place.ports, now))
        } else {
            self.routing.route(place, &routed, &Loads::new(&self.outs, Backlog, place.first, place.ports, now))
        };
        if self.arrivals.on() {
            self.count_arrival(place, &routed, Some(decision.port()));
        }
        let vc = self.wiring.output(place, decision.port(), decision.channel());
        (Output { vc, port: decision.port(), channel: decision.channel() }, decision)
    }

    /// Grants all that can be granted now.
    #[inline]
    fn arbitrate(&mut self, router: u32, now: u64) {
        if !self.crossbars.begin(router, now) {
            return;
        }
        let mut requested = std::mem::take(&mut self.requested);
        let mut next = self.crossbars.take_requests(router, now, &mut requested);
        if self.blame.is_some() && requested.len() > 1 {
            self.blame_requested(&requested, now);
        }
        let mut first = true;
        requested.retain(|&number| {
            // An earlier grant of this instant may have taken what this one needs.
            let at = if std::mem::take(&mut first) { now } else { self.crossbars.earliest(number, now) };
            if at == now {
                self.grant(router, number, now);
            } else {
                self.crossbars.wait(router, number);
                if self.blame.is_some() && self.crossbars.lacks_room(number) {
                    self.follow_buffer(self.needs_of(number).0, now);
                }
                next = next.min(at);
            }
            at == now
        });
        if requested.len() > 1 {
            requested.sort_unstable_by_key(|&number| self.crossbars.get(number).order);
        }
        for &number in &requested {
            next = next.min(self.move_up(router, number, now));
        }
        requested.clear();
        self.requested = requested;
        self.expect_arbitration(router, next);
    }

    /// Grants the head of a queue its output.
    #[inline]
    fn grant(&mut self, router: u32, number: u32, now: u64) {
        let output = self.crossbars.get(number).output.expect("its head has an output");
        let packet = self.blocked.pop(&mut self.crossbars.get_mut(number).chain);
        let times = self.times_of(&packet);
        if self.blame.is_some() {
            self.blame_grant(router, number, &packet, now);
        }
        self.outs[output.vc.slot()].blocked_ps -= times.serialisation(self.vcs[output.vc.vc()].class());
        let across = self.crossbars.grant(router, number, output.vc, (self.number(&packet), times.wire), now);
        self.cross(router, output, packet, across, now);
    }

    /// Brings heads up to date that can be granted now, because one of them may get what another needs.
    #[cold]
    #[inline(never)]
    fn blame_requested(&mut self, requested: &[u32], now: u64) {
        for &queue in requested {
            let (needs, sides) = self.needs_of(queue);
            if let Some(blame) = &mut self.blame
                && blame.competitors(needs) > 2
            {
                blame.wait(needs, sides, now);
            }
        }
    }

    /// The head of a queue, which has left the queue, is about to be given the sides of the crossbar.
    #[inline(never)]
    fn blame_grant(&mut self, router: u32, queue: u32, packet: &Event, now: u64) {
        let (needs, sides) = self.needs_of(queue);
        let others = !self.crossbars.get(queue).chain.is_empty();
        let message = self.message_of(packet);
        if let Some(blame) = &mut self.blame {
            blame.grant(needs, blame.victim(message), [packet.time, now], others, sides);
        }
        self.blame_passing(router, needs, packet, now);
    }

    /// A queue whose head was just granted may have a new head, which gets its output if it has none. Returns the
    /// earliest time at which that head could be granted, as far as is known.
    #[inline]
    fn move_up(&mut self, router: u32, number: u32, now: u64) -> u64 {
        let InputQueue { chain, output, .. } = *self.crossbars.get(number);
        if chain.is_empty() {
            return NEVER;
        }
        let mut output = output.expect("its last head had an output");
        let packet = *self.blocked.first(&chain);
        let times = self.times_of(&packet);
        if !self.crossbars.virtual_outputs() {
            let place = self.wiring.places[router as usize];
            let (found, decision) = self.output_of(place, &packet, now);
            self.blocked.first_mut(&chain).follow(decision);
            self.outs[found.vc.slot()].blocked_ps += times.serialisation(self.vcs[found.vc.vc()].class());
            output = found;
        }
        self.crossbars.request(router, number, times.wire, output);
        let at = self.crossbars.earliest(number, now);
        if self.blame.is_some() {
            self.blame_lead(number, now);
        }
        at
    }

    /// Schedules an arbitration of a router at `at`, unless an earlier one is scheduled.
    #[inline]
    fn expect_arbitration(&mut self, router: u32, at: u64) {
        if at != NEVER && self.crossbars.foresee(router, at) && at >= self.foreseen_until {
            self.queue.push(router, Event::arbitration(at));
        }
    }

    /// A packet crosses to its output: its head arrives at `head`, and its tail at `tail` if the input buffer has it by
    /// then.
    #[inline]
    fn cross(&mut self, router: u32, output: Output, mut packet: Event, (head, tail): (u64, u64), now: u64) {
        let place = self.wiring.places[router as usize];
        let times = self.times_of(&packet);
        let (slot, came_on) = (place.first + u32::from(packet.port), packet.channel());
        // SAFETY: the packet came by this port and channel, so there is a buffer.
        let class = unsafe { self.credits.class(self.vc(slot, came_on)) };
        let tail = tail.max(packet.time + self.wiring.tail(times, class));
        let Output { vc, port, channel } = output;
        if self.blame.is_some() {
            self.blame_departure(&packet, slot, vc, tail);
        }
        self.return_credit(slot, came_on, times.wire, tail);
        let state = self.vcs[vc.vc()];
        let serialisation = times.serialisation(state.class());
        // From now on its time is the earliest at which it may leave.
        packet.time = HopTiming::earliest_start(tail, 0, serialisation).max(head);
        let room = state.node()
            || !state.waits() && (state.room >= times.wire || self.look_for_room(vc, channel, times.wire, now));
        if room {
            self.transmit(router, vc, &packet, now, RouteDecision::new(&packet, port, channel));
            return;
        }
        self.outs[vc.slot()].blocked_ps += serialisation;
        if self.blame.is_some() {
            self.blame_blocked(vc, channel, now);
        }
        let log = self.logs.get_mut(vc.vc());
        self.blocked.push(&mut log.chain, &packet);
        if !state.waits() {
            log.waits_since = now;
            self.vcs[vc.vc()].set_waits(true);
            self.arm(router, port, channel, vc);
        }
    }

    /// A packet leaves the input buffer of a slot at `tail`, for an output.
    #[inline(never)]
    fn blame_departure(&mut self, packet: &Event, input: u32, output: OutputVc, tail: u64) {
        let (wire, buffer) = (self.times_of(packet).wire, self.vc(input, packet.channel()));
        // SAFETY: the packet came by this port and channel, so there is a buffer.
        let class = unsafe { self.credits.class(buffer) };
        let message = self.message_of(packet);
        let Some(blame) = &mut self.blame else { return };
        let job = blame.victim(message).job;
        let (stamp, horizon) = (tail + self.wiring.times(class).to_credit, self.queue.horizon());
        if class != ClassId::NODE.0 {
            blame.release(buffer, job, wire, stamp, horizon);
        }
        if blame.follows_roots() {
            blame.follow_input(output.slot() as u32, job, Release { buffer, stamp, horizon });
        }
    }

    /// A packet in an output buffer waits for room behind its link.
    #[inline(never)]
    fn blame_blocked(&mut self, output: OutputVc, channel: u8, now: u64) {
        let far = self.far_buffer(output, channel);
        let vc = &self.vcs[output.vc()];
        let held = self.wiring.times(vc.class()).buffer - vc.room;
        if let Some(blame) = &mut self.blame {
            blame.block(far, held, now);
            if blame.follows_roots() {
                blame.follow_blocked(output.vc(), now);
            }
        }
    }

    /// A packet in an output buffer is committed to its link, which it leaves at `end`. Returns its job.
    #[inline(never)]
    fn blame_transmission(
        &mut self,
        output: OutputVc,
        channel: u8,
        packet: &Event,
        times: &PacketTimes,
        end: u64,
        now: u64,
    ) -> u16 {
        let vc = self.vcs[output.vc()];
        let (class, ready) = (vc.class(), now.max(packet.time));
        let to_node = times.serialisation(class) + self.wiring.node_times().latency;
        let service = if vc.node() { to_node } else { times.to_decision(class) };
        let (free, message) = (self.outs[output.slot()].free, self.message_of(packet));
        let Some(blame) = &mut self.blame else { return 0 };
        let victim = blame.victim(message);
        let crossing = Crossing { committed: now, ready, free, service };
        if blame.cross(output.slot(), victim, &crossing) {
            blame.settle_if_full();
        }
        if blame.follows_roots() {
            let far = vc.waits().then(|| self.far_buffer(output, channel));
            if let Some(blame) = &mut self.blame {
                blame.follow_output((output.slot(), output.vc()), victim, &crossing, far, end);
            }
        }
        let Some(blame) = &mut self.blame else { return 0 };
        blame.leave(output.vc(), end);
        if !vc.node() && blame.notes_room_of(victim.job) {
            self.blame_room(output, channel, victim.job, times.wire);
        }
        victim.job
    }

    /// A packet of a job takes room behind a link.
    #[inline(never)]
    fn blame_room(&mut self, output: OutputVc, channel: u8, job: u16, bytes: u32) {
        let far = self.far_buffer(output, channel);
        if let Some(blame) = &mut self.blame {
            blame.hold(far, job, bytes);
        }
    }

    /// Commits a packet in an output buffer to its link, which has room for it.
    #[inline]
    pub(super) fn transmit(
        &mut self,
        router: u32,
        output: OutputVc,
        packet: &Event,
        now: u64,
        decision: RouteDecision,
    ) {
        let times = self.times_of(packet);
        let state = &mut self.vcs[output.vc()];
        let (to, port, class, node) = (state.to(), state.port, state.class(), state.node());
        state.count(times.wire, &mut self.logs, output.vc());
        let out = &mut self.outs[output.slot()];
        let start = out.free.max(now).max(packet.time);
        let hop = HopTiming::new(start, times, class);
        let job = if self.blame.is_some() {
            self.blame_transmission(output, decision.channel(), packet, times, hop.end, now)
        } else {
            0
        };
        self.outs[output.slot()].free = hop.end;
        if self.by_class.on() {
            let job = self.job_of(packet);
            self.by_class.add(job, class, times.wire);
        }
        if self.series.is_some() {
            self.count_load(packet, output.slot(), node, start, start - packet.time);
        }
        if self.crossbars.leave(output, Departure { end: hop.end, bytes: times.wire, job }) {
            self.expect_arbitration(router, hop.end);
        }
        if node {
            self.deliver(packet, to, hop.end + self.wiring.node_times().latency);
            return;
        }
        self.vcs[output.vc()].room -= times.wire;
        if let Some(metric) = &mut self.credit_metric {
            metric.send(output.slot() as u32, times.wire);
        }
        self.queue.push_changed(to, hop.decision, packet, |packet| {
            packet.time = hop.decision;
            packet.port = port;
            packet.set_channel(decision.channel());
            packet.next_hop();
            packet.follow(decision);
        });
    }
}
