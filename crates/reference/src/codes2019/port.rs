//! A router's output port: its wire, its two channels and the joint buffer of each.

use std::collections::VecDeque;

use odonata_sim::spec::LinkSpec;

use super::flow::Flow;
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
    /// Packets that wait for room in the joint buffer, and keep their room upstream.
    pub(super) queued: VecDeque<u32>,
    /// Its counters.
    pub(super) flow: Flow,
    /// The largest number of bytes in the joint buffer so far.
    pub(super) peak: u64,
}

/// An output port.
#[derive(Debug)]
pub(super) struct Port {
    /// The link that leaves through it. `buffer_bytes` is the joint buffer of each channel.
    pub(super) link: LinkSpec,
    /// Its channels; 0 goes first whenever it has something to send.
    pub(super) channels: [Channel; CHANNELS],
    /// The time until which the wire is busy.
    pub(super) free_at: u64,
    /// Whether a `Send` is scheduled.
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

    /// Adds a packet to the list for the wire and takes its room.
    pub(super) fn admit(&mut self, channel: usize, packet: u32) {
        let channel = &mut self.channels[channel];
        channel.occupied += self.full_packet.0;
        channel.peak = channel.peak.max(channel.occupied);
        channel.pending.push_back(packet);
    }

    /// Removes a packet from the lists for the wire, and returns its channel: 0 always goes first.
    pub(super) fn next(&mut self) -> Option<(u32, usize)> {
        self.channels.iter_mut().enumerate().find_map(|(channel, of)| Some((of.pending.pop_front()?, channel)))
    }

    /// Whether a packet waits for the wire.
    pub(super) fn has_next(&self) -> bool {
        self.channels.iter().any(|c| !c.pending.is_empty())
    }

    /// The score of the port before division, in bytes: both joint buffers and the packets that wait for room in them.
    pub(super) fn load(&self) -> u64 {
        let waiting: usize = self.channels.iter().map(|c| c.queued.len()).sum();
        self.channels.iter().map(|c| c.occupied).sum::<u64>() + waiting as u64 * self.full_packet.0
    }

    /// Load divided by the capacity of both channels, in whole percent, rounded down; above 100 if packets wait.
    pub(super) fn percent(&self) -> u64 {
        self.load() * 100 / (CHANNELS as u64 * self.link.buffer_bytes)
    }
}

#[cfg(test)]
mod tests {
    use odonata_topology::Bandwidth;

    use super::*;

    fn port(buffer_bytes: u64) -> Port {
        let link =
            LinkSpec { bandwidth: Bandwidth(1_000_000_000_000_000), latency_ps: 0, buffer_bytes, credit_delay_ps: 0 };
        Port::new(link, 2048, Noise::new(1, 1))
    }

    #[test]
    fn channel_0_goes_first_always() {
        let mut port = port(8192);
        for (channel, packet) in [(1, 10), (1, 11), (0, 20), (0, 21)] {
            port.admit(channel, packet);
        }
        let order: Vec<_> = std::iter::from_fn(|| port.next()).collect();
        assert_eq!(order, [(20, 0), (21, 0), (10, 1), (11, 1)]);
        assert!(!port.has_next() && port.load() == 4 * 2048, "sent packets keep their room until their credit is back");
    }

    #[test]
    fn the_score_is_whole_percent_of_both_channels_and_counts_what_waits() {
        // 2,048 B of 2 x 8 KiB are 12.5 %, of 2 x 16 KiB 6.25 %: both are rounded down.
        for (buffer, one, four) in [(8192, 12, 50), (16384, 6, 25)] {
            let mut port = port(buffer);
            port.admit(1, 0);
            assert_eq!(port.percent(), one);
            (1..4).for_each(|packet| port.admit(1, packet));
            assert_eq!((port.percent(), port.has_room(1), port.has_room(0)), (four, buffer > 8192, true));
        }
        let mut full = port(2048);
        full.admit(0, 0);
        full.channels[0].queued.extend([1, 2, 3]);
        assert_eq!(full.percent(), 200);
    }
}
