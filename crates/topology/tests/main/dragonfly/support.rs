//! Descriptions of dragonflies and cascades of all shapes, and what they mean, worked out anew.

use std::sync::Arc;

use odonata_error::Error;
use odonata_topology::{
    CascadeSpec, Dragonfly, DragonflyArrangement, DragonflySpec, Failures, GroupId, Machine, Network, RailsOn,
    RouterId, Spread, TopologySpec,
};
use proptest::prelude::*;

pub const ARRANGEMENTS: [DragonflyArrangement; 5] = [
    DragonflyArrangement::Absolute,
    DragonflyArrangement::Relative,
    DragonflyArrangement::Circulant,
    DragonflyArrangement::Palmtree,
    DragonflyArrangement::Random,
];

pub fn seed(arrangement: DragonflyArrangement) -> Option<u64> {
    (arrangement == DragonflyArrangement::Random).then_some(7)
}

/// `[groups, routers, nodes_per_router, global_links_per_router]`.
pub fn dragonfly(size: [u32; 4], arrangement: DragonflyArrangement) -> DragonflySpec {
    let [groups, routers, nodes_per_router, global_links_per_router] = size;
    let arrangement_seed = seed(arrangement);
    DragonflySpec {
        groups,
        routers,
        nodes_per_router,
        global_links_per_router,
        arrangement,
        arrangement_seed,
        ..DragonflySpec::default()
    }
}

/// `[groups, rows, columns, nodes_per_router, row_links, column_links, global_links_per_router]`.
pub fn cascade(size: [u32; 7], arrangement: DragonflyArrangement) -> CascadeSpec {
    let [groups, rows, columns, nodes_per_router, row_links, column_links, global_links_per_router] = size;
    let arrangement_seed = seed(arrangement);
    CascadeSpec {
        groups,
        rows,
        columns,
        nodes_per_router,
        row_links,
        column_links,
        global_links_per_router,
        arrangement,
        arrangement_seed,
        ..CascadeSpec::default()
    }
}

pub fn try_direct(spec: &TopologySpec, failures: &Failures) -> Result<Dragonfly, Error> {
    match Machine::build(spec, failures)? {
        Machine::Dragonfly(machine) => Ok(Arc::unwrap_or_clone(machine)),
        _ => panic!("{spec:?} became another machine"),
    }
}

pub fn direct(spec: &TopologySpec, failures: &Failures) -> Dragonfly {
    try_direct(spec, failures).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// What a description of either kind says, in one form.
#[derive(Clone, Debug)]
pub struct Shape {
    pub groups: u32,
    /// Rows and columns of a full group, and of the last one.
    pub grid: [(u32, u32); 2],
    pub nodes_per_router: u32,
    /// Parallel links along rows and along columns.
    pub parallel: (u32, u32),
    pub per_router: u32,
    pub links_per_pair: Option<u32>,
    pub pair_links: Vec<[u32; 3]>,
    pub arrangement: DragonflyArrangement,
    pub spread: Spread,
    pub rails: u32,
    pub rails_on: RailsOn,
    pub first_global: u8,
}

impl Shape {
    pub fn of(spec: &TopologySpec) -> Self {
        match spec {
            TopologySpec::Dragonfly(s) => Shape {
                groups: s.groups,
                grid: [(1, s.routers), (1, s.last_group_routers.unwrap_or(s.routers))],
                nodes_per_router: s.nodes_per_router,
                parallel: (s.local_links, 0),
                per_router: s.global_links_per_router,
                links_per_pair: s.links_per_pair,
                pair_links: s.pair_links.clone(),
                arrangement: s.arrangement,
                spread: s.spread,
                rails: s.rails,
                rails_on: s.rails_on,
                first_global: 2,
            },
            TopologySpec::Cascade(s) => Shape {
                groups: s.groups,
                grid: [(s.rows, s.columns), (s.last_group_rows.unwrap_or(s.rows), s.columns)],
                nodes_per_router: s.nodes_per_router,
                parallel: (s.row_links, s.column_links),
                per_router: s.global_links_per_router,
                links_per_pair: s.links_per_pair,
                pair_links: s.pair_links.clone(),
                arrangement: s.arrangement,
                spread: s.spread,
                rails: s.rails,
                rails_on: s.rails_on,
                first_global: 3,
            },
            _ => panic!("it has no grid"),
        }
    }

    pub fn grid(&self, group: u32) -> (u32, u32) {
        self.grid[usize::from(group == self.groups - 1)]
    }

    pub fn routers(&self, group: u32) -> u32 {
        let (rows, columns) = self.grid(group);
        rows * columns
    }

    /// Links between two different groups: the exception, or what was asked for, or what fits everywhere; a smaller
    /// last group takes what fits there.
    pub fn links(&self, a: u32, b: u32) -> u32 {
        if let Some(x) = self.pair_links.iter().find(|x| [x[0], x[1]] == [a, b] || [x[0], x[1]] == [b, a]) {
            return x[2];
        }
        let fits = |group: u32| self.routers(group) * self.per_router / (self.groups - 1);
        let full = self
            .links_per_pair
            .unwrap_or_else(|| self.grid[0].0 * self.grid[0].1 * self.per_router / (self.groups - 1));
        let smaller = self.grid[0] != self.grid[1];
        if smaller && a.max(b) == self.groups - 1 { full.min(fits(self.groups - 1)) } else { full }
    }

    /// The reason why it cannot be built, if there is one; in the order of the checks.
    pub fn reason(&self) -> Option<&'static str> {
        let peers = self.groups - 1;
        let by_router = self.rails_on == RailsOn::OneRouter;
        if by_router && !self.nodes_per_router.is_multiple_of(self.rails) {
            return Some("nodes_per_router");
        }
        if !by_router && (0..self.groups).any(|g| !self.routers(g).is_multiple_of(self.rails)) {
            return Some("rails");
        }
        for (at, &[a, b, _]) in self.pair_links.iter().enumerate() {
            let again = self.pair_links[..at].iter().any(|x| [x[0], x[1]] == [a, b] || [x[0], x[1]] == [b, a]);
            if a > peers || b > peers || a == b || again {
                return Some("pair_links");
            }
        }
        if peers == 0 {
            return None;
        }
        let have = self.grid[0].0 * self.grid[0].1 * self.per_router;
        match self.links_per_pair {
            Some(0) if self.pair_links.is_empty() => return Some("zero"),
            Some(links) if self.pair_links.is_empty() && links * peers > have => return Some("ports"),
            None if have < peers => return Some("groups"),
            _ => {}
        }
        let wants = self.links_per_pair != Some(0);
        if wants && self.routers(peers) * self.per_router < peers {
            return Some("last");
        }
        let need = |g: u32| (0..self.groups).filter(|&to| to != g).map(|to| self.links(g, to)).sum::<u32>();
        (0..self.groups).any(|g| need(g) > self.routers(g) * self.per_router).then_some("group")
    }
}

