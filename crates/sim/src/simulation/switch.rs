//! What happens in a router: decisions, waiting, credits, delivery (docs/model.md, sections 4 to 6).

use super::Simulation;
use crate::engine::Queue;
use crate::error::SimError;
use crate::fabric::NONE;
use crate::fabric::packet::{Event, Kind};
use crate::routing::Loads;

impl<Q: Queue<Event>> Simulation<'_, Q> {
    /// The routing decision of a packet.
    #[inline(always)]
    pub(super) fn decide(&mut self, router: u32, mut packet: Event) {
        self.packet_hops += 1;
        let place = self.wiring.places[router as usize];
        let first = self.wiring.first_slot[router as usize];
        if place.leaf && place.group == packet.to_group && place.local == packet.to_leaf {
            self.eject(first, &packet);
            return;
        }
        let outs = &self.outs[first as usize..first as usize + usize::from(place.ports)];
        let loads = Loads { outs, now: packet.time };
        let (port, channel) = self.routing.route(&self.wiring.machine, place, &mut packet, &loads);
        if self.arrivals.on() && !place.leaf {
            self.count_arrival(place.group, packet, port);
        }
        let slot = first + u32::from(port);
        let lane = slot as usize * self.wiring.channels + usize::from(channel);
        let waits = self.lanes[lane].head != NONE;
        if !waits && self.has_room(lane, slot, channel, packet.bytes(), packet.time) {
            self.commit(first, slot, lane, channel, packet);
        } else {
            self.park(router, port, channel, slot, lane, packet, waits);
        }
    }

    /// Counts a packet at a spine that comes from another group, or goes to one (K21).
    #[cold]
    fn count_arrival(&mut self, group: u16, packet: Event, port: u16) {
        let leaves = self.wiring.machine.spec.leaves as u16;
        let job = self.flights.job(packet.message);
        for (counts, inwards) in [(packet.port >= leaves, true), (port >= leaves, false)] {
            if counts && !self.arrivals.count(packet.time, job, group, packet.bytes(), inwards) {
                let problem = "the run has more windows of this width than fit into memory; use wider ones";
                self.failure.get_or_insert(SimError::invalid("measure.arrivals_every_ps", problem));
                self.end = 0;
            }
        }
    }

    /// Whether the far buffer of a lane has room, counting the credits that have come by `now`.
    #[inline(always)]
    fn has_room(&mut self, lane: usize, slot: u32, channel: u8, bytes: u32, now: u64) -> bool {
        if self.lanes[lane].room >= bytes {
            return true;
        }
        let far = self.far_buffer(slot, channel);
        self.lanes[lane].room += self.returns[far].take(far as u32, now, &mut self.spill);
        self.lanes[lane].room >= bytes
    }

    /// Index in `returns` of the buffer at the far end of a router's port.
    #[inline(always)]
    fn far_buffer(&self, slot: u32, channel: u8) -> usize {
        let wire = self.wiring.wires[slot as usize];
        let far_slot = self.wiring.first_slot[wire.to as usize] + u32::from(wire.port);
        far_slot as usize * self.wiring.channels + usize::from(channel)
    }

    /// Commits a packet to a lane that has room for it.
    #[inline(always)]
    fn commit(&mut self, first: u32, slot: u32, lane: usize, channel: u8, mut packet: Event) {
        let bytes = packet.bytes();
        let wire = self.wiring.wires[slot as usize];
        let times = &self.wiring.times[usize::from(wire.class)];
        let out = &mut self.outs[slot as usize];
        let end = out.free.max(packet.time) + times.serialisation[bytes as usize];
        out.free = end;
        let lane = &mut self.lanes[lane];
        lane.room -= bytes;
        lane.bytes += u64::from(bytes);
        lane.packets += 1;
        let (port, came_by) = (packet.port, packet.channel());
        packet.time = end + times.to_decision;
        packet.port = wire.port;
        packet.set_channel(channel);
        packet.next_hop();
        self.queue.push(wire.to, packet);
        self.give_back(first + u32::from(port), came_by, bytes, end);
    }

    /// Returns the room of a packet that leaves, with its tail at `end`, the buffer behind a port.
    #[inline(always)]
    fn give_back(&mut self, slot: u32, channel: u8, bytes: u32, end: u64) {
        let wire = self.wiring.wires[slot as usize];
        let stamp = end + self.wiring.times[usize::from(wire.class)].to_credit;
        let lane = slot as usize * self.wiring.channels + usize::from(channel);
        if self.returns[lane].add(lane as u32, stamp, bytes, self.queue.horizon(), &mut self.spill) {
            if wire.node {
                let home = self.wiring.homes[wire.to as usize];
                self.queue.push(home.router, Event::other(Kind::NicCredit, stamp, home.port, 0, 0));
            } else {
                self.queue.push(wire.to, Event::other(Kind::OutputCredit, stamp, wire.port, channel, 0));
            }
        }
    }

    /// Lets a packet wait for room.
    #[expect(clippy::too_many_arguments, reason = "the caller has them all at hand")]
    #[cold]
    fn park(&mut self, router: u32, port: u16, channel: u8, slot: u32, lane: usize, packet: Event, waits: bool) {
        let now = packet.time;
        let class = usize::from(self.wiring.wires[slot as usize].class);
        self.outs[slot as usize].parked_ps += self.wiring.times[class].serialisation[packet.bytes() as usize];
        self.parked.push(&mut self.lanes[lane].head, &mut self.stalls[lane].tail, packet);
        if !waits {
            self.stalls[lane].since = now;
            self.arm(router, port, channel, slot);
        }
    }

    /// Sees to it that a lane on which something waits is woken by the next credit.
    fn arm(&mut self, router: u32, port: u16, channel: u8, slot: u32) {
        let far = self.far_buffer(slot, channel);
        if let Some(at) = self.returns[far].wait(far as u32, &self.spill) {
            self.queue.push(router, Event::other(Kind::OutputCredit, at, port, channel, 0));
        }
    }

    /// A credit has come for a lane on which something waits.
    #[cold]
    pub(super) fn wake(&mut self, router: u32, port: u16, channel: u8, now: u64) {
        let first = self.wiring.first_slot[router as usize];
        let slot = first + u32::from(port);
        let lane = slot as usize * self.wiring.channels + usize::from(channel);
        if self.lanes[lane].head == NONE {
            return; // an earlier credit was enough
        }
        let class = usize::from(self.wiring.wires[slot as usize].class);
        loop {
            let bytes = self.parked.first(self.lanes[lane].head).bytes();
            if !self.has_room(lane, slot, channel, bytes, now) {
                self.arm(router, port, channel, slot);
                return;
            }
            let mut packet = self.parked.pop(&mut self.lanes[lane].head);
            packet.time = now;
            self.outs[slot as usize].parked_ps -= self.wiring.times[class].serialisation[bytes as usize];
            self.commit(first, slot, lane, channel, packet);
            if self.lanes[lane].head == NONE {
                break;
            }
        }
        let far = self.far_buffer(slot, channel);
        self.returns[far].rest();
        let stall = &mut self.stalls[lane];
        stall.total += now - stall.since;
    }

    /// Sends a packet out to its node.
    #[inline(always)]
    fn eject(&mut self, first: u32, packet: &Event) {
        let slot = (first + u32::from(packet.to_port)) as usize;
        let bytes = packet.bytes();
        let times = self.wiring.node_times();
        let end = self.outs[slot].free.max(packet.time) + times.serialisation[bytes as usize];
        let delivered = end + times.latency;
        self.outs[slot].free = end;
        let lane = &mut self.lanes[slot * self.wiring.channels];
        lane.bytes += u64::from(bytes);
        lane.packets += 1;
        self.give_back(first + u32::from(packet.port), packet.channel(), bytes, end);
        self.deliver(packet, delivered);
    }
}
