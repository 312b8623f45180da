//! What the ranks of a job send, and when: one file per pattern.
//!
//! A pattern answers one question: to which rank does rank `r` send in interval `k`? It has no state, so traffic does
//! not depend on other events.
//!
//! | pattern | file | messages per interval | source |
//! |---|---|---|---|
//! | `uniform-random` | [`uniform_random`] | 1 | K14 |
//! | `tornado` | [`tornado`] | 1 | K16 |
//! | `stencil-3d` | [`stencil3d`] | 6 | K15 |
//! | `broadcast` | [`broadcast`] | ranks - 1, from the root | K17 |
//! | `group-peers` | [`group_peers`] | groups of the job - 1 | K11 |
//! | `group-shift` | [`group_shift`] | 1 | Kim 2008, section 4.1 |

mod arrival;
mod broadcast;
mod group_peers;
mod group_shift;
mod stencil3d;
mod tornado;
mod uniform_random;

use odonata_topology::Network;

pub use arrival::Clock;

use crate::engine::random::{Source, Stream};
use crate::spec::{JobSpec, Pattern};

/// A traffic pattern: the destinations of a rank in an interval.
pub(crate) trait TrafficPattern: Sized {
    /// The pattern of a checked job, if it is this one. Random numbers of `source` are by node and interval.
    fn of(pattern: &Pattern, job: &JobSpec, network: &Network, source: Source) -> Option<Self>;

    /// Messages that a sending rank issues in each interval.
    fn per_interval(&self, ranks: u32) -> u32 {
        let _ = ranks;
        1
    }

    /// The only rank that sends, if there is only one; it waits until all messages of an interval are delivered.
    fn only_sender(&self) -> Option<u32> {
        None
    }

    /// The destination of `rank`, on `node`, in interval `k`, for a pattern with one message per interval.
    #[inline(always)]
    fn only(&self, node: u32, rank: u32, ranks: u32, k: u32) -> Option<u32> {
        let _ = (node, rank, ranks, k);
        None
    }

    /// Appends the destination ranks of `rank` in interval `k`, in the order in which they are issued.
    fn list(&self, node: u32, rank: u32, ranks: u32, k: u32, to: &mut Vec<u32>) {
        to.extend(self.only(node, rank, ranks, k));
    }
}

/// Lists the patterns: for each its file and its type.
macro_rules! patterns {
    ($($file:ident: $Type:ident),+) => {
        /// The pattern of a job.
        pub enum Destinations {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type($file::$Type),)+
            /// A job with a program has no traffic.
            Nowhere,
        }

        impl Destinations {
            /// Prepares the pattern of a checked job.
            ///
            /// # Panics
            /// If no file implements the pattern.
            #[must_use]
            pub fn new(job: &JobSpec, network: &Network, seed: u64) -> Self {
                let Some(traffic) = &job.traffic else { return Self::Nowhere };
                let source = Source::new(seed, Stream::Destination);
                $(if let Some(pattern) = $file::$Type::of(&traffic.pattern, job, network, source) {
                    return Self::$Type(pattern);
                })+
                unreachable!("no file answers to {:?}", traffic.pattern)
            }

            /// Messages that a sending rank issues in each interval.
            #[must_use]
            pub fn per_interval(&self, ranks: u32) -> u32 {
                match self { $(Self::$Type(pattern) => pattern.per_interval(ranks),)+ Self::Nowhere => 0 }
            }

            /// The only rank that sends, if there is only one.
            #[must_use]
            pub fn only_sender(&self) -> Option<u32> {
                match self { $(Self::$Type(pattern) => pattern.only_sender(),)+ Self::Nowhere => None }
            }

            /// The destination of `rank` in interval `k`, for patterns with one message per interval.
            #[inline]
            #[must_use]
            pub fn only(&self, node: u32, rank: u32, ranks: u32, k: u32) -> Option<u32> {
                match self { $(Self::$Type(pattern) => pattern.only(node, rank, ranks, k),)+ Self::Nowhere => None }
            }

            /// Writes the destination ranks of `rank` in interval `k` into `to`, in the order in which they are issued.
            pub fn list(&self, node: u32, rank: u32, ranks: u32, k: u32, to: &mut Vec<u32>) {
                to.clear();
                match self { $(Self::$Type(pattern) => pattern.list(node, rank, ranks, k, to),)+ Self::Nowhere => {} }
            }
        }
    };
}

patterns! {
    uniform_random: UniformRandom,
    tornado: Tornado,
    stencil3d: Stencil3d,
    broadcast: Broadcast,
    group_peers: GroupPeers,
    group_shift: GroupShift
}
