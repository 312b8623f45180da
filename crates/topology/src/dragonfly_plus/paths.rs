//! What routing asks of a Dragonfly+ with failures (model, section 6, "Failures on a Dragonfly+").
//!
//! All lists are ascending ports with working links. They are empty if nothing has failed
//! ([`DragonflyPlus::has_failures`]); then the plain look-ups apply.

use odonata_error::{Error, ErrorKind, path};
use std::ops::Range;

use super::DragonflyPlus;
use crate::ids::{GroupId, RouterId};

impl DragonflyPlus {
    /// Whether something has failed.
    #[inline]
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.live.is_some()
    }

    /// `up`: ports of a leaf to spines from which the leaf `to` can be reached on a shortest path.
    #[inline]
    #[must_use]
    pub fn up_live(&self, leaf: RouterId, to: RouterId) -> &[u16] {
        self.live.as_ref().map_or(&[], |live| live.up(leaf, to))
    }

    /// All ports of a leaf to spines.
    #[inline]
    #[must_use]
    pub fn spines_live(&self, leaf: RouterId) -> &[u16] {
        self.live.as_ref().map_or(&[], |live| live.spines(leaf))
    }

    /// `across`: global ports of a spine to spines with a link to the leaf `to`, which is in another group.
    #[inline]
    #[must_use]
    pub fn across_live(&self, spine: RouterId, to: RouterId) -> &[u16] {
        self.live.as_ref().map_or(&[], |live| live.across(self.spine_number(spine), self.group(to).0, to))
    }

    /// `G`: global ports of a spine to other groups through which the leaf `to` of another group can be reached.
    #[inline]
    #[must_use]
    pub fn around_live(&self, spine: RouterId, to: RouterId) -> &[u16] {
        self.live.as_ref().map_or(&[], |live| live.around(self.spine_number(spine), self.group(to).0, to))
    }

    /// The ports of [`around_live`](Self::around_live) that lead to group `via`.
    #[must_use]
    pub fn around_live_by(&self, spine: RouterId, to: RouterId, via: GroupId) -> &[u16] {
        if via == self.group(spine) {
            return &[];
        }
        let ports = self.ports_to_group(spine, via);
        let around = self.around_live(spine, to);
        let first = around.partition_point(|&port| port < ports.start);
        let end = around.partition_point(|&port| port < ports.end);
        &around[first..end]
    }

    /// `L`: ports of a spine to leaves from which the leaf `to` of another group can be reached. Every leaf can reach
    /// every other leaf, so these are all working ports to leaves.
    #[inline]
    #[must_use]
    pub fn down_live(&self, spine: RouterId, to: RouterId) -> &[u16] {
        debug_assert!(self.group(spine) != self.group(to), "a spine of the destination's group sends to the leaf");
        self.live.as_ref().map_or(&[], |live| live.down(self.spine_number(spine)))
    }

    /// Numbers of all spines of the machine, group by group.
    pub(super) fn spines(&self) -> Range<u32> {
        0..self.spec.groups * self.spec.spines
    }

    /// The router of a spine by its number among all spines.
    pub(super) fn spine_router(&self, spine: u32) -> RouterId {
        let group = GroupId(spine / self.spec.spines);
        RouterId(self.network.first_router(group).0 + self.leaves_in(group) + spine % self.spec.spines)
    }

    fn spine_number(&self, r: RouterId) -> u32 {
        let group = self.group(r);
        group.0 * self.spec.spines + self.local(r) - self.leaves_in(group)
    }

    /// Refuses two groups without a cable: their leaves could not reach each other on a shortest path.
    pub(super) fn check_joined(&self) -> Result<(), Error> {
        let groups = || (0..self.spec.groups).map(GroupId);
        for (a, b) in groups().flat_map(|a| groups().map(move |b| (a, b))) {
            if a != b && self.gateways(a, b).is_empty() {
                let [from, to] = [a, b].map(|group| self.network.first_router(group).0);
                return Err(ErrorKind::LeavesCutApart { routers: vec![from, to] }.at(path!["topology"]));
            }
        }
        Ok(())
    }
}
