//! `ugal`, `par` and the adaptive modes of `aries`: shortest ways or ways round, by load.

use super::rules::{Comparison, comparison};
use super::{MINIMAL, OTHER, Position, Way, aim_at_cable, next_stage};
use crate::packet::{Aim, Packet, Stop};

/// Draws between two candidates of one kind.
const APART: u8 = 8;

impl Position<'_> {
    fn comparison(&self, packet: &Packet) -> Option<Comparison> {
        comparison(self.at.routing, packet.hop, self.paths.diameter)
    }

    /// The port that a decision at the first router leads to; none if there is none to be made.
    pub(super) fn compare(&self, packet: &mut Packet) -> Option<usize> {
        let rule = self.comparison(packet)?;
        if self.group() == self.target() {
            return self.compare_inside(packet, &rule);
        }
        let other = self.other_way(&rule)?;
        let minimal = (0..rule.minimal).map(|i| self.cable(self.target(), MINIMAL + APART * i));
        let minimal = minimal.min_by_key(|&way| self.load_of(way, &rule)).expect("there is a candidate");
        if self.stays(self.load_of(minimal, &rule), self.load_of(other, &rule), other.port, &rule) {
            return Some(aim_at_cable(packet, minimal));
        }
        Some(self.go_round(packet, other, &rule))
    }

    /// The port that another decision in the source group leads to; none if there is none to be made.
    pub(super) fn decide_again(&self, packet: &mut Packet) -> Option<usize> {
        let rule = self.comparison(packet).filter(|rule| rule.again)?;
        let Some(Aim::Cable(cable)) = packet.tour.aim else { return None };
        let minimal = Way { cable, port: self.towards(cable, MINIMAL + 1) };
        let Some(other) = self.other_way(&rule) else { return Some(minimal.port) };
        if self.stays(self.load_of(minimal, &rule), self.load_of(other, &rule), other.port, &rule) {
            return Some(minimal.port);
        }
        next_stage(packet);
        Some(self.go_round(packet, other, &rule))
    }

    /// Inside a group, if the rule decides there.
    fn compare_inside(&self, packet: &mut Packet, rule: &Comparison) -> Option<usize> {
        if !rule.inside {
            return None;
        }
        let others = (0..rule.others).filter_map(|i| {
            let router = self.middle_router(i)?;
            Some((router, self.inside(router, OTHER + APART * i)))
        });
        let (router, port) = others.min_by_key(|&(_, port)| self.at.load(port))?;
        let minimal = self.inside(self.home, MINIMAL);
        if self.stays(self.at.load(minimal), self.at.load(port), port, rule) {
            packet.tour.aim = Some(Aim::Router(self.home));
            return Some(minimal);
        }
        packet.tour.aim = Some(Aim::Router(router));
        packet.tour.stop = Some(Stop::Router(router));
        packet.minimal = false;
        Some(port)
    }

    /// The least loaded way to an intermediate group, if there is one.
    fn other_way(&self, rule: &Comparison) -> Option<Way> {
        let ways = (0..rule.others).filter_map(|i| Some(self.cable(self.middle(i)?, OTHER + APART * i)));
        ways.min_by_key(|&way| self.load_of(way, rule))
    }

    fn go_round(&self, packet: &mut Packet, way: Way, rule: &Comparison) -> usize {
        packet.tour.stop = Some(Stop::Group { draws_router: rule.draws_router });
        packet.minimal = false;
        aim_at_cable(packet, way)
    }

    fn load_of(&self, way: Way, rule: &Comparison) -> u64 {
        let elsewhere = rule.knows_cables && self.at.map.router(way.cable) != self.here;
        self.at.load(way.port) + if elsewhere { self.at.load(way.cable) } else { 0 }
    }

    /// Whether the minimal way is taken.
    fn stays(&self, minimal: u64, other: u64, port: usize, rule: &Comparison) -> bool {
        let bias = self.at.links[port].serialisation(rule.bias_bytes);
        u128::from(minimal) * 1000 <= u128::from(other) * u128::from(rule.factor_milli) + 1000 * u128::from(bias)
    }
}
