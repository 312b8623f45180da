//! Streams: the packets with payload between two NICs, numbered as they leave; which of them come after later ones, and
//! how far (docs/model.md, section 9, "Reordering").

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::endpoint::Answers;
use crate::engine::random::Mixer;
use crate::fabric::packet::Event;
use crate::output::Reordering;
use crate::spec::{Delivery, Spec};

/// What is known of a packet under way beside what it carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ticket {
    /// Its number in its stream.
    number: u64,
    /// The NIC from which its payload comes.
    from: u32,
    /// Slot of its message.
    pub message: u32,
}

/// The packets of a stream that have come, at the NIC to which they come.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// All packets with lower numbers have come, and this one has not.
    next: u64,
    /// What has come after it; absent if nothing has.
    ahead: Option<Box<Ahead>>,
}

/// The packets of a stream that have come although an earlier one has not.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// By number, from that after the missing one on.
    packets: VecDeque<Option<Event>>,
    /// How many there are.
    count: u64,
    /// Those that came when no later one had: their numbers and places in the order of arrival, ascending.
    leaders: VecDeque<(u64, u64)>,
}

impl Stream {
    /// A packet comes. Adds to `in_order` the packets before which none is missing any more, and returns the packets of
    /// the stream that came from the first later one on, if there is one.
    fn come(&mut self, number: u64, packet: &Event, in_order: &mut Vec<Event>) -> Option<u64> {
        let Some(ahead) = &mut self.ahead else {
            if number == self.next {
                self.next += 1;
                in_order.push(*packet);
                return None;
            }
            let mut ahead = Box::<Ahead>::default();
            ahead.put(self.next, number, packet);
            ahead.leaders.push_back((number, self.next));
            self.ahead = Some(ahead);
            return None;
        };
        let place = self.next + ahead.count;
        let later = ahead.leaders.partition_point(|&(leader, _)| leader < number);
        let extent = ahead.leaders.get(later).map(|&(_, leader)| place - leader);
        if number > self.next {
            if extent.is_none() {
                ahead.leaders.push_back((number, place));
            }
            ahead.put(self.next, number, packet);
            return extent;
        }
        in_order.push(*packet);
        self.next += 1;
        while let Some(Some(packet)) = ahead.packets.pop_front() {
            in_order.push(packet);
            ahead.count -= 1;
            self.next += 1;
        }
        ahead.leaders.drain(..ahead.leaders.partition_point(|&(leader, _)| leader < self.next));
        if ahead.count == 0 {
            self.ahead = None;
        }
        extent
    }
}

impl Ahead {
    /// Keeps a packet that comes while that with the number `missing` is missing.
    fn put(&mut self, missing: u64, number: u64, packet: &Event) {
        let position = (number - missing) as usize - 1;
        if position >= self.packets.len() {
            self.packets.resize(position + 1, None);
        }
        self.packets[position] = Some(*packet);
        self.count += 1;
    }
}

/// A NIC to which packets come.
#[derive(Clone, Debug, Default)]
struct Receiver {
    /// By [`key`] with the NIC from which the payload comes. The map is only accessed by key, so its order does not
    /// matter.
    streams: HashMap<u64, Stream, BuildHasherDefault<Mixer>>,
    /// Payload that has come and waits for earlier packets.
    waiting: u64,
    /// Requests that are given to the node when it is known, in order.
    requests: VecDeque<Event>,
}

/// The stream of puts or gets with another NIC.
fn key(other: u32, get: bool) -> u64 {
    u64::from(other) << 1 | u64::from(get)
}

/// All streams of a run, or of a partition.
pub struct Streams {
    /// Whether packets wait for earlier ones.
    pub holds_back: bool,
    /// Whether those that come after later ones are counted.
    measured: bool,
    /// By the slot that a packet carries. A packet between two partitions is known to both, in the same slot.
    tickets: Vec<Ticket>,
    /// Slots that no packet carries, if packets are not answered: those of packets that have come here. (The partition
    /// to which a packet comes may give its slot to another one.)
    free: Vec<u32>,
    /// The slot to be given out if none is free.
    next: u32,
    /// Number of partitions.
    partitions: u32,
    /// By NIC that sends requests, then by [`key`]: the packets sent. (Only accessed by key.)
    sent: Vec<HashMap<u64, u64, BuildHasherDefault<Mixer>>>,
    /// By NIC.
    receivers: Vec<Receiver>,
    /// Packets that have just come in order, kept to avoid allocations.
    pub in_order: Vec<Event>,
}

impl Streams {
    /// The streams of so many NICs, if the specification needs them.
    #[must_use]
    pub fn new(spec: &Spec, nics: usize) -> Option<Box<Self>> {
        spec.numbers_packets().then(|| {
            Box::new(Self {
                holds_back: spec.fabric.nic.delivery == Delivery::InOrder,
                measured: spec.measure.reordering,
                tickets: Vec::new(),
                free: Vec::new(),
                next: 0,
                partitions: 1,
                sent: vec![HashMap::default(); nics],
                receivers: vec![Receiver::default(); nics],
                in_order: Vec::new(),
            })
        })
    }

    /// The same in one of several partitions.
    pub fn in_partition(&mut self, partition: u32, partitions: u32) {
        (self.next, self.partitions) = (partition, partitions);
    }

