//! Ideal routers with traffic classes: each link serves the queues of its classes one packet at a time (docs/model.md,
//! section 4, "Traffic classes").
//!
//! As with crossbars, a service inside the open window is not an event.

use bytemuck::{Zeroable, zeroed_vec};
use odonata_topology::Network;

use super::{Ideal, NEVER, Switch, route};
use crate::commit::{Fabric, Nics, Target, Waiting};
use crate::engine::Queue;
use crate::fabric::packet::{Event, MAX_ROUTINGS, RouteDecision};
use crate::fabric::{Chain, Links, OutputVc, PacketTimes, RouterPlace};
use crate::observe::Left;
use crate::routing::{RoutingAlgorithm, routing_classes};
use crate::spec::{MAX_CLASSES, Spec};

/// What a byte is worth for a class with a share of 1.
const UNIT: u64 = 1 << 16;

/// A traffic class.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    priority: u8,
    share: u64,
    /// The first class of the same priority.
    level: u8,
}

/// A class at an output port.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct Claim {
    /// When its last packet would have ended if it had only its share: F of the model.
    end: u64,
    /// At the first class of a priority: when the last packet served would have begun, V of the model.
    begun: u64,
    /// Serialisation times of its packets that wait.
    queued_ps: u64,
}

/// Routers whose links serve traffic classes.
pub struct Classed {
    /// Channels of each class.
    channels: u8,
    /// Channels of all classes.
    first_response: u8,
    classes: [Class; MAX_CLASSES],
    count: usize,
    /// The class of the packets with each number of a routing.
    of_routing: [u8; MAX_ROUTINGS],
    /// By slot: the channels whose heads are ready.
    ready: Vec<u16>,
    /// By slot and class.
    claims: Vec<Claim>,
    /// By router: when it serves next, or [`NEVER`].
    next: Vec<u64>,
    /// Services before this time are done between the events of the open window; later ones are events.
    foreseen_until: u64,
}

impl Classed {
    /// The routers of a machine.
    #[must_use]
    pub fn new(spec: &Spec, network: &Network) -> Self {
        let of = &spec.fabric.traffic_classes;
        let mut classes = [Class::default(); MAX_CLASSES];
        for (to, class) in classes.iter_mut().zip(of) {
            let level = of.iter().position(|other| other.priority == class.priority).unwrap_or(0) as u8;
            *to = Class { priority: class.priority, share: class.share.into(), level };
        }
        Self {
            channels: spec.fabric.channels,
            first_response: spec.fabric.first_response(),
            classes,
            count: of.len(),
            of_routing: routing_classes(spec),
            ready: zeroed_vec(network.peer.len()),
            claims: zeroed_vec(network.peer.len() * of.len()),
            next: vec![NEVER; network.routers()],
            foreseen_until: 0,
        }
    }

    /// The class of a channel.
    fn class_of(&self, channel: u8) -> usize {
        usize::from(channel % self.first_response / self.channels)
    }

    fn claim(&mut self, slot: usize, class: usize) -> &mut Claim {
        &mut self.claims[slot * self.count + class]
    }

    /// When the next packet of a class would begin at a port if the class had only its share: S of the model.
    fn begins(&self, slot: usize, class: usize) -> u64 {
        let level = usize::from(self.classes[class].level);
        self.claims[slot * self.count + class].end.max(self.claims[slot * self.count + level].begun)
    }
}

impl Waiting for Classed {
    const BUFFERS_OUTPUT: bool = false;
    /// Slot of the first port of the router.
    type From = u32;

    #[inline(always)]
    fn from(place: RouterPlace, router: u32) -> u32 {
        <Ideal as Waiting>::from(place, router)
    }

    #[inline(always)]
    fn earliest(links: &Links<'_>, from: u32, packet: &Event, times: &PacketTimes, class: u8) -> u64 {
        Ideal::earliest(links, from, packet, times, class)
    }

    #[inline(always)]
    fn leaves(links: &Links<'_>, from: u32, packet: &Event) -> Left {
        Ideal::leaves(links, from, packet)
    }

