//! The nodes of a stage and what they wait for.

use super::StagedCollective;
use crate::stages::{StageAction, StageNode};

/// The dependencies of the nodes of a stage, and the labels of their messages.
pub struct StageGraph {
    waits: Vec<u32>,
    roots: Vec<u32>,
    /// Where the followers of each node begin; one more entry than there are nodes.
    first: Vec<usize>,
    followers: Vec<u32>,
    /// The first label of each node that is a collective, and the label after the last one of all; one more entry than
    /// there are nodes.
    labels: Vec<u64>,
}

impl StageGraph {
    pub fn new(nodes: &[StageNode], collectives: &[StagedCollective]) -> Self {
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut waits = Vec::with_capacity(nodes.len());
        let mut labels = vec![0];
        for (number, node) in (0..).zip(nodes) {
            let mut before = node.after.clone();
            before.sort_unstable();
            before.dedup();
            waits.push(before.len() as u32);
            edges.extend(before.into_iter().map(|before| (before, number)));
            let own = match node.what {
                StageAction::Collective { number } => collectives[number as usize].labels(),
                _ => 0,
            };
            labels.push(labels[labels.len() - 1] + own);
        }
        edges.sort_unstable();
        let first = (0..=nodes.len() as u32).map(|node| edges.partition_point(|&(before, _)| before < node)).collect();
        let roots = (0..nodes.len() as u32).filter(|&node| waits[node as usize] == 0).collect();
        Self { waits, roots, first, followers: edges.into_iter().map(|(_, after)| after).collect(), labels }
    }

    pub fn waits(&self) -> &[u32] {
        &self.waits
    }

    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    pub fn followers(&self, node: u32) -> &[u32] {
        &self.followers[self.first[node as usize]..self.first[node as usize + 1]]
    }

    /// Labels of all collectives.
    pub fn labels(&self) -> u64 {
        self.labels[self.labels.len() - 1]
    }

    /// The first label of a node.
    pub fn first_label(&self, node: u32) -> u64 {
        self.labels[node as usize]
    }

    /// The node of a label.
    pub fn node_of(&self, label: u64) -> Option<u32> {
        (label < self.labels()).then(|| self.labels.partition_point(|&first| first <= label) as u32 - 1)
    }
}
