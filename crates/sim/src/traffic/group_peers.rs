//! Each rank sends to the rank with the same number in each other group of the job: the background traffic of Kang
//! 2019, section 3.3 (K11).

use odonata_topology::{Network, NodeId};

use super::TrafficPattern;
use crate::engine::random::Source;
use crate::spec::{JobSpec, Pattern};

/// The ranks of each group of a job.
pub struct GroupPeers {
    /// Ranks of each group of the job, in order of rank; groups ascending.
    groups: Vec<Vec<u32>>,
    /// For each rank: the position of its group in that list, and its number there.
    place: Vec<(u32, u32)>,
}

impl GroupPeers {
    pub(super) fn new(nodes: &[u32], network: &Network) -> Self {
        let mut by_group = vec![Vec::new(); network.groups as usize];
        for (rank, &node) in nodes.iter().enumerate() {
            by_group[network.group_of_node(NodeId(node)).index()].push(rank as u32);
        }
        by_group.retain(|ranks| !ranks.is_empty());
        let mut place = vec![(0, 0); nodes.len()];
        for (group, ranks) in by_group.iter().enumerate() {
            for (number, &rank) in ranks.iter().enumerate() {
                place[rank as usize] = (group as u32, number as u32);
            }
        }
        Self { groups: by_group, place }
    }

    /// Number of groups of the job.
    pub(super) fn groups(&self) -> u32 {
        self.groups.len() as u32
    }

    /// The position of a rank's group.
    pub(super) fn group_of(&self, rank: u32) -> u32 {
        self.place[rank as usize].0
    }

    /// The ranks in one of these groups.
    pub(super) fn ranks_in(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }
}

impl TrafficPattern for GroupPeers {
    fn of(pattern: &Pattern, job: &JobSpec, network: &Network, _: Source) -> Option<Self> {
        matches!(pattern, Pattern::GroupPeers {}).then(|| Self::new(&job.nodes, network))
    }

    fn per_interval(&self, _: u32) -> u32 {
        self.groups() - 1
    }

    /// The peers of `rank`, groups ascending.
    fn list(&self, _: u32, rank: u32, _: u32, _: u32, to: &mut Vec<u32>) {
        let (own, number) = self.place[rank as usize];
        let others = self.groups.iter().enumerate().filter(|&(group, _)| group != own as usize);
        to.extend(others.map(|(_, ranks)| ranks[number as usize]));
    }
}
