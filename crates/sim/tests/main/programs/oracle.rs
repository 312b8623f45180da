//! A second opinion: the arithmetic of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010) for one iteration of traces on a
//! star, on a network in which no two messages meet. It has no packets in a router, no credits and no event queue per
//! router: a message is a time, and it occupies its sender's NIC for a while. If two messages would meet on the link to
//! a node, it says so.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use odonata_programs::trace::{Action, Start, Trace};
use odonata_sim::spec::Costs;

use super::support::{alone, leaves_after, packets};
use crate::support::ser;

/// The result of the oracle.
pub struct Opinion {
    /// When each rank finishes.
    pub finishes: Vec<u64>,
    /// Whether no two messages met on the link to a node.
    pub alone: bool,
}

type Key = (u32, u32, u64); // from, to, label

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MessageKind {
    Eager,
    Rts,
    Cts,
    Data,
}

/// Kinds of events in the order of docs/model.md, with their sort keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Arrives(u32, u64, MessageKind, u64),
    Begins(u64, u32),
    Ends(u64, u32),
    Left(u32, u64, u32),
    Starts,
}

enum Receive {
    Posted(u32),
    Come,
    RtsArrived,
}

struct Rank {
    cpus: Vec<u64>,
    waits_for: Vec<u32>,
    works: u64,
    left: usize,
    finish: u64,
}

