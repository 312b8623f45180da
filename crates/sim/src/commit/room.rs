//! Packets that wait for room behind a link, and the credits that wake them (docs/model.md, section 4).

use super::{Fabric, Nics, Target, Waiting};
use crate::engine::Queue;
use crate::fabric::packet::{Event, EventKind, RouteDecision};
use crate::fabric::{OutputVc, PacketInfo};

impl<Q: Queue<Event>> Fabric<'_, Q> {
    /// A packet, which follows its route decision already, waits at `now` until there is room behind its output. (The port
    /// and the channel of the decision come alone: a whole decision would be kept in memory also for packets that need
    /// not wait.)
    #[cold]
    #[inline(never)]
    pub fn block<N: PacketInfo>(
        &mut self,
        nics: &N,
        router: u32,
        output: OutputVc,
        (port, channel): (u16, u8),
        packet: &Event,
        now: u64,
    ) {
        let links = &mut self.links;
        let (times, far) = (links.times(nics, packet), links.far_buffer(output, channel));
        let (vc, log) = (&mut links.vcs[output.vc()], links.logs.get_mut(output.vc()));
        links.outs[output.slot()].blocked_ps += times.serialisation(vc.class());
        links.blocked.push(&mut log.chain, packet);
        if let Some(blame) = &mut self.observers.blame {
            blame.block(far, output.vc(), links.wiring.times(vc.class()).buffer - vc.room, now);
        }
        if !vc.waits() {
            vc.set_waits(true);
            log.waits_since = now;
            self.arm(router, port, channel, output);
        }
    }

    /// Schedules the event of the next credit for an output with blocked packets.
    pub fn arm(&mut self, router: u32, port: u16, channel: u8, output: OutputVc) {
        let far = self.links.far_buffer(output, channel);
        if let Some(at) = self.links.credits.wait(far) {
            self.queue.push(router, Event::other(EventKind::OutputCredit, at, port, channel, far as u32));
        }
    }

    /// A credit has arrived for an output VC with blocked packets: those that have room are committed.
    #[cold]
    #[inline(never)]
    pub fn wake<S: Waiting, N: Nics>(&mut self, (switch, nics): (&mut S, &mut N), router: u32, credit: &Event) {
        let (port, channel, far, now) = (credit.port, credit.channel(), credit.message as usize, credit.time);
        if !self.links.credits.wakes_at(far, now) {
            // It was announced and is out of date: whether that happens depends on the order of places.
            self.course.events -= 1;
            return;
        }
        let place = self.links.wiring.places[router as usize];
        let output = self.links.wiring.output(place, port, channel);
        let index = output.vc();
        let class = self.links.vcs[index].class();
        if let Some(blame) = &mut self.observers.blame {
            let vc = &mut self.links.vcs[index];
            blame.credit(far, self.links.wiring.times(class).buffer - vc.room, now);
            vc.room += self.links.credits.take(far, now);
        }
        loop {
            let links = &mut self.links;
            let times = links.times(nics, links.blocked.first(&links.logs.get(index).chain));
            let wire = times.wire;
            if links.vcs[index].room < wire && !links.look_for_room(output, channel, wire, now) {
                self.arm(router, port, channel, output);
                return;
            }
            let packet = links.blocked.pop(&mut links.logs.get_mut(index).chain);
            links.outs[output.slot()].blocked_ps -= times.serialisation(class);
            if self.observers.blame.is_some() {
                self.observers.unblock(far, output.slot(), nics.message(&packet));
            }
            let decision = RouteDecision::new(&packet, port, channel);
            let from = S::from(place, router);
            self.commit((switch, nics), from, Target { output, to_node: false }, &packet, now, decision);
            if self.links.logs.get(index).chain.is_empty() {
                break;
            }
        }
        self.links.vcs[index].set_waits(false);
        self.links.credits.stop_waiting(far);
        let log = self.links.logs.get_mut(index);
        log.waited += now - log.waits_since;
    }
}
