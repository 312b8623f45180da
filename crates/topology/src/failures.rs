//! Links and routers that do not work.

use odonata_error::{Error, ErrorKind, path};
use serde::{Deserialize, Serialize};

use crate::ids::{RouterId, SlotId};
use crate::network::{Network, Peer};

/// What has failed. A failed link works in neither direction, and a failed router takes all its links with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// One end of each failed cable between routers: `[router, port]`. Naming both ends is the same as naming one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<[u32; 2]>,
    /// Failed routers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<u32>,
}

impl Failures {
    /// Whether everything works.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && self.routers.is_empty()
    }
}

impl Network {
    /// Removes what has failed.
    pub(crate) fn fail(&mut self, failures: &Failures) -> Result<(), Error> {
        if failures.is_empty() {
            return Ok(());
        }
        self.failed = vec![false; self.peer.len()];
        self.failed_router = vec![false; self.routers()];
        for (at, &[router, port]) in failures.links.iter().enumerate() {
            let slot = self.failing_link(router, port).map_err(|kind| kind.at(path!["failures", "links", at]))?;
            self.fail_link(slot);
        }
        for (at, &router) in failures.routers.iter().enumerate() {
            let routers = self.routers();
            if router as usize >= routers {
                let kind = ErrorKind::NoSuchRouter { router, last: routers as u32 - 1 };
                return Err(kind.at(path!["failures", "routers", at]));
            }
            self.failed_router[router as usize] = true;
            for slot in self.first_slot[router as usize]..self.first_slot[router as usize + 1] {
                self.fail_link(SlotId(slot));
            }
        }
        Ok(())
    }

    /// The slot of a link that is listed as failed, or what is wrong with the entry.
    fn failing_link(&self, router: u32, port: u32) -> Result<SlotId, ErrorKind> {
        let routers = self.routers();
        if router as usize >= routers {
            return Err(ErrorKind::NoSuchRouter { router, last: routers as u32 - 1 });
        }
        let ports = u32::from(self.ports(RouterId(router)));
        if port >= ports {
            return Err(ErrorKind::NoSuchPort { router, port, last: ports - 1 });
        }
        let slot = SlotId(self.first_slot[router as usize] + port);
        match self.peer[slot.index()] {
            Peer::Router(_) => Ok(slot),
            Peer::Node(endpoint) => Err(ErrorKind::PortToNode { router, port, node: endpoint.0 / self.rails }),
            Peer::None => Err(ErrorKind::UnusedPort { router, port }),
        }
    }

    /// The working links of a router to others: the port, and the router at the far end.
    #[must_use]
    pub fn working_links(&self, r: RouterId) -> Vec<(u16, usize)> {
        let first = self.first_slot[r.index()];
        let link = |slot: u32| match self.peer[slot as usize] {
            Peer::Router(far) if !self.has_failed(SlotId(slot)) => {
                Some(((slot - first) as u16, self.router_of_slot[far.index()].index()))
            }
            Peer::Router(_) | Peer::Node(_) | Peer::None => None,
        };
        (first..self.first_slot[r.index() + 1]).filter_map(link).collect()
    }

    /// Marks both directions of a link as failed.
    fn fail_link(&mut self, slot: SlotId) {
        self.failed[slot.index()] = true;
        if let Peer::Router(far) = self.peer[slot.index()] {
            self.failed[far.index()] = true;
        }
    }
}
