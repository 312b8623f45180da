//! A router's output port: its wire, its two channels and the joint buffer of each.

use odonata_sim::spec::LinkSpec;

use crate::flow::Flow;
use crate::list::List;
use crate::noise::Noise;
use crate::world::Packet;

/// Virtual channels of every port.
pub(crate) const CHANNELS: usize = 2;

/// One channel of a port.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    /// Bytes in the joint buffer: packets in `pending`, on the wire, and waiting at the next router.
    pub(crate) occupied: u64,
    /// Packets admitted to the joint buffer that wait for the wire.
    pending: List,
    /// Packets that wait for room in the joint buffer, and keep their room upstream.
    pub(crate) queued: List,
    /// Its counters.
    pub(crate) flow: Flow,
    /// The largest number of bytes in the joint buffer so far.
    pub(crate) peak: u64,
}

/// An output port.
#[derive(Debug)]
pub(crate) struct Port {
    /// The link that leaves through it. `buffer_bytes` is the joint buffer of each channel.
    pub(crate) link: LinkSpec,
    /// Its channels; 0 goes first whenever it has something to send.
    pub(crate) channels: [Channel; CHANNELS],
    /// The channel behind the one that sent last.
    turn: usize,
    /// The time until which the wire is busy.
    pub(crate) free_at: u64,
    /// Whether a `Send` is scheduled.
    pub(crate) sending: bool,
    /// Its small delays.
    pub(crate) noise: Noise,
    /// The bytes in both joint buffers, and of the packets that wait for room in them.
    load: u64,
    full_packet: (u64, u64),
}

impl Port {
    /// An idle port.
    pub(crate) fn new(link: LinkSpec, packet_bytes: u64, noise: Noise) -> Self {
        let full_packet = (packet_bytes, link.bandwidth.serialisation_ps(packet_bytes));
        Self { link, channels: Default::default(), turn: 0, free_at: 0, sending: false, noise, load: 0, full_packet }
    }

    /// Time that a packet takes on the wire; full packets without a division.
    pub(crate) fn serialisation_ps(&self, bytes: u64) -> u64 {
        if bytes == self.full_packet.0 { self.full_packet.1 } else { self.link.bandwidth.serialisation_ps(bytes) }
    }

    /// Whether a channel has room for one more packet. Every packet counts as a full one.
    pub(crate) fn has_room(&self, channel: usize) -> bool {
        self.channels[channel].occupied + self.full_packet.0 <= self.link.buffer_bytes
    }

    /// Adds a packet to the list for the wire and takes its room.
    pub(crate) fn admit(&mut self, packets: &mut [Packet], channel: usize, packet: u32) {
        let channel = &mut self.channels[channel];
        channel.occupied += self.full_packet.0;
        channel.peak = channel.peak.max(channel.occupied);
        channel.pending.push(packets, packet);
        self.load += self.full_packet.0;
    }

    /// Adds a packet to those that wait for room.
    pub(crate) fn wait(&mut self, packets: &mut [Packet], channel: usize, packet: u32) {
        self.channels[channel].queued.push(packets, packet);
        self.load += self.full_packet.0;
    }

    /// Returns the room of one packet, and removes the first packet that waits for it.
    pub(crate) fn release(&mut self, packets: &[Packet], channel: usize) -> Option<u32> {
        let channel = &mut self.channels[channel];
        channel.occupied -= self.full_packet.0;
        self.load -= self.full_packet.0;
        let next = channel.queued.pop(packets)?;
        self.load -= self.full_packet.0;
        Some(next)
    }

    /// Removes a packet from the lists for the wire, and returns its channel: 0 always goes first, unless the channels
    /// take turns.
    pub(crate) fn next(&mut self, packets: &[Packet], in_turn: bool) -> Option<(u32, usize)> {
        let first = if in_turn { self.turn } else { 0 };
        let found = (0..CHANNELS).map(|k| (first + k) % CHANNELS).find_map(|channel| {
            let packet = self.channels[channel].pending.pop(packets)?;
            Some((packet, channel))
        });
        if let Some((_, channel)) = found {
            self.turn = (channel + 1) % CHANNELS;
        }
        found
    }

