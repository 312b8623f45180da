//! The tables of all links: output ports, output VCs, credits, blocked packets.

use super::packet::Event;
use super::{
    BlockedPackets, CreditMetric, Credits, Levels, Logs, Marks, OutputPort, OutputVc, OutputVcState, PacketInfo,
    PacketTimes, Wiring,
};

/// What packets pass through between the NICs, and who waits there.
pub struct Links<'s> {
    /// The far end of every port, and all durations.
    pub wiring: Wiring,
    /// The durations of packets, by number (see [`PacketInfo::number`]).
    pub packets: &'s [PacketTimes],
    /// Output ports, by slot.
    pub outs: Vec<OutputPort>,
    /// Output VCs at the sender: for each channel the ports by slot, then the injection links by NIC, then the links of
    /// responses, if there are any.
    pub vcs: Vec<OutputVcState>,
    /// Rarely used data of the output VCs.
    pub logs: Logs,
    /// Credits of the buffer behind each port, at the receiver: for each channel the ports by slot.
    pub credits: Credits,
    /// The congestion metric, if it is not the backlog.
    pub metric: Option<CreditMetric>,
    /// The levels in which routings know loads, if they do not know them exactly.
    pub levels: Option<Levels>,
    /// Which packets switches mark, if they do.
    pub marks: Option<Marks>,
    /// The packets that wait for room behind a link.
    pub blocked: BlockedPackets,
}

impl<'s> Links<'s> {
    /// The durations of a packet. (The result does not borrow the links.)
    #[inline(always)]
    pub fn times<N: PacketInfo>(&self, nics: &N, packet: &Event) -> &'s PacketTimes {
        if N::ANSWERS {
            return &self.packets[nics.number(packet) as usize];
        }
        // SAFETY: no packet is larger than the largest one, which the table covers.
        unsafe { self.packets.get_unchecked(packet.bytes() as usize) }
    }

    /// Slot of a router's port.
    #[inline]
    pub fn slot(&self, router: u32, port: u16) -> u32 {
        self.wiring.places[router as usize].first + u32::from(port)
    }

    /// Index in `vcs` and `logs` of a router's port and channel, and in `credits` of the buffer behind it.
    #[inline(always)]
    pub fn vc(&self, slot: u32, channel: u8) -> usize {
        usize::from(channel) * self.outs.len() + slot as usize
    }

    /// Index in `vcs` and `logs` of a NIC's injection link.
    #[inline]
    pub fn nic_vc(&self, nic: u32) -> usize {
        self.outs.len() * self.wiring.channels + nic as usize
    }

    /// Index in `vcs` and `logs` of the link on which a NIC sends responses.
    #[inline]
    pub fn response_vc(&self, nic: u32) -> usize {
        self.nic_vc(nic) + self.wiring.attachments.len()
    }

    /// Index in `credits` of the buffer at the far end of an output.
    #[inline]
    pub fn far_buffer(&self, output: OutputVc, channel: u8) -> usize {
        let vc = &self.vcs[output.vc()];
        self.vc(self.slot(vc.to(), vc.port), channel)
    }

    /// The output VC that sends to the buffer of a port and channel, if there is one, and the router of its events.
    /// Responses are sent on this channel at a NIC, if they are.
    pub fn sender_to(&self, buffer: usize, first_response: Option<u8>) -> Option<(u32, usize)> {
        let (back, channel) = (self.wiring.wires[buffer % self.outs.len()], (buffer / self.outs.len()) as u8);
        if !back.node {
            return Some((back.to, self.vc(self.slot(back.to, back.port), channel)));
        }
        let vc = if channel == 0 {
            self.nic_vc(back.to)
        } else if Some(channel) == first_response {
            self.response_vc(back.to)
        } else {
            return None;
        };
        Some((self.wiring.event_attachment(back.to).router, vc))
    }

    /// Counts the credits of an output VC that have arrived by `now`. Returns whether there is room now.
    #[inline(never)]
    pub fn look_for_room(&mut self, output: OutputVc, channel: u8, bytes: u32, now: u64) -> bool {
        let far = self.far_buffer(output, channel);
        let vc = &mut self.vcs[output.vc()];
        vc.room += self.credits.take(far, now);
        vc.room >= bytes
    }
}
