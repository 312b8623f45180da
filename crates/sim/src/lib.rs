//! The packet-level simulator: what the jobs of a machine do to each other on the wire.
//!
//! One [`Spec`] goes in, one [`Output`] comes out; nothing else is read, printed or remembered. What is simulated is
//! written down in `docs/model.md`; how, in `ARCHITECTURE.md`.

use odonata_error::Error;

pub mod counters;
pub mod engine;
pub mod fabric;
pub mod output;
mod program;
pub mod routing;
mod simulation;
pub mod spec;
mod traffic;

pub use output::Output;
pub use simulation::{Audit, QueueChoice, audit};
pub use spec::Spec;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Simulated time, in picoseconds.
    pub now_ps: u64,
    /// Events handled.
    pub events: u64,
    /// Routing decisions made.
    pub packet_hops: u64,
    /// Messages delivered of the jobs that the run waits for; of programs, iterations that ranks have ended.
    pub delivered: u64,
    /// How many there will be in all; 0 if the run ends at a time.
    pub expected: u64,
}

/// Looks on while a run goes on, and may end it.
pub trait Monitor {
    /// Called every few milliseconds of wall time.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] ends the run.
    fn progress(&mut self, progress: &Progress) -> Result<(), Error>;
}

/// A monitor that does nothing.
impl Monitor for () {
    fn progress(&mut self, _: &Progress) -> Result<(), Error> {
        Ok(())
    }
}

/// What a run cost; not part of its result, since it differs from machine to machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Events handled.
    pub events: u64,
}

/// Refuses what [`run`] would refuse, without simulating: values, jobs, and routings that could deadlock.
///
/// # Errors
/// [`Error`].
pub fn check(spec: &Spec) -> Result<(), Error> {
    simulation::prepare(spec).map(|_| ())
}

/// Simulates one specification.
///
/// # Errors
/// [`Error`]: an invalid specification, an interruption, a deadlock.
pub fn run(spec: &Spec, monitor: &mut dyn Monitor) -> Result<(Output, Cost), Error> {
    simulation::run(spec, monitor, QueueChoice::Estimate)
}

/// As [`run`], with the queue of choice; for tests and measurements.
///
/// # Errors
/// As [`run`].
pub fn run_with(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    simulation::run(spec, monitor, choice)
}
