//! What observers are told of the waits before a crossbar: who is the head of a queue, what it needs, and when it is
//! granted (docs/model.md, section 9, "Blame"). Nothing here is called unless blame is measured.

use super::{Crossbar, Departure};
use crate::commit::{Fabric, Nics};
use crate::engine::Queue;
use crate::fabric::OutputVc;
use crate::fabric::packet::Event;
use crate::observe::{Needs, RoomRelease, Sides, Stay};

/// What the head of a queue needs.
pub(super) fn needs(queue: u32, input: u32, output: OutputVc) -> Needs {
    Needs { queue, input, output: output.slot() as u32, vc: output.vc() as u32 }
}

impl Crossbar {
    /// What the head of a queue needs, and from when on the sides of the crossbar that it needs are free.
    fn needs_of(&self, queue: u32) -> (Needs, Sides) {
        let of = self.tables.get(queue);
        let (input, vc) = (of.input, of.output.expect("its head has an output").vc);
        let (input_free, output_free) = self.tables.free(input, vc);
        (needs(queue, input, vc), Sides { input_free, output_free })
    }

    /// The head of a queue, which has an output, begins to wait.
    #[inline(never)]
    pub(super) fn observe_head<Q: Queue<Event>, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        queue: u32,
        now: u64,
    ) {
        let (needs, _) = self.needs_of(queue);
        if let Some(blame) = &mut fabric.observers.blame {
            blame.lead(needs, now);
        }
        if self.tables.lacks_room(queue) {
            self.follow_buffer(fabric, nics, needs, now);
        }
    }

    /// The head of a queue still waits, and may lack room in its output buffer.
    pub(super) fn observe_waiting<Q: Queue<Event>, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        queue: u32,
        now: u64,
    ) {
        if self.tables.lacks_room(queue) {
            self.follow_buffer(fabric, nics, self.needs_of(queue).0, now);
        }
    }

    /// The head of a queue, which is up to date, may lack room in its output buffer from now on.
    #[cold]
    #[inline(never)]
    fn follow_buffer<Q: Queue<Event>, N: Nics>(&self, fabric: &mut Fabric<'_, Q>, nics: &N, needs: Needs, now: u64) {
        let (links, Some(blame)) = (&fabric.links, &mut fabric.observers.blame) else { return };
        if blame.follows(needs.queue) {
            return;
        }
        let vc = needs.vc as usize;
        let leaving = self.tables.leaving(vc, now);
        let waiting = links.blocked.chain(&links.logs.get(vc).chain);
        let mut stays: Vec<_> = leaving.map(|&Departure { end, bytes, job, .. }| Stay { end, bytes, job }).collect();
        stays.extend(waiting.map(|packet| {
            let job = blame.victim(nics.message(packet)).job;
            Stay { end: Stay::OPEN, bytes: links.times(nics, packet).wire, job }
        }));
        blame.follow_buffer(needs, stays);
    }

    /// Brings the heads of a router up to date that need a side of the crossbar which is about to be given to a packet.
    #[cold]
    #[inline(never)]
    fn observe_heads<Q: Queue<Event>, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        router: u32,
        same: Needs,
        now: u64,
    ) {
        for &queue in self.tables.requests(router) {
            let (needs, sides) = self.needs_of(queue);
            if needs.input == same.input || needs.output == same.output {
                if let Some(blame) = &mut fabric.observers.blame {
                    blame.wait(needs, sides, now);
                }
                if needs.vc == same.vc {
                    self.follow_buffer(fabric, nics, needs, now);
                }
            }
        }
    }

    /// A packet is about to be given the sides of the crossbar.
    #[inline(never)]
    pub(super) fn observe_passing<Q: Queue<Event>, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        router: u32,
        needs: Needs,
        packet: &Event,
        now: u64,
    ) {
        if fabric.observers.blame.as_ref().is_some_and(|blame| blame.competitors(needs) > 0) {
            self.observe_heads(fabric, nics, router, needs, now);
        }
        let (bytes, message) = (fabric.links.times(nics, packet).wire, nics.message(packet));
        if let Some(blame) = &mut fabric.observers.blame {
            blame.pass(needs, blame.victim(message).job, bytes, now);
        }
    }

    /// Brings heads up to date that can be granted now, because one of them may get what another needs.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_requests<Q: Queue<Event>>(&self, fabric: &mut Fabric<'_, Q>, requested: &[u32], now: u64) {
        let Some(blame) = &mut fabric.observers.blame else { return };
        for &queue in requested {
            let (needs, sides) = self.needs_of(queue);
            if blame.competitors(needs) > 2 {
                blame.wait(needs, sides, now);
            }
        }
    }

    /// The head of a queue, which has left the queue, is about to be given the sides of the crossbar.
    #[inline(never)]
    pub(super) fn observe_grant<Q: Queue<Event>, N: Nics>(
        &self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        router: u32,
        queue: u32,
        packet: &Event,
        now: u64,
    ) {
        let (needs, sides) = self.needs_of(queue);
        let others = !self.tables.get(queue).chain.is_empty();
        let message = nics.message(packet);
        if let Some(blame) = &mut fabric.observers.blame {
            blame.grant(needs, blame.victim(message), [packet.time, now], others, sides);
        }
        self.observe_passing(fabric, nics, router, needs, packet, now);
    }
}

/// A packet leaves the input buffer of a slot at `tail`, for an output.
#[inline(never)]
pub(super) fn observe_crossing<Q: Queue<Event>, N: Nics>(
    fabric: &mut Fabric<'_, Q>,
    nics: &N,
    packet: &Event,
    input: u32,
    output: OutputVc,
    tail: u64,
) {
    let buffer = fabric.links.vc(input, packet.channel());
    // SAFETY: the packet came by this port and channel, so there is a buffer.
    let class = unsafe { fabric.links.credits.class(buffer) };
    let (bytes, message) = (fabric.links.times(nics, packet).wire, nics.message(packet));
    let stamp = tail + fabric.links.wiring.times(class).to_credit;
    let sender = if Q::PARTITIONED { fabric.sender_elsewhere(buffer) } else { None };
    let horizon = fabric.queue.horizon();
    let Some(blame) = &mut fabric.observers.blame else { return };
    let job = blame.victim(message).job;
    let root = blame.root_of_grant(output.slot() as u32, job);
    let release = RoomRelease { buffer, class, job, bytes, stamp, root };
    blame.give_back(release, horizon, sender);
}
