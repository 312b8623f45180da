//! HyperX: a grid of routers of one to three dimensions, in which every router is linked to all others of its row in
//! each dimension. Source: Ahn 2009 (S routers in a dimension, K cables between two, T nodes per router).
//!
//! The routers that differ in all but the last dimension are a group, a *slice*. Links of the last dimension leave it.
//!
//! Numbering: routers with the first coordinate fastest, so slice by slice; nodes router by router. The ports of a router
//! are its NICs (those of a node side by side), then its cables of the first dimension, of the second and of the third,
//! in each in the order of the far routers. Parallel cables are adjacent.

mod live;
mod ports;
mod wiring;

use odonata_error::{Error, ErrorKind, path};
use serde::{Deserialize, Serialize};

use crate::error::bounded;
use crate::failures::Failures;
use crate::ids::{Address, RouterId};
use crate::network::{MAX_PORTS, MAX_ROUTER_PORTS, Network};
use live::Live;
use ports::PortTable;

/// Names of the link classes of a HyperX of three dimensions.
pub const CLASSES: &[&str] = &["node", "dim1", "dim2", "dim3"];
/// Most dimensions.
pub const MAX_DIMENSIONS: usize = 3;
/// Most positions in a slice: half of an address has a position, its two coordinates in bits of their own.
const MAX_POSITIONS: u64 = 1 << 16;

/// The numbers that describe a HyperX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyperXSpec {
    /// Routers of a row in each dimension (S).
    pub dimensions: Vec<u32>,
    /// Cables between each two routers of a row, by dimension (K).
    pub dimension_links: Vec<u32>,
    /// Nodes per router (T).
    pub nodes_per_router: u32,
    /// NICs per node, all on its router.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rails: u32,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that Serde calls
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl HyperXSpec {
    /// Dimensions in which routers differ: the most links of a shortest path, if nothing has failed.
    #[must_use]
    pub fn diameter(&self) -> u16 {
        self.dimensions.iter().filter(|&&routers| routers > 1).count() as u16
    }

    /// Ports of a router to NICs.
    #[must_use]
    pub fn node_ports(&self) -> u32 {
        self.nodes_per_router * self.rails
    }

    /// After this check, no size can overflow.
    fn check(&self) -> Result<(), Error> {
        let dimensions = self.dimensions.len();
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let kind = ErrorKind::NumberOfDimensions { found: dimensions, most: MAX_DIMENSIONS };
            return Err(kind.at(path!["topology", "dimensions"]));
        }
        if self.dimension_links.len() != dimensions {
            let kind = ErrorKind::LinksOfDimensions { found: self.dimension_links.len(), dimensions };
            return Err(kind.at(path!["topology", "dimension_links"]));
        }
        for (what, list) in [("dimensions", &self.dimensions), ("dimension_links", &self.dimension_links)] {
            if let Some(zero) = list.iter().position(|&value| value == 0) {
                return Err(ErrorKind::Zero {}.at(path!["topology", what, zero]));
            }
        }
        for (what, value) in [("nodes_per_router", self.nodes_per_router), ("rails", self.rails)] {
            if value == 0 {
                return Err(ErrorKind::Zero {}.at(path!["topology", what]));
            }
        }
        let nodes = u128::from(self.nodes_per_router) * u128::from(self.rails);
        let cables = self.dimensions.iter().zip(&self.dimension_links);
        let cables: u128 = cables.map(|(&routers, &links)| u128::from(routers - 1) * u128::from(links)).sum();
        bounded(&[("ports per router", nodes + cables, MAX_ROUTER_PORTS)])?;
        // Now a dimension has at most as many routers as a router has ports, and one more.
        let routers: u128 = self.dimensions.iter().map(|&routers| u128::from(routers)).product();
        let [first, second, _] = padded(&self.dimensions);
        let positions = u128::from(second) << bits(first);
        bounded(&[
            ("positions in a slice, with its first dimension rounded up to a power of two", positions, MAX_POSITIONS),
            ("nodes", routers * nodes, u64::from(u32::MAX)),
            ("ports", routers * (nodes + cables), MAX_PORTS),
        ])
    }
}

