//! All codes.

use crate::{Awaited, CycleOperation, Elsewhere, Error, Parameter, Path, TracePlace, Value};

/// A code and the parameters that come with it.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The stable name, in kebab case.
    pub code: &'static str,
    /// The name and type (`integer`, `text`, `list`, `record`) of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal { $($parameter:ident: $type:ty),* $(,)? })*) => {
        /// What can be wrong. The fields of a variant are the parameters of its code.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the names of the fields say what they are
        pub enum ErrorKind {
            $($(#[$doc])* $name { $($parameter: $type),* },)*
        }

        impl ErrorKind {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code {
                code: $code,
                parameters: &[$((stringify!($parameter), <$type as Parameter>::TYPE)),*],
            }),*];

            /// The stable name.
            #[must_use]
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $code,)*
                }
            }

            /// Names and values of the parameters.
            #[must_use]
            pub fn parameters(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Self::$name { $($parameter),* } => vec![$((stringify!($parameter), $parameter.value())),*],)*
                }
            }
        }
    };
}

kinds! {
    // Any value.

    /// A number outside its range.
    OutOfRange = "out-of-range" { found: u64, least: u64, most: u64 }
    /// A number that must be at least 1.
    Zero = "zero" {}
    /// A grid whose points are not the ranks.
    GridOfOtherSize = "grid-of-other-size" { grid: Vec<u32>, points: u128, ranks: u64 }
    /// A root that is not one of the ranks, which are numbered from 0.
    RootNotARank = "root-not-a-rank" { root: u32, ranks: u64 }
    /// A bandwidth of 0.
    NoBandwidth = "no-bandwidth" {}

    // Machines.

    /// More links per pair of groups than the groups have global ports.
    TooFewGlobalPorts = "too-few-global-ports" {
        links_per_pair: u64, peers: u64, need: u64, have: u64, per_router: u32, routers: u32,
        router_name: &'static str, parameter: &'static str,
    }
    /// Not even one link per pair of groups fits.
    TooManyGroups = "too-many-groups" {
        groups: u32, need: u64, have: u64, per_router: u32, routers: u32, most: u64, router_name: &'static str,
    }
    /// One group needs more global ports than it has, because of exceptions in `pair_links`.
    GroupLacksPorts = "group-lacks-ports" {
        group: u32, need: u64, have: u64, per_router: u32, routers: u32,
        router_name: &'static str, parameter: &'static str,
    }
    /// The last group has no global port for some other group.
    LastGroupLacksPorts = "last-group-lacks-ports" { have: u64, peers: u64, parameter: &'static str }
    /// The parallel arrangement gives every spine the same number of links to a group.
    UnevenParallelLinks = "uneven-parallel-links" { links: u32, spines: u32 }
    /// A last group that is larger than a full one.
    LastGroupTooLarge = "last-group-too-large" { found: u32, full: u32 }
    /// A count that exceeds what can be numbered or what fits into memory.
    MachineTooLarge = "machine-too-large" { what: &'static str, found: u64, most: u64 }
    /// A NIC of Aries reads messages, and a job has a program.
    /// Application-aware routing, for NICs that count nothing.
    ApplicationAwareWithoutCounters = "application-aware-without-counters" {}
    /// NICs of Aries, and a window towards each destination.
    TwoWindows = "two-windows" {}
    /// NICs of Aries that give packets to their node in order.
    AriesInOrder = "aries-in-order" {}
    /// Entropy is used again, and switches do not mark packets everywhere.
    RepsWithoutMarks = "reps-without-marks" {}
    /// Entropy is used again, and paths do not follow from it.
    RepsWithoutSpraying = "reps-without-spraying" { routing: &'static str }
    /// Acknowledgements of several packets, with NICs that answer none or each one.
    FixedAcknowledgements = "fixed-acknowledgements" { of: &'static str }
    /// A threshold for marks of switches, with congestion control that reads none.
    MarksOfNoPort = "marks-of-no-port" { law: &'static str }
    /// A job is in a traffic class that the fabric does not have.
    NoSuchTrafficClass = "no-such-traffic-class" { class: u8, classes: u8 }
    /// Two traffic classes have one name.
    TrafficClassTwice = "traffic-class-twice" { name: String }
    /// Traffic classes, and what is not modelled together with them.
    NotWithTrafficClasses = "not-with-traffic-classes" { other: &'static str }
    /// The clock cycle of a NIC is longer than a flit takes on its link.
    CycleTooLong = "cycle-too-long" { cycle_ps: u64, flit_bytes: u32, flit_ps: u64 }
    /// Roots of waits without the waits.
    RootsWithoutBlame = "roots-without-blame" {}
    /// A metric of output buffers, for ideal routers, which have none.
    NoOutputBuffers = "no-output-buffers" {}
    /// A packet that is too large on a link, with its header and in whole flits.
    PacketOnWireTooLarge = "packet-on-wire-too-large" {
        wire_bytes: u64, packet_bytes: u32, header_bytes: u32, flit_bytes: u32, most_bytes: u32,
    }
    /// More virtual channels of router ports than fit into memory.
    TooManyVcs = "too-many-vcs" { ports: u64, channels: u64, most: u64 }
    /// A key that repeats what `global_links` says.
    BesideGlobalLinks = "beside-global-links" {}
    /// Neither an arrangement nor a list of cables.
    MissingArrangement = "missing-arrangement" { choices: Vec<&'static str> }
    /// A random arrangement without a seed.
    MissingSeed = "missing-seed" {}
    /// A seed for an arrangement that is not random.
    NeedlessSeed = "needless-seed" {}
    /// Node ports of a router that its nodes cannot share equally.
    UnevenRails = "uneven-rails" { ports: u32, rails: u32 }
    /// Routers of a group that nodes with NICs on several routers cannot share equally.
    UnevenRailRouters = "uneven-rail-routers" { rails: u32, routers: u32, group: &'static str }
    /// Leaves of a pod that nodes with NICs on several leaves cannot share equally.
    UnevenRailLeaves = "uneven-rail-leaves" { rails: u32, leaves: u32 }
    /// Cores of a fat tree that its spines cannot share equally.
    UnevenCores = "uneven-cores" { cores: u32, spines: u32 }
    /// Cores of a fat tree with one pod.
    NeedlessCores = "needless-cores" { cores: u32 }
    /// No dimension, or more than a HyperX can have.
    NumberOfDimensions = "number-of-dimensions" { found: usize, most: usize }
    /// Numbers of cables that are not one for each dimension.
    LinksOfDimensions = "links-of-dimensions" { found: usize, dimensions: usize }
    /// NICs that are none, or that nodes with so many each cannot have.
    UnevenNics = "uneven-nics" { nics: usize, rails: u32 }
    /// A link that joins a router to itself.
    LinkToItself = "link-to-itself" { router: u32 }
    /// A node of a graph whose router is before that of the node before it.
    NodesOutOfOrder = "nodes-out-of-order" { node: u32, routers: Vec<u32> }
    /// A router of a graph without nodes that is before one with nodes.
    RoutersOutOfOrder = "routers-out-of-order" { routers: Vec<u32> }
    /// A router that does not exist.
    NoSuchRouter = "no-such-router" { router: u32, last: u32 }
    /// A group that does not exist.
    NoSuchGroup = "no-such-group" { group: u32, last: u32 }
    /// A cable that ends at a leaf.
    NotASpine = "not-a-spine" { router: u32, group: u32, first: u32, last: u32 }
    /// A global link inside a group.
    SameGroup = "same-group" { routers: Vec<u32>, group: u32 }
    /// More cables than the router has global ports.
    TooManyLinksOfRouter = "too-many-links-of-router" { router: u32, most: u32, parameter: &'static str }
    /// A pair that names the same group twice.
    PairOfOneGroup = "pair-of-one-group" { group: u32 }
    /// A pair of groups that is listed twice.
    PairAgain = "pair-again" { groups: Vec<u32> }
    /// A router has no such port.
    NoSuchPort = "no-such-port" { router: u32, port: u32, last: u32 }
    /// A failed link that leads to a node.
    PortToNode = "port-to-node" { router: u32, port: u32, node: u32 }
    /// A failed link at a port without a cable.
    UnusedPort = "unused-port" { router: u32, port: u32 }
    /// Failures that leave no path between two routers of a group.
    GroupCutApart = "group-cut-apart" { group: u32, routers: Vec<u32> }
    /// Two leaves without a shortest path between them.
    LeavesCutApart = "leaves-cut-apart" { routers: Vec<u32> }
    /// Two working routers of a HyperX or a graph that no path joins.
    RoutersCutApart = "routers-cut-apart" { routers: Vec<u32> }
    /// Two groups that neither a cable nor a third group joins.
    GroupsCutApart = "groups-cut-apart" { groups: Vec<u32> }
    /// More cables between two groups than routings handle.
    TooManyCables = "too-many-cables" { found: u32, most: u32 }

    // The specification.

    /// Malformed JSON, an unknown key, a value of another type; `problem` is the parser's text.
    UnreadableSpecification = "unreadable-specification" { problem: String }
    /// A specification for another version of the core.
    UnsupportedVersion = "unsupported-version" { found: u32, supported: u32 }
    /// A specification for another machine than the one that was prepared.
    OtherMachine = "other-machine" {}
    /// A compatibility model that the simulator at hand does not have.
    NoSuchModel = "no-such-model" {}
    /// Defects to repair without a compatibility model that has them.
    DefectWithoutModel = "defect-without-model" {}
    /// A measured interval that ends before it begins.
    WindowEndsEarly = "window-ends-early" { from_ps: u64, until_ps: u64 }
    /// More windows than fit into memory.
    TooManyWindows = "too-many-windows" {}
    /// The link classes of the specification are not those of the machine.
    OtherClasses = "other-classes" { classes: Vec<String>, found: Vec<String> }
    /// A class that is not a class of links between routers.
    UnknownClass = "unknown-class" { class: String, classes: Vec<String> }
    /// A packet that takes too long on a link.
    SlowLink = "slow-link" { packet_bytes: u64, found_ps: u64, most_ps: u64 }
    /// A buffer that is smaller than a packet, or larger than is possible.
    BufferOutOfRange = "buffer-out-of-range" { found_bytes: u64, packet_bytes: u64, most_bytes: u64 }
    /// A run without jobs, or with too many.
    JobCount = "job-count" { found: usize, most: u32 }
    /// Two jobs with the same name.
    JobNameTaken = "job-name-taken" { name: String }
    /// A node that does not exist.
    NoSuchNode = "no-such-node" { node: u32, nodes: usize }
    /// A node that is listed twice.
    NodeTwice = "node-twice" { node: u32 }
    /// A node that two jobs claim.
    NodeTaken = "node-taken" { node: u32, job: String }
    /// A node on a failed router.
    NodeFailed = "node-failed" { node: u32 }
    /// A route from a node to itself.
    SameNode = "same-node" { node: u32 }
    /// A job whose ranks have no one to send to.
    TooFewRanks = "too-few-ranks" { ranks: u64 }
    /// A job with both traffic and a program, or neither.
    TrafficOrProgram = "traffic-or-program" {}
    /// NICs of GPUs that are not one for each.
    NicsOfGpus = "nics-of-gpus" { found: usize, gpus: u32 }
    /// A link between GPUs that is listed twice, or leads from a GPU to itself.
    GpuLinkAgain = "gpu-link-again" { gpus: Vec<u32> }
    /// A mesh of GPUs in which some GPU is not joined with the first.
    GpusApart = "gpus-apart" { gpu: u32 }
    /// Nothing ends the run.
    NoEnd = "no-end" {}
    /// The run waits for a job that does not exist.
    NoSuchJob = "no-such-job" { job: u32 }
    /// The run waits for a job that never ends.
    EndlessJob = "endless-job" { job: String }
    /// An offset that makes each rank its own partner.
    OffsetToSelf = "offset-to-self" { offset: u64, ranks: u64 }
    /// A shift that makes each group its own partner.
    ShiftToSelf = "shift-to-self" { shift: u32, groups: usize }
    /// Partners in other groups, for a job in one group.
    OneGroup = "one-group" {}
    /// Partners in other groups, for groups of different sizes.
    UnequalGroups = "unequal-groups" { group: usize, ranks: u64, other: usize, other_ranks: u64 }
    /// An iteration without end that takes no time.
    EndlessIterations = "endless-iterations" {}

    // Routings.

    /// A routing for machines of another kind.
    RoutingNotForMachine = "routing-not-for-machine" {
        routing: &'static str, machine: &'static str, choices: Vec<&'static str>,
    }
    /// An intermediate stop that machines of this kind do not have.
    ViaNotForMachine = "via-not-for-machine" { machine: &'static str, choices: Vec<&'static str> }
    /// A path inside groups on a machine whose groups have only minimal ones.
    NeedlessInside = "needless-inside" { machine: &'static str }
    /// A choice of gateways on a machine that has none.
    NeedlessGateways = "needless-gateways" { machine: &'static str }
    /// No choice of gateways on a machine that needs one.
    MissingGateways = "missing-gateways" { choices: Vec<&'static str> }
    /// Routings of one run that do not agree on the gateways.
    DifferentGateways = "different-gateways" {}
    /// A fabric with too few virtual channels for a routing on this machine.
    TooFewChannels = "too-few-channels" { routing: &'static str, need: u32, have: u32 }
    /// `via = leaf` on a machine with failures.
    ViaLeafWithFailures = "via-leaf-with-failures" {}
    /// A routing in the order of the dimensions on a HyperX with failures.
    DimensionOrderWithFailures = "dimension-order-with-failures" {}
    /// Groups of more spines than the routing can handle on a machine with failures.
    TooManySpines = "too-many-spines" { routing: &'static str, found: u32, most: u32 }
    /// More different routings in a run than are possible.
    TooManyRoutings = "too-many-routings" { found: usize, most: usize }
    /// Packets of these routings could wait for each other in a cycle of link kinds.
    CouldDeadlock = "could-deadlock" { routings: Vec<&'static str>, cycle: Vec<String> }

    /// A routing of one's own whose functions nobody has made known.
    RoutingNotLoaded = "routing-not-loaded" { program: String }
    /// A routing of one's own in a run with another routing.
    BesideOwnRouting = "beside-own-routing" { routing: &'static str }
    /// A routing of one's own with fewer links than a shortest path of the machine.
    TooFewHops = "too-few-hops" { need: u8, have: u8 }
    /// A function of a routing picked no port.
    NoSuchChoice = "no-such-choice" {
        picked: String, ports: usize, router: u64, destination: u64, hop: u64, time_ps: u64,
    }
    /// A function of a routing gave a packet a number that it cannot keep.
    MemoryOutOfRange = "memory-out-of-range" {
        memory: String, router: u64, destination: u64, hop: u64, time_ps: u64,
    }
    /// A function of a routing raised an exception.
    RoutingRaised = "routing-raised" { function: &'static str, router: u64, time_ps: u64 }

    // Compatibility models.

    /// A value other than those that the model supports.
    CompatOtherValue = "compat-other-value" { model: &'static str, found: String, supported: Vec<&'static str> }
    /// A wire latency or credit delay, in a model that sets its own.
    CompatNotZero = "compat-not-zero" { model: &'static str, found_ps: u64 }
    /// A percentage with decimals.
    CompatWholePercent = "compat-whole-percent" { model: &'static str, found_ppm: u32 }
    /// More packets in a message than the model numbers.
    CompatTooManyPackets = "compat-too-many-packets" { model: &'static str, found: u64, most: u32 }
    /// A key that the model does not have.
    CompatUnsupported = "compat-unsupported" { model: &'static str }

    // Programs.

    /// A program without phases, or with too many.
    PhaseCount = "phase-count" { found: usize }
    /// A collective without ranks.
    NoRanks = "no-ranks" {}
    /// An axis that the grid does not have.
    NoSuchAxis = "no-such-axis" { axis: u32, axes: usize }
    /// A message of a collective that is too large.
    CollectiveTooLarge = "collective-too-large" { ranks: u32, found_bytes: u128, most_bytes: u128 }
    /// Ranks without a partner.
    NoPartner = "no-partner" { ranks: u32, stride: u32, block: u64 }
    /// A size across edges or corners, in an order that has messages across faces only.
    FacesOnly = "faces-only" { order: &'static str }
    /// A halo exchange without a message.
    NothingToSend = "nothing-to-send" {}
    /// Pairs of ranks that are not in ascending order, or a rank with itself.
    PairOrder = "pair-order" {}
    /// More messages from one rank to another than labels can tell apart.
    TooManyMessages = "too-many-messages" { found: u128, most: u64 }

    // Stages.

    /// A node of a stage that waits for one that does not come before it.
    StageOrder = "stage-order" { node: usize, after: u32 }
    /// A message between stages that has only one end, or ends of different sizes.
    StageMessage = "stage-message" { operation: &'static str, from: u32, to: u32, tag: u32, bytes: u64 }

    // Traces.

    /// A text that is too long.
    TraceTooLong = "trace-too-long" { found_bytes: usize, most_bytes: u64 }
    /// A trace for another number of ranks than the job has.
    TraceOfOtherRanks = "trace-of-other-ranks" { found: u32, ranks: u32 }
    /// Found one thing, expected another. Words of the format are in backticks in `expected`; `found` is `\n` for the
    /// end of a line, and empty for the end of the text; `known` lists the names that it may be a misspelling of.
    Unexpected = "unexpected" { expected: Vec<String>, found: String, known: Vec<&'static str> }
    /// A name that is not one of a list.
    UnknownName = "unknown-name" { what: &'static str, found: String, known: Vec<&'static str> }
    /// A keyword, a rank, a label or a column that appears a second time.
    SecondTime = "second-time" { what: &'static str, found: String, first_line: Option<u32> }
    /// A rank block that does not end.
    OpenRank = "open-rank" { rank: u32, rank_line: u32 }
    /// A comment that does not end.
    OpenComment = "open-comment" {}
    /// A number that is not whole.
    NotWhole = "not-whole" { what: &'static str, found: String }
    /// A number that is too large.
    TooLarge = "too-large" { what: &'static str, found: String, most: u64 }
    /// A trace without ranks.
    TraceWithoutRanks = "trace-without-ranks" {}
    /// A rank without operations in GOAL.
    MissingRank = "missing-rank" { rank: u32, ranks: u32 }
    /// A rank that does not exist.
    NoSuchRank = "no-such-rank" { rank: u64, ranks: u32 }
    /// A wildcard for sources or tags, which the format does not have here.
    AnySource = "any-source" { found: String }
    /// As above, for tags.
    AnyTag = "any-tag" { found: String }
    /// A label that no operation of the rank has.
    UnknownLabel = "unknown-label" { label: String, known: Vec<String> }
    /// Operations that wait for each other in a cycle: the first few of them, and the length of the cycle.
    CycleOfOperations = "cycle-of-operations" { first: Vec<CycleOperation>, length: usize }
    /// A CSV file without a header.
    NoHeader = "no-header" { columns: Vec<&'static str> }
    /// A CSV file without rows.
    NoRows = "no-rows" {}
    /// A column that must be there.
    MissingColumn = "missing-column" { column: &'static str }
    /// A row with more fields than the header.
    TooManyFields = "too-many-fields" { most: usize }
    /// A rank without rows.
    RankWithoutRows = "rank-without-rows" { rank: u32, last: u32 }
    /// A field that an operation needs; the operation is empty where there is none.
    MissingField = "missing-field" { operation: String, field: &'static str }
    /// A field that an operation does not have.
    NeedlessField = "needless-field" { operation: String, field: &'static str, found: String }
    /// A wait when no message is left to wait for.
    NothingToWaitFor = "nothing-to-wait-for" { rank: u32, peer: u32, tag: u64 }
    /// A send without a receive, or a receive without a send. `matched` operations of its kind have a partner. `other`
    /// is an unmatched operation of the other kind between the same two ranks, with another tag.
    Unmatched = "unmatched" {
        operation: &'static str, rank: u32, peer: u32, tag: u64, bytes: u64, matched: u32,
        other: Option<Elsewhere>, other_tag: Option<u64>,
    }
    /// A receive of another size than its send.
    UnequalSizes = "unequal-sizes" {
        rank: u32, peer: u32, tag: u64, bytes: u64, send: Elsewhere, send_bytes: u64,
    }
    /// Text that is not a time.
    NotATime = "not-a-time" { found: String }
    /// A time without a unit.
    NoUnit = "no-unit" { found: String, units: Vec<&'static str> }
    /// A time below 0.
    NegativeTime = "negative-time" { found: String }
    /// A time above 2^64 ps.
    TimeTooLong = "time-too-long" { found: String }
    /// A time that is not a whole number of picoseconds.
    FractionOfPicosecond = "fraction-of-picosecond" { found: String }
    /// Computing of random length, which a trace cannot express.
    RandomCompute = "random-compute" {}
    /// An operation on a certain CPU, which CSV cannot express.
    CsvCpu = "csv-cpu" { cpu: u32 }
    /// An operation that names a NIC, which CSV cannot express.
    CsvNic = "csv-nic" { nic: u8 }
    /// Dependencies that CSV cannot express.
    CsvOrder = "csv-order" {}

    /// Computing that overlaps a later operation, which CSV cannot express.
    CsvOverlap = "csv-overlap" {}

    /// A rank with more CPUs than are supported.
    TooManyCpus = "too-many-cpus" { cpu: u32, rank: u32, found: usize, most: usize }
    /// Binary GOAL where a text is expected.
    BinaryAsText = "binary-as-text" {}
    /// A byte that is not UTF-8.
    NotUtf8 = "not-utf8" {}

    // Binary traces.

    /// A file that is shorter than a header.
    ShortFile = "short-file" { found_bytes: usize, least_bytes: usize }
    /// A file that a run of LogGOPSim with `--save-mem` has overwritten.
    SpoiltFile = "spoilt-file" {}
    /// A file that does not begin as binary GOAL does.
    NotBinaryGoal = "not-binary-goal" { found: u64, expected: u64 }
    /// A table of ranks that is longer than the file.
    LongRankTable = "long-rank-table" { ranks: usize, need_bytes: usize }
    /// A rank whose bytes do not follow those of the rank before; `problem` is `overlap` or `gap`.
    RankMisplaced = "rank-misplaced" { rank: usize, begin: u64, expected: u64, problem: &'static str }
    /// A rank that ends after the file.
    RankBeyondFile = "rank-beyond-file" { rank: usize, end: u64, file_bytes: usize }
    /// A rank with fewer bytes than its counts need.
    ShortRank = "short-rank" { rank: usize, begin: u64, end: u64, least_bytes: usize }
    /// Bytes that belong to no rank.
    BytesOfNoRank = "bytes-of-no-rank" { found_bytes: u64 }
    /// Operations and roots that do not fit into the bytes of their rank.
    TooManyOperations = "too-many-operations" {
        rank: u32, operations: usize, roots: usize, need_bytes: usize, found_bytes: usize,
    }
    /// Dependencies that do not fill the bytes that are left for them.
    DependenciesDoNotFit = "dependencies-do-not-fit" { rank: u32, found: u64, need_bytes: u64, found_bytes: usize }
    /// A root that is there twice, or that is not an operation; `problem` is `twice` or `unknown`.
    BadRoot = "bad-root" { rank: u32, operation: u64, problem: &'static str }
    /// A compute operation that takes too long.
    ComputeTooLong = "compute-too-long" { found_ns: u64 }
    /// An operation of an unknown kind.
    UnknownOperation = "unknown-operation" { found: u8 }
    /// Followers outside the list of dependencies.
    FollowersOutside = "followers-outside" { first: usize, end: usize, found: usize }
    /// A follower that does not exist.
    NoSuchFollower = "no-such-follower" { follower: u64, operations: usize }
    /// An operation whose count of dependencies differs from the number of operations that name it as follower.
    WaitsDisagree = "waits-disagree" { told: u32, found: u32 }
    /// An operation that waits and is a root, or does neither; `root` is `yes` or `no`.
    RootDisagrees = "root-disagrees" { waits: u32, root: &'static str }
    /// A value that binary GOAL cannot express: a tag, a CPU or a time. `most` is the largest allowed value; for a
    /// time, it is the smallest unit.
    BinaryLimit = "binary-limit" { what: &'static str, found: u64, limit: &'static str }

    // Chakra traces.

    /// A file that ends inside a message (from 1), or inside the length before it, which is then not known.
    ChakraTruncated = "chakra-truncated" { message: u64, need_bytes: Option<u64>, found_bytes: usize }
    /// Bytes that are no message of the schema.
    ChakraUnreadable = "chakra-unreadable" { message: u64, problem: String }
    /// A file without nodes.
    ChakraWithoutNodes = "chakra-without-nodes" {}
    /// A node of an unknown type.
    ChakraNodeType = "chakra-node-type" { found: String }
    /// A node with the id of an earlier one.
    ChakraSecondNode = "chakra-second-node" {}
    /// A dependency on a node that the file does not have.
    ChakraMissingNode = "chakra-missing-node" { node: u64 }
    /// Nodes that wait for each other in a cycle: the first few of them, and the length of the cycle.
    ChakraCycle = "chakra-cycle" { first: Vec<String>, length: usize }
    /// A node without an attribute that it needs.
    ChakraMissingValue = "chakra-missing-value" { operation: &'static str, attribute: &'static str }
    /// An attribute with a value that it cannot have.
    ChakraBadValue = "chakra-bad-value" { attribute: &'static str, found: String, expected: &'static str }
    /// A node that a key of the application must explain.
    ChakraNeedsKey = "chakra-needs-key" { attribute: &'static str, missing: &'static str }
    /// A process group that nothing describes.
    ChakraUnknownGroup = "chakra-unknown-group" { group: String, known: Vec<String> }
    /// A process group that a rank uses without being in it, or that has a rank twice.
    ChakraBadGroup = "chakra-bad-group" { group: String, rank: u32, problem: &'static str }
    /// A collective that other ranks of its group run with another kind or size.
    ChakraCollectivesDiffer = "chakra-collectives-differ" {
        group: String, number: usize, found: String, found_bytes: u64, other_rank: u32, other_node: u64, other: String,
        other_bytes: u64,
    }
    /// A collective that another rank of the group does not run.
    ChakraCollectiveMissing = "chakra-collective-missing" {
        group: String, found: usize, other_rank: u32, other_found: usize,
    }
    /// A collective that there is no algorithm for.
    ChakraCollective = "chakra-collective" { found: String, known: Vec<&'static str> }
    /// More operations than a trace may have.
    ChakraTooLong = "chakra-too-long" { found: u64, most: u64 }
    /// More nodes of stages than a run keeps, counted once for each rank.
    TooManyNodes = "too-many-nodes" { found: u64, ranks: u32, most: u64 }

    // Runs.

    /// Packets wait for each other, and none can move.
    Deadlock = "deadlock" { at_ps: u64, waiting: u64 }
    /// The ranks of a program wait for each other, or for messages that no rank sends. `first` says what the first few
    /// wait for.
    DeadlockedProgram = "deadlocked-program" { job: String, ranks: u64, first: Vec<Awaited> }
    /// Simulated time left the range of 2^63 ps.
    TimeOverflow = "time-overflow" {}
    /// Results that do not fit into memory.
    OutOfMemory = "out-of-memory" { rows: u64 }
    /// The caller asked to stop.
    Interrupted = "interrupted" {}
}

impl ErrorKind {
    /// The error at a value of the specification.
    #[must_use]
    pub fn at(self, path: Path) -> Error {
        Error { kind: self, path, place: None }
    }

    /// The error at a place in a text.
    #[must_use]
    pub fn in_text(self, line: u32, column: u32) -> Error {
        Error { kind: self, path: Path::default(), place: Some(TracePlace::Text { line, column }) }
    }

    /// The error at a byte of a file.
    #[must_use]
    pub fn at_byte(self, byte: usize) -> Error {
        Error { kind: self, path: Path::default(), place: Some(TracePlace::Byte(byte as u64)) }
    }

    /// The error of a node of a Chakra trace.
    #[must_use]
    pub fn of_node(self, node: u64, name: &str) -> Error {
        Error { kind: self, path: Path::default(), place: Some(TracePlace::Node { node, name: name.into() }) }
    }

    /// The error of an operation; `rank` and `operation` are numbered from 0 here.
    #[must_use]
    pub fn of_operation(self, rank: u32, number: u32) -> Error {
        let place = TracePlace::Operation { rank, operation: number.saturating_add(1) };
        Error { kind: self, path: Path::default(), place: Some(place) }
    }
}
