//! A second opinion: the arithmetic of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010) for traces on a star, once through, on a
//! network in which no two messages meet. It knows no packets in a router, no credits and no queue of events per router: a message is
//! a time, and its sender's NIC is taken for a while. Where two messages would meet on the wire to a node, it says so.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use odonata_programs::trace::{Start, Task, Trace};
use odonata_sim::spec::Costs;

use super::support::{alone, leaves_after, packets};
use crate::support::ser;

/// What the oracle has worked out.
pub struct Opinion {
    /// When each rank finishes.
    pub finishes: Vec<u64>,
    /// Whether no two messages met on the wire to a node.
    pub alone: bool,
}

type Key = (u32, u32, u64); // from, to, label

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Eager,
    Request,
    Clearance,
    Data,
}

/// Kinds of moment in the order of docs/model.md, with what orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrives(u32, u64, Sort, u64),
    Begins(u64, u32),
    Ends(u64, u32),
    Left(u32, u64, u32),
    Starts,
}

enum Receive {
    Posted(u32),
    Come,
    Asked,
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
    moments: BinaryHeap<Reverse<(u64, u32, What)>>,
    receives: BTreeMap<Key, Receive>,
    sends: BTreeMap<Key, u32>,
    nics: BTreeMap<u32, u64>,
    /// By node: when a message was on the wire to it.
    taken: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl<'a> Oracle<'a> {
    /// The ranks on `nodes` of a star (`support::star`) with packets of `packet` bytes.
    pub fn of(trace: &'a Trace, nodes: &'a [u32], costs: Costs, packet: u64) -> Opinion {
        let rank = |rank| {
            let graph = trace.graph(rank);
            let waits_for: Vec<u32> = (0..graph.steps().len() as u32).map(|step| graph.waits_for(step)).collect();
            Rank { cpus: vec![0; 256], left: waits_for.len(), waits_for, works: 0, finish: 0 }
        };
        let ranks = (0..trace.ranks()).map(rank).collect();
        let moments = (0..trace.ranks()).map(|rank| Reverse((0, rank, What::Starts))).collect();
        let (receives, sends, nics, taken) = Default::default();
        let mut oracle = Self { trace, nodes, costs, packet, ranks, moments, receives, sends, nics, taken };
        while let Some(Reverse((now, rank, what))) = oracle.moments.pop() {
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

    /// What is ready after a moment.
    fn happens(&mut self, now: u64, rank: u32, what: What) -> Vec<u32> {
        match what {
            What::Starts => (0..)
                .zip(&self.ranks[rank as usize].waits_for)
                .filter(|(_, n)| **n == 0)
                .map(|(step, _)| step)
                .collect(),
            What::Begins(_, step) => self.follow(rank, step, Start::AtBegin),
            What::Ends(_, step) => self.work_ends(now, rank, step),
            What::Left(_, _, step) => self.complete(now, rank, step),
            What::Arrives(peer, label, Sort::Clearance, bytes) => {
                let step = self.sends[&(rank, peer, label)];
                let left = self.send(now, (rank, peer), (peer, rank, label), Sort::Data, bytes);
                self.moments.push(Reverse((left, rank, What::Left(peer, label, step))));
                Vec::new()
            }
            What::Arrives(peer, label, sort, bytes) => {
                let key = (peer, rank, label);
                match (self.receives.remove(&key), sort) {
                    (Some(Receive::Posted(step)), Sort::Request) => {
                        self.clear(now, key, bytes, step);
                        Vec::new()
                    }
                    (Some(Receive::Posted(step)), _) => self.receive(now, rank, step, peer, bytes),
                    (_, Sort::Request) => self.keep(key, Receive::Asked),
                    _ => self.keep(key, Receive::Come),
                }
            }
        }
    }

    fn keep(&mut self, key: Key, receive: Receive) -> Vec<u32> {
        self.receives.insert(key, receive);
        Vec::new()
    }

    /// Begins what is ready in the order of the text.
    fn begin_all(&mut self, now: u64, rank: u32, mut ready: Vec<u32>) {
        while let Some(least) = (0..ready.len()).min_by_key(|&i| ready[i]) {
            let step = ready.swap_remove(least);
            let more = self.begin(now, rank, step);
            ready.extend(more);
        }
    }

    fn begin(&mut self, now: u64, rank: u32, step: u32) -> Vec<u32> {
        let task = self.trace.graph(rank).steps()[step as usize].task;
        match task {
            Task::Compute { ps } => self.work(now, rank, step, ps, true),
            Task::Send { to, bytes, .. } => {
                let copy = if self.asks(rank, to, bytes) { 0 } else { self.copy(bytes) };
                self.work(now, rank, step, self.costs.send_ps + copy, true)
            }
            Task::Receive { from, label, bytes } => {
                let mut ready = self.follow(rank, step, Start::AtBegin);
                let key = (from, rank, label);
                match self.receives.remove(&key) {
                    None => ready.extend(self.keep(key, Receive::Posted(step))),
                    Some(Receive::Asked) => self.clear(now, key, bytes, step),
                    Some(_) => ready.extend(self.receive(now, rank, step, from, bytes)),
                }
                ready
            }
        }
    }

    /// Takes a CPU; what is ready at once.
    fn work(&mut self, now: u64, rank: u32, step: u32, ps: u64, begins: bool) -> Vec<u32> {
        let state = &mut self.ranks[rank as usize];
        let free = &mut state.cpus[usize::from(self.trace.graph(rank).steps()[step as usize].cpu)];
        let begin = now.max(*free);
        *free = begin + ps;
        let (end, number) = (*free, state.works);
        state.works += 1;
        let mut ready = Vec::new();
        if begins && begin == now {
            ready = self.follow(rank, step, Start::AtBegin);
        } else if begins {
            self.moments.push(Reverse((begin, rank, What::Begins(number, step))));
        }
        if end == now {
            ready.extend(self.work_ends(now, rank, step));
        } else {
            self.moments.push(Reverse((end, rank, What::Ends(number, step))));
        }
        ready
    }

    fn work_ends(&mut self, now: u64, rank: u32, step: u32) -> Vec<u32> {
        if let Task::Send { to, label, bytes } = self.trace.graph(rank).steps()[step as usize].task {
            if self.asks(rank, to, bytes) {
                self.sends.insert((rank, to, label), step);
                self.send(now, (rank, to), (to, rank, label), Sort::Request, bytes);
                return Vec::new();
            }
            self.send(now, (rank, to), (to, rank, label), Sort::Eager, bytes);
        }
        self.complete(now, rank, step)
    }

    fn receive(&mut self, now: u64, rank: u32, step: u32, from: u32, bytes: u64) -> Vec<u32> {
        let copy = if self.asks(from, rank, bytes) { 0 } else { self.copy(bytes) };
        self.work(now, rank, step, self.costs.receive_ps + copy, false)
    }

    /// Tells the sender that its message may come.
    fn clear(&mut self, now: u64, key: Key, bytes: u64, step: u32) {
        let (from, to, label) = key;
        self.send(now, (to, from), (from, to, label), Sort::Clearance, bytes);
        self.receives.insert(key, Receive::Posted(step));
    }

    /// Sends from one rank to another; the moment is (to whom, from whom, label). Returns when the last byte has left the NIC.
    fn send(&mut self, now: u64, (from, to): (u32, u32), (rank, peer, label): Key, sort: Sort, bytes: u64) -> u64 {
        let [source, destination] = [from, to].map(|rank| self.nodes[rank as usize]);
        if source == destination {
            let arrival = now + self.costs.memory_ps;
            self.moments.push(Reverse((arrival, rank, What::Arrives(peer, label, sort, bytes))));
            return now;
        }
        let control = u64::from(self.costs.control_bytes);
        let size = if matches!(sort, Sort::Eager | Sort::Data) { bytes.max(control) } else { control };
        let free = self.nics.entry(source).or_default();
        let begin = now.max(*free);
        *free = begin + leaves_after(size, self.packet);
        let (left, arrival) = (*free, begin + alone(size, self.packet));
        let first: u64 = packets(size, self.packet).map(|bytes| ser(bytes, super::support::NODE)).sum();
        self.taken.entry(destination).or_default().push((arrival - super::support::WIRE - first, arrival));
        self.moments.push(Reverse((arrival, rank, What::Arrives(peer, label, sort, bytes))));
        left
    }

    fn complete(&mut self, now: u64, rank: u32, step: u32) -> Vec<u32> {
        let state = &mut self.ranks[rank as usize];
        state.left -= 1;
        state.finish = state.finish.max(now);
        self.follow(rank, step, Start::AtEnd)
    }

    /// What is ready now that a moment of an operation has happened.
    fn follow(&mut self, rank: u32, step: u32, moment: Start) -> Vec<u32> {
        let mut ready = Vec::new();
        for &(follower, start) in self.trace.graph(rank).followers(step) {
            let waits_for = &mut self.ranks[rank as usize].waits_for[follower as usize];
            *waits_for -= u32::from(start == moment);
            if start == moment && *waits_for == 0 {
                ready.push(follower);
            }
        }
        ready
    }

    fn asks(&self, from: u32, to: u32, bytes: u64) -> bool {
        bytes > self.costs.eager_bytes && self.nodes[from as usize] != self.nodes[to as usize]
    }

    fn copy(&self, bytes: u64) -> u64 {
        self.costs.copy.map_or(0, |copy| copy.serialisation_ps(bytes))
    }
}
