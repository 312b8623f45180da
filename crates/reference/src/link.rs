//! A directed link: the packets that wait for it, those on it, and its counters (model, sections 1, 4, 6 and 9).

use std::collections::VecDeque;

use odonata_sim::spec::{FabricSpec, LinkSpec, MetricKind, Sensing, Switching};
use odonata_topology::NodeId;

use crate::classes::first_of_responses;
use crate::packet::Packet;

/// The far end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Far {
    /// A node, which accepts every packet.
    Node,
    /// The router whose input port has this slot.
    Router(usize),
}

/// The sender of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sender {
    /// An output port of a router.
    Port,
    /// A NIC (endpoint) of a node.
    Nic(NodeId),
    /// The responses of a NIC.
    Responses(NodeId),
}

/// The sizes of packets on links.
pub(crate) trait OnWire {
    /// Bytes of a packet of this payload: with its header, in whole flits.
    fn wire(&self, payload: u64) -> u64;
    /// Bytes of a packet's head: its header in whole flits, at least one.
    fn head(&self) -> u64;
}

impl OnWire for FabricSpec {
    fn wire(&self, payload: u64) -> u64 {
        let one = |payload: u64| (payload + u64::from(self.header_bytes)).next_multiple_of(u64::from(self.flit_bytes));
        match self.nic.aries {
            None => one(payload),
            Some(aries) => aries_packets(payload, u64::from(aries.packet_bytes)).into_iter().map(one).sum(),
        }
    }

    fn head(&self) -> u64 {
        u64::from(self.header_bytes).max(1).next_multiple_of(u64::from(self.flit_bytes))
    }
}

/// The payloads of the Aries packets that a packet with so much payload stands for.
pub(crate) fn aries_packets(payload: u64, full: u64) -> Vec<u64> {
    let mut packets = vec![full; (payload / full) as usize];
    if !payload.is_multiple_of(full) {
        packets.push(payload % full);
    }
    packets
}

/// A packet that has been granted the link.
#[derive(Debug)]
pub(crate) struct Granted {
    /// The packet.
    pub(crate) packet: Packet,
    /// The virtual channel it was granted.
    pub(crate) channel: usize,
    /// How long the link pauses before it.
    hold: u64,
}

/// The times of a packet that crosses the link (model, sections 1, 3 and 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// The tail leaves the sender and the buffer in which the packet was.
    pub(crate) leaves: u64,
    /// The tail is at the far end.
    pub(crate) arrives: u64,
    /// The router at the far end decides.
    pub(crate) decided: u64,
    /// The tail time there.
    tail: u64,
}

/// The times of a packet that is granted the link now (model, section 9, "Blame").
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// It is ready.
    pub(crate) ready: u64,
    /// The packet gets the link.
    pub(crate) occupies: u64,
    /// The times of its crossing.
    pub(crate) crossing: Crossing,
}

/// A packet that is being sent, until its tail has left the sender.
#[derive(Debug)]
pub(crate) struct Sending {
    /// Its message.
    pub(crate) message: usize,
    /// Its request, if packets are answered.
    pub(crate) request: Option<usize>,
    /// Its bytes on the link.
    pub(crate) wire: u64,
    /// The buffer that it leaves.
    pub(crate) from: Option<(usize, usize)>,
    /// Its channel on the link.
    pub(crate) channel: usize,
    /// When its tail leaves.
    pub(crate) leaves: u64,
}

/// One virtual channel of a link.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Free room in the far buffer; unlimited in a node.
    pub(crate) room: u64,
    /// Packets that wait for room.
    pub(crate) fifo: VecDeque<Packet>,
    /// Room in the output buffer before the link, if the router has one.
    pub(crate) output_room: u64,
    /// Since when a packet has been waiting for room.
    waiting_since: Option<u64>,
    /// Packets granted.
    pub(crate) packets: u64,
    /// Bytes granted.
    pub(crate) bytes: u64,
    /// Time during which a packet waited for room.
    stalled: u64,
}

/// A directed link.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its parameters.
    pub(crate) spec: LinkSpec,
    /// The time that a router at the far end takes to decide.
    router_delay: u64,
    /// With cut-through, the bytes of a head.
    head: Option<u64>,
    /// The sender.
    pub(crate) sender: Sender,
    /// The far end.
    pub(crate) far: Far,
    /// Its channels.
    pub(crate) channels: Vec<Channel>,
    /// The packet that is being sent.
    pub(crate) sending: Option<Sending>,
    /// Packets that were granted the link and go after it.
    pub(crate) line: VecDeque<Granted>,
    /// The delay from the arrival of a credit until the congestion metric includes it.
    news_delay: u64,
    /// Size of the output buffer of each channel; 0 without one.
    pub(crate) output_buffer: u64,
    /// Channels that the specification gives the packets of a routing.
    requested_channels: u64,
    /// Serialisation times of packets for this port that are still in a queue at an input.
    pub(crate) queued_ps: u64,
    /// Bytes granted and not known to have left the far buffer, without those of `news`.
    away: u64,
    /// Bytes that have left the far buffer, each with the time at which the sender knows.
    news: Vec<(u64, u64)>,
}

