//! A NIC: messages in order, cut into packets one at a time (model, sections 2 and 3).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use odonata_sim::engine::random::packet_key;
use odonata_sim::output::NicCounters;
use odonata_sim::spec::{FabricSpec, NicOrder};
use odonata_topology::NodeId;

use crate::aries;
use crate::congestion::Pair;
use crate::credits::Turns;
use crate::packet::{DirectState, Message, Packet, ValiantState};

/// A message, or a part of a striped message, that is not completely sent.
#[derive(Debug)]
pub(crate) struct Unsent {
    /// Index of the message.
    pub(crate) message: usize,
    /// Its packets here.
    pub(crate) packets: Range<u64>,
    /// The next of them.
    pub(crate) next: u64,
    /// The NIC (endpoint) that they go to.
    pub(crate) to: NodeId,
}

impl Unsent {
    /// The packets of a message, which go to a NIC.
    pub(crate) fn new(message: usize, packets: Range<u64>, to: NodeId) -> Self {
        Self { message, next: packets.start, packets, to }
    }

    /// Payload of the packets that are not sent.
    pub(crate) fn bytes(&self, messages: &[Message], packet_bytes: u64) -> u64 {
        (self.next..self.packets.end).map(|k| messages[self.message].bytes_of(k, packet_bytes)).sum()
    }
}

/// One NIC of a node.
#[derive(Debug, Default)]
pub(crate) struct Nic {
    /// Messages in the order in which they are sent.
    pub(crate) queue: VecDeque<Unsent>,
    /// Responses to be sent.
    pub(crate) responses: VecDeque<Packet>,
    /// By sender: when the tail of the latest packet left that has come, and whether it announced more.
    pub(crate) latest: BTreeMap<usize, (u64, bool)>,
    /// By sender: packets that have come and wait for an acknowledgement, if one may stand for several.
    pub(crate) unacknowledged: BTreeMap<usize, Vec<Packet>>,
    /// By sender: when the tail of the latest packet left that has come and asked for an acknowledgement.
    pub(crate) asked: BTreeMap<usize, u64>,
    /// Whose turn it is to be answered, if receivers give credits.
    pub(crate) turns: Turns,
    /// Aries packets without a response.
    pub(crate) outstanding: u64,
    /// The most that were at one time.
    pub(crate) most_outstanding: u64,
    /// What it knows of destinations, if the NIC has windows towards them.
    pub(crate) pairs: BTreeMap<usize, Pair>,
    /// When it acts next because a pause ends.
    pub(crate) looks_at: Option<u64>,
    /// The most that it was for one destination.
    pub(crate) most_in_flight: u64,
    /// When the link could have sent a packet, while windows hold back all messages.
    pub(crate) window_since: Option<u64>,
    /// When the link could have sent the packet at the head, which waits for room.
    pub(crate) room_since: Option<u64>,
    /// What it has counted.
    pub(crate) counters: NicCounters,
    /// What it has counted when, if policies select modes.
    pub(crate) history: Vec<(u64, odonata_decision::Counters)>,
}

impl Nic {
    /// Bytes of its messages that were not yet granted the injection link.
    pub(crate) fn unsent(&self, messages: &[Message], packet_bytes: u64) -> u64 {
        self.queue.iter().map(|unsent| unsent.bytes(messages, packet_bytes)).sum()
    }

    /// The next packet of the message at a place in the queue, and whether it is the first that this NIC sends of it.
    pub(crate) fn packet(
        &self,
        from: NodeId,
        place: usize,
        messages: &[Message],
        fabric: &FabricSpec,
    ) -> Option<(Packet, bool)> {
        let unsent = self.queue.get(place)?;
        let message = &messages[unsent.message];
        let bytes = message.bytes_of(unsent.next, u64::from(fabric.packet_bytes));
        let packet = Packet {
            message: unsent.message,
            request: None,
            response: false,
            marked: false,
            named: None,
            more: false,
            stands_for: Vec::new(),
            says: 0,
            bytes,
            wire: aries::wire(fabric, bytes, false, message.get),
            head: 0,
            tail: 0,
            decided: message.joined,
            joined: 0,
            passage: None,
            latest: None,
            key: message.shared_key.unwrap_or(packet_key(message.key, unsent.next)),
            from,
            number: 0,
            destination: unsent.to,
            stands_in: None,
            hop: 0,
            minimal: true,
            valiant: ValiantState::default(),
            direct: DirectState::default(),
            through: None,
            memory: None,
            picked: 0,
        };
        Some((packet, unsent.next == unsent.packets.start))
    }

    /// The next packet of the message at a place was granted the injection link: moves on to the next one.
    pub(crate) fn advance(&mut self, place: usize, order: NicOrder) {
        let Some(mut unsent) = self.queue.remove(place) else { return };
        unsent.next += 1;
        if unsent.next < unsent.packets.end {
            match order {
                NicOrder::Fcfs => self.queue.insert(place, unsent),
                NicOrder::RoundRobin => self.queue.push_back(unsent),
            }
        }
    }
}
