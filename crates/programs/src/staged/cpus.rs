//! The CPUs that ranks have operations on.

use std::collections::BTreeMap;

use super::StagedCollective;
use crate::stages::{JOIN, StageAction, Stages};

/// Lists of CPUs, most of which many ranks share.
pub struct Cpus {
    lists: Vec<Vec<u32>>,
    /// The list of each rank.
    of_rank: Vec<u32>,
}

impl Cpus {
    pub fn new(stages: &Stages, collectives: &[StagedCollective], ranks: u32, width: u32) -> Self {
        let mut numbers: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut of_rank = Vec::with_capacity(ranks as usize);
        for (stage, nodes) in (0..).zip(&stages.stages) {
            let collective = |what| match what {
                StageAction::Collective { number } => Some(number),
                _ => None,
            };
            let mut uses: Vec<_> = nodes.iter().map(|node| (node.cpu, collective(node.what))).collect();
            uses.sort_unstable();
            uses.dedup();
            for rank in stage * width..(stage + 1) * width {
                let used = |&&(_, number): &&(u32, Option<u32>)| {
                    number.is_none_or(|number| !collectives[number as usize].is_empty(rank % width))
                };
                let mut list: Vec<u32> = uses.iter().filter(used).map(|&(cpu, _)| cpu).chain([0, JOIN]).collect();
                list.sort_unstable();
                list.dedup();
                let next = numbers.len() as u32;
                of_rank.push(*numbers.entry(list).or_insert(next));
            }
        }
        let mut lists = vec![Vec::new(); numbers.len()];
        for (list, number) in numbers {
            lists[number as usize] = list;
        }
        Self { lists, of_rank }
    }

    pub fn of_rank(&self, rank: u32) -> &[u32] {
        &self.lists[self.of_rank[rank as usize] as usize]
    }
}
