//! The form of a program in a specification. All sizes are bytes, all times picoseconds. There are no defaults.

use odonata_error::Error;
use serde::{Deserialize, Serialize};

use crate::collective::Collective;
use crate::part::LABEL_BITS;
use crate::stages::Stages;
use crate::{Part, choices, motif};

/// One iteration of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Body {
    /// What all ranks do, one phase after the other. (Ranks do not wait for each other between phases.)
    Phases {
        /// At least one.
        phases: Vec<Phase>,
        /// How many of the first phases the time of an iteration leaves out; fewer than there are.
        #[serde(default, skip_serializing_if = "is_zero")]
        untimed: u32,
    },
    /// What the ranks of each stage do.
    Stages(Stages),
    /// What each rank does, as text.
    Trace {
        /// A schedule in the GOAL format, as [`crate::trace`] writes it.
        goal: String,
    },
}

impl Body {
    /// Whether the message with a label belongs to an all-to-all. (A trace does not say.)
    #[must_use]
    pub fn is_alltoall(&self, label: u64) -> bool {
        let Self::Phases { phases, .. } = self else { return false };
        matches!(
            phases[(label >> LABEL_BITS) as usize].what,
            PhaseAction::Alltoall { .. } | PhaseAction::GroupedAlltoall { .. } | PhaseAction::PxnAlltoall { .. }
        )
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The ranks that execute it together: all, or those along an axis of a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub along: Option<GridAxis>,
    /// What they do.
    pub what: PhaseAction,
}

/// The ranks of a job as a grid, the first extent fastest: rank = x + X * (y + Y * (z + ...)). Ranks that differ in one
/// coordinate only form a communicator, numbered by that coordinate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridAxis {
    /// Extents; their product is the number of ranks.
    pub grid: Vec<u32>,
    /// The coordinate that differs inside a communicator.
    pub axis: u32,
}

/// What the ranks of a communicator do (one file per action under `collective/` and `motif/`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PhaseAction {
    /// Every rank computes.
    Compute {
        /// For this long ...
        ps: u64,
        /// ... plus an exponential time of this mean.
        jitter_ps: u64,
    },
    /// The root's data goes to all.
    Broadcast {
        /// The algorithm.
        algorithm: Broadcast,
        /// The rank that has the data.
        root: u32,
        /// Size of the data.
        bytes: u64,
    },
    /// All vectors are combined at the root.
    Reduce {
        /// The algorithm.
        algorithm: Reduce,
        /// The rank that gets the result.
        root: u32,
        /// Size of a vector.
        bytes: u64,
    },
    /// All vectors are combined, and all ranks get the result.
    Allreduce {
        /// The algorithm.
        algorithm: Allreduce,
        /// Size of a vector.
        bytes: u64,
    },
    /// As an all-reduce, a reduce-scatter or an all-gather by `ring`, but nodes have several ranks, and the ring visits
    /// those of each node in an order of its own.
    RingChannel {
        /// What it does.
        work: RingWork,
        /// The ranks of a node in the order of the ring, each once: it enters a node at the first and leaves it at the last.
        order: Vec<u32>,
        /// Size as of the collective: of this channel's part of it.
        bytes: u64,
    },
    /// The first steps of a `RingChannel`, or more steps than it has: of an all-reduce, half of them of its reduce-scatter
    /// and half of its all-gather. A run of some steps of a long ring shows how long all of them take.
    RingSteps {
        /// What it does.
        work: RingWork,
        /// As of a `RingChannel`; `[0]` for a plain ring.
        order: Vec<u32>,
        /// As of a `RingChannel`.
        bytes: u64,
        /// How many steps each rank makes.
        steps: u64,
    },
    /// Along one tree of a double binary tree over nodes that have several ranks: all vectors are combined at its root, or
    /// the root's data goes to all.
    TreeChannel {
        /// Which of the two trees.
        tree: Tree,
        /// To its root, or from it.
        way: Way,
        /// The ranks of a node in the order of their chain, each once: the first exchanges with other nodes.
        order: Vec<u32>,
        /// Size of a vector: of the part of it that this tree carries at a time.
        bytes: u64,
    },
    /// Every rank gets the data of all.
    Allgather {
        /// The algorithm.
        algorithm: Allgather,
        /// Size of the data of one rank.
        bytes: u64,
    },
    /// All vectors are combined, and each rank gets its block of the result.
    ReduceScatter {
        /// The algorithm.
        algorithm: ReduceScatter,
        /// Size of a vector, all blocks together.
        bytes: u64,
    },
    /// Every rank has data for each other rank.
    Alltoall {
        /// The algorithm.
        algorithm: Alltoall,
        /// Size of the data of one rank for one other.
        bytes: u64,
    },
    /// As an all-to-all by `scattered`, but nodes have several ranks, and messages come node after node.
    GroupedAlltoall {
        /// Ranks of a node.
        per_node: u32,
        /// Size of the data of one rank for one other.
        bytes: u64,
    },
    /// As an all-to-all, but nodes have several ranks, each on a rail of its own, and messages between nodes stay on their
    /// rails: a rank sends to another node by the rank of its own node that is on the rail of the destination.
    PxnAlltoall {
        /// Ranks of a node.
        per_node: u32,
        /// Size of the data of one rank for one other.
        bytes: u64,
    },
    /// No rank continues before all have arrived.
    Barrier {
        /// The algorithm.
        algorithm: Barrier,
    },
    /// An exchange with the neighbours in a grid.
    Halo(Halo),
    /// Wavefronts through a grid.
    Sweep(Sweep),
    /// Messages back and forth between pairs.
    PingPong(PingPong),
    /// All ranks but one send to that one.
    Incast(Incast),
    /// Messages between given pairs of ranks, all at once.
    Matrix(Matrix),
    /// A step of training a large model on a grid of tensor, data and pipeline parallel ranks.
    Training(Training),
}

