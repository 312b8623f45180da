//! The audit: every packet and every credit is somewhere.

use crate::calendar::Event;
use crate::world::World;

/// The positions of everything at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// Events handled: the cost of the run.
    pub events: u64,
    /// Packets of all messages issued.
    pub packets_issued: u64,
    /// Packets that reached their node.
    pub packets_delivered: u64,
    /// Packets that are still to be cut from messages at the NICs.
    pub packets_uncut: u64,
    /// Packets in the lists of the NICs, in routers and on wires.
    pub packets_under_way: u64,
    /// The most bytes that were ever in the joint buffer of a router's output and channel, by class of link.
    pub peak_bytes: Vec<u64>,
    /// The most bytes of one NIC that its leaf ever had to hold.
    pub peak_of_nics: u64,
    /// Joint buffers whose bytes differ from those of the packets in them and the returning credits.
    pub buffers_wrong: u64,
}

impl Stock {
    /// Audits a run.
    pub(crate) fn take(world: &World<'_>) -> Self {
        let network = &world.map.machine.network;
        let mut stock = Self { peak_bytes: vec![0; network.classes.len()], ..Self::default() };
        stock.events = world.events;
        stock.packets_issued = world.messages.iter().map(|m| m.packets(world.packet_bytes)).sum();
        stock.packets_delivered = world.messages.iter().map(|m| m.packets_delivered).sum();
        let uncut =
            |message: u32, next: u32| world.messages[message as usize].packets(world.packet_bytes) - u64::from(next);
        stock.packets_uncut = world.nics.iter().flat_map(|n| &n.queue).map(|u| uncut(u.message, u.next)).sum();

        let mut generating = vec![0_u64; world.nics.len()];
        let mut held = vec![[0_u64; 2]; world.ports.len() + world.nics.len()];
        for event in world.calendar.iter() {
            match event {
                Event::Sequence { message } | Event::Schedule { message } => stock.packets_uncut += uncut(message, 0),
                Event::Credit { link, channel } => held[link as usize][usize::from(channel)] += world.packet_bytes,
                Event::Generate { packet } => {
                    let link = world.packets[packet as usize].holds.0 as usize;
                    generating[link - world.ports.len()] += 1;
                }
                _ => {}
            }
        }
        let mut free = vec![false; world.packets.len()];
        world.unused.iter().for_each(|&place| free[place as usize] = true);
        for (packet, _) in world.packets.iter().zip(free).filter(|(_, free)| !free) {
            stock.packets_under_way += 1;
            held[packet.holds.0 as usize][usize::from(packet.holds.1)] += world.packet_bytes;
        }
        for (slot, port) in world.ports.iter().enumerate() {
            let class = network.class[slot].index();
            for (channel, of) in port.channels.iter().enumerate() {
                stock.peak_bytes[class] = stock.peak_bytes[class].max(of.peak);
                stock.buffers_wrong += u64::from(of.occupied != held[slot][channel]);
            }
        }
        for (node, nic) in world.nics.iter().enumerate() {
            // Packets that are cut but not sent are assigned to the NIC's link without taking its room.
            let unsent = nic.list.len() as u64 + generating[node];
            stock.peak_of_nics = stock.peak_of_nics.max(nic.peak);
            let taken = nic.occupied + unsent * world.packet_bytes;
            stock.buffers_wrong += u64::from(taken != held[world.ports.len() + node][0]);
        }
        stock
    }

    /// The inconsistencies, if there are any.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let found = self.packets_delivered + self.packets_uncut + self.packets_under_way;
        (found != self.packets_issued || self.buffers_wrong > 0)
            .then(|| format!("{found} packets are accounted for: {self:?}"))
    }
}