/// The text of [`Shape::reason`] for an error.
pub fn word(error: &Error) -> &'static str {
    let at = error.path.to_string();
    match error.code() {
        "zero" => "zero",
        "too-few-global-ports" => "ports",
        "too-many-groups" => "groups",
        "group-lacks-ports" => "group",
        _ if at.starts_with("topology.pair_links[") => "pair_links",
        _ if at.starts_with("topology.last_group_") => "last",
        _ if at == "topology.rails" => "rails",
        _ if at == "topology.nodes_per_router" => "nodes_per_router",
        other => panic!("no refusal of a small machine: {other}"),
    }
}

/// Small machines of both kinds, buildable or not.
pub fn specs() -> impl Strategy<Value = TopologySpec> {
    let counts = (any::<bool>(), 1..=6_u32, 1..=3_u32, 1..=5_u32, 1..=4_u32, 0..=7_u32);
    let links = (1..=2_u32, 1..=3_u32, prop_oneof![3 => Just(None), 2 => (0..=6_u32).prop_map(Some)]);
    let exceptions = prop::collection::vec((0..=6_u32, 0..=5_u32, 0..=5_u32).prop_map(|(a, b, n)| [a, b, n]), 0..=2);
    let exceptions = prop_oneof![2 => Just(Vec::new()), 1 => exceptions];
    let options = (0..5_usize, any::<bool>(), prop_oneof![2 => Just(None), 1 => (1..=5_u32).prop_map(Some)]);
    let rails = (prop_oneof![3 => Just(1), 1 => 2..=3_u32], any::<bool>());
    (counts, links, exceptions, options, rails).prop_map(|(counts, links, pair_links, options, (rails, apart))| {
        let (flat, groups, rows, columns, nodes, per_router) = counts;
        let (row_links, column_links, links_per_pair) = links;
        let (arrangement, in_turn, last) = options;
        let arrangement = ARRANGEMENTS[arrangement];
        let spread = if in_turn { Spread::RoundRobin } else { Spread::Consecutive };
        let rails_on = if apart { RailsOn::DifferentRouters } else { RailsOn::OneRouter };
        if flat {
            TopologySpec::Dragonfly(DragonflySpec {
                local_links: row_links,
                links_per_pair,
                spread,
                pair_links,
                last_group_routers: last.map(|n| n.min(columns)),
                rails,
                rails_on,
                ..dragonfly([groups, columns, nodes, per_router], arrangement)
            })
        } else {
            TopologySpec::Cascade(CascadeSpec {
                links_per_pair,
                spread,
                pair_links,
                last_group_rows: last.map(|n| n.min(rows)),
                rails,
                rails_on,
                ..cascade([groups, rows, columns, nodes, row_links, column_links, per_router], arrangement)
            })
        }
    })
}

/// Numbers of the routers of a group in the whole machine.
pub fn members(network: &Network, group: u32) -> std::ops::Range<u32> {
    let first = network.first_router(GroupId(group)).0;
    first..first + network.routers_in(GroupId(group))
}

/// Position of a router in the grid of its group.
pub fn place(machine: &Dragonfly, r: u32) -> (u32, u32) {
    let local = machine.network.local(RouterId(r));
    (local / machine.columns, local % machine.columns)
}
