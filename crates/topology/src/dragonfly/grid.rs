//! One group as a grid of routers: where each port leads inside it.
//!
//! Router `row * columns + column`. Ports: the nodes', then to the other columns of the row in ascending order
//! (parallel links adjacent), then to the other rows of the column likewise; global ports follow.

use std::ops::Range;

/// Rows, columns and local links of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub rows: u32,
    pub columns: u32,
    pub node_ports: u32,
    pub row_links: u32,
    pub column_links: u32,
}

/// The far end of a local port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Far {
    /// Router in the group.
    pub router: u32,
    /// Its port.
    pub port: u16,
    /// Whether the link runs along a row.
    pub row: bool,
}

/// Position of `to` among all but `from`.
fn rank(from: u32, to: u32) -> u32 {
    if to < from { to } else { to - 1 }
}

/// The router at position `rank` among all but `from`.
fn unrank(from: u32, rank: u32) -> u32 {
    if rank < from { rank } else { rank + 1 }
}

impl Grid {
    pub fn routers(&self) -> u32 {
        self.rows * self.columns
    }

    fn row_ports(&self) -> u32 {
        (self.columns - 1) * self.row_links
    }

    /// The first global port of a router.
    pub fn first_global(&self) -> u32 {
        self.node_ports + self.row_ports() + (self.rows - 1) * self.column_links
    }

    /// All local ports of a router.
    pub fn local_ports(&self) -> Range<u16> {
        self.node_ports as u16..self.first_global() as u16
    }

    /// The ports of router `r` whose links lead to another router `s`; empty if they share no row or column.
    pub fn direct(&self, r: u32, s: u32) -> Range<u16> {
        let ((row, column), (to_row, to_column)) = (self.place(r), self.place(s));
        let (base, links) = if row == to_row {
            (self.node_ports + rank(column, to_column) * self.row_links, self.row_links)
        } else if column == to_column {
            (self.node_ports + self.row_ports() + rank(row, to_row) * self.column_links, self.column_links)
        } else {
            (0, 0)
        };
        base as u16..(base + links) as u16
    }

    /// Where a local port of router `r` leads.
    pub fn far(&self, r: u32, port: u16) -> Far {
        let (row, column) = self.place(r);
        let at = u32::from(port) - self.node_ports;
        if at < self.row_ports() {
            let other = unrank(column, at / self.row_links);
            let base = self.node_ports + rank(other, column) * self.row_links;
            let port = (base + at % self.row_links) as u16;
            Far { router: row * self.columns + other, port, row: true }
        } else {
            let at = at - self.row_ports();
            let other = unrank(row, at / self.column_links);
            let base = self.node_ports + self.row_ports() + rank(other, row) * self.column_links;
            let port = (base + at % self.column_links) as u16;
            Far { router: other * self.columns + column, port, row: false }
        }
    }

    fn place(&self, r: u32) -> (u32, u32) {
        (r / self.columns, r % self.columns)
    }
}
