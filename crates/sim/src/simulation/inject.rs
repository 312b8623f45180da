//! What happens at the nodes: messages are issued, cut into packets, and delivered (docs/model.md, sections 2, 3, 7).

use super::{LAST_TIME, Simulation};
use crate::engine::Queue;
use crate::engine::random::{Stream, packet_word, word};
use crate::error::SimError;
use crate::fabric::packet::{Event, Kind};
use crate::fabric::{Flight, Waiting};
use crate::routing::Rule;
use crate::spec::NicOrder;

impl<Q: Queue<Event>, R: Rule> Simulation<'_, Q, R> {
    /// A node issues the messages of an interval.
    #[inline(never)]
    pub(super) fn issue(&mut self, router: u32, port: u16, k: u32, now: u64) {
        if now >= LAST_TIME {
            self.failure.get_or_insert(SimError::TimeOverflow);
            self.end = 0;
            return;
        }
        let node = self.node_at(router, port);
        let (job_index, rank) = self.jobs.owner(node);
        let seed = self.spec.seed;
        let mut to = std::mem::take(&mut self.destinations);
        let job = &mut self.jobs.list[usize::from(job_index)];
        job.destinations.list(seed, node, rank, job.ranks, k, &mut to);
        let measured = now >= self.spec.measure.from_ps && self.spec.measure.until_ps.is_none_or(|until| now < until);
        job.totals.issued += to.len() as u64;
        let first_issue = job.totals.first_issue_ps.get_or_insert(now);
        *first_issue = now.min(*first_issue);
        let nic = &mut self.nics[node as usize];
        let blocked = !nic.queue.is_empty();
        let mut head = None;
        for (position, &rank_to) in to.iter().enumerate() {
            let row = job.rows.issue(k, job.sender_of(rank), position as u32, now);
            let flight = Flight { issue: now, packets_left: job.packets, row, job: job_index, measured };
            let word = word(seed, Stream::Message, u64::from(node), nic.issued);
            nic.issued += 1;
            let (message, to) = (self.flights.add(flight), job.nodes[rank_to as usize]);
            let waiting = Waiting { bytes_left: job.message_bytes, packet: 0, word, message, to };
            if blocked || position > 0 {
                nic.queue.push_back(waiting);
            } else {
                head = Some(waiting);
            }
        }
        job.outstanding = to.len() as u32;
        if let Some(rows) = job.rows.refused() {
            self.failure.get_or_insert(SimError::Memory { rows });
            self.end = 0;
        }
        if k + 1 < job.intervals {
            let next = now + job.clock.gap(seed, node, k + 1);
            if job.waits_for_delivery {
                job.next_issue = next;
                job.next_interval = k + 1;
            } else {
                self.queue.push(router, Event::other(Kind::Issue, next, port, 0, k + 1));
            }
        }
        self.destinations = to;
        if let Some(head) = head {
            self.pump(node, router, port, now, head);
        }
    }

    /// A credit has come for the injection link at a port.
    #[cold]
    pub(super) fn pump_port(&mut self, router: u32, port: u16, now: u64) {
        let node = self.node_at(router, port);
        if !self.returns[self.slot(router, port) as usize].wakes_at(now) {
            return;
        }
        if let Some(head) = self.nics[node as usize].queue.pop_front() {
            self.pump(node, router, port, now, head);
        }
    }

    /// Sends as many packets as there is room for, from the message at the head on.
    #[inline(never)]
    fn pump(&mut self, node: u32, router: u32, port: u16, now: u64, mut head: Waiting) {
        let lane_index = self.nic_lane(node);
        let buffer = self.slot(router, port) as usize; // channel 0
        let from = self.wiring.homes[node as usize].group;
        let times = self.wiring.node_times();
        let nic = &mut self.nics[node as usize];
        let lane = &mut self.lanes[lane_index];
        let full = self.spec.fabric.packet_bytes;
        loop {
            let bytes = head.bytes_left.min(u64::from(full)) as u32;
            if lane.room < bytes {
                lane.room += self.returns[buffer].take(buffer as u32, now, &mut self.spill);
                if lane.room < bytes {
                    if !nic.waits {
                        nic.waits = true;
                        self.logs[lane_index].waits_since = now;
                    }
                    if let Some(at) = self.returns[buffer].wait(buffer as u32, &self.spill) {
                        self.queue.push(router, Event::other(Kind::NicCredit, at, port, 0, 0));
                    }
                    nic.queue.push_front(head);
                    return;
                }
            }
            let overhead = if head.packet == 0 { self.spec.fabric.nic.overhead_ps } else { 0 };
            let end = nic.free.max(now) + overhead + times.serialisation[bytes as usize];
            nic.free = end;
            lane.room -= bytes;
            lane.count(bytes, &mut self.logs, lane_index);
            let to = self.wiring.homes[head.to as usize];
            let word = packet_word(head.word, head.packet);
            let mut packet = Event::packet(end + times.to_decision, port, head.message, word, bytes);
            packet.to_group = to.group;
            packet.to_leaf = to.leaf;
            packet.to_port = to.port;
            self.routing.enter(&self.wiring.machine, &mut packet, from);
            self.queue.push(router, packet);
            if end >= LAST_TIME {
                self.failure.get_or_insert(SimError::TimeOverflow);
                self.end = 0;
                return;
            }
            head.bytes_left -= u64::from(bytes);
            head.packet += 1;
            if head.bytes_left > 0 {
                if self.spec.fabric.nic.order == NicOrder::RoundRobin {
                    nic.queue.push_back(head);
                } else {
                    continue;
                }
            }
            match nic.queue.pop_front() {
                Some(next) => head = next,
                None => break,
            }
        }
        if nic.waits {
            nic.waits = false;
            self.returns[buffer].rest();
            let log = &mut self.logs[lane_index];
            log.waited += now - log.waits_since;
        }
    }

    /// A packet reaches its node at `at`.
    #[inline]
    pub(super) fn deliver(&mut self, packet: &Event, at: u64) {
        let flight = self.flights.deliver(packet.message);
        let job = &mut self.jobs.list[usize::from(flight.job)];
        let totals = &mut job.totals;
        totals.packets += 1;
        totals.bytes += u64::from(packet.bytes());
        totals.hops += u64::from(packet.hop());
        totals.minimal += u64::from(!packet.diverted());
        totals.last_delivery_ps = Some(totals.last_delivery_ps.unwrap_or(0).max(at));
        if flight.packets_left == 0 {
            totals.delivered += 1;
            let latency = at - flight.issue;
            job.rows.deliver(flight.row, latency);
            if flight.measured && job.histogram {
                totals.latency.record(latency);
            }
            self.complete(flight.job);
        }
    }

    /// Slot of a router's port.
    #[inline]
    pub(super) fn slot(&self, router: u32, port: u16) -> u32 {
        self.wiring.places[router as usize].first + u32::from(port)
    }

    #[inline]
    fn node_at(&self, router: u32, port: u16) -> u32 {
        self.lanes[self.slot(router, port) as usize].wire.to
    }

    /// Lane of a node's injection link.
    #[inline]
    pub(super) fn nic_lane(&self, node: u32) -> usize {
        self.outs.len() * self.wiring.channels + node as usize
    }
}
