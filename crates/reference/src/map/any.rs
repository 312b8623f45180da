//! The ports of a graph by distance (model, section 6, "Positions in a graph").

use odonata_topology::{ClassId, Network, Peer};

use super::{Map, live, routers, works};

/// The routers of a graph.
#[derive(Debug)]
pub(crate) struct Web {
    /// For each router, the working ports to other routers, and these routers.
    links: Vec<Vec<(usize, usize)>>,
    /// For each router, the length of a shortest path to every router; none where there is no path.
    cost: Vec<Vec<Option<u64>>>,
    /// For each router, the most links of a shortest path to every router.
    distance: Vec<Vec<usize>>,
    /// The weight of the link of each port.
    weight: Vec<u64>,
    /// D: the most links of a shortest path between working routers with nodes.
    pub(crate) diameter: usize,
    /// For each router, the routers with nodes that cables join to it, whether they work or not.
    ends: Vec<Vec<usize>>,
    /// The working routers.
    working: Vec<bool>,
    /// The level of each router: the fewest working links to the root.
    level: Vec<usize>,
}

impl Web {
    /// Reads a machine.
    pub(super) fn new(network: &Network, weights: &[u32]) -> Self {
        let links: Vec<_> = routers(network).map(|r| live(network, r)).collect();
        let weight = |class: &ClassId| class.index().checked_sub(1).map_or(0, |class| u64::from(weights[class]));
        let weight: Vec<u64> = network.class.iter().map(weight).collect();
        let cost: Vec<_> = routers(network).map(|r| costs(&links, &weight, r)).collect();
        let cables: Vec<_> = routers(network).map(|r| cables(network, r)).collect();
        let joined: Vec<_> = routers(network).map(|r| costs(&cables, &weight, r)).collect();
        let has_nodes = |r: usize| {
            let slots = network.first_slot[r] as usize..network.first_slot[r + 1] as usize;
            network.peer[slots].iter().any(|peer| matches!(peer, Peer::Node(_)))
        };
        let with_nodes: Vec<usize> = routers(network).filter(|&r| has_nodes(r)).collect();
        let ends = |r: usize| with_nodes.iter().copied().filter(|&end| joined[r][end].is_some()).collect();
        let working: Vec<bool> = routers(network).map(|r| works(network, r)).collect();
        let pairs = with_nodes.iter().flat_map(|&a| with_nodes.iter().map(move |&b| (a, b)));
        let ends = routers(network).map(ends).collect();
        let level = levels(&links, &working);
        let mut web = Self { links, cost, distance: Vec::new(), weight, diameter: 0, ends, working, level };
        web.distance = routers(network).map(|r| routers(network).map(|to| web.most_links(r, to)).collect()).collect();
        let joined = |&(a, b): &(usize, usize)| web.working[a] && web.working[b] && web.cost[a][b].is_some();
        web.diameter = pairs.filter(joined).map(|(a, b)| web.distance[a][b]).max().unwrap_or(0);
        web
    }

    /// `dist`: the most links of a shortest path.
    pub(crate) fn distance(&self, router: usize, to: usize) -> usize {
        self.distance[router][to]
    }

    /// The same, from the ports; 0 where there is no path.
    fn most_links(&self, router: usize, to: usize) -> usize {
        let minimal = self.minimal(router, to);
        let fars = self.links[router].iter().filter(|(port, _)| minimal.contains(port));
        fars.map(|&(_, far)| 1 + self.most_links(far, to)).max().unwrap_or(0)
    }

    /// M: the ports to routers that are nearer.
    pub(crate) fn minimal(&self, router: usize, to: usize) -> Vec<usize> {
        let Some(here) = self.cost[router][to] else { return Vec::new() };
        let nearer = |port: usize, far: usize| self.cost[far][to].map(|there| there + self.weight[port]) == Some(here);
        self.links[router].iter().filter(|&&(port, far)| nearer(port, far)).map(|&(port, _)| port).collect()
    }

