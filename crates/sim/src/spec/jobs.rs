//! Jobs: where they run, and what they send or run.

use odonata_programs::Body;
use odonata_topology::Bandwidth;
use serde::{Deserialize, Serialize};

use super::{GpuSpec, RoutingSpec};

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Name, unique in the run.
    pub name: String,
    /// Node of each rank; disjoint from other jobs, and distinct unless the job has a program.
    pub nodes: Vec<u32>,
    /// What the ranks send; absent if they run a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// What the ranks run; absent if they send traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// What is recorded of each message.
    pub record: Record,
    /// The routing of the job, if it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Its bursts; it never pauses when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<BurstSpec>,
    /// Number of its traffic class.
    #[serde(default, skip_serializing_if = "is_first")]
    pub class: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_first(class: &u8) -> bool {
    *class == 0
}

/// The bursts of a job: a rank pauses before the first interval or iteration that would begin at the end of a burst or
/// later (docs/model.md, sections 7 and 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstSpec {
    /// How long a burst is.
    pub on: Length,
    /// How long the pause after it is.
    pub off: Length,
}

/// How long each burst or each pause of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Length {
    /// Always the same.
    Fixed {
        /// The length.
        ps: u64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean_ps: u64,
    },
    /// Uniform, in whole picoseconds.
    Uniform {
        /// The shortest length.
        least_ps: u64,
        /// The longest length.
        most_ps: u64,
    },
    /// Lognormal.
    Lognormal {
        /// Its mean.
        mean_ps: u64,
        /// Standard deviation of the natural logarithm of the length, in millionths.
        sigma_millionths: u64,
    },
    /// Pareto.
    Pareto {
        /// Its mean.
        mean_ps: u64,
        /// The exponent of its tail, in millionths; more than 1,000,000, so that there is a mean.
        shape_millionths: u64,
    },
}

/// A program, and what its operations cost (docs/model.md, section 10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// When the ranks begin.
    pub start_ps: u64,
    /// Number of iterations of the body; no end when absent.
    pub iterations: Option<u64>,
    /// Computing time before each iteration except the first.
    pub gap_ps: u64,
    /// Iteration k does not begin before `start_ps + k * every_ps`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub every_ps: u64,
    /// What operations cost.
    pub costs: Costs,
    /// What messages between nodes cost instead, by size; ascending. Between two sizes all times are linear in the size,
    /// and below the first and above the last they are constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<SizedCosts>,
    /// The bandwidth at which vectors of a size are combined, instead of `combine`; ascending. Between two sizes times are
    /// linear in the size of the vector, and below the first and above the last they are constant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combine_by_size: Vec<SizedCombine>,
    /// The GPUs of each node; ranks are on CPUs when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<GpuSpec>,
    /// One iteration.
    pub body: Body,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// What sending and receiving costs a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// CPU time to send a message (the o of LogGP).
    pub send_ps: u64,
    /// CPU time to receive a message.
    pub receive_ps: u64,
    /// Bandwidth at which the CPUs of sender and receiver copy eager and intra-node messages; copying takes no time
    /// when absent.
    pub copy: Option<Bandwidth>,
    /// Bandwidth at which a reduction combines what it receives with what it has; no time when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combine: Option<Bandwidth>,
    /// CPU time of the sender to set up a message that is larger than `eager_bytes`, before it asks the receiver.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rendezvous_ps: u64,
    /// Time from one rank to another of the same node.
    pub memory_ps: u64,
    /// Largest eager message.
    pub eager_bytes: u64,
    /// Smallest size of anything on the network, and size of RTS and CTS messages; at least 1.
    pub control_bytes: u32,
    /// Header of each message on the network: the envelope of the message-passing library.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub header_bytes: u32,
    /// Most messages with a rendezvous whose data a rank asks for at a time; 0: any number.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub fetches: u32,
}

/// What a message of one size between two nodes costs (the o_s, o_r and L of PLogP: Kielmann, Bal and Verstoep 2000).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizedCosts {
    /// The size.
    pub bytes: u64,
    /// CPU time of the sender.
    pub send_ps: u64,
    /// CPU time of the receiver.
    pub receive_ps: u64,
    /// Time from the delivery of its last byte to its arrival at the rank, in which no CPU works.
    pub delay_ps: u64,
}

/// The bandwidth at which vectors of one size are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizedCombine {
    /// Size of the vector.
    pub bytes: u64,
    /// The bandwidth.
    pub combine: Bandwidth,
}

impl ProgramSpec {
    /// The costs of a message of this size between two nodes, if they are given by size.
    #[must_use]
    pub fn sized(&self, bytes: u64) -> Option<SizedCosts> {
        sized(&self.by_size, bytes)
    }
}

