//! Each rank sends to a random rank in the group that lies a fixed number of groups further on: all traffic of a group then
//! has to leave by the few cables to one other group, the usual worst case of a dragonfly (Kim 2008, section 4.1).

use odonata_topology::Network;

use super::group_peers::Peers;
use crate::engine::random::{Source, below};

/// The ranks of each group of a job, and how far on they send.
pub struct Shift {
    peers: Peers,
    shift: u32,
}

impl Shift {
    pub(super) fn new(nodes: &[u32], network: &Network, shift: u32) -> Self {
        Self { peers: Peers::new(nodes, network), shift }
    }

    /// The destination of `rank`, on `node`, in interval `k`.
    pub(super) fn destination(&self, draws: Source, node: u32, rank: u32, k: u32) -> u32 {
        let groups = u64::from(self.peers.groups());
        let to = (u64::from(self.peers.group_of(rank)) + u64::from(self.shift)) % groups;
        let ranks = self.peers.ranks_in(to as u32);
        let draw = draws.word(u64::from(node), u64::from(k));
        ranks[below(draw, ranks.len() as u64) as usize]
    }
}
