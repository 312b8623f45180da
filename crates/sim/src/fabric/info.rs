//! What the fabric asks of those who make packets: it takes packets for numbers.

use super::packet::Event;

/// What NICs know of the packets in the fabric.
pub trait PacketInfo {
    /// Whether packets are answered.
    const ANSWERS: bool;

    /// Number of a packet in tables of durations: its payload, or a number beyond all payloads if it carries none.
    fn number(&self, packet: &Event) -> u32;

    /// The message of a packet.
    fn message(&self, packet: &Event) -> u32;

    /// The job of a packet.
    fn job(&self, packet: &Event) -> u16;

    /// Whether a packet carries payload.
    fn carries(&self, packet: &Event) -> bool;
}
