//! What dragonfly and cascade descriptions have in common, checked: no size beyond this point can overflow.

use super::grid::Grid;
use super::{CASCADE_CLASSES, CLASSES, CascadeSpec, DragonflyArrangement, DragonflySpec, RailsOn, Spread};
use crate::error::{GlobalNames, TopologyError};
use crate::network::{ClassId, MAX_PORTS};

/// Most pairs of groups, for each of which there is an entry in a table.
const MAX_PAIRS: u64 = 1 << 28;
/// Most pairs of routers in one group: a group of 4,096 routers.
const MAX_LOCAL_PAIRS: u64 = 1 << 24;

pub(super) const NAMES: GlobalNames = GlobalNames { routers: "routers", parameter: "global_links_per_router" };

/// A machine of either kind.
pub(super) struct Design<'a> {
    pub groups: u32,
    pub full: Grid,
    pub last: Grid,
    /// Name of the parameter that says how large the last group is.
    pub last_name: &'static str,
    pub per_router: u32,
    pub links_per_pair: Option<u32>,
    pub arrangement: DragonflyArrangement,
    pub seed: Option<u64>,
    pub spread: Spread,
    pub pair_links: &'a [[u32; 3]],
    pub global_links: Option<&'a [[u32; 2]]>,
    pub rails: u32,
    pub rails_on: RailsOn,
    pub classes: &'static [&'static str],
    pub first_global: ClassId,
}

