//! The only input of a run: one fully resolved description, without defaults or references to files.
//!
//! Python resolves a scenario to this document and passes it as JSON. Unknown keys are errors. All times are
//! picoseconds, all sizes bytes, bandwidths millionths of a byte per second. [`check`](Spec::check) refuses what
//! cannot be simulated.

mod application_aware;
mod check;
mod classes;
mod congestion;
mod gpus;
mod jobs;
mod nic;
mod options;
mod routing;
mod sensing;

use std::collections::BTreeMap;

use odonata_programs::choices;
pub use odonata_programs::{Body, Op, Phase, PhaseAction, Program};
use odonata_topology::Bandwidth;
pub use odonata_topology::{Failures, PreparedMachine, TopologySpec};
use options::{Described, table};
use serde::{Deserialize, Serialize};

pub use check::{LONGEST_BURST_PS, MAX_CHANNELS, MAX_MESSAGE_BYTES, MAX_PACKET_BYTES, MAX_TIME_PS, SETTLE_PS};
pub(crate) use check::{MAX_ARRIVAL_COUNTS, range};
use check::{MAX_BUFFER_BYTES, MAX_DELAY_PS, MAX_DURATION_PS, MAX_ITERATIONS, MAX_WINDOW, MAX_WINDOW_BYTES};
pub use classes::{MAX_CLASSES, MAX_SHARE, TrafficClassSpec};
pub use congestion::{CONGESTION_LAWS, CongestionLaw, CongestionSpec, Feedback, LawInfo, MarkingPorts};
pub use gpus::{CpuRate, GpuLink, GpuSpec, InnerNetwork, MAX_GPUS};
pub use jobs::{
    Arrival, BurstSpec, Costs, First, JobSpec, Length, Pattern, ProgramSpec, Record, SizedCombine, SizedCosts, Traffic,
    combine_ps, sized,
};
pub use nic::{AriesSpec, Operation};
pub use options::{OptionInfo, Values};
pub use routing::{
    AriesMode, ChannelSwitch, Compare, FparCandidates, Gateways, InsideGroup, Keys, Knowledge, ModePolicy, ROUTINGS,
    RoutingInfo, RoutingSpec, Select, Spread, Via,
};
pub use sensing::{MetricKind, Sensing};

/// Version of this document; another one is refused.
pub const SPEC_VERSION: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// [`SPEC_VERSION`].
    pub version: u32,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// A published simulator to imitate, defects included; only the reference simulator knows how.
    pub compat: Option<Compat>,
    /// Defects of that simulator that are repaired, to find out what depends on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compat_without: Vec<Defect>,
    /// The machine.
    pub topology: TopologySpec,
    /// The parameters of its routers, links and NICs.
    pub fabric: FabricSpec,
    /// The routing of the packets, unless their job has its own.
    pub routing: RoutingSpec,
    /// The congestion metric.
    #[serde(default, skip_serializing_if = "Sensing::is_default")]
    pub sensing: Sensing,
    /// What has failed.
    #[serde(default, skip_serializing_if = "Failures::is_empty")]
    pub failures: Failures,
    /// The jobs, in the order of the scenario.
    pub jobs: Vec<JobSpec>,
    /// When the run ends.
    pub stop: StopSpec,
    /// What is recorded beyond totals.
    pub measure: MeasureSpec,
    /// The machine, if it is wired already.
    #[serde(skip)]
    pub prepared: Prepared,
}

/// A wired machine that a specification carries. It is not part of the document.
#[derive(Clone, Debug, Default)]
pub struct Prepared(Option<PreparedMachine>);

impl PartialEq for Prepared {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Published simulators that can be imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compat {
    /// CODES as Kang 2019 ran it (router model: joint buffers, running minima).
    #[serde(rename = "codes-2019")]
    Codes2019,
}

/// A defect of a published simulator that can be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// The least-scored port is drawn among the running minima of a scan; repaired, among the minima.
    RunningMinima,
    /// NICs send without credits; repaired, a NIC sends only if the leaf has room.
    NicWithoutCredits,
    /// Channel 0 of a port always goes first; repaired, the channels take turns.
    ChannelPriority,
}

table! {
    /// Routers, links and NICs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FabricSpec {
        /// Largest payload of a packet, in bytes (1 to 65,536). Messages are cut into packets of this size, the last one
        /// shorter.
        packet_bytes: u32 = 1..=MAX_PACKET_BYTES,
        /// Time from the arrival of a packet at a router to its route decision: from the arrival of its tail, or of its
        /// head with cut-through.
        router_delay_ps: u64 = 0..=MAX_DELAY_PS,
        /// Virtual channels of every link between routers, of each traffic class; with responses, of requests, and as many
        /// again of responses.
        channels: u8 = 1..=MAX_CHANNELS,
        /// When a router may forward a packet.
        #[serde(default, skip_serializing_if = "Switching::is_default")]
        switching: Switching,
        /// Header of every packet: bytes on a link beyond its payload.
        #[serde(default, skip_serializing_if = "is_zero")]
        header_bytes: u32 = 0..=MAX_PACKET_BYTES,
        /// Size of a flit, at least 1: a packet has a whole number of flits on a link.
        #[serde(default = "single", skip_serializing_if = "is_one")]
        flit_bytes: u32 = 1..=MAX_PACKET_BYTES,
        /// What packets cross inside a router; an ideal switch when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        router: Option<RouterSpec>,
        /// The NICs.
        nic: NicSpec,
        /// What holds senders back when queues are long; nothing when absent. Not with `nic.aries` or `nic.window_bytes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        congestion_control: Option<CongestionSpec>,
        /// Traffic classes, each with channels of its own; none when empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        traffic_classes: Vec<TrafficClassSpec>,
        /// Link parameters by class name; exactly the classes of the topology.
        links: BTreeMap<String, LinkSpec>,
    }
}

