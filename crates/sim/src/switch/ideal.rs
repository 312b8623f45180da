//! Ideal routers: a packet that has been decided on leaves its input buffer as soon as the next one has room.

use super::{Switch, route};
use crate::commit::{Fabric, Nics, Target, Waiting};
use crate::engine::Queue;
use crate::fabric::packet::{Event, RouteDecision};
use crate::fabric::{Chain, HopTiming, Links, OutputVc, PacketTimes, RouterPlace};
use crate::observe::Left;
use crate::routing::RoutingAlgorithm;

/// Routers without state: all of it is in the links.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ideal;

impl Waiting for Ideal {
    const BUFFERS_OUTPUT: bool = false;
    /// Slot of the first port of the router.
    type From = u32;

    #[inline(always)]
    fn from(place: RouterPlace, _: u32) -> u32 {
        place.first
    }

    /// With cut-through, so that a packet does not run out of bytes on its link.
    #[inline(always)]
    fn earliest(links: &Links<'_>, from: u32, packet: &Event, times: &PacketTimes, class: u8) -> u64 {
        if !links.wiring.cut_through {
            return 0;
        }
        let buffer = links.vc(from + u32::from(packet.port), packet.channel());
        // SAFETY: the buffer is that of a packet; see `return_credit`.
        let tail = links.wiring.tail(times, unsafe { links.credits.class(buffer) });
        HopTiming::earliest_start(packet.time, tail, times.serialisation(class))
    }

    #[inline(always)]
    fn leaves(links: &Links<'_>, from: u32, packet: &Event) -> Left {
        let buffer = links.vc(from + u32::from(packet.port), packet.channel());
        // SAFETY: the buffer is that of a packet; see `return_credit`.
        Left::Input { buffer, class: unsafe { links.credits.class(buffer) } }
    }

    #[inline(always)]
    fn left<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        _: &N,
        from: u32,
        _: OutputVc,
        packet: &Event,
        (wire, end): (u32, u64),
    ) {
        fabric.return_credit(from + u32::from(packet.port), packet.channel(), wire, end);
    }
}

impl Switch for Ideal {
    /// The route decision of a packet.
    #[inline(always)]
    fn arrive<Q: Queue<Event>, R: RoutingAlgorithm, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nics: &mut N,
        router: u32,
        packet: &Event,
    ) {
        fabric.course.packet_hops += 1;
        // SAFETY: events are pushed only for routers of the wiring, and the queue returns what was pushed.
        let place = *unsafe { fabric.links.wiring.places.get_unchecked(router as usize) };
        if place.is_last(packet) {
            routing.ends(place, packet);
            if fabric.watches_decisions {
                return self.eject_watched(fabric, nics, place, packet);
            }
            return self.eject(fabric, nics, place, packet);
        }
        let decision = route(&fabric.links, routing, place, packet);
        if fabric.watches_decisions {
            let out = (decision.port(), decision.channel());
            return self.forward_watched(fabric, nics, router, place, out, &packet.following(decision));
        }
        self.forward(fabric, nics, router, place, packet, decision);
    }

    fn waiting(&self, _: usize) -> Option<u64> {
        None
    }

    fn queues(&self) -> impl Iterator<Item = (Chain, u32)> {
        std::iter::empty()
    }
}

impl Ideal {
    /// A packet at its last router goes to its node.
    #[inline(always)]
    fn eject<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        place: RouterPlace,
        packet: &Event,
    ) {
        // SAFETY: this is the router of the destination's NIC, and the wiring gave the port.
        let output = unsafe { fabric.links.wiring.ejection(place, packet) };
        let decision = RouteDecision::new(packet, packet.to_port(), 0);
        fabric.commit((self, nics), place.first, Target { output, to_node: true }, packet, packet.time, decision);
    }

    /// A packet follows its decision, or waits for room.
    #[inline(always)]
    fn forward<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        place: RouterPlace,
        packet: &Event,
        decision: RouteDecision,
    ) {
        let links = &mut fabric.links;
        let output = links.wiring.output(place, decision.port(), decision.channel());
        // SAFETY: `output` belongs to the wiring for which the tables of output VCs were made.
        let vc = unsafe { links.vcs.get_unchecked(output.vc()) };
        let wire = links.times(nics, packet).wire;
        if !vc.waits() && (vc.room >= wire || links.look_for_room(output, decision.channel(), wire, packet.time)) {
            let target = Target { output, to_node: false };
            fabric.commit((self, nics), place.first, target, packet, packet.time, decision);
        } else {
            let out = (decision.port(), decision.channel());
            fabric.block(nics, router, output, out, &packet.following(decision), packet.time);
        }
    }

    /// As [`eject`](Self::eject), if decisions are watched. (Not inlined, so that other runs do not pay for it.)
    #[inline(never)]
    fn eject_watched<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        place: RouterPlace,
        packet: &Event,
    ) {
        let marked = fabric.decided(nics, place, packet, packet.to_port());
        self.eject(fabric, nics, place, &if marked { packet.marked() } else { *packet });
    }

    /// As [`forward`](Self::forward), if decisions are watched: a packet leaves by a port and a channel.
    #[inline(never)]
    fn forward_watched<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &mut N,
        router: u32,
        place: RouterPlace,
        (port, channel): (u16, u8),
        packet: &Event,
    ) {
        let marked = fabric.decided(nics, place, packet, port);
        let packet = if marked { packet.marked() } else { *packet };
        self.forward(fabric, nics, router, place, &packet, RouteDecision::new(&packet, port, channel));
    }
}
