//! Ports from which a leaf can still be reached on a fat tree with failures (docs/model.md, section 6, "Failures on a fat
//! tree").

use odonata_error::{Error, ErrorKind, path};

use super::FatTree;
use crate::error::bounded;
use crate::ids::{RouterId, SlotId};
use crate::lists::Lists;
use crate::network::{Network, Peer};

/// Most pairs of a leaf and a router.
const MAX_PAIRS: u64 = 1 << 27;

/// The tables.
#[derive(Clone, Debug)]
pub(super) struct Live {
    /// Number of each leaf among all leaves, by router.
    leaf: Vec<u32>,
    routers: usize,
    /// By leaf, then router: ports.
    ports: Lists,
}

impl Live {
    /// Finds what still works.
    pub fn new(machine: &FatTree) -> Result<Self, Error> {
        let network = &machine.network;
        let routers = network.routers();
        let leaves: Vec<RouterId> = machine.leaves().collect();
        bounded(&[("pairs of leaves and routers after failures", (leaves.len() * routers) as u128, MAX_PAIRS)])?;
        let mut leaf = vec![u32::MAX; routers];
        (0..).zip(&leaves).for_each(|(number, r)| leaf[r.index()] = number);
        let links: Vec<Vec<(u16, RouterId)>> = (0..routers as u32).map(|r| working(network, RouterId(r))).collect();
        let mut live = Live { leaf, routers, ports: Lists::default() };
        for &to in &leaves {
            let lists = towards(network, &links, to);
            let apart = leaves.iter().find(|&&from| {
                let works = network.router_works(from) && network.router_works(to);
                works && from != to && machine.plane(from) == machine.plane(to) && lists[from.index()].is_empty()
            });
            if let Some(from) = apart {
                return Err(ErrorKind::LeavesCutApart { routers: vec![from.0, to.0] }.at(path!["failures"]));
            }
            lists.iter().for_each(|ports| live.ports.push_shared(ports));
            live.ports.bounded("entries in its table of paths around failures")?;
        }
        Ok(live)
    }

    /// Ports of a router towards a leaf.
    #[inline]
    pub fn ports(&self, from: RouterId, to: RouterId) -> &[u16] {
        self.ports.get(self.leaf[to.index()] as usize * self.routers + from.index())
    }
}

/// The working links of a router to others.
fn working(network: &Network, r: RouterId) -> Vec<(u16, RouterId)> {
    let first = network.first_slot[r.index()];
    let link = |slot: u32| match network.peer[slot as usize] {
        Peer::Router(far) if !network.has_failed(SlotId(slot)) => {
            Some(((slot - first) as u16, network.router_of_slot[far.index()]))
        }
        Peer::Router(_) | Peer::Node(_) | Peer::None => None,
    };
    (first..network.first_slot[r.index() + 1]).filter_map(link).collect()
}

/// The ports of every router towards a leaf: down where that reaches it, else up to where it is reached.
fn towards(network: &Network, links: &[Vec<(u16, RouterId)>], to: RouterId) -> Vec<Vec<u16>> {
    let kind = |r: RouterId| network.kind_of_router[r.index()];
    let mut order: Vec<RouterId> = (0..links.len() as u32).map(RouterId).collect();
    let mut ports = vec![Vec::new(); links.len()];
    let mut reaches = vec![false; links.len()];
    reaches[to.index()] = true;
    order.sort_by_key(|&r| kind(r));
    for &r in order.iter().filter(|&&r| kind(r) > 0) {
        ports[r.index()] = good(links, r, |far| kind(far) < kind(r) && reaches[far.index()]);
        reaches[r.index()] = !ports[r.index()].is_empty();
    }
    for &r in order.iter().rev().filter(|&&r| r != to) {
        if !reaches[r.index()] {
            ports[r.index()] = good(links, r, |far| kind(far) > kind(r) && !ports[far.index()].is_empty());
        }
    }
    ports
}

fn good(links: &[Vec<(u16, RouterId)>], r: RouterId, is_good: impl Fn(RouterId) -> bool) -> Vec<u16> {
    links[r.index()].iter().filter(|&&(_, far)| is_good(far)).map(|&(port, _)| port).collect()
}
