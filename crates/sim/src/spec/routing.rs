//! The list of all routings and their options.
//!
//! This file alone has the name of a routing, its machines, and the meaning and range of its options. The command line,
//! the documentation and the generator of the tests read [`ROUTINGS`].

use odonata_error::{Error, Path};
use odonata_programs::choices;
use serde::{Deserialize, Serialize};

use super::options::{Described, OptionInfo, Values, check_option, option};

/// The largest factor (in thousandths) and the largest size of an option.
const MOST: u64 = 1_000_000_000;
/// The largest number of decisions or messages of an option.
const MOST_COUNT: u32 = 1_000_000_000;
/// The kind of machine with leaves and spines.
const PLUS: &[&str] = &["dragonfly-plus"];
/// The kinds of machine whose routers all have nodes.
const DIRECT: &[&str] = &["dragonfly", "cascade"];
/// The kind of machine of leaves, spines and cores.
const TREE: &[&str] = &["fat-tree"];
/// The kind of machine that is a grid with all links of every row.
const HYPERX: &[&str] = &["hyperx"];
/// The kinds of machine whose minimal paths a routing picks from.
const ALL: &[&str] = &["dragonfly-plus", "dragonfly", "cascade", "hyperx", "graph"];
/// The kind of machine that is a list of links.
const GRAPH: &[&str] = &["graph"];
/// All kinds of machine.
const EVERY: &[&str] = &["dragonfly-plus", "dragonfly", "cascade", "fat-tree", "hyperx", "graph"];
/// Most numbers of a router that a routing of one's own keeps (8 MiB).
const MOST_STATE: u32 = 1 << 20;

/// What the list says of a routing.
#[derive(Clone, Copy, Debug)]
pub struct RoutingInfo {
    /// Its name in a specification.
    pub name: &'static str,
    /// What it does, and its source.
    pub about: &'static str,
    /// Kinds of machine that it is for.
    pub machines: &'static [&'static str],
    /// Its options.
    pub options: &'static [OptionInfo],
}

macro_rules! gateways {
    ($field:ident) => {
        Gated::gateways($field)
    };
    ($field:ident, $least:literal) => {{
        let _ = $field;
        None
    }};
}

/// Makes the specification of all routings, and [`ROUTINGS`]. An option is a name or, with a range, a number. Behind `=>`
/// stands its default as a document writes it; one that depends on the machine stands in `odonata.scenario.routings`.
macro_rules! routings {
    ($(
        $(#[doc = $about:literal])+
        $Name:ident = $name:literal for $machines:ident {
            $( $(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])? $field:ident: $type:ty $(= $least:literal..=$most:expr)? $(=> $default:literal)?, )+
        }
    )+) => {
        /// The routing of packets (one file each under `routing/`).
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "name", deny_unknown_fields)]
        pub enum RoutingSpec {
            $( $(#[doc = $about])+ #[serde(rename = $name)] $Name {
                $( $(#[doc = $doc])+ $(#[serde($($serde)*)])? $field: $type, )+
            }, )+
        }

        /// All routings.
        pub const ROUTINGS: &[RoutingInfo] = &[$( RoutingInfo {
            name: $name,
            about: concat!($($about),+),
            machines: $machines,
            options: &[$( option!(concat!($($doc),+), $field, $type $(, $least, $most)?)$(.or($default))? ),+],
        } ),+];

        impl RoutingSpec {
            /// Its name in a specification.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $( Self::$Name { .. } => $name, )+ }
            }

            /// Which cables between two groups count as shortest, if it has this option.
            #[must_use]
            pub fn gateways(&self) -> Option<Gateways> {
                match self { $( Self::$Name { $($field),+ } => None$(.or(gateways!($field $(, $least)?)))+, )+ }
            }

            /// Refuses numbers that have no meaning on any machine. `at` is its path.
            ///
            /// # Errors
            /// `OutOfRange`, at the option.
            pub fn check_ranges(&self, at: &Path) -> Result<(), Error> {
                match self { $( Self::$Name { $($field),+ } => { $( check_option!(at, $field, $field $(, $least, $most)?); )+ } )+ }
                Ok(())
            }
        }
    };
}

impl RoutingSpec {
    /// What the list says of it.
    #[must_use]
    pub fn info(&self) -> &'static RoutingInfo {
        ROUTINGS.iter().find(|info| info.name == self.name()).expect("both are made from one list")
    }
}

impl RoutingSpec {
    /// Whether the path of each packet follows from its key alone, and packets have keys of their own.
    #[must_use]
    pub fn sprays(&self) -> bool {
        matches!(
            self,
            Self::Minimal { select: Select::Random, .. }
                | Self::Valiant { select: Select::Random, .. }
                | Self::DimensionOrder { select: Select::Random }
                | Self::Autonet { select: Select::Random }
                | Self::UpDown { spread: Spread::Packet }
        )
    }
}

