//! Minimal paths only: to a cable between the two groups, across it, and to the destination's router. The routing's
//! `gateways` says which cables count as shortest.

use odonata_error::{Error, Path};

use super::{AnyDirectAlgorithm, Departure, DirectAlgorithm, NonMinimal, PacketPosition, Paths, Pick};
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, Loads, PathGranularity};
use crate::spec::{RoutingSpec, Select};

/// The routing.
#[derive(Clone, Debug)]
pub struct Minimal {
    /// How one of several paths is picked.
    pub pick: Pick,
    /// Which packets take the same path.
    pub granularity: PathGranularity,
}

pub(super) fn of(routing: &RoutingSpec, _: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let RoutingSpec::Minimal { select, .. } = *routing else { return Ok(None) };
    Ok(Some(AnyDirectAlgorithm::Minimal(Minimal { pick: pick(select), granularity: PathGranularity::of(select) })))
}

impl DirectAlgorithm for Minimal {
    fn stages(&self) -> u8 {
        2
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::Never
    }

    #[inline(always)]
    fn depart(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        paths.minimal(position, self.pick, packet, loads)
    }

    #[inline(always)]
    fn pick(&self) -> Pick {
        self.pick
    }

    #[inline(always)]
    fn granularity(&self) -> PathGranularity {
        self.granularity
    }
}

/// How paths are picked.
pub(super) fn pick(select: Select) -> Pick {
    match select {
        Select::Random | Select::Hash => Pick::Random,
        Select::LeastLoaded => Pick::LeastLoaded,
    }
}
