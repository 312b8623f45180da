//! The nodes of a run: what their jobs send, and what becomes of it (docs/model.md, sections 7, 8 and 10).
//!
//! Patterns ([`issue`]), programs ([`programs`]) and callers ([`driven`]) issue messages through the same call,
//! [`Nodes::issue_message`]. A message waits in the queue of a NIC, which decides when to send its packets ([`send`]).
//! It is under way as a [`Flight`] until its last packet is delivered ([`deliver`]), or answered ([`receive`]). Packets
//! may have numbers, and wait for those before them ([`streams`]). What other partitions must know of messages is in
//! [`posts`].

mod deliver;
mod driven;
mod flight;
mod issue;
mod jobs;
mod posts;
mod programs;
mod receive;
mod send;
mod streams;

pub use driven::{DRIVEN, Driven};
pub use flight::{Flight, Flights};
pub use jobs::{ELSEWHERE, Job, Jobs, Rows};
pub use posts::{NodePost, Posts};
pub use streams::{Streams, Ticket};

use crate::commit::{Fabric, Nics};
use crate::endpoint::{Endpoint, Entropies, Nic};
use crate::engine::Queue;
use crate::engine::random::Source;
use crate::fabric::PacketInfo;
use crate::fabric::packet::Event;
use crate::program::Programs;
use crate::spec::Spec;

/// All nodes: their NICs, jobs and messages.
pub struct Nodes<'s, E> {
    /// What was asked for.
    pub spec: &'s Spec,
    /// The queue of each NIC.
    pub nics: Vec<Nic>,
    /// The kind of the NICs.
    pub endpoint: E,
    /// The jobs.
    pub jobs: Jobs,
    /// The programs of ranks, if there are any.
    pub programs: Option<Programs>,
    /// The job whose messages a caller issues, if there is one.
    pub driven: Option<Driven>,
    /// The messages under way.
    pub flights: Flights,
    /// What goes to other partitions.
    pub posts: Posts,
    /// The packets of each pair of NICs in the order in which they left, if somebody asks for it.
    pub streams: Option<Box<Streams>>,
    /// The keys of packets that NICs use again, if they do.
    pub entropies: Option<Box<Entropies>>,
    /// Random keys of messages.
    pub keys: Source,
    /// Destinations of an interval, kept to avoid allocations.
    pub destinations: Vec<u32>,
}

impl<E: Endpoint> PacketInfo for Nodes<'_, E> {
    const ANSWERS: bool = E::ANSWERS;

    #[inline(always)]
    fn number(&self, packet: &Event) -> u32 {
        self.endpoint.answers().map_or(packet.bytes(), |answers| answers.number(packet))
    }

    #[inline(always)]
    fn message(&self, packet: &Event) -> u32 {
        if let (true, false, Some(streams)) = (E::NUMBERED, E::ANSWERS, &self.streams) {
            return streams.message(packet);
        }
        self.endpoint.answers().map_or(packet.message, |answers| answers.message(packet))
    }

    #[inline(always)]
    fn job(&self, packet: &Event) -> u16 {
        self.flights.job(self.message(packet))
    }

    #[inline(always)]
    fn carries(&self, packet: &Event) -> bool {
        self.endpoint.answers().is_none_or(|answers| answers.carries(packet))
    }
}

impl<E: Endpoint> Nics for Nodes<'_, E> {
    #[inline(always)]
    fn deliver<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, nic: u32, at: u64) {
        if E::NUMBERED && self.streams.is_some() {
            self.come_in_stream(fabric, packet, nic, at);
        } else {
            self.land(fabric, packet, packet.message, nic, at);
        }
    }
}

impl<E: Endpoint> Nodes<'_, E> {
    /// A packet of a message reaches a NIC of its node at `at`. (Packets that are answered know their message.)
    #[inline(always)]
    fn land<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, message: u32, nic: u32, at: u64) {
        if E::ANSWERS {
            self.reach(fabric, packet, nic, at);
        } else {
            let slot = message;
            let flight = if Q::PARTITIONED { self.flights.deliver_and_keep(slot) } else { self.flights.deliver(slot) };
            self.take(fabric, packet, (slot, flight), nic, at);
        }
    }

    /// The same for packets that are numbered.
    #[inline(never)]
    fn come_in_stream<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, nic: u32, at: u64) {
        let job = self.job(packet);
        if !self.carries(packet) {
            return self.land(fabric, packet, packet.message, nic, at);
        }
        let Some(streams) = &mut self.streams else { return };
        streams.come(nic, packet, &mut self.jobs.list[usize::from(job)].totals.reordering);
        if !streams.holds_back {
            return self.land_in_stream(fabric, packet, nic, at);
        }
        let mut packets = std::mem::take(&mut streams.in_order);
        for packet in packets.drain(..) {
            self.land_in_stream(fabric, &packet, nic, at);
        }
        if let Some(streams) = &mut self.streams {
            streams.in_order = packets;
        }
    }

    /// A packet that is numbered is given to its node at `at`.
    #[inline(never)]
    fn land_in_stream<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, nic: u32, at: u64) {
        let message = self.message(packet);
        if let (false, Some(streams)) = (E::ANSWERS, &mut self.streams) {
            streams.release(packet.message);
        }
        self.land(fabric, packet, message, nic, at);
    }
}
