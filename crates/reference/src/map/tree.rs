//! The good ports of a fat tree (model, section 6, "Positions in a fat tree").

use odonata_topology::{Network, Peer};

use super::{live, routers};

/// The routers of a fat tree.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Kind of each router: leaf, spine, core.
    kind: Vec<u8>,
    /// For each router, the working ports to other routers, and these routers.
    links: Vec<Vec<(usize, usize)>>,
    /// For each router, the leaves that it reaches by links down only.
    below: Vec<Vec<bool>>,
    /// For each port to a node, its number in its plane.
    destination: Vec<usize>,
    /// Ports up of a leaf, failed or not.
    pub(crate) up_of_leaf: usize,
}

impl Tree {
    /// Reads a machine.
    pub(super) fn new(network: &Network) -> Self {
        let kind = network.kind_of_router.clone();
        let links: Vec<_> = routers(network).map(|r| live(network, r)).collect();
        let mut below: Vec<Vec<bool>> =
            routers(network).map(|r| routers(network).map(|to| r == to).collect()).collect();
        for level in 1..=2 {
            for r in routers(network).filter(|&r| kind[r] == level) {
                let reached = |to: usize| links[r].iter().any(|&(_, far)| kind[far] < level && below[far][to]);
                below[r] = routers(network).map(reached).collect();
            }
        }
        let leads_up = |peer: &Peer| matches!(peer, Peer::Router(_));
        let of_leaf = network.first_slot[0] as usize..network.first_slot[1] as usize;
        let up_of_leaf = network.peer[of_leaf].iter().filter(|peer| leads_up(peer)).count();
        let destination = destinations(network);
        Self { kind, links, below, destination, up_of_leaf }
    }

    /// The port's number among the ports to nodes of its plane.
    pub(crate) fn destination(&self, port: usize) -> usize {
        self.destination[port]
    }

    /// P: the good ports of a router towards a leaf.
    pub(crate) fn good(&self, router: usize, leaf: usize) -> Vec<usize> {
        let links = || self.links[router].iter();
        let down = links().filter(|&&(_, far)| self.kind[far] < self.kind[router] && self.below[far][leaf]);
        let down: Vec<usize> = down.map(|&(port, _)| port).collect();
        if !down.is_empty() {
            return down;
        }
        let up = links().filter(|&&(_, far)| self.kind[far] > self.kind[router] && !self.good(far, leaf).is_empty());
        up.map(|&(port, _)| port).collect()
    }

    /// Whether packets of a port of this router on which they are sent go up.
    pub(crate) fn goes_up(&self, router: usize, port: usize) -> bool {
        self.links[router].iter().any(|&(of, far)| of == port && self.kind[far] > self.kind[router])
    }

    /// Whether a router is a spine.
    pub(crate) fn is_spine(&self, router: usize) -> bool {
        self.kind[router] == 1
    }
}

/// For each port to a node, its number among those of the routers that cables join to its router.
fn destinations(network: &Network) -> Vec<usize> {
    let mut plane: Vec<usize> = routers(network).collect();
    loop {
        let before = plane.clone();
        for (slot, peer) in network.peer.iter().enumerate() {
            if let Peer::Router(far) = peer {
                let [a, b] = [slot, far.index()].map(|slot| network.router_of_slot[slot].index());
                plane[a] = plane[a].min(plane[b]);
            }
        }
        if plane == before {
            break;
        }
    }
    let mut next = vec![0; network.routers()];
    let number = |(slot, peer): (usize, &Peer)| {
        let next = &mut next[plane[network.router_of_slot[slot].index()]];
        *next += usize::from(matches!(peer, Peer::Node(_)));
        next.saturating_sub(1)
    };
    network.peer.iter().enumerate().map(number).collect()
}
