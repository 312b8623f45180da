//! Streams: the packets with payload that come to a NIC, beside those that left before them (model, section 9,
//! "Reordering").

use std::collections::BTreeMap;

use odonata_sim::output::Reordering;
use odonata_sim::spec::Delivery;
use odonata_topology::NodeId;

use crate::packet::Packet;
use crate::world::World;

/// A stream: the NIC from which its payload comes, the NIC to which it comes, and whether its messages are gets.
type Stream = (usize, usize, bool);

/// All that has left and come.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Packets numbered so far.
    numbered: BTreeMap<Stream, u64>,
    /// Packets that have come, in order: their numbers and their payload.
    come: BTreeMap<Stream, Vec<(u64, u64)>>,
    /// By stream: the number of the packet that is given to the node next, and those that wait for it.
    next: BTreeMap<Stream, u64>,
    waiting: BTreeMap<Stream, BTreeMap<u64, Packet>>,
    /// By receiver: the most payload that waited for earlier packets.
    most_waiting: BTreeMap<usize, u64>,
}

impl Streams {
    /// All packets that wait for earlier ones.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.values().flat_map(BTreeMap::values)
    }
}

impl World<'_> {
    /// A packet has come to its NIC. Returns the packets that are given to the node now.
    pub(crate) fn given(&mut self, packet: &Packet) -> Vec<Packet> {
        let carries = self.carries(packet);
        if carries {
            self.note_order(packet);
        }
        if !carries || self.spec.fabric.nic.delivery == Delivery::OnArrival {
            return vec![packet.clone()];
        }
        let stream = self.stream_of(packet);
        let next = self.streams.next.entry(stream).or_default();
        let waiting = self.streams.waiting.entry(stream).or_default();
        waiting.insert(packet.number, packet.clone());
        let mut given = Vec::new();
        while let Some(packet) = waiting.remove(next) {
            *next += 1;
            given.push(packet);
        }
        given
    }

    /// The stream of a packet between the NIC that sends its requests and another one.
    fn stream(&self, message: usize, [sends, answers]: [NodeId; 2]) -> Stream {
        let get = self.messages[message].get;
        let [from, to] = if get { [answers, sends] } else { [sends, answers] };
        (from.index(), to.index(), get)
    }

    /// The number of a packet that leaves a NIC now; 0 if nobody asks.
    pub(crate) fn number(&mut self, nic: NodeId, packet: &Packet) -> u64 {
        if !self.spec.numbers_packets() {
            return 0;
        }
        let stream = self.stream(packet.message, [nic, packet.destination]);
        let next = self.streams.numbered.entry(stream).or_default();
        *next += 1;
        *next - 1
    }

    /// The stream of a packet with payload that has come to a NIC.
    fn stream_of(&self, packet: &Packet) -> Stream {
        let get = self.messages[packet.message].get;
        (packet.from.index(), packet.destination.index(), get)
    }

    /// A packet with payload has come to its NIC.
    fn note_order(&mut self, packet: &Packet) {
        if !self.spec.numbers_packets() {
            return;
        }
        let stream = self.stream_of(packet);
        self.streams.come.entry(stream).or_default().push((packet.number, packet.bytes));
        let here = self.streams.come.iter().filter(|((_, to, _), _)| *to == stream.1);
        let waiting: u64 = here.map(|(_, packets)| waiting(packets)).sum();
        let most = self.streams.most_waiting.entry(stream.1).or_default();
        *most = waiting.max(*most);
    }

    /// The reordering of the packets that have come to the nodes of a job.
    pub(crate) fn reordering(&self, job: usize) -> Reordering {
        let rails = self.map.network.rails as usize;
        let of_job = |nic: usize| self.spec.jobs[job].nodes.contains(&((nic / rails) as u32));
        let mut reordering = Reordering::default();
        if !self.spec.measure.reordering {
            return reordering;
        }
        for (_, packets) in self.streams.come.iter().filter(|((_, to, _), _)| of_job(*to)) {
            for (i, (number, _)) in packets.iter().enumerate() {
                reordering.arrived += 1;
                let Some(j) = packets[..i].iter().position(|(earlier, _)| earlier > number) else { continue };
                let extent = (i - j) as u64;
                reordering.reordered += 1;
                reordering.extents += extent;
                reordering.most_extent = reordering.most_extent.max(extent);
            }
        }
        let most = self.streams.most_waiting.iter().filter(|(nic, _)| of_job(**nic)).map(|(_, most)| *most);
        reordering.buffer_bytes = most.max().unwrap_or(0);
        reordering
    }
}

/// Payload of the packets that have come although an earlier one has not.
fn waiting(packets: &[(u64, u64)]) -> u64 {
    let mut numbers: Vec<u64> = packets.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    let in_order = numbers.iter().zip(0..).take_while(|(number, place)| *number == place).count() as u64;
    packets.iter().filter(|(number, _)| *number >= in_order).map(|(_, bytes)| bytes).sum()
}
