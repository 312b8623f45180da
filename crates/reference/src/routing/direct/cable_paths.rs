//! Cables to other groups and ports towards them (model, section 6, "Paths to a cable").

use odonata_sim::spec::Gateways;

use super::position::Position;
use super::{Pick, gateways, pick};

/// A cable to another group and a first port towards it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CablePath {
    /// The cable, by its port.
    pub(super) cable: usize,
    /// The port.
    pub(super) port: usize,
}

impl Position<'_> {
    /// `C(router, group)`.
    fn cables(&self, group: usize) -> Vec<usize> {
        let all = self.paths.cables(self.group(), group);
        let distance = |cable: usize| self.paths.distance(self.router, self.at.map.router(cable));
        match gateways(self.at.routing) {
            Gateways::All => all.to_vec(),
            Gateways::Nearest => {
                let nearest = all.iter().map(|&cable| distance(cable)).min();
                all.iter().copied().filter(|&cable| Some(distance(cable)) == nearest).collect()
            }
        }
    }

    /// `cable(router, group, base, pick)`.
    pub(super) fn cable(&self, group: usize, base: u8) -> CablePath {
        let cables = self.cables(group);
        let first = self.random.u(base, cables.len());
        let looked_at = if pick(self.at.routing) == Pick::LeastLoaded { cables.len().min(8) } else { 1 };
        let paths = (first..first + looked_at).map(|i| {
            let cable = cables[i % cables.len()];
            CablePath { cable, port: self.towards(cable, base + 1) }
        });
        // The earliest one in a tie.
        paths.min_by_key(|path| self.at.load(path.port)).expect("a group that a leg leads to has a cable")
    }

    /// A port of `F(router, cable)`.
    pub(super) fn towards(&self, cable: usize, base: u8) -> usize {
        let router = self.at.map.router(cable);
        if router == self.router { cable } else { self.inside(router, base) }
    }

    /// `inside(router, router, base, pick)`.
    pub(super) fn inside(&self, router: usize, base: u8) -> usize {
        let ports = self.paths.ports(self.router, router);
        match pick(self.at.routing) {
            Pick::Random => self.random.any(&ports, base),
            Pick::Adaptive | Pick::LeastLoaded => self.at.least(self.random, &ports, base),
        }
    }
}
