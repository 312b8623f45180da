//! What happens in a router: decisions, waiting, credits, delivery (docs/model.md, sections 4 to 6).

use super::Simulation;
use crate::engine::Queue;
use crate::error::SimError;
use crate::fabric::NONE;
use crate::fabric::packet::{Event, Kind};
use crate::routing::{Backlog, Loads, Place, Rule};
use odonata_topology::ClassId;

impl<Q: Queue<Event>, R: Rule> Simulation<'_, Q, R> {
    /// The routing decision of a packet.
    #[inline(always)]
    pub(super) fn decide(&mut self, router: u32, mut packet: Event) {
        self.packet_hops += 1;
        let place = self.wiring.places[router as usize];
        if place.group == packet.to_group && place.local == packet.to_local {
            if self.arrivals.on() {
                self.count_arrival(place, packet, None);
            }
            self.eject(place.first, &packet);
            return;
        }
        let (port, channel) = if self.sensor.is_none() {
            let loads = Loads::new(&self.outs, Backlog, place.first, place.ports, packet.time);
            self.routing.route(place, &mut packet, &loads)
        } else {
            let (routed, port, channel) = self.route_by_sensor(place, packet);
            packet = routed;
            (port, channel)
        };
        if self.arrivals.on() {
            self.count_arrival(place, packet, Some(port));
        }
        let slot = place.first + u32::from(port);
        let index = self.lane(slot, channel);
        let lane = &mut self.lanes[index];
        let bytes = packet.bytes();
        if lane.head == NONE && (lane.room >= bytes || self.look_for_room(index, channel, bytes, packet.time)) {
            self.commit(place.first, slot, index, channel, packet);
        } else {
            self.park(router, port, channel, index, packet);
        }
    }

    /// The decision of a routing that senses something else than backlogs. (By value: a packet whose address is taken lives in
    /// memory, and writing its fields one by one and then reading it whole costs more than all else in a hop.)
    #[cold]
    #[inline(never)]
    fn route_by_sensor(&self, place: Place, mut packet: Event) -> (Event, u16, u8) {
        let sensor = self.sensor.as_ref().expect("asked for only if there is one");
        let loads = Loads::new(&self.outs, sensor, place.first, place.ports, packet.time);
        let (port, channel) = self.routing.route(place, &mut packet, &loads);
        (packet, port, channel)
    }

    /// Counts a packet that comes from another group, or goes to one (K21); `out` is none for one that goes to its node.
    #[cold]
    fn count_arrival(&mut self, place: Place, packet: Event, out: Option<u16>) {
        let job = self.flights.job(packet.message);
        for (port, inwards) in [(Some(packet.port), true), (out, false)] {
            let Some(port) = port else { continue };
            let wire = self.wiring.wires[(place.first + u32::from(port)) as usize];
            if wire.class >= self.wiring.first_global
                && !self.arrivals.count(packet.time, job, place.group, packet.bytes(), inwards)
            {
                let problem = "the run has more windows of this width than fit into memory; use wider ones";
                self.failure.get_or_insert(SimError::invalid("measure.arrivals_every_ps", problem));
                self.end = 0;
            }
        }
    }

    /// Counts a packet that is committed to a link by its job and the link's class.
    #[cold]
    #[inline(never)]
    fn count_class(&mut self, message: u32, class: u8, bytes: u32) {
        self.by_class.add(self.flights.job(message), class, bytes);
    }

    /// Index in `lanes` and `logs` of a router's port and channel, and in `returns` of the buffer behind it.
    #[inline(always)]
    pub(super) fn lane(&self, slot: u32, channel: u8) -> usize {
        usize::from(channel) * self.outs.len() + slot as usize
    }

    /// Counts the credits that have come by `now` for a lane. Returns whether there is room then.
    #[inline(never)]
    fn look_for_room(&mut self, index: usize, channel: u8, bytes: u32, now: u64) -> bool {
        let far = self.far_buffer(index, channel);
        let lane = &mut self.lanes[index];
        lane.room += self.returns[far].take(far as u32, now, &mut self.spill);
        lane.room >= bytes
    }

    /// Index in `returns` of the buffer at the far end of a lane.
    #[inline]
    fn far_buffer(&self, index: usize, channel: u8) -> usize {
        let wire = self.lanes[index].wire;
        self.lane(self.wiring.places[wire.to as usize].first + u32::from(wire.port), channel)
    }

    /// Commits a packet to a lane that has room for it.
    #[inline(always)]
    fn commit(&mut self, first: u32, slot: u32, index: usize, channel: u8, mut packet: Event) {
        let bytes = packet.bytes();
        let lane = &mut self.lanes[index];
        lane.room -= bytes;
        lane.count(bytes, &mut self.logs, index);
        let wire = lane.wire;
        let times = self.wiring.times(wire.class);
        let out = &mut self.outs[slot as usize];
        let end = out.free.max(packet.time) + times.serialisation[bytes as usize];
        out.free = end;
        let (port, came_by) = (packet.port, packet.channel());
        packet.time = end + times.to_decision;
        packet.port = wire.port;
        packet.set_channel(channel);
        packet.next_hop();
        if let Some(sensor) = &mut self.sensor {
            sensor.send(slot, bytes);
        }
        if self.by_class.on() {
            self.count_class(packet.message, wire.class, bytes);
        }
        self.queue.push(wire.to, packet);
        self.give_back(first + u32::from(port), came_by, bytes, end);
    }

    /// Returns the room of a packet that leaves, with its tail at `end`, the buffer behind a port.
    #[inline(always)]
    fn give_back(&mut self, slot: u32, channel: u8, bytes: u32, end: u64) {
        let buffer = self.lane(slot, channel);
        let returns = &mut self.returns[buffer];
        let stamp = end + self.wiring.times(returns.class).to_credit;
        if returns.add(buffer as u32, stamp, bytes, self.queue.horizon(), &mut self.spill) {
            self.announce(buffer, channel, stamp);
        }
        if self.sensor.is_some() {
            self.tell_sensor(buffer, bytes, stamp);
        }
    }

    /// Notes for the sensor of the sender to a buffer when a packet has left it.
    #[inline(never)]
    fn tell_sensor(&mut self, buffer: usize, bytes: u32, stamp: u64) {
        let wire = self.lanes[buffer].wire; // the way back from the buffer's port leads to its sender
        if !wire.node
            && let Some(sensor) = &mut self.sensor
        {
            let sender = self.wiring.places[wire.to as usize].first + u32::from(wire.port);
            sensor.leave(sender, bytes, stamp, self.queue.horizon());
        }
    }

    /// Lets the sender to a buffer know of a credit that it waits for.
    #[cold]
    fn announce(&mut self, buffer: usize, channel: u8, stamp: u64) {
        let wire = self.lanes[buffer].wire; // the way back from the buffer's port leads to its sender
        if wire.node {
            let home = self.wiring.home_of_events(wire.to);
            self.queue.push(home.router, Event::other(Kind::NicCredit, stamp, home.port, 0, wire.to));
        } else {
            self.queue.push(wire.to, Event::other(Kind::OutputCredit, stamp, wire.port, channel, 0));
        }
    }

    /// Lets a packet wait for room.
    #[cold]
    #[inline(never)]
    fn park(&mut self, router: u32, port: u16, channel: u8, index: usize, packet: Event) {
        let slot = self.slot(router, port) as usize;
        let (lane, log) = (&mut self.lanes[index], &mut self.logs[index]);
        self.outs[slot].parked_ps += self.wiring.times(lane.wire.class).serialisation[packet.bytes() as usize];
        let first = lane.head == NONE;
        self.parked.push(&mut lane.head, &mut log.tail, packet);
        if first {
            log.waits_since = packet.time;
            self.arm(router, port, channel, index);
        }
    }

    /// Sees to it that a lane on which something waits is woken by the next credit.
    fn arm(&mut self, router: u32, port: u16, channel: u8, index: usize) {
        let far = self.far_buffer(index, channel);
        if let Some(at) = self.returns[far].wait(far as u32, &self.spill) {
            self.queue.push(router, Event::other(Kind::OutputCredit, at, port, channel, 0));
        }
    }

    /// A credit has come for a lane on which something waits.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&mut self, router: u32, port: u16, channel: u8, now: u64) {
        let first = self.wiring.places[router as usize].first;
        let slot = first + u32::from(port);
        let index = self.lane(slot, channel);
        let far = self.far_buffer(index, channel);
        if !self.returns[far].wakes_at(now) {
            return;
        }
        let class = self.lanes[index].wire.class;
        loop {
            let lane = &mut self.lanes[index];
            let bytes = self.parked.first(lane.head).bytes();
            if lane.room < bytes && !self.look_for_room(index, channel, bytes, now) {
                self.arm(router, port, channel, index);
                return;
            }
            let mut packet = self.parked.pop(&mut self.lanes[index].head);
            packet.time = now;
            self.outs[slot as usize].parked_ps -= self.wiring.times(class).serialisation[bytes as usize];
            self.commit(first, slot, index, channel, packet);
            if self.lanes[index].head == NONE {
                break;
            }
        }
        self.returns[far].rest();
        let log = &mut self.logs[index];
        log.waited += now - log.waits_since;
    }

    /// Sends a packet out to its node.
    #[inline(always)]
    fn eject(&mut self, first: u32, packet: &Event) {
        let slot = (first + u32::from(packet.to_port)) as usize;
        let bytes = packet.bytes();
        let times = self.wiring.node_times();
        let out = &mut self.outs[slot];
        let end = out.free.max(packet.time) + times.serialisation[bytes as usize];
        out.free = end;
        let delivered = end + times.latency;
        self.lanes[slot].count(bytes, &mut self.logs, slot); // channel 0
        if self.by_class.on() {
            self.count_class(packet.message, ClassId::NODE.0, bytes);
        }
        self.give_back(first + u32::from(packet.port), packet.channel(), bytes, end);
        self.deliver(packet, delivered);
    }
}
