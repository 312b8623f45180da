//! A router's output port: its wire, its two channels and the joint buffer of each.

use std::collections::VecDeque;

use odonata_sim::spec::LinkSpec;

use super::noise::Noise;

/// Virtual channels of every port.
pub(super) const CHANNELS: usize = 2;

/// One channel of a port.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Bytes in the joint buffer: packets in `pending`, on the wire, and waiting at the next router.
    pub(super) occupied: u64,
    /// Packets admitted to the joint buffer that wait for the wire.
    pub(super) pending: VecDeque<u32>,
    /// Packets that wait for room in the joint buffer, and hold their room upstream meanwhile.
    pub(super) queued: VecDeque<u32>,
    /// Packets sent.
    pub(super) packets: u64,
    /// Bytes sent.
    pub(super) bytes: u64,
    /// Time during which a packet waited for room, up to the last change.
    stalled: u64,
    /// Since when a packet has been waiting.
    since: Option<u64>,
    /// The most bytes that were ever in the joint buffer.
    pub(super) peak: u64,
}

impl Channel {
    /// Notes at time `t` whether a packet waits for room.
    pub(super) fn watch(&mut self, t: u64) {
        match (self.since, self.queued.is_empty()) {
            (None, false) => self.since = Some(t),
            (Some(since), true) => {
                self.stalled += t - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Time during which a packet waited for room, up to `end`.
    pub(super) fn stalled(&self, end: u64) -> u64 {
        self.stalled + self.since.map_or(0, |since| end.saturating_sub(since))
    }
}

/// An output port.
#[derive(Debug)]
pub(super) struct Port {
    /// The link that leaves through it. `buffer_bytes` is the joint buffer of each channel.
    pub(super) link: LinkSpec,
    /// Its channels; 0 goes first whenever it has something to send.
    pub(super) channels: [Channel; CHANNELS],
    /// Until when the wire is taken.
    pub(super) free_at: u64,
    /// Whether a `Send` is to come.
    pub(super) sending: bool,
    /// Its small delays.
    pub(super) noise: Noise,
    full_packet: (u64, u64),
}

impl Port {
    /// An idle port.
    pub(super) fn new(link: LinkSpec, packet_bytes: u64, noise: Noise) -> Self {
        let full_packet = (packet_bytes, link.bandwidth.serialisation_ps(packet_bytes));
        Self { link, channels: Default::default(), free_at: 0, sending: false, noise, full_packet }
    }

    /// Time that a packet takes on the wire; full packets without a division.
    pub(super) fn serialisation_ps(&self, bytes: u64) -> u64 {
        if bytes == self.full_packet.0 { self.full_packet.1 } else { self.link.bandwidth.serialisation_ps(bytes) }
    }

    /// Whether a channel has room for one more packet. Every packet counts as a full one.
    pub(super) fn has_room(&self, channel: usize) -> bool {
        self.channels[channel].occupied + self.full_packet.0 <= self.link.buffer_bytes
    }

    /// Puts a packet on the list for the wire and takes its room.
    pub(super) fn admit(&mut self, channel: usize, packet: u32) {
        let channel = &mut self.channels[channel];
        channel.occupied += self.full_packet.0;
        channel.peak = channel.peak.max(channel.occupied);
        channel.pending.push_back(packet);
    }

    /// What the port scores before division, in bytes: both joint buffers and what waits to get in.
    pub(super) fn load(&self) -> u64 {
        let waiting: usize = self.channels.iter().map(|c| c.queued.len()).sum();
        self.channels.iter().map(|c| c.occupied).sum::<u64>() + waiting as u64 * self.full_packet.0
    }

    /// Load over the capacity of both channels, in whole percent, rounded down; beyond 100 if packets wait.
    pub(super) fn percent(&self) -> u64 {
        self.load() * 100 / (CHANNELS as u64 * self.link.buffer_bytes)
    }
}
