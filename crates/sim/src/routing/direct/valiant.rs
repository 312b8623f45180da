//! Valiant routing: every packet goes through a random intermediate stop, whatever the load.
//!
//! Via a group, a packet to another group begins its second phase where it enters a random third group; via a router, at
//! a random router of the third group. A packet inside its group takes a minimal path or goes through a random router of
//! that group. Source: Valiant 1982; Kim 2008, section 4.1.

use odonata_error::{Error, ErrorKind, Path};

use super::minimal::pick;
use super::{
    AnyDirectAlgorithm, Departure, DirectAlgorithm, GROUP_BASE, NON_MINIMAL_BASE, NonMinimal, PacketPosition, Paths,
    Pick,
};
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, InGroups, Loads, PathGranularity};
use crate::spec::{InsideGroup, RoutingSpec, Via};

/// The routing.
#[derive(Clone, Debug)]
pub struct Valiant {
    /// How one of several paths is picked.
    pub pick: Pick,
    /// Which packets take the same path.
    pub granularity: PathGranularity,
    /// Whether packets to other groups begin their second phase at a random router of the intermediate group.
    pub at_router: bool,
    /// Whether packets inside a group go through a random router.
    pub inside: bool,
}

pub(super) fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let RoutingSpec::Valiant { via, select, inside, .. } = *routing else { return Ok(None) };
    let at_router = via_router(via, at)?;
    let inside = detours_inside(inside, at_router);
    let (pick, granularity) = (pick(select), PathGranularity::of(select));
    Ok(Some(AnyDirectAlgorithm::Valiant(Valiant { pick, granularity, at_router, inside })))
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
    fn granularity(&self) -> PathGranularity {
        self.granularity
    }

    #[inline(always)]
    fn via_router(&self) -> bool {
        self.at_router
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
        let group = position.place.group;
        if group != packet.to.group() {
            if let Some(via) = paths.intermediates(group, packet.to.group()).random(packet, GROUP_BASE) {
                let (cable, port) = paths.to_group(position, via, NON_MINIMAL_BASE, self.pick, packet, loads);
                return Departure::non_minimal(port, via, cable);
            }
        } else if self.inside
            && let Some(router) = paths.router_inside(position.place, packet, 0)
        {
            return Departure::non_minimal(
                paths.inside(position, router, NON_MINIMAL_BASE, self.pick, packet, loads),
                group,
                router,
            );
        }
        paths.minimal(position, self.pick, packet, loads)
    }
}

/// Whether packets that stay in their group may go through a router of it: as stated, else where packets to other groups
/// go through a router.
pub(super) fn detours_inside(inside: Option<InsideGroup>, at_router: bool) -> bool {
    inside.map_or(at_router, |inside| inside == InsideGroup::Router)
}

/// Whether packets begin their second phase at a random router of the intermediate group.
pub(super) fn via_router(via: Via, at: &Path) -> Result<bool, Error> {
    match via {
        Via::Group => Ok(false),
        Via::Router => Ok(true),
        Via::Spine | Via::Leaf => {
            let (machine, choices) = ("dragonfly or cascade", vec!["group", "router"]);
            Err(ErrorKind::ViaNotForMachine { machine, choices }.at(at.join("via")))
        }
    }
}
