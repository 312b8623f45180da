//! The position of a router in its machine.

use odonata_topology::{Address, Network, RouterId};

use super::packet::Event;

/// The router of a decision.
#[derive(Clone, Copy, Debug)]
pub struct RouterPlace {
    /// Its group; [`NO_GROUP`](Self::NO_GROUP) if it belongs to none.
    pub group: u16,
    /// Number of ports.
    pub ports: u16,
    /// Its address.
    pub address: Address,
    /// Slot of its first port.
    pub first: u32,
    /// Ports that lead down: to nodes, or to routers of a lower kind. They come first.
    pub down: u16,
    /// Its kind, counted from the nodes upwards ([`Levels::routers`](odonata_topology::Levels::routers)).
    pub kind: u8,
}

impl RouterPlace {
    /// The group of a router that belongs to none.
    pub const NO_GROUP: u16 = u16::MAX;

    /// Whether it is the last router of a packet.
    #[inline(always)]
    #[must_use]
    pub fn is_last(&self, packet: &Event) -> bool {
        self.address.bits() == packet.to.bits()
    }

    /// Whether it is of the lowest kind, which has the nodes.
    #[inline(always)]
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.kind == 0
    }

    /// The position of a router.
    #[must_use]
    pub fn of(network: &Network, router: RouterId) -> Self {
        Self {
            group: network.group_of(router).map_or(Self::NO_GROUP, |group| group.0 as u16),
            ports: network.ports(router),
            address: network.address_of_router[router.index()],
            first: network.first_slot[router.index()],
            down: network.ports_down(router),
            kind: network.kind_of_router[router.index()],
        }
    }
}
