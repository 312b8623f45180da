//! `ugal`, `par` and the adaptive modes of `aries`: minimal or non-minimal paths, by load.

use odonata_sim::spec::{AriesMode, Knowledge, RoutingSpec, Via};

use super::by_router;
use super::cable_paths::CablePath;
use super::position::{MINIMAL, NON_MINIMAL, Position, leg_to_cable, next_stage};
use crate::packet::{Intermediate, LegEnd, Packet};

/// Draws between two candidates of one kind.
const APART: u8 = 8;

/// A comparison of minimal and non-minimal paths, as in UGAL.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// Number of minimal paths compared.
    minimal: u8,
    /// Number of non-minimal paths compared.
    others: u8,
    /// Whether a diverted packet turns at a router that is drawn in the intermediate group.
    via_router: bool,
    /// Whether there is a decision inside a group.
    inside: bool,
    /// Factor on the load of a non-minimal path, in thousandths.
    factor_milli: u64,
    /// Added to that load.
    bias_bytes: u64,
    /// Whether the loads of cables of other routers are known.
    knows_cables: bool,
    /// Whether the comparison is made again along the path.
    again: bool,
}

/// The decision of a routing at a router, if it makes one.
fn comparison_of(routing: &RoutingSpec, hop: u8, diameter: u32) -> Option<Comparison> {
    match *routing {
        RoutingSpec::Ugal {
            knowledge,
            via,
            inside,
            minimal_candidates,
            other_candidates,
            factor_milli,
            bias_bytes,
            ..
        } => Some(Comparison {
            minimal: minimal_candidates,
            others: other_candidates,
            via_router: via == Via::Router,
            inside: by_router(via, inside),
            factor_milli,
            bias_bytes,
            knows_cables: knowledge == Knowledge::Global,
            again: false,
        }),
        RoutingSpec::Par { via, inside, minimal_candidates, other_candidates, factor_milli, bias_bytes, .. } => {
            Some(Comparison {
                minimal: minimal_candidates,
                others: other_candidates,
                via_router: via == Via::Router,
                inside: by_router(via, inside),
                factor_milli,
                bias_bytes,
                knows_cables: false,
                again: true,
            })
        }
        RoutingSpec::Aries { mode, bias_low_bytes, bias_high_bytes, .. } => {
            let bias_bytes = match mode {
                AriesMode::Adaptive0 => 0,
                AriesMode::Adaptive1 => growing(bias_high_bytes, u64::from(hop), u64::from(diameter)),
                AriesMode::Adaptive2 => bias_low_bytes,
                AriesMode::Adaptive3 => bias_high_bytes,
                AriesMode::MinHash | AriesMode::NminHash | AriesMode::InOrder => return None,
            };
            Some(Comparison {
                minimal: 2,
                others: 2,
                via_router: false,
                inside: true,
                factor_milli: 2000,
                bias_bytes,
                knows_cables: false,
                again: true,
            })
        }
        _ => None,
    }
}

/// The bias of `adaptive-1` after `hop` routers; where groups have one router there is only the first decision.
fn growing(high: u64, hop: u64, diameter: u64) -> u64 {
    (high * hop.min(diameter)).checked_div(diameter).unwrap_or(0)
}

impl Position<'_> {
    fn comparison(&self, packet: &Packet) -> Option<Comparison> {
        comparison_of(self.at.routing, packet.hop, self.paths.diameter)
    }

    /// The port that a decision at the first router leads to; none if there is no decision to make.
    pub(super) fn compare(&self, packet: &mut Packet) -> Option<usize> {
        let comparison = self.comparison(packet)?;
        if self.group() == self.target() {
            return self.compare_inside(packet, &comparison);
        }
        let other = self.non_minimal_path(&comparison)?;
        let minimal = (0..comparison.minimal).map(|i| self.cable(self.target(), MINIMAL + APART * i));
        let minimal = minimal.min_by_key(|&path| self.load_of(path, &comparison)).expect("there is a candidate");
        if self.goes_minimally(
            self.load_of(minimal, &comparison),
            self.load_of(other, &comparison),
            other.port,
            &comparison,
        ) {
            return Some(leg_to_cable(packet, minimal));
        }
        Some(self.take_non_minimal(packet, other, &comparison))
    }

    /// The port that another decision in the source group leads to; none if there is no decision to make.
    pub(super) fn decide_again(&self, packet: &mut Packet) -> Option<usize> {
        let comparison = self.comparison(packet).filter(|comparison| comparison.again)?;
        let Some(LegEnd::Cable(cable)) = packet.direct.leg_end else { return None };
        let minimal = CablePath { cable, port: self.towards(cable, MINIMAL + 1) };
        let Some(other) = self.non_minimal_path(&comparison) else { return Some(minimal.port) };
        if self.goes_minimally(
            self.load_of(minimal, &comparison),
            self.load_of(other, &comparison),
            other.port,
            &comparison,
        ) {
            return Some(minimal.port);
        }
        next_stage(packet);
        Some(self.take_non_minimal(packet, other, &comparison))
    }

    /// Inside a group, if the routing decides there.
    fn compare_inside(&self, packet: &mut Packet, comparison: &Comparison) -> Option<usize> {
        if !comparison.inside {
            return None;
        }
        let others = (0..comparison.others).filter_map(|i| {
            let router = self.intermediate_router(i)?;
            Some((router, self.inside(router, NON_MINIMAL + APART * i)))
        });
        let (router, port) = others.min_by_key(|&(_, port)| self.at.load(port))?;
        let minimal = self.inside(self.destination_router, MINIMAL);
        if self.goes_minimally(self.at.load(minimal), self.at.load(port), port, comparison) {
            packet.direct.leg_end = Some(LegEnd::Router(self.destination_router));
            return Some(minimal);
        }
        packet.direct.leg_end = Some(LegEnd::Router(router));
        packet.direct.intermediate = Some(Intermediate::Router(router));
        packet.minimal = false;
        Some(port)
    }

    /// The least loaded path to an intermediate group, if there is one.
    fn non_minimal_path(&self, comparison: &Comparison) -> Option<CablePath> {
        let paths =
            (0..comparison.others).filter_map(|i| Some(self.cable(self.intermediate(i)?, NON_MINIMAL + APART * i)));
        paths.min_by_key(|&path| self.load_of(path, comparison))
    }

    fn take_non_minimal(&self, packet: &mut Packet, path: CablePath, comparison: &Comparison) -> usize {
        packet.direct.intermediate = Some(Intermediate::Group { via_router: comparison.via_router });
        packet.minimal = false;
        leg_to_cable(packet, path)
    }

    fn load_of(&self, path: CablePath, comparison: &Comparison) -> u64 {
        let elsewhere = comparison.knows_cables && self.at.map.router(path.cable) != self.router;
        self.at.load(path.port) + if elsewhere { self.at.load(path.cable) } else { 0 }
    }

    /// Whether the minimal path is taken.
    fn goes_minimally(&self, minimal: u64, other: u64, port: usize, comparison: &Comparison) -> bool {
        let bias = self.at.links[port].serialisation(comparison.bias_bytes);
        u128::from(minimal) * 1000 <= u128::from(other) * u128::from(comparison.factor_milli) + 1000 * u128::from(bias)
    }
}
