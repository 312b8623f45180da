//! What the ranks of a job send, and when: one file a pattern.
//!
//! A pattern answers one question: to whom does rank `r` send in interval `k`? It has no state, so traffic does not
//! depend on what else happens.
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

/// The pattern of a job, ready to be asked.
pub enum Destinations {
    /// See [`uniform_random`].
    UniformRandom(Source),
    /// See [`tornado`].
    Tornado(u64),
    /// See [`stencil3d`].
    Stencil3d(stencil3d::Grid),
    /// See [`broadcast`].
    Broadcast(u32),
    /// See [`group_peers`].
    GroupPeers(group_peers::Peers),
    /// See [`group_shift`].
    GroupShift(group_shift::Shift, Source),
    /// A job with a program sends nothing by itself.
    Nowhere,
}

impl Destinations {
    /// Prepares the pattern of a checked job.
    #[must_use]
    pub fn new(job: &JobSpec, network: &Network, seed: u64) -> Self {
        let draws = Source::new(seed, Stream::Destination);
        let Some(traffic) = &job.traffic else { return Self::Nowhere };
        match traffic.pattern {
            Pattern::UniformRandom {} => Self::UniformRandom(draws),
            Pattern::Tornado { offset } => Self::Tornado(offset),
            Pattern::Stencil3d { grid } => Self::Stencil3d(stencil3d::Grid::new(grid)),
            Pattern::Broadcast { root } => Self::Broadcast(root),
            Pattern::GroupPeers {} => Self::GroupPeers(group_peers::Peers::new(&job.nodes, network)),
            Pattern::GroupShift { shift } => {
                Self::GroupShift(group_shift::Shift::new(&job.nodes, network, shift), draws)
            }
        }
    }

    /// Messages that a sending rank issues in each interval.
    #[must_use]
    pub fn per_interval(&self, ranks: u32) -> u32 {
        match self {
            Self::UniformRandom(_) | Self::Tornado(_) | Self::GroupShift(..) => 1,
            Self::Stencil3d(grid) => grid.neighbours(),
            Self::Broadcast(_) => ranks - 1,
            Self::GroupPeers(peers) => peers.groups() - 1,
            Self::Nowhere => 0,
        }
    }

    /// The only rank that sends, if there is only one.
    #[must_use]
    pub fn only_sender(&self) -> Option<u32> {
        if let Self::Broadcast(root) = self { Some(*root) } else { None }
    }

    /// The destination of `rank` in interval `k`, for patterns with one message per interval.
    #[inline]
    #[must_use]
    pub fn only(&self, node: u32, rank: u32, ranks: u32, k: u32) -> Option<u32> {
        match self {
            Self::UniformRandom(draws) => Some(uniform_random::destination(*draws, node, rank, ranks, k)),
            Self::Tornado(offset) => Some(tornado::destination(*offset, rank, ranks)),
            Self::GroupShift(shift, draws) => Some(shift.destination(*draws, node, rank, k)),
            Self::Stencil3d(_) | Self::Broadcast(_) | Self::GroupPeers(_) | Self::Nowhere => None,
        }
    }

    /// Writes the destination ranks of `rank` in interval `k` into `to`, in the order in which they are issued.
    pub fn list(&self, node: u32, rank: u32, ranks: u32, k: u32, to: &mut Vec<u32>) {
        to.clear();
        match self {
            Self::UniformRandom(_) | Self::Tornado(_) | Self::GroupShift(..) => {
                to.extend(self.only(node, rank, ranks, k))
            }
            Self::Stencil3d(grid) => grid.list(rank, to),
            Self::Broadcast(root) => broadcast::list(*root, ranks, to),
            Self::GroupPeers(peers) => peers.list(rank, to),
            Self::Nowhere => {}
        }
    }
}
