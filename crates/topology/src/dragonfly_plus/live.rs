//! Paths that still exist on a Dragonfly+ with failures: `up`, `across`, `G` and `L` of the model, section 6, "Failures
//! on a Dragonfly+".
//!
//! Which routers can reach a destination leaf on a shortest path depends only on its group and on the spines that it
//! still has a link to. Leaves of a group with the same spines form one *kind*. A machine with few failures has little
//! more than one kind per group. Tables are by kind.

use odonata_error::{Error, ErrorKind, path};

use super::DragonflyPlus;
use super::leaf_kinds::LeafKinds;
use crate::error::bounded;
use crate::ids::{GroupId, RouterId, SlotId};
use crate::lists::{Lists, MAX_ENTRIES};
use crate::network::Peer;

/// Most pairs of kinds of leaves.
const MAX_PAIRS: u64 = 1 << 26;

/// The tables.
#[derive(Clone, Debug)]
pub(super) struct Live {
    leaf_kinds: LeafKinds,
    /// By kind of the leaf, then kind of the destination: ports up.
    up: Lists,
    /// By spine and group: the row in `across` of the group's first kind, if the spine has links to the group.
    across_row: Vec<u32>,
    across: Lists,
    /// By spine and destination group: ports for non-minimal paths, to spines that still have a leaf.
    around: Lists,
    /// For spines next to a spine without leaves: the same by kind of the destination, as (spine, kind), ascending.
    around_kind: Vec<(u32, u32)>,
    around_special: Lists,
    /// Whether a spine is in `around_kind`.
    special: Vec<bool>,
    /// By spine: ports down.
    down: Lists,
}

/// No row: the spine has no link to the group.
const NONE: u32 = u32::MAX;

impl Live {
    /// Finds what still works.
    pub fn new(machine: &DragonflyPlus) -> Result<Self, Error> {
        let (spec, network) = (&machine.spec, &machine.network);
        let leaf_kinds = LeafKinds::new(machine);
        let spines = machine.spines();
        let global = spines.clone().map(|s| machine.global_ports(machine.spine_router(s)).len() as u128).sum::<u128>();
        bounded(&[
            ("pairs of kinds of leaves after failures", (leaf_kinds.count() as u128).pow(2), MAX_PAIRS),
            ("entries in its table of paths around failures", global * u128::from(spec.groups), MAX_ENTRIES),
        ])?;
        let works = |r: RouterId, port: u16| !network.has_failed(slot(machine, r, port));
        let mut live = Live {
            leaf_kinds,
            up: Lists::default(),
            across_row: Vec::with_capacity(spines.len() * spec.groups as usize),
            across: Lists::default(),
            around: Lists::default(),
            around_kind: Vec::new(),
            around_special: Lists::default(),
            special: Vec::with_capacity(spines.len()),
            down: Lists::default(),
        };
        for spine in spines.clone() {
            let r = machine.spine_router(spine);
            let leaves = 0..spec.leaves_in(machine.group(r)) as u16;
            live.down.push(leaves.filter(|&port| works(r, port)));
        }
        for spine in spines.clone() {
            live.add_across(machine, spine);
            live.across.bounded("entries in its table of ways across")?;
        }
        for spine in spines {
            live.add_around(machine, spine);
            live.around_special.bounded("entries in its table of paths around failures")?;
        }
        live.add_up(machine)?;
        Ok(live)
    }

    /// Ports of a leaf towards another leaf.
    #[inline]
    pub fn up(&self, leaf: RouterId, to: RouterId) -> &[u16] {
        match (self.leaf_kinds.of(leaf), self.leaf_kinds.of(to)) {
            (Some(from), Some(to)) => self.up.get(from as usize * self.leaf_kinds.count() + to as usize),
            _ => &[],
        }
    }

    /// All ports of a leaf to spines.
    #[inline]
    pub fn spines(&self, leaf: RouterId) -> &[u16] {
        self.leaf_kinds.of(leaf).map_or(&[], |kind| self.leaf_kinds.ports(kind))
    }

    /// Global ports of a spine towards a leaf of another group.
    #[inline]
    pub fn across(&self, spine: u32, group: u32, to: RouterId) -> &[u16] {
        self.leaf_kinds.of(to).map_or(&[], |kind| self.across_kind(spine, group, kind))
    }

    fn across_kind(&self, spine: u32, group: u32, kind: u32) -> &[u16] {
        match self.across_row[spine as usize * self.leaf_kinds.groups() + group as usize] {
            NONE => &[],
            row => self.across.get((row + kind - self.leaf_kinds.first(group)) as usize),
        }
    }

    /// Global ports of a spine to groups through which a leaf of another group can be reached.
    #[inline]
    pub fn around(&self, spine: u32, group: u32, to: RouterId) -> &[u16] {
        let Some(kind) = self.leaf_kinds.of(to) else { return &[] };
        if self.special[spine as usize]
            && let Ok(row) = self.around_kind.binary_search(&(spine, kind))
        {
            return self.around_special.get(row);
        }
        self.around.get(spine as usize * self.leaf_kinds.groups() + group as usize)
    }