impl Link {
    /// An empty link of a class, with the delay of information about credits.
    pub(crate) fn new(fabric: &FabricSpec, class: &str, news_delay: u64, sender: Sender, far: Far) -> Self {
        let spec = fabric.links[class];
        let router_delay = fabric.router_delay_ps;
        let head = (fabric.switching == Switching::CutThrough).then(|| fabric.head());
        let channels = match sender {
            Sender::Port => usize::from(fabric.all_channels()),
            Sender::Nic(_) => 1,
            Sender::Responses(_) => first_of_responses(fabric) + 1,
        };
        let room = if matches!(far, Far::Node) { u64::MAX } else { spec.buffer_bytes };
        let output_buffer = fabric.router.map_or(0, |router| router.output_buffer_bytes);
        let channel = |_| Channel {
            room,
            fifo: VecDeque::new(),
            output_room: output_buffer,
            waiting_since: None,
            packets: 0,
            bytes: 0,
            stalled: 0,
        };
        let channels = (0..channels).map(channel).collect();
        let (sending, line, queued_ps, away, news) = (None, VecDeque::new(), 0, 0, Vec::new());
        Self {
            spec,
            router_delay,
            head,
            sender,
            far,
            channels,
            sending,
            line,
            news_delay,
            output_buffer,
            requested_channels: fabric.channels.into(),
            queued_ps,
            away,
            news,
        }
    }

    /// The times of a packet that begins to leave at `begins`. A router decides when it has the whole packet, or its
    /// head with cut-through.
    fn crossing(&self, begins: u64, wire: u64) -> Crossing {
        let leaves = begins + self.serialisation(wire);
        let arrives = leaves + self.spec.latency_ps;
        let wanted = self.serialisation(self.head.unwrap_or(wire));
        let decided = begins + wanted + self.spec.latency_ps + self.router_delay;
        Crossing { leaves, arrives, decided, tail: arrives + self.router_delay }
    }

    /// When a packet begins to leave if the link is free from `t` on: late enough that its tail has come in time.
    fn begin(&self, t: u64, packet: &Packet, hold: u64) -> u64 {
        (t.max(packet.head) + hold).max(self.in_time(packet))
    }

    /// The earliest start at which the tail of a packet has come in time.
    pub(crate) fn in_time(&self, packet: &Packet) -> u64 {
        packet.tail.saturating_sub(self.serialisation(packet.wire))
    }

    /// The time for which `bytes` occupy the link.
    pub(crate) fn serialisation(&self, bytes: u64) -> u64 {
        self.spec.bandwidth.serialisation_ps(bytes)
    }

    /// Whether a packet of `bytes` may be granted the channel at once, provided that no packet waits before it.
    pub(crate) fn has_room(&self, channel: usize, bytes: u64) -> bool {
        self.channels[channel].room >= bytes
    }

    /// Grants a packet the link: the packet takes its room and joins the line.
    pub(crate) fn grant(&mut self, channel: usize, packet: Packet, hold: u64) {
        let of = &mut self.channels[channel];
        if !matches!(self.far, Far::Node) {
            of.room -= packet.wire;
        }
        of.packets += 1;
        of.bytes += packet.wire;
        self.away += packet.wire;
        self.line.push_back(Granted { packet, channel, hold });
    }

    /// Starts to send the first packet of the line at time `t`, if there is one and nothing is being sent. Returns the
    /// packet as it will arrive at the far end, with its channel and times.
    pub(crate) fn start(&mut self, t: u64) -> Option<(Packet, usize, Crossing)> {
        if self.sending.is_some() {
            return None;
        }
        let first = self.line.pop_front()?;
        let crossing = self.crossing(self.begin(t, &first.packet, first.hold), first.packet.wire);
        let Granted { mut packet, channel, .. } = first;
        let (message, wire, request) = (packet.message, packet.wire, packet.request);
        let (from, leaves) = (packet.stands_in.take(), crossing.leaves);
        self.sending = Some(Sending { message, request, wire, from, channel, leaves });
        packet.head = 0;
        packet.tail = crossing.tail;
        Some((packet, channel, crossing))
    }

    /// The tail of the packet has left.
    pub(crate) fn sent(&mut self, t: u64) -> Sending {
        let sent = self.sending.take().expect("a transmission ends only if there is one");
        debug_assert_eq!(t, sent.leaves);
        sent
    }

    /// When the link will have sent all granted packets; the present time `t` if there are none.
    pub(crate) fn free(&self, t: u64) -> u64 {
        let mut free = self.sending.as_ref().map_or(t, |sending| sending.leaves);
        for granted in &self.line {
            free = self.begin(free, &granted.packet, granted.hold) + self.serialisation(granted.packet.wire);
        }
        free
    }

