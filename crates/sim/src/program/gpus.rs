//! The network between the GPUs of a node: queues that transfers cross (docs/model.md, section 10, "GPUs").

use std::collections::BTreeMap;

use odonata_topology::Bandwidth;

use crate::spec::{CpuRate, GpuSpec, InnerNetwork};

/// The queues between the GPUs of all nodes of a job.
pub struct Gpus {
    /// GPU of each rank, and number of the first queue of its node.
    place: Vec<(u32, u32)>,
    count: u32,
    /// The queues of a node.
    queues: Vec<InnerQueue>,
    /// The queues of each path, by source and destination.
    paths: Vec<Vec<u32>>,
    /// When each queue of each node becomes free.
    free: Vec<u64>,
    /// How fast some CPUs of a rank write.
    rates: Vec<CpuRate>,
}

/// A queue of a node.
#[derive(Clone, Copy, Debug)]
struct InnerQueue {
    bandwidth: Bandwidth,
    /// Time from this queue to the next one, or to the GPU at the end.
    latency_ps: u64,
}

/// What a queue does with a transfer.
pub struct Served {
    /// When its last byte has left the queue.
    pub left: u64,
    /// When its first byte asks for the next queue; none if this was the last one.
    pub asks: Option<u64>,
    /// When its last byte comes to the next queue, or to the GPU at the end.
    pub comes: u64,
}

impl Gpus {
    /// Of a checked job with its ranks on these nodes; `places` are the places of the ranks on their nodes.
    #[must_use]
    pub fn new(spec: &GpuSpec, nodes: &[u32], places: &[u32]) -> Self {
        let (queues, paths) = match &spec.network {
            &InnerNetwork::Switch { port, latency_ps } => ports(spec.count, port, latency_ps, None),
            &InnerNetwork::Pcie { port, root, latency_ps } => ports(spec.count, port, latency_ps, Some(root)),
            InnerNetwork::Mesh { links, latency_ps } => {
                let both = links.iter().flat_map(|link| [(link.0, link.1, link.2), (link.1, link.0, link.2)]);
                mesh(spec.count, &both.collect::<Vec<_>>(), *latency_ps)
            }
        };
        let mut first = BTreeMap::new();
        let each = queues.len() as u32;
        let mut of_rank = |(node, &place): (&u32, &u32)| {
            let number = first.len() as u32;
            (place % spec.count, *first.entry(*node).or_insert(number * each))
        };
        let place = nodes.iter().zip(places).map(&mut of_rank).collect();
        let free = vec![0; first.len() * queues.len()];
        Self { place, count: spec.count, queues, paths, free, rates: spec.rates.clone() }
    }

    /// Whether two ranks of a node are on different GPUs.
    #[must_use]
    pub fn are_apart(&self, ranks: [u32; 2]) -> bool {
        let [from, to] = ranks.map(|rank| self.place[rank as usize].0);
        from != to
    }

    /// Whether some CPUs of a rank have rates.
    #[must_use]
    pub fn have_rates(&self) -> bool {
        !self.rates.is_empty()
    }

    /// How long a CPU of a rank writes a transfer at least: 0 without a rate.
    #[must_use]
    pub fn pace_ps(&self, cpu: u32, bytes: u64) -> u64 {
        self.rates.iter().find(|of| of.0 == cpu).map_or(0, |of| of.1.serialisation_ps(bytes))
    }

    /// A transfer between two ranks asks at `now` for the queue at a place of its path; its last byte comes at `tail`, and
    /// its CPU writes it for `pace` at least.
    pub fn serve(&mut self, ranks: [u32; 2], place: u32, bytes: u64, [now, tail, pace]: [u64; 3]) -> Served {
        let [(from, first), (to, _)] = ranks.map(|rank| self.place[rank as usize]);
        let path = &self.paths[(from * self.count + to) as usize][place as usize..];
        let InnerQueue { bandwidth, latency_ps } = self.queues[path[0] as usize];
        let time = bandwidth.serialisation_ps(bytes);
        let pace = pace.max(time);
        let free = &mut self.free[(first + path[0]) as usize];
        // When the queue has served it and all before it, if none comes later.
        let served = now.max(*free).saturating_add(time);
        let begin = now.max(served.saturating_sub(pace));
        let left = begin.saturating_add(pace).max(tail);
        *free = served.max(left - (pace - time));
        let asks = (path.len() > 1).then(|| begin.saturating_add(latency_ps));
        Served { left, asks, comes: left.saturating_add(latency_ps) }
    }
}

/// Egress ports, ingress ports and perhaps a root that all transfers cross.
fn ports(count: u32, port: Bandwidth, latency_ps: u64, root: Option<Bandwidth>) -> (Vec<InnerQueue>, Vec<Vec<u32>>) {
    let at_once = |bandwidth| InnerQueue { bandwidth, latency_ps: 0 };
    let mut queues = vec![InnerQueue { bandwidth: port, latency_ps }; count as usize];
    queues.extend(vec![at_once(port); count as usize]);
    queues.extend(root.map(at_once));
    let path = |from: u32, to: u32| {
        let middle = root.map(|_| 2 * count);
        [from].into_iter().chain(middle).chain([count + to]).collect()
    };
    (queues, (0..count * count).map(|pair| path(pair / count, pair % count)).collect())
}

/// A queue for each direction of a link, in the order of `links`, and the paths of fewest links.
fn mesh(count: u32, links: &[(u32, u32, Bandwidth)], latency_ps: u64) -> (Vec<InnerQueue>, Vec<Vec<u32>>) {
    let queues = links.iter().map(|&(_, _, bandwidth)| InnerQueue { bandwidth, latency_ps }).collect();
    let mut paths = vec![Vec::new(); (count * count) as usize];
    for to in 0..count {
        // Links from each GPU to this one, outwards from it.
        let mut distance = vec![u32::MAX; count as usize];
        distance[to as usize] = 0;
        let mut reached = vec![to];
        let mut next = 0;
        while let Some(&near) = reached.get(next) {
            next += 1;
            for &(far, _, _) in links.iter().filter(|link| link.1 == near) {
                if distance[far as usize] == u32::MAX {
                    distance[far as usize] = distance[near as usize] + 1;
                    reached.push(far);
                }
            }
        }
        for from in 0..count {
            let (mut at, path) = (from, &mut paths[(from * count + to) as usize]);
            while at != to {
                let nearer = |&(_, &(a, b, _)): &(usize, &(u32, u32, Bandwidth))| {
                    a == at && distance[b as usize] < distance[at as usize]
                };
                let (queue, link) =
                    links.iter().enumerate().filter(nearer).min_by_key(|(_, link)| link.1).expect("all are joined");
                path.push(queue as u32);
                at = link.1;
            }
        }
    }
    (queues, paths)
}
