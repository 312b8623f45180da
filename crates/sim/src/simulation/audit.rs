//! The audit at the end of a run: nothing is lost, nothing is counted twice, no buffer overflows.

use std::cell::RefCell;

use super::Simulation;
use crate::commit::Fabric;
use crate::endpoint::{Answers, Coalescing, Endpoint, Grants};
use crate::engine::{Queue, Window};
use crate::fabric::packet::{Event, EventKind};
use crate::fabric::{Links, RouterPlace};
use crate::nodes::Nodes;
use crate::routing::RoutingAlgorithm;
use crate::switch::Switch;

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

impl<Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'_, Q, R, S, E> {
    /// Counts everything in this partition. Takes the pending events out of the queue. Adds the room, the credits and the
    /// contents of each buffer to `held`, and the slot and the bytes of each request and response to `under_way`.
    fn audit(&mut self, held: &mut [u64], under_way: &mut Vec<(u32, u32)>) -> Audit {
        let mut events = self.too_late.clone();
        let mut pending = Window::default();
        while self.fabric.queue.open(&mut pending) {
            events.extend(pending.iter().map(|(router, event)| (router, *event)));
        }
        let Fabric { links, queue, .. } = &self.fabric;
        let books = Books { events, links, nodes: &self.nodes, switch: &self.switch, has: &|router| queue.has(router) };
        books.audit(held, under_way)
    }
}

/// What is audited of a partition. (Compiled once for each kind of router and NIC.)
struct Books<'a, 's, S, E> {
    /// Pending events, each with its router.
    events: Vec<(u32, Event)>,
    links: &'a Links<'s>,
    nodes: &'a Nodes<'s, E>,
    switch: &'a S,
    /// Whether a router is in this partition.
    has: &'a dyn Fn(u32) -> bool,
}

