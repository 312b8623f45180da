//! The number of cables between each pair of groups.

use odonata_error::{Error, ErrorKind, path};

use crate::error::GlobalNames;
use std::collections::BTreeMap;

/// The global ports of all groups.
pub(crate) struct Groups<'a> {
    /// Number of groups.
    pub groups: u32,
    /// Routers with global ports, in a full group and in the last one.
    pub routers: [u32; 2],
    /// Global ports of each.
    pub per_router: u32,
    /// The terms of the kind of machine.
    pub names: GlobalNames,
    /// Name of the parameter that makes the last group smaller.
    pub last_name: &'static str,
    /// Cables between each pair, if given.
    pub links_per_pair: Option<u32>,
    /// Exceptions.
    pub pair_links: &'a [[u32; 3]],
}

/// Cables between each pair of groups.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    groups: u32,
    /// Between two full groups, and between a full group and the last one.
    links: [u32; 2],
    exceptions: BTreeMap<(u32, u32), u32>,
    /// Whether a group is part of an exception.
    excepted: Vec<bool>,
}

impl Pairs {
    /// Counts and checks the cables: every group has the global ports that its cables need.
    pub fn new(of: &Groups) -> Result<Self, Error> {
        let groups = of.groups;
        let mut pairs =
            Pairs { groups, links: [0; 2], exceptions: exceptions(of)?, excepted: vec![false; groups as usize] };
        for &(a, b) in pairs.exceptions.keys() {
            pairs.excepted[a as usize] = true;
            pairs.excepted[b as usize] = true;
        }
        if groups > 1 {
            pairs.links = usual(of)?;
            for group in 0..groups {
                pairs.check(of, group)?;
            }
        }
        Ok(pairs)
    }

    /// Cables between two different groups.
    pub fn links(&self, a: u32, b: u32) -> u32 {
        let pair = (a.min(b), a.max(b));
        let usual = self.links[usize::from(pair.1 + 1 == self.groups)];
        let excepted = self.excepted[a as usize] && self.excepted[b as usize];
        if excepted { self.exceptions.get(&pair).copied().unwrap_or(usual) } else { usual }
    }

    /// Cables between two full groups without an exception (or between the only two groups); 0 if there is one group.
    pub fn usual(&self) -> u32 {
        self.links[usize::from(self.groups <= 2)]
    }

    fn check(&self, of: &Groups, group: u32) -> Result<(), Error> {
        let (routers, per_router) = (of.routers[usize::from(group + 1 == self.groups)], of.per_router);
        let have = u64::from(routers) * u64::from(per_router);
        let need: u64 = (0..self.groups).filter(|&to| to != group).map(|to| u64::from(self.links(group, to))).sum();
        if need > have {
            let GlobalNames { routers: router_name, parameter } = of.names;
            let kind = ErrorKind::GroupLacksPorts { group, need, have, per_router, routers, router_name, parameter };
            return Err(kind.at(path!["topology", "pair_links"]));
        }
        Ok(())
    }
}

fn exceptions(of: &Groups) -> Result<BTreeMap<(u32, u32), u32>, Error> {
    let mut exceptions = BTreeMap::new();
    for (at, &[a, b, links]) in of.pair_links.iter().enumerate() {
        let wrong = |kind: ErrorKind| Err(kind.at(path!["topology", "pair_links", at]));
        let last = of.groups - 1;
        if let Some(group) = [a, b].into_iter().find(|&group| group > last) {
            return wrong(ErrorKind::NoSuchGroup { group, last });
        }
        if a == b {
            return wrong(ErrorKind::PairOfOneGroup { group: a });
        }
        if exceptions.insert((a.min(b), a.max(b)), links).is_some() {
            return wrong(ErrorKind::PairAgain { groups: vec![a, b] });
        }
    }
    Ok(exceptions)
}

/// Cables between two full groups, and between a full group and the last one.
fn usual(of: &Groups) -> Result<[u32; 2], Error> {
    let (groups, peers) = (of.groups, u64::from(of.groups - 1));
    let (routers, per_router) = (of.routers[0], of.per_router);
    let GlobalNames { routers: router_name, parameter } = of.names;
    let ports = |routers: u32| u64::from(routers) * u64::from(per_router);
    let have = ports(routers);
    let fit = |routers: u32| u32::try_from(ports(routers) / peers).unwrap_or(u32::MAX);
    let links = match of.links_per_pair {
        Some(0) if of.pair_links.is_empty() => {
            return Err(ErrorKind::Zero {}.at(path!["topology", "links_per_pair"]));
        }
        Some(links) => {
            let links_per_pair = u64::from(links);
            let need = links_per_pair * peers;
            if need > have && of.pair_links.is_empty() {
                let kind = ErrorKind::TooFewGlobalPorts {
                    links_per_pair,
                    peers,
                    need,
                    have,
                    per_router,
                    routers,
                    router_name,
                    parameter,
                };
                return Err(kind.at(path!["topology", "links_per_pair"]));
            }
            links
        }
        None if have < peers => {
            let (need, most) = (peers, have + 1);
            let kind = ErrorKind::TooManyGroups { groups, need, have, per_router, routers, most, router_name };
            return Err(kind.at(path!["topology", "groups"]));
        }
        None => fit(of.routers[0]),
    };
    let last = fit(of.routers[1]);
    if last == 0 && links > 0 {
        let kind = ErrorKind::LastGroupLacksPorts { have: ports(of.routers[1]), peers, parameter };
        return Err(kind.at(path!["topology", of.last_name]));
    }
    // A full last group is like the others, even where exceptions leave room for more.
    Ok([links, if of.routers[0] == of.routers[1] { links } else { links.min(last) }])
}
