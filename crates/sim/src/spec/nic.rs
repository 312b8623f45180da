//! NICs that answer packets: that of Aries, and that with a window towards each destination (docs/model.md, section 3).

use odonata_programs::choices;

use super::check::{MAX_DELAY_PS, MAX_WINDOW};
use super::options::table;
use super::{Delivery, FabricSpec, Feedback, MAX_PACKET_BYTES, Spec};

table! {
    /// A NIC that answers every request packet (De Sensi 2019, section 2.1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AriesSpec {
        /// Largest payload of an Aries packet, in bytes. The packets of the fabric stand for bursts of them.
        packet_bytes: u32 = 1..=MAX_PACKET_BYTES,
        /// Most Aries packets of a NIC that have no response yet.
        window: u32 = 1..=MAX_WINDOW,
        /// How data that a node waits for are moved.
        operation: Operation,
        /// Clock cycle of the NIC, which sends at most one flit in a cycle.
        cycle_ps: u64 = 1..=MAX_DELAY_PS,
    }
}

choices! {
    /// How data are moved: the messages of traffic, and the data of a rendezvous.
    pub enum Operation {
        /// Requests carry the payload to another node.
        Put = "put",
        /// Responses carry the payload from another node.
        Get = "get",
    }
}

impl Spec {
    /// Whether packets are numbered in the order in which they leave.
    #[must_use]
    pub fn numbers_packets(&self) -> bool {
        self.measure.reordering || self.fabric.nic.delivery == Delivery::InOrder
    }
}

impl AriesSpec {
    /// Aries packets that a packet with so many bytes of payload stands for.
    #[must_use]
    pub fn burst(&self, payload: u32) -> u32 {
        payload.div_ceil(self.packet_bytes)
    }
}

impl FabricSpec {
    /// Whether NICs answer each packet.
    #[must_use]
    pub fn answers(&self) -> bool {
        self.nic.aries.is_some() || self.most_in_flight().is_some()
    }

    /// What answers no packet, or must answer each one; none if an acknowledgement may stand for several.
    pub(super) fn answers_none_or_each(&self) -> Option<&'static str> {
        match (self.nic.aries, self.congestion_control.map(|control| control.law)) {
            (Some(_), _) => Some("aries"),
            (None, Some(law)) if !matches!(law.feedback(), Feedback::None | Feedback::Hops) => Some(law.name()),
            (None, Some(_)) => None,
            (None, None) if self.nic.window_bytes.is_some() => None,
            (None, None) => Some("simple"),
        }
    }

    /// Most bytes of payload on the way from a NIC to another one, if that is limited.
    #[must_use]
    pub fn most_in_flight(&self) -> Option<u64> {
        self.congestion_control.map(|control| control.window_bytes).or(self.nic.window_bytes)
    }

    /// Aries packets that a packet with so many bytes of payload stands for; one without NICs of Aries.
    #[must_use]
    pub fn burst(&self, payload: u32) -> u32 {
        self.nic.aries.map_or(1, |aries| aries.burst(payload))
    }

    /// Whether the messages of traffic are gets, and the receiver of a rendezvous fetches the data.
    #[must_use]
    pub fn gets(&self) -> bool {
        self.nic.aries.is_some_and(|aries| aries.operation == Operation::Get)
    }

    /// Bytes on links of all packets: those with payload by payload from 0 on; with responses, then those without payload.
    pub fn wire_sizes(&self) -> impl Iterator<Item = u64> {
        let control = if self.answers() { 0..self.packet_bytes + 1 } else { 0..0 };
        (0..=self.packet_bytes).map(|p| self.wire_bytes(p)).chain(control.map(|p| self.control_bytes(p)))
    }

    /// Bytes on a link of a packet without payload that answers or asks for so many bytes: a header for each Aries packet.
    #[must_use]
    pub fn control_bytes(&self, payload: u32) -> u64 {
        u64::from(self.burst(payload)) * self.head_bytes()
    }
}
