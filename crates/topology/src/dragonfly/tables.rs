//! One table of local paths for all groups with the same wiring, and one for each group with a failure.

use odonata_error::{Error, ErrorKind, path};

use super::design::Design;
use super::local::{Group, LocalTable, LocalTableError};
use crate::error::bounded;
use crate::ids::{GroupId, RouterId, SlotId};
use crate::network::Network;

/// Most pairs of routers in all tables together.
const MAX_PAIRS: u64 = 1 << 26;

/// The local paths of every group.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    tables: Vec<LocalTable>,
    /// The table of each group.
    table_of: Vec<u32>,
    pub diameter: u8,
    pub subs: u8,
}

impl Tables {
    /// Finds the paths in all groups.
    pub fn new(design: &Design, network: &Network) -> Result<Self, Error> {
        let hurt: Vec<bool> = (0..design.groups).map(|group| is_hurt(design, network, group)).collect();
        let of = |group: u32| u128::from(design.grid(group).routers()).pow(2);
        let pairs: u128 = (0..design.groups).filter(|&group| hurt[group as usize]).map(of).sum();
        bounded(&[("pairs of routers in groups with failures", pairs, MAX_PAIRS)])?;

        let mut tables = Tables { tables: Vec::new(), table_of: Vec::new(), diameter: 0, subs: 1 };
        let (mut whole, mut entries) = (Vec::new(), 0);
        for group in 0..design.groups {
            let grid = design.grid(group);
            let alike = whole.iter().find(|&&(other, _)| other == grid && !hurt[group as usize]);
            let table = if let Some(&(_, table)) = alike {
                table
            } else {
                let table = tables.tables.len() as u32;
                tables.add(design, network, group, &mut entries)?;
                if !hurt[group as usize] {
                    whole.push((grid, table));
                }
                table
            };
            tables.table_of.push(table);
        }
        Ok(tables)
    }

    /// The paths in a group.
    #[inline]
    pub fn of(&self, group: u32) -> &LocalTable {
        &self.tables[self.table_of[group as usize] as usize]
    }

    /// Number of the table of a group.
    pub fn number(&self, group: u32) -> u32 {
        self.table_of[group as usize]
    }

    fn add(&mut self, design: &Design, network: &Network, group: u32, entries: &mut u64) -> Result<(), Error> {
        let first = network.first_router(GroupId(group)).0;
        let works = |r: u32, port: u16| !network.has_failed(slot(network, first + r, port));
        let alive = |r: u32| network.router_works(RouterId(first + r));
        let group_of = Group { grid: design.grid(group), works: &works, alive: &alive };
        let table = LocalTable::new(&group_of, entries).map_err(|none| match none {
            LocalTableError::Apart(a, b) => {
                ErrorKind::GroupCutApart { group, routers: vec![first + a, first + b] }.at(path!["failures"])
            }
            LocalTableError::Size(error) => error,
        })?;
        self.diameter = self.diameter.max(table.diameter);
        self.subs = self.subs.max(table.subs);
        self.tables.push(table);
        Ok(())
    }
}

fn slot(network: &Network, router: u32, port: u16) -> SlotId {
    SlotId(network.first_slot[router as usize] + u32::from(port))
}

/// Whether a local link of a group has failed. A failed router takes its local links with it.
fn is_hurt(design: &Design, network: &Network, group: u32) -> bool {
    let first = network.first_router(GroupId(group)).0;
    let failed = |r: u32| {
        !network.router_works(RouterId(r))
            || design.grid(group).local_ports().any(|port| network.has_failed(slot(network, r, port)))
    };
    !network.failed.is_empty() && (first..first + network.routers_in(GroupId(group))).any(failed)
}