impl PhaseAction {
    /// The operations, for a communicator of `ranks` ranks.
    ///
    /// # Errors
    /// With the path of the field.
    pub fn part(&self, ranks: u32) -> Result<Box<dyn Part + Send + Sync>, Error> {
        match self {
            Self::Compute { ps, jitter_ps } => Ok(Box::new(motif::Compute { ps: *ps, jitter_ps: *jitter_ps })),
            Self::Broadcast { algorithm, root, bytes } => {
                boxed(Collective::broadcast(*algorithm, ranks, *root, *bytes))
            }
            Self::Reduce { algorithm, root, bytes } => boxed(Collective::reduce(*algorithm, ranks, *root, *bytes)),
            Self::Allreduce { algorithm, bytes } => boxed(Collective::allreduce(*algorithm, ranks, *bytes)),
            Self::RingChannel { work, order, bytes } => boxed(Collective::ring_channel(ranks, *work, order, *bytes)),
            Self::RingSteps { work, order, bytes, steps } => {
                boxed(Collective::ring_steps(ranks, *work, order, *bytes, *steps))
            }
            Self::TreeChannel { tree, way, order, bytes } => {
                boxed(Collective::tree_channel(ranks, *tree, *way, order, *bytes))
            }
            Self::Allgather { algorithm, bytes } => boxed(Collective::allgather(*algorithm, ranks, *bytes)),
            Self::ReduceScatter { algorithm, bytes } => boxed(Collective::reduce_scatter(*algorithm, ranks, *bytes)),
            Self::Alltoall { algorithm, bytes } => boxed(Collective::alltoall(*algorithm, ranks, *bytes)),
            Self::GroupedAlltoall { per_node, bytes } => boxed(Collective::grouped_alltoall(ranks, *per_node, *bytes)),
            Self::PxnAlltoall { per_node, bytes } => boxed(Collective::pxn_alltoall(ranks, *per_node, *bytes)),
            Self::Barrier { algorithm } => boxed(Collective::barrier(*algorithm, ranks)),
            Self::Halo(halo) => motif::halo(halo, ranks),
            Self::Sweep(sweep) => motif::sweep(sweep, ranks),
            Self::PingPong(ping_pong) => motif::ping_pong(ping_pong, ranks),
            Self::Incast(incast) => motif::incast(incast, ranks),
            Self::Matrix(matrix) => motif::matrix(matrix, ranks),
            Self::Training(training) => motif::training(training, ranks),
        }
    }
}

