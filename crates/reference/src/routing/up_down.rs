//! The next link of a packet on a fat tree (model, section 6, "up-down").

use odonata_sim::spec::{RoutingSpec, Spread};

use super::DecisionContext;
use crate::choice::PacketRandom;
use crate::map::Tree;
use crate::packet::Packet;

/// Base of random numbers.
const BASE: u8 = 0;

/// Virtual channels that a routing needs; none if it is not for this machine.
pub(super) fn channels(routing: &RoutingSpec) -> Option<usize> {
    matches!(routing, RoutingSpec::UpDown { .. }).then_some(1)
}

/// The output port and channel of a packet.
pub(super) fn route(at: &DecisionContext<'_>, tree: &Tree, packet: &Packet) -> (usize, usize) {
    let (router, leaf) = (at.router(), at.map.router_of(packet.destination));
    if router == leaf {
        return at.ejection(packet.destination);
    }
    let RoutingSpec::UpDown { spread } = at.routing else { unreachable!("`check` refuses all others on a fat tree") };
    let good = tree.good(router, leaf);
    let random = PacketRandom { key: packet.key, hop: packet.hop };
    let port = match spread {
        Spread::Packet | Spread::Hash => random.any(&good, BASE),
        Spread::LeastLoaded => at.least(random, &good, BASE),
        Spread::DModK => {
            let d = tree.destination(at.map.network.node_slot[packet.destination.index()].index());
            let up = tree.is_spine(router) && tree.goes_up(router, good[0]);
            good[d / if up { tree.up_of_leaf } else { 1 } % good.len()]
        }
    };
    (port, 0)
}
