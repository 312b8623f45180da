//! The cables between each pair of groups, and the groups that bridge two others.

use odonata_error::Error;

use crate::error::bounded;
use crate::ids::{RouterId, SlotId};
use crate::network::{Network, Peer};

/// Most entries of the lists of intermediate groups, 2 B each.
const MAX_INTERMEDIATES: u64 = 1 << 28;

/// The groups `M(A, B)` through which a packet can be sent from group A to group B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntermediateGroups<'a> {
    /// All groups other than the two.
    All,
    /// These, ascending.
    List(&'a [u16]),
}

/// Cables by pair of groups.
#[derive(Clone, Debug)]
pub(super) struct GroupCables {
    groups: u32,
    /// For each ordered pair of groups (row `from * groups + to`), the start of its cables; one more entry at the end.
    start: Vec<u32>,
    /// Working global ports, ascending for each pair.
    slots: Vec<SlotId>,
    /// Whether a group lacks a cable to some other group.
    lacks: Vec<bool>,
    /// The start of the list of each ordered pair, one more entry at the end; empty if every pair is joined.
    intermediate_start: Vec<u32>,
    intermediates: Vec<u16>,
}

impl GroupCables {
    /// Reads the cables from the wiring.
    pub fn new(network: &Network) -> Result<Self, Error> {
        let groups = network.groups;
        let mut start = vec![0_u32; groups as usize * groups as usize + 1];
        for (row, _) in global(network) {
            start[row + 1] += 1;
        }
        for row in 1..start.len() {
            start[row] += start[row - 1];
        }
        let mut slots = vec![SlotId(0); start[start.len() - 1] as usize];
        let mut next = start.clone();
        for (row, slot) in global(network) {
            slots[next[row] as usize] = slot;
            next[row] += 1;
        }
        let mut group_cables = GroupCables {
            groups,
            start,
            slots,
            lacks: Vec::new(),
            intermediate_start: Vec::new(),
            intermediates: Vec::new(),
        };
        group_cables.lacks =
            (0..groups).map(|a| (0..groups).any(|b| a != b && group_cables.cables(a, b).is_empty())).collect();
        if group_cables.lacks.contains(&true) {
            group_cables.list_intermediates()?;
        }
        Ok(group_cables)
    }

    /// Cables from one group to another, by their ports in the first.
    #[inline]
    pub fn cables(&self, from: u32, to: u32) -> &[SlotId] {
        let row = from as usize * self.groups as usize + to as usize;
        &self.slots[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// The largest number of cables between two groups.
    pub fn most_cables(&self) -> u32 {
        self.start.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0)
    }

    /// The groups through which a packet can go from one group to another.
    #[inline]
    pub fn intermediates(&self, a: u32, b: u32) -> IntermediateGroups<'_> {
        if !self.lacks[a as usize] && !self.lacks[b as usize] {
            return IntermediateGroups::All;
        }
        let row = a as usize * self.groups as usize + b as usize;
        let list =
            &self.intermediates[self.intermediate_start[row] as usize..self.intermediate_start[row + 1] as usize];
        if list.len() as u32 + 2 == self.groups { IntermediateGroups::All } else { IntermediateGroups::List(list) }
    }

    fn list_intermediates(&mut self) -> Result<(), Error> {
        let groups = self.groups;
        let peers: Vec<Vec<u16>> = (0..groups)
            .map(|a| (0..groups).filter(|&b| !self.cables(a, b).is_empty()).map(|b| b as u16).collect())
            .collect();
        self.intermediate_start.reserve_exact(groups as usize * groups as usize + 1);
        for a in 0..groups {
            for b in 0..groups {
                self.intermediate_start.push(self.intermediates.len() as u32);
                if a != b && (self.lacks[a as usize] || self.lacks[b as usize]) {
                    let joined = |&&v: &&u16| !self.cables(u32::from(v), b).is_empty();
                    let list: Vec<u16> = peers[a as usize].iter().filter(joined).copied().collect();
                    self.intermediates.extend(list);
                }
            }
            bounded(&[(
                "entries in its lists of groups between two others",
                self.intermediates.len() as u128,
                MAX_INTERMEDIATES,
            )])?;
        }
        self.intermediate_start.push(self.intermediates.len() as u32);
        Ok(())
    }
}

/// All working global ports, ascending, each with the row of its pair of groups.
fn global(network: &Network) -> impl Iterator<Item = (usize, SlotId)> + '_ {
    let group = |r: RouterId| network.group_of_router[r.index()];
    network.peer.iter().enumerate().filter_map(move |(slot, peer)| match peer {
        Peer::Router(far)
            if network.class[slot] >= network.first_global && !network.has_failed(SlotId(slot as u32)) =>
        {
            let (from, to) = (group(network.router_of_slot[slot]), group(network.router_of_slot[far.index()]));
            Some((from as usize * network.groups as usize + to as usize, SlotId(slot as u32)))
        }
        _ => None,
    })
}
