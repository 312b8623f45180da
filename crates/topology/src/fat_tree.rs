//! Fat trees of two or three levels, with any taper and several rails.
//!
//! A tree of two levels has leaves and spines: every leaf is linked to every spine. A tree of three levels has pods of
//! leaves and spines, and cores above them: the cores are divided among the spine numbers, and core `c` is linked to
//! spine `c / (cores / spines)` of every pod. So it is an extended generalised fat tree (XGFT; Öhring 1995) whose links
//! may be several cables in parallel. With `spines * leaf_links` below the NICs of a leaf it is tapered (slimmed).
//!
//! Several NICs of a node (rails) are all on its leaf, or on different leaves of its pod (*rail-optimised*: NIC k of each
//! node of a block on leaf k of the block), or in different *planes*: trees of their own without links between them.
//!
//! Numbering: nodes leaf by leaf and pod by pod. Routers pod by pod, in each the leaves (plane by plane) before the
//! spines (plane by plane); the cores come last, plane by plane. A leaf's ports are its NICs (those of a node side by
//! side), then the spines of its pod and plane in order; a spine's are the leaves in order, then its cores in order; a
//! core's are the pods in order. Parallel cables are adjacent.

mod live;
mod wiring;

use std::ops::Range;

use odonata_error::{Error, ErrorKind, path};
use serde::{Deserialize, Serialize};

use crate::error::bounded;
use crate::failures::Failures;
use crate::ids::RouterId;
use crate::network::{ClassId, MAX_PORTS, MAX_ROUTER_PORTS, Network};
use live::Live;

/// Class of the links between leaves and spines.
pub const LEAF: ClassId = ClassId(1);
/// Class of the links between spines and cores.
pub const CORE: ClassId = ClassId(2);
/// Names of the link classes of a fat tree; one of two levels has the first two.
pub const CLASSES: &[&str] = &["node", "leaf", "core"];

/// Where the NICs of one node are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeRails {
    /// All on one leaf, at adjacent ports.
    #[default]
    OneLeaf,
    /// On `rails` consecutive leaves of its pod, one NIC on each.
    DifferentLeaves,
    /// Each in a plane of its own.
    Planes,
}

impl TreeRails {
    /// Whether this is the default, which is not written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The numbers that describe a fat tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTreeSpec {
    /// Pods; 1 for a tree of two levels.
    pub pods: u32,
    /// Leaves per pod (and plane).
    pub leaves: u32,
    /// Spines per pod (and plane).
    pub spines: u32,
    /// Cores of the machine (of a plane), a multiple of `spines`; 0 for a tree of two levels.
    pub cores: u32,
    /// Nodes with a NIC on a leaf.
    pub nodes_per_leaf: u32,
    /// Cables between a leaf and each spine of its pod.
    pub leaf_links: u32,
    /// Cables between a spine and each of its cores.
    pub core_links: u32,
    /// NICs per node.
    #[serde(default = "single", skip_serializing_if = "is_one")]
    pub rails: u32,
    /// Where they are.
    #[serde(default, skip_serializing_if = "TreeRails::is_default")]
    pub rails_on: TreeRails,
}