    /// Ports of a spine to leaves.
    #[inline]
    pub fn down(&self, spine: u32) -> &[u16] {
        self.down.get(spine as usize)
    }

    fn add_across(&mut self, machine: &DragonflyPlus, spine: u32) {
        let r = machine.spine_router(spine);
        for group in 0..machine.spec.groups {
            let ports = if group == machine.group(r).0 { 0..0 } else { machine.ports_to_group(r, GroupId(group)) };
            if ports.is_empty() {
                self.across_row.push(NONE);
                continue;
            }
            self.across_row.push(self.across.len() as u32);
            for kind in self.leaf_kinds.first(group)..self.leaf_kinds.first(group + 1) {
                let joins = |&port: &u16| {
                    let (far, _) = far(machine, r, port);
                    !machine.network.has_failed(slot(machine, r, port))
                        && self.leaf_kinds.has(kind, far % machine.spec.spines)
                };
                self.across.push(ports.clone().filter(joins));
            }
        }
    }

    fn add_around(&mut self, machine: &DragonflyPlus, spine: u32) {
        let r = machine.spine_router(spine);
        let own = machine.group(r).0;
        let ports: Vec<(u16, u32, u32)> = machine
            .global_ports(r)
            .filter(|&port| !machine.network.has_failed(slot(machine, r, port)))
            .map(|port| {
                let (far, group) = far(machine, r, port);
                (port, far, group)
            })
            .collect();
        for to in 0..machine.spec.groups {
            let serves = |&&(_, far, group): &&(u16, u32, u32)| group != to && !self.down(far).is_empty();
            let ports: Vec<u16> = ports.iter().filter(serves).map(|&(port, ..)| port).collect();
            self.around.push(if to == own { Vec::new() } else { ports });
        }
        let special = ports.iter().any(|&(_, far, _)| self.down(far).is_empty());
        self.special.push(special);
        if !special {
            return;
        }
        for to in (0..machine.spec.groups).filter(|&to| to != own) {
            for kind in self.leaf_kinds.first(to)..self.leaf_kinds.first(to + 1) {
                let serves = |&&(_, far, group): &&(u16, u32, u32)| {
                    group != to && (!self.down(far).is_empty() || !self.across_kind(far, to, kind).is_empty())
                };
                let ports: Vec<u16> = ports.iter().filter(serves).map(|&(port, ..)| port).collect();
                self.around_kind.push((spine, kind));
                self.around_special.push(ports);
            }
        }
    }

    fn add_up(&mut self, machine: &DragonflyPlus) -> Result<(), Error> {
        let first_up = machine.spec.node_ports() as u16;
        let mut last: Vec<u16> = Vec::new();
        for group in 0..machine.spec.groups {
            let right = self.right_spines(machine, group);
            for from in self.leaf_kinds.first(group)..self.leaf_kinds.first(group + 1) {
                let ports = self.leaf_kinds.ports(from).to_vec();
                for (to, right) in (0..).zip(right.chunks(machine.spec.spines as usize)) {
                    last.clear();
                    last.extend(ports.iter().filter(|&&port| right[usize::from(port - first_up)]));
                    if last.is_empty()
                        && let Some((from, to)) = self.leaf_kinds.two(from, to)
                    {
                        return Err(ErrorKind::LeavesCutApart { routers: vec![from.0, to.0] }.at(path!["failures"]));
                    }
                    self.up.push_shared(&last);
                }
                self.up.bounded("entries in its table of paths up")?;
            }
        }
        Ok(())
    }

    /// For each kind of destination and each spine of a group: whether a shortest path goes through the spine.
    fn right_spines(&self, machine: &DragonflyPlus, group: u32) -> Vec<bool> {
        let spines = machine.spec.spines;
        let mut right = Vec::with_capacity(self.leaf_kinds.count() * spines as usize);
        for to in 0..self.leaf_kinds.count() as u32 {
            let far_group = self.leaf_kinds.group(to);
            right.extend((0..spines).map(|number| {
                if group == far_group {
                    self.leaf_kinds.has(to, number)
                } else {
                    !self.across_kind(group * spines + number, far_group, to).is_empty()
                }
            }));
        }
        right
    }
}

fn slot(machine: &DragonflyPlus, r: RouterId, port: u16) -> SlotId {
    SlotId(machine.network.first_slot[r.index()] + u32::from(port))
}

/// The spine at the far end of a global port, and its group.
fn far(machine: &DragonflyPlus, r: RouterId, port: u16) -> (u32, u32) {
    match machine.network.peer[slot(machine, r, port).index()] {
        Peer::Router(far) => {
            let router = machine.network.router_of_slot[far.index()];
            let group = machine.group(router);
            (group.0 * machine.spec.spines + machine.local(router) - machine.spec.leaves_in(group), group.0)
        }
        Peer::Node(_) | Peer::None => unreachable!("a global port leads to a spine"),
    }
}
