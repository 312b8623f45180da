//! Transfers between the GPUs of a node (model, section 10, "GPUs").

use std::collections::BTreeMap;

use odonata_sim::spec::{CpuRate, GpuSpec, InnerNetwork};
use odonata_topology::Bandwidth;

use super::exchange::Outgoing;
use super::rank_event::{Arrival, MessageKey, ProtocolMessageKind, RankEvent, RankId};
use crate::world::World;

/// A queue of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InnerQueue {
    /// From a GPU to the switch or to the root.
    Egress(u32),
    /// From there to a GPU.
    Ingress(u32),
    /// What all transfers of a node cross.
    Root,
    /// From one GPU to another.
    Link(u32, u32),
}

/// A message between two GPUs of a node that asks for a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Transfer {
    /// The message, as its destination sees it.
    key: MessageKey,
    /// How many queues it has passed.
    passed: usize,
    bytes: u64,
    /// The time that the CPU of its sender takes to write it, if that has a rate.
    written: Option<u64>,
    /// When its last byte comes to the queue.
    tail: u64,
    row: usize,
}

/// When each queue of each node becomes free; 0 if absent.
pub(crate) type Busy = BTreeMap<(u32, InnerQueue), u64>;

/// The queues from one GPU to another.
fn path(gpus: &GpuSpec, from: u32, to: u32) -> Vec<InnerQueue> {
    match &gpus.network {
        InnerNetwork::Switch { .. } => vec![InnerQueue::Egress(from), InnerQueue::Ingress(to)],
        InnerNetwork::Pcie { .. } => vec![InnerQueue::Egress(from), InnerQueue::Root, InnerQueue::Ingress(to)],
        InnerNetwork::Mesh { .. } => {
            // Every path of one link more, in rising order of its GPUs, until some end at the destination.
            let mut walks = vec![vec![from]];
            loop {
                if let Some(walk) = walks.iter().find(|walk| walk.last() == Some(&to)) {
                    return walk.windows(2).map(|pair| InnerQueue::Link(pair[0], pair[1])).collect();
                }
                let further = |walk: &Vec<u32>| {
                    let (end, walk) = (walk[walk.len() - 1], walk.clone());
                    let free = (0..gpus.count).filter(|gpu| !walk.contains(gpu)).collect::<Vec<_>>();
                    let next = free.into_iter().filter(move |&gpu| link(gpus, end, gpu).is_some());
                    next.map(move |gpu| [walk.clone(), vec![gpu]].concat()).collect::<Vec<_>>()
                };
                walks = walks.iter().flat_map(further).collect();
            }
        }
    }
}

/// The bandwidth of the link between two GPUs, if there is one.
fn link(gpus: &GpuSpec, a: u32, b: u32) -> Option<Bandwidth> {
    let InnerNetwork::Mesh { links, .. } = &gpus.network else { return None };
    links.iter().find(|of| (of.0, of.1) == (a, b) || (of.1, of.0) == (a, b)).map(|of| of.2)
}

/// The bandwidth of a queue, and the time behind it.
fn parameters(gpus: &GpuSpec, queue: InnerQueue) -> (Bandwidth, u64) {
    match (&gpus.network, queue) {
        (InnerNetwork::Mesh { latency_ps, .. }, InnerQueue::Link(a, b)) => {
            (link(gpus, a, b).expect("it is on a path"), *latency_ps)
        }
        (InnerNetwork::Pcie { root, .. }, InnerQueue::Root) => (*root, 0),
        (
            InnerNetwork::Switch { port, latency_ps } | InnerNetwork::Pcie { port, latency_ps, .. },
            InnerQueue::Egress(_),
        ) => (*port, *latency_ps),
        (InnerNetwork::Switch { port, .. } | InnerNetwork::Pcie { port, .. }, _) => (*port, 0),
        (InnerNetwork::Mesh { .. }, _) => unreachable!("a mesh has links only"),
    }
}

impl World<'_> {
    /// The GPU of a rank of a job that has GPUs.
    pub(crate) fn gpu(&self, who: RankId) -> Option<u32> {
        let gpus = self.spec.jobs[who.job].program.as_ref()?.gpus.as_ref()?;
        let nodes = &self.spec.jobs[who.job].nodes;
        let (before, own) = (&nodes[..who.rank as usize], nodes[who.rank as usize]);
        Some(before.iter().filter(|&&node| node == own).count() as u32 % gpus.count)
    }

    /// A message of another GPU of the node of its destination is handed over.
    pub(crate) fn begin_transfer(&mut self, t: u64, who: RankId, message: Outgoing, row: usize) {
        let to = RankId { rank: message.key.peer, ..who };
        let key = MessageKey { peer: who.rank, ..message.key };
        let cpu = self.rank(who).execution.cpu(message.cpu);
        let gpus = self.spec.jobs[who.job].program.as_ref().and_then(|of| of.gpus.as_ref()).expect("there are GPUs");
        let rate = gpus.rates.iter().find(|&&CpuRate(of, _)| of == cpu);
        let written = rate.map(|&CpuRate(_, rate)| rate.serialisation_ps(message.bytes));
        let left = self.ask_queue(t, to, Transfer { key, passed: 0, bytes: message.bytes, written, tail: t, row });
        self.expect(left, who, RankEvent::Sent(message.key));
    }

    /// A transfer to a rank asks for its next queue. Returns when it has left that queue.
    pub(crate) fn ask_queue(&mut self, t: u64, who: RankId, transfer: Transfer) -> u64 {
        let Transfer { key, passed, bytes, written, tail, row } = transfer;
        let spec = self.spec;
        let gpus = spec.jobs[who.job].program.as_ref().and_then(|of| of.gpus.as_ref()).expect("there are GPUs");
        let [from, to] = [RankId { rank: key.peer, ..who }, who].map(|rank| self.gpu(rank).expect("there are GPUs"));
        let path = path(gpus, from, to);
        let (bandwidth, latency) = parameters(gpus, path[passed]);
        let node = spec.jobs[who.job].nodes[who.rank as usize];
        let free = self.inner_queues.entry((node, path[passed])).or_default();
        let time = bandwidth.serialisation_ps(bytes);
        // A CPU with a rate leaves the rest of the queue to others.
        let pace = written.map_or(time, |written| written.max(time));
        let served = t.max(*free) + time;
        let begin = if served > t + pace { served - pace } else { t };
        // The last byte leaves when all are served, and not before it has come.
        let end = if tail > begin + pace { tail } else { begin + pace };
        *free = served.max(end + time - pace);
        if passed + 1 < path.len() {
            let further = Transfer { passed: passed + 1, tail: end + latency, ..transfer };
            self.expect(begin + latency, who, RankEvent::Queue(further));
        } else {
            self.rows[row].delivered = Some(end + latency);
            self.tally.intra_node(who.job);
            let arrival = Arrival { key, message_kind: ProtocolMessageKind::Eager, bytes };
            self.expect(end + latency, who, RankEvent::Arrival(arrival));
        }
        end
    }
}
