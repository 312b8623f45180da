//! Routers: what happens to a packet between its arrival at a router and its commitment to a link (docs/model.md,
//! section 4).
//!
//! | switch | packets wait |
//! |---|---|
//! | [`Ideal`] | in their input buffer, until the next buffer has room |
//! | [`Classed`] | in their input buffer, in queues of traffic classes that their link serves one packet at a time |
//! | [`Crossbar`] | in queues at the inputs for the crossbar, then in output buffers for room in the next buffer |
//!
//! A switch asks the routing for an output and hands the packet on to [`Fabric::commit`]. As [`Waiting`] says, it also
//! tells what room the packet leaves. It may mark packets. It knows no jobs and no kinds of NICs.

mod classed;
mod crossbar;
mod ideal;

pub use classed::Classed;
pub use crossbar::Crossbar;
pub use ideal::Ideal;

use crate::commit::{Fabric, Nics, Waiting};
use crate::engine::Queue;
use crate::fabric::packet::{Event, RouteDecision};
use crate::fabric::{Chain, Levels, Links, RouterPlace};
use crate::routing::{Backlog, InLevels, Loads, RoutingAlgorithm};

/// The time of an arbitration that is not scheduled.
pub const NEVER: u64 = u64::MAX;

/// The routers of a run.
pub trait Switch: Waiting + Send {
    /// Whether routers arbitrate after the other events of an instant.
    const ARBITRATES: bool = Self::BUFFERS_OUTPUT;

    /// A packet arrives at a router, or an arbitration is due there.
    fn arrive<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        event: &Event,
    );

    /// A credit has arrived for an output with packets that wait for room.
    #[inline(always)]
    fn credit<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        credit: &Event,
    ) {
        fabric.wake((self, nics), router, credit);
    }

    /// A window opens: no other router can affect one of these before `closed_until`, so that arbitrations before then take
    /// place between the events of their router.
    fn open(&mut self, closed_until: u64) {
        let _ = closed_until;
    }

    /// Whether the router being visited has no other event at the present instant.
    fn see_last_of_instant(&mut self, last: bool) {
        let _ = last;
    }

    /// When a router arbitrates next, or [`NEVER`].
    fn next_arbitration(&self, router: u32) -> u64 {
        let _ = router;
        NEVER
    }

    /// The arbitration of a router at `at` does not take place.
    fn drop_arbitration(&mut self, router: u32, at: u64) {
        let _ = (router, at);
    }

    /// Wire bytes in the output buffer of an output VC that are not committed to its link, if it has one; for audits.
    fn waiting(&self, vc: usize) -> Option<u64>;

    /// The packets that wait for a crossbar, with the slots of the inputs whose buffers they occupy; for audits.
    fn queues(&self) -> impl Iterator<Item = (Chain, u32)>;
}

/// The decision of a routing, by the congestion metric of the run.
#[inline(always)]
fn route<R: RoutingAlgorithm>(links: &Links<'_>, routing: &R, place: RouterPlace, packet: &Event) -> RouteDecision {
    let (first, ports, now) = (place.first, place.ports, packet.time);
    if let Some(levels) = &links.levels {
        return route_by_levels(links, levels, routing, place, packet);
    }
    // SAFETY: the place belongs to the wiring for which the ports were made.
    unsafe {
        match &links.metric {
            None => routing.route(place, packet, &Loads::new_unchecked(&links.outs, Backlog, first, ports, now)),
            Some(metric) => routing.route(place, packet, &Loads::new_unchecked(&links.outs, metric, first, ports, now)),
        }
    }
}

/// The same if loads are known in levels. (Not inlined, so that other runs do not pay for it.)
#[cold]
#[inline(never)]
fn route_by_levels<R: RoutingAlgorithm>(
    links: &Links<'_>,
    levels: &Levels,
    routing: &R,
    place: RouterPlace,
    packet: &Event,
) -> RouteDecision {
    let metric = InLevels { metric: links.metric.as_ref(), levels, wiring: &links.wiring };
    routing.route(place, packet, &Loads::new(&links.outs, metric, place.first, place.ports, packet.time))
}
