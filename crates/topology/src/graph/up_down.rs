//! Up*/down* paths on a graph (docs/model.md, section 6, "autonet").

use std::collections::HashMap;

use odonata_error::Error;

use super::Graph;
use crate::error::bounded;
use crate::ids::{Port, RouterId};
use crate::lists::Lists;
use crate::network::{Network, Peer};

/// Most links of a path: a packet counts no more.
const MOST_LINKS: u64 = 31;
/// The length of a path that does not exist.
const NO_PATH: u64 = u64::MAX;

/// The ports of the shortest paths that go up first and then down, by router and router with nodes.
#[derive(Clone, Debug)]
pub struct UpDown {
    ends: usize,
    /// The place of each router in the order: links up lead to lower places.
    place: Vec<u32>,
    /// By router and end: the rows of the ports of a packet that has not come down yet, and of one that has.
    rows: Vec<[u32; 2]>,
    lists: Lists,
    /// The most links of a path between routers with nodes.
    longest: u8,
}

impl UpDown {
    /// Finds the paths that work.
    ///
    /// # Errors
    /// If a path has more links than a packet can count, or there are too many ports.
    pub fn new(graph: &Graph) -> Result<Self, Error> {
        let (network, ends) = (&graph.network, graph.spec.ends() as usize);
        let routers = network.routers();
        let links: Vec<Vec<(u16, usize)>> = (0..routers).map(|r| network.working_links(RouterId(r as u32))).collect();
        let order = order(network, &links);
        let mut place = vec![0; routers];
        order.iter().enumerate().for_each(|(at, &router)| place[router] = at as u32);
        let weight = |router: usize, port: u16| {
            let class = network.class[network.slot(RouterId(router as u32), Port(port)).index()];
            u64::from(graph.spec.weights[class.index() - 1])
        };
        let mut lists = Lists::default();
        lists.push([]);
        let mut known: Vec<HashMap<Vec<u16>, u32>> = vec![HashMap::from([(Vec::new(), 0)]); routers];
        let mut made = Self { ends, place, rows: vec![[0; 2]; routers * ends], lists, longest: 0 };
        for to in 0..ends {
            // The lengths of paths that only go down and of all, and the most links of each.
            let (mut down, mut legal) = (vec![NO_PATH; routers], vec![NO_PATH; routers]);
            let (mut links_down, mut links_all) = (vec![0_u64; routers], vec![0_u64; routers]);
            down[to] = 0;
            // Links down lead to later routers, and links up to earlier ones.
            for &router in order.iter().rev().filter(|&&router| router != to) {
                let below = || links[router].iter().filter(|&&(_, far)| made.place[far] > made.place[router]);
                let length = |&(port, far): &(u16, usize)| down[far].saturating_add(weight(router, port));
                let least = below().map(length).min().unwrap_or(NO_PATH);
                if least < NO_PATH {
                    let nearer: Vec<_> = below().filter(|link| length(link) == least).copied().collect();
                    links_down[router] = 1 + nearer.iter().map(|&(_, far)| links_down[far]).max().unwrap_or(0);
                    down[router] = least;
                    let row = row(&mut made.lists, &mut known[router], nearer);
                    made.rows[router * ends + to][1] = row;
                }
            }
            legal[to] = 0;
            for &router in order.iter().filter(|&&router| router != to) {
                let rises = |far: usize| made.place[far] < made.place[router];
                let length = |&(port, far): &(u16, usize)| {
                    let rest = if rises(far) { legal[far] } else { down[far] };
                    rest.saturating_add(weight(router, port))
                };
                let least = links[router].iter().map(length).min().unwrap_or(NO_PATH);
                if least < NO_PATH {
                    let nearer: Vec<_> = links[router].iter().filter(|link| length(link) == least).copied().collect();
                    let rest = |&(_, far): &(u16, usize)| if rises(far) { links_all[far] } else { links_down[far] };
                    links_all[router] = 1 + nearer.iter().map(rest).max().unwrap_or(0);
                    legal[router] = least;
                    let row = row(&mut made.lists, &mut known[router], nearer);
                    made.rows[router * ends + to][0] = row;
                }
            }
            let most = links_all[..ends].iter().max().copied().unwrap_or(0);
            bounded(&[("links of an up*/down* path", most.into(), MOST_LINKS)])?;
            made.longest = made.longest.max(most as u8);
        }
        made.lists.bounded("entries in its table of up*/down* paths")?;
        Ok(made)
    }

    /// The most links of a path between two routers with nodes.
    #[must_use]
    pub fn longest(&self) -> u8 {
        self.longest
    }

    /// The ports that lead on, ascending; `down` says that the packet has come down.
    #[inline]
    #[must_use]
    pub fn ports(&self, from: RouterId, to: RouterId, down: bool) -> &[u16] {
        let rows = self.rows[from.index() * self.ends + to.index()];
        self.lists.get(rows[usize::from(down)] as usize)
    }

    /// Whether the link of a port to another router goes down.
    #[inline]
    #[must_use]
    pub fn goes_down(&self, network: &Network, from: RouterId, port: u16) -> bool {
        match network.peer[network.slot(from, Port(port)).index()] {
            Peer::Router(far) => self.place[network.router_of_slot[far.index()].index()] > self.place[from.index()],
            Peer::Node(_) | Peer::None => false,
        }
    }
}

/// The row of a list of a router's ports.
fn row(lists: &mut Lists, known: &mut HashMap<Vec<u16>, u32>, links: Vec<(u16, usize)>) -> u32 {
    let ports: Vec<u16> = links.into_iter().map(|(port, _)| port).collect();
    if let Some(&row) = known.get(&ports) {
        return row;
    }
    let row = lists.len() as u32;
    lists.push(ports.iter().copied());
    known.insert(ports, row);
    row
}

/// All routers by the fewest links to the root of what working links join, which is the lowest router that works, and
/// then by number.
fn order(network: &Network, links: &[Vec<(u16, usize)>]) -> Vec<usize> {
    let mut level = vec![usize::MAX; links.len()];
    for root in (0..links.len()).filter(|&r| network.router_works(RouterId(r as u32))) {
        if level[root] != usize::MAX {
            continue;
        }
        level[root] = 0;
        let mut reached = vec![root];
        while !reached.is_empty() {
            let mut next = Vec::new();
            for router in reached {
                for &(_, far) in &links[router] {
                    if level[far] == usize::MAX {
                        level[far] = level[router] + 1;
                        next.push(far);
                    }
                }
            }
            reached = next;
        }
    }
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by_key(|&router| (level[router], router));
    order
}
