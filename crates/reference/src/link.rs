//! A directed link: what waits for it, what is on it, what it has carried (model, sections 1, 4, 6 and 9).

use std::collections::VecDeque;

use odonata_sim::spec::{LinkSpec, Sensed};
use odonata_topology::NodeId;

use crate::packet::Packet;

/// What stands at the far end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Far {
    /// A node, which takes what comes.
    Node,
    /// The router whose input port has this slot.
    Router(usize),
}

/// What drives the link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sender {
    /// An output port of a router.
    Port,
    /// A NIC (endpoint) of a node.
    Nic(NodeId),
}

/// A packet that has been granted the link.
#[derive(Debug)]
pub(crate) struct Granted {
    /// The packet.
    pub(crate) packet: Packet,
    /// The virtual channel it was granted.
    pub(crate) channel: usize,
    /// How long the link stands still before it.
    hold: u64,
}

/// When what happens to a packet that crosses the link (model, sections 3 to 5).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
    /// The tail leaves the sender, and with it the buffer that the packet was in.
    pub(crate) leaves: u64,
    /// The tail is at the far end.
    pub(crate) arrives: u64,
    /// The router at the far end decides.
    pub(crate) decided: u64,
}

/// One virtual channel of a link.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Room in the far buffer that nobody has taken; unlimited in a node.
    pub(crate) room: u64,
    /// Packets that wait for room.
    pub(crate) fifo: VecDeque<Packet>,
    /// Since when something has been waiting for room.
    waiting_since: Option<u64>,
    /// Packets granted.
    pub(crate) packets: u64,
    /// Bytes granted.
    pub(crate) bytes: u64,
    /// Time during which something waited for room.
    stalled: u64,
}

/// A directed link.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its parameters.
    pub(crate) spec: LinkSpec,
    /// What a router at the far end takes to decide.
    router_delay: u64,
    /// What drives it.
    pub(crate) sender: Sender,
    /// Where it ends.
    pub(crate) far: Far,
    /// Its channels.
    pub(crate) channels: Vec<Channel>,
    /// Packets granted and not yet sent; the first one is being sent.
    pub(crate) line: VecDeque<Granted>,
    /// Of the first packet in the line.
    crossing: Crossing,
    /// How much later than a credit its news reaches the sensor.
    news_delay: u64,
    /// Bytes granted and not known to have left the far buffer, but for those in `news`.
    away: u64,
    /// Bytes that have left the far buffer, by the time when the sensor knows.
    news: Vec<(u64, u64)>,
}

impl Link {
    /// An empty link, with the delays of routers and of the news of credits.
    pub(crate) fn new(spec: LinkSpec, delays: [u64; 2], sender: Sender, far: Far, channels: usize) -> Self {
        let [router_delay, news_delay] = delays;
        let room = if matches!(far, Far::Node) { u64::MAX } else { spec.buffer_bytes };
        let channel =
            |_| Channel { room, fifo: VecDeque::new(), waiting_since: None, packets: 0, bytes: 0, stalled: 0 };
        let channels = (0..channels).map(channel).collect();
        let (line, crossing) = (VecDeque::new(), Crossing::default());
        Self { spec, router_delay, sender, far, channels, line, crossing, news_delay, away: 0, news: Vec::new() }
    }

    /// How a packet of `bytes` crosses the link that begins to leave at `begins`: a router decides when it has all of it.
    fn crossing(&self, begins: u64, bytes: u64) -> Crossing {
        let leaves = begins + self.serialisation(bytes);
        let arrives = leaves + self.spec.latency_ps;
        Crossing { leaves, arrives, decided: arrives + self.router_delay }
    }

    /// Time that `bytes` occupy the link.
    pub(crate) fn serialisation(&self, bytes: u64) -> u64 {
        self.spec.bandwidth.serialisation_ps(bytes)
    }

    /// Whether a packet of `bytes` may be granted the channel at once, given that nothing waits before it.
    pub(crate) fn has_room(&self, channel: usize, bytes: u64) -> bool {
        self.channels[channel].room >= bytes
    }

    /// Grants a packet the link at time `t`: it takes its room and joins the line. Returns the end of its
    /// transmission if that begins now.
    pub(crate) fn grant(&mut self, channel: usize, packet: Packet, hold: u64, t: u64) -> Option<u64> {
        let of = &mut self.channels[channel];
        if !matches!(self.far, Far::Node) {
            of.room -= packet.bytes;
        }
        of.packets += 1;
        of.bytes += packet.bytes;
        self.away += packet.bytes;
        self.line.push_back(Granted { packet, channel, hold });
        if self.line.len() == 1 { self.start(t) } else { None }
    }

    /// Starts to send the first packet of the line; returns when its tail will have left.
    fn start(&mut self, t: u64) -> Option<u64> {
        let first = self.line.front()?;
        self.crossing = self.crossing(t + first.hold, first.packet.bytes);
        Some(self.crossing.leaves)
    }

    /// The tail of the first packet has left: takes it off the line. Also returns the end of the next one.
    pub(crate) fn sent(&mut self, t: u64) -> (Granted, Crossing, Option<u64>) {
        let crossing = self.crossing;
        debug_assert_eq!(t, crossing.leaves);
        let done = self.line.pop_front().expect("a transmission ends only if there is one");
        (done, crossing, self.start(t))
    }

    /// The backlog at time `t`: what remains of the transmission, and all that stands behind it.
    pub(crate) fn backlog(&self, t: u64) -> u64 {
        let sending = if self.line.is_empty() { 0 } else { self.crossing.leaves - t };
        let granted: u64 = self.line.iter().skip(1).map(|g| g.hold + self.serialisation(g.packet.bytes)).sum();
        let waiting = self.channels.iter().flat_map(|c| &c.fifo);
        sending + granted + waiting.map(|p| self.serialisation(p.bytes)).sum::<u64>()
    }

    /// Bytes leave the far buffer now; the credit will reach the sender at time `t`.
    pub(crate) fn leave_far(&mut self, bytes: u64, t: u64, now: u64) {
        let old: u64 = self.news.extract_if(.., |&mut (at, _)| at <= now).map(|(_, bytes)| bytes).sum();
        self.away -= old;
        self.news.push((t + self.news_delay, bytes));
    }

    /// What a sensor tells of the load at time `t`, in picoseconds.
    pub(crate) fn load(&self, sensed: Sensed, t: u64) -> u64 {
        match sensed {
            Sensed::Backlog => self.backlog(t),
            Sensed::Credits => self.unreturned(t),
            Sensed::Both => self.backlog(t) + self.unreturned(t),
            Sensed::None => 0,
        }
    }

    /// The time that the bytes take which are not known to have left the far buffer.
    fn unreturned(&self, t: u64) -> u64 {
        let known: u64 = self.news.iter().filter(|&&(at, _)| at <= t).map(|&(_, bytes)| bytes).sum();
        let time = u128::from(self.away - known) * u128::from(self.serialisation(65_536)) / 65_536;
        u64::try_from(time).expect("what is under way takes less than 2^63 ps")
    }

    /// Notes at time `t` whether something waits for room on a channel.
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

    /// Time up to `end` during which something waited for room on a channel.
    pub(crate) fn stalled(&self, channel: usize, end: u64) -> u64 {
        let of = &self.channels[channel];
        of.stalled + of.waiting_since.map_or(0, |since| end - since)
    }
}
