//! Shortest paths of working links (docs/model.md, section 6, "Positions in a graph").
//!
//! For each router and each router with nodes there are three bytes: the links of a path, and which of the router's
//! different lists of ports leads there. A router has few different lists.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use odonata_error::{Error, ErrorKind, path};

use crate::error::bounded;
use crate::ids::{Port, RouterId};
use crate::lists::Lists;
use crate::network::Network;

/// Most pairs of a router and a router with nodes: 400 MB. With it, a router has fewer than 2^16 lists.
pub(super) const MAX_PAIRS: u64 = 1 << 27;
/// The number of links to a router that cannot be reached, and the most.
const UNREACHABLE: u8 = u8::MAX;
const MOST_LINKS: u64 = 254;

/// The tables, by router, then by router with nodes.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    ends: usize,
    distance: Vec<u8>,
    /// Number of the list among those of the router.
    list: Vec<u16>,
    /// Number of the first list of each router.
    first_list: Vec<u32>,
    lists: Lists,
    /// The most links of a shortest path between working routers with nodes.
    pub diameter: u8,
    /// For each router, the lowest router that links join to it, if nothing has failed.
    part: Vec<u32>,
    /// By the number of such a lowest router: the routers with nodes.
    ends_of_part: Vec<Vec<u32>>,
}

/// A working link of a router.
#[derive(Clone, Copy, Debug)]
struct Link {
    port: u16,
    far: usize,
    weight: u64,
}

impl Tables {
    /// Finds the shortest paths that work to the first `ends` routers, which have nodes.
    pub fn new(network: &Network, weights: &[u32], ends: u32, part: Vec<u32>) -> Result<Self, Error> {
        let routers = network.routers();
        let mut ends_of_part = vec![Vec::new(); routers];
        (0..ends).for_each(|end| ends_of_part[part[end as usize] as usize].push(end));
        let ends = ends as usize;
        let links: Vec<Vec<Link>> = (0..routers).map(|r| links(network, weights, RouterId(r as u32))).collect();
        let mut tables = Self {
            ends,
            distance: vec![UNREACHABLE; routers * ends],
            list: vec![0; routers * ends],
            first_list: Vec::new(),
            lists: Lists::default(),
            diameter: 0,
            part,
            ends_of_part,
        };
        // No list is empty, except for that of the router itself and of what it cannot reach.
        let mut known: Vec<HashMap<Vec<u16>, u16>> = vec![HashMap::from([(Vec::new(), 0)]); routers];
        let mut all: Vec<Vec<Vec<u16>>> = vec![vec![Vec::new()]; routers];
        let alike = weights.iter().all(|&weight| weight == weights[0]);
        for to in 0..ends {
            let (cost, order) = if alike { by_links(&links, to) } else { by_weight(&links, to) };
            for router in order {
                let nearer = |link: &&Link| cost[link.far] + link.weight == cost[router];
                let (mut ports, mut most) = (Vec::new(), 0);
                for link in links[router].iter().filter(nearer) {
                    ports.push(link.port);
                    most = most.max(u64::from(tables.distance[link.far * ends + to]) + 1);
                }
                bounded(&[("links of a shortest path", most.into(), MOST_LINKS)])?;
                tables.distance[router * ends + to] = most as u8;
                let number = known[router].get(&ports).copied().unwrap_or_else(|| {
                    let number = all[router].len() as u16;
                    known[router].insert(ports.clone(), number);
                    all[router].push(ports);
                    number
                });
                tables.list[router * ends + to] = number;
            }
            tables.check(network, to)?;
        }
        for lists in &all {
            tables.first_list.push(tables.lists.len() as u32);
            lists.iter().for_each(|ports| tables.lists.push(ports.iter().copied()));
            tables.lists.bounded("entries in its table of paths")?;
        }
        Ok(tables)
    }

    /// Refuses a working router with nodes that cannot reach another one; notes the most links.
    fn check(&mut self, network: &Network, to: usize) -> Result<(), Error> {
        let works = |r: usize| network.router_works(RouterId(r as u32));
        if !works(to) {
            return Ok(());
        }
        for &from in &self.ends_of_part[self.part[to] as usize] {
            let distance = self.distance[from as usize * self.ends + to];
            if works(from as usize) {
                if distance == UNREACHABLE {
                    return Err(ErrorKind::RoutersCutApart { routers: vec![from, to as u32] }.at(path!["failures"]));
                }
                self.diameter = self.diameter.max(distance);
            }
        }
        Ok(())
    }

    /// The most links of a shortest path.
    #[inline]
    pub fn distance(&self, from: RouterId, to: RouterId) -> u16 {
        self.distance[from.index() * self.ends + to.index()].into()
    }

    /// The working ports to routers that are nearer.
    #[inline]
    pub fn minimal(&self, from: RouterId, to: RouterId) -> &[u16] {
        let list = self.list[from.index() * self.ends + to.index()];
        self.lists.get(self.first_list[from.index()] as usize + usize::from(list))
    }

    /// The routers with nodes that could be reached if nothing had failed.
    #[inline]
    pub fn ends(&self, of: RouterId) -> &[u32] {
        &self.ends_of_part[self.part[of.index()] as usize]
    }
}

/// The working links of a router.
fn links(network: &Network, weights: &[u32], router: RouterId) -> Vec<Link> {
    let link = |(port, far)| {
        let class = network.class[network.slot(router, Port(port)).index()];
        Link { port, far, weight: weights[class.index() - 1].into() }
    };
    network.working_links(router).into_iter().map(link).collect()
}

/// The length of a shortest path from each router, and the routers from the nearest on; if all links weigh the same.
fn by_links(links: &[Vec<Link>], to: usize) -> (Vec<u64>, Vec<usize>) {
    let (mut cost, mut order) = (vec![u64::MAX; links.len()], Vec::new());
    cost[to] = 0;
    let mut open = VecDeque::from([to]);
    while let Some(router) = open.pop_front() {
        order.push(router);
        for link in &links[router] {
            if cost[link.far] == u64::MAX {
                cost[link.far] = cost[router] + link.weight;
                open.push_back(link.far);
            }
        }
    }
    (cost, order)
}

/// As [`by_links`], for any weights (Dijkstra).
fn by_weight(links: &[Vec<Link>], to: usize) -> (Vec<u64>, Vec<usize>) {
    let (mut cost, mut order) = (vec![u64::MAX; links.len()], Vec::new());
    cost[to] = 0;
    let mut open = BinaryHeap::from([Reverse((0, to))]);
    while let Some(Reverse((length, router))) = open.pop() {
        if length > cost[router] {
            continue; // a shorter path was found later
        }
        order.push(router);
        for link in &links[router] {
            if length + link.weight < cost[link.far] {
                cost[link.far] = length + link.weight;
                open.push(Reverse((length + link.weight, link.far)));
            }
        }
    }
    (cost, order)
}