fn boxed(made: Result<Collective, Error>) -> Result<Box<dyn Part + Send + Sync>, Error> {
    made.map(|collective| Box::new(collective) as Box<_>)
}

choices! {
    /// Algorithms of a broadcast.
    pub enum Broadcast {
        /// The root sends to all others, one after the other.
        Flat = "flat",
        /// Down a binary tree in heap order.
        Binary = "binary",
        /// Down a binomial tree.
        Binomial = "binomial",
        /// Blocks down a binomial tree, then around a ring (van de Geijn).
        ScatterAllgather = "scatter-allgather",
        /// Blocks down a binomial tree, then recursive doubling (2^n ranks; else as scatter-allgather).
        ScatterDoubling = "scatter-recursive-doubling",
        /// Down a tree with up to three children at each distance 1, 4, 16, ...
        Knomial = "knomial",
        /// From rank to rank.
        Chain = "chain",
    }
}

choices! {
    /// Algorithms of a reduction to one rank.
    pub enum Reduce {
        /// Up a binary tree in heap order.
        Binary = "binary",
        /// Up a binomial tree.
        Binomial = "binomial",
    }
}

choices! {
    /// Algorithms of a reduction to all ranks.
    pub enum Allreduce {
        /// Up and down one binary tree in heap order.
        Binary = "binary",
        /// Pairs exchange whole vectors at distances 1, 2, 4, ...
        RecursiveDoubling = "recursive-doubling",
        /// A ring of reduce-scatter, then one of all-gather.
        Ring = "ring",
        /// Recursive halving, then recursive doubling of blocks.
        Rabenseifner = "rabenseifner",
    }
}

choices! {
    /// Collectives that a channel does around a ring.
    pub enum RingWork {
        /// A reduce-scatter, then an all-gather.
        Allreduce = "allreduce",
        /// Partial sums travel around the ring.
        ReduceScatter = "reduce-scatter",
        /// Blocks travel around the ring.
        Allgather = "allgather",
    }
}

choices! {
    /// The two trees of a double binary tree.
    pub enum Tree {
        /// That with its root at node 0.
        First = "first",
        /// The same, mirrored or shifted by a node.
        Second = "second",
    }
}

choices! {
    /// Ways along a tree.
    pub enum Way {
        /// A reduction to its root.
        Up = "up",
        /// A broadcast from its root.
        Down = "down",
    }
}

choices! {
    /// Algorithms of an all-gather.
    pub enum Allgather {
        /// Blocks travel around a ring.
        Ring = "ring",
        /// Pairs exchange what they have at distances 1, 2, 4, ...
        RecursiveDoubling = "recursive-doubling",
        /// Blocks double by distances 1, 2, 4, ..., for any number of ranks.
        Bruck = "bruck",
        /// Pairs of blocks travel both ways between neighbours (even numbers of ranks; else as ring).
        NeighborExchange = "neighbor-exchange",
    }
}

choices! {
    /// Algorithms of a reduction by blocks.
    pub enum ReduceScatter {
        /// Partial sums travel around a ring.
        Ring = "ring",
        /// Each rank sends each other rank that rank's block.
        Pairwise = "pairwise",
        /// Pairs exchange halves of what is left, at falling distances.
        RecursiveHalving = "recursive-halving",
    }
}

choices! {
    /// Algorithms of an all-to-all.
    pub enum Alltoall {
        /// In step c rank r exchanges with r xor c (2^n ranks; else as linear-shift).
        Pairwise = "pairwise",
        /// In step c rank r receives from r - c and sends to r + c, and waits for both.
        LinearShift = "linear-shift",
        /// Begins all receives and sends in order of the ranks from 0, then waits for all.
        Linear = "linear",
        /// Begins all receives from r + c and sends to r - c in order of the distance c, then waits for all.
        Scattered = "scattered",
        /// Blocks travel together by distances 1, 2, 4, ...
        Bruck = "bruck",
    }
}

choices! {
    /// Algorithms of a barrier.
    pub enum Barrier {
        /// In step k rank r signals r + 2^k and waits for r - 2^k.
        Dissemination = "dissemination",
        /// Up and down one binary tree in heap order.
        Binary = "binary",
    }
}

