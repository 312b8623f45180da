//! The audit at the end of a run: nothing is lost, nothing is counted twice, no buffer overflows.

use std::cell::RefCell;

use super::Simulation;
use crate::engine::{Queue, Window};
use crate::fabric::AriesNics;
use crate::fabric::RouterPlace;
use crate::fabric::packet::{Event, EventKind};
use crate::routing::RoutingAlgorithm;

/// Where everything is when a run has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Packets that left a NIC.
    pub sent: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets on a link, or waiting for their router delay or their turn.
    pub under_way: u64,
    /// Packets that are blocked.
    pub blocked: u64,
    /// Bytes of issued messages.
    pub issued_bytes: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Bytes in packets that are neither delivered nor in a NIC.
    pub network_bytes: u64,
    /// Bytes not yet cut into packets.
    pub waiting_bytes: u64,
    /// Buffers whose room, credits and contents do not add up to their size.
    pub unbalanced_buffers: u64,
    /// Requests that are lost, doubled or answered twice, and NICs that exceed their window.
    pub unbalanced_requests: u64,
}

impl Audit {
    /// Whether everything adds up.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.sent == self.delivered + self.under_way + self.blocked
            && self.issued_bytes == self.delivered_bytes + self.network_bytes + self.waiting_bytes
            && self.unbalanced_buffers == 0
            && self.unbalanced_requests == 0
    }

    /// Adds what was counted elsewhere.
    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.under_way += other.under_way;
        self.blocked += other.blocked;
        self.issued_bytes += other.issued_bytes;
        self.delivered_bytes += other.delivered_bytes;
        self.network_bytes += other.network_bytes;
        self.waiting_bytes += other.waiting_bytes;
        self.unbalanced_buffers += other.unbalanced_buffers;
        self.unbalanced_requests += other.unbalanced_requests;
    }
}

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// Counts everything in this partition. Takes the pending events out of the queue. Adds the room, the credits and the
    /// contents of each buffer to `held`, and the slot and the bytes of each request and response to `under_way`.
    fn audit(&mut self, held: &mut [u64], under_way: &mut Vec<(u32, u32)>) -> Audit {
        let (channels, slots) = (self.wiring.channels as u8, self.outs.len());
        let mut audit = Audit::default();
        // Bytes in the buffer behind each port, or on their way to it.
        let (packets, aries) = (self.packets, &self.aries);
        let wire = |packet: &Event| {
            let number = if R::RESPONSES { aries.number(packet) } else { packet.bytes() };
            u64::from(packets[number as usize].wire)
        };
        let requests = RefCell::new(Vec::new());
        // A request for payload stands for it as long as that has not come.
        let payload = |packet: &Event| {
            if R::RESPONSES {
                requests.borrow_mut().push((packet.message, packet.bytes()));
            }
            let answers_put = R::RESPONSES && aries.is_response(packet) && !aries.carries(packet);
            if answers_put { 0 } else { u64::from(packet.bytes()) }
        };
        let mut filled = vec![0_u64; held.len()];
        let mut hold = |places: &[RouterPlace], router: u32, packet: &Event| {
            let slot = places[router as usize].first + u32::from(packet.port);
            filled[usize::from(packet.channel()) * slots + slot as usize] += wire(packet);
        };
        let too_late = std::mem::take(&mut self.too_late);
        let mut count = |router: u32, event: &Event| {
            if event.kind() == EventKind::Decision && !event.is_arbitration() {
                audit.under_way += 1;
                audit.network_bytes += payload(event);
                hold(&self.wiring.places, router, event);
            } else if R::RESPONSES && event.is_request_at_nic() {
                requests.borrow_mut().push((event.key, event.bytes()));
                audit.network_bytes += if AriesNics::is_get(event.key) { u64::from(event.bytes()) } else { 0 };
            }
        };
        too_late.iter().for_each(|(router, event)| count(*router, event));
        let mut pending = Window::default();
        while self.queue.open(&mut pending) {
            pending.iter().for_each(|(router, event)| count(router, event));
        }
        for (router, place) in self.wiring.places.iter().enumerate() {
            let vcs = (0..channels).flat_map(|c| (0..place.ports).map(move |port| (place.first + u32::from(port), c)));
            for (slot, channel) in vcs {
                let mut waiting = 0;
                for packet in self.blocked.chain(&self.logs.get(self.vc(slot, channel)).chain) {
                    audit.blocked += 1;
                    audit.network_bytes += payload(packet);
                    waiting += wire(packet);
                    if self.crossbars.is_empty() {
                        hold(&self.wiring.places, router as u32, packet);
                    }
                }
                if !self.crossbars.is_empty() {
                    audit.unbalanced_buffers += u64::from(self.crossbars.waiting(self.vc(slot, channel)) != waiting);
                }
            }
        }
        for response in self.aries.all().iter().flat_map(|nic| &nic.responses) {
            audit.network_bytes += payload(response);
        }
        for queue in self.crossbars.queues() {
            for packet in self.blocked.chain(&queue.chain) {
                audit.blocked += 1;
                audit.network_bytes += payload(packet);
                filled[usize::from(packet.channel()) * slots + queue.input as usize] += wire(packet);
            }
        }
        for (buffer, held) in held.iter_mut().enumerate() {
            if let Some((router, sender)) = self.sender_to(buffer) {
                let room = if self.queue.has(router) { u64::from(self.vcs[sender].room) } else { 0 };
                *held += room + filled[buffer] + self.credits.under_way(buffer);
            }
        }
        for (nic_id, nic) in self.nics.iter().enumerate() {
            let vc = self.nic_vc(nic_id as u32);
            audit.sent += self.vcs[vc].committed(self.logs.get(vc)).0;
            if R::RESPONSES {
                let vc = self.response_vc(nic_id as u32);
                audit.sent += self.vcs[vc].committed(self.logs.get(vc)).0;
            }
            audit.waiting_bytes += nic.waiting().map(|waiting| waiting.bytes_left).sum::<u64>();
        }
        under_way.append(&mut requests.borrow_mut());
        audit.delivered = self.aries.delivered;
        for job in &self.jobs.list {
            audit.delivered += if R::RESPONSES { 0 } else { job.totals.packets };
            audit.delivered_bytes += job.totals.bytes;
            audit.issued_bytes += job.totals.issued * job.message_bytes + job.network_bytes;
        }
        audit
    }
    /// The output VC that sends to the buffer of a port and channel, if there is one, and the router of its events.
    fn sender_to(&self, buffer: usize) -> Option<(u32, usize)> {
        let (back, channel) = (self.wiring.wires[buffer % self.outs.len()], (buffer / self.outs.len()) as u8);
        if !back.node {
            return Some((back.to, self.vc(self.slot(back.to, back.port), channel)));
        }
        let vc = if channel == 0 {
            self.nic_vc(back.to)
        } else if R::RESPONSES && channel == self.aries.first_response {
            self.response_vc(back.to)
        } else {
            return None;
        };
        Some((self.wiring.event_attachment(back.to).router, vc))
    }
}

/// Counts everything in all partitions of a run.
pub(super) fn audit_all<'a, 's: 'a, Q: Queue<Event> + 'a, R: RoutingAlgorithm + 'a>(
    all: impl IntoIterator<Item = &'a mut Simulation<'s, Q, R>>,
) -> Audit {
    let (mut total, mut held, mut sizes) = (Audit::default(), Vec::new(), Vec::new());
    let (mut audited, mut under_way) = (Vec::new(), Vec::new());
    for of in all {
        if held.is_empty() {
            held.resize(of.credits.vcs(), 0);
            let class = |buffer: usize| of.wiring.wires[buffer % of.outs.len()].class;
            let size = |buffer| of.sender_to(buffer).map_or(0, |_| of.wiring.times(class(buffer)).buffer);
            sizes.extend((0..held.len()).map(|buffer| u64::from(size(buffer))));
        }
        total.add(&of.audit(&mut held, &mut under_way));
        audited.push(&*of);
    }
    total.unbalanced_requests += audited.iter().map(|of| of.aries.unbalanced(&under_way)).sum::<u64>();
    total.unbalanced_buffers += held.iter().zip(&sizes).filter(|(held, size)| held != size).count() as u64;
    total
}
