//! The fewest links between any two routers.

use std::collections::VecDeque;

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::{Network, Port, RouterId};

use super::functions::PortView;

/// Routers that no path joins.
pub(super) const UNREACHABLE: u8 = u8::MAX;
/// Most routers of a machine with such a table, which then has 256 MiB.
const MOST_ROUTERS: usize = 1 << 14;

/// A working port to another router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub(super) port: u16,
    pub(super) class: u8,
    pub(super) router: u32,
}

impl Neighbour {
    /// The port without load, as functions see it where no packet is under way.
    #[inline]
    pub(super) fn view(&self) -> PortView {
        PortView {
            port: self.port.into(),
            router: self.router.into(),
            links: 0,
            minimal: 0,
            load_ps: 0,
            class: self.class.into(),
        }
    }
}

/// The working links of all routers, and the distances between them.
#[derive(Debug)]
pub(super) struct Links {
    /// Start of each router's ports, and the end of the last.
    first: Vec<u32>,
    /// Ascending by port.
    neighbours: Vec<Neighbour>,
    routers: usize,
    /// By router and router.
    pub(super) distance: Vec<u8>,
}

impl Links {
    /// # Errors
    /// If the machine has too many routers, or if the shortest path of two of them has 255 links.
    pub(super) fn new(network: &Network) -> Result<Self, Error> {
        let routers = network.routers();
        let too_large = |what, found: usize, most: usize| {
            ErrorKind::MachineTooLarge { what, found: found as u64, most: most as u64 }.at(path!["topology"])
        };
        if routers > MOST_ROUTERS {
            return Err(too_large("routers for a routing of one's own", routers, MOST_ROUTERS));
        }
        let (mut first, mut neighbours) = (vec![0], Vec::new());
        for router in (0..routers as u32).map(RouterId) {
            let neighbour = |(port, far): (u16, usize)| {
                let class = network.class[network.slot(router, Port(port)).index()].0;
                Neighbour { port, class, router: far as u32 }
            };
            neighbours.extend(network.working_links(router).into_iter().map(neighbour));
            first.push(neighbours.len() as u32);
        }
        let mut links = Self { first, neighbours, routers, distance: vec![UNREACHABLE; routers * routers] };
        for to in 0..routers as u32 {
            let longest = links.measure(to);
            if longest >= usize::from(UNREACHABLE) {
                return Err(too_large("links of a shortest path", longest, usize::from(UNREACHABLE) - 1));
            }
        }
        Ok(links)
    }

    /// Fills the row of a router; returns the links to the farthest one.
    fn measure(&mut self, to: u32) -> usize {
        let mut row = vec![usize::MAX; self.routers];
        row[to as usize] = 0;
        let (mut open, mut longest) = (VecDeque::from([to]), 0);
        while let Some(router) = open.pop_front() {
            longest = row[router as usize];
            for near in self.neighbours(router) {
                if row[near.router as usize] == usize::MAX {
                    row[near.router as usize] = longest + 1;
                    open.push_back(near.router);
                }
            }
        }
        let cells = &mut self.distance[to as usize * self.routers..][..self.routers];
        cells.iter_mut().zip(row).for_each(|(cell, links)| *cell = u8::try_from(links).unwrap_or(UNREACHABLE));
        longest
    }

    /// The working ports of a router to other routers.
    #[inline]
    pub(super) fn neighbours(&self, router: u32) -> &[Neighbour] {
        &self.neighbours[self.first[router as usize] as usize..self.first[router as usize + 1] as usize]
    }

    /// Links from each router to this one.
    #[inline]
    pub(super) fn row(&self, to: u32) -> &[u8] {
        &self.distance[to as usize * self.routers..][..self.routers]
    }
}
