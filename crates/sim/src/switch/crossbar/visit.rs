//! The order in which the events and the arbitrations of routers with crossbars are handled.

use odonata_error::Error;

use super::Crossbar;
use crate::Monitor;
use crate::endpoint::Endpoint;
use crate::engine::{Queue, Window};
use crate::fabric::packet::Event;
use crate::routing::RoutingAlgorithm;
use crate::simulation::Simulation;

/// Handles the events of a window, those that are added to it meanwhile, and the arbitrations between them.
#[inline(always)]
pub(super) fn visit<Q: Queue<Event>, R: RoutingAlgorithm, E: Endpoint>(
    of: &mut Simulation<'_, Q, R, Crossbar, E>,
    window: &Window<Event>,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    of.switch.foreseen_until = of.fabric.queue.closed_until();
    let foreseen_until = of.switch.foreseen_until;
    // SAFETY: the position is below the number of events.
    let event_at = |position| (position < window.len()).then(|| unsafe { window.get_unchecked(position) });
    let mut next = event_at(0);
    for position in 1..=window.len() {
        let Some((router, event)) = next else { break };
        next = event_at(position);
        let goes_on = next.filter(|&(following, _)| following == router);
        of.switch.last_of_instant = foreseen_until > 0 && goes_on.is_none_or(|(_, next)| next.time > event.time);
        of.handle(router, event);
        let until = goes_on.map_or(foreseen_until, |(_, next)| next.time.min(foreseen_until));
        if of.switch.tables.next(router) < until || of.fabric.queue.has_late() {
            catch_up(of, router, next, monitor)?;
        }
    }
    Ok(())
}

/// Handles what precedes the next event of the window: late events, and arbitrations of the router being visited.
#[inline(never)]
fn catch_up<Q: Queue<Event>, R: RoutingAlgorithm, E: Endpoint>(
    of: &mut Simulation<'_, Q, R, Crossbar, E>,
    visited: u32,
    next: Option<(u32, &Event)>,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    of.switch.last_of_instant = false;
    let foreseen_until = of.switch.foreseen_until;
    loop {
        let at = of.switch.tables.next(visited);
        let until = match next {
            Some((router, event)) if router == visited => event.time.min(foreseen_until),
            _ => foreseen_until,
        };
        let arbitrates = at < until;
        if of.fabric.queue.has_late() {
            let arbitration = Event::arbitration(at);
            let before = if arbitrates { Some((visited, &arbitration)) } else { next };
            if let Some((router, event)) = of.fabric.queue.late(before) {
                of.handle(router, &event);
                of.look(monitor)?; // there may be any number of late events
                continue;
            }
        }
        if !arbitrates {
            return Ok(());
        }
        if at > of.fabric.course.end {
            of.switch.tables.begin(visited, at);
        }
        of.handle(visited, &Event::arbitration(at));
        of.look(monitor)?;
    }
}
