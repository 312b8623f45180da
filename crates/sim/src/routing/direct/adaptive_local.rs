//! SST's adaptive routing: at its first router a packet goes by way of a random group if the port that way has more than a
//! factor times as much free buffer as the direct one.
//!
//! Source: the `adaptive-local` of SST's dragonfly, which Zhang 2018 ran (L4), as told in the catalogue. A port's free buffer is
//! that of one channel, as a share of its size.

use odonata_error::{Error, Path};

use super::{Departure, DirectAlgorithm, GROUP_DRAWS, Here, MINIMAL_DRAWS, Mode, NonMinimal, OTHER_DRAWS, Pick, Ways};
use crate::fabric::packet::Event;
use crate::routing::{Loads, Sense};
use crate::spec::RoutingSpec;

/// The routing.
#[derive(Clone, Debug)]
pub struct AdaptiveLocal {
    factor_milli: u64,
}

pub(super) fn of(routing: &RoutingSpec, _: &Path) -> Result<Option<Mode>, Error> {
    let RoutingSpec::AdaptiveLocal { factor_milli, .. } = *routing else { return Ok(None) };
    Ok(Some(Mode::AdaptiveLocal(AdaptiveLocal { factor_milli })))
}

impl DirectAlgorithm for AdaptiveLocal {
    fn stages(&self) -> u8 {
        3
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::ByLoad
    }

    #[inline]
    fn depart(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure {
        let (group, to) = (here.place.group, packet.to_group);
        if group == to {
            return ways.straight(here, Pick::Adaptive, packet, loads);
        }
        let (cable, port) = ways.to_group(here, to, MINIMAL_DRAWS, Pick::Adaptive, packet, loads);
        let direct = Departure::straight(port, cable);
        let Some(via) = ways.middles(group, to).draw(packet, GROUP_DRAWS) else { return direct };
        let (cable, port) = ways.to_group(here, via, OTHER_DRAWS, Pick::Adaptive, packet, loads);
        let other = Departure::round(port, via, cable);
        let free = |port| {
            let capacity = ways.buffer(here.place, port);
            (u128::from(capacity.saturating_sub(loads.backlog(port))), u128::from(capacity))
        };
        let ((here, of), (there, of_there)) = (free(direct.port), free(other.port));
        if there * of * 1000 > here * of_there * u128::from(self.factor_milli) { other } else { direct }
    }
}
