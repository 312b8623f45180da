//! The order in which the events and the arbitrations of routers with crossbars are handled.

use odonata_error::Error;

use super::Simulation;
use crate::Monitor;
use crate::endpoint::Endpoint;
use crate::engine::{Queue, Window};
use crate::fabric::packet::Event;
use crate::routing::RoutingAlgorithm;
use crate::switch::Switch;

impl<Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'_, Q, R, S, E> {
    /// Handles the events of a window, those that are added to it meanwhile, and the arbitrations between them.
    #[inline(always)]
    pub(super) fn visit_arbitrating(&mut self, window: &Window<Event>, monitor: &mut dyn Monitor) -> Result<(), Error> {
        let foreseen_until = self.fabric.queue.closed_until();
        self.switch.open(foreseen_until);
        // SAFETY: the position is below the number of events.
        let event_at = |position| (position < window.len()).then(|| unsafe { window.get_unchecked(position) });
        let mut next = event_at(0);
        for position in 1..=window.len() {
            let Some((router, event)) = next else { break };
            next = event_at(position);
            let goes_on = next.filter(|&(following, _)| following == router);
            let is_last = foreseen_until > 0 && goes_on.is_none_or(|(_, next)| next.time > event.time);
            self.switch.see_last_of_instant(is_last);
            self.handle(router, event);
            let until = goes_on.map_or(foreseen_until, |(_, next)| next.time.min(foreseen_until));
            if self.switch.next_arbitration(router) < until || self.fabric.queue.has_late() {
                self.catch_up(router, next, foreseen_until, monitor)?;
            }
        }
        Ok(())
    }

    /// Handles what precedes the next event of the window: late events, and arbitrations of the router being visited.
    #[inline(never)]
    fn catch_up(
        &mut self,
        visited: u32,
        next: Option<(u32, &Event)>,
        foreseen_until: u64,
        monitor: &mut dyn Monitor,
    ) -> Result<(), Error> {
        self.switch.see_last_of_instant(false);
        loop {
            let at = self.switch.next_arbitration(visited);
            let until = match next {
                Some((router, event)) if router == visited => event.time.min(foreseen_until),
                _ => foreseen_until,
            };
            let arbitrates = at < until;
            if self.fabric.queue.has_late() {
                let arbitration = Event::arbitration(at);
                let before = if arbitrates { Some((visited, &arbitration)) } else { next };
                if let Some((router, event)) = self.fabric.queue.late(before) {
                    self.handle(router, &event);
                    self.look(monitor)?; // there may be any number of late events
                    continue;
                }
            }
            if !arbitrates {
                return Ok(());
            }
            if at > self.fabric.course.end {
                self.switch.drop_arbitration(visited, at);
            }
            self.handle(visited, &Event::arbitration(at));
            self.look(monitor)?;
        }
    }
}
