//! Collectives: one file per algorithm, or per family of algorithms that share their steps.
//!
//! An [`Algorithm`] says step by step which [`Piece`] of the data a rank exchanges with which rank. Operations and
//! their bytes are made from the steps ([`Collective`]), and tests move data along the same steps, so they test what
//! runs. The vector of a collective is divided into blocks by one rule ([`Division`]); blocks of 0 bytes are sent like
//! others.
//!
//! **Times.** Each file gives the time from the common start of all ranks to the end of the last one, in LogGP terms,
//! on a network in which messages do not delay each other. A rank works `o_s` on a message that it sends and `o_r` on
//! one that it receives (`docs/model.md`, section 10: `send_ps` and `receive_ps`, plus `copy(B)` if eager, so they may
//! depend on B). `M(B)` is the time in between; with rendezvous it includes RTS and CTS. (If the injection of a message
//! takes longer than o_s, the next message of the rank leaves only after it. This matters where a rank sends several
//! messages in a row: `flat`, and `binary` downwards. The same holds for ejection where several messages arrive at
//! once: `binary` upwards.)
//!
//! n is the number of ranks, B are the bytes in the specification.

mod binary;
mod binomial;
mod bruck;
mod chain;
mod channel;
mod cycle;
mod dissemination;
mod flat;
mod fold;
mod grouped;
mod knomial;
mod linear;
mod neighbor_exchange;
mod order;
mod pairwise;
mod piece;
mod pxn;
mod recursive_doubling;
mod recursive_halving;
mod ring;
mod ring_steps;
mod run;
mod scatter_allgather;
mod scatter_doubling;
mod scattered;
mod step;
mod tree_channel;

pub use piece::{Division, Piece};
pub use run::Collective;
pub use step::{Act, Algorithm, CollectiveStep, Move};

use odonata_error::{Error, ErrorKind, path};

use crate::part::LABEL_BITS;
use crate::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Reduce, ReduceScatter, RingWork, Tree, Way};
use binary::Binary;
use binomial::Binomial;
use bruck::{BruckAllgather, BruckAlltoall};
use chain::Chain;
use channel::Channel;
use dissemination::Dissemination;
use flat::Flat;
use grouped::Grouped;
use knomial::Knomial;
use linear::Linear;
use neighbor_exchange::NeighborExchange;
use order::NodeOrder;
use pairwise::{PairwiseAlltoall, PairwiseReduceScatter};
use pxn::Pxn;
use recursive_doubling::{DoublingAllgather, DoublingAllreduce};
use recursive_halving::{Halving, Rabenseifner};
use ring::Ring;
use ring_steps::RingSteps;
use scatter_allgather::ScatterAllgather;
use scatter_doubling::ScatterDoubling;
use scattered::Scattered;
use tree_channel::TreeChannel;

