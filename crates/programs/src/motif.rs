//! What applications do in addition to collectives: one file per motif, listed in [`PhaseAction`](crate::PhaseAction).

mod check;
mod compute;
mod halo;
mod incast;
mod matrix;
mod ping_pong;
mod ring;
mod sweep;
mod training;

pub use compute::Compute;

use odonata_error::Error;

use crate::{Halo, Incast, Matrix, Part, PingPong, Sweep, Training};

type Made = Result<Box<dyn Part + Send + Sync>, Error>;

/// An exchange with neighbours in a grid.
///
/// # Errors
/// [`Error`]: a grid whose number of points is not the number of ranks, a size above 2^40 bytes, no message at
/// all, or edges and corners in an order that has none.
pub fn halo(halo: &Halo, ranks: u32) -> Made {
    Ok(Box::new(halo::Neighbours::new(halo, ranks)?))
}

/// Wavefronts through a grid.
///
/// # Errors
/// [`Error`]: a grid whose number of points is not the number of ranks, a size above 2^40 bytes, no block, no
/// sweep, or more than 2^40 blocks in all sweeps.
pub fn sweep(sweep: &Sweep, ranks: u32) -> Made {
    Ok(Box::new(sweep::Wavefronts::new(sweep, ranks)?))
}

/// Messages back and forth between pairs.
///
/// # Errors
/// [`Error`]: ranks without a partner, no round, or a size above 2^40 bytes.
pub fn ping_pong(ping_pong: &PingPong, ranks: u32) -> Made {
    Ok(Box::new(ping_pong::PingPongPairs::new(ping_pong, ranks)?))
}

/// Messages from all ranks to one.
///
/// # Errors
/// [`Error`]: a root that is not a rank, or a size above 2^40 bytes.
pub fn incast(incast: &Incast, ranks: u32) -> Made {
    Ok(Box::new(incast::ToOne::new(incast, ranks)?))
}

/// Messages between given pairs.
///
/// # Errors
/// [`Error`]: a rank that there is not, pairs out of order, a rank with itself, a pair without a message, a size above
/// 2^40 bytes, no message at all, or more than 2^26.
pub fn matrix(matrix: &Matrix, ranks: u32) -> Made {
    Ok(Box::new(matrix::Exchanges::new(matrix, ranks)?))
}

/// A step of training.
///
/// # Errors
/// [`Error`]: groups whose product is not the number of ranks, no microbatch, a size above 2^40 bytes, or more than
/// 2^40 messages from one rank to another.
pub fn training(training: &Training, ranks: u32) -> Made {
    Ok(Box::new(training::TrainingStep::new(training, ranks)?))
}
