//! Adaptive routing by comparison: minimal against non-minimal paths, by the loads of their first ports (UGAL), once,
//! or again at every router of the source group (PAR).
//!
//! Of a few random candidates of each kind, the least loaded are compared. The packet takes the non-minimal path if its
//! load, weighted because the path is about twice as long, plus a bias is still below that of the minimal path. With
//! global knowledge (UGAL-G, an ideal), the load of the global link at the end of the leg counts as well.
//!
//! Sources: Singh 2005 (UGAL); Kim 2008, section 4.2 (UGAL-L, UGAL-G); Jiang 2009 (PAR); De Sensi 2019, section 2.2
//! (Aries). The weight of 2 is that of BookSim's dragonfly; with hop counts it would be 2 for most pairs of routers.

use odonata_error::{Error, Path};
use odonata_topology::Bandwidth;

use super::valiant::{detours_inside, via_router};
use super::{
    AnyDirectAlgorithm, Departure, DirectAlgorithm, GROUP_BASE, MINIMAL_BASE, NON_MINIMAL_BASE, NonMinimal,
    PacketPosition, Paths, Pick,
};
use crate::fabric::packet::Event;
use crate::routing::{CongestionMetric, InGroups, Loads};
use crate::spec::{FabricSpec, Knowledge, RoutingSpec};

/// Distance between the first random numbers of two candidates.
const NEXT: u8 = 8;

/// A bias towards minimal paths, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Bias {
    /// The same at each decision.
    Constant(u64),
    /// None at the first decision, and this much at the last one.
    Growing(u64),
}

/// The routing.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// Minimal paths that are compared.
    pub minimal_candidates: u8,
    /// Non-minimal paths that are compared.
    pub other_candidates: u8,
    /// Weight of a non-minimal path, in thousandths.
    pub factor_milli: u64,
    /// Added to the load of a non-minimal path.
    pub bias_bytes: Bias,
    /// The same in picoseconds, by routers visited and link class.
    pub(super) bias: Vec<Vec<u64>>,
    /// Whether the loads of global links are known everywhere.
    pub global: bool,
    /// Whether a packet decides again at further routers of the source group.
    pub progressive: bool,
    /// Whether packets to other groups begin their second phase at a random router of the intermediate group.
    pub at_router: bool,
    /// Whether packets inside a group may go through a random router.
    pub inside: bool,
}

