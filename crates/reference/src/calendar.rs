//! The one global event queue (model, section 5).

use std::collections::BTreeMap;

use odonata_topology::NodeId;

use crate::packet::Packet;
use crate::program::{RankEvent, RankId};

/// Something that happens at an instant.
#[derive(Debug)]
pub(crate) enum Event {
    /// The tail of the packet that a link is sending leaves the sender.
    SendEnd {
        /// The link.
        link: usize,
    },
    /// The tail of a packet has reached its node.
    Delivery {
        /// The packet.
        packet: Packet,
    },
    /// A NIC acts because a pause has ended.
    Look {
        /// The NIC.
        nic: NodeId,
    },
    /// A NIC may give the next credit to a sender.
    Credits {
        /// The NIC.
        nic: NodeId,
    },
    /// Room in the buffer behind a link returns to its sender.
    Credit {
        /// The link.
        link: usize,
        /// The virtual channel.
        channel: usize,
        /// Bytes of room.
        bytes: u64,
    },
    /// The next interval of a rank begins.
    Issue {
        /// Link of the first NIC of its node, which orders events of one instant.
        nic: usize,
        /// Index of the sender in the traffic.
        sender: usize,
    },
    /// An event of a rank of a program happens.
    Rank {
        /// Link of the first NIC of its node, which orders events of one instant.
        nic: usize,
        /// The rank.
        who: RankId,
        /// The event.
        event: RankEvent,
    },
    /// A router with a crossbar grants what it can.
    Arbitration {
        /// Slot of a port of the router.
        slot: usize,
    },
    /// A packet gets its output port.
    Decision {
        /// Slot of the input port.
        slot: usize,
        /// The packet.
        packet: Packet,
    },
}

impl Event {
    /// Order of the events of one instant: ends of transmissions and deliveries first, because they were decided
    /// earlier; then credits by port and channel, intervals and rank events by node, decisions by input port, and
    /// arbitrations. In a run in which routings read other routers' loads, all of these go router by router. The rank
    /// events of a node are in order of rank and kind.
    fn order(&self, router_of: &[usize]) -> Order {
        let at = |link: usize| router_of.get(link).copied().unwrap_or(0);
        match self {
            Event::SendEnd { link } => (0, 0, 0, *link, 0, None),
            Event::Delivery { packet } => (0, 0, 1, packet.destination.index(), 0, None),
            Event::Credits { nic } => (0, 0, 3, nic.index(), 0, None),
            Event::Look { nic } => (0, 0, 2, nic.index(), 0, None),
            Event::Credit { link, channel, .. } => (1, at(*link), 0, *link, *channel, None),
            Event::Issue { nic, .. } => (1, at(*nic), 1, *nic, 0, None),
            Event::Rank { nic, who, event } => (1, at(*nic), 1, *nic, 0, Some((who.rank, *event))),
            Event::Decision { slot, packet } => (1, at(*slot), 2, *slot, usize::from(packet.response), None),
            Event::Arbitration { slot } => (1, at(*slot), 3, *slot, 0, None),
        }
    }
}

/// Order of events of one instant: decided earlier or now, router, kind, place, channel, rank and rank event.
type Order = (u8, usize, u8, usize, usize, Option<(u32, RankEvent)>);

/// All pending events by time, order and number.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    events: BTreeMap<(u64, Order, u64), Event>,
    added: u64,
    /// Router of each link's sender, if events go router by router.
    router_of: Vec<usize>,
}

impl Calendar {
    /// An empty event queue in which the events of one instant go router by router.
    pub(crate) fn by_router(router_of: Vec<usize>) -> Self {
        Self { router_of, ..Self::default() }
    }

    /// Adds an event at time `t`. Only credits of one link and channel can tie, and their order does not matter.
    pub(crate) fn add(&mut self, t: u64, event: Event) {
        self.events.insert((t, event.order(&self.router_of), self.added), event);
        self.added += 1;
    }

    /// When the next event happens.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.events.first_key_value().map(|(key, _)| key.0)
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        self.events.pop_first().map(|(key, event)| (key.0, event))
    }

    /// All events that are still to come.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.values()
    }
}