routings! {
    /// Minimal paths only; `select` chooses one of several equal paths.
    Minimal = "minimal" for ALL {
        /// How one of several equal paths is picked.
        select: Select => "random",
        /// Which cables to another group count as shortest (dragonfly, cascade).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateways: Option<Gateways>,
    }
    /// Packets go through a random intermediate stop, usually in a random other group. Source: Valiant 1982; Kim 2008,
    /// section 4.1.
    Valiant = "valiant" for ALL {
        /// Where the second phase begins.
        via: Via,
        /// How one of several equal paths is picked.
        select: Select,
        /// The path of a packet that stays in its group (dragonfly, cascade). Without it: `router` if `via` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<InsideGroup>,
        /// As for `minimal`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gateways: Option<Gateways>,
    }
    /// Takes the minimal port unless its backlog is longer than `factor` times that of another. Source: the default of the
    /// simulator of Kang 2019, section 3.1.2, whose threshold is 0 B and whose factor is 1.
    ProgAdaptive = "prog-adaptive" for PLUS {
        /// A minimal port with at most this backlog is taken at once.
        threshold_bytes: u64 = 0..=MOST => "0 B",
        /// The minimal port may have this many times the backlog of the other.
        factor_milli: u64 = 0..=MOST => "1",
        /// Which non-minimal ports are compared at the source spine.
        candidates: FparCandidates => "all-groups",
    }
    /// Fully progressive adaptive routing (K5 to K7). Source: Shpiner 2017; Kang 2019, section 3.1.2.
    Fpar = "fpar" for PLUS {
        /// Threshold of the score, in millionths of the capacity.
        threshold_ppm: u32 = 0..=1_000_000_u32,
        /// Whether a score equal to the threshold still counts as free.
        compare: Compare,
        /// Which non-minimal ports are considered.
        candidates: FparCandidates,
        /// Where a packet on a non-minimal path changes to channel 1.
        channel_switch: ChannelSwitch,
    }
    /// One decision at the first router between minimal and non-minimal paths. Source: Singh 2005; Kim 2008, section 4.
    Ugal = "ugal" for DIRECT {
        /// Whether the algorithm knows the loads of all global links (UGAL-G), or only those of its own router
        /// (UGAL-L).
        knowledge: Knowledge,
        /// Where the second phase of a non-minimal path begins: `group` or `router`.
        via: Via,
        /// The non-minimal paths of a packet that stays in its group. Without it: `router` if `via` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<InsideGroup>,
        /// Minimal paths that are compared, 1 or 2.
        minimal_candidates: u8 = 1..=2_u8,
        /// Non-minimal paths that are compared, 1 or 2.
        other_candidates: u8 = 1..=2_u8,
        /// Weight of a non-minimal path, in thousandths: its load, multiplied by this, must be below that of the
        /// minimal path.
        factor_milli: u64 = 0..=MOST,
        /// Added to the load of a non-minimal path, in bytes of its first link.
        bias_bytes: u64 = 0..=MOST,
        /// As for `minimal`.
        gateways: Gateways,
    }
    /// As `ugal` with local knowledge, and a packet on a minimal path decides again at the routers of its source group.
    /// Source: Jiang 2009.
    Par = "par" for DIRECT {
        /// As for `ugal`.
        via: Via,
        /// As for `ugal`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<InsideGroup>,
        /// As for `ugal`.
        minimal_candidates: u8 = 1..=2_u8,
        /// As for `ugal`.
        other_candidates: u8 = 1..=2_u8,
        /// As for `ugal`.
        factor_milli: u64 = 0..=MOST,
        /// As for `ugal`.
        bias_bytes: u64 = 0..=MOST,
        /// As for `minimal`.
        gateways: Gateways,
    }
    /// SST's adaptive routing: a non-minimal path if there is much more free buffer that way (L4). Source: Zhang 2018.
    AdaptiveLocal = "adaptive-local" for DIRECT {
        /// How many thousandths of the direct port's free buffer the other must exceed.
        factor_milli: u64 = 0..=MOST,
        /// The other path of a packet that stays in its group. Without it: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<InsideGroup>,
        /// As for `minimal`.
        gateways: Gateways,
    }
    /// A mode of Cray's Aries (D6, D7). Source: De Sensi 2019, section 2.2.
    Aries = "aries" for DIRECT {
        /// The mode.
        mode: AriesMode,
        /// Bias of `adaptive-2`, in bytes.
        bias_low_bytes: u64 = 0..=MOST,
        /// Bias of `adaptive-3`, and of `adaptive-1` at its last decision.
        bias_high_bytes: u64 = 0..=MOST,
        /// As for `minimal`.
        gateways: Gateways,
    }
    /// Each message is sent with the mode of Aries that a policy of its rank selects (D13 to D15). Needs NICs of Aries.
    /// Source: De Sensi 2019, section 4.2.
    ApplicationAware = "application-aware" for DIRECT {
        /// How the mode is selected.
        policy: ModePolicy,
        /// Policies that take turns with it: iteration k (of traffic: interval k) of a rank has number k of `policy` and
        /// these, modulo how many they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        then: Vec<ModePolicy>,
        /// Bias of `adaptive-3`, and of `adaptive-1` at its last decision.
        bias_high_bytes: u64 = 0..=MOST,
        /// Bytes of messages that must add up before the counters decide. Until then, messages have a high bias.
        threshold_bytes: u64 = 0..=MOST,
        /// Decisions after which an observation is too old.
        sample_age: u32 = 1..=MOST_COUNT,
        /// Initial latency with a high bias, in millionths of that with the default mode.
        latency_ratio_ppm: u64 = 1_000..=1_000_000_000_u64,
        /// Initial stalls with a high bias, in millionths of those with the default mode.
        stall_ratio_ppm: u64 = 1_000..=1_000_000_000_u64,
        /// For `app-aware-h`: the millionths of the time that a change must save.
        margin_ppm: u32 = 0..=999_999_u32,
        /// For `app-aware-h`: observed messages between two changes.
        dwell: u32 = 0..=MOST_COUNT,
        /// As for `minimal`.
        gateways: Gateways,
    }
    /// Up until the destination is below, then down; `spread` chooses one of several equal ports. Source: Zahavi 2010
    /// (D-mod-k); Dixit 2013 (packet spraying).
    UpDown = "up-down" for TREE {
        /// How packets are spread over equal ports.
        spread: Spread => "least-loaded",
    }
    /// One dimension after the other, in ascending order; `select` chooses one of several parallel cables. Not for machines
    /// with failures. Source: Ahn 2009.
    DimensionOrder = "dimension-order" for HYPERX {
        /// How one of several parallel cables is picked.
        select: Select => "random",
    }
    /// At every router the port with the least load times links to the destination, among minimal ports and, while
    /// distance classes are left, deroutes in the dimensions that still differ (OmniWAR). Source: McDonald 2019.
    OmniWar = "omni-war" for HYPERX {
        /// Distance classes, that is channels, beyond those of the longest shortest path.
        deroutes: u8 = 0..=13_u8,
    }
    /// One decision at the first router between a shortest path and one through a random router, by load times links.
    /// Source: Singh 2005 (UGAL).
    UgalHops = "ugal-hops" for GRAPH {
        /// Non-minimal paths that are compared, 1 or 2.
        other_candidates: u8 = 1..=2_u8 => "1",
        /// Added to the load of a non-minimal path, in bytes of its first link.
        bias_bytes: u64 = 0..=MOST => "0 B",
    }
    /// Shortest paths that go up first and then down in a tree of the routers (up*/down*), on one channel; `select` chooses
    /// one of several equal ports. Source: Schroeder 1991 (Autonet).
    Autonet = "autonet" for GRAPH {
        /// How one of several equal ports is picked.
        select: Select => "random",
    }
    /// A function of one's own picks among the ports from which the destination can still be reached. Source of the
    /// channels: Gunther 1981.
    Custom = "custom" for EVERY {
        /// The name under which the functions are known.
        program: String,
        /// Most links between routers of a path, which is the number of channels.
        hops: u8 = 1..=16_u8,
        /// Numbers that each router keeps.
        state: u32 = 0..=MOST_STATE,
        /// Which packets have the same key.
        #[serde(default, skip_serializing_if = "Keys::is_packet")]
        keys: Keys => "packet",
    }
}