impl FabricSpec {
    /// Bytes on a link, and in buffers, of a packet with this many bytes of payload (docs/model.md, section 1).
    #[must_use]
    pub fn wire_bytes(&self, payload: u32) -> u64 {
        let flit = u64::from(self.flit_bytes);
        let wire = |payload: u32| (u64::from(payload) + u64::from(self.header_bytes)).div_ceil(flit) * flit;
        let Some(aries) = self.nic.aries else { return wire(payload) };
        let (full, rest) = (payload / aries.packet_bytes, payload % aries.packet_bytes);
        u64::from(full) * wire(aries.packet_bytes) + if rest > 0 { wire(rest) } else { 0 }
    }

    /// Virtual channels of a link between routers: those of requests of all classes, and as many of responses if there are
    /// any.
    #[must_use]
    pub fn all_channels(&self) -> u8 {
        if self.answers() { self.first_response().saturating_mul(2) } else { self.first_response() }
    }

    /// Bytes of a packet's head.
    #[must_use]
    pub fn head_bytes(&self) -> u64 {
        let flit = u64::from(self.flit_bytes);
        u64::from(self.header_bytes).div_ceil(flit).max(1) * flit
    }
}

table! {
    /// A router with a crossbar between queues at its inputs and buffers at its outputs (docs/model.md, section 4).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RouterSpec {
        /// Which packets wait for each other at an input.
        kind: RouterKind,
        /// Bandwidth of each input and each output of the crossbar, in millionths of a byte per second.
        crossbar: Bandwidth,
        /// Buffer at an output port, in bytes, for each virtual channel.
        output_buffer_bytes: u64 = 1..=MAX_BUFFER_BYTES,
        /// Which of several packets that want the same side of the crossbar goes first.
        arbitration: Arbitration,
    }
}

choices! {
    /// Which packets wait for each other at an input of a router with a crossbar.
    pub enum RouterKind {
        /// All of a virtual channel: one queue, with head-of-line blocking.
        InputQueued = "input-queued",
        /// Those of a virtual channel that want the same output virtual channel.
        VirtualOutputQueued = "virtual-output-queued",
    }
}

choices! {
    /// Which of several packets that want the same side of a crossbar goes first.
    pub enum Arbitration {
        /// The one whose queue was granted longest ago.
        LeastRecentlyServed = "least-recently-served",
    }
}

