//! The policies of application-aware jobs, and what they will have observed (docs/model.md, section 3).

use odonata_decision::{Counters, Decision, Message, Mode, Operation, Policy};

use crate::output::MessageCounters;
use crate::spec::{self, Spec};

/// What a NIC has counted for a message.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// When the last response to it comes.
    pub at: u64,
    /// Its NIC.
    pub nic: u32,
    /// Its mode.
    pub mode: Mode,
    /// What was counted.
    pub counters: MessageCounters,
}

/// One rank.
struct RankPolicy {
    policy: Policy,
    /// Complete messages that it has not looked at: it knows those that are complete when it sends.
    unread: Vec<Observation>,
}

/// All policies of a run.
#[derive(Default)]
pub struct ModePolicies {
    /// By job and rank; no ranks for a job that is not application-aware.
    jobs: Vec<Vec<RankPolicy>>,
    operation: Operation,
    /// Clock cycle of the NICs.
    cycle_ps: u64,
}

impl ModePolicies {
    /// The policies of a checked specification.
    #[must_use]
    pub fn new(spec: &Spec) -> Self {
        let Some(aries) = spec.fabric.nic.aries else { return Self::default() };
        let rank = |policy| RankPolicy { policy, unread: Vec::new() };
        let jobs = (0..spec.jobs.len()).map(|job| spec.mode_policies(job).into_iter().map(rank).collect());
        let operation = match aries.operation {
            spec::Operation::Put => Operation::Put,
            spec::Operation::Get => Operation::Get,
        };
        Self { jobs: jobs.collect(), operation, cycle_ps: aries.cycle_ps }
    }

    /// The mode of a message that a rank sends at `now`; none if its job is not application-aware.
    pub fn select(&mut self, job: u16, rank: u32, bytes: u64, alltoall: bool, now: u64) -> Option<Decision> {
        let of = self.jobs[usize::from(job)].get_mut(rank as usize)?;
        if !of.unread.is_empty() {
            of.unread.sort_unstable_by_key(|observation| (observation.at, observation.nic));
            let known = of.unread.partition_point(|observation| observation.at <= now);
            for Observation { mode, counters, .. } in of.unread.drain(..known) {
                let counters = Counters {
                    request_flits: counters.flits,
                    stalled_cycles: counters.stalled_ps / self.cycle_ps,
                    request_packets: counters.packets,
                    latency_cycles: counters.latency_ps / self.cycle_ps,
                };
                of.policy.observe(mode, counters);
            }
        }
        Some(of.policy.select(Message { bytes, operation: self.operation, alltoall }))
    }

    /// A message that a rank wants to know of is complete, or its last response is on its way.
    pub fn observe(&mut self, job: u16, rank: u32, observation: Observation) {
        self.jobs[usize::from(job)][rank as usize].unread.push(observation);
    }
}
