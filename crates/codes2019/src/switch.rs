//! The events of a router: arrival and decision, admission, sending, credits.

use odonata_sim::spec::RoutingSpec;
use odonata_topology::Peer;
use odonata_topology::dragonfly_plus::GLOBAL;

use crate::calendar::Event;
use crate::noise::LOOKAHEAD;
use crate::route::Decision;
use crate::world::World;

impl World<'_> {
    /// The tail of a packet arrives at a router: it gets its output at once, and room there if there is any.
    pub(crate) fn arrive(&mut self, t: u64, packet: u32) {
        let mut of = self.packets[packet as usize];
        let came_by = self.far_slot(of.holds.0 as usize);
        let network = &self.map.machine.network;
        let router = network.router_of_slot[came_by];
        let decision = Decision {
            map: &self.map,
            scores: &self.scores,
            routing: &self.spec.routing,
            without: self.without,
            router,
        };
        let out = decision.route(&mut of.routed);
        let channel = usize::from(of.routed.channel);
        of.routed.hop += 1;
        self.tally.packet_hops += 1;
        if let Some(width) = self.spec.measure.arrivals_every_ps {
            let at = (t / width, self.messages[of.message as usize].job, self.map.machine.group(router).0);
            self.tally.cross(at, of.bytes, network.class[came_by] == GLOBAL, network.class[out as usize] == GLOBAL);
        }
        self.packets[packet as usize] = of;
        let port = &mut self.ports[out as usize];
        if port.has_room(channel) {
            self.admit(t, packet, out, channel);
        } else {
            port.wait(&mut self.packets, channel, packet);
            port.channels[channel].flow.watch(t, true);
            self.score(out);
        }
    }

    /// A packet moves from the joint buffer it came by to the one it leaves by.
    fn admit(&mut self, t: u64, packet: u32, out: u32, channel: usize) {
        let came_by = std::mem::replace(&mut self.packets[packet as usize].holds, (out, channel as u8));
        self.give_back(t, came_by);
        let port = &mut self.ports[out as usize];
        port.admit(&mut self.packets, channel, packet);
        self.score(out);
        self.wake_port(t, out);
    }

    /// Computes the score of a port anew.
    fn score(&mut self, slot: u32) {
        let port = &self.ports[slot as usize];
        self.scores[slot as usize] =
            if matches!(self.spec.routing, RoutingSpec::Fpar { .. }) { port.percent() } else { port.load() };
    }

    fn wake_port(&mut self, t: u64, slot: u32) {
        let port = &mut self.ports[slot as usize];
        if !port.sending && port.has_next() {
            port.sending = true;
            self.calendar.add(t + port.noise.step(), Event::Send { slot });
        }
    }

    /// Informs the sender of a link that there is room again: 8 bytes at the bandwidth of a local link, on all links.
    pub(crate) fn give_back(&mut self, t: u64, (link, channel): (u32, u8)) {
        let noise = match self.nic_of(link as usize) {
            Some(node) => &mut self.nics[node].noise,
            None => &mut self.ports[link as usize].noise,
        };
        self.calendar.add(t + LOOKAHEAD + self.credit_delay + noise.tie(), Event::Credit { link, channel });
    }

    /// Room for one packet comes back to the sender of a link: the first packet that waits for it gets it.
    pub(crate) fn credit(&mut self, t: u64, link: usize, channel: usize) {
        if let Some(node) = self.nic_of(link) {
            return self.credit_nic(t, node);
        }
        let port = &mut self.ports[link];
        if let Some(packet) = port.release(&self.packets, channel) {
            let of = &mut port.channels[channel];
            of.flow.watch(t, !of.queued.is_empty());
            self.admit(t, packet, link as u32, channel);
        } else {
            self.score(link as u32);
        }
        self.wake_port(t, link as u32);
    }

    /// A port sends its next packet. The router's delay follows the wire and does not occupy it.
    pub(crate) fn send(&mut self, t: u64, slot: u32) {
        let port = &mut self.ports[slot as usize];
        let Some((packet, channel)) = port.next(&self.packets, self.without.channel_priority) else {
            port.sending = false;
            return;
        };
        let bytes = self.packets[packet as usize].bytes;
        port.channels[channel].flow.sent(bytes);
        port.free_at = port.free_at.max(t) + LOOKAHEAD + port.noise.tie() + port.serialisation_ps(bytes);
        let arrival = port.free_at + self.spec.fabric.router_delay_ps;
        port.sending = port.has_next();
        if port.sending {
            self.calendar.add(port.free_at + LOOKAHEAD + port.noise.tie(), Event::Send { slot });
        }
        let event = match self.map.machine.network.peer[slot as usize] {
            Peer::Node(_) => Event::Eject { packet },
            Peer::Router(_) | Peer::None => Event::Arrive { packet },
        };
        self.calendar.add(arrival, event);
    }
}