pub struct Oracle<'a> {
    trace: &'a Trace,
    nodes: &'a [u32],
    costs: Costs,
    packet: u64,
    ranks: Vec<Rank>,
    events: BinaryHeap<Reverse<(u64, u32, EventKind)>>,
    receives: BTreeMap<Key, Receive>,
    sends: BTreeMap<Key, u32>,
    nics: BTreeMap<u32, u64>,
    /// By node: the times at which a message was on the link to it.
    taken: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl<'a> Oracle<'a> {
    /// The ranks on `nodes` of a star (`support::star`) with packets of `packet` bytes.
    pub fn of(trace: &'a Trace, nodes: &'a [u32], costs: Costs, packet: u64) -> Opinion {
        let rank = |rank| {
            let graph = trace.graph(rank);
            let waits_for: Vec<u32> =
                (0..graph.operations().len() as u32).map(|operation| graph.waits_for(operation)).collect();
            Rank { cpus: vec![0; 256], left: waits_for.len(), waits_for, works: 0, finish: 0 }
        };
        let ranks = (0..trace.ranks()).map(rank).collect();
        let events = (0..trace.ranks()).map(|rank| Reverse((0, rank, EventKind::Starts))).collect();
        let (receives, sends, nics, taken) = Default::default();
        let mut oracle = Self { trace, nodes, costs, packet, ranks, events, receives, sends, nics, taken };
        while let Some(Reverse((now, rank, what))) = oracle.events.pop() {
            let ready = oracle.happens(now, rank, what);
            oracle.begin_all(now, rank, ready);
        }
        assert!(oracle.ranks.iter().all(|rank| rank.left == 0), "the trace is dead");
        let finishes = oracle.ranks.iter().map(|rank| rank.finish).collect();
        let mut alone = true;
        for intervals in oracle.taken.values_mut() {
            intervals.sort_unstable();
            alone &= intervals.windows(2).all(|two| two[0].1 <= two[1].0);
        }
        Opinion { finishes, alone }
    }

    /// The operations that an event makes ready.
    fn happens(&mut self, now: u64, rank: u32, what: EventKind) -> Vec<u32> {
        match what {
            EventKind::Starts => (0..)
                .zip(&self.ranks[rank as usize].waits_for)
                .filter(|(_, n)| **n == 0)
                .map(|(operation, _)| operation)
                .collect(),
            EventKind::Begins(_, operation) => self.follow(rank, operation, Start::AtBegin),
            EventKind::Ends(_, operation) => self.work_ends(now, rank, operation),
            EventKind::Left(_, _, operation) => self.complete(now, rank, operation),
            EventKind::Arrives(peer, label, MessageKind::Cts, bytes) => {
                let operation = self.sends[&(rank, peer, label)];
                let left = self.send(now, (rank, peer), (peer, rank, label), MessageKind::Data, bytes);
                self.events.push(Reverse((left, rank, EventKind::Left(peer, label, operation))));
                Vec::new()
            }
            EventKind::Arrives(peer, label, sort, bytes) => {
                let key = (peer, rank, label);
                match (self.receives.remove(&key), sort) {
                    (Some(Receive::Posted(operation)), MessageKind::Rts) => {
                        self.clear(now, key, bytes, operation);
                        Vec::new()
                    }
                    (Some(Receive::Posted(operation)), _) => self.receive(now, rank, operation, peer, bytes),
                    (_, MessageKind::Rts) => self.keep(key, Receive::RtsArrived),
                    _ => self.keep(key, Receive::Come),
                }
            }
        }
    }

    fn keep(&mut self, key: Key, receive: Receive) -> Vec<u32> {
        self.receives.insert(key, receive);
        Vec::new()
    }

    /// Begins the ready operations in the order of the text.
    fn begin_all(&mut self, now: u64, rank: u32, mut ready: Vec<u32>) {
        while let Some(least) = (0..ready.len()).min_by_key(|&i| ready[i]) {
            let operation = ready.swap_remove(least);
            let more = self.begin(now, rank, operation);
            ready.extend(more);
        }
    }

    fn begin(&mut self, now: u64, rank: u32, operation: u32) -> Vec<u32> {
        let action = self.trace.graph(rank).operations()[operation as usize].action;
        match action {
            Action::Compute { ps } => self.work(now, rank, operation, ps, true),
            Action::Send { to, bytes, .. } => {
                let copy = if self.uses_rendezvous(rank, to, bytes) { 0 } else { self.copy(bytes) };
                self.work(now, rank, operation, self.costs.send_ps + copy, true)
            }
            Action::Receive { from, label, bytes } => {
                let mut ready = self.follow(rank, operation, Start::AtBegin);
                let key = (from, rank, label);
                match self.receives.remove(&key) {
                    None => ready.extend(self.keep(key, Receive::Posted(operation))),
                    Some(Receive::RtsArrived) => self.clear(now, key, bytes, operation),
                    Some(_) => ready.extend(self.receive(now, rank, operation, from, bytes)),
                }
                ready
            }
        }
    }

    /// Runs a task on a CPU; returns what is ready at once.
    fn work(&mut self, now: u64, rank: u32, operation: u32, ps: u64, begins: bool) -> Vec<u32> {
        let state = &mut self.ranks[rank as usize];
        let free = &mut state.cpus[usize::from(self.trace.graph(rank).operations()[operation as usize].cpu)];
        let begin = now.max(*free);
        *free = begin + ps;
        let (end, number) = (*free, state.works);
        state.works += 1;
        let mut ready = Vec::new();
        if begins && begin == now {
            ready = self.follow(rank, operation, Start::AtBegin);
        } else if begins {
            self.events.push(Reverse((begin, rank, EventKind::Begins(number, operation))));
        }
        if end == now {
            ready.extend(self.work_ends(now, rank, operation));
        } else {
            self.events.push(Reverse((end, rank, EventKind::Ends(number, operation))));
        }
        ready
    }

    fn work_ends(&mut self, now: u64, rank: u32, operation: u32) -> Vec<u32> {
        if let Action::Send { to, label, bytes } = self.trace.graph(rank).operations()[operation as usize].action {
            if self.uses_rendezvous(rank, to, bytes) {
                self.sends.insert((rank, to, label), operation);
                self.send(now, (rank, to), (to, rank, label), MessageKind::Rts, bytes);
                return Vec::new();
            }
            self.send(now, (rank, to), (to, rank, label), MessageKind::Eager, bytes);
        }
        self.complete(now, rank, operation)
    }

    fn receive(&mut self, now: u64, rank: u32, operation: u32, from: u32, bytes: u64) -> Vec<u32> {
        let copy = if self.uses_rendezvous(from, rank, bytes) { 0 } else { self.copy(bytes) };
        self.work(now, rank, operation, self.costs.receive_ps + copy, false)
    }

    /// Tells the sender of a message that its receive is posted.
    fn clear(&mut self, now: u64, key: Key, bytes: u64, operation: u32) {
        let (from, to, label) = key;
        self.send(now, (to, from), (from, to, label), MessageKind::Cts, bytes);
        self.receives.insert(key, Receive::Posted(operation));
    }

    /// Sends from one rank to another; the event is (destination, source, label). Returns when the last byte has left
    /// the NIC.
    fn send(
        &mut self,
        now: u64,
        (from, to): (u32, u32),
        (rank, peer, label): Key,
        sort: MessageKind,
        bytes: u64,
    ) -> u64 {
        let [source, destination] = [from, to].map(|rank| self.nodes[rank as usize]);
        if source == destination {
            let arrival = now + self.costs.memory_ps;
            self.events.push(Reverse((arrival, rank, EventKind::Arrives(peer, label, sort, bytes))));
            return now;
        }
        let control = u64::from(self.costs.control_bytes);
        let size = if matches!(sort, MessageKind::Eager | MessageKind::Data) { bytes.max(control) } else { control };
        let free = self.nics.entry(source).or_default();
        let begin = now.max(*free);
        *free = begin + leaves_after(size, self.packet);
        let (left, arrival) = (*free, begin + alone(size, self.packet));
        let first: u64 = packets(size, self.packet).map(|bytes| ser(bytes, super::support::NODE)).sum();
        self.taken.entry(destination).or_default().push((arrival - super::support::WIRE - first, arrival));
        self.events.push(Reverse((arrival, rank, EventKind::Arrives(peer, label, sort, bytes))));
        left
    }

    fn complete(&mut self, now: u64, rank: u32, operation: u32) -> Vec<u32> {
        let state = &mut self.ranks[rank as usize];
        state.left -= 1;
        state.finish = state.finish.max(now);
        self.follow(rank, operation, Start::AtEnd)
    }

    /// The operations that are ready after an event of an operation.
    fn follow(&mut self, rank: u32, operation: u32, event: Start) -> Vec<u32> {
        let mut ready = Vec::new();
        for &(follower, start) in self.trace.graph(rank).followers(operation) {
            let waits_for = &mut self.ranks[rank as usize].waits_for[follower as usize];
            *waits_for -= u32::from(start == event);
            if start == event && *waits_for == 0 {
                ready.push(follower);
            }
        }
        ready
    }

    fn uses_rendezvous(&self, from: u32, to: u32, bytes: u64) -> bool {
        bytes > self.costs.eager_bytes && self.nodes[from as usize] != self.nodes[to as usize]
    }

    fn copy(&self, bytes: u64) -> u64 {
        self.costs.copy.map_or(0, |copy| copy.serialisation_ps(bytes))
    }
}
