//! Adaptive routing by comparison: shortest ways against ways round, by the loads of their first ports (UGAL), once or again
//! at every router of the source group (PAR).
//!
//! Of a few candidates of each kind, drawn at random, the least loaded are compared; a way round is taken if its load,
//! weighted because it is about twice as long, and a bias are still less than the shortest way's. With global knowledge
//! (UGAL-G, an ideal) the load of the global link that a way leads to counts as well.
//!
//! Sources: Singh 2005 (UGAL); Kim 2008, section 4.2 (UGAL-L, UGAL-G); Jiang 2009 (PAR); De Sensi 2019, section 2.2 (Aries).
//! A weight of 2 is that of BookSim's dragonfly; with hop counts it would be 2 for most pairs of routers.

use odonata_error::{Error, Path};
use odonata_topology::Bandwidth;

use super::valiant::turns_at_router;
use super::{Departure, DirectAlgorithm, GROUP_DRAWS, Here, MINIMAL_DRAWS, Mode, NonMinimal, OTHER_DRAWS, Pick, Ways};
use crate::fabric::packet::Event;
use crate::routing::{Loads, Sense};
use crate::spec::{FabricSpec, Knowledge, RoutingSpec};

/// Draws between the first of one candidate and of the next.
const NEXT: u8 = 8;

/// A head start of minimal paths, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Bias {
    /// The same at each decision.
    Constant(u64),
    /// None at the first decision, and this much at the last.
    Growing(u64),
}

/// The routing.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// Shortest ways that are compared.
    pub minimal_candidates: u8,
    /// Ways round that are compared.
    pub other_candidates: u8,
    /// Weight of a way round, in thousandths.
    pub factor_milli: u64,
    /// Added to the load of a way round.
    pub bias_bytes: Bias,
    /// The same in picoseconds, by routers visited and link class.
    pub(super) bias: Vec<Vec<u64>>,
    /// Whether the loads of global links are known everywhere.
    pub global: bool,
    /// Whether a packet decides again on its way through the source group.
    pub progressive: bool,
    /// Whether packets to other groups turn at a random router of the intermediate group.
    pub at_router: bool,
    /// Whether packets inside a group may go by way of a random router.
    pub inside: bool,
}

pub(super) fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<Mode>, Error> {
    let (via, minimal_candidates, other_candidates, factor_milli, bias_bytes, global, progressive) = match *routing {
        RoutingSpec::Ugal {
            knowledge,
            via,
            minimal_candidates: m,
            other_candidates: o,
            factor_milli,
            bias_bytes,
            ..
        } => (via, m, o, factor_milli, bias_bytes, knowledge == Knowledge::Global, false),
        RoutingSpec::Par { via, minimal_candidates: m, other_candidates: o, factor_milli, bias_bytes, .. } => {
            (via, m, o, factor_milli, bias_bytes, false, true)
        }
        _ => return Ok(None),
    };
    let at_router = turns_at_router(via, at)?;
    Ok(Some(Mode::Adaptive(Adaptive {
        minimal_candidates,
        other_candidates,
        factor_milli,
        bias_bytes: Bias::Constant(bias_bytes),
        bias: Vec::new(),
        global,
        progressive,
        at_router,
        inside: at_router,
    })))
}

impl DirectAlgorithm for Adaptive {
    fn stages(&self) -> u8 {
        3 + u8::from(self.at_router) + u8::from(self.progressive)
    }

    fn non_minimal(&self) -> NonMinimal {
        NonMinimal::ByLoad
    }

    fn decides_again(&self) -> bool {
        self.progressive
    }

    #[inline(always)]
    fn turns_at_router(&self) -> bool {
        self.at_router
    }

    fn detours_inside(&self) -> bool {
        self.inside
    }

    fn sees_other_routers(&self) -> bool {
        self.global
    }

    fn prepare(&mut self, ways: &Ways, fabric: &FabricSpec) {
        let by_hop = match self.bias_bytes {
            Bias::Constant(bytes) => vec![bytes],
            Bias::Growing(bytes) => {
                let last = u64::from(ways.machine().diameter());
                (0..=last).map(|hop| bytes * hop / last.max(1)).collect()
            }
        };
        self.bias = by_hop.into_iter().map(|bytes| biases(ways, fabric, bytes)).collect();
    }

