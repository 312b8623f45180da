//! What applications do beside collectives: one file a motif, listed in [`What`](crate::What).

mod compute;

pub use compute::Compute;

use crate::{Halo, Part, PingPong, ProgramError, Sweep, Training};

type Made = Result<Box<dyn Part + Send + Sync>, ProgramError>;

/// An exchange with neighbours in a grid.
pub fn halo(_: &Halo, _: u32) -> Made {
    unimplemented!()
}

/// Wavefronts through a grid.
pub fn sweep(_: &Sweep, _: u32) -> Made {
    unimplemented!()
}

/// Messages to and fro.
pub fn ping_pong(_: &PingPong, _: u32) -> Made {
    unimplemented!()
}

/// A step of training.
pub fn training(_: &Training, _: u32) -> Made {
    unimplemented!()
}
