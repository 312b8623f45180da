//! Any graph: routers, the routers of all NICs, and a list of links, each with a class.
//!
//! Numbering: routers with nodes come first; nodes router by router, by the router of their first NIC. The ports of a
//! router are its NICs, by node and then by number, and then its links in the order of the list. All routers are one
//! group. If the NICs with some numbers are in a network of their own, messages go between NICs with the same number.

mod tables;
mod up_down;
mod wiring;

use odonata_error::{Error, ErrorKind, path};
use serde::{Deserialize, Serialize};

use crate::error::bounded;
use crate::failures::Failures;
use crate::ids::RouterId;
use crate::network::{MAX_PORTS, MAX_ROUTER_PORTS, Network};
use tables::Tables;
pub use up_down::UpDown;

/// Names of the link classes of a graph with links of seven kinds.
pub const CLASSES: &[&str] = &["node", "link", "link2", "link3", "link4", "link5", "link6", "link7"];

/// The lists that describe a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// Number of routers.
    pub routers: u32,
    /// Router of each NIC, node by node.
    pub nics: Vec<u32>,
    /// NICs per node.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rails: u32,
    /// The weight of a link of each class: the sum of the weights of its links is the length of a path.
    pub weights: Vec<u32>,
    /// Links: two routers, and the class from 1 on.
    pub links: Vec<[u32; 3]>,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that Serde calls
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl GraphSpec {
    /// The number of routers with nodes, which come first.
    #[must_use]
    pub fn ends(&self) -> u32 {
        self.nics.iter().max().map_or(0, |&last| last + 1)
    }

    /// After this check, no size can overflow, and all numbers exist.
    fn check(&self) -> Result<(), Error> {
        for (what, value) in [("routers", self.routers), ("rails", self.rails)] {
            if value == 0 {
                return Err(ErrorKind::Zero {}.at(path!["topology", what]));
            }
        }
        let most = CLASSES.len() as u64 - 1;
        let classes = self.weights.len() as u64;
        if !(1..=most).contains(&classes) {
            return Err(ErrorKind::OutOfRange { found: classes, least: 1, most }.at(path!["topology", "weights"]));
        }
        if let Some(zero) = self.weights.iter().position(|&weight| weight == 0) {
            return Err(ErrorKind::Zero {}.at(path!["topology", "weights", zero]));
        }
        bounded(&[("routers", self.routers.into(), MAX_PORTS)])?; // before anything has a place for each
        if self.nics.is_empty() || !self.nics.len().is_multiple_of(self.rails as usize) {
            let kind = ErrorKind::UnevenNics { nics: self.nics.len(), rails: self.rails };
            return Err(kind.at(path!["topology", "nics"]));
        }
        let exists = |router: u32| router < self.routers;
        let missing = |router: u32| ErrorKind::NoSuchRouter { router, last: self.routers - 1 };
        if let Some(nic) = self.nics.iter().position(|&router| !exists(router)) {
            return Err(missing(self.nics[nic]).at(path!["topology", "nics", nic]));
        }
        for (at, &[a, b, class]) in self.links.iter().enumerate() {
            let kind = if let Some(&router) = [a, b].iter().find(|&&router| !exists(router)) {
                missing(router)
            } else if a == b {
                ErrorKind::LinkToItself { router: a }
            } else if !(1..=classes).contains(&u64::from(class)) {
                ErrorKind::OutOfRange { found: class.into(), least: 1, most: classes }
            } else {
                continue;
            };
            return Err(kind.at(path!["topology", "links", at]));
        }
        self.check_order()?;
        let ports = wiring::ports(self);
        let most = ports.iter().max().copied().unwrap_or(0);
        let ends = u128::from(self.ends());
        bounded(&[
            ("ports per router", most.into(), MAX_ROUTER_PORTS),
            ("ports", ports.iter().map(|&ports| u128::from(ports)).sum(), MAX_PORTS),
            ("NICs", self.nics.len() as u128, u64::from(u32::MAX)),
            ("pairs of a router and a router with nodes", ends * u128::from(self.routers), tables::MAX_PAIRS),
        ])
    }

    /// Refuses nodes that are not numbered router by router, and routers without nodes before one with nodes.
    fn check_order(&self) -> Result<(), Error> {
        let first = |node: usize| self.nics[node * self.rails as usize];
        let nodes = self.nics.len() / self.rails as usize;
        if let Some(node) = (1..nodes).find(|&node| first(node) < first(node - 1)) {
            let kind = ErrorKind::NodesOutOfOrder { node: node as u32, routers: vec![first(node - 1), first(node)] };
            return Err(kind.at(path!["topology", "nics"]));
        }
        let mut has_nodes = vec![false; self.ends() as usize];
        self.nics.iter().for_each(|&router| has_nodes[router as usize] = true);
        if let Some(router) = has_nodes.iter().position(|&has| !has) {
            let kind = ErrorKind::RoutersOutOfOrder { routers: vec![router as u32, self.ends() - 1] };
            return Err(kind.at(path!["topology", "nics"]));
        }
        Ok(())
    }
}

/// A wired graph and the look-ups its routing needs.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The description it was built from.
    pub spec: GraphSpec,
    /// The wiring.
    pub network: Network,
    tables: Tables,
}

impl Graph {
    /// Wires the machine and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`]: numbers that do not exist, another order than the numbering says, more parts than can be
    /// numbered, or routers with nodes that no path joins.
    pub fn build(spec: &GraphSpec, failures: &Failures) -> Result<Self, Error> {
        spec.check()?;
        let part = wiring::parts(spec);
        let mut network = wiring::wire(spec, &part)?;
        network.fail(failures)?;
        let tables = Tables::new(&network, &spec.weights, spec.ends(), part)?;
        Ok(Self { spec: spec.clone(), network, tables })
    }

    /// The most links of a shortest path between two working routers with nodes (D).
    #[must_use]
    pub fn diameter(&self) -> u16 {
        self.tables.diameter.into()
    }

    /// The most links that a shortest path of working links from a router to one with nodes has.
    #[inline]
    #[must_use]
    pub fn distance(&self, from: RouterId, to: RouterId) -> u16 {
        self.tables.distance(from, to)
    }

    /// The working ports of a router that lead nearer to one with nodes, ascending.
    #[inline]
    #[must_use]
    pub fn minimal(&self, from: RouterId, to: RouterId) -> &[u16] {
        self.tables.minimal(from, to)
    }

    /// The routers with nodes that links join to this router if nothing has failed, ascending.
    #[inline]
    #[must_use]
    pub fn ends(&self, of: RouterId) -> &[u32] {
        self.tables.ends(of)
    }
}
