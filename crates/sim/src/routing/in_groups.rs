//! Addresses of dragonflies, cascades and Dragonfly+: a group, and a router in it.

use odonata_topology::Address;

/// The halves of an address on a machine of groups.
pub trait InGroups {
    /// The group.
    fn group(self) -> u16;

    /// The router, numbered in its group (in a Dragonfly+ group the leaves come before the spines).
    fn local(self) -> u16;
}

impl InGroups for Address {
    #[inline(always)]
    fn group(self) -> u16 {
        self.high
    }

    #[inline(always)]
    fn local(self) -> u16 {
        self.low
    }
}