    #[inline]
    fn depart(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure {
        let Some((other, round)) = self.best_round(ways, here, packet, loads) else {
            return ways.straight(here, Pick::Adaptive, packet, loads);
        };
        let group = here.place.group;
        let (mut least, mut best) = (u64::MAX, round);
        if group == packet.to_group {
            let port = ways.inside(here, packet.to_local, MINIMAL_DRAWS, Pick::Adaptive, packet, loads);
            (least, best) = (loads.backlog(port), Departure::straight(port, 0));
        } else {
            for i in 0..self.minimal_candidates {
                let base = MINIMAL_DRAWS + NEXT * i;
                let (cable, port) = ways.to_group(here, packet.to_group, base, Pick::Adaptive, packet, loads);
                let load = self.load(ways, here, packet.to_group, cable, port, loads);
                if load < least {
                    (least, best) = (load, Departure::straight(port, cable));
                }
            }
        }
        if self.stays(least, other, ways.class(here.place, round.port), packet.hop()) { best } else { round }
    }

    fn again(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Option<Departure> {
        if !self.progressive {
            return None;
        }
        let cable = packet.middle as u16;
        let ports = ways.towards(here.place, packet.to_group, cable);
        let port = loads.least(&ports, packet.word, packet.hop(), MINIMAL_DRAWS + 1);
        let straight = Departure::straight(port, cable);
        Some(match self.best_round(ways, here, packet, loads) {
            Some((other, round))
                if !self.stays(loads.backlog(port), other, ways.class(here.place, round.port), packet.hop()) =>
            {
                round
            }
            _ => straight,
        })
    }
}

impl Adaptive {
    /// The least loaded of the ways round, with its load.
    fn best_round(
        &self,
        ways: &Ways,
        here: Here,
        packet: &Event,
        loads: &Loads<'_, impl Sense>,
    ) -> Option<(u64, Departure)> {
        let group = here.place.group;
        let middles = (group != packet.to_group).then(|| ways.middles(group, packet.to_group));
        let mut best: Option<(u64, Departure)> = None;
        for i in 0..self.other_candidates {
            let base = OTHER_DRAWS + NEXT * i;
            let (load, round) = if let Some(middles) = middles {
                let via = middles.draw(packet, GROUP_DRAWS + i)?;
                let (cable, port) = ways.to_group(here, via, base, Pick::Adaptive, packet, loads);
                (self.load(ways, here, via, cable, port, loads), Departure::round(port, via, cable))
            } else if self.inside {
                let Some(router) = ways.router_inside(here.place, packet, i) else { continue };
                let port = ways.inside(here, router, base, Pick::Adaptive, packet, loads);
                (loads.backlog(port), Departure::round(port, group, router))
            } else {
                return None;
            };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, round));
            }
        }
        best
    }

    /// Load of a way by a port to a cable.
    #[inline]
    fn load(&self, ways: &Ways, here: Here, group: u16, cable: u16, port: u16, loads: &Loads<'_, impl Sense>) -> u64 {
        let own = loads.backlog(port);
        if !self.global || ways.cable(here.place.group, group, cable).0 == here.place.local {
            return own;
        }
        own.saturating_add(loads.of_slot(ways.cable_slot(here.place.group, group, cable).0))
    }

    /// Whether a packet stays on the shortest way, given the loads and the class of the other way's first link.
    #[inline]
    fn stays(&self, minimal: u64, other: u64, class: u8, hop: u8) -> bool {
        let by_class = &self.bias[usize::from(hop).min(self.bias.len() - 1)];
        let bias = by_class[usize::from(class)];
        u128::from(minimal) * 1000 <= u128::from(other) * u128::from(self.factor_milli) + u128::from(bias) * 1000
    }
}

/// Time of so many bytes, by link class.
fn biases(ways: &Ways, fabric: &FabricSpec, bytes: u64) -> Vec<u64> {
    let time = |class: &&str| {
        let bandwidth: Bandwidth = fabric.links[*class].bandwidth;
        bandwidth.serialisation_ps(bytes)
    };
    ways.machine().network.classes.iter().map(time).collect()
}
