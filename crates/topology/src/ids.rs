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
    /// A router, numbered group by group.
    RouterId(u32)
);
id!(
    /// A group of routers.
    GroupId(u32)
);
id!(
    /// A port of one router, counted from 0.
    Port(u16)
);
id!(
    /// One port of one router of the whole machine: the directed link that leaves through it.
    SlotId(u32)
);
