//! Valiant routing: every packet goes by way of a random stop, whatever the load.
//!
//! By way of a group, a packet to another group turns where it enters a random third group, and one that stays in its group
//! goes straight. By way of a router, it turns at a random router of the third group, and one that stays in its group turns
//! at a random router of it. Source: Valiant 1982; Kim 2008, section 4.1.

use odonata_error::{Error, ErrorKind, Path};

use super::minimal::pick;
use super::{Departure, DirectAlgorithm, GROUP_DRAWS, Here, Mode, NonMinimal, OTHER_DRAWS, Pick, Ways};
use crate::fabric::packet::Event;
use crate::routing::{Grain, Loads, Sense};
use crate::spec::{RoutingSpec, Via};

/// The routing.
#[derive(Clone, Debug)]
pub struct Valiant {
    /// How one of several ways is picked.
    pub pick: Pick,
    /// What packets of one way share.
    pub grain: Grain,
    /// Whether packets to other groups turn at a random router of the intermediate group.
    pub at_router: bool,
    /// Whether packets inside a group go by way of a random router.
    pub inside: bool,
}

pub(super) fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<Mode>, Error> {
    let RoutingSpec::Valiant { via, select, .. } = *routing else { return Ok(None) };
    let at_router = turns_at_router(via, at)?;
    let (pick, grain) = (pick(select), Grain::of(select));
    Ok(Some(Mode::Valiant(Valiant { pick, grain, at_router, inside: at_router })))
}

impl DirectAlgorithm for Valiant {
    fn stages(&self) -> u8 {
        if self.at_router { 4 } else { 3 }
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::Always
    }

    #[inline(always)]
    fn pick(&self) -> Pick {
        self.pick
    }

    #[inline(always)]
    fn grain(&self) -> Grain {
        self.grain
    }

    #[inline(always)]
    fn turns_at_router(&self) -> bool {
        self.at_router
    }

    fn detours_inside(&self) -> bool {
        self.inside
    }

    #[inline]
    fn depart(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure {
        let group = here.place.group;
        if group != packet.to_group {
            if let Some(via) = ways.middles(group, packet.to_group).draw(packet, GROUP_DRAWS) {
                let (cable, port) = ways.to_group(here, via, OTHER_DRAWS, self.pick, packet, loads);
                return Departure::round(port, via, cable);
            }
        } else if self.inside
            && let Some(router) = ways.router_inside(here.place, packet, 0)
        {
            return Departure::round(ways.inside(here, router, OTHER_DRAWS, self.pick, packet, loads), group, router);
        }
        ways.straight(here, self.pick, packet, loads)
    }
}

/// Whether packets turn at a random router of the intermediate group.
pub(super) fn turns_at_router(via: Via, at: &Path) -> Result<bool, Error> {
    match via {
        Via::Group => Ok(false),
        Via::Router => Ok(true),
        Via::Spine | Via::Leaf => {
            let (machine, choices) = ("dragonfly or cascade", vec!["group", "router"]);
            Err(ErrorKind::ViaNotForMachine { machine, choices }.at(at.join("via")))
        }
    }
}
