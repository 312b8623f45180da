//! A checked program of stages, of which only the nodes are stored.
//!
//! The ranks of a stage have the same graph of nodes. A node is one operation, or the operations of a collective one
//! after the other, which are computed when a rank comes to them ([`NodeOperations`]). Together they are the graph that
//! [`Trace::of_stages`] stores, which a test compares.
//!
//! | file | what |
//! |---|---|
//! | `graph.rs` | the nodes of a stage and what they wait for |
//! | `collective.rs` | the phases of a collective, with small numbers in place of labels |
//! | `cpus.rs` | the CPUs that a rank has operations on |
//! | `operations.rs` | the operations of a node of a rank |

mod collective;
mod cpus;
mod graph;
mod operations;

pub use operations::{Awaits, NodeOperations};

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind, path};

use crate::stages::{StageAction, StageNode, Stages, check};
use crate::trace::{Action, Trace};
use crate::{Op, Phases};
use collective::StagedCollective;
use cpus::Cpus;
use graph::StageGraph;

/// Most nodes of all ranks together (assumed: a run keeps four bytes of each).
const MOST_NODES: u64 = 1 << 30;

/// One iteration of stages for a number of ranks.
pub struct Staged {
    stages: Stages,
    collectives: Vec<StagedCollective>,
    graphs: Vec<StageGraph>,
    /// Ranks of a stage.
    width: u32,
    ranks: u32,
    /// The tags of messages between stages, ascending, and the label of the first of them.
    between: Vec<u32>,
    first_between: u64,
    cpus: Cpus,
}

impl Staged {
    /// # Errors
    /// [`Error`]: ranks that are not stages of equal size, a node that waits for a later one, a message without its
    /// other end, a collective that is not listed or that computes for a random time, or too many nodes.
    pub fn new(stages: &Stages, ranks: u32) -> Result<Self, Error> {
        let width = check::width(stages, ranks)?;
        let nodes: u64 = stages.stages.iter().map(|nodes| nodes.len() as u64).sum();
        let found = nodes.saturating_mul(width.into());
        if found > MOST_NODES {
            return Err(ErrorKind::TooManyNodes { found, ranks, most: MOST_NODES }.at(path!["stages"]));
        }
        let collective = |(number, of): (usize, &crate::stages::StageCollective)| {
            StagedCollective::new(of, width).map_err(|e| e.under(path!["collectives", number]))
        };
        let collectives: Vec<_> = stages.collectives.iter().enumerate().map(collective).collect::<Result<_, _>>()?;
        check::nodes(stages)?;
        let graphs: Vec<_> = stages.stages.iter().map(|nodes| StageGraph::new(nodes, &collectives)).collect();
        let mut between: Vec<u32> = stages.stages.iter().flatten().filter_map(sent_tag).collect();
        between.sort_unstable();
        between.dedup();
        let first_between = graphs.iter().map(StageGraph::labels).max().unwrap_or(0);
        let cpus = Cpus::new(stages, &collectives, ranks, width);
        Ok(Self { stages: stages.clone(), collectives, graphs, width, ranks, between, first_between, cpus })
    }

    /// The same with all operations stored.
    ///
    /// # Errors
    /// If there are too many operations.
    pub fn trace(&self) -> Result<Trace, Error> {
        Trace::of_stages(&self.stages, self.ranks)
    }

    fn stage(&self, rank: u32) -> usize {
        (rank / self.width) as usize
    }

    fn node(&self, rank: u32, node: u32) -> &StageNode {
        &self.stages.stages[self.stage(rank)][node as usize]
    }

    /// By node of a rank, for how many nodes it waits.
    #[must_use]
    pub fn waits(&self, rank: u32) -> &[u32] {
        self.graphs[self.stage(rank)].waits()
    }

    /// The nodes of a rank that wait for none.
    #[must_use]
    pub fn roots(&self, rank: u32) -> &[u32] {
        self.graphs[self.stage(rank)].roots()
    }

    /// The nodes that wait for a node of a rank, ascending.
    #[must_use]
    pub fn followers(&self, rank: u32, node: u32) -> &[u32] {
        self.graphs[self.stage(rank)].followers(node)
    }

