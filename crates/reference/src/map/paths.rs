//! Paths inside and between the groups of a dragonfly or a cascade (model, section 6, "Positions in a dragonfly or
//! cascade").

use std::collections::VecDeque;

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::Network;

use super::{live, routers, works};

/// Distance between routers without a path inside the group.
const APART: u32 = u32::MAX;

/// The paths of a machine.
#[derive(Debug)]
pub(crate) struct Paths {
    /// For each router, the working ports to routers of its group, and these routers.
    local: Vec<Vec<(usize, usize)>>,
    /// `dist(r, s)`.
    distance: Vec<Vec<u32>>,
    /// `X(A, B)`.
    cables: Vec<Vec<Vec<usize>>>,
    /// Whether a port leads along a row.
    is_row: Vec<bool>,
    /// Routers of each group, including failed ones.
    members: Vec<Vec<usize>>,
    /// `D`.
    pub(crate) diameter: u32,
    /// `S`.
    pub(crate) subs: usize,
}

impl Paths {
    /// Reads a machine.
    pub(super) fn new(network: &Network) -> Result<Self, Error> {
        let group = |r: usize| network.group_of_router[r] as usize;
        let groups = network.groups as usize;
        let (mut local, mut members) = (vec![Vec::new(); network.routers()], vec![Vec::new(); groups]);
        let mut cables = vec![vec![Vec::new(); groups]; groups];
        for r in routers(network) {
            members[group(r)].push(r);
            for (port, far) in live(network, r) {
                if group(far) == group(r) {
                    local[r].push((port, far));
                } else {
                    cables[group(r)][group(far)].push(port);
                }
            }
        }
        let distance: Vec<Vec<u32>> = routers(network).map(|r| distances(&local, r)).collect();
        let is_row = network.class.iter().map(|class| class.index() == 1).collect();
        let known = distance.iter().flatten().filter(|&&d| d != APART);
        let diameter = known.copied().max().unwrap_or(0);
        let mut paths = Self { local, distance, cables, is_row, members, diameter, subs: 1 };
        paths.check(network)?;
        paths.subs = paths.most_subs();
        Ok(paths)
    }

    /// Refuses a machine in which some pair of groups cannot be bridged.
    fn check(&self, network: &Network) -> Result<(), Error> {
        let alive = |group: usize| self.members[group].iter().any(|&r| works(network, r));
        for a in (0..self.members.len()).filter(|&g| alive(g)) {
            for b in (0..self.members.len()).filter(|&g| g != a && alive(g)) {
                if self.cables[a][b].is_empty() && self.intermediates(a, b).is_empty() {
                    let groups = vec![a as u32, b as u32];
                    return Err(ErrorKind::GroupsCutApart { groups }.at(path!["topology"]));
                }
            }
        }
        Ok(())
    }

    /// `L(r, s)`.
    pub(crate) fn ports(&self, r: usize, s: usize) -> Vec<usize> {
        let nearer = |&&(_, far): &&(usize, usize)| self.distance[far][s] < self.distance[r][s];
        self.local[r].iter().filter(nearer).map(|&(port, _)| port).collect()
    }

    /// `X(A, B)`.
    pub(crate) fn cables(&self, a: usize, b: usize) -> &[usize] {
        &self.cables[a][b]
    }

    /// `dist(r, s)`.
    pub(crate) fn distance(&self, r: usize, s: usize) -> u32 {
        self.distance[r][s]
    }

    /// `M(A, B)`.
    pub(crate) fn intermediates(&self, a: usize, b: usize) -> Vec<usize> {
        let joined = |v: usize| !self.cables[a][v].is_empty() && !self.cables[v][b].is_empty();
        (0..self.members.len()).filter(|&v| v != a && v != b && joined(v)).collect()
    }

    /// The routers of a group, including failed ones, ascending.
    pub(crate) fn members(&self, group: usize) -> &[usize] {
        &self.members[group]
    }

    /// Whether a pair of groups has no cable.
    pub(crate) fn has_bridges(&self) -> bool {
        let missing =
            |a: usize, b: usize| a != b && self.cables[a][b].is_empty() && !self.intermediates(a, b).is_empty();
        (0..self.members.len()).any(|a| (0..self.members.len()).any(|b| missing(a, b)))
    }

    /// The sub of a link, given the sub and the port of the local link of the same stage before it.
    pub(crate) fn sub(&self, before: Option<(usize, usize)>, port: usize) -> usize {
        match before {
            None => 0,
            Some((sub, from)) if self.is_row[from] && !self.is_row[port] => sub,
            Some((sub, _)) => sub + 1,
        }
    }

    /// The largest sub on any shortest path, plus 1.
    fn most_subs(&self) -> usize {
        let mut most = 1;
        for members in &self.members {
            for &r in members {
                for &s in members {
                    most = most.max(self.subs_from(r, s, None));
                }
            }
        }
        most
    }

    /// Subs that the shortest paths from `r` to `s` need after a local link.
    fn subs_from(&self, r: usize, s: usize, before: Option<(usize, usize)>) -> usize {
        let mut most = before.map_or(1, |(sub, _)| sub + 1);
        for &(port, far) in &self.local[r] {
            if self.distance[far][s] < self.distance[r][s] {
                most = most.max(self.subs_from(far, s, Some((self.sub(before, port), port))));
            }
        }
        most
    }
}

/// Links from each router to `to`.
fn distances(local: &[Vec<(usize, usize)>], to: usize) -> Vec<u32> {
    let mut distance = vec![APART; local.len()];
    distance[to] = 0;
    let mut next = VecDeque::from([to]);
    while let Some(r) = next.pop_front() {
        for &(_, far) in &local[r] {
            if distance[far] == APART {
                distance[far] = distance[r] + 1;
                next.push_back(far);
            }
        }
    }
    distance
}
