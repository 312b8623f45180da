//! The form of a program with stages in a specification.

use serde::{Deserialize, Serialize};

use crate::Phase;

pub(crate) mod check;

/// Numbers of CPUs that nodes may have.
pub(crate) const CPUS: u32 = 256;
/// CPU of operations without duration that only join dependencies.
pub(crate) const JOIN: u32 = CPUS;
/// Most ends of a node before they are joined, so that dependencies do not multiply.
pub(crate) const MOST_ENDS: usize = 4;

/// One iteration of ranks that are divided into stages of equal size, as those of a pipeline: stage s has the ranks from
/// s w to s w + w - 1, where w is the number of ranks of a stage. All ranks of a stage do the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// What the ranks of a stage do together, by number.
    pub collectives: Vec<StageCollective>,
    /// The nodes of each stage; at least one stage.
    pub stages: Vec<Vec<StageNode>>,
}

/// Phases that the ranks of a stage run together, with their numbers in the stage as ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageCollective {
    /// One after the other; computing in them is not random.
    pub phases: Vec<Phase>,
    /// Time to combine a whole vector; that of a part is in proportion, rounded up to a picosecond.
    pub combine_ps: u64,
}

/// A node of the graph of a stage. It begins when all nodes that it waits for have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageNode {
    /// CPU of each rank that it occupies, below 256.
    pub cpu: u32,
    /// The nodes of the stage that it waits for; each comes before it.
    pub after: Vec<u32>,
    /// What it does.
    pub what: StageAction,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StageAction {
    /// Every rank of the stage computes.
    Compute {
        /// For so many picoseconds.
        ps: u64,
    },
    /// The ranks of the stage run phases together. The k-th such node of a rank belongs to the k-th of the others.
    Collective {
        /// Which, from 0.
        number: u32,
    },
    /// Every rank of the stage sends to the rank that has the same number in another stage.
    Send {
        /// The other stage.
        stage: u32,
        /// The receive with the same tag gets it; a pair of stages uses a tag once in a direction.
        tag: u32,
        /// Its size.
        bytes: u64,
    },
    /// Every rank of the stage receives from the rank that has the same number in another stage.
    Receive {
        /// The other stage.
        stage: u32,
        /// As for a send.
        tag: u32,
        /// Its size, as at the sender.
        bytes: u64,
    },
}
