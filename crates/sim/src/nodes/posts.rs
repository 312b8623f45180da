//! What the nodes of a partition tell those of another after a window: messages, requests and deliveries.

use super::{Flight, Nodes, Ticket};
use crate::commit::Fabric;
use crate::endpoint::{Covered, Endpoint, Request};
use crate::engine::Queue;
use crate::fabric::packet::Event;
use crate::observe::Victim;
use crate::output::MessageCounters;
use crate::program::ProtocolMessage;

/// What the nodes of a partition send to another one.
#[derive(Default)]
pub struct NodePost {
    /// Messages with their slots, and as observers know them.
    messages: Vec<(u32, Flight, Victim)>,
    /// Protocol messages with the slots of the messages that carry them, which are among `messages`.
    protocol_messages: Vec<(u32, ProtocolMessage)>,
    /// Requests with their slots.
    requests: Vec<(u32, Request)>,
    /// Slots of packets that are numbered, with their tickets.
    tickets: Vec<(u32, Ticket)>,
    /// Slots of requests, and what their answers say.
    says: Vec<(u32, u32)>,
    /// Slots of requests, and for which others their acknowledgements stand.
    covered: Vec<(u32, Vec<Covered>)>,
    /// Messages that are delivered: their slots, and when.
    deliveries: Vec<(u32, u64)>,
    /// Messages of programs that were fetched: their jobs, their rows, and their latencies.
    latencies: Vec<(u16, u32, u64)>,
    /// The same with what their NICs counted.
    counters: Vec<(u16, u32, MessageCounters)>,
}

impl NodePost {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        let Self { messages, protocol_messages: _, requests, tickets, says, covered, deliveries, latencies, counters } =
            self;
        let fetched = !latencies.is_empty() || !counters.is_empty();
        let of_requests = !requests.is_empty() || !says.is_empty() || !tickets.is_empty() || !covered.is_empty();
        messages.is_empty() && !of_requests && deliveries.is_empty() && !fetched
    }
}

/// What the nodes of a partition send to the others after a window.
#[derive(Default)]
pub struct Posts {
    /// By partition; empty if there is only one.
    to: Vec<NodePost>,
    /// Number of this partition.
    own: usize,
    /// Whether all partitions must know all messages and requests, as packets are observed at routers.
    everywhere: bool,
}

impl Posts {
    /// Nothing, in one of several partitions.
    pub fn new(own: usize, partitions: usize, everywhere: bool) -> Self {
        Self { to: (0..partitions).map(|_| NodePost::default()).collect(), own, everywhere }
    }

    /// Number of partitions.
    pub fn partitions(&self) -> usize {
        self.to.len().max(1)
    }

    /// Exchanges what is sent to a partition with something empty.
    pub fn take_sent(&mut self, to: usize, empty: &mut NodePost) {
        std::mem::swap(&mut self.to[to], empty);
    }

    /// The posts to the partitions, other than this one, that must know what goes to some partitions.
    fn about(&mut self, to: [usize; 2]) -> impl Iterator<Item = &mut NodePost> {
        let (own, everywhere) = (self.own, self.everywhere);
        let must_know = move |&(index, _): &(usize, &mut NodePost)| index != own && (everywhere || to.contains(&index));
        self.to.iter_mut().enumerate().filter(must_know).map(|(_, post)| post)
    }

    /// Sends the latency of a message to the partition of its sender, which has its row.
    pub fn send_latency(&mut self, to: usize, job: u16, row: u32, latency: u64) {
        self.to[to].latencies.push((job, row, latency));
    }

    /// Sends what was counted for a message likewise.
    pub fn send_counters(&mut self, to: usize, job: u16, row: u32, counters: MessageCounters) {
        self.to[to].counters.push((job, row, counters));
    }

    /// Sends a request to the partition of a router.
    #[inline(never)]
    pub fn send_request(&mut self, queue: &impl Queue<Event>, router: u32, slot: u32, request: Request) {
        self.about([queue.partition_of(router); 2]).for_each(|post| post.requests.push((slot, request)));
    }

    /// Sends the ticket of a packet to the partition of a router.
    #[inline(never)]
    pub fn send_ticket(&mut self, queue: &impl Queue<Event>, router: u32, slot: u32, ticket: Ticket) {
        self.about([queue.partition_of(router); 2]).for_each(|post| post.tickets.push((slot, ticket)));
    }
}

