//! The audit: every packet, byte and credit is somewhere.

use crate::calendar::Event;
use crate::crossbar::Crossbar;
use crate::link::Far;
use crate::nic::Nic;
use crate::packet::Packet;
use crate::world::World;

/// Where everything is at the end of a run. Packets and bytes issued must equal the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Packets of all messages issued.
    pub packets_issued: u64,
    /// Packets that reached their node.
    pub packets_delivered: u64,
    /// Packets that are still at their NIC.
    pub packets_at_nics: u64,
    /// Packets on links and in routers.
    pub packets_under_way: u64,
    /// Bytes of all issued messages.
    pub bytes_issued: u64,
    /// Bytes that reached their node.
    pub bytes_delivered: u64,
    /// Bytes that are still at their NIC.
    pub bytes_at_nics: u64,
    /// Bytes on links and in routers.
    pub bytes_under_way: u64,
    /// The buffers at the far end of all links to a router.
    pub buffers: Vec<BufferAudit>,
    /// How often each request of NICs of Aries is found: on its way, as its response, or answered.
    pub requests: Vec<u64>,
    /// The requests of each NIC of Aries.
    pub windows: Vec<WindowAudit>,
}

/// The requests of a NIC of Aries, in Aries packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowAudit {
    /// Most that may be without a response.
    pub window: u64,
    /// Most that were.
    pub most: u64,
    /// Those that the NIC has counted and that have no response.
    pub unanswered: u64,
    /// Those that are on their way, with their responses.
    pub under_way: u64,
}

/// One input buffer, in bytes. The size must equal the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferAudit {
    /// Its size.
    pub size: u64,
    /// Room that the sender knows of.
    pub room: u64,
    /// Taken by packets that were granted the link and have not begun to leave the sender.
    pub granted: u64,
    /// Taken by packets on the link or inside the router, until their tail has left it.
    pub held: u64,
    /// Freed, with the credit on its way to the sender.
    pub returning: u64,
}

