//! The policies of application-aware jobs, and what they will have observed (docs/model.md, section 3).

use odonata_decision::{Counters, Decision, Message, Mode, Operation, Policy};

use super::readings::{Reading, Readings};
use crate::output::MessageCounters;
use crate::spec::Spec;

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

/// A message that a rank issues and that is answered.
pub struct ModeRequest {
    /// Its rank.
    pub rank: u32,
    /// The node of that rank.
    pub node: u32,
    /// The node that it goes to.
    pub to: u32,
    /// Its iteration, or its interval.
    pub iteration: u32,
    /// Its bytes on the network.
    pub bytes: u64,
    /// Whether it is a get.
    pub get: bool,
    /// Whether it belongs to an all-to-all.
    pub alltoall: bool,
    /// Whether it is no control message.
    pub carries: bool,
    /// When it joins the queue of its NIC.
    pub now: u64,
}

/// A policy of a rank.
struct RankPolicy {
    policy: Policy,
    /// Complete messages that it has not looked at: it knows those that are complete when it sends.
    unread: Vec<Observation>,
    /// Its last reading of the counters of its node, if it reads them and has done so.
    reading: Option<Reading>,
}

/// The policies of a job.
#[derive(Default)]
struct JobPolicies {
    /// Policies of a rank, which take turns.
    turns: u32,
    /// By rank, then by turn; none if the job is not application-aware.
    all: Vec<RankPolicy>,
}

/// All policies of a run.
#[derive(Default)]
pub struct ModePolicies {
    jobs: Vec<JobPolicies>,
    /// Clock cycle of the NICs.
    cycle_ps: u64,
}

impl ModePolicies {
    /// The policies of a checked specification.
    #[must_use]
    pub fn new(spec: &Spec) -> Self {
        let Some(aries) = spec.fabric.nic.aries else { return Self::default() };
        let new = |policy| RankPolicy { policy, unread: Vec::new(), reading: None };
        let jobs = (0..spec.jobs.len()).map(|job| {
            let ranks = spec.mode_policies(job);
            let turns = ranks.first().map_or(1, Vec::len) as u32;
            JobPolicies { turns, all: ranks.into_iter().flatten().map(new).collect() }
        });
        Self { jobs: jobs.collect(), cycle_ps: aries.cycle_ps }
    }

    /// The mode of a message of a job, and the number of the policy that selects it; none if the job is not
    /// application-aware.
    pub fn select(&mut self, readings: &mut Readings, job: u16, message: &ModeRequest) -> Option<(u32, Decision)> {
        let &ModeRequest { rank, node, to, iteration, bytes, get, alltoall, carries, now } = message;
        let operation = if get { Operation::Get } else { Operation::Put };
        let of = self.jobs.get_mut(usize::from(job))?; // none without NICs of Aries
        let number = rank * of.turns + iteration % of.turns;
        let of = of.all.get_mut(number as usize)?;
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
        let message = Message { bytes, operation, alltoall, peer: to.into(), control: !carries };
        let mut decision = of.policy.select(message);
        if decision.observe && of.policy.reads_nic() {
            decision.observe = false;
            let reading = readings.read(node, now);
            if let Some(before) = of.reading.replace(reading) {
                let Reading { flits, stalled_ps, answered, latency_ps } = reading.since(before);
                let counters = Counters {
                    request_flits: flits,
                    stalled_cycles: stalled_ps / self.cycle_ps,
                    request_packets: answered,
                    latency_cycles: latency_ps / self.cycle_ps,
                };
                of.policy.observe(decision.mode, counters);
            }
        }
        Some((number, decision))
    }

    /// A message that a policy of a job wants to know of is complete, or its last response is on its way.
    pub fn observe(&mut self, job: u16, policy: u32, observation: Observation) {
        self.jobs[usize::from(job)].all[policy as usize].unread.push(observation);
    }
}
