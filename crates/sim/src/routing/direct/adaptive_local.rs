//! SST's adaptive routing: at its first router a packet goes by way of a random group if the port that way has more than a
//! factor times as much free buffer as the direct one.
//!
//! Source: the `adaptive-local` of SST's dragonfly, which Zhang 2018 ran (L4), as told in the catalogue. A port's free buffer is
//! that of one channel, as a share of its size.

use super::{Departure, GROUP_DRAWS, Here, MINIMAL_DRAWS, OTHER_DRAWS, Pick, Ways};
use crate::fabric::packet::Event;
use crate::routing::{Loads, Sense};

/// The routing.
#[derive(Clone, Debug)]
pub struct AdaptiveLocal {
    factor_milli: u64,
}

impl AdaptiveLocal {
    pub(super) fn new(factor_milli: u64) -> Self {
        Self { factor_milli }
    }

    #[inline]
    pub(super) fn depart(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure {
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