    /// A NIC sends a packet of a message to another one, and `slot` is what it carries, if that is known. Returns the
    /// slot, and the ticket.
    pub fn send(&mut self, [nic, to]: [u32; 2], message: u32, slot: Option<u32>) -> (u32, Ticket) {
        let get = slot.is_some_and(Answers::is_get);
        let number = self.sent[nic as usize].entry(key(to, get)).or_default();
        let ticket = Ticket { number: *number, from: if get { to } else { nic }, message };
        *number += 1;
        let slot = slot.unwrap_or_else(|| {
            self.free.pop().unwrap_or_else(|| {
                let next = self.next;
                self.next += self.partitions;
                next
            })
        });
        self.put(slot, ticket);
        (slot, ticket)
    }

    /// Puts a ticket in a slot.
    pub fn put(&mut self, slot: u32, ticket: Ticket) {
        let slot = Answers::slot_of(slot);
        if slot >= self.tickets.len() {
            self.tickets.resize(slot + 1, Ticket::default());
        }
        self.tickets[slot] = ticket;
    }

    /// The message of a packet that is not answered.
    #[must_use]
    pub fn message(&self, packet: &Event) -> u32 {
        self.tickets[packet.message as usize].message
    }

    /// A packet that is not answered has been taken by its node: nobody carries its slot any more.
    pub fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// A packet with payload comes to a NIC. Counts it, and puts the packets before which none is missing any more into
    /// [`in_order`](Self::in_order).
    pub fn come(&mut self, nic: u32, packet: &Event, counts: &mut Reordering) {
        let ticket = self.tickets[Answers::slot_of(packet.message)];
        let of = &mut self.receivers[nic as usize];
        let get = Answers::is_get(packet.message);
        self.in_order.clear();
        let stream = of.streams.entry(key(ticket.from, get)).or_default();
        let extent = stream.come(ticket.number, packet, &mut self.in_order);
        of.waiting += u64::from(packet.bytes());
        of.waiting -= self.in_order.iter().map(|packet| u64::from(packet.bytes())).sum::<u64>();
        if !self.measured {
            return;
        }
        counts.arrived += 1;
        if let Some(extent) = extent {
            counts.reordered += 1;
            counts.extents += extent;
            counts.most_extent = counts.most_extent.max(extent);
        }
        counts.buffer_bytes = counts.buffer_bytes.max(of.waiting);
    }

    /// A request comes in order to a NIC that answers it. (Several may come at one instant, and events of one instant
    /// at one NIC have no order.)
    pub fn push_request(&mut self, nic: u32, request: Event) {
        self.receivers[nic as usize].requests.push_back(request);
    }

    /// The next request that a NIC answers.
    pub fn next_request(&mut self, nic: u32) -> Option<Event> {
        self.receivers[nic as usize].requests.pop_front()
    }

    /// Packets that have come and wait for earlier ones, if they do.
    pub fn held(&self) -> impl Iterator<Item = &Event> {
        let streams = self.receivers.iter().filter(|_| self.holds_back).flat_map(|of| of.streams.values());
        streams.flat_map(|stream| &stream.ahead).flat_map(|ahead| ahead.packets.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extents of packets that come in this order, with which packets come in order after each.
    fn come(numbers: &[u64]) -> Vec<(Option<u64>, Vec<u32>)> {
        let mut stream = Stream::default();
        let mut next = |&number: &u64| {
            let mut in_order = Vec::new();
            let extent = stream.come(number, &Event::packet(0, 0, number as u32, 0, 1), &mut in_order);
            (extent, in_order.iter().map(|packet| packet.message).collect())
        };
        numbers.iter().map(&mut next).collect()
    }

    #[test]
    fn packets_in_order_have_no_extent() {
        assert_eq!(come(&[0, 1, 2]), [(None, vec![0]), (None, vec![1]), (None, vec![2])]);
    }

    #[test]
    fn extents_count_from_the_first_packet_with_a_higher_number() {
        let came = come(&[0, 1, 2, 6, 7, 8, 9, 3, 4, 5, 10]);
        let extents: Vec<Option<u64>> = came.iter().map(|(extent, _)| *extent).collect();
        assert_eq!(extents[..7], [None; 7]);
        assert_eq!(extents[7..], [Some(4), Some(5), Some(6), None], "from the first later packet on");
        let in_order: Vec<&[u32]> = came.iter().map(|(_, packets)| &**packets).collect();
        assert_eq!(in_order[3..9], [&[][..], &[], &[], &[], &[3], &[4]]);
        assert_eq!(in_order[9..], [&[5, 6, 7, 8, 9][..], &[10]], "all that waited for it");
    }

    #[test]
    fn a_packet_may_come_in_order_behind_a_gap_and_late_inside_one() {
        // 4 is late behind 6, and 1 behind 3: the extent counts from the first packet with a higher number.
        let came = come(&[0, 3, 6, 4, 1, 7, 2, 5]);
        let extents: Vec<Option<u64>> = came.iter().map(|(extent, _)| *extent).collect();
        assert_eq!(extents, [None, None, None, Some(1), Some(3), None, Some(5), Some(5)]);
        assert_eq!(came[6].1, [2, 3, 4]);
        assert_eq!(came[7].1, [5, 6, 7]);
    }
}