/// The costs of a message of this size, on a list by ascending size; none if the list is empty.
#[must_use]
pub fn sized(list: &[SizedCosts], bytes: u64) -> Option<SizedCosts> {
    let next = list.partition_point(|costs| costs.bytes <= bytes);
    let (Some(above), true) = (list.get(next), next > 0) else { return list.get(next.saturating_sub(1)).copied() };
    let below = list[next - 1];
    let between = |from: u64, to: u64| between([below.bytes, above.bytes], [from, to], bytes);
    Some(SizedCosts {
        bytes,
        send_ps: between(below.send_ps, above.send_ps),
        receive_ps: between(below.receive_ps, above.receive_ps),
        delay_ps: between(below.delay_ps, above.delay_ps),
    })
}

/// The time to combine so many bytes in a collective on vectors of `of` bytes, with a list of bandwidths by ascending size;
/// none if the list is empty.
#[must_use]
pub fn combine_ps(list: &[SizedCombine], bytes: u64, of: u64) -> Option<u64> {
    let next = list.partition_point(|sized| sized.bytes <= of);
    let time = |sized: &SizedCombine| sized.combine.serialisation_ps(bytes);
    let (Some(above), true) = (list.get(next), next > 0) else { return list.get(next.saturating_sub(1)).map(time) };
    let below = list[next - 1];
    Some(between([below.bytes, above.bytes], [time(&below), time(above)], of))
}

/// The time at a size between two sizes with their times, rounded towards the first of these.
fn between([low, high]: [u64; 2], [from, to]: [u64; 2], bytes: u64) -> u64 {
    let part = |width: u64| (u128::from(width) * u128::from(bytes - low) / u128::from(high - low)) as u64;
    if to >= from { from + part(to - from) } else { from - part(from - to) }
}

/// What is recorded of a job's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// A row for every message, and the histogram.
    EveryMessage,
    /// The histogram of latencies only.
    Histogram,
    /// Totals only.
    Nothing,
}

/// Open-loop traffic: in every interval each rank sends what the pattern says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// Size of each message, 1 to 2^40 bytes.
    pub message_bytes: u64,
    /// Mean time between two intervals of a rank.
    pub interval_ps: u64,
    /// Number of intervals; no end when absent.
    pub intervals: Option<u64>,
    /// How the intervals vary.
    pub arrival: Arrival,
    /// When the first messages are issued.
    pub first: First,
}

/// How the time between two intervals of a rank varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrival {
    /// The interval plus an exponential jitter (Kang's generator: mean 1 ns).
    Constant {
        /// Mean of the jitter; 0 for none.
        jitter_ps: u64,
    },
    /// Exponential with the interval as mean.
    Poisson {},
    /// As constant, and each rank starts at a random phase of the interval.
    Staggered {
        /// Mean of the jitter; 0 for none.
        jitter_ps: u64,
    },
}

/// When a rank's first messages are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// After one gap, as between all others.
    AfterInterval,
    /// At time zero (plus the phase of a staggered arrival).
    AtZero,
}

/// Who sends to whom (one file each under `traffic/`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// One message to a random rank, uniformly; the own rank is replaced by the next (Kang 2019, section 3.4.1, code).
    UniformRandom {},
    /// One message to rank + offset, modulo the number of ranks (Kang 2019, section 3.4.1, code).
    Tornado {
        /// Distance in ranks, not a multiple of the number of ranks.
        offset: u64,
    },
    /// Six messages to the neighbours in a periodic grid, x fastest (Kang 2019, section 3.4.1, code).
    #[serde(rename = "stencil-3d")]
    Stencil3d {
        /// Ranks along x, y and z; the product is the number of ranks.
        grid: [u32; 3],
    },
    /// The root sends one message to each other rank; the next interval begins only when all have arrived
    /// (Kang 2019, section 3.4.1).
    Broadcast {
        /// The rank that sends.
        root: u32,
    },
    /// One message to the rank of the same number in each other group of the job (Kang 2019, section 3.3, code).
    GroupPeers {},
    /// One message to a random rank in the group that is `shift` groups further, among the groups of the job: the usual
    /// worst case of a dragonfly (Kim 2008).
    GroupShift {
        /// Distance in groups, not a multiple of their number.
        shift: u32,
    },
}

impl JobSpec {
    /// Whether it has no end.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        let sends_on = self.traffic.as_ref().is_some_and(|traffic| traffic.intervals.is_none());
        sends_on || self.program.as_ref().is_some_and(|program| program.iterations.is_none())
    }

    /// The traffic of its ranks.
    ///
    /// # Panics
    /// If the job has a program.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        self.traffic.as_ref().expect("only for jobs with traffic")
    }

    /// The traffic of its ranks, mutable.
    ///
    /// # Panics
    /// If the job has a program.
    pub fn traffic_mut(&mut self) -> &mut Traffic {
        self.traffic.as_mut().expect("only for jobs with traffic")
    }
}
