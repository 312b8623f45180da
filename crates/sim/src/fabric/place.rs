//! The position of a router in its machine.

use odonata_topology::{Network, Peer, RouterId};

use super::packet::Event;

/// The router of a decision.
#[derive(Clone, Copy, Debug)]
pub struct RouterPlace {
    /// Its group.
    pub group: u16,
    /// Its number in the group (in a Dragonfly+ group the leaves come before the spines).
    pub local: u16,
    /// Number of ports.
    pub ports: u16,
    /// Ports to nodes; of a spine, the ports to leaves. They come first.
    pub down: u16,
    /// Slot of its first port.
    pub first: u32,
    /// Whether it has nodes.
    pub leaf: bool,
}

impl RouterPlace {
    /// Whether it is the last router of a packet.
    #[inline(always)]
    #[must_use]
    pub fn is_last(&self, packet: &Event) -> bool {
        // Compares both halves at once: no branch predictor could foresee which of them differs.
        let both = |group: u16, local: u16| u32::from(group) | u32::from(local) << 16;
        both(self.group, self.local) == both(packet.to_group, packet.to_local)
    }

    /// The position of a router.
    #[must_use]
    pub fn of(network: &Network, router: RouterId) -> Self {
        let first = network.first_slot[router.index()];
        let own = &network.peer[first as usize..network.first_slot[router.index() + 1] as usize];
        let nodes = own.iter().take_while(|peer| matches!(peer, Peer::Node(_))).count();
        let group = network.group_of_router[router.index()];
        let same_group = |peer: &&Peer| matches!(peer, Peer::Router(far) if network.group_of_router[network.router_of_slot[far.index()].index()] == group);
        let down = if nodes > 0 { nodes } else { own.iter().take_while(same_group).count() };
        Self {
            group: group as u16,
            local: network.local(router) as u16,
            ports: network.ports(router),
            down: down as u16,
            first,
            leaf: nodes > 0,
        }
    }
}