impl<E: Endpoint> Nodes<'_, E> {
    /// Sends a message that has been issued to the partition of its destination, a NIC; a protocol message also to that of
    /// its rank, if the NIC is at another router than the rank.
    #[inline(never)]
    pub(super) fn send_message<Q: Queue<Event>>(
        &mut self,
        fabric: &Fabric<'_, Q>,
        slot: u32,
        nic: u32,
        protocol_message: Option<ProtocolMessage>,
    ) {
        let (flight, wiring) = (*self.flights.get(slot), &fabric.links.wiring);
        let to = fabric.queue.partition_of(wiring.attachments[nic as usize].router);
        let of_rank = || fabric.queue.partition_of(wiring.event_attachment(nic).router);
        let rank = if protocol_message.is_some() { of_rank() } else { to };
        let victim = fabric.observers.victim(slot);
        self.posts.about([to, rank]).for_each(|post| post.messages.push((slot, flight, victim)));
        if rank != self.posts.own {
            self.posts.to[rank].protocol_messages.extend(protocol_message.map(|message| (slot, message)));
        }
    }

    /// The answer to the request in a slot, which goes to a router, says something: its partition must know.
    #[inline]
    pub(super) fn say<Q: Queue<Event>>(&mut self, fabric: &Fabric<'_, Q>, slot: u32, router: u32, says: u32) {
        if Q::PARTITIONED && !fabric.queue.has(router) {
            self.posts.to[fabric.queue.partition_of(router)].says.push((slot, says));
        } else {
            self.endpoint.answers_mut().set_says(slot, says);
        }
    }

    /// The acknowledgement of the request in a slot, which goes to a router, also stands for others: its partition must know.
    pub(super) fn cover<Q: Queue<Event>>(
        &mut self,
        fabric: &Fabric<'_, Q>,
        slot: u32,
        router: u32,
        others: Vec<Covered>,
    ) {
        if Q::PARTITIONED && !fabric.queue.has(router) {
            self.posts.to[fabric.queue.partition_of(router)].covered.push((slot, others));
        } else {
            self.endpoint.answers_mut().cover(slot, others);
        }
    }

    /// A message of traffic is delivered in this partition at `at`.
    #[inline(never)]
    pub(super) fn report<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, slot: u32, flight: Flight, at: u64) {
        if !E::ANSWERS {
            self.jobs.list[usize::from(flight.job)].count_completion(at);
        }
        self.send_report(fabric, slot, self.flights.partition_of(slot), at);
    }

    /// A protocol message reaches a NIC in this partition at `at`: the partitions of its sender and of its rank must know.
    pub(super) fn report_to_both<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, slot: u32, nic: u32, at: u64) {
        let rank = fabric.queue.partition_of(fabric.links.wiring.event_attachment(nic).router);
        let issuer = self.flights.partition_of(slot);
        self.send_report(fabric, slot, rank, at);
        if issuer != rank {
            self.send_report(fabric, slot, issuer, at);
        }
    }

    fn send_report<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, slot: u32, to: usize, at: u64) {
        if to == self.posts.own {
            self.take_report(fabric, slot, at);
        } else {
            self.posts.to[to].deliveries.push((slot, at));
        }
    }

    /// A message is delivered at `at` that was issued in this partition, or goes to a rank in it.
    fn take_report<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, slot: u32, at: u64) {
        let flight = *self.flights.get(slot);
        let issued_here = self.flights.partition_of(slot) == self.posts.own;
        if issued_here && !E::ANSWERS {
            self.flights.release(slot); // else it stays taken until all packets are answered
        }
        let job = &mut self.jobs.list[usize::from(flight.job)];
        if job.reacts {
            self.take_program_report(fabric, flight, issued_here, at);
            return;
        }
        job.deliver(&flight, at);
        if !E::ANSWERS {
            job.see_completion(at);
            self.begin_next(fabric, flight.job);
        }
    }

    /// The same for a message of a program.
    fn take_program_report<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        flight: Flight,
        issued_here: bool,
        at: u64,
    ) {
        let programs = self.programs.as_mut().expect("the job has a program");
        let message = programs.take(flight.row);
        let node = programs.node_of(flight.job, message.rank);
        if issued_here {
            self.count_arrived(fabric, flight, &message, at);
        }
        if fabric.queue.has(fabric.links.wiring.node_attachment(node).router) {
            self.reach_rank(fabric, flight, &message, at);
        }
    }

    /// Takes what another partition has sent.
    pub fn take_post<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, post: &mut NodePost) {
        // Deliveries first: after that of a message its slot may be that of another.
        for (slot, at) in post.deliveries.drain(..) {
            self.take_report(fabric, slot, at);
        }
        for (slot, flight, victim) in post.messages.drain(..) {
            self.flights.put(slot, flight);
            fabric.observers.know(slot, victim);
        }
        for (slot, message) in post.protocol_messages.drain(..) {
            let programs = self.programs.as_mut().expect("there is a protocol message");
            self.flights.set_row(slot, programs.post(message));
        }
        for (job, row, latency) in post.latencies.drain(..) {
            self.programs.as_mut().expect("the message is of a program").count_latency(job, row, latency);
        }
        for (job, row, counters) in post.counters.drain(..) {
            self.endpoint.answers_mut().count(job, row, counters);
        }
        for (slot, request) in post.requests.drain(..) {
            self.endpoint.answers_mut().put(slot, request);
        }
        for (slot, ticket) in post.tickets.drain(..) {
            self.streams.as_mut().expect("packets are numbered").put(slot, ticket);
        }
        for (slot, says) in post.says.drain(..) {
            self.endpoint.answers_mut().set_says(slot, says);
        }
        for (slot, others) in post.covered.drain(..) {
            self.endpoint.answers_mut().cover(slot, others);
        }
    }
}