    /// Whether a link between two routers goes up.
    fn rises(&self, from: usize, to: usize) -> bool {
        (self.level[to], to) < (self.level[from], from)
    }

    /// Whether the link that ends at a port goes down.
    pub(crate) fn went_down(&self, map: &Map, slot: usize) -> bool {
        let Peer::Router(peer) = map.network.peer[slot] else { return false };
        !self.rises(map.router(peer.index()), map.router(slot))
    }

    /// The ports of the shortest legal paths, of a packet that has come down or has not.
    pub(crate) fn legal(&self, router: usize, to: usize, down: bool) -> Vec<usize> {
        // By router: the length of the shortest path that only goes down, and of the shortest legal one.
        let mut length = vec![[None::<u64>; 2]; self.links.len()];
        length[to] = [Some(0); 2];
        loop {
            let before = length.clone();
            for (from, links) in self.links.iter().enumerate() {
                for &(port, far) in links {
                    let rises = self.rises(from, far);
                    for (all, own) in [(false, !rises), (true, true)] {
                        let rest = length[far][usize::from(all && rises)];
                        let Some(rest) = rest.filter(|_| own) else { continue };
                        let known = &mut length[from][usize::from(all)];
                        let path = rest + self.weight[port];
                        *known = Some(known.map_or(path, |known| known.min(path)));
                    }
                }
            }
            if length == before {
                break;
            }
        }
        let here = length[router][usize::from(!down)];
        let leads = |&&(port, far): &&(usize, usize)| {
            let rises = self.rises(router, far);
            let rest = length[far][usize::from(rises)].filter(|_| !(down && rises));
            here.is_some() && rest.map(|rest| rest + self.weight[port]) == here
        };
        self.links[router].iter().filter(leads).map(|&(port, _)| port).collect()
    }

    /// The routers of E without two, ascending.
    pub(crate) fn others(&self, a: usize, b: usize) -> Vec<usize> {
        self.ends[a].iter().copied().filter(|&r| r != a && r != b).collect()
    }

    /// Whether a router works.
    pub(crate) fn works(&self, router: usize) -> bool {
        self.working[router]
    }
}

/// As [`live`], whether the cables work or not.
fn cables(network: &Network, router: usize) -> Vec<(usize, usize)> {
    let slots = network.first_slot[router] as usize..network.first_slot[router + 1] as usize;
    let far = |slot: usize| match network.peer[slot] {
        Peer::Router(peer) => Some((slot, network.router_of_slot[peer.index()].index())),
        Peer::Node(_) | Peer::None => None,
    };
    slots.filter_map(far).collect()
}

/// The fewest working links from each router to the lowest working router that it is joined to.
fn levels(links: &[Vec<(usize, usize)>], working: &[bool]) -> Vec<usize> {
    let one = vec![1; links.iter().flatten().map(|&(port, _)| port + 1).max().unwrap_or(0)];
    let mut level: Vec<Option<u64>> = vec![None; links.len()];
    for root in (0..links.len()).filter(|&root| working[root]) {
        if level[root].is_none() {
            for (known, found) in level.iter_mut().zip(costs(links, &one, root)) {
                *known = known.or(found);
            }
        }
    }
    level.into_iter().map(|level| level.map_or(usize::MAX, |level| level as usize)).collect()
}

/// The length of a shortest path between a router and each other one: shortened link by link until nothing changes.
fn costs(links: &[Vec<(usize, usize)>], weight: &[u64], from: usize) -> Vec<Option<u64>> {
    let mut cost = vec![None; links.len()];
    cost[from] = Some(0);
    loop {
        let before = cost.clone();
        for (router, links) in links.iter().enumerate() {
            let Some(here) = cost[router] else { continue };
            for &(port, far) in links {
                let there = here + weight[port];
                cost[far] = Some(cost[far].map_or(there, |known: u64| known.min(there)));
            }
        }
        if cost == before {
            return cost;
        }
    }
}
