//! SST's adaptive routing: at its first router a packet goes through a random group if the free buffer of the port
//! towards it exceeds that of the direct port by more than a factor.
//!
//! Source: the `adaptive-local` of SST's dragonfly, which Zhang 2018 used (L4), as described in the catalogue. The free
//! buffer of a port is that of one channel, as a share of its size.

use odonata_error::{Error, Path};

use super::{
    AnyDirectAlgorithm, Departure, DirectAlgorithm, GROUP_BASE, MINIMAL_BASE, NON_MINIMAL_BASE, NonMinimal,
    PacketPosition, Paths, Pick,
};
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, Loads};
use crate::spec::RoutingSpec;

/// The routing.
#[derive(Clone, Debug)]
pub struct AdaptiveLocal {
    factor_milli: u64,
}

pub(super) fn of(routing: &RoutingSpec, _: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let RoutingSpec::AdaptiveLocal { factor_milli, .. } = *routing else { return Ok(None) };
    Ok(Some(AnyDirectAlgorithm::AdaptiveLocal(AdaptiveLocal { factor_milli })))
}

impl DirectAlgorithm for AdaptiveLocal {
    fn stages(&self) -> u8 {
        3
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::ByLoad
    }

    #[inline]
    fn depart(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        let (group, to) = (position.place.group, packet.to_group);
        if group == to {
            return paths.minimal(position, Pick::Adaptive, packet, loads);
        }
        let (cable, port) = paths.to_group(position, to, MINIMAL_BASE, Pick::Adaptive, packet, loads);
        let direct = Departure::minimal(port, cable);
        let Some(via) = paths.intermediates(group, to).random(packet, GROUP_BASE) else { return direct };
        let (cable, port) = paths.to_group(position, via, NON_MINIMAL_BASE, Pick::Adaptive, packet, loads);
        let other = Departure::non_minimal(port, via, cable);
        let free = |port| {
            let capacity = paths.buffer(position.place, port);
            (u128::from(capacity.saturating_sub(loads.backlog(port))), u128::from(capacity))
        };
        let ((position, of), (there, of_there)) = (free(direct.port), free(other.port));
        if there * of * 1000 > position * of_there * u128::from(self.factor_milli) { other } else { direct }
    }
}