impl Audit {
    /// Audits a run.
    pub(crate) fn take(world: &World<'_>) -> Self {
        let mut audit = Self::default();
        let packet_bytes = u64::from(world.spec.fabric.packet_bytes);
        let mut buffers: Vec<Vec<BufferAudit>> = Vec::new();
        for link in &world.links {
            let of = |c: &crate::link::Channel| BufferAudit {
                size: link.spec.buffer_bytes,
                room: c.room,
                ..Default::default()
            };
            buffers.push(link.channels.iter().map(of).collect());
        }
        for message in &world.messages {
            audit.packets_issued += message.packets(packet_bytes);
            audit.bytes_issued += message.bytes;
        }
        for unsent in world.nics.iter().flat_map(|n| &n.queue) {
            audit.packets_at_nics += unsent.packets.end - unsent.next;
            audit.bytes_at_nics += unsent.bytes(&world.messages, packet_bytes);
        }
        for job in world.tally.jobs(world.spec, &world.rows, &world.senders) {
            audit.packets_delivered += job.packets;
            audit.bytes_delivered += job.bytes;
        }
        let mut under_way: Vec<&Packet> = Vec::new();
        for (index, link) in world.links.iter().enumerate() {
            for granted in &link.line {
                buffers[index][granted.channel].granted += granted.packet.wire;
                under_way.push(&granted.packet);
            }
            if let Some(sending) = &link.sending
                && let Some((link, channel)) = sending.from
            {
                buffers[link][channel].held += sending.wire;
            }
            under_way.extend(link.channels.iter().flat_map(|c| &c.fifo));
        }
        under_way.extend(world.crossbars.iter().flat_map(Crossbar::packets));
        let waiting: Vec<Packet> = world.streams.waiting().map(|of| Packet { stands_in: None, ..of.clone() }).collect();
        under_way.extend(&waiting);
        for event in world.calendar.iter() {
            match event {
                Event::Decision { packet, .. } | Event::Delivery { packet } => under_way.push(packet),
                Event::Credit { link, channel, bytes } => buffers[*link][*channel].returning += bytes,
                Event::SendEnd { .. }
                | Event::Look { .. }
                | Event::Credits { .. }
                | Event::Arbitration { .. }
                | Event::Issue { .. }
                | Event::Rank { .. } => {}
            }
        }
        let nic = &world.spec.fabric.nic;
        if world.answers() {
            audit.requests = world.requests.iter().map(|request| request.answers).collect();
            let window = world.spec.fabric.most_in_flight().or(nic.aries.map(|aries| aries.window.into())).unwrap_or(0);
            let more = nic.acknowledge_every.map_or(0, |_| u64::from(world.spec.fabric.packet_bytes) - 1);
            let of = |nic: &Nic| WindowAudit {
                window: window.saturating_add(more),
                most: if world.spec.fabric.nic.aries.is_some() { nic.most_outstanding } else { nic.most_in_flight },
                unanswered: nic.counters.request_packets - nic.counters.answered_packets,
                under_way: 0,
            };
            audit.windows = world.nics.iter().map(of).collect();
        }
        let responses: Vec<&Packet> =
            world.nics.iter().flat_map(|nic| nic.responses.iter().chain(nic.turns.held())).collect();
        let unacknowledged = world.nics.iter().flat_map(|nic| nic.unacknowledged.values().flatten());
        let at_nodes = responses.iter().copied().chain(unacknowledged);
        for packet in under_way.iter().copied().chain(at_nodes).flat_map(|p| std::iter::once(p).chain(&p.stands_for)) {
            if let Some(request) = packet.request {
                audit.requests[request] += 1;
                let nic = world.requests[request].nic;
                audit.windows[nic.index()].under_way += world.burst(packet.bytes).len() as u64;
            }
        }
        // A packet without payload stands for none, but a request for payload stands for it, as long as that has not come.
        let stands = |packet: &&Packet| !packet.response || world.messages[packet.message].get;
        for packet in under_way.iter().copied().chain(responses).filter(stands) {
            audit.packets_under_way += 1;
            audit.bytes_under_way += packet.bytes;
        }
        for packet in under_way {
            if let Some((link, channel)) = packet.stands_in {
                buffers[link][channel].held += packet.wire;
            }
        }
        let to_router = world.links.iter().zip(buffers).filter(|(link, _)| matches!(link.far, Far::Router(_)));
        audit.buffers = to_router.flat_map(|(_, buffers)| buffers).collect();
        audit.buffers.extend(world.output_buffers());
        audit
    }

    /// The inconsistencies, if there are any.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let packets = self.packets_delivered + self.packets_at_nics + self.packets_under_way;
        let bytes = self.bytes_delivered + self.bytes_at_nics + self.bytes_under_way;
        if packets != self.packets_issued || bytes != self.bytes_issued {
            return Some(format!("{packets} packets and {bytes} bytes are accounted for: {self:?}"));
        }
        if let Some(request) = self.requests.iter().position(|&times| times != 1) {
            return Some(format!("request {request} is found {} times", self.requests[request]));
        }
        let exceeded = |w: &&WindowAudit| w.most > w.window || w.unanswered != w.under_way;
        if let Some(window) = self.windows.iter().find(exceeded) {
            return Some(format!("a window does not hold: {window:?}"));
        }
        let wrong = |b: &&BufferAudit| b.room + b.granted + b.held + b.returning != b.size;
        self.buffers.iter().find(wrong).map(|b| format!("credits were lost or made: {b:?}"))
    }
}

impl World<'_> {
    /// The output buffers of routers with crossbars. A packet that was granted the link is still in its output buffer.
    fn output_buffers(&self) -> Vec<BufferAudit> {
        let ports = if self.crossbars.is_empty() { 0 } else { self.map.network.peer.len() };
        let mut buffers = Vec::new();
        for link in &self.links[..ports] {
            for (index, channel) in link.channels.iter().enumerate() {
                let in_line = link.line.iter().filter(|granted| granted.channel == index).map(|g| g.packet.wire);
                let sending = link.sending.iter().filter(|sending| sending.channel == index).map(|s| s.wire);
                buffers.push(BufferAudit {
                    size: link.output_buffer,
                    room: channel.output_room,
                    granted: in_line.chain(sending).sum(),
                    held: channel.fifo.iter().map(|packet| packet.wire).sum(),
                    returning: 0,
                });
            }
        }
        buffers
    }
}