    /// The numbers of the CPUs of a rank, ascending. CPU 0 is always among them, and the last one is that of operations
    /// that only join others.
    #[must_use]
    pub fn cpus(&self, rank: u32) -> &[u32] {
        self.cpus.of_rank(rank)
    }

    /// The number of the CPU of a node.
    #[must_use]
    pub fn cpu(&self, rank: u32, node: u32) -> u32 {
        self.node(rank, node).cpu
    }

    /// The place of a CPU among those of a rank.
    fn place_of_cpu(&self, rank: u32, cpu: u32) -> u16 {
        self.cpus(rank).partition_point(|&other| other < cpu) as u16
    }

    /// The label of a message between stages.
    fn label_between(&self, tag: u32) -> u64 {
        self.first_between + self.between.partition_point(|&other| other < tag) as u64
    }

    /// The line of the operation of a message of a rank, which is the number of its node, from 1: that of its receive or
    /// that of its send, from or to a peer.
    #[must_use]
    pub fn line(&self, rank: u32, label: u64, receives: bool, peer: u32) -> Option<u32> {
        let graph = &self.graphs[self.stage(rank)];
        if label < self.first_between {
            return graph.node_of(label).map(|node| node + 1);
        }
        let of = self.stage(peer) as u32;
        let is_it = |node: &StageNode| match node.what {
            StageAction::Send { stage, tag, .. } => !receives && stage == of && self.label_between(tag) == label,
            StageAction::Receive { stage, tag, .. } => receives && stage == of && self.label_between(tag) == label,
            _ => false,
        };
        self.stages.stages[self.stage(rank)].iter().position(is_it).map(|node| node as u32 + 1)
    }

    /// The collectives of all stages, each with the number of nodes that run it.
    pub fn phases(&self) -> impl Iterator<Item = (&Phases, u64)> {
        let mut times = vec![0; self.collectives.len()];
        for node in self.stages.stages.iter().flatten() {
            if let StageAction::Collective { number } = node.what {
                times[number as usize] += 1;
            }
        }
        self.collectives.iter().map(|of| &of.phases).zip(times).filter(|&(_, times)| times > 0)
    }

    /// Ranks of a stage.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The sizes of the messages between stages, and how many have each.
    pub fn sizes_between(&self) -> impl Iterator<Item = (u64, u64)> {
        self.stages.stages.iter().flatten().filter_map(|node| match node.what {
            StageAction::Send { bytes, .. } => Some((bytes, u64::from(self.width))),
            _ => None,
        })
    }

    /// What a rank sends: to whom, the bytes of a message, and how many there are. A receiver may come several times.
    #[must_use]
    pub fn sends(&self, rank: u32) -> Vec<(u32, u64, u64)> {
        let (own, base) = (rank % self.width, rank / self.width * self.width);
        let mut times = BTreeMap::new();
        let mut sends = Vec::new();
        for node in &self.stages.stages[self.stage(rank)] {
            match node.what {
                StageAction::Collective { number } => *times.entry(number).or_insert(0) += 1,
                StageAction::Send { stage, bytes, .. } => sends.push((stage * self.width + own, bytes, 1)),
                _ => {}
            }
        }
        for (number, times) in times {
            let mut alike = BTreeMap::new();
            for op in self.collectives[number as usize].phases.ops(own) {
                if let Op::Send { to, bytes, .. } = op {
                    *alike.entry((base + to, bytes)).or_insert(0) += times;
                }
            }
            sends.extend(alike.into_iter().map(|((to, bytes), times)| (to, bytes, times)));
        }
        sends
    }

    /// The operation of a node that is none of a collective.
    fn single(&self, rank: u32, node: u32) -> Option<Action> {
        let number = rank % self.width;
        Some(match self.node(rank, node).what {
            StageAction::Compute { ps } => Action::Compute { ps },
            StageAction::Send { stage, tag, bytes } => {
                Action::Send { to: stage * self.width + number, label: self.label_between(tag), bytes }
            }
            StageAction::Receive { stage, tag, bytes } => {
                Action::Receive { from: stage * self.width + number, label: self.label_between(tag), bytes }
            }
            StageAction::Collective { .. } => return None,
        })
    }
}

fn sent_tag(node: &StageNode) -> Option<u32> {
    match node.what {
        StageAction::Send { tag, .. } => Some(tag),
        _ => None,
    }
}
