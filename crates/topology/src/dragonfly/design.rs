//! The checked common part of dragonfly and cascade descriptions: after these checks, no size can overflow.

use odonata_error::{Error, ErrorKind, path};

use super::grid::Grid;
use super::{CASCADE_CLASSES, CLASSES, CascadeSpec, DragonflyArrangement, DragonflySpec, RailsOn, Spread};
use crate::error::{GlobalNames, bounded};
use crate::network::{ClassId, MAX_PORTS, MAX_ROUTER_PORTS};

/// Most pairs of groups: a table has an entry for each.
const MAX_PAIRS: u64 = 1 << 28;
/// Most pairs of routers in one group: a group of 4,096 routers.
const MAX_LOCAL_PAIRS: u64 = 1 << 24;

pub(super) const NAMES: GlobalNames = GlobalNames { routers: "routers", parameter: "global_links_per_router" };

/// A machine of either kind.
pub(super) struct Design<'a> {
    pub groups: u32,
    pub full: Grid,
    pub last: Grid,
    /// Name of the parameter with the size of the last group.
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
fn some(counts: &[(&'static str, u32)]) -> Result<(), Error> {
    match counts.iter().find(|&&(_, n)| n == 0) {
        Some(&(what, _)) => Err(ErrorKind::Zero {}.at(path!["topology", what])),
        None => Ok(()),
    }
}

/// The size of the last group.
fn last(what: &'static str, given: Option<u32>, full: u32) -> Result<u32, Error> {
    match given {
        Some(0) => Err(ErrorKind::Zero {}.at(path!["topology", what])),
        Some(found) if found > full => Err(ErrorKind::LastGroupTooLarge { found, full }.at(path!["topology", what])),
        Some(n) => Ok(n),
        None => Ok(full),
    }
}

impl<'a> Design<'a> {
    pub fn dragonfly(spec: &'a DragonflySpec) -> Result<Self, Error> {
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

    pub fn cascade(spec: &'a CascadeSpec) -> Result<Self, Error> {
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

    fn check(&self) -> Result<(), Error> {
        let Grid { rows, columns, node_ports, row_links, column_links } = self.full;
        let wide = |n: u32| u128::from(n);
        let per_group = wide(rows) * wide(columns);
        let ports = wide(node_ports)
            + wide(columns - 1) * wide(row_links)
            + wide(rows - 1) * wide(column_links)
            + wide(self.per_router);
        bounded(&[
            ("ports per router", ports, MAX_ROUTER_PORTS),
            ("groups", wide(self.groups), u64::from(u16::MAX)),
            ("pairs of groups", wide(self.groups) * wide(self.groups), MAX_PAIRS),
            ("pairs of routers in a group", per_group.saturating_mul(per_group), MAX_LOCAL_PAIRS),
            ("ports", wide(self.groups).saturating_mul(per_group).saturating_mul(ports), MAX_PORTS),
        ])?;
        self.check_rails()?;
        self.check_arrangement()
    }

    fn check_rails(&self) -> Result<(), Error> {
        let rails = self.rails;
        match self.rails_on {
            RailsOn::OneRouter => {
                let ports = self.full.node_ports;
                if !ports.is_multiple_of(rails) {
                    return Err(ErrorKind::UnevenRails { ports, rails }.at(path!["topology", "nodes_per_router"]));
                }
            }
            RailsOn::DifferentRouters => {
                let full = (self.groups > 1).then_some((self.full, "every"));
                for (grid, group) in full.into_iter().chain([(self.last, "last")]) {
                    let routers = grid.routers();
                    if !routers.is_multiple_of(rails) {
                        let kind = ErrorKind::UnevenRailRouters { rails, routers, group };
                        return Err(kind.at(path!["topology", "rails"]));
                    }
                }
            }
        }
        Ok(())
    }

    fn check_arrangement(&self) -> Result<(), Error> {
        let arranged = !self.arrangement.is_explicit();
        if self.global_links.is_none() && !arranged {
            let choices = vec!["absolute", "relative", "circulant", "palmtree", "random"];
            return Err(ErrorKind::MissingArrangement { choices }.at(path!["topology", "arrangement"]));
        }
        if self.global_links.is_some() {
            for (what, given) in [
                ("arrangement", arranged),
                ("links_per_pair", self.links_per_pair.is_some()),
                ("pair_links", !self.pair_links.is_empty()),
                ("spread", self.spread != Spread::default()),
            ] {
                if given {
                    return Err(ErrorKind::BesideGlobalLinks {}.at(path!["topology", what]));
                }
            }
        }
        let random = self.arrangement == DragonflyArrangement::Random;
        match self.seed {
            None if random => Err(ErrorKind::MissingSeed {}.at(path!["topology", "arrangement_seed"])),
            Some(_) if !random => Err(ErrorKind::NeedlessSeed {}.at(path!["topology", "arrangement_seed"])),
            _ => Ok(()),
        }
    }
}
