//! The ranks that issue messages, and the traffic of their jobs.

use odonata_sim::engine::{Burst, Bursts};
use odonata_sim::spec::Spec;
use odonata_sim::traffic::{Clock, Destinations};
use odonata_topology::Network;

/// The traffic of a job.
pub(crate) struct Traffic {
    pub(crate) destinations: Destinations,
    pub(crate) clock: Clock,
    pub(crate) bursts: Option<Bursts>,
}

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
    pub(crate) interval: u32,
    /// When its latest interval began.
    pub(crate) began: u64,
    /// Messages of its latest interval that are under way.
    pub(crate) under_way: u64,
    /// Its present burst.
    pub(crate) burst: Burst,
}

impl Sender {
    /// When it begins its next interval, but not before `t`.
    pub(crate) fn next(&mut self, traffic: &Traffic, t: u64) -> u64 {
        let earliest = t.max(self.began + traffic.clock.gap(self.node, self.interval));
        traffic.bursts.as_ref().map_or(earliest, |bursts| bursts.begin(&mut self.burst, earliest))
    }
}

/// The traffic of all jobs, and all ranks that issue messages: of a broadcast only the root.
pub(crate) fn of_jobs(spec: &Spec, network: &Network) -> (Vec<Traffic>, Vec<Sender>) {
    let traffic = spec.jobs.iter().map(|job| Traffic {
        destinations: Destinations::new(job, network, spec.seed),
        clock: Clock::new(job.traffic(), spec.seed),
        bursts: Bursts::of(job, spec.seed),
    });
    let traffic: Vec<Traffic> = traffic.collect();
    let mut senders = Vec::new();
    for (job, (of, traffic)) in spec.jobs.iter().zip(&traffic).enumerate() {
        let burst = traffic.bursts.as_ref().map_or_else(Burst::default, |bursts| bursts.first(0));
        for (rank, &node) in (0..).zip(&of.nodes) {
            if traffic.destinations.only_sender().is_none_or(|only| only == rank) {
                senders.push(Sender { job, rank, node, interval: 0, began: 0, under_way: 0, burst });
            }
        }
    }
    (traffic, senders)
}
