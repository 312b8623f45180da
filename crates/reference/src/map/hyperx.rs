//! The ports of a HyperX by distance (model, section 6, "Positions in a HyperX").

use odonata_topology::Network;

use super::{live, routers, works};

/// The routers of a HyperX.
#[derive(Debug)]
pub(crate) struct Grid {
    /// For each router, the working ports to other routers, and these routers.
    links: Vec<Vec<(usize, usize)>>,
    /// For each router, the links of a shortest path to every router; none where there is no path.
    distance: Vec<Vec<Option<usize>>>,
    /// D: the most links of a shortest path.
    pub(crate) diameter: usize,
    /// The working routers.
    working: Vec<bool>,
}

impl Grid {
    /// Reads a machine.
    pub(super) fn new(network: &Network) -> Self {
        let links: Vec<_> = routers(network).map(|r| live(network, r)).collect();
        let mut distance: Vec<Vec<Option<usize>>> =
            routers(network).map(|r| routers(network).map(|to| (r == to).then_some(0)).collect()).collect();
        // A path of n links is a link to a router with a path of n - 1.
        for n in 1..network.routers().max(1) {
            let before = distance.clone();
            for (router, to) in routers(network).flat_map(|r| routers(network).map(move |to| (r, to))) {
                let reached = links[router].iter().any(|&(_, far)| before[far][to] == Some(n - 1));
                if distance[router][to].is_none() && reached {
                    distance[router][to] = Some(n);
                }
            }
            if distance == before {
                break;
            }
        }
        let diameter = distance.iter().flatten().flatten().max().copied().unwrap_or(0);
        Self { links, distance, diameter, working: routers(network).map(|r| works(network, r)).collect() }
    }

    /// `dist`: the links of a shortest path.
    pub(crate) fn distance(&self, router: usize, to: usize) -> usize {
        self.distance[router][to].expect("working routers that no path joins are refused")
    }

    /// M: the ports to routers that are nearer.
    pub(crate) fn minimal(&self, router: usize, to: usize) -> Vec<usize> {
        self.ports(router, |far| self.distance[far][to].map(|n| n + 1) == self.distance[router][to])
    }

    /// N: the ports to routers that are as far.
    pub(crate) fn aside(&self, router: usize, to: usize) -> Vec<usize> {
        self.ports(router, |far| self.distance[far][to] == self.distance[router][to])
    }

    /// The routers other than two, ascending.
    pub(crate) fn others(&self, a: usize, b: usize) -> Vec<usize> {
        (0..self.links.len()).filter(|&r| r != a && r != b).collect()
    }

    /// Whether a router works.
    pub(crate) fn works(&self, router: usize) -> bool {
        self.working[router]
    }

    fn ports(&self, router: usize, good: impl Fn(usize) -> bool) -> Vec<usize> {
        self.links[router].iter().filter(|&&(_, far)| good(far)).map(|&(port, _)| port).collect()
    }
}
