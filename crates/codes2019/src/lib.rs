//! CODES as Kang 2019 ran it, defects included (`compat = "codes-2019"`).
//!
//! The published latencies of uniform random and tornado traffic near saturation (K30, K36, K42) depend on how that
//! simulator worked, not on the network that it describes. This model imitates it so that the difference can be shown.
//! The facts come from the public code of July 2019 (`dragonfly-plus.C`, `model-net-lp.c`) and the paper; no code was
//! copied.
//!
//! Differences from `docs/model.md`:
//!
//! | matter | here | file |
//! |---|---|---|
//! | buffer | one *joint* buffer for each output and channel: the sender's output queue, the wire and the wait at the next router until that router admits the packet to its own output. Room is counted in full packets, time in true bytes | `port` |
//! | no room | the packet waits at the router in order of arrival, holds its room upstream, and counts in the port's score | `switch` |
//! | credit | returned at admission, after the time of 8 B on a local link | `switch` |
//! | router delay | after the wire, also towards a node; the decision is made on arrival | `switch` |
//! | channels | channel 0 goes before channel 1, always; the last hop keeps the packet's channel | `switch` |
//! | score | whole percent, rounded down, tested with `<=` | `port`, `route` |
//! | least-scored port | drawn among the running minima of a scan, not the true minima | `select` |
//! | NIC | 10 ns for each message (`fabric.nic.overhead_ps`) in its own sequencer, then a list; it ignores credits, so
//! packets pile up at the leaf | `nic`, `hosts` |
//! | ties | every step takes an additional random part of a nanosecond | `noise` |
//!
//! `compat_without` repairs the selection (`running-minima`), the NIC (`nic-without-credits`) and the order of channels
//! (`channel-priority`), so that what depends on each of them can be measured.
//!
//! # What it reproduces
//!
//! On the machine of K1 to K4 with 2,048 B packets, 100 ns per router and 10 ns per message, the model gives the
//! published means of 4 KB messages with 300 messages for each process (a number that the paper leaves out), in
//! microseconds:
//!
//! | interval | UR contiguous | UR random | tornado contiguous | tornado random |
//! |---|---|---|---|---|
//! | 3 us, published | 2.79 | 2.32 | 4.34 | 2.28 |
//! | 3 us, here | 2.79 | 2.32 | 4.35 | 2.28 |
//! | 1 us, published | 16.10 | 2.95 | 53.12 | 3.06 |
//! | 1 us, here | 16.79 | 3.07 | 53.60 | 3.15 |
//! | 0.5 us, published | 51.36 | 26.93 | 125.39 | 29.97 |
//! | 0.5 us, here | 51.28 | 26.92 | 125.71 | 28.57 |
//!
//! With a background of 130 % every 1 us or 10 us, UR random at 1 us becomes 9.7 us (9.33 published, K36). Choosing
//! among true minima gives 6.2 us instead of 16.8, 30 instead of 53.6, and 2.9 instead of 9.7: these numbers depend on
//! the defect. The place where channels switch (`channel_switch`) changes none of them by more than 1 %.
//!
//! With `channel_switch = "intermediate-leaf"` packets can wait for each other in a cycle, as in the original. Such a
//! run ends with an error only if no events are left, not while an endless background continues.
//!
//! Destinations and intervals are those of `odonata-sim`. The end of a run and measurements are those of `docs/model.md`,
//! sections 8 and 9, with these readings: a message is delivered 5 ps and up to 1 ns after its last packet; the stalled time of an injection link is
//! the time during which the NIC has packets in its list and does not send.

mod calendar;
mod check;
mod flow;
mod hosts;
mod list;
mod message;
mod nic;
mod noise;
mod port;
mod route;
mod select;
mod senders;
mod stock;
mod switch;
mod tally;
mod without;
mod world;

use odonata_error::Error;
use odonata_sim::{Monitor, Output, Spec};

pub use stock::Stock;
use world::World;

/// Refuses what [`run`] would refuse, without simulating.
///
/// # Errors
/// An invalid specification, or a value that this model does not support.
pub fn check(spec: &Spec) -> Result<(), Error> {
    spec.check()?;
    check::check(spec)
}

/// Simulates one specification as CODES of 2019 would have.
///
/// # Errors
/// [`Error`]: an invalid specification, a value that this model does not support, an interruption, a deadlock.
pub fn run(spec: &Spec, monitor: &mut dyn Monitor) -> Result<Output, Error> {
    Ok(run_counted(spec, monitor)?.0)
}

/// As [`run`], and counts the positions of all packets and credits at the end.
///
/// # Errors
/// As [`run`].
pub fn run_counted(spec: &Spec, monitor: &mut dyn Monitor) -> Result<(Output, Stock), Error> {
    check(spec)?;
    let mut world = World::new(spec)?;
    world.run(monitor)?;
    let stock = Stock::take(&world);
    Ok((world.into_output(), stock))
}