/// The sizes of three dimensions, of which the first have one router if there are fewer.
fn padded(dimensions: &[u32]) -> [u32; MAX_DIMENSIONS] {
    let mut sizes = [1; MAX_DIMENSIONS];
    sizes[MAX_DIMENSIONS - dimensions.len()..].copy_from_slice(dimensions);
    sizes
}

/// Bits of a coordinate of a dimension of this size.
fn bits(size: u32) -> u32 {
    u32::BITS - (size - 1).leading_zeros()
}

/// A router seen from another: where the tables have the ports that lead to it, and the links of a shortest path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    row: u32,
    /// Links of a shortest path of working links.
    pub distance: u16,
}

/// A wired HyperX and the look-ups its routing needs.
#[derive(Clone, Debug)]
pub struct HyperX {
    /// The description it was built from.
    pub spec: HyperXSpec,
    /// The wiring.
    pub network: Network,
    sizes: [u32; MAX_DIMENSIONS],
    /// Bits of the first of three coordinates.
    shift: u32,
    ports: PortTable,
    /// What still works, if something has failed.
    live: Option<Box<Live>>,
}

impl HyperX {
    /// Wires the machine and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`]: no dimension or too many, a zero count, more parts than can be numbered, or failures that cut
    /// routers apart.
    pub fn build(spec: &HyperXSpec, failures: &Failures) -> Result<Self, Error> {
        spec.check()?;
        let sizes = padded(&spec.dimensions);
        let network = wiring::wire(spec);
        let ports = PortTable::new(spec);
        let mut machine = Self { spec: spec.clone(), network, sizes, shift: bits(sizes[0]), ports, live: None };
        machine.network.fail(failures)?;
        if !failures.is_empty() {
            machine.live = Some(Box::new(Live::new(&machine.network)?));
        }
        Ok(machine)
    }

    /// Whether something has failed.
    #[inline]
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.live.is_some()
    }

    /// The most links of a shortest path between two working routers.
    #[must_use]
    pub fn diameter(&self) -> u16 {
        self.live.as_ref().map_or_else(|| self.spec.diameter(), |live| live.diameter)
    }

    /// The number of a router with this address.
    #[inline]
    #[must_use]
    pub fn router(&self, address: Address) -> RouterId {
        let [first, second, third] = self.coordinates(address);
        RouterId(first + self.sizes[0] * (second + self.sizes[1] * third))
    }

    /// A router seen from another.
    #[inline]
    #[must_use]
    pub fn offset(&self, from: Address, to: Address) -> Offset {
        if let Some(live) = &self.live {
            return live.offset(self.router(from), self.router(to));
        }
        let (from, to) = (self.coordinates(from), self.coordinates(to));
        let (mut row, mut distance) = (0, 0);
        for dimension in 0..MAX_DIMENSIONS {
            let (here, there, size) = (from[dimension], to[dimension], self.sizes[dimension]);
            let differs = here != there;
            let neighbour = if differs { there - u32::from(there > here) } else { size - 1 };
            row = row * size + neighbour;
            distance += u16::from(differs);
        }
        Offset { row, distance }
    }

    /// The ports that lead nearer to a router, ascending.
    #[inline]
    #[must_use]
    pub fn minimal(&self, to: Offset) -> &[u16] {
        self.live.as_ref().map_or_else(|| self.ports.minimal(to.row), |live| live.minimal(to.row))
    }

    /// The ports that lead to a router that is as far from it as this one, ascending.
    #[inline]
    #[must_use]
    pub fn aside(&self, to: Offset) -> &[u16] {
        self.live.as_ref().map_or_else(|| self.ports.aside(to.row), |live| live.aside(to.row))
    }

    /// The cables of the first dimension in which a router differs from this one, ascending; only if nothing has failed.
    #[inline]
    #[must_use]
    pub fn first_dimension(&self, to: Offset) -> &[u16] {
        self.ports.first_dimension(to.row)
    }

    /// The coordinates of an address, of three dimensions.
    #[inline]
    fn coordinates(&self, address: Address) -> [u32; MAX_DIMENSIONS] {
        let position = u32::from(address.low);
        [position & ((1 << self.shift) - 1), position >> self.shift, address.high.into()]
    }
}
