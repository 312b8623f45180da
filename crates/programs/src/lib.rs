//! What the ranks of a job do in a program, in which they wait for each other: operations, as pure data.
//!
//! A [`Body`] describes one iteration of a job; [`Program::new`] checks it for a number of ranks. A body is either a
//! list of *phases* that every rank runs one after the other (collectives, exchanges with neighbours, ...), or a
//! *trace*, in which each rank has a graph of operations; or *stages*, each with a graph of nodes that its ranks share.
//!
//! Nothing is stored for phases, and for stages only the nodes ([`Staged`]): the operations of a rank come in *chunks* of a few operations, and any chunk can be
//! requested at any time ([`Part`]). So a collective of a million messages takes no memory, and the position of a rank
//! is a number.
//!
//! This crate contains neither time nor networks. `docs/model.md`, section 10, says what operations cost.

mod choices;
pub mod collective;
mod communicators;
pub mod motif;
mod op;
mod part;
mod program;
mod spec;
mod staged;
pub mod stages;
pub mod trace;
mod traffic;

pub use op::Op;
pub use part::{LABEL_BITS, Part};
pub use program::{Phases, Program};
pub use spec::{
    Allgather, Allreduce, Alltoall, Barrier, Body, Broadcast, COLLECTIVES, Exchange, GridAxis, Halo, Incast, Matrix,
    Pair, Phase, PhaseAction, PingPong, Reduce, ReduceScatter, RingWork, Sweep, Training, Tree, Way,
};
pub use staged::{Awaits, NodeOperations, Staged};
