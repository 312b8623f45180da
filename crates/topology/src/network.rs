//! Routers, ports and their wiring: the form in which the simulator sees every machine.

use crate::ids::{Address, GroupId, NodeId, Port, RouterId, SlotId};

/// Most router ports of a machine: sixteen times those of a machine with a million nodes. The simulator needs about 250
/// B for each.
pub(crate) const MAX_PORTS: u64 = 1 << 26;

/// Most ports of a router: a packet keeps the port of its destination in 15 bits.
pub(crate) const MAX_ROUTER_PORTS: u64 = 1 << 15;

/// Index of a link class in [`Network::classes`]; class 0 is always the link between a node and its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u8);

impl ClassId {
    /// The link between a compute node and its router.
    pub const NODE: ClassId = ClassId(0);

    /// The class as an index.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The group of a router that belongs to none, in [`Network::group_of_router`].
pub const NO_GROUP: u32 = u32::MAX;

/// What a family calls the levels of its machines: node, router, group, machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The kinds of routers, from the nodes upwards; a router sends *down* to a lower kind or to nodes.
    pub routers: &'static [&'static str],
    /// What is above routers.
    pub group: &'static str,
}

/// The far end of a router's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A NIC of a compute node: the id of the *endpoint*, `node * rails + rail` (the node's own if it has one NIC).
    Node(NodeId),
    /// The port of another router.
    Router(SlotId),
    /// Nothing: the port is not used.
    None,
}

/// A machine: every port of every router, and what it is wired to.
///
/// Router `r` owns the slots `first_slot[r] .. first_slot[r + 1]`, one per port. A slot names the directed link
/// that leaves through the port; the link in the other direction is the peer's slot.
#[derive(Clone, Debug)]
pub struct Network {
    /// Names of the link classes, by [`ClassId`]; `classes[0]` is `"node"`.
    pub classes: &'static [&'static str],
    /// Number of groups.
    pub groups: u32,
    /// First slot of each router, and the number of slots as the last entry.
    pub first_slot: Vec<u32>,
    /// Group of each router, or [`NO_GROUP`].
    pub group_of_router: Vec<u32>,
    /// First router of each group, and the end of the last. Routers from there on belong to no group.
    pub first_of_group: Vec<u32>,
    /// The names of its levels.
    pub levels: Levels,
    /// Kind of each router, as an index of [`Levels::routers`].
    pub kind_of_router: Vec<u8>,
    /// Address of each router.
    pub address_of_router: Vec<Address>,
    /// Far end of each slot.
    pub peer: Vec<Peer>,
    /// Link class of each slot.
    pub class: Vec<ClassId>,
    /// Router-side slot of each endpoint (NIC); endpoint `node * rails + rail`.
    pub node_slot: Vec<SlotId>,
    /// Router of each slot.
    pub router_of_slot: Vec<RouterId>,
    /// NICs per node.
    pub rails: u32,
    /// Whether NICs with different numbers cannot reach each other: each rail has a network of its own.
    pub separate_rails: bool,
    /// The first class of links that leave groups.
    pub first_global: ClassId,
    /// Whether the link of each slot has failed; empty if nothing has. A failed cable has failed slots at both ends.
    pub failed: Vec<bool>,
    /// Whether each router has failed; empty if nothing has.
    pub failed_router: Vec<bool>,
}

impl Network {
    /// Number of routers.
    #[must_use]
    pub fn routers(&self) -> usize {
        self.group_of_router.len()
    }

    /// Number of compute nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.node_slot.len() / self.rails as usize
    }

    /// Number of NICs of all nodes.
    #[must_use]
    pub fn endpoints(&self) -> usize {
        self.node_slot.len()
    }

    /// Number of ports of router `r`.
    #[must_use]
    pub fn ports(&self, r: RouterId) -> u16 {
        (self.first_slot[r.index() + 1] - self.first_slot[r.index()]) as u16
    }

    /// The slot of port `p` of router `r`.
    #[inline]
    #[must_use]
    pub fn slot(&self, r: RouterId, p: Port) -> SlotId {
        SlotId(self.first_slot[r.index()] + u32::from(p.0))
    }

    /// The router and port of a slot.
    #[must_use]
    pub fn port_of(&self, s: SlotId) -> (RouterId, Port) {
        let r = self.router_of_slot[s.index()];
        (r, Port((s.0 - self.first_slot[r.index()]) as u16))
    }

    /// The router that node `n` is attached to (by its first NIC, if it has several).
    #[must_use]
    pub fn router_of_node(&self, n: NodeId) -> RouterId {
        self.router_of_slot[self.node_slot[n.index() * self.rails as usize].index()]
    }

    /// Whether the link of a slot has failed.
    #[inline]
    #[must_use]
    pub fn has_failed(&self, s: SlotId) -> bool {
        !self.failed.is_empty() && self.failed[s.index()]
    }

    /// Whether router `r` works.
    #[inline]
    #[must_use]
    pub fn router_works(&self, r: RouterId) -> bool {
        self.failed_router.is_empty() || !self.failed_router[r.index()]
    }

    /// Number of a router inside its group.
    ///
    /// # Panics
    /// If it belongs to none.
    #[inline]
    #[must_use]
    pub fn local(&self, r: RouterId) -> u32 {
        r.0 - self.first_of_group[self.group_of_router[r.index()] as usize]
    }

    /// The group of a router, if it belongs to one.
    #[inline]
    #[must_use]
    pub fn group_of(&self, r: RouterId) -> Option<GroupId> {
        let group = self.group_of_router[r.index()];
        (group != NO_GROUP).then_some(GroupId(group))
    }

    /// Number of ports of a router that lead down: to nodes, or to routers of a lower kind. They come first.
    #[must_use]
    pub fn ports_down(&self, r: RouterId) -> u16 {
        let kind = |r: RouterId| self.kind_of_router[r.index()];
        let leads_down = |slot: &u32| match self.peer[*slot as usize] {
            Peer::Node(_) => true,
            Peer::Router(far) => kind(self.router_of_slot[far.index()]) < kind(r),
            Peer::None => false,
        };
        let slots = self.first_slot[r.index()]..self.first_slot[r.index() + 1];
        slots.take_while(leads_down).count() as u16
    }

    /// The first router of a group.
    #[inline]
    #[must_use]
    pub fn first_router(&self, g: GroupId) -> RouterId {
        RouterId(self.first_of_group[g.index()])
    }

    /// Routers of a group.
    #[inline]
    #[must_use]
    pub fn routers_in(&self, g: GroupId) -> u32 {
        self.first_of_group[g.index() + 1] - self.first_of_group[g.index()]
    }

    /// The group of node `n`.
    #[must_use]
    pub fn group_of_node(&self, n: NodeId) -> GroupId {
        GroupId(self.group_of_router[self.router_of_node(n).index()])
    }

    /// Number of cables (undirected links) of each class, by [`ClassId`].
    #[must_use]
    pub fn cables(&self) -> Vec<u64> {
        let mut count = vec![0_u64; self.classes.len()];
        for (slot, peer) in self.peer.iter().enumerate() {
            match peer {
                Peer::Node(_) => count[self.class[slot].index()] += 1,
                Peer::Router(far) if far.index() > slot => count[self.class[slot].index()] += 1,
                Peer::Router(_) | Peer::None => {}
            }
        }
        count
    }
}
