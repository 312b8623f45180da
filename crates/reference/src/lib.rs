//! A slow, short, obviously correct simulator: the oracle that `odonata-sim` must equal.
//!
//! It is written from `docs/model.md` alone, in the most direct way: one global event queue, explicit queues of
//! packets, an event whenever a packet has left a link, a credit has returned or a packet has reached a router. It
//! shares with the fast simulator only the topology tables, the specification, the random streams and the form of the
//! output, so a difference between the two is a defect of one of them (or a gap in the model).
//!
//! | file | section of the model |
//! |---|---|
//! | `calendar` | 5, order of the events of one instant |
//! | `link` | 1, 4 and 9: a directed link, its queues, its backlog, its stalled time |
//! | `nic` | 2 and 3 |
//! | `aries` | 3: NICs whose packets are answered |
//! | `credits` | 3: receivers that give credits |
//! | `crossbar` | 4: routers with a crossbar |
//! | `classes` | 4: traffic classes |
//! | `world`, `moves` | 4 and 8: the effect of each event, and the end of the run |
//! | `map` | 6: the sets of ports, cables and routers that the model names |
//! | `choice`, `routing` | 6: the routing algorithms |
//! | `traffic` | 7 |
//! | `program` | 10 |
//! | `tally` | 9 |
//! | `blame` | 9, "Blame" |
//! | `streams` | 9, "Reordering" |
//! | `audit` | nothing is lost: packets, bytes, credits |

mod aries;
mod audit;
mod blame;
mod calendar;
mod choice;
mod classes;
mod congestion;
mod credits;
mod crossbar;
mod link;
mod map;
mod moves;
mod nic;
mod packet;
mod program;
mod routing;
mod streams;
mod tally;
mod traffic;
mod world;
mod zero_load;

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::{Monitor, Output, Spec};

pub use audit::{Audit, BufferAudit, WindowAudit};

use map::Map;
use world::World;

/// Refuses what [`run`] would refuse, without simulating.
///
/// # Errors
/// [`Error`]: an invalid specification, or a `compat` model.
pub fn check(spec: &Spec) -> Result<(), Error> {
    spec.check()?;
    if spec.compat.is_some() {
        return Err(ErrorKind::NoSuchModel {}.at(path!["compat"]));
    }
    routing::check(spec, &Map::new(&spec.machine()?, routing::has_own(spec))?)
}

/// Simulates one specification.
///
/// # Errors
/// [`Error`]: an invalid specification, an interruption, a deadlock, a deadlocked program, time out of range, or a
/// `compat` model.
pub fn run(spec: &Spec, monitor: &mut dyn Monitor) -> Result<Output, Error> {
    Ok(run_audited(spec, monitor)?.0)
}

/// Simulates one specification and audits every packet, byte and credit at the end of the run.
///
/// # Errors
/// As [`run`].
pub fn run_audited(spec: &Spec, monitor: &mut dyn Monitor) -> Result<(Output, Audit), Error> {
    check(spec)?;
    let mut world = World::new(spec)?;
    world.run(monitor)?;
    let audit = Audit::take(&world);
    Ok((world.into_output(), audit))
}
