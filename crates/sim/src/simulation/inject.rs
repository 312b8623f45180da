//! The events of nodes: messages are issued, cut into packets, and delivered (docs/model.md, sections 2, 3, 7).

use odonata_error::ErrorKind;

use super::Simulation;
use super::programs::packet_leaves;
use crate::engine::random::{Stream, below, mix64, packet_key, random};
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::packet::{Event, EventKind, NicNews};
use crate::fabric::{Exchange, Flight, HopTiming, ModeRequest, NO_SENDER, Nic, Waiting};
use crate::routing::{PathGranularity, RoutingAlgorithm};
use crate::spec::{NicOrder, Rail};
use odonata_topology::ClassId;

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// A node issues the messages of an interval.
    #[inline(never)]
    pub(super) fn issue(&mut self, router: u32, port: u16, node: u32, k: u32, now: u64) {
        if now >= LAST_TIME {
            self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
            self.end = 0;
            return;
        }
        if self.programs.as_ref().is_some_and(|programs| programs.is_host(node)) {
            self.run_programs(router, port, node, now);
            return;
        }
        let (job_index, rank) = self.jobs.owner(node);
        let job = &mut self.jobs.list[usize::from(job_index)];
        let measured = now >= self.spec.measure.from_ps && self.spec.measure.until_ps.is_none_or(|until| now < until);
        let sender = Sender { job: job_index, rank, node, interval: k, measured, now };
        let (mut head, mut issued) = (None, 1);
        if let Some(to) = job.destinations.only(node, rank, job.ranks, k) {
            head = self.issue_message(&sender, 0, to);
        } else {
            let mut list = std::mem::take(&mut self.destinations);
            job.destinations.list(node, rank, job.ranks, k, &mut list);
            for (position, &to) in list.iter().enumerate() {
                let first = self.issue_message(&sender, position as u32, to);
                head = head.or(first);
            }
            issued = list.len() as u64;
            self.destinations = list;
        }
        let job = &mut self.jobs.list[usize::from(job_index)];
        job.totals.issued += issued;
        job.totals.measured_issued += if measured { issued } else { 0 };
        job.totals.intervals += 1;
        job.slices.issue(issued, now);
        let first_issue = job.totals.first_issue_ps.get_or_insert(now);
        *first_issue = now.min(*first_issue);
        job.outstanding = issued as u32;
        if let Some(rows) = job.rows.refused() {
            self.failure.get_or_insert(ErrorKind::OutOfMemory { rows }.into());
            self.end = 0;
        }
        if k + 1 < job.intervals {
            let next = now + job.clock.gap(node, k + 1);
            if job.waits_for_delivery {
                job.next_issue = next;
                job.next_interval = k + 1;
            } else {
                self.queue.push(router, Event::issue(next, port, node, k + 1));
            }
        }
        let rails = self.wiring.rails;
        let first = node * rails;
        if let Some(head) = head {
            self.pump(first, now, head);
        }
        if rails > 1 {
            for nic in first..first + rails {
                if !self.nics[nic as usize].waits {
                    self.pump_next(nic, now);
                }
            }
        }
    }

    /// Issues a message to the rank `to`. Returns it if its NIC may send it at once; else it joins the queue of its NIC.
    #[inline(always)]
    fn issue_message(&mut self, sender: &Sender, position: u32, to: u32) -> Option<Waiting> {
        let Sender { job: job_index, rank, node, interval, measured, now } = *sender;
        let job = &mut self.jobs.list[usize::from(job_index)];
        let rails = self.wiring.rails;
        let first = node * rails;
        let row = job.rows.issue(interval, job.sender_of(rank), position, now);
        let flight = Flight { issue: now, packets_left: job.packets, row, job: job_index, measured };
        let nic = &mut self.nics[first as usize];
        let key = self.messages.random(u64::from(node), nic.issued);
        nic.issued += 1;
        let (message, to) = (self.flights.add(flight), job.nodes[to as usize]);
        let mut routing = job.routings[0];
        if R::RESPONSES {
            let get = self.spec.fabric.gets();
            let mut exchange = Exchange::new(job.packets, now, row, job_index, NO_SENDER, get);
            let (bytes, iteration) = (job.message_bytes, interval);
            let request = ModeRequest { rank, iteration, bytes, get, alltoall: false, carries: true, now };
            routing = job.select_mode(&mut self.policies, &request, &mut exchange);
            self.aries.issue(message, exchange);
        }
        let mut waiting = Waiting::new(job.message_bytes, key, message, to, routing);
        let (mut rail, mut head) = (0, None);
        if rails > 1 {
            let nics = &mut self.nics[first as usize..(first + rails) as usize];
            rail = choose_rail(self.spec.fabric.nic.rail, key, nics, now);
            waiting.set_to(to * rails + rail);
            *nics[rail as usize].unsent_mut() += job.message_bytes;
            nics[rail as usize].push_back(waiting);
        } else if position > 0 || !nic.is_idle() {
            nic.push_back(waiting);
        } else {
            head = Some(waiting);
        }
        if let Some(blame) = &mut self.blame {
            blame.join(message, job_index, first + rail, now);
        }
        if Q::PARTITIONED {
            self.send_message(message, waiting.to(), None);
        }
        head
    }

    /// A credit arrives for the injection link of a NIC.
    #[cold]
    pub(super) fn pump_nic(&mut self, nic: u32, now: u64) {
        let attachment = self.wiring.attachments[nic as usize];
        if self.credits.wakes_at(self.slot(attachment.router, attachment.port) as usize, now) {
            self.pump_next(nic, now);
        } else {
            self.events -= 1; // as in `wake`
        }
    }

    /// Lets a NIC send if it has something queued.
    pub(super) fn pump_next(&mut self, nic: u32, now: u64) {
        if let Some(head) = self.nics[nic as usize].pop_front() {
            self.pump(nic, now, head);
        }
    }

    /// Sends as many packets as there is room for, starting with the message at the head.
    #[inline(never)]
    pub(super) fn pump(&mut self, nic_id: u32, now: u64, mut head: Waiting) {
        assert!((nic_id as usize) < self.nics.len());
        // SAFETY: the line above checks it; there is an attachment for each NIC.
        let attachment = *unsafe { self.wiring.attachments.get_unchecked(nic_id as usize) };
        let vc_index = self.nic_vc(nic_id);
        let buffer = self.slot(attachment.router, attachment.port) as usize; // channel 0
        // SAFETY: the router and port are valid, and the virtual channels of the NICs follow those of the ports.
        let (nic, vc) = unsafe { (self.nics.get_unchecked_mut(nic_id as usize), self.vcs.get_unchecked_mut(vc_index)) };
        let full = self.spec.fabric.packet_bytes;
        let mut granularity = self.routing.granularity(head.routing());
        loop {
            let bytes = head.bytes_left.min(u64::from(full)) as u32;
            // SAFETY: `bytes` is at most `full`, the largest packet.
            let mut times = unsafe { self.packets.get_unchecked(bytes as usize) };
            if R::RESPONSES {
                times = &self.packets[self.aries.request_number(head.message, bytes) as usize];
                let admitted = self.aries.admit(nic_id, bytes, now, nic.free);
                if let Some(blame) = &mut self.blame {
                    blame.window(nic_id, admitted.is_err(), now);
                }
                if let Err(wake) = admitted {
                    if let Some(at) = wake {
                        let here = self.wiring.event_attachment(nic_id);
                        let event = Event::other(EventKind::NicCredit, at, here.port, NicNews::Window as u8, nic_id);
                        self.queue.push(here.router, event);
                    }
                    nic.push_front(head);
                    break;
                }
            }
            let wire = times.wire;
            if vc.room < wire {
                vc.room += self.credits.take(buffer, now);
                if vc.room < wire {
                    if R::RESPONSES {
                        self.aries.get_mut(nic_id).room_since.get_or_insert(now);
                    }
                    if !nic.waits {
                        nic.waits = true;
                        self.logs.get_mut(vc_index).waits_since = now;
                    }
                    if let Some(at) = self.credits.wait(buffer) {
                        let here = self.wiring.event_attachment(nic_id);
                        self.queue.push(here.router, Event::other(EventKind::NicCredit, at, here.port, 0, nic_id));
                    }
                    nic.push_front(head);
                    return;
                }
            }
            let overhead = if head.packet == 0 { self.spec.fabric.nic.overhead_ps } else { 0 };
            let start = nic.free.max(now) + overhead;
            let hop = HopTiming::new(start, times, ClassId::NODE.0);
            if let Some(blame) = &mut self.blame {
                let service = hop.decision - nic.free.max(now);
                blame.inject(nic_id as usize, head.message, buffer, now, nic.free, service);
            }
            if let Some(series) = &mut self.series {
                series.count(self.outs.len() + nic_id as usize, self.flights.job(head.message), wire, start, 0);
            }
            let mut slot = head.message;
            if R::RESPONSES {
                let times = (now, nic.free, hop.end);
                slot = self.aries.request(nic_id, (head.message, bytes), times, self.packets);
                if Q::PARTITIONED {
                    let to = self.wiring.attachments[head.to() as usize].router;
                    self.posts.send_request(&self.queue, to, slot, self.aries.of_slot(slot));
                }
            }
            nic.free = hop.end;
            vc.room -= wire;
            vc.count(wire, &mut self.logs, vc_index);
            // SAFETY: destinations are nodes of the machine.
            let to = *unsafe { self.wiring.attachments.get_unchecked(head.to() as usize) };
            let key = match granularity {
                PathGranularity::Packet => packet_key(head.key, head.packet),
                PathGranularity::Message => packet_key(head.key, 0),
                PathGranularity::Flow => {
                    flow_key(self.spec.seed, nic_id / self.wiring.rails, head.to() / self.wiring.rails)
                }
            };
            let mut packet = Event::packet(hop.decision, attachment.port, slot, key, bytes);
            packet.to = to.address;
            packet.to_port = to.port;
            packet.set_routing(head.routing());
            self.routing.enter(&mut packet, attachment.address);
            self.queue.push(attachment.router, packet);
            if self.wiring.rails > 1 {
                *nic.unsent_mut() -= u64::from(bytes);
            }
            if hop.end >= LAST_TIME {
                self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
                self.end = 0;
                return;
            }
            head.bytes_left -= u64::from(bytes);
            head.packet += 1;
            if let Some(programs) = &mut self.programs {
                let (packet, last) = ((head.message, wire), head.bytes_left == 0 && !R::RESPONSES);
                let (flights, by_class, wiring) = (&self.flights, &mut self.by_class, &self.wiring);
                packet_leaves(programs, flights, by_class, &mut self.queue, wiring, packet, last, hop.end);
            }
            if head.bytes_left > 0 {
                if self.spec.fabric.nic.order == NicOrder::RoundRobin {
                    nic.push_back(head);
                } else {
                    continue;
                }
            }
            match nic.pop_front() {
                Some(next) => {
                    head = next;
                    if R::RESPONSES {
                        granularity = self.routing.granularity(head.routing()); // else a node has one routing
                    }
                }
                None => break,
            }
        }
        if nic.waits {
            nic.waits = false;
            self.credits.stop_waiting(buffer);
            let log = self.logs.get_mut(vc_index);
            log.waited += now - log.waits_since;
        }
    }

    /// A packet reaches a NIC of its node at `at`.
    #[inline(always)]
    pub(super) fn deliver(&mut self, packet: &Event, nic: u32, at: u64) {
        if R::RESPONSES {
            self.reach(packet, nic, at);
        } else {
            let slot = packet.message;
            let flight = if Q::PARTITIONED { self.flights.deliver_and_keep(slot) } else { self.flights.deliver(slot) };
            self.take_in(packet, (slot, flight), nic, at);
        }
    }

    /// A packet with payload of a message, with its slot, reaches a NIC of its node at `at`. (Several partitions and programs
    /// alone read the NIC.)
    #[inline(always)]
    pub(super) fn take_in(&mut self, packet: &Event, (slot, flight): (u32, Flight), nic: u32, at: u64) {
        let job = &mut self.jobs.list[usize::from(flight.job)];
        job.last_delivery_ps = job.last_delivery_ps.max(at);
        let totals = &mut job.totals;
        totals.packets += 1;
        totals.bytes += u64::from(packet.bytes());
        totals.hops += u64::from(packet.hop());
        totals.minimal += u64::from(!packet.diverted());
        if flight.packets_left == 0 {
            if job.program {
                self.arrive(slot, flight, nic, at);
                return;
            }
            if Q::PARTITIONED {
                self.report(slot, flight, at);
                return;
            }
            job.deliver(&flight, at);
            if !R::RESPONSES {
                self.complete(flight.job, at);
            }
        }
    }

    /// Slot of a router's port.
    #[inline]
    pub(super) fn slot(&self, router: u32, port: u16) -> u32 {
        self.wiring.places[router as usize].first + u32::from(port)
    }

    /// Virtual channel of a NIC's injection link.
    #[inline]
    pub(super) fn nic_vc(&self, nic: u32) -> usize {
        self.outs.len() * self.wiring.channels + nic as usize
    }

    /// Virtual channel of the link on which a NIC sends responses.
    #[inline]
    pub(super) fn response_vc(&self, nic: u32) -> usize {
        self.nic_vc(nic) + self.nics.len()
    }
}

/// A rank that begins an interval at `now`.
struct Sender {
    job: u16,
    rank: u32,
    node: u32,
    interval: u32,
    measured: bool,
    now: u64,
}

/// The key of all packets between two nodes.
fn flow_key(seed: u64, from: u32, to: u32) -> u32 {
    (random(seed, Stream::Flow, u64::from(from), u64::from(to)) >> 32) as u32
}

/// The NIC of a node that a message uses, unless it is that of a rank.
pub(super) fn choose_rail(rail: Rail, key: u64, nics: &[Nic], now: u64) -> u32 {
    match rail {
        Rail::Hash | Rail::ByRank => below(mix64(key), nics.len() as u64) as u32,
        Rail::LeastBusy => {
            let busy = |nic: &Nic| (nic.unsent(), nic.free.saturating_sub(now));
            (0..nics.len()).min_by_key(|&k| busy(&nics[k])).unwrap_or(0) as u32
        }
    }
}
