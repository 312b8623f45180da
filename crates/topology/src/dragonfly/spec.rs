//! The numbers that describe a dragonfly or a cascade.

use serde::{Deserialize, Serialize};

/// The order in which a group assigns its global ports to the other groups (Camarero 2014; Hastings 2015).
/// `t` counts a group's peers from 0, `g` is the number of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DragonflyArrangement {
    /// Ascending numbers without the group itself.
    Absolute,
    /// Peer `t` of group `i` is `(i + t + 1) mod g`.
    Relative,
    /// `i + 1`, `i - 1`, `i + 2`, `i - 2`, ... (mod `g`).
    Circulant,
    /// Peer `t` of group `i` is `(i - t - 1) mod g`.
    Palmtree,
    /// The absolute order, shuffled for each group by `arrangement_seed`.
    Random,
    /// No order: every cable is listed in `global_links`. The default of a description that names no arrangement.
    #[default]
    Explicit,
}

impl DragonflyArrangement {
    /// Whether the cables are listed one by one.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        *self == Self::Explicit
    }
}

/// How the entries of a group's list of global links are assigned to its routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The first router gets the first entries, until its ports are used up.
    #[default]
    Consecutive,
    /// Each router gets one entry in turn.
    RoundRobin,
}

impl Spread {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the NICs of one node are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RailsOn {
    /// All on one router, at adjacent ports.
    #[default]
    OneRouter,
    /// On `rails` consecutive routers, one NIC on each.
    DifferentRouters,
}

impl RailsOn {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn single() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// A dragonfly: groups in which every router is linked to every other (Kim 2008; catalogue L1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DragonflySpec {
    /// Number of groups, at least 1.
    pub groups: u32,
    /// Routers per group (`a` of the literature).
    pub routers: u32,
    /// Node ports (NICs) per router (`p`, if a node has one NIC).
    pub nodes_per_router: u32,
    /// Parallel links between each pair of routers in a group.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub local_links: u32,
    /// Global ports of each router (`h`).
    pub global_links_per_router: u32,
    /// Cables between each pair of groups; as many as fit for every pair when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_per_pair: Option<u32>,
    /// The order in which groups assign their global ports.
    #[serde(default, skip_serializing_if = "DragonflyArrangement::is_explicit")]
    pub arrangement: DragonflyArrangement,
    /// Seed of the arrangement `random`; other arrangements have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrangement_seed: Option<u64>,
    /// How a group's global links are assigned to its routers.
    #[serde(default, skip_serializing_if = "Spread::is_default")]
    pub spread: Spread,
    /// Pairs of groups with another number of cables: `[group, group, cables]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair_links: Vec<[u32; 3]>,
    /// Routers of the last group, if it is not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_group_routers: Option<u32>,
    /// Every global cable as a pair of routers, instead of an arrangement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_links: Option<Vec<[u32; 2]>>,
    /// NICs per node.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub rails: u32,
    /// Where the NICs of a node are attached.
    #[serde(default, skip_serializing_if = "RailsOn::is_default")]
    pub rails_on: RailsOn,
}

impl Default for DragonflySpec {
    fn default() -> Self {
        Self {
            groups: 0,
            routers: 0,
            nodes_per_router: 0,
            local_links: 1,
            global_links_per_router: 0,
            links_per_pair: None,
            arrangement: DragonflyArrangement::default(),
            arrangement_seed: None,
            spread: Spread::default(),
            pair_links: Vec::new(),
            last_group_routers: None,
            global_links: None,
            rails: 1,
            rails_on: RailsOn::default(),
        }
    }
}

/// A cascade: groups that are grids of routers, each linked to all others of its row (chassis) and of its column
/// (Cray XC; catalogue D1 to D4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CascadeSpec {
    /// Number of groups, at least 1.
    pub groups: u32,
    /// Rows (chassis) of a group.
    pub rows: u32,
    /// Columns: routers (blades) of a row.
    pub columns: u32,
    /// Node ports (NICs) per router.
    pub nodes_per_router: u32,
    /// Parallel links between each pair of routers in a row.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub row_links: u32,
    /// Parallel links between each pair of routers in a column (3 on Aries).
    pub column_links: u32,
    /// Global ports of each router.
    pub global_links_per_router: u32,
    /// Cables between each pair of groups; as many as fit for every pair when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_per_pair: Option<u32>,
    /// The order in which groups assign their global ports.
    #[serde(default, skip_serializing_if = "DragonflyArrangement::is_explicit")]
    pub arrangement: DragonflyArrangement,
    /// Seed of the arrangement `random`; other arrangements have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrangement_seed: Option<u64>,
    /// How a group's global links are assigned to its routers.
    #[serde(default, skip_serializing_if = "Spread::is_default")]
    pub spread: Spread,
    /// Pairs of groups with another number of cables: `[group, group, cables]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair_links: Vec<[u32; 3]>,
    /// Rows of the last group, if it is not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_group_rows: Option<u32>,
    /// Every global cable as a pair of routers, instead of an arrangement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_links: Option<Vec<[u32; 2]>>,
    /// NICs per node.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub rails: u32,
    /// Where the NICs of a node are attached.
    #[serde(default, skip_serializing_if = "RailsOn::is_default")]
    pub rails_on: RailsOn,
}

impl Default for CascadeSpec {
    fn default() -> Self {
        Self {
            groups: 0,
            rows: 0,
            columns: 0,
            nodes_per_router: 0,
            row_links: 1,
            column_links: 0,
            global_links_per_router: 0,
            links_per_pair: None,
            arrangement: DragonflyArrangement::default(),
            arrangement_seed: None,
            spread: Spread::default(),
            pair_links: Vec::new(),
            last_group_rows: None,
            global_links: None,
            rails: 1,
            rails_on: RailsOn::default(),
        }
    }
}
