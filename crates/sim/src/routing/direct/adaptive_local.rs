//! SST's adaptive routing: at its first router a packet goes through a random group (inside its group, a random router)
//! if the free buffer of the port towards it exceeds that of the direct port by more than a factor.
//!
//! Source: the `adaptive-local` of SST's dragonfly, which Zhang 2018 used (L4), as described in the catalogue. The free
//! buffer of a port is that of one channel, as a share of its size.

use odonata_error::{Error, Path};

use super::{
    AnyDirectAlgorithm, Departure, DirectAlgorithm, GROUP_BASE, MINIMAL_BASE, NON_MINIMAL_BASE, NonMinimal,
    PacketPosition, Paths, Pick,
};
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, InGroups, Loads};
use crate::spec::{InsideGroup, RoutingSpec};

/// The routing.
#[derive(Clone, Debug)]
pub struct AdaptiveLocal {
    factor_milli: u64,
    /// Whether packets inside a group may go through a random router.
    inside: bool,
}

pub(super) fn of(routing: &RoutingSpec, _: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let RoutingSpec::AdaptiveLocal { factor_milli, inside, .. } = *routing else { return Ok(None) };
    let inside = inside == Some(InsideGroup::Router);
    Ok(Some(AnyDirectAlgorithm::AdaptiveLocal(AdaptiveLocal { factor_milli, inside })))
}

impl DirectAlgorithm for AdaptiveLocal {
    fn stages(&self) -> u8 {
        3
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::ByLoad
    }

    fn detours_inside(&self) -> bool {
        self.inside
    }

    #[inline]
    fn depart(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        let (group, to) = (position.place.group, packet.to.group());
        let inside = |router, base| paths.inside(position, router, base, Pick::Adaptive, packet, loads);
        let (direct, other) = if group == to {
            let drawn = if self.inside { paths.router_of_group(position.place, packet) } else { None };
            let Some(router) = drawn else { return paths.minimal(position, Pick::Adaptive, packet, loads) };
            let direct = Departure::minimal(inside(packet.to.local(), MINIMAL_BASE), 0);
            (direct, Departure::non_minimal(inside(router, NON_MINIMAL_BASE), group, router))
        } else {
            let (cable, port) = paths.to_group(position, to, MINIMAL_BASE, Pick::Adaptive, packet, loads);
            let direct = Departure::minimal(port, cable);
            let Some(via) = paths.intermediates(group, to).random(packet, GROUP_BASE) else { return direct };
            let (cable, port) = paths.to_group(position, via, NON_MINIMAL_BASE, Pick::Adaptive, packet, loads);
            (direct, Departure::non_minimal(port, via, cable))
        };
        let free = |port| {
            let capacity = paths.buffer(position.place, port);
            (u128::from(capacity.saturating_sub(loads.backlog(port))), u128::from(capacity))
        };
        let ((position, of), (there, of_there)) = (free(direct.port), free(other.port));
        if there * of * 1000 > position * of_there * u128::from(self.factor_milli) { other } else { direct }
    }
}
