//! Progressive adaptive routing by absolute backlogs: the algorithm of CODES before fully progressive routing (K8).
//!
//! [`fpar`](super::fpar) compares loads with a threshold. This algorithm compares the least loaded minimal port with
//! the least loaded non-minimal one. It takes the minimal port if its backlog is small, or at most `factor` times that
//! of the other. With factor 1 and threshold 0 it is the algorithm of CODES; factor 2 is UGAL's weighting by path
//! length.

use odonata_error::{Error, Path};

use odonata_topology::DragonflyPlus;
use odonata_topology::dragonfly_plus::CLASSES;

use super::{
    CandidatePorts, CongestionMetric, DragonflyPlusAlgorithm, Loads, MINIMAL_BASE, NON_MINIMAL_BASE, RouterPlace,
    failed, fpar, no_choice,
};
use crate::fabric::packet::{Event, RouteDecision};
use crate::spec::{FabricSpec, FparCandidates, RoutingSpec};

/// The routing.
#[derive(Clone, Debug)]
pub struct ProgAdaptive {
    /// Backlog up to which a minimal port is taken at once, by link class.
    threshold: [u64; 3],
    factor_milli: u64,
    one_group: bool,
}

impl DragonflyPlusAlgorithm for ProgAdaptive {
    const NAME: &'static str = "prog-adaptive";
    const CHANNELS: u8 = 2;
    const MAX_HOPS: u8 = 6;

    fn new(fabric: &FabricSpec, routing: &RoutingSpec, _: &Path) -> Result<Self, Error> {
        let RoutingSpec::ProgAdaptive { threshold_bytes, factor_milli, candidates } = *routing else {
            unreachable!("it has another name")
        };
        let time = |class: usize| fabric.links[CLASSES[class]].bandwidth.serialisation_ps(threshold_bytes);
        let one_group = candidates == FparCandidates::OneGroup;
        Ok(Self { threshold: std::array::from_fn(time), factor_milli, one_group })
    }

    #[inline(always)]
    fn one_group(&self) -> bool {
        self.one_group
    }

    #[inline(always)]
    fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        fpar::progressive(machine, self.one_group, true, place, packet)
    }

    fn candidates_with_failures<'a>(
        &self,
        machine: &'a DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
    ) -> CandidatePorts<'a> {
        failed::progressive(machine, self.one_group, true, place, packet)
    }

    #[inline(always)]
    fn decide_early(
        &self,
        machine: &DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<RouteDecision> {
        fpar::outside_spines_of_choice(machine, place, packet, loads)
    }

    #[inline(always)]
    fn choose(
        &self,
        candidates: &CandidatePorts<'_>,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, bool) {
        if let Some(only) = no_choice(candidates, packet, loads) {
            return only;
        }
        let (key, hop) = (packet.key, packet.hop());
        let minimal = loads.least(&candidates.minimal, key, hop, MINIMAL_BASE);
        let here = loads.backlog(minimal);
        if here <= self.threshold[usize::from(candidates.minimal_class)] {
            return (minimal, false);
        }
        let non_minimal = loads.least(&candidates.non_minimal, key, hop, NON_MINIMAL_BASE);
        let there = loads.backlog(non_minimal);
        if u128::from(here) * 1000 <= u128::from(there) * u128::from(self.factor_milli) {
            (minimal, false)
        } else {
            (non_minimal, true)
        }
    }
}