/// Refuses counts of zero.
fn some(counts: &[(&'static str, u32)]) -> Result<(), TopologyError> {
    match counts.iter().find(|&&(_, n)| n == 0) {
        Some(&(what, _)) => Err(TopologyError::Zero { what }),
        None => Ok(()),
    }
}

/// The size of the last group.
fn last(what: &'static str, given: Option<u32>, full: u32) -> Result<u32, TopologyError> {
    match given {
        Some(0) => Err(TopologyError::Zero { what }),
        Some(n) if n > full => {
            Err(TopologyError::invalid(what, format!("is {n}, but a full group has {full}; it can be 1 to {full}")))
        }
        Some(n) => Ok(n),
        None => Ok(full),
    }
}

impl<'a> Design<'a> {
    pub fn dragonfly(spec: &'a DragonflySpec) -> Result<Self, TopologyError> {
        some(&[
            ("groups", spec.groups),
            ("routers", spec.routers),
            ("nodes_per_router", spec.nodes_per_router),
            ("local_links", spec.local_links),
            ("rails", spec.rails),
        ])?;
        let (node_ports, row_links) = (spec.nodes_per_router, spec.local_links);
        let full = Grid { rows: 1, columns: spec.routers, node_ports, row_links, column_links: 1 };
        let last_name = "last_group_routers";
        let design = Design {
            groups: spec.groups,
            full,
            last: Grid { columns: last(last_name, spec.last_group_routers, spec.routers)?, ..full },
            last_name,
            per_router: spec.global_links_per_router,
            links_per_pair: spec.links_per_pair,
            arrangement: spec.arrangement,
            seed: spec.arrangement_seed,
            spread: spec.spread,
            pair_links: &spec.pair_links,
            global_links: spec.global_links.as_deref(),
            rails: spec.rails,
            rails_on: spec.rails_on,
            classes: CLASSES,
            first_global: ClassId(2),
        };
        design.check()?;
        Ok(design)
    }

    pub fn cascade(spec: &'a CascadeSpec) -> Result<Self, TopologyError> {
        some(&[
            ("groups", spec.groups),
            ("rows", spec.rows),
            ("columns", spec.columns),
            ("nodes_per_router", spec.nodes_per_router),
            ("row_links", spec.row_links),
            ("column_links", spec.column_links),
            ("rails", spec.rails),
        ])?;
        let full = Grid {
            rows: spec.rows,
            columns: spec.columns,
            node_ports: spec.nodes_per_router,
            row_links: spec.row_links,
            column_links: spec.column_links,
        };
        let last_name = "last_group_rows";
        let design = Design {
            groups: spec.groups,
            full,
            last: Grid { rows: last(last_name, spec.last_group_rows, spec.rows)?, ..full },
            last_name,
            per_router: spec.global_links_per_router,
            links_per_pair: spec.links_per_pair,
            arrangement: spec.arrangement,
            seed: spec.arrangement_seed,
            spread: spec.spread,
            pair_links: &spec.pair_links,
            global_links: spec.global_links.as_deref(),
            rails: spec.rails,
            rails_on: spec.rails_on,
            classes: CASCADE_CLASSES,
            first_global: ClassId(3),
        };
        design.check()?;
        Ok(design)
    }

    /// The grid of a group.
    pub fn grid(&self, group: u32) -> Grid {
        if group + 1 == self.groups { self.last } else { self.full }
    }

    fn check(&self) -> Result<(), TopologyError> {
        let Grid { rows, columns, node_ports, row_links, column_links } = self.full;
        let wide = |n: u32| u128::from(n);
        let per_group = wide(rows) * wide(columns);
        let ports = wide(node_ports)
            + wide(columns - 1) * wide(row_links)
            + wide(rows - 1) * wide(column_links)
            + wide(self.per_router);
        TopologyError::bounded(&[
            ("ports per router", ports, u64::from(u16::MAX)),
            ("groups", wide(self.groups), u64::from(u16::MAX)),
            ("pairs of groups", wide(self.groups) * wide(self.groups), MAX_PAIRS),
            ("pairs of routers in a group", per_group.saturating_mul(per_group), MAX_LOCAL_PAIRS),
            ("ports", wide(self.groups).saturating_mul(per_group).saturating_mul(ports), MAX_PORTS),
        ])?;
        self.check_rails()?;
        self.check_arrangement()
    }

    fn check_rails(&self) -> Result<(), TopologyError> {
        let rails = self.rails;
        match self.rails_on {
            RailsOn::OneRouter => {
                let ports = self.full.node_ports;
                if !ports.is_multiple_of(rails) {
                    let problem = format!(
                        "is {ports}, but every node of a router has {rails} NICs (`rails`): use a multiple of {rails}"
                    );
                    return Err(TopologyError::invalid("nodes_per_router", problem));
                }
            }
            RailsOn::DifferentRouters => {
                let full = (self.groups > 1).then_some((self.full, "a group"));
                for (grid, whose) in full.into_iter().chain([(self.last, "the last group")]) {
                    let routers = grid.routers();
                    if !routers.is_multiple_of(rails) {
                        let problem = format!(
                            "is {rails}, each on another router, but {whose} has {routers} routers: that must be a \
                             multiple of `rails`"
                        );
                        return Err(TopologyError::invalid("rails", problem));
                    }
                }
            }
        }
        Ok(())
    }

    fn check_arrangement(&self) -> Result<(), TopologyError> {
        let arranged = !self.arrangement.is_explicit();
        if self.global_links.is_none() && !arranged {
            let problem =
                "is missing; it can be absolute, relative, circulant, palmtree or random (or give `global_links`)";
            return Err(TopologyError::invalid("arrangement", problem));
        }
        if self.global_links.is_some() {
            for (what, given) in [
                ("arrangement", arranged),
                ("links_per_pair", self.links_per_pair.is_some()),
                ("pair_links", !self.pair_links.is_empty()),
                ("spread", self.spread != Spread::default()),
            ] {
                if given {
                    let problem =
                        "has no meaning beside `global_links`, which lists every cable: leave one of them out";
                    return Err(TopologyError::invalid(what, problem));
                }
            }
        }
        let random = self.arrangement == DragonflyArrangement::Random;
        match self.seed {
            None if random => {
                let problem = "is missing; the arrangement `random` needs one";
                Err(TopologyError::invalid("arrangement_seed", problem))
            }
            Some(_) if !random => {
                let problem = "has no meaning here; only the arrangement `random` uses it: leave it out";
                Err(TopologyError::invalid("arrangement_seed", problem))
            }
            _ => Ok(()),
        }
    }
}