impl<S: Switch, E: Endpoint> Books<'_, '_, S, E> {
    fn audit(&self, held: &mut [u64], under_way: &mut Vec<(u32, u32)>) -> Audit {
        let (links, nodes) = (self.links, self.nodes);
        let (channels, slots) = (links.wiring.channels as u8, links.outs.len());
        let mut audit = Audit::default();
        // Bytes in the buffer behind each port, or on their way to it.
        let answers = nodes.endpoint.answers();
        let wire = |packet: &Event| u64::from(links.times(nodes, packet).wire);
        let requests = RefCell::new(Vec::new());
        // A request for payload stands for it as long as that has not come.
        let payload = |packet: &Event| {
            let bytes = u64::from(packet.bytes());
            let Some(answers) = answers else { return bytes };
            requests.borrow_mut().push((packet.message, packet.bytes()));
            let answers_put = answers.is_response(packet) && !answers.carries(packet);
            if answers_put { 0 } else { bytes }
        };
        let mut filled = vec![0_u64; held.len()];
        let mut hold = |places: &[RouterPlace], router: u32, packet: &Event| {
            let slot = places[router as usize].first + u32::from(packet.port);
            filled[usize::from(packet.channel()) * slots + slot as usize] += wire(packet);
        };
        let mut count = |router: u32, event: &Event| {
            if event.kind() == EventKind::Decision && !event.is_arbitration() {
                audit.under_way += 1;
                audit.network_bytes += payload(event);
                hold(&links.wiring.places, router, event);
            } else if E::ANSWERS && event.is_request_at_nic() {
                requests.borrow_mut().push((event.key, event.bytes()));
                audit.network_bytes += if Answers::is_get(event.key) { u64::from(event.bytes()) } else { 0 };
            }
        };
        self.events.iter().for_each(|(router, event)| count(*router, event));
        for (router, place) in links.wiring.places.iter().enumerate() {
            let vcs = (0..channels).flat_map(|c| (0..place.ports).map(move |port| (place.first + u32::from(port), c)));
            for (slot, channel) in vcs {
                let vc = links.vc(slot, channel);
                let mut waiting = 0;
                for packet in links.blocked.chain(&links.logs.get(vc).chain) {
                    audit.blocked += 1;
                    audit.network_bytes += payload(packet);
                    waiting += wire(packet);
                    if !S::BUFFERS_OUTPUT {
                        hold(&links.wiring.places, router as u32, packet);
                    }
                }
                audit.unbalanced_buffers += u64::from(self.switch.waiting(vc).is_some_and(|held| held != waiting));
            }
        }
        let later = answers.iter().flat_map(|answers| &answers.grants).flat_map(Grants::held);
        for response in answers.iter().flat_map(|answers| &answers.nics).flat_map(|nic| &nic.responses).chain(later) {
            audit.network_bytes += payload(response);
        }
        for packet in nodes.streams.iter().flat_map(|streams| streams.held()) {
            audit.under_way += 1;
            audit.network_bytes += payload(packet);
        }
        let coalescing = answers.iter().flat_map(|answers| &answers.coalescing);
        requests.borrow_mut().extend(coalescing.flat_map(Coalescing::waiting));
        for (chain, input) in self.switch.queues() {
            for packet in links.blocked.chain(&chain) {
                audit.blocked += 1;
                audit.network_bytes += payload(packet);
                filled[usize::from(packet.channel()) * slots + input as usize] += wire(packet);
            }
        }
        let first_response = answers.map(|answers| answers.first_response);
        for (buffer, held) in held.iter_mut().enumerate() {
            if let Some((router, sender)) = links.sender_to(buffer, first_response) {
                let room = if (self.has)(router) { u64::from(links.vcs[sender].room) } else { 0 };
                *held += room + filled[buffer] + links.credits.under_way(buffer);
            }
        }
        for (nic_id, nic) in (0..).zip(&nodes.nics) {
            let of_responses = answers.map(|_| links.response_vc(nic_id));
            for vc in [links.nic_vc(nic_id)].into_iter().chain(of_responses) {
                audit.sent += links.vcs[vc].committed(links.logs.get(vc)).0;
            }
            audit.waiting_bytes += nic.waiting().map(|waiting| waiting.bytes_left).sum::<u64>();
            audit.waiting_bytes += nodes.endpoint.waiting_bytes(nic_id);
        }
        under_way.append(&mut requests.borrow_mut());
        audit.delivered = answers.map_or(0, |answers| answers.delivered);
        for job in &nodes.jobs.list {
            audit.delivered += if E::ANSWERS { 0 } else { job.totals.packets };
            audit.delivered_bytes += job.totals.bytes;
            audit.issued_bytes += job.totals.issued * job.message_bytes + job.network_bytes;
        }
        audit
    }
}

/// Counts everything in all partitions of a run.
pub(super) fn audit_all<'a, 's: 'a, Q, R, S, E>(
    all: impl IntoIterator<Item = &'a mut Simulation<'s, Q, R, S, E>>,
) -> Audit
where
    Q: Queue<Event> + 'a,
    R: RoutingAlgorithm + 'a,
    S: Switch + 'a,
    E: Endpoint + 'a,
{
    let (mut total, mut held, mut sizes) = (Audit::default(), Vec::new(), Vec::new());
    let (mut audited, mut under_way) = (Vec::new(), Vec::new());
    for of in all {
        if held.is_empty() {
            let links = &of.fabric.links;
            let first_response = of.nodes.endpoint.answers().map(|answers| answers.first_response);
            held.resize(links.credits.vcs(), 0);
            let class = |buffer: usize| links.wiring.wires[buffer % links.outs.len()].class;
            let size = |buffer| {
                let sender = links.sender_to(buffer, first_response);
                sender.map_or(0, |_| links.wiring.times(class(buffer)).buffer)
            };
            sizes.extend((0..held.len()).map(|buffer| u64::from(size(buffer))));
        }
        total.add(&of.audit(&mut held, &mut under_way));
        audited.push(&*of);
    }
    for of in audited {
        let endpoint = &of.nodes.endpoint;
        total.unbalanced_requests += endpoint.answers().map_or(0, |answers| answers.unbalanced(&under_way));
        total.unbalanced_requests += endpoint.overfull();
    }
    total.unbalanced_buffers += held.iter().zip(&sizes).filter(|(held, size)| held != size).count() as u64;
    total
}