    #[inline(always)]
    fn left<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        from: u32,
        output: OutputVc,
        packet: &Event,
        sent: (u32, u64),
    ) {
        Ideal.left(fabric, nics, from, output, packet, sent);
    }
}

impl Switch for Classed {
    const ARBITRATES: bool = true;

    /// A packet joins a queue, or links are served.
    #[inline(never)]
    fn arrive<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        event: &Event,
    ) {
        if event.is_arbitration() {
            self.serve(fabric, nics, router, event.time);
        } else {
            self.join(fabric, routing, nics, router, event);
        }
    }

    fn credit<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        credit: &Event,
    ) {
        let (port, channel, far, now) = (credit.port, credit.channel(), credit.message as usize, credit.time);
        if !fabric.links.credits.wakes_at(far, now) {
            fabric.course.events -= 1; // as in `Fabric::wake`
            return;
        }
        let links = &mut fabric.links;
        let output = links.wiring.output(links.wiring.places[router as usize], port, channel);
        let wire = links.times(nics, links.blocked.first(&links.logs.get(output.vc()).chain)).wire;
        if !links.look_for_room(output, channel, wire, now) {
            fabric.arm(router, port, channel, output);
            return;
        }
        links.vcs[output.vc()].set_waits(false);
        links.credits.stop_waiting(far);
        let log = links.logs.get_mut(output.vc());
        log.waited += now - log.waits_since;
        self.ready[output.slot()] |= 1 << channel;
        let at = links.outs[output.slot()].free.max(now);
        self.expect_service(fabric, router, at);
    }

    fn open(&mut self, closed_until: u64) {
        self.foreseen_until = closed_until;
    }

    #[inline(always)]
    fn next_arbitration(&self, router: u32) -> u64 {
        self.next[router as usize]
    }

    fn drop_arbitration(&mut self, router: u32, at: u64) {
        self.begin(router, at);
    }

    fn waiting(&self, _: usize) -> Option<u64> {
        None
    }

    fn queues(&self) -> impl Iterator<Item = (Chain, u32)> {
        std::iter::empty()
    }
}

