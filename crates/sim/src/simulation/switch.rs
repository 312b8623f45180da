//! The events of a router: decisions, blocking, credits, delivery (docs/model.md, sections 4 to 6).

use odonata_error::{ErrorKind, path};

use super::Simulation;
use super::partitions::Credit;
use crate::counters::{Crossing, Release, Room, Victim};
use crate::engine::Queue;
use crate::fabric::packet::{Event, EventKind, NicNews, RouteDecision};
use crate::fabric::{HopTiming, OutputVc, OutputVcState, RouterPlace};
use crate::routing::{Backlog, Loads, RoutingAlgorithm};
use odonata_topology::ClassId;

/// A link to which a packet is committed, on a channel.
#[derive(Clone, Copy)]
struct Link {
    slot: u32,
    class: u8,
    channel: u8,
    to_node: bool,
}

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// The route decision of a packet.
    #[inline(always)]
    pub(super) fn decide(&mut self, router: u32, packet: &Event) {
        self.packet_hops += 1;
        // SAFETY: events are pushed only for routers of the wiring, and the queue returns what was pushed.
        let place = *unsafe { self.wiring.places.get_unchecked(router as usize) };
        if place.is_last(packet) {
            if self.arrivals.on() {
                self.count_arrival(place, packet, None);
            }
            self.eject(place.first, packet);
            return;
        }
        let decision = self.route(place, packet);
        if self.arrivals.on() {
            self.count_arrival(place, packet, Some(decision.port()));
        }
        let output = self.wiring.output(place, decision.port(), decision.channel());
        // SAFETY: `output` belongs to the wiring for which the tables of output VCs were made.
        let vc = unsafe { self.vcs.get_unchecked(output.vc()) };
        let wire = self.times_of(packet).wire;
        if !vc.waits() && (vc.room >= wire || self.look_for_room(output, decision.channel(), wire, packet.time)) {
            self.commit(place.first, output, packet, packet.time, decision);
        } else {
            self.block(router, output, packet, decision);
        }
    }

    /// The decision of the routing.
    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event) -> RouteDecision {
        let (first, ports, now) = (place.first, place.ports, packet.time);
        // SAFETY: the place belongs to the wiring for which the ports were made.
        unsafe {
            match &self.credit_metric {
                None => {
                    self.routing.route(place, packet, &Loads::new_unchecked(&self.outs, Backlog, first, ports, now))
                }
                Some(metric) => {
                    self.routing.route(place, packet, &Loads::new_unchecked(&self.outs, metric, first, ports, now))
                }
            }
        }
    }

    /// Counts a packet that comes from another group or goes to one (K21); `out` is none for a packet that goes to its
    /// node.
    #[cold]
    pub(super) fn count_arrival(&mut self, place: RouterPlace, packet: &Event, out: Option<u16>) {
        let job = self.job_of(packet);
        let bytes = self.times_of(packet).wire;
        for (port, inwards) in [(Some(packet.port), true), (out, false)] {
            let Some(port) = port else { continue };
            let wire = self.wiring.wires[(place.first + u32::from(port)) as usize];
            if wire.class >= self.wiring.first_global
                && place.group != RouterPlace::NO_GROUP
                && !self.arrivals.count(packet.time, job, place.group, bytes, inwards)
            {
                let at = path!["measure", "arrivals_every_ps"];
                self.failure.get_or_insert(ErrorKind::TooManyWindows {}.at(at));
                self.end = 0;
            }
        }
    }

    /// What most runs do without, when a packet is committed to a link at `now`: attributes its wait, and counts what else
    /// there is. Returns the earliest instant at which a packet that cuts through may begin to leave.
    #[inline(never)]
    fn specially(&mut self, first: u32, packet: &Event, link: Link, now: u64) -> u64 {
        if self.wiring.cut_through {
            return self.cut_through(first, packet, link, now);
        }
        self.attribute(first, packet, link, 0, now)
    }

    /// The same if packets cut through.
    #[inline(never)]
    fn cut_through(&mut self, first: u32, packet: &Event, link: Link, now: u64) -> u64 {
        let times = self.times_of(packet);
        let buffer = self.vc(first + u32::from(packet.port), packet.channel());
        // SAFETY: the buffer is that of a packet; see `return_credit`.
        let tail = self.wiring.tail(times, unsafe { self.credits.class(buffer) });
        let earliest = HopTiming::earliest_start(packet.time, tail, times.serialisation(link.class));
        self.attribute(first, packet, link, earliest, now)
    }

    /// The same if the tail of the packet lets it leave at `earliest`, which is returned.
    #[inline(always)]
    fn attribute(&mut self, first: u32, packet: &Event, link: Link, earliest: u64, now: u64) -> u64 {
        let mut more = self.counts_more;
        if self.blame.is_some() {
            let (times, message) = (self.times_of(packet), self.message_of(packet));
            let (ready, free) = (now.max(earliest), self.outs[link.slot as usize].free);
            let to_node = times.serialisation(link.class) + self.wiring.node_times().latency;
            let service = if link.to_node { to_node } else { times.to_decision(link.class) };
            if let Some(blame) = &mut self.blame {
                let victim = blame.victim(message);
                more |= blame.notes_room_of(victim.job);
                more |= blame.cross(link.slot as usize, victim, &Crossing { committed: now, ready, free, service });
            }
        }
        if more { self.count_more(first, packet, link, earliest, now) } else { earliest }
    }

    /// What even most runs with blame do without, when a packet is committed to a link: counts the bytes by class, the
    /// room that it takes and gives back, the root of its wait, and its load. Returns `earliest`. (So nothing is left to do
    /// after a call of it, which is cheap.)
    #[inline(never)]
    fn count_more(&mut self, first: u32, packet: &Event, link: Link, earliest: u64, now: u64) -> u64 {
        let (times, slot) = (self.times_of(packet), link.slot as usize);
        let (free, ready) = (self.outs[slot].free, now.max(earliest));
        if self.by_class.on() {
            let job = self.job_of(packet);
            self.by_class.add(job, link.class, times.wire);
        }
        let message = self.message_of(packet);
        if let Some(blame) = &mut self.blame {
            blame.settle_if_full();
            let (victim, follows_roots) = (blame.victim(message), blame.follows_roots());
            let end = ready.max(free) + times.serialisation(link.class);
            if blame.notes_room_of(victim.job) {
                self.note_room(first, packet, link, victim.job, end);
            }
            if follows_roots {
                let crossing = Crossing { committed: now, ready, free, service: 0 };
                self.follow_roots(first, packet, link, victim, &crossing, end);
            }
        }
        if self.series.is_some() {
            let start = free.max(ready);
            self.count_load(packet, slot, link.to_node, start, start - packet.time.max(earliest));
        }
        earliest
    }

    /// Counts a packet in the series: it starts to cross a link at `start`, after a wait. (Not inlined, so that runs
    /// without a series do not pay for it.)
    #[inline(never)]
    pub(super) fn count_load(&mut self, packet: &Event, slot: usize, to_node: bool, start: u64, wait_ps: u64) {
        let (job, wire) = (self.job_of(packet), self.times_of(packet).wire);
        let Some(series) = &mut self.series else { return };
        series.count(slot, job, wire, start, wait_ps);
        if to_node && (!R::RESPONSES || self.aries.carries(packet)) {
            series.count_route(job, start, !packet.diverted());
        }
    }

    /// Follows the wait for room of a packet that leaves at `end` to its root.
    #[inline(never)]
    fn follow_roots(&mut self, first: u32, packet: &Event, link: Link, victim: Victim, crossing: &Crossing, end: u64) {
        let waited = crossing.committed - packet.time;
        let room = self.far_buffer_of(link).map(|buffer| Room { buffer, waited });
        let buffer = self.vc(first + u32::from(packet.port), packet.channel());
        // SAFETY: the buffer is that of a packet; see `return_credit`.
        let to_credit = self.wiring.times(unsafe { self.credits.class(buffer) }).to_credit;
        let release = Release { buffer, stamp: end + to_credit, horizon: self.queue.horizon() };
        if let Some(blame) = &mut self.blame {
            blame.follow(link.slot as usize, victim, crossing, room, release);
        }
    }

    /// Notes that a packet of a job takes room behind a link, and gives back its own when it leaves at `end`.
    #[inline(never)]
    fn note_room(&mut self, first: u32, packet: &Event, link: Link, job: u16, end: u64) {
        let wire = self.times_of(packet).wire;
        let buffer = self.vc(first + u32::from(packet.port), packet.channel());
        // SAFETY: the buffer is that of a packet; see `return_credit`.
        let from_class = unsafe { self.credits.class(buffer) };
        let far = self.far_buffer_of(link);
        let Some(blame) = &mut self.blame else { return };
        let (stamp, horizon) = (end + self.wiring.times(from_class).to_credit, self.queue.horizon());
        match far {
            Some(far) if from_class == ClassId::NODE.0 => blame.hold(far, job, wire),
            Some(far) => blame.pass_on(far, buffer, job, wire, stamp, horizon),
            None if from_class == ClassId::NODE.0 => {}
            None => blame.release(buffer, job, wire, stamp, horizon),
        }
    }

    /// Index in `credits` of the buffer at the far end of a link, if it does not lead to a node.
    fn far_buffer_of(&self, link: Link) -> Option<usize> {
        let far = |vc: &OutputVcState| self.vc(self.slot(vc.to(), vc.port), link.channel);
        (!link.to_node).then(|| far(&self.vcs[self.vc(link.slot, link.channel)]))
    }

    /// Index in `vcs` and `logs` of a router's port and channel, and in `credits` of the buffer behind it.
    #[inline(always)]
    pub(super) fn vc(&self, slot: u32, channel: u8) -> usize {
        usize::from(channel) * self.outs.len() + slot as usize
    }

    /// Counts the credits of an output VC that have arrived by `now`. Returns whether there is room now.
    #[inline(never)]
    pub(super) fn look_for_room(&mut self, output: OutputVc, channel: u8, bytes: u32, now: u64) -> bool {
        let far = self.far_buffer(output, channel);
        let vc = &mut self.vcs[output.vc()];
        vc.room += self.credits.take(far, now);
        vc.room >= bytes
    }

    /// Index in `credits` of the buffer at the far end of an output.
    #[inline]
    pub(super) fn far_buffer(&self, output: OutputVc, channel: u8) -> usize {
        let vc = &self.vcs[output.vc()];
        self.vc(self.slot(vc.to(), vc.port), channel)
    }

    /// Commits a packet to an output that has room for it. The slots of the packet's router begin at `first`.
    #[inline(always)]
    fn commit(&mut self, first: u32, output: OutputVc, packet: &Event, now: u64, decision: RouteDecision) {
        let (times, wire) = (self.times_of(packet), self.times_of(packet).wire);
        // SAFETY: `output` belongs to the wiring for which both tables were made.
        let (vc, out) =
            unsafe { (self.vcs.get_unchecked_mut(output.vc()), self.outs.get_unchecked_mut(output.slot())) };
        let (to, port, class) = (vc.to(), vc.port, vc.class());
        vc.room -= wire;
        vc.count(wire, &mut self.logs, output.vc());
        let mut start = out.free.max(now);
        if let Some(credit_metric) = &mut self.credit_metric {
            credit_metric.send(output.slot() as u32, wire);
        }
        if self.special {
            let link = Link { slot: output.slot() as u32, class, channel: decision.channel(), to_node: false };
            start = start.max(self.specially(first, packet, link, now));
        }
        let hop = HopTiming::new(start, times, class);
        // SAFETY: as above.
        unsafe { self.outs.get_unchecked_mut(output.slot()) }.free = hop.end;
        self.queue.push_changed(to, hop.decision, packet, |packet| {
            packet.time = hop.decision;
            packet.port = port;
            packet.set_channel(decision.channel());
            packet.next_hop();
            packet.follow(decision);
        });
        self.return_credit(first + u32::from(packet.port), packet.channel(), wire, hop.end);
    }

    /// Returns the room of a packet that leaves the buffer behind a port at `release`.
    #[inline(always)]
    pub(super) fn return_credit(&mut self, slot: u32, channel: u8, bytes: u32, release: u64) {
        let buffer = self.vc(slot, channel);
        // SAFETY: the packet came by an existing port and channel. Either it was committed to an `OutputVc`, and the
        // port is the far end of its link, or it came from its NIC, by the port in the wiring and on channel 0.
        let stamp = unsafe { release + self.wiring.times(self.credits.class(buffer)).to_credit };
        let credit = Credit { slot, channel, bytes, stamp };
        if Q::PARTITIONED && self.sends_credit(credit) {
            return;
        }
        // SAFETY: as above.
        unsafe { self.note_credit(credit) };
    }

    /// Notes a credit that the sender of a packet gets.
    ///
    /// # Safety
    /// There is a port with the credit's slot, and it has the credit's channel.
    #[inline(always)]
    pub(super) unsafe fn note_credit(&mut self, credit: Credit) {
        let Credit { slot, channel, bytes, stamp } = credit;
        let buffer = self.vc(slot, channel);
        // SAFETY: the caller guarantees it.
        if unsafe { self.credits.add(buffer, stamp, bytes, self.queue.horizon()) } {
            self.announce(buffer, channel, stamp);
        }
        if let Some(credit_metric) = &mut self.credit_metric {
            credit_metric.leave(slot, bytes, stamp, self.queue.horizon());
        }
    }

    /// Schedules the event of a credit for which the sender to a buffer waits.
    #[cold]
    fn announce(&mut self, buffer: usize, channel: u8, stamp: u64) {
        // The reverse link from the buffer's port leads to its sender.
        let back = self.wiring.wires[buffer % self.outs.len()];
        if back.node {
            let attachment = self.wiring.event_attachment(back.to);
            let news = if R::RESPONSES && channel > 0 { NicNews::ResponseCredit } else { NicNews::Credit };
            let event = Event::other(EventKind::NicCredit, stamp, attachment.port, news as u8, back.to);
            self.queue.push(attachment.router, event);
        } else {
            self.queue.push(back.to, Event::other(EventKind::OutputCredit, stamp, back.port, channel, buffer as u32));
        }
    }

    /// Blocks a packet until there is room.
    #[cold]
    #[inline(never)]
    fn block(&mut self, router: u32, output: OutputVc, packet: &Event, decision: RouteDecision) {
        let (times, far) = (self.times_of(packet), self.far_buffer(output, decision.channel()));
        let (vc, log) = (&mut self.vcs[output.vc()], self.logs.get_mut(output.vc()));
        self.outs[output.slot()].blocked_ps += times.serialisation(vc.class());
        self.blocked.push(&mut log.chain, packet).follow(decision);
        if let Some(blame) = &mut self.blame {
            blame.block(far, self.wiring.times(vc.class()).buffer - vc.room, packet.time);
        }
        if !vc.waits() {
            vc.set_waits(true);
            log.waits_since = packet.time;
            self.arm(router, decision.port(), decision.channel(), output);
        }
    }

    /// Schedules the event of the next credit for an output with blocked packets.
    pub(super) fn arm(&mut self, router: u32, port: u16, channel: u8, output: OutputVc) {
        let far = self.far_buffer(output, channel);
        if let Some(at) = self.credits.wait(far) {
            self.queue.push(router, Event::other(EventKind::OutputCredit, at, port, channel, far as u32));
        }
    }

    /// A credit has arrived for an output VC with blocked packets.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&mut self, router: u32, credit: &Event) {
        let (port, channel, far, now) = (credit.port, credit.channel(), credit.message as usize, credit.time);
        if !self.credits.wakes_at(far, now) {
            self.events -= 1; // it was announced and is out of date: whether that happens depends on the order of places
            return;
        }
        let place = self.wiring.places[router as usize];
        let (first, output) = (place.first, self.wiring.output(place, port, channel));
        let index = output.vc();
        let class = self.vcs[index].class();
        if let Some(blame) = &mut self.blame {
            let vc = &mut self.vcs[index];
            blame.credit(far, self.wiring.times(class).buffer - vc.room, now);
            vc.room += self.credits.take(far, now);
        }
        loop {
            let times = self.times_of(self.blocked.first(&self.logs.get(index).chain));
            let wire = times.wire;
            if self.vcs[index].room < wire && !self.look_for_room(output, channel, wire, now) {
                self.arm(router, port, channel, output);
                return;
            }
            let packet = self.blocked.pop(&mut self.logs.get_mut(index).chain);
            self.outs[output.slot()].blocked_ps -= times.serialisation(class);
            let message = if self.blame.is_some() { self.message_of(&packet) } else { 0 };
            if let Some(blame) = &mut self.blame {
                blame.unblock(far, output.slot(), blame.victim(message));
            }
            let decision = RouteDecision::new(&packet, port, channel);
            if R::BEHIND_CROSSBAR {
                self.transmit(router, output, &packet, now, decision);
            } else {
                self.commit(first, output, &packet, now, decision);
            }
            if self.logs.get(index).chain.is_empty() {
                break;
            }
        }
        self.vcs[index].set_waits(false);
        self.credits.stop_waiting(far);
        let log = self.logs.get_mut(index);
        log.waited += now - log.waits_since;
    }

    /// Sends a packet to its node.
    #[inline(always)]
    fn eject(&mut self, first: u32, packet: &Event) {
        let slot = (first + u32::from(packet.to_port)) as usize;
        let (times, wire) = (self.times_of(packet), self.times_of(packet).wire);
        // SAFETY: the wiring gives the port of the destination's NIC, and this is the NIC's router.
        let (out, vc) = unsafe { (self.outs.get_unchecked_mut(slot), self.vcs.get_unchecked_mut(slot)) };
        vc.count(wire, &mut self.logs, slot); // channel 0
        let mut start = out.free.max(packet.time);
        if self.special {
            let link = Link { slot: slot as u32, class: ClassId::NODE.0, channel: 0, to_node: true };
            start = start.max(self.specially(first, packet, link, packet.time));
        }
        let end = HopTiming::new(start, times, ClassId::NODE.0).end;
        // SAFETY: as above.
        unsafe { self.outs.get_unchecked_mut(slot) }.free = end;
        self.return_credit(first + u32::from(packet.port), packet.channel(), wire, end);
        let nic = if R::RESPONSES || Q::PARTITIONED { self.wiring.wires[slot].to } else { 0 };
        self.deliver(packet, nic, end + self.wiring.node_times().latency);
    }
}
