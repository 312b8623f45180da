//! The leaves of a group with working links to the same spines.

use std::collections::BTreeMap;

use super::DragonflyPlus;
use crate::ids::RouterId;
use crate::lists::Lists;

/// Kinds of leaves, numbered group by group. A failed leaf has no kind.
#[derive(Clone, Debug)]
pub(super) struct LeafKinds {
    /// Kind of each router; [`NONE`] for spines and for failed leaves.
    of: Vec<u32>,
    /// First kind of each group, and the number of kinds as the last entry.
    first: Vec<u32>,
    /// Group of each kind.
    group: Vec<u32>,
    /// Ports to the spines that leaves of a kind have a working link to.
    ports: Lists,
    /// Whether a kind has a link to a spine, by kind and number of the spine.
    has: Vec<bool>,
    spines: u32,
    /// The first two leaves of each kind; the same leaf twice if there is only one.
    leaves: Vec<[RouterId; 2]>,
}

const NONE: u32 = u32::MAX;

impl LeafKinds {
    /// Groups the leaves by what has failed.
    pub fn new(machine: &DragonflyPlus) -> Self {
        let (spec, network) = (&machine.spec, &machine.network);
        let mut leaf_kinds = LeafKinds {
            of: vec![NONE; network.routers()],
            first: vec![0],
            group: Vec::new(),
            ports: Lists::default(),
            has: Vec::new(),
            spines: spec.spines,
            leaves: Vec::new(),
        };
        let mut leaf = 0..network.routers() as u32;
        for group in 0..spec.groups {
            let mut known: BTreeMap<Vec<u16>, u32> = BTreeMap::new();
            for r in leaf.by_ref().take(spec.leaves_in(crate::GroupId(group)) as usize).map(RouterId) {
                if !network.router_works(r) {
                    continue;
                }
                let up = spec.node_ports() as u16..network.ports(r);
                let ports: Vec<u16> =
                    up.filter(|&port| !network.has_failed(network.slot(r, crate::Port(port)))).collect();
                let kind = *known.entry(ports).or_insert_with_key(|ports| leaf_kinds.add(group, ports, r));
                leaf_kinds.of[r.index()] = kind;
                let [first, second] = &mut leaf_kinds.leaves[kind as usize];
                if second == first {
                    *second = r;
                }
            }
            leaf.by_ref().take(spec.spines as usize).for_each(drop);
            leaf_kinds.first.push(leaf_kinds.group.len() as u32);
        }
        let first_up = spec.node_ports() as usize;
        leaf_kinds.has = vec![false; leaf_kinds.count() * spec.spines as usize];
        for kind in 0..leaf_kinds.count() {
            for at in 0..leaf_kinds.ports.get(kind).len() {
                let spine = usize::from(leaf_kinds.ports.get(kind)[at]) - first_up;
                leaf_kinds.has[kind * spec.spines as usize + spine] = true;
            }
        }
        leaf_kinds
    }

    fn add(&mut self, group: u32, ports: &[u16], leaf: RouterId) -> u32 {
        let kind = self.group.len() as u32;
        self.group.push(group);
        self.ports.push(ports.iter().copied());
        self.leaves.push([leaf; 2]);
        kind
    }

    /// Number of kinds.
    pub fn count(&self) -> usize {
        self.group.len()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.first.len() - 1
    }

    /// Kind of a working leaf.
    #[inline]
    pub fn of(&self, leaf: RouterId) -> Option<u32> {
        Some(self.of[leaf.index()]).filter(|&kind| kind != NONE)
    }

    /// First kind of a group, or the number of kinds after the last.
    pub fn first(&self, group: u32) -> u32 {
        self.first[group as usize]
    }

    /// Group of a kind.
    pub fn group(&self, kind: u32) -> u32 {
        self.group[kind as usize]
    }

    /// Ports of a kind's leaves to spines, ascending.
    pub fn ports(&self, kind: u32) -> &[u16] {
        self.ports.get(kind as usize)
    }

    /// Whether the leaves of a kind have a link to a spine of their group.
    pub fn has(&self, kind: u32, spine: u32) -> bool {
        self.has[kind as usize * self.spines as usize + spine as usize]
    }

    /// Two different leaves of two kinds, or of one kind with several.
    pub fn two(&self, from: u32, to: u32) -> Option<(RouterId, RouterId)> {
        let two = (self.leaves[from as usize][0], self.leaves[to as usize][usize::from(from == to)]);
        (two.0 != two.1).then_some(two)
    }
}