impl Classed {
    /// A packet joins the queue of its output at its decision time.
    #[inline]
    fn join<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        packet: &Event,
    ) {
        fabric.course.packet_hops += 1;
        let (place, now) = (fabric.links.wiring.places[router as usize], packet.time);
        let class = usize::from(self.of_routing[usize::from(packet.routing()) % MAX_ROUTINGS]);
        let decision = if place.is_last(packet) {
            routing.ends(place, packet);
            let of_responses = if packet.channel() >= self.first_response { self.first_response } else { 0 };
            RouteDecision::new(packet, packet.to_port(), of_responses + class as u8 * self.channels)
        } else {
            route(&fabric.links, routing, place, packet)
        };
        let (port, channel) = (decision.port(), decision.channel());
        let output = fabric.links.wiring.output(place, port, channel);
        let slot = output.slot();
        let mut packet = *packet;
        if fabric.watches_decisions {
            let backlog = fabric.links.outs[slot].free.saturating_sub(now) + self.claim(slot, class).queued_ps;
            if fabric.decided_behind(nics, place, &packet, port, backlog) {
                packet.mark();
            }
        }
        let links = &mut fabric.links;
        let serialisation = links.times(nics, &packet).serialisation(links.vcs[output.vc()].class());
        links.outs[slot].blocked_ps += serialisation;
        self.claim(slot, class).queued_ps += serialisation;
        let log = links.logs.get_mut(output.vc());
        let is_head = log.chain.is_empty();
        links.blocked.push(&mut log.chain, &packet).follow(decision);
        if is_head {
            self.lead(fabric, nics, router, output, (port, channel), now);
            let at = fabric.links.outs[slot].free.max(now);
            if self.ready[slot] != 0 {
                self.expect_service(fabric, router, at);
            }
        }
    }

    /// A packet has become the head of a queue: it is ready, or waits for room.
    #[inline]
    fn lead<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        router: u32,
        output: OutputVc,
        (port, channel): (u16, u8),
        now: u64,
    ) {
        let links = &mut fabric.links;
        let log = links.logs.get_mut(output.vc());
        let wire = links.packets[nics.number(links.blocked.first(&log.chain)) as usize].wire;
        let vc = &links.vcs[output.vc()];
        if vc.node() || vc.room >= wire || links.look_for_room(output, channel, wire, now) {
            self.ready[output.slot()] |= 1 << channel;
            return;
        }
        links.vcs[output.vc()].set_waits(true);
        links.logs.get_mut(output.vc()).waits_since = now;
        fabric.arm(router, port, channel, output);
    }

    /// Each free link of a router with a head that is ready takes one packet.
    fn serve<Q: Queue<Event>, N: Nics>(&mut self, fabric: &mut Fabric<'_, Q>, nics: &mut N, router: u32, now: u64) {
        if !self.begin(router, now) {
            return;
        }
        let place = fabric.links.wiring.places[router as usize];
        let mut next = NEVER;
        for port in 0..place.ports {
            let slot = place.first as usize + usize::from(port);
            if self.ready[slot] == 0 {
                continue;
            }
            if fabric.links.outs[slot].free <= now {
                self.send_from(fabric, nics, (router, place, port), now);
            }
            if self.ready[slot] != 0 {
                next = next.min(fabric.links.outs[slot].free);
            }
        }
        if next != NEVER {
            self.expect_service(fabric, router, next);
        }
    }

    /// Commits the packet whose turn it is at a port.
    fn send_from<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        (router, place, port): (u32, RouterPlace, u16),
        now: u64,
    ) {
        let slot = place.first as usize + usize::from(port);
        let links = &mut fabric.links;
        let turn = |channel: &u8| {
            let class = self.class_of(*channel);
            let vc = links.vc(slot as u32, *channel);
            let head = links.blocked.first(&links.logs.get(vc).chain);
            let begins = self.begins(slot, class);
            (u8::MAX - self.classes[class].priority, begins, class, head.time, head.port, head.channel())
        };
        let channels = (0..16).filter(|channel| self.ready[slot] >> channel & 1 == 1);
        let channel = channels.min_by_key(turn).expect("a head is ready");
        let output = links.wiring.output(place, port, channel);
        let packet = links.blocked.pop(&mut links.logs.get_mut(output.vc()).chain);
        let times = links.times(nics, &packet);
        let serialisation = times.serialisation(links.vcs[output.vc()].class());
        links.outs[slot].blocked_ps -= serialisation;
        let class = self.class_of(channel);
        let (begins, Class { share, level, .. }) = (self.begins(slot, class), self.classes[class]);
        self.claim(slot, usize::from(level)).begun = begins;
        let claim = self.claim(slot, class);
        claim.queued_ps -= serialisation;
        claim.end = begins + UNIT * u64::from(times.wire) / share;
        self.ready[slot] &= !(1 << channel);
        let target = Target { output, to_node: links.vcs[output.vc()].node() };
        let decision = RouteDecision::new(&packet, port, channel);
        fabric.commit((self, nics), place.first, target, &packet, now, decision);
        if !fabric.links.logs.get(output.vc()).chain.is_empty() {
            self.lead(fabric, nics, router, output, (port, channel), now);
        }
    }

    /// Whether a service scheduled for `now` takes place; if not, an earlier one has replaced it.
    fn begin(&mut self, router: u32, now: u64) -> bool {
        let begins = self.next[router as usize] == now;
        if begins {
            self.next[router as usize] = NEVER;
        }
        begins
    }

    /// Schedules a service of a router at `at`, unless an earlier one is scheduled.
    fn expect_service<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, router: u32, at: u64) {
        if at < self.next[router as usize] {
            self.next[router as usize] = at;
            if at >= self.foreseen_until {
                fabric.queue.push(router, Event::arbitration(at));
            }
        }
    }
}
