//! Shortest paths inside a group: `L(r, s)` and `dist(r, s)` of the model, section 6.

use odonata_error::Error;

use super::grid::Grid;
use crate::error::too_large;

/// Most entries of all tables together, 2 B each.
const MAX_ENTRIES: u64 = 1 << 28;
/// Distance of two routers that no path joins.
pub(super) const FAR: u8 = u8::MAX;

/// The paths inside one group, or inside all groups with the same wiring.
#[derive(Clone, Debug)]
pub(super) struct LocalTable {
    /// Routers of the group.
    routers: u32,
    /// For each ordered pair of routers (row `from * routers + to`), the start of its ports; one more entry at the end.
    start: Vec<u32>,
    /// First ports of shortest paths, ascending.
    ports: Vec<u16>,
    /// Links on a shortest path; [`FAR`] if there is no path.
    distance: Vec<u8>,
    /// The largest distance.
    pub diameter: u8,
    /// The largest sub-channel that a shortest path leads to, plus 1.
    pub subs: u8,
}

/// A group, and which of its links and routers work.
pub(super) struct Group<'a> {
    pub grid: Grid,
    /// Whether the link of a local port of a router works; the answer is the same at its far end.
    pub works: &'a dyn Fn(u32, u16) -> bool,
    /// Whether a router works. The links of a failed router do not work.
    pub alive: &'a dyn Fn(u32) -> bool,
}

/// The reason why there is no table.
pub(super) enum LocalTableError {
    /// No path joins these two routers of the group.
    Apart(u32, u32),
    /// A size that is refused.
    Size(Error),
}

impl LocalTable {
    /// Finds the paths. `entries` counts the entries of all tables.
    pub fn new(group: &Group, entries: &mut u64) -> Result<Self, LocalTableError> {
        let n = group.grid.routers();
        let mut distance = vec![FAR; n as usize * n as usize];
        for to in (0..n).filter(|&r| (group.alive)(r)) {
            measure(group, to, &mut distance[to as usize * n as usize..][..n as usize])?;
        }
        // Links work in both directions, so distances are symmetric, and row `to` is also the row of distances from
        // there.
        let mut table = LocalTable {
            routers: n,
            start: Vec::with_capacity(n as usize * n as usize + 1),
            ports: Vec::new(),
            distance,
            diameter: 0,
            subs: 1,
        };
        for from in 0..n {
            for to in 0..n {
                table.start.push(table.ports.len() as u32);
                table.add_ports(group, from, to);
            }
            if *entries + table.ports.len() as u64 > MAX_ENTRIES {
                let (what, found) =
                    ("entries in its tables of paths inside groups", *entries + table.ports.len() as u64);
                return Err(LocalTableError::Size(too_large(what, found, MAX_ENTRIES)));
            }
        }
        table.start.push(table.ports.len() as u32);
        *entries += table.ports.len() as u64;
        table.diameter = table.distance.iter().copied().filter(|&d| d != FAR).max().unwrap_or(0);
        if table.diameter > 1 {
            table.subs = (0..n).map(|to| table.largest_sub(group, to) + 1).max().unwrap_or(1);
        }
        Ok(table)
    }

    fn row(&self, from: u32, to: u32) -> usize {
        from as usize * self.routers as usize + to as usize
    }

    /// First ports of the shortest paths from one router to another.
    #[inline]
    pub fn ports(&self, from: u32, to: u32) -> &[u16] {
        let row = self.row(from, to);
        &self.ports[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// Links on a shortest path.
    #[inline]
    pub fn distance(&self, from: u32, to: u32) -> u8 {
        self.distance[self.row(from, to)]
    }

    fn add_ports(&mut self, group: &Group, from: u32, to: u32) {
        let distance = self.distance(from, to);
        match distance {
            0 | FAR => {}
            1 => self.ports.extend(group.grid.direct(from, to).filter(|&port| (group.works)(from, port))),
            _ => {
                for port in group.grid.local_ports() {
                    if (group.works)(from, port) && self.distance(group.grid.far(from, port).router, to) == distance - 1
                    {
                        self.ports.push(port);
                    }
                }
            }
        }
    }

    /// The largest sub-channel on a shortest path to router `to`. A further link keeps the sub-channel if it leads
    /// along a column and the link before it along a row; otherwise it uses the next one.
    fn largest_sub(&self, group: &Group, to: u32) -> u8 {
        let mut order: Vec<u32> = (0..self.routers).filter(|&r| !matches!(self.distance(r, to), 0 | FAR)).collect();
        order.sort_unstable_by_key(|&r| self.distance(r, to));
        // For each router, the largest increase from there on, after a link along a row and after a link along a
        // column.
        let mut rise = vec![[0_u8; 2]; self.routers as usize];
        let mut largest = 0;
        for from in order {
            let mut best = [0; 2];
            for &port in self.ports(from, to) {
                let far = group.grid.far(from, port);
                let on = rise[far.router as usize][usize::from(!far.row)];
                largest = largest.max(on);
                best = [best[0].max(on + u8::from(far.row)), best[1].max(on + 1)];
            }
            rise[from as usize] = best;
        }
        largest
    }
}

/// Links from every router to router `to`.
fn measure(group: &Group, to: u32, distance: &mut [u8]) -> Result<(), LocalTableError> {
    let n = group.grid.routers();
    distance[to as usize] = 0;
    let mut open: Vec<u32> = (0..n).filter(|&r| r != to && (group.alive)(r)).collect();
    for links in 1..FAR {
        let reaches = |&r: &u32| {
            if links == 1 {
                return group.grid.direct(r, to).any(|port| (group.works)(r, port));
            }
            let joins = |port: u16| distance[group.grid.far(r, port).router as usize] == links - 1;
            group.grid.local_ports().any(|port| joins(port) && (group.works)(r, port))
        };
        let (reached, rest): (Vec<u32>, Vec<u32>) = open.into_iter().partition(reaches);
        if rest.is_empty() || reached.is_empty() {
            for &r in &reached {
                distance[r as usize] = links;
            }
            return rest.first().map_or(Ok(()), |&r| Err(LocalTableError::Apart(r.min(to), r.max(to))));
        }
        for &r in &reached {
            distance[r as usize] = links;
        }
        open = rest;
    }
    let (what, most) = ("links on a path inside a group", u64::from(FAR) - 1);
    Err(LocalTableError::Size(too_large(what, u64::from(FAR), most)))
}
