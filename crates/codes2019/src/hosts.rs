//! The events of nodes: messages are issued, cut into packets, sent and received.

use odonata_sim::engine::random::{Stream, packet_key, random};
use odonata_sim::spec::{NicOrder, Pattern};
use odonata_topology::NodeId;

use crate::calendar::Event;
use crate::message::Message;
use crate::nic::Unsent;
use crate::noise::LOOKAHEAD;
use crate::route::RoutedPacket;
use crate::world::{Packet, World};

impl World<'_> {
    /// The interval of a rank begins: its messages start towards the NIC, each with its own delay, so they may overtake
    /// each other by less than a nanosecond.
    pub(crate) fn issue(&mut self, t: u64, index: usize) {
        let sender = &mut self.senders[index];
        let job = &self.spec.jobs[sender.job];
        let (number, node, interval) = (sender.job, sender.node as usize, sender.interval);
        let mut ranks = std::mem::take(&mut self.destinations);
        self.traffic[number].destinations.list(sender.node, sender.rank, job.nodes.len() as u32, interval, &mut ranks);
        sender.interval += 1;
        sender.began = t;
        sender.under_way = ranks.len() as u64;
        self.open[number].0 += ranks.len() as u64;
        if job.traffic().intervals == Some(u64::from(interval) + 1) {
            self.open[number].1 -= 1;
        } else if !matches!(job.traffic().pattern, Pattern::Broadcast { .. }) {
            self.next_interval(t, index);
        }
        for &destination in &ranks {
            let nic = &mut self.nics[node];
            self.calendar.add(t + nic.noise.step(), Event::Sequence { message: self.messages.len() as u32 });
            self.messages.push(Message {
                job: number,
                sender: index,
                interval,
                destination,
                to: NodeId(job.nodes[destination as usize]),
                bytes: job.traffic().message_bytes,
                key: random(self.spec.seed, Stream::Message, node as u64, nic.issued),
                issued: t,
                delivered: None,
                packets_delivered: 0,
            });
            nic.issued += 1;
            self.tally.issue(number, t);
        }
        self.destinations = ranks;
    }

    /// Schedules the next interval of a rank, but not before `t`.
    fn next_interval(&mut self, t: u64, index: usize) {
        let sender = &mut self.senders[index];
        let begin = sender.next(&self.traffic[sender.job], t);
        self.calendar.add(begin, Event::Issue { sender: index as u32 });
    }

    fn node_of(&self, message: u32) -> usize {
        self.senders[self.messages[message as usize].sender].node as usize
    }

    /// Messages pass the sequencer one at a time, with the overhead of a message between them.
    pub(crate) fn sequence(&mut self, t: u64, message: u32) {
        let node = self.node_of(message);
        let nic = &mut self.nics[node];
        nic.sequenced_at = nic.sequenced_at.max(t) + self.spec.fabric.nic.overhead_ps + nic.noise.step();
        self.calendar.add(nic.sequenced_at, Event::Schedule { message });
    }

    /// A message enters the scheduler, and wakes it.
    pub(crate) fn schedule(&mut self, t: u64, message: u32) {
        let node = self.node_of(message);
        self.nics[node].queue.push_back(Unsent { message, next: 0 });
        if !self.nics[node].scheduling {
            self.next_packet(t, node);
        }
    }

    /// The scheduler cuts the next packet from a message, or becomes idle.
    pub(crate) fn next_packet(&mut self, t: u64, node: usize) {
        let Some(mut unsent) = self.nics[node].queue.pop_front() else {
            self.nics[node].scheduling = false;
            return;
        };
        let origin = self.group_of(node as u32);
        let message = &self.messages[unsent.message as usize];
        let packet = Packet {
            message: unsent.message,
            bytes: message.bytes_of(u64::from(unsent.next), self.packet_bytes),
            routed: RoutedPacket {
                key: packet_key(message.key, u64::from(unsent.next)),
                origin,
                destination: message.to,
                hop: 0,
                channel: 0,
                minimal: true,
            },
            holds: ((self.ports.len() + node) as u32, 0),
            next: 0,
        };
        unsent.next += 1;
        let more = u64::from(unsent.next) < message.packets(self.packet_bytes);
        let nic = &mut self.nics[node];
        match self.spec.fabric.nic.order {
            NicOrder::Fcfs if more => nic.queue.push_front(unsent),
            NicOrder::RoundRobin if more => nic.queue.push_back(unsent),
            NicOrder::Fcfs | NicOrder::RoundRobin => {}
        }
        nic.scheduling = true;
        let at = t + nic.noise.step();
        let packet = match self.unused.pop() {
            Some(place) => {
                self.packets[place as usize] = packet;
                place
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        };
        self.calendar.add(at, Event::Generate { packet });
    }

    /// A packet joins its NIC's list. While the list is short, the scheduler is asked for the next packet when this one
    /// could have been sent; once the list is full, when the next packet has been sent.
    pub(crate) fn generate(&mut self, t: u64, packet: u32) {
        let of = self.packets[packet as usize];
        let node = of.holds.0 as usize - self.ports.len();
        let nic = &mut self.nics[node];
        nic.list.push_back(packet);
        if nic.list.len() as u64 * self.packet_bytes < nic.link.buffer_bytes {
            let wait = LOOKAHEAD + nic.link.bandwidth.serialisation_ps(of.bytes) + nic.noise.tie();
            self.calendar.add(t + wait, Event::Idle { node: node as u32 });
        } else {
            nic.full = true;
        }
        self.wake(t, node);
    }

    /// The NIC sends if it has something and is not sending.
    fn wake(&mut self, t: u64, node: usize) {
        let nic = &mut self.nics[node];
        let may = !self.without.nic_without_credits || nic.has_room(self.packet_bytes);
        if !nic.sending && !nic.list.is_empty() && may {
            nic.sending = true;
            self.calendar.add(t + nic.noise.step(), Event::Inject { node: node as u32 });
        }
        nic.flow.watch(t, !nic.sending && !nic.list.is_empty());
    }

    /// The NIC sends the next packet of its list, whether or not the leaf has room: it reads credits only to decide
    /// whether to continue. A NIC that has stopped for lack of room is woken by the next packet that is generated, and
    /// sends one packet. So it keeps up its bandwidth, and the packets pile up at the leaf. This is a defect, and the
    /// published numbers contain it: a NIC that obeys its credits (`nic-without-credits` repaired) gives K31 at 0.5 us
    /// 46.6 us instead of 27.0 (published 26.93), and K36 a slowdown of 2.1 instead of 3.3 (published 3.16).
    pub(crate) fn inject(&mut self, t: u64, node: usize) {
        let nic = &mut self.nics[node];
        let packet = nic.list.pop_front().expect("only a NIC with a packet in its list is told to send");
        let bytes = self.packets[packet as usize].bytes;
        nic.flow.sent(bytes);
        let took = LOOKAHEAD + nic.link.bandwidth.serialisation_ps(bytes) + nic.noise.tie();
        nic.free_at = nic.free_at.max(t) + took;
        self.calendar.add(nic.free_at, Event::Arrive { packet });
        nic.occupied += self.packet_bytes;
        nic.peak = nic.peak.max(nic.occupied);
        if nic.full {
            nic.full = false;
            self.calendar.add(nic.free_at + nic.noise.tie(), Event::Idle { node: node as u32 });
        }
        nic.sending = !nic.list.is_empty() && nic.has_room(self.packet_bytes);
        if nic.sending {
            self.calendar.add(nic.free_at + nic.noise.tie(), Event::Inject { node: node as u32 });
        }
        nic.flow.watch(t, !nic.sending && !nic.list.is_empty());
    }

    /// Room for one packet returns to a NIC.
    pub(crate) fn credit_nic(&mut self, t: u64, node: usize) {
        self.nics[node].occupied -= self.packet_bytes;
        self.wake(t, node);
    }

    /// The tail of a packet arrives at its node: its credit returns at once. This may complete its message, an interval
    /// of a broadcast, a job and the run.
    pub(crate) fn eject(&mut self, t: u64, index: u32) {
        let packet = self.packets[index as usize];
        self.give_back(t, packet.holds);
        self.unused.push(index);
        let number = packet.message as usize;
        let RoutedPacket { destination: node, hop, minimal, .. } = packet.routed;
        self.tally.deliver(self.messages[number].job, packet.bytes, hop, minimal, t);
        let message = &mut self.messages[number];
        message.packets_delivered += 1;
        if message.packets_delivered < message.packets(self.packet_bytes) {
            return;
        }
        let done = t + LOOKAHEAD + self.nics[node.index()].noise.tie();
        message.delivered = Some(done);
        let (job, sender) = (message.job, message.sender);
        self.open[job].0 -= 1;
        if matches!(self.spec.jobs[job].traffic().pattern, Pattern::Broadcast { .. }) {
            let of = &mut self.senders[sender];
            of.under_way -= 1;
            if of.under_way == 0 && self.spec.jobs[job].traffic().intervals != Some(u64::from(of.interval)) {
                self.next_interval(done, sender);
            }
        }
        let awaited = &self.spec.stop.jobs;
        if awaited.contains(&(job as u32)) {
            self.delivered += 1;
            if awaited.iter().all(|&j| self.open[j as usize] == (0, 0)) {
                self.end = Some(self.end.map_or(done, |end| end.min(done)));
            }
        }
    }
}
