//! Jobs and the end of a run.

use std::collections::BTreeMap;

use odonata_sim::spec::{Arrival, FabricSpec, First, JobSpec, Pattern, Record, StopSpec, Traffic};
use odonata_topology::{Network, NodeId};

use super::choices::Choices;

/// Jobs on the usable nodes of a machine; their routings are set later.
pub fn jobs(c: &mut Choices, network: &Network, mut free: Vec<u32>, fabric: &FabricSpec) -> Vec<JobSpec> {
    c.shuffle(&mut free);
    let wanted = c.within(1, 3).min(free.len() as u64 / 2) as usize;
    let mut jobs = Vec::new();
    for index in 0..wanted {
        let most = free.len() - 2 * (wanted - index - 1);
        let ranks = if index + 1 == wanted && c.chance(60) { most } else { c.within(2, most as u64) as usize };
        let mut nodes: Vec<u32> = free.drain(..ranks).collect();
        if c.chance(40) {
            nodes.sort_unstable();
        }
        let pattern = pattern(c, &nodes, network);
        let traffic = traffic(c, pattern, fabric);
        let record = c.of(&[
            Record::EveryMessage,
            Record::EveryMessage,
            Record::EveryMessage,
            Record::Histogram,
            Record::Nothing,
        ]);
        jobs.push(JobSpec {
            name: format!("job-{index}"),
            nodes,
            traffic: Some(traffic),
            program: None,
            record,
            routing: None,
            bursts: None,
            class: 0,
        });
    }
    jobs
}

pub fn pattern(c: &mut Choices, nodes: &[u32], network: &Network) -> Pattern {
    let ranks = nodes.len() as u64;
    let mut in_group: BTreeMap<u32, u32> = BTreeMap::new();
    for &node in nodes {
        *in_group.entry(network.group_of_node(NodeId(node)).0).or_default() += 1;
    }
    let groups = in_group.len() as u32;
    let level = groups > 1 && in_group.values().all(|n| Some(n) == in_group.values().next());
    match c.within(0, 11) {
        0..=2 => Pattern::UniformRandom {},
        3 | 4 => Pattern::Tornado { offset: c.within(1, ranks - 1) + ranks * c.within(0, 1) },
        5 | 6 => Pattern::Stencil3d { grid: grid(c, ranks as u32) },
        7 => Pattern::Broadcast { root: c.within(0, ranks - 1) as u32 },
        8 | 9 if groups > 1 => Pattern::GroupShift { shift: c.count(1, groups - 1) + groups * c.count(0, 1) },
        10 | 11 if level => Pattern::GroupPeers {},
        _ => Pattern::UniformRandom {},
    }
}

/// A random factorisation of a number into three factors.
pub fn grid(c: &mut Choices, ranks: u32) -> [u32; 3] {
    let divisors = |n: u32| (1..=n).filter(|d| n.is_multiple_of(*d)).collect::<Vec<_>>();
    let x = c.of(&divisors(ranks));
    let y = c.of(&divisors(ranks / x));
    [x, y, ranks / x / y]
}

pub fn traffic(c: &mut Choices, pattern: Pattern, fabric: &FabricSpec) -> Traffic {
    let packet = u64::from(fabric.packet_bytes);
    let message_bytes = match c.within(0, 4) {
        0 => packet,
        1 => c.within(1, packet),
        2 => packet * c.within(2, 4),
        _ => c.within(1, packet * 5),
    };
    // From light load to several times the bandwidth of the injection link.
    let ser = fabric.links["node"].bandwidth.serialisation_ps(message_bytes) + fabric.nic.overhead_ps;
    let interval_ps = (ser * c.of(&[20, 100, 200, 500, 3_000]) / 100).max(1);
    let jitter_ps = c.of(&[0, 0, 1_000, interval_ps]);
    Traffic {
        pattern,
        message_bytes,
        interval_ps,
        intervals: c.chance(70).then(|| c.of(&[1, 2, 5, 12, 40])),
        arrival: c.of(&[Arrival::Constant { jitter_ps }, Arrival::Poisson {}, Arrival::Staggered { jitter_ps }]),
        first: c.of(&[First::AfterInterval, First::AtZero]),
    }
}

/// When the run ends, and about how long it takes.
pub fn stop(c: &mut Choices, jobs: &[JobSpec]) -> (StopSpec, u64) {
    let finite: Vec<u32> = (0..jobs.len() as u32).filter(|&j| jobs[j as usize].traffic().intervals.is_some()).collect();
    let awaited: Vec<u32> = finite.into_iter().filter(|_| c.chance(80)).collect();
    // Limits how often the fastest job begins an interval, so that a run stays small.
    let fastest = jobs.iter().map(|j| j.traffic().interval_ps).min().expect("there is a job");
    let slowest = jobs.iter().map(|j| j.traffic().interval_ps).max().expect("there is a job");
    let horizon = (fastest * 120).min(slowest * 40).max(20);
    let bounded = jobs.iter().all(|j| j.traffic().intervals.is_some());
    let at_ps = (awaited.is_empty() || !bounded || c.chance(30)).then(|| c.within(horizon / 4, horizon));
    (StopSpec { jobs: awaited, at_ps }, horizon)
}