choices! {
    /// How one of several equal paths is picked.
    pub enum Select {
        /// Uniformly at random for each packet.
        Random = "random",
        /// By a hash of source and destination: always the same between two nodes.
        Hash = "hash",
        /// The least backlog, ties at random.
        LeastLoaded = "least-loaded",
    }
}

choices! {
    /// Which packets have the same key, from which their random numbers come.
    pub enum Keys {
        /// None.
        Packet = "packet",
        /// Those from one node to another.
        Flow = "flow",
    }
}

#[expect(clippy::derivable_impls, reason = "the enum is made from a list")]
impl Default for Keys {
    fn default() -> Self {
        Self::Packet
    }
}

impl Keys {
    /// Whether it is the default.
    #[must_use]
    pub fn is_packet(&self) -> bool {
        *self == Self::Packet
    }
}

choices! {
    /// How packets are spread over the equal ports of a fat tree.
    pub enum Spread {
        /// By a hash of source and destination, as ECMP does with flows: always the same between two nodes.
        Hash = "hash",
        /// By the number of the destination, so that all packets to it come down by the same links.
        DModK = "d-mod-k",
        /// At random for each packet (packet spraying).
        Packet = "packet",
        /// The least load, ties at random (adaptive routing).
        LeastLoaded = "least-loaded",
    }
}

