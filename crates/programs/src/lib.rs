//! What the ranks of a job do when they wait for each other: operations, as pure data.
//!
//! A [`Body`] describes one iteration of a job; [`Program::new`] checks it for a number of ranks. A body is either a list of
//! *phases* that every rank runs one after the other (collectives, exchanges with neighbours, ...), or a *trace*, in which
//! each rank has a graph of operations.
//!
//! Nothing is stored for phases: the operations of a rank come in *chunks* of a few, and any chunk can be asked for at any time
//! ([`Part`]). So a collective of a million messages takes no memory, and a rank's position is a number.
//!
//! This crate knows neither time nor networks; what an operation costs is written down in `docs/model.md`, section 10.

mod choices;
pub mod collective;
mod communicators;
pub mod motif;
mod op;
mod part;
mod program;
mod spec;
pub mod trace;

pub use op::Op;
pub use part::{LABEL_BITS, Part};
pub use program::{Phases, Program};
pub use spec::{
    Allgather, Allreduce, Alltoall, Barrier, Body, Broadcast, COLLECTIVES, Exchange, GridAxis, Halo, Phase,
    PhaseAction, PingPong, Reduce, ReduceScatter, Sweep, Training,
};
