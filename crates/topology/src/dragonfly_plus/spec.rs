//! The numbers that describe a Dragonfly+.

use serde::{Deserialize, Serialize};

use crate::ids::GroupId;

/// The spine of the other group at which a global link ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Link `l` of spine `k` of group `i` ends on spine `(k + l) mod spines` of group `j > i`
    /// (Kang 2019, section 3.1.1).
    Linear,
    /// All links of spine `k` to a group end at spine `k` there: what the script did before Kang 2019 replaced it.
    Parallel,
    /// No order: every cable is listed in `global_links`. The default of a description that names no arrangement.
    #[default]
    Explicit,
}

impl Arrangement {
    /// Whether the cables are listed one by one.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        *self == Self::Explicit
    }
}

/// The numbers that describe a Dragonfly+.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPlusSpec {
    /// Number of groups, at least 1.
    pub groups: u32,
    /// Leaf routers per group.
    pub leaves: u32,
    /// Spine routers per group.
    pub spines: u32,
    /// Compute nodes per leaf.
    pub nodes_per_leaf: u32,
    /// Global ports of each spine.
    pub global_links_per_spine: u32,
    /// Cables between each pair of groups; as many as fit for every pair when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_per_pair: Option<u32>,
    /// The spines that the global links join.
    #[serde(default, skip_serializing_if = "Arrangement::is_explicit")]
    pub arrangement: Arrangement,
    /// Pairs of groups with another number of cables: `[group, group, cables]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair_links: Vec<[u32; 3]>,
    /// Leaves of the last group, if it is not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_group_leaves: Option<u32>,
    /// Every global cable as a pair of spines (router numbers), instead of an arrangement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_links: Option<Vec<[u32; 2]>>,
    /// NICs per node, all on its leaf.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub rails: u32,
}

fn single() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that Serde calls
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl Default for DragonflyPlusSpec {
    fn default() -> Self {
        Self {
            groups: 0,
            leaves: 0,
            spines: 0,
            nodes_per_leaf: 0,
            global_links_per_spine: 0,
            links_per_pair: None,
            arrangement: Arrangement::default(),
            pair_links: Vec::new(),
            last_group_leaves: None,
            global_links: None,
            rails: 1,
        }
    }
}

impl DragonflyPlusSpec {
    /// Ports of a leaf to nodes: one for each NIC.
    #[inline]
    #[must_use]
    pub fn node_ports(&self) -> u32 {
        self.nodes_per_leaf * self.rails
    }

    /// Leaves of a group: the last group may have fewer than the others.
    #[inline]
    #[must_use]
    pub fn leaves_in(&self, group: GroupId) -> u32 {
        match self.last_group_leaves {
            Some(leaves) if group.0 + 1 == self.groups => leaves,
            _ => self.leaves,
        }
    }
}