choices! {
    /// Where the second phase of a non-minimal path begins.
    pub enum Via {
        /// At the spine where the packet enters the intermediate group (Dragonfly+, as is `leaf`).
        Spine = "spine",
        /// At a random leaf of the intermediate group.
        Leaf = "leaf",
        /// At the router where the packet enters the intermediate group (dragonfly, cascade).
        Group = "group",
        /// At a random router of the intermediate group, or of the own group for packets that stay in it (dragonfly,
        /// cascade); at a random router of the machine (HyperX, graph).
        Router = "router",
    }
}

choices! {
    /// The path of a packet that stays in its group.
    pub enum InsideGroup {
        /// Minimal paths only.
        Minimal = "minimal",
        /// Through a random router of the group.
        Router = "router",
    }
}

choices! {
    /// Which cables between two groups count as shortest paths.
    pub enum Gateways {
        /// Those whose router is nearest.
        Nearest = "nearest",
        /// All.
        All = "all",
    }
}

choices! {
    /// What an adaptive routing knows of loads.
    pub enum Knowledge {
        /// Those of its own router's ports.
        Local = "local",
        /// Also the load of the global link on the path.
        Global = "global",
    }
}

choices! {
    /// Routing modes of Aries (De Sensi 2019, section 2.2; D7).
    pub enum AriesMode {
        /// No bias.
        Adaptive0 = "adaptive-0",
        /// Bias towards minimal paths that grows with the hops so far.
        Adaptive1 = "adaptive-1",
        /// Low bias.
        Adaptive2 = "adaptive-2",
        /// High bias.
        Adaptive3 = "adaptive-3",
        /// Minimal paths, the same for all packets of a message.
        MinHash = "min-hash",
        /// Non-minimal paths, the same for all packets of a message.
        NminHash = "nmin-hash",
        /// A minimal path, always the same between two nodes.
        InOrder = "in-order",
    }
}

choices! {
    /// How application-aware routing selects the mode of a message (docs/application-aware.md).
    pub enum ModePolicy {
        /// Always the default of Cray MPI: `adaptive-0`, and `adaptive-1` for all-to-all.
        Default = "default",
        /// Always `adaptive-3`.
        HighBias = "high-bias",
        /// What the library of the authors does.
        AppAware = "app-aware",
        /// Algorithm 1 as the paper describes it, with learned factors.
        AppAwareContinuous = "app-aware-continuous",
        /// Algorithm 1 that does not oscillate.
        AppAwareH = "app-aware-h",
        /// A bandit that explores.
        Bandit = "bandit",
    }
}

choices! {
    /// `score < T` or `score <= T`.
    pub enum Compare {
        /// Strictly below, as the paper says.
        Below = "below",
        /// At most, as in the authors' code.
        AtMost = "at-most",
    }
}

choices! {
    /// Which non-minimal ports an adaptive decision at the source spine considers.
    pub enum FparCandidates {
        /// Its links to all other groups.
        AllGroups = "all-groups",
        /// Its links to one other group, drawn once per packet.
        OneGroup = "one-group",
    }
}

choices! {
    /// Where a diverted packet changes to channel 1.
    pub enum ChannelSwitch {
        /// Where it is sent on minimally: the intermediate spine or leaf (the paper; free of deadlock).
        Intermediate = "intermediate",
        /// Only at the intermediate leaf (the authors' code): global links then wait for each other on channel 0, which
        /// can deadlock, so the fabric refuses it.
        IntermediateLeaf = "intermediate-leaf",
    }
}

/// A type of option that may select gateways.
trait Gated {
    /// The gateways that the option selects.
    fn gateways(&self) -> Option<Gateways> {
        None
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
named!(Select, Spread, Via, InsideGroup, Gateways, Knowledge, AriesMode, ModePolicy, Compare, FparCandidates);
named!(ChannelSwitch, Keys);

macro_rules! without_gateways {
    ($($type:ty),+) => { $( impl Gated for $type {} )+ };
}
without_gateways!(Select, Spread, Via, Option<InsideGroup>, Knowledge, AriesMode, ModePolicy, Vec<ModePolicy>, Compare);
without_gateways!(FparCandidates, ChannelSwitch, Keys, String);

impl Gated for Gateways {
    fn gateways(&self) -> Option<Gateways> {
        Some(*self)
    }
}

impl Gated for Option<Gateways> {
    fn gateways(&self) -> Option<Gateways> {
        *self
    }
}
