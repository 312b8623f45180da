//! The packet-level simulator: how the packets of a machine's jobs share its links.
//!
//! One [`Spec`] goes in, one [`Output`] comes out; nothing else is read, printed or stored. `docs/model.md` says what
//! is simulated; `ARCHITECTURE.md` says how.

use odonata_error::Error;

mod commit;
mod endpoint;
pub mod engine;
pub mod fabric;
mod nodes;
mod observe;
pub mod output;
mod program;
pub mod routing;
mod simulation;
pub mod spec;
mod switch;
pub mod traffic;

pub use output::Output;
pub use simulation::{Audit, Happening, Network, QueueChoice, run_audited};
pub use spec::Spec;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Simulated time, in picoseconds.
    pub now_ps: u64,
    /// Events handled.
    pub events: u64,
    /// Route decisions made.
    pub packet_hops: u64,
    /// Messages delivered of the jobs that the run waits for; for programs, iterations that ranks have ended.
    pub delivered: u64,
    /// The final value of `delivered`; 0 if the run ends at a given time.
    pub expected: u64,
}

/// Observes a run, and may end it.
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

/// The cost of a run. It is not part of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Events handled; the same on any number of threads.
    pub events: u64,
    /// Threads that handled them.
    pub threads: usize,
    /// On several threads, windows: after each of them the threads exchange what they have for each other.
    pub windows: u64,
    /// The most events of one thread in each window, summed: events that no number of processors can handle at once.
    pub longest: u64,
}

/// Refuses what [`run`] would refuse, without simulating: invalid values or jobs, and routings that could deadlock.
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

/// As [`run`], on up to this many threads. The result does not depend on their number.
///
/// A run whose threads would have too little to do between two exchanges gets fewer. One thread simulates runs with
/// routings that read other routers, programs whose receivers fetch data, and answered packets of nodes with
/// NICs at several routers.
///
/// # Errors
/// As [`run`].
pub fn run_on(spec: &Spec, monitor: &mut dyn Monitor, threads: usize) -> Result<(Output, Cost), Error> {
    simulation::run(spec, monitor, QueueChoice::Threads(threads))
}

/// As [`run`], with a given event queue; for tests and measurements.
///
/// # Errors
/// As [`run`].
pub fn run_with(spec: &Spec, monitor: &mut dyn Monitor, choice: QueueChoice) -> Result<(Output, Cost), Error> {
    simulation::run(spec, monitor, choice)
}

/// Simulates while a caller issues the messages of a job, and learns of each delivery before it goes on.
///
/// Of the job, number `job`, only the nodes, the routing and the traffic class count: its ranks send what the caller says.
/// The other jobs do what they do in a run. The run ends when `caller` returns, so `stop` does not count, and nothing is
/// recorded.
///
/// # Errors
/// As [`check`], and a job that does not exist.
#[inline] // Compiled where it is called: a program without it does not wait for the compilation of its simulations.
pub fn drive(spec: &Spec, job: u32, caller: &mut dyn FnMut(&mut dyn Network)) -> Result<(), Error> {
    simulation::drive(spec, job, caller)
}