/// The algorithms. All constructors fail if there are no ranks, if the root is not a rank, or if a message would be
/// larger than 2^40 bytes.
impl Collective {
    /// See [`crate::PhaseAction::Broadcast`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn broadcast(how: Broadcast, n: u32, root: u32, bytes: u64) -> Result<Self, Error> {
        check(n, root)?;
        let whole = Division::split(bytes, 1);
        match how {
            Broadcast::Flat => Self::new(Flat::new(n, root), n, whole),
            Broadcast::Binary => Self::new(Binary::down(n, root), n, whole),
            Broadcast::Binomial => Self::new(Binomial::down(n, root), n, whole),
            Broadcast::Knomial => Self::new(Knomial::new(n, root), n, whole),
            Broadcast::Chain => Self::new(Chain::new(n, root), n, whole),
            Broadcast::ScatterDoubling if n.is_power_of_two() => {
                Self::new(ScatterDoubling::new(n, root), n, Division::split(bytes, n))
            }
            Broadcast::ScatterAllgather | Broadcast::ScatterDoubling => {
                Self::new(ScatterAllgather::new(n, root), n, Division::split(bytes, n))
            }
        }
    }

    /// See [`crate::PhaseAction::Reduce`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn reduce(how: Reduce, n: u32, root: u32, bytes: u64) -> Result<Self, Error> {
        check(n, root)?;
        let whole = Division::split(bytes, 1);
        match how {
            Reduce::Binary => Self::new(Binary::up(n, root), n, whole),
            Reduce::Binomial => Self::new(Binomial::up(n, root), n, whole),
        }
    }

    /// See [`crate::PhaseAction::Allreduce`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn allreduce(how: Allreduce, n: u32, bytes: u64) -> Result<Self, Error> {
        check(n, 0)?;
        let whole = Division::split(bytes, 1);
        match how {
            Allreduce::Binary => Self::new(Binary::both(n), n, whole),
            Allreduce::RecursiveDoubling => Self::new(DoublingAllreduce::new(n), n, whole),
            Allreduce::Ring => Self::new(Ring::allreduce(n), n, Division::split(bytes, n)),
            Allreduce::Rabenseifner => {
                let algorithm = Rabenseifner::new(n);
                Self::new(algorithm, n, Division::split(bytes, algorithm.parts()))
            }
        }
    }

    /// See [`crate::PhaseAction::RingChannel`].
    ///
    /// # Errors
    /// [`Error`]: also for ranks that are not whole nodes, and for an order that has not each rank of a node once.
    pub fn ring_channel(n: u32, work: RingWork, order: &[u32], bytes: u64) -> Result<Self, Error> {
        Self::new(Channel::new(n, work, NodeOrder::new(n, order)?), n, blocks_of_ring(work, bytes, n))
    }

    /// See [`crate::PhaseAction::RingSteps`].
    ///
    /// # Errors
    /// [`Error`]: as for [`Collective::ring_channel`], and for more steps than messages have labels.
    pub fn ring_steps(n: u32, work: RingWork, order: &[u32], bytes: u64, steps: u64) -> Result<Self, Error> {
        let most = 1 << LABEL_BITS;
        if steps > most {
            return Err(ErrorKind::OutOfRange { found: steps, least: 0, most }.at(path!["steps"]));
        }
        let algorithm = RingSteps::new(n, work, &NodeOrder::new(n, order)?, steps);
        Self::new(algorithm, n, blocks_of_ring(work, bytes, n))
    }

    /// See [`crate::PhaseAction::TreeChannel`].
    ///
    /// # Errors
    /// [`Error`]: as for [`Collective::ring_channel`].
    pub fn tree_channel(n: u32, tree: Tree, way: Way, order: &[u32], bytes: u64) -> Result<Self, Error> {
        Self::new(TreeChannel::new(n, NodeOrder::new(n, order)?, tree, way), n, Division::split(bytes, 1))
    }

    /// See [`crate::PhaseAction::Allgather`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn allgather(how: Allgather, n: u32, bytes: u64) -> Result<Self, Error> {
        check(n, 0)?;
        let blocks = Division::equal(bytes, n);
        match how {
            Allgather::Ring => Self::new(Ring::allgather(n), n, blocks),
            Allgather::RecursiveDoubling => Self::new(DoublingAllgather::new(n), n, blocks),
            Allgather::NeighborExchange if n.is_multiple_of(2) => Self::new(NeighborExchange::new(n), n, blocks),
            Allgather::NeighborExchange => Self::new(Ring::allgather(n), n, blocks),
            Allgather::Bruck => Self::new(BruckAllgather::new(n), n, blocks),
        }
    }

    /// See [`crate::PhaseAction::ReduceScatter`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn reduce_scatter(how: ReduceScatter, n: u32, bytes: u64) -> Result<Self, Error> {
        check(n, 0)?;
        let blocks = Division::split(bytes, n);
        match how {
            ReduceScatter::Ring => Self::new(Ring::reduce_scatter(n), n, blocks),
            ReduceScatter::Pairwise => Self::new(PairwiseReduceScatter::new(n), n, blocks),
            ReduceScatter::RecursiveHalving => Self::new(Halving::new(n), n, blocks),
        }
    }

    /// See [`crate::PhaseAction::Alltoall`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn alltoall(how: Alltoall, n: u32, bytes: u64) -> Result<Self, Error> {
        check(n, 0)?;
        let pairs = Division::equal(bytes, n);
        match how {
            Alltoall::Pairwise => Self::new(PairwiseAlltoall::pairs(n), n, pairs),
            Alltoall::LinearShift => Self::new(PairwiseAlltoall::shifts(n), n, pairs),
            Alltoall::Linear => Self::new(Linear::new(n), n, pairs),
            Alltoall::Scattered => Self::new(Scattered::new(n), n, pairs),
            Alltoall::Bruck => Self::new(BruckAlltoall::new(n), n, pairs),
        }
    }

    /// See [`crate::PhaseAction::PxnAlltoall`].
    ///
    /// # Errors
    /// [`Error`]: also for ranks that are not whole nodes.
    pub fn pxn_alltoall(n: u32, per_node: u32, bytes: u64) -> Result<Self, Error> {
        check_nodes(n, per_node).map_err(|e| e.under(path!["per_node"]))?;
        Self::new(Pxn::new(n / per_node, per_node), n, Division::equal(bytes, n))
    }

    /// See [`crate::PhaseAction::GroupedAlltoall`].
    ///
    /// # Errors
    /// [`Error`]: also for ranks that are not whole nodes.
    pub fn grouped_alltoall(n: u32, per_node: u32, bytes: u64) -> Result<Self, Error> {
        check_nodes(n, per_node).map_err(|e| e.under(path!["per_node"]))?;
        Self::new(Grouped::new(n / per_node, per_node), n, Division::equal(bytes, n))
    }

    /// See [`crate::PhaseAction::Barrier`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn barrier(how: Barrier, n: u32) -> Result<Self, Error> {
        check(n, 0)?;
        let nothing = Division::split(0, 1);
        match how {
            Barrier::Dissemination => Self::new(Dissemination::new(n), n, nothing),
            Barrier::Binary => Self::new(Binary::both(n), n, nothing),
        }
    }
}

/// The division of the vector of a collective around a ring.
fn blocks_of_ring(work: RingWork, bytes: u64, n: u32) -> Division {
    match work {
        RingWork::Allgather => Division::equal(bytes, n.max(1)),
        RingWork::Allreduce | RingWork::ReduceScatter => Division::split(bytes, n.max(1)),
    }
}

fn check(ranks: u32, root: u32) -> Result<(), Error> {
    match ranks {
        0 => Err(ErrorKind::NoRanks {}.into()),
        _ if root < ranks => Ok(()),
        _ => Err(ErrorKind::RootNotARank { root, ranks: ranks.into() }.at(path!["root"])),
    }
}

/// Refuses ranks that are not whole nodes.
fn check_nodes(ranks: u32, per_node: u32) -> Result<(), Error> {
    check(ranks, 0)?;
    if per_node == 0 || !ranks.is_multiple_of(per_node) {
        let nodes = ranks.checked_div(per_node).unwrap_or(0);
        let points = u128::from(per_node) * u128::from(nodes);
        let kind = ErrorKind::GridOfOtherSize { grid: vec![per_node, nodes], points, ranks: ranks.into() };
        return Err(kind.into());
    }
    Ok(())
}
