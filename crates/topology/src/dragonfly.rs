//! Dragonfly and cascade: groups of routers that all have nodes, joined by global links of every router.
//!
//! A dragonfly's group is a complete graph (Kim 2008; catalogue L1); a cascade's group is a grid in which every router
//! is linked to all others of its row and of its column, perhaps by several parallel links (Cray XC; catalogue D1 to
//! D4). Both are one type here: a dragonfly's group is a grid of one row.
//!
//! Numbering: nodes router by router, routers group by group and row by row. A router's ports are its node ports, then
//! links to the other columns of its row, then to the other rows of its column, then its global links in the order in
//! which its group numbers them (slice by slice, see `arrangement.rs`); parallel links are adjacent, and global ports
//! without a link do not exist.

mod arrangement;
mod design;
mod grid;
mod group_cables;
mod local;
mod spec;
mod tables;
mod wiring;

pub use group_cables::IntermediateGroups;
pub use spec::{CascadeSpec, DragonflyArrangement, DragonflySpec, RailsOn, Spread};

use crate::failures::Failures;
use crate::ids::{GroupId, RouterId, SlotId};
use crate::network::{ClassId, Network};
use design::Design;
use group_cables::GroupCables;
use odonata_error::Error;
use tables::Tables;

/// Names of the link classes of a dragonfly.
pub const CLASSES: &[&str] = &["node", "local", "global"];
/// Names of the link classes of a cascade: `chassis` along a row, `group` along a column.
pub const CASCADE_CLASSES: &[&str] = &["node", "chassis", "group", "optical"];

/// A wired dragonfly or cascade and the look-ups its routing needs (model, section 6).
#[derive(Clone, Debug)]
pub struct Dragonfly {
    /// The wiring.
    pub network: Network,
    /// Rows of a full group; 1 on a dragonfly.
    pub rows: u32,
    /// Columns of a full group.
    pub columns: u32,
    tables: Tables,
    group_cables: GroupCables,
}

impl Dragonfly {
    /// Wires a dragonfly and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn build(spec: &DragonflySpec, failures: &Failures) -> Result<Self, Error> {
        Self::of(&Design::dragonfly(spec)?, failures)
    }

    /// Wires a cascade and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn build_cascade(spec: &CascadeSpec, failures: &Failures) -> Result<Self, Error> {
        Self::of(&Design::cascade(spec)?, failures)
    }

    fn of(design: &Design, failures: &Failures) -> Result<Self, Error> {
        let mut network = wiring::wire(design, &arrangement::cables(design)?);
        network.fail(failures)?;
        let tables = Tables::new(design, &network)?;
        let group_cables = GroupCables::new(&network)?;
        Ok(Dragonfly { network, rows: design.full.rows, columns: design.full.columns, tables, group_cables })
    }

    /// `X(from, to)`: working cables from one group to another, as ports of the first, ascending. Empty if the two
    /// groups are the same.
    #[inline]
    #[must_use]
    pub fn cables(&self, from: GroupId, to: GroupId) -> &[SlotId] {
        self.group_cables.cables(from.0, to.0)
    }

    /// The largest number of working cables between two groups; 0 if there is only one.
    #[must_use]
    pub fn links_per_pair(&self) -> u32 {
        self.group_cables.most_cables()
    }

    /// `L(r, s)`: ports of `r` on shortest paths to router number `s` of its group, ascending; empty if that is `r`
    /// itself, or if one of them has failed.
    #[inline]
    #[must_use]
    pub fn local_ports(&self, r: RouterId, s: u32) -> &[u16] {
        self.tables.of(self.network.group_of_router[r.index()]).ports(self.network.local(r), s)
    }

    /// Links on a shortest path from `r` to router number `s` of its group; 255 if one of the two has failed.
    #[inline]
    #[must_use]
    pub fn local_distance(&self, r: RouterId, s: u32) -> u8 {
        self.tables.of(self.network.group_of_router[r.index()]).distance(self.network.local(r), s)
    }

    /// Groups with the same number have the same paths inside.
    #[must_use]
    pub fn kind_inside(&self, g: GroupId) -> u32 {
        self.tables.number(g.0)
    }

    /// `D`: the largest distance inside a group.
    #[must_use]
    pub fn diameter(&self) -> u8 {
        self.tables.diameter
    }

    /// `S`: sub-channels of a stage.
    #[must_use]
    pub fn subs(&self) -> u8 {
        self.tables.subs
    }

    /// `M(a, b)`: the groups with working cables to both, for two different groups.
    #[inline]
    #[must_use]
    pub fn intermediates(&self, a: GroupId, b: GroupId) -> IntermediateGroups<'_> {
        self.group_cables.intermediates(a.0, b.0)
    }

    /// Whether a port's link runs along a row of its group (any local link of a dragonfly).
    #[inline]
    #[must_use]
    pub fn is_row_link(&self, r: RouterId, port: u16) -> bool {
        self.class(r, port) == wiring::ROW
    }

    /// Whether a port's link runs along a column of its group.
    #[inline]
    #[must_use]
    pub fn is_column_link(&self, r: RouterId, port: u16) -> bool {
        let class = self.class(r, port);
        class == wiring::COLUMN && class < self.network.first_global
    }

    /// Whether a port's link leads to another group.
    #[inline]
    #[must_use]
    pub fn is_global(&self, r: RouterId, port: u16) -> bool {
        self.class(r, port) >= self.network.first_global
    }

    fn class(&self, r: RouterId, port: u16) -> ClassId {
        self.network.class[self.network.first_slot[r.index()] as usize + usize::from(port)]
    }
}