choices! {
    /// When a router may forward a packet.
    pub enum Switching {
        /// When all of it has arrived.
        StoreAndForward = "store-and-forward",
        /// When its head has arrived.
        CutThrough = "cut-through",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for Switching {
    fn default() -> Self {
        Self::StoreAndForward
    }
}

impl Switching {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn single() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

table! {
    /// A class of links, both directions alike.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LinkSpec {
        /// Bandwidth of each direction, in millionths of a byte per second.
        bandwidth: Bandwidth,
        /// Propagation delay.
        latency_ps: u64 = 0..=MAX_DELAY_PS,
        /// Input buffer at the end of the link, in bytes, for each virtual channel. For the node class it is the buffer at
        /// the router; a node accepts everything at once.
        buffer_bytes: u64 = 1..=MAX_BUFFER_BYTES,
        /// Time of a credit beyond the latency of the link.
        credit_delay_ps: u64 = 0..=MAX_DELAY_PS,
    }
}

table! {
    /// A node's network interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct NicSpec {
        /// Time for which the injection link is idle before the first packet of each message.
        overhead_ps: u64 = 0..=MAX_DELAY_PS,
        /// Which of several waiting messages sends the next packet.
        order: NicOrder,
        /// Which of a node's several NICs a message uses.
        #[serde(default, skip_serializing_if = "Rail::is_default")]
        rail: Rail,
        /// Least size on the network of the messages whose packets are divided over all NICs of their node; none is if
        /// absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stripe_bytes: Option<u64> = 1..=MAX_MESSAGE_BYTES,
        /// The NIC of Aries; a NIC without responses when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        aries: Option<AriesSpec>,
        /// Most bytes of payload on the way from a NIC to another one without an acknowledgement, at least those of a full
        /// packet. Each packet is then acknowledged. Not with `aries`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window_bytes: Option<u64> = 1..=MAX_WINDOW_BYTES,
        /// When packets are given to their node. Not with `aries`.
        #[serde(default, skip_serializing_if = "Delivery::is_default")]
        delivery: Delivery,
        /// From what the paths of packets are drawn. `reps` needs congestion control whose marks come from all ports, and
        /// routings that draw the path of each packet.
        #[serde(default, skip_serializing_if = "Entropy::is_default")]
        entropy: Entropy,
        /// A NIC acknowledges after so many packets from another one, and at once a packet that is marked or asks for it; each
        /// packet when absent. Only with `window_bytes`, or laws of congestion control that do not need one for each packet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acknowledge_every: Option<u32> = 2..=MAX_WINDOW,
    }
}

/// Values that a NIC with `reps` keeps for each destination. Source: Bonato 2025; ultraethernet/uet-htsim.
pub const REPS_VALUES: usize = 8;

choices! {
    /// From what the random draws of the path of a packet come.
    pub enum Entropy {
        /// From a value of its own for each packet.
        Fresh = "fresh",
        /// From the value of an earlier packet to the same NIC that came back without a mark, if there is one (REPS).
        /// Source: Bonato 2025.
        Reps = "reps",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for Entropy {
    fn default() -> Self {
        Self::Fresh
    }
}

impl Entropy {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

choices! {
    /// When a NIC gives packets with payload to its node.
    pub enum Delivery {
        /// As they come.
        OnArrival = "on-arrival",
        /// When all packets have come that left before them from the same NIC.
        InOrder = "in-order",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for Delivery {
    fn default() -> Self {
        Self::OnArrival
    }
}

impl Delivery {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl NicSpec {
    /// Whether a message of so many bytes on the network is divided over all `rails` NICs of its node.
    #[inline]
    #[must_use]
    pub fn stripes(&self, bytes: u64, rails: u32) -> bool {
        rails > 1 && self.stripe_bytes.is_some_and(|least| bytes >= least)
    }
}

choices! {
    /// Which of a node's several NICs a message uses, at its source and at its destination.
    pub enum Rail {
        /// The NIC that a hash of the message selects.
        Hash = "hash",
        /// The NIC of the source with the least to send.
        LeastBusy = "least-busy",
        /// For messages of programs, at each end the NIC of the rank there: the ranks of a job on a node take the NICs in
        /// turn. For other messages as `Hash`.
        ByRank = "by-rank",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made by a macro")]
impl Default for Rail {
    fn default() -> Self {
        Self::Hash
    }
}

impl Rail {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

choices! {
    /// Order of a NIC's messages.
    pub enum NicOrder {
        /// All packets of a message before those of the next.
        Fcfs = "fcfs",
        /// One packet of each waiting message in turn.
        RoundRobin = "round-robin",
    }
}

/// When a run ends: when all the named jobs have had their last message delivered, or at a time, whichever is
/// first. At least one must be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopSpec {
    /// Indices of jobs with a finite number of messages.
    pub jobs: Vec<u32>,
    /// Last instant that is simulated.
    pub at_ps: Option<u64>,
}

table! {
    /// What is recorded beyond per-job and per-link totals.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MeasureSpec {
        /// Latencies count only for messages issued at or after this instant.
        from_ps: u64,
        /// ... and before this one.
        until_ps: Option<u64>,
        /// Width of the windows in which traffic between groups is counted (K21); off when absent.
        arrivals_every_ps: Option<u64>,
        /// Whether the waiting of packets is attributed to jobs.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        blame: bool,
        /// Whether waits for room are also followed to the link at which the chain of full buffers ends.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        roots: bool,
        /// Whether the load of every link is recorded over time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        series: bool,
        /// Whether the CPU tasks of the ranks of programs are recorded.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        operations: bool,
        /// Whether packets that come after later ones are counted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reordering: bool,
    }
}

macro_rules! named {
    ($($type:ident),+) => {
        $(
            impl Described for $type {
                const VALUES: Values = Values::Names($type::NAMES);
            }
        )+
    };
}
named!(RouterKind, Arbitration, Switching, Rail, NicOrder, Delivery, Entropy, Operation);

/// Limits of a specification that are not those of a single key.
pub const LIMITS: &[(&str, u64)] = &[
    ("time_ps", MAX_TIME_PS),
    ("duration_ps", MAX_DURATION_PS),
    ("message_bytes", MAX_MESSAGE_BYTES),
    ("packet_bytes", MAX_PACKET_BYTES as u64),
    ("repetitions", MAX_ITERATIONS),
    ("traffic_classes", MAX_CLASSES as u64),
    ("gpus", MAX_GPUS as u64),
    ("arrival_counts", MAX_ARRIVAL_COUNTS),
];

/// The tables of a specification whose keys describe themselves, with their paths.
pub const TABLES: &[(&str, &[OptionInfo])] = &[
    ("fabric", FabricSpec::OPTIONS),
    ("fabric.links", LinkSpec::OPTIONS),
    ("fabric.nic", NicSpec::OPTIONS),
    ("fabric.nic.aries", AriesSpec::OPTIONS),
    ("fabric.router", RouterSpec::OPTIONS),
    ("fabric.congestion_control", CongestionSpec::OPTIONS),
    ("fabric.traffic_classes", TrafficClassSpec::OPTIONS),
    ("measure", MeasureSpec::OPTIONS),
];