pub(super) fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<AnyDirectAlgorithm>, Error> {
    let (via, inside, minimal_candidates, other_candidates, factor_milli, bias_bytes, global, progressive) =
        match *routing {
            RoutingSpec::Ugal {
                knowledge,
                via,
                inside,
                minimal_candidates: m,
                other_candidates: o,
                factor_milli,
                bias_bytes,
                ..
            } => (via, inside, m, o, factor_milli, bias_bytes, knowledge == Knowledge::Global, false),
            RoutingSpec::Par {
                via,
                inside,
                minimal_candidates: m,
                other_candidates: o,
                factor_milli,
                bias_bytes,
                ..
            } => (via, inside, m, o, factor_milli, bias_bytes, false, true),
            _ => return Ok(None),
        };
    let at_router = via_router(via, at)?;
    let inside = detours_inside(inside, at_router);
    Ok(Some(AnyDirectAlgorithm::Adaptive(Adaptive {
        minimal_candidates,
        other_candidates,
        factor_milli,
        bias_bytes: Bias::Constant(bias_bytes),
        bias: Vec::new(),
        global,
        progressive,
        at_router,
        inside,
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
    fn via_router(&self) -> bool {
        self.at_router
    }

    fn detours_inside(&self) -> bool {
        self.inside
    }

    fn sees_other_routers(&self) -> bool {
        self.global
    }

    fn prepare(&mut self, paths: &Paths, fabric: &FabricSpec) {
        let by_hop = match self.bias_bytes {
            Bias::Constant(bytes) => vec![bytes],
            Bias::Growing(bytes) => {
                let last = u64::from(paths.machine().diameter());
                (0..=last).map(|hop| bytes * hop / last.max(1)).collect()
            }
        };
        self.bias = by_hop.into_iter().map(|bytes| biases(paths, fabric, bytes)).collect();
    }

    #[inline]
    fn depart(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        let Some((other, non_minimal)) = self.best_non_minimal(paths, position, packet, loads) else {
            return paths.minimal(position, Pick::Adaptive, packet, loads);
        };
        let group = position.place.group;
        let (mut least, mut best) = (u64::MAX, non_minimal);
        if group == packet.to.group() {
            let port = paths.inside(position, packet.to.local(), MINIMAL_BASE, Pick::Adaptive, packet, loads);
            (least, best) = (loads.backlog(port), Departure::minimal(port, 0));
        } else {
            for i in 0..self.minimal_candidates {
                let base = MINIMAL_BASE + NEXT * i;
                let (cable, port) = paths.to_group(position, packet.to.group(), base, Pick::Adaptive, packet, loads);
                let load = self.load(paths, position, packet.to.group(), cable, port, loads);
                if load < least {
                    (least, best) = (load, Departure::minimal(port, cable));
                }
            }
        }
        if self.stays(least, other, paths.class(position.place, non_minimal.port), packet.hop()) {
            best
        } else {
            non_minimal
        }
    }

    fn again(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<Departure> {
        if !self.progressive {
            return None;
        }
        let cable = packet.intermediate as u16;
        let ports = paths.towards(position.place, packet.to.group(), cable);
        let port = loads.least(&ports, packet.key, packet.hop(), MINIMAL_BASE + 1);
        let minimal = Departure::minimal(port, cable);
        Some(match self.best_non_minimal(paths, position, packet, loads) {
            Some((other, non_minimal))
                if !self.stays(
                    loads.backlog(port),
                    other,
                    paths.class(position.place, non_minimal.port),
                    packet.hop(),
                ) =>
            {
                non_minimal
            }
            _ => minimal,
        })
    }
}

impl Adaptive {
    /// The least loaded non-minimal candidate, with its load.
    fn best_non_minimal(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<(u64, Departure)> {
        let group = position.place.group;
        let intermediates = (group != packet.to.group()).then(|| paths.intermediates(group, packet.to.group()));
        let mut best: Option<(u64, Departure)> = None;
        for i in 0..self.other_candidates {
            let base = NON_MINIMAL_BASE + NEXT * i;
            let (load, non_minimal) = if let Some(intermediates) = intermediates {
                let via = intermediates.random(packet, GROUP_BASE + i)?;
                let (cable, port) = paths.to_group(position, via, base, Pick::Adaptive, packet, loads);
                (self.load(paths, position, via, cable, port, loads), Departure::non_minimal(port, via, cable))
            } else if self.inside {
                let Some(router) = paths.router_inside(position.place, packet, i) else { continue };
                let port = paths.inside(position, router, base, Pick::Adaptive, packet, loads);
                (loads.backlog(port), Departure::non_minimal(port, group, router))
            } else {
                return None;
            };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, non_minimal));
            }
        }
        best
    }

    /// Load of a path through a port to a cable.
    #[inline]
    fn load(
        &self,
        paths: &Paths,
        position: PacketPosition,
        group: u16,
        cable: u16,
        port: u16,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> u64 {
        let own = loads.backlog(port);
        if !self.global || paths.cable(position.place.group, group, cable).0 == position.place.address.local() {
            return own;
        }
        own.saturating_add(loads.of_slot(paths.cable_slot(position.place.group, group, cable).0))
    }

    /// Whether a packet stays on the minimal path, given the loads and the class of the non-minimal path's first link.
    #[inline]
    fn stays(&self, minimal: u64, other: u64, class: u8, hop: u8) -> bool {
        let by_class = &self.bias[usize::from(hop).min(self.bias.len() - 1)];
        let bias = by_class[usize::from(class)];
        u128::from(minimal) * 1000 <= u128::from(other) * u128::from(self.factor_milli) + u128::from(bias) * 1000
    }
}

/// Time of so many bytes, by link class.
fn biases(paths: &Paths, fabric: &FabricSpec, bytes: u64) -> Vec<u64> {
    let time = |class: &&str| {
        let bandwidth: Bandwidth = fabric.links[*class].bandwidth;
        bandwidth.serialisation_ps(bytes)
    };
    paths.machine().network.classes.iter().map(time).collect()
}