    /// Whether a packet waits for the wire.
    pub(crate) fn has_next(&self) -> bool {
        self.channels.iter().any(|c| !c.pending.is_empty())
    }

    /// The score of the port before division, in bytes: both joint buffers and the packets that wait for room in them.
    pub(crate) fn load(&self) -> u64 {
        self.load
    }

    /// Load divided by the capacity of both channels, in whole percent, rounded down; above 100 if packets wait.
    pub(crate) fn percent(&self) -> u64 {
        self.load() * 100 / (CHANNELS as u64 * self.link.buffer_bytes)
    }
}

#[cfg(test)]
mod tests {
    use odonata_topology::{Bandwidth, GroupId, NodeId};

    use super::super::route::RoutedPacket;
    use super::*;

    fn port(buffer_bytes: u64) -> Port {
        let link =
            LinkSpec { bandwidth: Bandwidth(1_000_000_000_000_000), latency_ps: 0, buffer_bytes, credit_delay_ps: 0 };
        Port::new(link, 2048, Noise::new(1, 1))
    }

    /// Packets as they are before they are in a list.
    fn packets(n: usize) -> Vec<Packet> {
        let (origin, destination) = (GroupId(0), NodeId(0));
        let routed = RoutedPacket { key: 0, origin, destination, hop: 0, channel: 0, minimal: true };
        vec![Packet { message: 0, bytes: 2048, routed, holds: (0, 0), next: 0 }; n]
    }

    #[test]
    fn channel_0_goes_first_always() {
        let (mut port, mut packets) = (port(8192), packets(22));
        for (channel, packet) in [(1, 10), (1, 11), (1, 12), (0, 20), (0, 21)] {
            port.admit(&mut packets, channel, packet);
        }
        let order: Vec<_> = std::iter::from_fn(|| port.next(&packets, false)).collect();
        assert_eq!(order, [(20, 0), (21, 0), (10, 1), (11, 1), (12, 1)]);
        assert!(!port.has_next() && port.load() == 5 * 2048, "sent packets keep their room until their credit is back");
    }

    #[test]
    fn channels_take_turns_if_they_shall() {
        let (mut port, mut packets) = (port(8192), packets(22));
        for (channel, packet) in [(1, 10), (1, 11), (1, 12), (0, 20), (0, 21)] {
            port.admit(&mut packets, channel, packet);
        }
        let order: Vec<_> = std::iter::from_fn(|| port.next(&packets, true)).collect();
        assert_eq!(order, [(20, 0), (10, 1), (21, 0), (11, 1), (12, 1)]);
    }

    #[test]
    fn the_score_is_whole_percent_of_both_channels_and_counts_what_waits() {
        let mut packets = packets(4);
        // 2,048 B of 2 x 8 KiB are 12.5 %, of 2 x 16 KiB 6.25 %: both are rounded down.
        for (buffer, one, four) in [(8192, 12, 50), (16384, 6, 25)] {
            let mut port = port(buffer);
            port.admit(&mut packets, 1, 0);
            assert_eq!(port.percent(), one);
            (1..4).for_each(|packet| port.admit(&mut packets, 1, packet));
            assert_eq!((port.percent(), port.has_room(1), port.has_room(0)), (four, buffer > 8192, true));
        }
        let mut full = port(2048);
        full.admit(&mut packets, 0, 0);
        (1..4).for_each(|packet| full.wait(&mut packets, 0, packet));
        assert_eq!(full.percent(), 200);
        assert_eq!((full.release(&packets, 0), full.percent()), (Some(1), 100), "one left, and one no longer waits");
        full.admit(&mut packets, 0, 1);
        assert_eq!(full.percent(), 150);
    }
}
