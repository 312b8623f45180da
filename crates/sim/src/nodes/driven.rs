//! Messages of a job that a caller issues while the run goes on (see [`crate::Network`]).

use std::collections::BTreeMap;

use super::issue::Outgoing;
use super::{Flight, Nodes};
use crate::commit::Fabric;
use crate::endpoint::{Endpoint, NO_SENDER};
use crate::engine::Queue;
use crate::fabric::packet::Event;
use crate::output::NO_ROW;
use crate::routing::RoutingAlgorithm;

/// The interval of an event that issues messages of a caller. (No interval of a pattern has this number.)
pub const DRIVEN: u32 = u32::MAX;

/// A message that has not been issued yet.
#[derive(Clone, Copy)]
struct Unissued {
    rank: u32,
    /// Its destination, a node.
    to: u32,
    bytes: u64,
}

/// The messages of the job whose messages a caller issues.
pub struct Driven {
    pub job: u16,
    /// By sending node, time and number.
    unissued: BTreeMap<(u32, u64, u64), Unissued>,
    /// By slot: the number of the message under way, in slots that are reused.
    under_way: Vec<u64>,
    free: Vec<u32>,
    /// Messages that are delivered, which the caller does not know: when, and their numbers.
    pub delivered: Vec<(u64, u64)>,
}

impl Driven {
    /// No message of a job.
    pub fn new(job: u16) -> Self {
        let (unissued, under_way) = (BTreeMap::new(), Vec::new());
        Self { job, unissued, under_way, free: Vec::new(), delivered: Vec::new() }
    }

    /// Number of messages that are not delivered.
    pub fn undelivered(&self) -> usize {
        self.unissued.len() + self.under_way.len() - self.free.len()
    }

    /// Gives a message under way a slot.
    fn add(&mut self, number: u64) -> u32 {
        let Some(slot) = self.free.pop() else {
            self.under_way.push(number);
            return (self.under_way.len() - 1) as u32;
        };
        self.under_way[slot as usize] = number;
        slot
    }

    /// The message in a slot is delivered at `at`.
    pub(super) fn deliver(&mut self, slot: u32, at: u64) {
        self.free.push(slot);
        self.delivered.push((at, self.under_way[slot as usize]));
    }
}

impl<E: Endpoint> Nodes<'_, E> {
    /// A rank of the driven job is to issue message `number` of `bytes` to another rank at `at`.
    pub fn plan<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        [rank, peer]: [u32; 2],
        bytes: u64,
        (at, number): (u64, u64),
    ) {
        let driven = self.driven.as_mut().expect("the job is driven");
        let nodes = &self.jobs.list[usize::from(driven.job)].nodes;
        let (node, to) = (nodes[rank as usize], nodes[peer as usize]);
        driven.unissued.insert((node, at, number), Unissued { rank, to, bytes });
        let attachment = fabric.links.wiring.node_attachment(node);
        fabric.queue.push(attachment.router, Event::issue(at, attachment.port, node, DRIVEN));
    }

    /// A node of the driven job issues its messages of the time of an event, in the order of their numbers. (The first of
    /// several events of one time issues all of them, as an interval of a pattern does.)
    #[cold]
    #[inline(never)]
    pub fn issue_driven<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        event: &Event,
    ) {
        let (node, now) = (event.key, event.time);
        let rails = fabric.links.wiring.rails;
        let nic = node * rails;
        let was_idle = self.nics[nic as usize].is_idle();
        while let Some((number, message)) = self.next_driven(node, now) {
            self.issue_one_driven(fabric, node, (now, number), message);
        }
        if rails > 1 || E::SELECTIVE {
            self.pump_node(fabric, routing, node, now);
        } else if was_idle {
            self.pump_next(fabric, routing, nic, now);
        }
    }

    /// Takes the next message that a node issues at `now`, with its number.
    fn next_driven(&mut self, node: u32, now: u64) -> Option<(u64, Unissued)> {
        let driven = self.driven.as_mut()?;
        let (&key, _) = driven.unissued.range((node, now, 0)..=(node, now, u64::MAX)).next()?;
        driven.unissued.remove(&key).map(|message| (key.2, message))
    }

    fn issue_one_driven<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        node: u32,
        (now, number): (u64, u64),
        Unissued { rank, to, bytes }: Unissued,
    ) {
        let driven = self.driven.as_mut().expect("the job is driven");
        let (job, row, rails) = (driven.job, driven.add(number), fabric.links.wiring.rails);
        let striped = self.spec.fabric.nic.stripes(bytes, rails);
        let outgoing = Outgoing {
            job,
            rank,
            node,
            to,
            bytes,
            packets: bytes.div_ceil(u64::from(self.spec.fabric.packet_bytes)),
            issue: now,
            row,
            counted: NO_ROW,
            measured: false,
            iteration: 0,
            get: E::ANSWERS && self.spec.fabric.gets(),
            alltoall: false,
            sender: NO_SENDER,
            routing: self.jobs.list[usize::from(job)].routings[0],
            rails: None,
            striped,
        };
        let (nic, waiting) = self.issue_message(fabric, &outgoing, None, now);
        if striped {
            self.divide(waiting, nic, rails, outgoing.packets);
        } else {
            self.enqueue(nic, waiting);
        }
    }

    /// The last packet of a message of the driven job reaches its node at `at`. Returns whether it is one.
    pub(super) fn arrive_driven(&mut self, flight: Flight, at: u64) -> bool {
        match &mut self.driven {
            Some(driven) if driven.job == flight.job => driven.deliver(flight.row, at),
            _ => return false,
        }
        true
    }
}