    /// The times of a packet that is granted the link now, at time `t`.
    pub(crate) fn schedule(&self, t: u64, packet: &Packet, hold: u64) -> Schedule {
        let occupies = self.free(t);
        let crossing = self.crossing(self.begin(occupies, packet, hold), packet.wire);
        Schedule { ready: t.max(packet.head).max(self.in_time(packet)), occupies, crossing }
    }

    /// The backlog at time `t`: the rest of the present transmission, and all packets that wait for the link.
    pub(crate) fn backlog(&self, t: u64) -> u64 {
        self.free(t) - t + self.waiting()
    }

    /// The time of all packets that have this output and have not been granted the link.
    fn waiting(&self) -> u64 {
        let waiting = self.channels.iter().flat_map(|c| &c.fifo);
        self.queued_ps + waiting.map(|p| self.serialisation(p.wire)).sum::<u64>()
    }

    /// Bytes leave the far buffer now; the credit will reach the sender at time `t`.
    pub(crate) fn leave_far(&mut self, bytes: u64, t: u64, now: u64) {
        let old: u64 = self.news.extract_if(.., |&mut (at, _)| at <= now).map(|(_, bytes)| bytes).sum();
        self.away -= old;
        self.news.push((t + self.news_delay, bytes));
    }

    /// What is known of the load at time `t`, in picoseconds.
    pub(crate) fn load(&self, sensing: &Sensing, t: u64) -> u64 {
        let exact = self.exact_load(sensing.kind, t);
        let Some(levels) = sensing.levels.map(u128::from) else { return exact };
        let channels = match sensing.kind {
            MetricKind::OutputCredits => 1,
            _ => self.requested_channels,
        };
        let full = u128::from(self.serialisation(channels * self.sensed_buffer(sensing.kind)));
        let level = (u128::from(exact) * levels / full).min(levels - 1);
        u64::try_from(level * full / levels).expect("it is at most the load")
    }

    /// The load at time `t` by a congestion metric, in picoseconds.
    fn exact_load(&self, metric_kind: MetricKind, t: u64) -> u64 {
        match metric_kind {
            MetricKind::Backlog => self.backlog(t),
            MetricKind::Credits => self.unreturned(t),
            MetricKind::Both => self.backlog(t) + self.unreturned(t),
            MetricKind::Occupancy => self.waiting() + self.unreturned(t),
            MetricKind::OutputBuffer => self.as_time(self.buffered()),
            MetricKind::OutputCredits => self.as_time(self.not_begun(t)),
            MetricKind::None => 0,
        }
    }

    /// Size of the buffer that the metric reads, for one channel.
    pub(crate) fn sensed_buffer(&self, metric_kind: MetricKind) -> u64 {
        if metric_kind.reads_output_buffers() { self.output_buffer } else { self.spec.buffer_bytes }
    }

    /// The bytes in the output buffers.
    fn buffered(&self) -> u64 {
        self.channels.iter().map(|channel| self.output_buffer - channel.output_room).sum()
    }

    /// The bytes in the output buffer of channel 0 whose sending begins after time `t`.
    fn not_begun(&self, t: u64) -> u64 {
        let waiting = self.channels[0].fifo.iter().map(|packet| packet.wire);
        let in_line = self.line.iter().filter(|granted| granted.channel == 0).map(|granted| granted.packet.wire);
        let next = self.sending.iter().filter(|sending| sending.channel == 0);
        let next = next.filter(|sending| sending.leaves - self.serialisation(sending.wire) > t);
        waiting.chain(in_line).chain(next.map(|sending| sending.wire)).sum()
    }

    /// How long so many bytes of buffers occupy the link.
    fn as_time(&self, bytes: u64) -> u64 {
        let time = u128::from(bytes) * u128::from(self.serialisation(65_536)) / 65_536;
        u64::try_from(time).expect("what is in buffers takes less than 2^63 ps")
    }

    /// The serialisation time of the bytes that are not known to have left the far buffer.
    fn unreturned(&self, t: u64) -> u64 {
        let known: u64 = self.news.iter().filter(|&&(at, _)| at <= t).map(|&(_, bytes)| bytes).sum();
        let time = u128::from(self.away - known) * u128::from(self.serialisation(65_536)) / 65_536;
        u64::try_from(time).expect("what is under way takes less than 2^63 ps")
    }

    /// Notes at time `t` whether a packet waits for room on a channel.
    pub(crate) fn watch(&mut self, channel: usize, waiting: bool, t: u64) {
        let of = &mut self.channels[channel];
        match (of.waiting_since, waiting) {
            (None, true) => of.waiting_since = Some(t),
            (Some(since), false) => {
                of.stalled += t - since;
                of.waiting_since = None;
            }
            _ => {}
        }
    }

    /// Time up to `end` during which a packet waited for room on a channel.
    pub(crate) fn stalled(&self, channel: usize, end: u64) -> u64 {
        let of = &self.channels[channel];
        of.stalled + of.waiting_since.map_or(0, |since| end - since)
    }
}