/// The algorithms of all collectives, by the name of the collective in a specification.
pub const COLLECTIVES: &[(&str, &[(&str, &str)])] = &[
    ("broadcast", Broadcast::NAMES),
    ("reduce", Reduce::NAMES),
    ("allreduce", Allreduce::NAMES),
    ("allgather", Allgather::NAMES),
    ("reduce-scatter", ReduceScatter::NAMES),
    ("alltoall", Alltoall::NAMES),
    ("barrier", Barrier::NAMES),
];

/// An exchange with the neighbours in a grid of up to three dimensions, x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halo {
    /// Ranks along x, y and z; the product is the number of ranks.
    pub grid: [u32; 3],
    /// Whether the last rank of an axis is a neighbour of the first.
    pub periodic: bool,
    /// Bytes to each neighbour across x, across y, across z; 0 for no message.
    pub face_bytes: [u64; 3],
    /// Bytes to each neighbour across an edge parallel to x, to y, to z; 0 for no message.
    pub edge_bytes: [u64; 3],
    /// Bytes to each neighbour across a corner; 0 for no message.
    pub corner_bytes: u64,
    /// The order of the messages.
    pub order: Exchange,
}

/// The order in which a rank exchanges with its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// All receives are posted, all sends begun, then one wait.
    AllAtOnce,
    /// Axis by axis: both receives are posted, two sends block, then a wait (ember's halo3d). Edges and corners have no
    /// axis, so their sizes must be 0.
    AxisByAxis,
    /// Along each axis every second rank receives first, and the others send first. All operations block (ember's
    /// halo2d, which uses the parity of the rank along x and of the row along y). The sizes of edges and corners must
    /// be 0.
    EvenReceivesFirst,
}

/// Wavefronts through a grid of px x py ranks, from each corner in turn (Koch, Baker, Alcouffe; ember's sweep3d).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Ranks along x and y; the product is the number of ranks.
    pub grid: [u32; 2],
    /// Blocks along z that each wavefront is cut into.
    pub blocks: u32,
    /// Bytes to the next rank along x, for each block.
    pub x_bytes: u64,
    /// Bytes to the next rank along y, for each block.
    pub y_bytes: u64,
    /// Computing time of each block.
    pub compute_ps: u64,
    /// Sweeps, each from the next of the four corners in turn: 8 for all octants.
    pub sweeps: u32,
}

/// Messages back and forth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PingPong {
    /// Rank r of the first half of each block of 2 x `stride` ranks exchanges with r + `stride`: 1 for neighbours.
    pub stride: u32,
    /// Size of each message.
    pub bytes: u64,
    /// Messages in each direction.
    pub rounds: u32,
}

/// Messages from all ranks to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// The rank that receives them.
    pub root: u32,
    /// Size of each.
    pub bytes: u64,
}

/// The messages of a communication matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// In ascending order; no pair twice, and no rank with itself.
    pub pairs: Vec<Pair>,
    /// Ranks of a node, if messages come node after node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_node: Option<u32>,
}

/// What a rank sends to another: the rank, the other, bytes in all, and the number of messages that they are divided
/// into, as equally as possible. A list of four numbers in a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair(pub u32, pub u32, pub u64, pub u32);

/// One step of training with tensor, data and pipeline parallelism; the grid of ranks is tensor x data x pipeline,
/// tensor fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Ranks of a tensor parallel group.
    pub tensor: u32,
    /// Ranks of a data parallel group.
    pub data: u32,
    /// Stages of the pipeline.
    pub pipeline: u32,
    /// Microbatches of a step.
    pub microbatches: u32,
    /// Tensor-parallel all-reduces of a stage in the forward pass of a microbatch, and as many in the backward pass.
    pub tensor_reductions: u32,
    /// Bytes of each.
    pub tensor_bytes: u64,
    /// Bytes of the activations that each rank of a stage sends to the next stage for each microbatch, and of the
    /// gradients that it gets back.
    pub activation_bytes: u64,
    /// Bytes of the gradients that are all-reduced over each data parallel group at the end of the step.
    pub gradient_bytes: u64,
    /// Computing time of a stage in the forward pass of a microbatch.
    pub forward_ps: u64,
    /// ... and in the backward pass.
    pub backward_ps: u64,
    /// Mean of a further exponential time of each pass.
    pub jitter_ps: u64,
}
