//! The ports of a Dragonfly+ that lead to a leaf on shortest paths (model, section 6, "Failures on a Dragonfly+";
//! without failures these are the lists of "Positions in a Dragonfly+").

use odonata_topology::{Network, Peer};

use super::{live, routers};

/// The leaves and spines of a machine.
#[derive(Debug)]
pub(crate) struct LeafSpine {
    /// Whether each router is a leaf.
    pub(crate) is_leaf: Vec<bool>,
    /// For each router, the working ports to other routers, and these routers.
    links: Vec<Vec<(usize, usize)>>,
    /// Group of each router.
    group: Vec<usize>,
    /// For each leaf: the position of each router relative to it.
    reachability: Vec<Vec<Reachability>>,
}

/// The position of a router relative to a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Reachability {
    /// A spine of its group with a working link to it.
    linked: bool,
    /// A spine of another group with a cable to such a spine.
    across: bool,
    /// A leaf of another group with a working link to a spine with such a cable.
    up: bool,
}

impl LeafSpine {
    /// Reads a machine.
    pub(super) fn new(network: &Network) -> Self {
        let mut is_leaf = vec![false; network.routers()];
        for (slot, peer) in network.peer.iter().enumerate() {
            if matches!(peer, Peer::Node(_)) {
                is_leaf[network.router_of_slot[slot].index()] = true;
            }
        }
        let links = routers(network).map(|r| live(network, r)).collect();
        let group = network.group_of_router.iter().map(|&g| g as usize).collect();
        let mut all = Self { is_leaf, links, group, reachability: Vec::new() };
        all.reachability = routers(network).map(|leaf| all.towards(leaf)).collect();
        all
    }

    fn towards(&self, leaf: usize) -> Vec<Reachability> {
        let mut reachability = vec![Reachability::default(); self.is_leaf.len()];
        if !self.is_leaf[leaf] {
            return reachability;
        }
        for &(_, spine) in &self.links[leaf] {
            reachability[spine].linked = true;
        }
        let elsewhere = |&r: &usize| self.group[r] != self.group[leaf];
        for spine in (0..reachability.len()).filter(elsewhere).filter(|&r| !self.is_leaf[r]) {
            reachability[spine].across = self.links[spine].iter().any(|&(_, far)| reachability[far].linked);
        }
        for other in (0..reachability.len()).filter(elsewhere).filter(|&r| self.is_leaf[r]) {
            reachability[other].up = self.links[other].iter().any(|&(_, spine)| reachability[spine].across);
        }
        reachability
    }

    fn ports(&self, router: usize, good: impl Fn(usize) -> bool) -> Vec<usize> {
        self.links[router].iter().filter(|&&(_, far)| good(far)).map(|&(port, _)| port).collect()
    }

    /// The port to another router; `None` if no working link leads there.
    pub(crate) fn port_to(&self, router: usize, far: usize) -> Option<usize> {
        self.ports(router, |r| r == far).first().copied()
    }

    /// For a leaf: the ports to spines from which `leaf` can be reached.
    pub(crate) fn up(&self, router: usize, leaf: usize) -> Vec<usize> {
        let in_its_group = self.group[router] == self.group[leaf];
        let to = &self.reachability[leaf];
        self.ports(router, |spine| if in_its_group { to[spine].linked } else { to[spine].across })
    }

    /// For a spine outside the group of `leaf`: the cables to spines with a link to it.
    pub(crate) fn across(&self, router: usize, leaf: usize) -> Vec<usize> {
        self.ports(router, |far| self.reachability[leaf][far].linked)
    }

    /// G: for a spine outside the group of `leaf`, the cables to other groups whose far spine leads to it, directly or
    /// through a leaf there.
    pub(crate) fn around(&self, router: usize, leaf: usize) -> Vec<usize> {
        let to = &self.reachability[leaf];
        let reaches = |far: usize| to[far].across || self.links[far].iter().any(|&(_, r)| to[r].up);
        let aside = |far: usize| self.group[far] != self.group[router] && self.group[far] != self.group[leaf];
        self.ports(router, |far| aside(far) && reaches(far))
    }

    /// The ports of G that lead to a group.
    pub(crate) fn around_by(&self, router: usize, leaf: usize, group: usize) -> Vec<usize> {
        let far = |port: usize| self.links[router].iter().find(|&&(p, _)| p == port).map(|&(_, r)| self.group[r]);
        self.around(router, leaf).into_iter().filter(|&port| far(port) == Some(group)).collect()
    }

    /// For a leaf: the ports to spines with a port of G to a group.
    pub(crate) fn up_to(&self, router: usize, leaf: usize, group: usize) -> Vec<usize> {
        self.ports(router, |spine| !self.around_by(spine, leaf, group).is_empty())
    }

    /// L: for a spine outside the group of `leaf`, the links to leaves from which it can be reached.
    pub(crate) fn down(&self, router: usize, leaf: usize) -> Vec<usize> {
        self.ports(router, |far| self.reachability[leaf][far].up)
    }

    /// The leaves of a group, ascending.
    pub(crate) fn leaves(&self, group: usize) -> Vec<usize> {
        (0..self.is_leaf.len()).filter(|&r| self.is_leaf[r] && self.group[r] == group).collect()
    }
}
