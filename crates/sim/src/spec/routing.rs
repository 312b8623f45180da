//! Routings and their options.

use serde::{Deserialize, Serialize};

/// How packets find their way (one file each under `routing/`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoutingSpec {
    /// Shortest paths only.
    Minimal {
        /// Which of several equal ports.
        select: Select,
    },
    /// By way of a random spine or leaf of a random other group.
    Valiant {
        /// Where the packet turns to its destination.
        via: Via,
        /// Which of several equal ports.
        select: Select,
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

/// Which of several equal ports is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// Uniformly at random.
    Random,
    /// The least backlog, ties at random.
    LeastLoaded,
}

/// Where a Valiant path turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// At the spine on which the packet enters the intermediate group.
    Spine,
    /// At a random leaf of the intermediate group.
    Leaf,
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
