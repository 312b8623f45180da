//! Routings and their options.

use serde::{Deserialize, Serialize};

/// How packets find their way (one file each under `routing/`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoutingSpec {
    /// Shortest paths only.
    Minimal {
        /// Which of several equal ways.
        select: Select,
        /// Which cables to another group count as shortest (dragonfly, cascade).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateways: Option<Gateways>,
    },
    /// By way of a random stop, usually in a random other group.
    Valiant {
        /// Where the packet turns to its destination.
        via: Via,
        /// Which of several equal ways.
        select: Select,
        /// As for `minimal`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateways: Option<Gateways>,
    },
    /// One decision at the first router between shortest ways and ways round (UGAL; dragonfly, cascade).
    Ugal {
        /// Whether the loads of the global links themselves are known (UGAL-G), or only those of the own router.
        knowledge: Knowledge,
        /// Where a packet sent round turns: `group` or `router`.
        via: Via,
        /// Shortest ways that are compared, 1 or 2.
        minimal_candidates: u8,
        /// Ways round that are compared, 1 or 2.
        other_candidates: u8,
        /// A way round must have less than this many thousandths of the load, as it is longer.
        factor_milli: u64,
        /// Added to the load of a way round, in bytes of its first link.
        bias_bytes: u64,
        /// As for `minimal`.
        gateways: Gateways,
    },
    /// As `ugal` with local knowledge, and a packet sent minimally decides again at the routers of its source group.
    Par {
        /// As for `ugal`.
        via: Via,
        /// As for `ugal`.
        minimal_candidates: u8,
        /// As for `ugal`.
        other_candidates: u8,
        /// As for `ugal`.
        factor_milli: u64,
        /// As for `ugal`.
        bias_bytes: u64,
        /// As for `minimal`.
        gateways: Gateways,
    },
    /// SST's adaptive routing: round if there is much more free buffer that way (L4).
    AdaptiveLocal {
        /// How many thousandths of the direct port's free buffer the other must exceed.
        factor_milli: u64,
        /// As for `minimal`.
        gateways: Gateways,
    },
    /// A mode of Cray's Aries (D6, D7).
    Aries {
        /// Which.
        mode: AriesMode,
        /// Bias of `adaptive-2`, in bytes.
        bias_low_bytes: u64,
        /// Bias of `adaptive-3`, and of `adaptive-1` at its last decision.
        bias_high_bytes: u64,
        /// As for `minimal`.
        gateways: Gateways,
    },
    /// Progressive adaptive routing by absolute backlogs (K8).
    ProgAdaptive {
        /// A minimal port with at most this much queued is taken at once, in bytes of its own link.
        threshold_bytes: u64,
        /// The minimal port is also taken when its backlog is at most this many thousandths of the other's.
        factor_milli: u64,
        /// Which non-minimal ports are compared.
        candidates: FparCandidates,
    },
    /// Fully progressive adaptive routing (K5 to K7).
    Fpar {
        /// Threshold of the score, in millionths of the capacity.
        threshold_ppm: u32,
        /// Whether a score equal to the threshold still counts as free.
        compare: Compare,
        /// Which non-minimal ports are considered.
        candidates: FparCandidates,
        /// Where a packet on its way round changes to channel 1.
        channel_switch: ChannelSwitch,
    },
}

impl RoutingSpec {
    /// Its name in a specification.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Minimal { .. } => "minimal",
            Self::Valiant { .. } => "valiant",
            Self::Ugal { .. } => "ugal",
            Self::Par { .. } => "par",
            Self::AdaptiveLocal { .. } => "adaptive-local",
            Self::Aries { .. } => "aries",
            Self::ProgAdaptive { .. } => "prog-adaptive",
            Self::Fpar { .. } => "fpar",
        }
    }
}

/// Which of several equal ways is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// Uniformly at random for each packet.
    Random,
    /// By a hash of source and destination: always the same between two nodes.
    Hash,
    /// The least backlog, ties at random.
    LeastLoaded,
}

/// Where a Valiant path turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// At the spine on which the packet enters the intermediate group (Dragonfly+, as is `leaf`).
    Spine,
    /// At a random leaf of the intermediate group.
    Leaf,
    /// At the router on which the packet enters the intermediate group (dragonfly, cascade).
    Group,
    /// At a random router of the intermediate group, or of the own group for packets that stay in it (dragonfly, cascade).
    Router,
}

/// Which cables between two groups count as shortest ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gateways {
    /// Those whose router is nearest.
    Nearest,
    /// All.
    All,
}

/// What an adaptive routing knows of loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knowledge {
    /// Those of the ports of its router.
    Local,
    /// Also that of the global link that a way leads to.
    Global,
}

/// Routing modes of Aries (De Sensi 2019, section 2.2; D7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AriesMode {
    /// No bias.
    #[serde(rename = "adaptive-0")]
    Adaptive0,
    /// Bias towards shortest ways that grows on the way.
    #[serde(rename = "adaptive-1")]
    Adaptive1,
    /// Low bias.
    #[serde(rename = "adaptive-2")]
    Adaptive2,
    /// High bias.
    #[serde(rename = "adaptive-3")]
    Adaptive3,
    /// Shortest ways, the same for all packets of a message.
    MinHash,
    /// Ways round, the same for all packets of a message.
    NminHash,
    /// A shortest way, always the same between two nodes.
    InOrder,
}

/// `score < T` or `score <= T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Strictly below, as the paper says.
    Below,
    /// At most, as the authors' code has it.
    AtMost,
}

/// Which non-minimal ports an adaptive decision at the source spine considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FparCandidates {
    /// Its links to all other groups.
    AllGroups,
    /// Its links to one other group, drawn once per packet.
    OneGroup,
}

/// Where a packet that was diverted changes to channel 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelSwitch {
    /// Where it is sent minimally on: the intermediate spine or leaf (the paper; free of deadlock).
    Intermediate,
    /// Only at the intermediate leaf (the authors' code): global links then wait for each other on channel 0,
    /// which can deadlock, so the fabric refuses it.
    IntermediateLeaf,
}
