//! Each rank sends to a random rank in the group that is a fixed number of groups further. All traffic of a group then
//! leaves on the few cables to one other group: the usual worst case of a dragonfly (Kim 2008, section 4.1).

use odonata_topology::Network;

use super::TrafficPattern;
use super::group_peers::GroupPeers;
use crate::engine::random::{Source, below};
use crate::spec::{JobSpec, Pattern};

/// The pattern: the ranks of each group of a job, and the distance in groups.
pub struct GroupShift {
    peers: GroupPeers,
    shift: u32,
    source: Source,
}

impl TrafficPattern for GroupShift {
    fn of(pattern: &Pattern, job: &JobSpec, network: &Network, source: Source) -> Option<Self> {
        let Pattern::GroupShift { shift } = *pattern else { return None };
        Some(Self { peers: GroupPeers::new(&job.nodes, network), shift, source })
    }

    #[inline]
    fn only(&self, node: u32, rank: u32, _: u32, k: u32) -> Option<u32> {
        let groups = u64::from(self.peers.groups());
        let to = (u64::from(self.peers.group_of(rank)) + u64::from(self.shift)) % groups;
        let ranks = self.peers.ranks_in(to as u32);
        let random = self.source.random(u64::from(node), u64::from(k));
        Some(ranks[below(random, ranks.len() as u64) as usize])
    }
}
