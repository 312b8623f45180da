//! Dragonfly+ (also Megafly): groups of leaf and spine routers in a complete bipartite graph, all groups
//! connected to all others by the spines.
//!
//! Sources: Shpiner 2017; Kang 2019, section 2.1 and 3.1.1 (catalogue K1, K2, K4).
//!
//! Numbering: nodes leaf by leaf, routers group by group with the leaves first. A leaf's ports are the
//! NICs of its nodes (those of a node side by side), then the spines of its group in order; a spine's ports are the
//! leaves of its group in order, then its global links ordered by the other group and, within one, by link number.

mod cables;
mod check;
mod leaf_kinds;
mod live;
mod paths;
mod spec;
mod wiring;

use odonata_error::Error;
use std::ops::Range;

pub use spec::{Arrangement, DragonflyPlusSpec};

use crate::failures::Failures;
use crate::ids::{GroupId, NodeId, RouterId};
use crate::network::{ClassId, Network};
use live::Live;

/// Class of the links between leaves and spines of a group.
pub const LOCAL: ClassId = ClassId(1);
/// Class of the links between groups.
pub const GLOBAL: ClassId = ClassId(2);
/// Names of the link classes of a Dragonfly+.
pub const CLASSES: &[&str] = &["node", "local", "global"];

/// A wired Dragonfly+ and the look-ups its routing needs.
#[derive(Clone, Debug)]
pub struct DragonflyPlus {
    /// The description it was built from, `links_per_pair` filled in.
    pub spec: DragonflyPlusSpec,
    /// The wiring.
    pub network: Network,
    /// Whether every spine has a link to every other group, counting failed links.
    pub complete: bool,
    /// For each ordered pair of groups (row `from * groups + to`), the start of its entries in `gateways`.
    gateway_start: Vec<u32>,
    /// Spines (by number in their group) with a link to that other group, ascending, each once.
    gateways: Vec<u16>,
    /// As `gateways`, the first port of that spine to that group, and the end of these ports; empty if the machine is
    /// complete.
    ports_of_gateways: Vec<[u16; 2]>,
    /// For each spine (global number) the first port to each other group, by peer rank, and the end of its ports; empty
    /// unless the machine is complete, because it grows with groups and spines.
    ports_of_spines: Vec<u16>,
    most_links: u32,
    /// What still works, if something has failed.
    live: Option<Box<Live>>,
}

impl DragonflyPlus {
    /// Wires the machine.
    ///
    /// # Errors
    /// Any [`Error`]: a zero count, more links than ports, or more parts than can be numbered.
    pub fn build(spec: &DragonflyPlusSpec) -> Result<Self, Error> {
        Self::build_with(spec, &Failures::default())
    }

    /// Wires the machine and removes what has failed.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(spec: &DragonflyPlusSpec, failures: &Failures) -> Result<Self, Error> {
        let (spec, pairs) = check::check(spec)?;
        let cables = cables::cables(&spec, pairs.as_ref())?;
        let mut machine = wiring::build(spec, &cables);
        machine.check_joined()?;
        machine.network.fail(failures)?;
        if !failures.is_empty() {
            machine.live = Some(Box::new(Live::new(&machine)?));
        }
        Ok(machine)
    }

    /// The largest number of cables between two groups, counting failed ones; 0 if there is only one group.
    #[must_use]
    pub fn links_per_pair(&self) -> u32 {
        self.most_links
    }

    /// Routers of every group except perhaps the last.
    #[must_use]
    pub fn routers_per_group(&self) -> u32 {
        self.spec.leaves + self.spec.spines
    }

    /// The leaf that node `n` is attached to.
    #[must_use]
    pub fn leaf_of(&self, n: NodeId) -> RouterId {
        self.network.router_of_node(n)
    }

    /// Group of a router.
    #[inline]
    #[must_use]
    pub fn group(&self, r: RouterId) -> GroupId {
        GroupId(self.network.group_of_router[r.index()])
    }

    /// Leaves of a group.
    #[inline]
    #[must_use]
    pub fn leaves_in(&self, g: GroupId) -> u32 {
        self.spec.leaves_in(g)
    }

    /// Number of a router inside its group: leaves are `0 .. leaves`, spines follow.
    #[inline]
    #[must_use]
    pub fn local(&self, r: RouterId) -> u32 {
        self.network.local(r)
    }

    /// Whether the router is a leaf.
    #[inline]
    #[must_use]
    pub fn is_leaf(&self, r: RouterId) -> bool {
        self.local(r) < self.leaves_in(self.group(r))
    }

    /// Spines of group `from` (numbered inside it) that have a link to group `to`, ascending.
    #[inline]
    #[must_use]
    pub fn gateways(&self, from: GroupId, to: GroupId) -> &[u16] {
        &self.gateways[self.gateways_of(from, to)]
    }

    /// Positions of the gateways from a group to another in the list of all.
    #[inline]
    fn gateways_of(&self, from: GroupId, to: GroupId) -> Range<usize> {
        let row = self.gateway_row(from, to);
        self.gateway_start[row] as usize..self.gateway_start[row + 1] as usize
    }

    /// Where the gateways of each ordered pair of groups begin in the list of all, by
    /// [`gateway_row`](Self::gateway_row): what a look-up reads first.
    #[inline]
    #[must_use]
    pub fn gateway_starts(&self) -> &[u32] {
        &self.gateway_start
    }

    /// The row of an ordered pair of groups.
    #[inline]
    #[must_use]
    pub fn gateway_row(&self, from: GroupId, to: GroupId) -> usize {
        from.index() * self.spec.groups as usize + to.index()
    }

    /// Ports of spine `r` that lead to another group `to`; may be empty.
    #[inline]
    #[must_use]
    pub fn ports_to_group(&self, r: RouterId, to: GroupId) -> Range<u16> {
        let from = self.group(r);
        self.spine_ports(from, self.local(r) - self.leaves_in(from), to)
    }

    /// Ports of spine number `spine` of group `from` that lead to another group `to`; may be empty.
    #[inline]
    #[must_use]
    pub fn spine_ports(&self, from: GroupId, spine: u32, to: GroupId) -> Range<u16> {
        if !self.complete {
            return self.ports_of_gateway(from, spine, to);
        }
        let rank = peer_rank(from.0, to.0) as usize;
        let row = (from.0 * self.spec.spines + spine) as usize * self.spec.groups as usize + rank;
        self.ports_of_spines[row]..self.ports_of_spines[row + 1]
    }

    /// The same by the list of gateways. (Compiled as if it were seldom called, so that machines of the other kind do not
    /// pay for it.)
    #[cold]
    #[inline(never)]
    fn ports_of_gateway(&self, from: GroupId, spine: u32, to: GroupId) -> Range<u16> {
        let all = self.gateways_of(from, to);
        let gateway = self.gateways[all.clone()].iter().position(|&gateway| u32::from(gateway) == spine);
        gateway.map_or(0..0, |gateway| {
            let [start, end] = self.ports_of_gateways[all.start + gateway];
            start..end
        })
    }

    /// All ports of a spine that carry a global link.
    #[inline]
    #[must_use]
    pub fn global_ports(&self, r: RouterId) -> Range<u16> {
        self.leaves_in(self.group(r)) as u16..self.network.ports(r)
    }
}

/// Position of group `to` among the other groups of `from`, in ascending order.
#[inline]
#[must_use]
pub fn peer_rank(from: u32, to: u32) -> u32 {
    if to < from { to } else { to - 1 }
}
