//! Dense integer ids. Each indexes a vector, so none is ever hashed.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl $name {
            /// The id as an index into a vector.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A compute node, numbered router by router and group by group.
    NodeId(u32)
);
id!(
    /// A router, numbered group by group; routers that belong to no group come last.
    RouterId(u32)
);
id!(
    /// A group of routers: the level of a machine above routers, under the name that its family gives it.
    GroupId(u32)
);
id!(
    /// A port of one router, counted from 0.
    Port(u16)
);
/// The address of a router, as packets carry it. Only the family of the machine knows what the two halves mean (on a
/// dragonfly: the group, and the router in it). No two routers with nodes have the same address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C, align(4))]
pub struct Address {
    /// First half.
    pub high: u16,
    /// Second half.
    pub low: u16,
}

impl Address {
    /// An address.
    #[inline(always)]
    #[must_use]
    pub fn new(high: u32, low: u32) -> Self {
        Self { high: high as u16, low: low as u16 }
    }

    /// Both halves at once: no branch predictor could foresee which of them differs.
    #[inline(always)]
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.high) | u32::from(self.low) << 16
    }
}

id!(
    /// One port of one router of the whole machine: the directed link that leaves through it.
    SlotId(u32)
);