fn single() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that Serde calls
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl FatTreeSpec {
    /// Trees side by side.
    #[must_use]
    pub fn planes(&self) -> u32 {
        if self.rails_on == TreeRails::Planes { self.rails } else { 1 }
    }

    /// Ports of a leaf to NICs.
    #[must_use]
    pub fn node_ports(&self) -> u32 {
        if self.rails_on == TreeRails::OneLeaf { self.nodes_per_leaf * self.rails } else { self.nodes_per_leaf }
    }

    /// Cores of a spine.
    #[must_use]
    pub fn cores_per_spine(&self) -> u32 {
        self.cores / self.spines
    }

    /// Routers of a pod.
    fn per_pod(&self) -> u32 {
        self.planes() * (self.leaves + self.spines)
    }

    /// After this check, no size can overflow.
    fn check(&self) -> Result<(), Error> {
        let at = |what: &'static str| path!["topology", what];
        for (what, value) in [
            ("pods", self.pods),
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("nodes_per_leaf", self.nodes_per_leaf),
            ("leaf_links", self.leaf_links),
            ("core_links", self.core_links),
            ("rails", self.rails),
        ] {
            if value == 0 {
                return Err(ErrorKind::Zero {}.at(at(what)));
            }
        }
        if self.pods == 1 && self.cores > 0 {
            return Err(ErrorKind::NeedlessCores { cores: self.cores }.at(at("cores")));
        }
        if self.pods > 1 && (self.cores == 0 || !self.cores.is_multiple_of(self.spines)) {
            return Err(ErrorKind::UnevenCores { cores: self.cores, spines: self.spines }.at(at("cores")));
        }
        if self.rails_on == TreeRails::DifferentLeaves && !self.leaves.is_multiple_of(self.rails) {
            let kind = ErrorKind::UnevenRailLeaves { rails: self.rails, leaves: self.leaves };
            return Err(kind.at(at("rails")));
        }
        let [pods, leaves, spines, cores, nodes, leaf_links, core_links, rails] = [
            self.pods,
            self.leaves,
            self.spines,
            self.cores,
            self.nodes_per_leaf,
            self.leaf_links,
            self.core_links,
            self.rails,
        ]
        .map(u128::from);
        let planes = u128::from(self.planes());
        let nics = if self.rails_on == TreeRails::OneLeaf { nodes * rails } else { nodes };
        let of_leaf = nics + spines * leaf_links;
        let of_spine = leaves * leaf_links + cores / spines * core_links;
        let of_core = pods * core_links;
        let most = u64::from(u16::MAX);
        bounded(&[
            ("ports per router", of_leaf.max(of_spine).max(of_core), MAX_ROUTER_PORTS),
            ("pods", pods, most - 1),
            ("leaves and spines per pod", planes * (leaves + spines), most),
        ])?;
        bounded(&[
            ("nodes", pods * leaves * nodes * rails, u64::from(u32::MAX)),
            ("ports", planes * (pods * (leaves * of_leaf + spines * of_spine) + cores * of_core), MAX_PORTS),
        ])
    }
}

/// A wired fat tree and the look-ups its routing needs.
#[derive(Clone, Debug)]
pub struct FatTree {
    /// The description it was built from.
    pub spec: FatTreeSpec,
    /// The wiring.
    pub network: Network,
    /// What still works, if something has failed.
    live: Option<Box<Live>>,
}

impl FatTree {
    /// Wires the machine and removes what has failed.
    ///
    /// # Errors
    /// Any [`Error`]: a zero count, cores that the spines cannot share equally, more parts than can be numbered, or
    /// failures that cut leaves apart.
    pub fn build(spec: &FatTreeSpec, failures: &Failures) -> Result<Self, Error> {
        spec.check()?;
        let mut machine = Self { spec: spec.clone(), network: wiring::wire(spec), live: None };
        machine.network.fail(failures)?;
        if !failures.is_empty() {
            machine.live = Some(Box::new(Live::new(&machine)?));
        }
        Ok(machine)
    }

    /// Whether something has failed.
    #[inline]
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.live.is_some()
    }

    /// The leaf with a number in its pod.
    #[inline]
    #[must_use]
    pub fn leaf(&self, pod: u16, number: u16) -> RouterId {
        RouterId(u32::from(pod) * self.spec.per_pod() + u32::from(number))
    }

    /// On a machine with failures: the ports of a router from which a leaf can be reached, first upwards, then only
    /// downwards; ascending.
    #[inline]
    #[must_use]
    pub fn ports_live(&self, from: RouterId, to: RouterId) -> &[u16] {
        self.live.as_ref().map_or(&[], |live| live.ports(from, to))
    }

    /// The plane of a router.
    #[must_use]
    pub fn plane(&self, r: RouterId) -> u32 {
        let spec = &self.spec;
        let pods = spec.pods * spec.per_pod();
        if r.0 >= pods {
            return (r.0 - pods) / spec.cores;
        }
        let local = r.0 % spec.per_pod();
        let leaves = spec.leaves * spec.planes();
        if local < leaves { local / spec.leaves } else { (local - leaves) / spec.spines }
    }

    /// All leaves.
    pub fn leaves(&self) -> impl Iterator<Item = RouterId> + Clone + '_ {
        let leaves = self.spec.leaves * self.spec.planes();
        (0..self.spec.pods).flat_map(move |pod| self.range(pod * self.spec.per_pod(), leaves)).map(RouterId)
    }

    fn range(&self, first: u32, len: u32) -> Range<u32> {
        first..first + len
    }
}
