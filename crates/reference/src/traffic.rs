//! Senders, their destinations and their times (model, section 7).

use odonata_sim::engine::random::{Stream, below, exponential, lognormal, pareto, random};
use odonata_sim::spec::{Arrival, First, JobSpec, Length, Pattern, Spec};
use odonata_topology::{Network, NodeId};

/// A rank that issues messages.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Index of the job.
    pub(crate) job: usize,
    /// Its rank.
    pub(crate) rank: u32,
    /// Its node.
    pub(crate) node: u32,
    /// Number of its next interval.
    pub(crate) interval: u64,
    /// When its latest interval began.
    pub(crate) began: u64,
    /// Messages of its latest interval that are under way.
    pub(crate) under_way: u64,
    /// Its pauses so far.
    pub(crate) pauses: Pauses,
}

/// All ranks that issue messages: of a broadcast only the root.
pub(crate) fn senders(spec: &Spec) -> Vec<Sender> {
    let mut all = Vec::new();
    for (job, of) in spec.jobs.iter().enumerate().filter(|(_, of)| of.traffic.is_some()) {
        for (rank, &node) in of.nodes.iter().enumerate() {
            if !matches!(of.traffic().pattern, Pattern::Broadcast { root } if root as usize != rank) {
                all.push(Sender {
                    job,
                    rank: rank as u32,
                    node,
                    interval: 0,
                    began: 0,
                    under_way: 0,
                    pauses: Pauses::default(),
                });
            }
        }
    }
    all
}

/// The pauses of a rank so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pauses {
    /// How many there were.
    count: u64,
    /// When the latest one ended.
    end: Option<u64>,
}

/// When a rank begins that would begin at `t`: later by a pause, if its burst is over by then. It started at `start`.
pub(crate) fn begins(seed: u64, job: &JobSpec, pauses: &mut Pauses, start: u64, t: u64) -> u64 {
    let Some(bursts) = &job.bursts else { return t };
    let random = |counter| random(seed, Stream::Burst, u64::from(job.nodes[0]), counter);
    let burst_began = pauses.end.unwrap_or(start);
    if t - burst_began < length(bursts.on, random(2 * pauses.count)) {
        return t;
    }
    let begin = t + length(bursts.off, random(2 * pauses.count + 1));
    *pauses = Pauses { count: pauses.count + 1, end: Some(begin) };
    begin
}

fn length(of: Length, random: u64) -> u64 {
    let ps = match of {
        Length::Fixed { ps } => ps,
        Length::Uniform { least_ps, most_ps } => least_ps + below(random, most_ps + 1 - least_ps),
        Length::Exponential { mean_ps } => exponential(random, mean_ps),
        Length::Lognormal { mean_ps, sigma_millionths } => lognormal(random, mean_ps, sigma_millionths),
        Length::Pareto { mean_ps, shape_millionths } => pareto(random, mean_ps, shape_millionths),
    };
    ps.clamp(1, 1 << 54)
}

/// `gap_k` of a node.
pub(crate) fn gap(seed: u64, job: &JobSpec, node: u32, k: u64) -> u64 {
    let random = random(seed, Stream::Gap, u64::from(node), k);
    let interval = job.traffic().interval_ps;
    match job.traffic().arrival {
        Arrival::Poisson {} => exponential(random, interval).max(1),
        Arrival::Constant { jitter_ps: 0 } | Arrival::Staggered { jitter_ps: 0 } => interval,
        Arrival::Constant { jitter_ps } | Arrival::Staggered { jitter_ps } => interval + exponential(random, jitter_ps),
    }
}

/// `t_0` of a node.
pub(crate) fn first(seed: u64, job: &JobSpec, node: u32) -> u64 {
    let start = match job.traffic().first {
        First::AfterInterval => gap(seed, job, node, 0),
        First::AtZero => 0,
    };
    let phase = match job.traffic().arrival {
        Arrival::Staggered { .. } => below(random(seed, Stream::Phase, u64::from(node), 0), job.traffic().interval_ps),
        Arrival::Constant { .. } | Arrival::Poisson {} => 0,
    };
    start + phase
}

/// The ranks to which a sender issues a message in its next interval, in order.
pub(crate) fn destinations(seed: u64, job: &JobSpec, network: &Network, from: &Sender) -> Vec<u32> {
    let n = job.nodes.len() as u64;
    let rank = u64::from(from.rank);
    let ranks = match job.traffic().pattern {
        Pattern::UniformRandom {} => {
            let d = below(random(seed, Stream::Destination, u64::from(from.node), from.interval), n);
            vec![if d == rank { (d + 1) % n } else { d }]
        }
        Pattern::Tornado { offset } => vec![(rank + offset % n) % n],
        Pattern::Stencil3d { grid } => neighbours(rank, grid.map(u64::from)),
        Pattern::Broadcast { .. } => (0..n).filter(|&d| d != rank).collect(),
        Pattern::GroupPeers {} => peers(job, network, rank),
        Pattern::GroupShift { shift } => {
            let random = random(seed, Stream::Destination, u64::from(from.node), from.interval);
            vec![shifted(job, network, rank, shift, random)]
        }
    };
    ranks.into_iter().map(|d| d as u32).collect()
}

fn neighbours(rank: u64, [nx, ny, nz]: [u64; 3]) -> Vec<u64> {
    let (x, y, z) = (rank % nx, rank / nx % ny, rank / nx / ny);
    let at = |x: u64, y: u64, z: u64| x + nx * (y + ny * z);
    let all = [
        at((x + nx - 1) % nx, y, z),
        at((x + 1) % nx, y, z),
        at(x, (y + ny - 1) % ny, z),
        at(x, (y + 1) % ny, z),
        at(x, y, (z + nz - 1) % nz),
        at(x, y, (z + 1) % nz),
    ];
    all.into_iter().filter(|&d| d != rank).collect()
}

/// The ranks of a job in each group of the machine, in order.
fn by_group(job: &JobSpec, network: &Network) -> Vec<Vec<u64>> {
    let mut members = vec![Vec::new(); network.groups as usize];
    for (r, &node) in job.nodes.iter().enumerate() {
        members[network.group_of_node(NodeId(node)).index()].push(r as u64);
    }
    members
}

fn shifted(job: &JobSpec, network: &Network, rank: u64, shift: u32, random: u64) -> u64 {
    let members: Vec<Vec<u64>> = by_group(job, network).into_iter().filter(|ranks| !ranks.is_empty()).collect();
    let own = members.iter().position(|ranks| ranks.contains(&rank)).expect("every rank is in a group");
    let there = &members[(own + shift as usize) % members.len()];
    there[below(random, there.len() as u64) as usize]
}

fn peers(job: &JobSpec, network: &Network, rank: u64) -> Vec<u64> {
    let members = by_group(job, network);
    let mut place = 0;
    for ranks in &members {
        place = ranks.iter().position(|&r| r == rank).unwrap_or(place);
    }
    let others = members.iter().filter(|ranks| !ranks.is_empty() && !ranks.contains(&rank));
    others.map(|ranks| ranks[place]).collect()
}
