//! Progressive adaptive routing by absolute backlogs: what CODES offered before fully progressive routing (K8).
//!
//! Where [`fpar`](super::fpar) compares with a threshold, this compares the least loaded shortest port with the least
//! loaded other one: the shortest is taken when little waits for it, or when its backlog is at most `factor` times the
//! other's. With factor 1 and threshold 0 it is the rule of CODES; factor 2 is UGAL's weighting by path length.

use odonata_topology::dragonfly_plus::CLASSES;

use super::{LEAST_DRAWS, Loads, MINIMAL_DRAWS, OTHER_DRAWS, Plan};
use crate::spec::{FabricSpec, FparCandidates};

/// The comparison.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Backlog up to which a shortest port is taken at once, by link class.
    threshold: [u64; 3],
    factor_milli: u64,
    pub(super) one_group: bool,
}

impl Rule {
    pub(super) fn new(fabric: &FabricSpec, bytes: u64, factor_milli: u64, candidates: FparCandidates) -> Self {
        let threshold = std::array::from_fn(|class| fabric.links[CLASSES[class]].bandwidth.serialisation_ps(bytes));
        Self { threshold, factor_milli, one_group: candidates == FparCandidates::OneGroup }
    }

    /// The port, and whether it is one of the others.
    #[inline]
    pub(super) fn decide(&self, plan: &Plan<'_>, word: u32, hop: u8, loads: &Loads<'_>) -> (u16, bool) {
        if plan.other.is_empty() {
            return (loads.least(&plan.minimal, word, hop, LEAST_DRAWS), false);
        }
        if plan.minimal.is_empty() {
            return (loads.least(&plan.other, word, hop, LEAST_DRAWS), true);
        }
        let minimal = loads.least(&plan.minimal, word, hop, MINIMAL_DRAWS);
        let here = loads.backlog(minimal);
        if here <= self.threshold[usize::from(plan.minimal_class)] {
            return (minimal, false);
        }
        let other = loads.least(&plan.other, word, hop, OTHER_DRAWS);
        let there = loads.backlog(other);
        if u128::from(here) * 1000 <= u128::from(there) * u128::from(self.factor_milli) {
            (minimal, false)
        } else {
            (other, true)
        }
    }
}
