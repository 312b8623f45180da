//! Distances over working links, and the ports that follow from them (docs/model.md, section 6, "Failures on a HyperX").

use odonata_error::{Error, ErrorKind, path};

use super::Offset;
use crate::error::bounded;
use crate::ids::RouterId;
use crate::lists::Lists;
use crate::network::Network;

/// Most pairs of routers.
const MAX_PAIRS: u64 = 1 << 27;
/// The distance of a router that cannot be reached.
const UNREACHABLE: u16 = u16::MAX;

/// The tables, by destination, then by router.
#[derive(Clone, Debug)]
pub(super) struct Live {
    routers: u32,
    distance: Vec<u16>,
    minimal: Lists,
    aside: Lists,
    /// The longest of the shortest paths between working routers.
    pub diameter: u16,
}

impl Live {
    /// Finds what still works.
    pub fn new(network: &Network) -> Result<Self, Error> {
        let routers = network.routers();
        bounded(&[("pairs of routers after failures", (routers * routers) as u128, MAX_PAIRS)])?;
        let links: Vec<Vec<(u16, usize)>> = (0..routers).map(|r| network.working_links(RouterId(r as u32))).collect();
        let (minimal, aside) = (Lists::default(), Lists::default());
        let mut live = Self { routers: routers as u32, distance: Vec::new(), minimal, aside, diameter: 0 };
        let works = |&r: &usize| network.router_works(RouterId(r as u32));
        for to in 0..routers {
            let distance = distances(&links, to);
            if works(&to) {
                if let Some(from) = (0..routers).filter(works).find(|&r| distance[r] == UNREACHABLE) {
                    let kind = ErrorKind::RoutersCutApart { routers: vec![from as u32, to as u32] };
                    return Err(kind.at(path!["failures"]));
                }
                live.diameter = (0..routers).filter(works).map(|r| distance[r]).max().unwrap_or(0).max(live.diameter);
            }
            for from in 0..routers {
                let ports = |wanted: Option<u16>| -> Vec<u16> {
                    let leads = links[from].iter().filter(|&&(_, far)| Some(distance[far]) == wanted);
                    leads.map(|&(port, _)| port).collect()
                };
                let here = distance[from];
                live.minimal.push_shared(&ports(here.checked_sub(1)));
                live.aside.push_shared(&ports((from != to).then_some(here)));
            }
            live.distance.extend(distance);
            live.minimal.bounded("entries in its table of paths around failures")?;
            live.aside.bounded("entries in its table of paths around failures")?;
        }
        Ok(live)
    }

    /// A router seen from another.
    #[inline]
    pub fn offset(&self, from: RouterId, to: RouterId) -> Offset {
        let row = to.0 * self.routers + from.0;
        Offset { row, distance: self.distance[row as usize] }
    }

    /// The working ports to routers that are nearer.
    #[inline]
    pub fn minimal(&self, row: u32) -> &[u16] {
        self.minimal.get(row as usize)
    }

    /// The working ports to routers that are as far.
    #[inline]
    pub fn aside(&self, row: u32) -> &[u16] {
        self.aside.get(row as usize)
    }
}

/// The links of a shortest path from each router to one of them.
fn distances(links: &[Vec<(u16, usize)>], to: usize) -> Vec<u16> {
    let mut distance = vec![UNREACHABLE; links.len()];
    distance[to] = 0;
    let mut front = vec![to];
    while !front.is_empty() {
        let mut next = Vec::new();
        for &router in &front {
            for &(_, far) in &links[router] {
                if distance[far] == UNREACHABLE {
                    distance[far] = distance[router] + 1;
                    next.push(far);
                }
            }
        }
        front = next;
    }
    distance
}
