//! The nodes of a run: what their jobs send, and what becomes of it (docs/model.md, sections 7, 8 and 10).
//!
//! Patterns ([`issue`]), programs ([`programs`]) and callers ([`driven`]) issue messages through the same call,
//! [`Nodes::issue_message`]. A message waits in the queue of a NIC, which decides when to send its packets ([`send`]). It is under way as a [`Flight`]
//! until its last packet is delivered ([`deliver`]), or answered ([`receive`]). What other partitions must know of messages
//! is in [`posts`].

mod deliver;
mod driven;
mod flight;
mod issue;
mod jobs;
mod posts;
mod programs;
mod receive;
mod send;

pub use driven::{DRIVEN, Driven};
pub use flight::{Flight, Flights};
pub use jobs::{ELSEWHERE, Job, Jobs, Rows};
pub use posts::{NodePost, Posts};

use crate::commit::{Fabric, Nics};
use crate::endpoint::{Endpoint, Nic};
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
        if E::ANSWERS {
            self.reach(fabric, packet, nic, at);
        } else {
            let slot = packet.message;
            let flight = if Q::PARTITIONED { self.flights.deliver_and_keep(slot) } else { self.flights.deliver(slot) };
            self.take(fabric, packet, (slot, flight), nic, at);
        }
    }
}
