//! Where a NIC decides to send: packets are cut from waiting messages as long as the NIC admits them and its first router
//! has room (docs/model.md, sections 2 and 3).

use odonata_error::ErrorKind;
use odonata_topology::ClassId;

use super::Nodes;
use crate::commit::Fabric;
use crate::endpoint::{Endpoint, Waiting};
use crate::engine::random::{Stream, packet_key, random};
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::HopTiming;
use crate::fabric::packet::{Event, EventKind, NicNews};
use crate::routing::{PathGranularity, RoutingAlgorithm};
use crate::spec::NicOrder;

impl<E: Endpoint> Nodes<'_, E> {
    /// A credit arrives for the injection link of a NIC.
    #[cold]
    pub fn pump_nic<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nic: u32,
        now: u64,
    ) {
        let attachment = fabric.links.wiring.attachments[nic as usize];
        let buffer = fabric.links.slot(attachment.router, attachment.port) as usize;
        if fabric.links.credits.wakes_at(buffer, now) {
            self.pump_next(fabric, routing, nic, now);
        } else {
            fabric.course.events -= 1; // as in `wake`
        }
    }

    /// Lets a NIC send if it has something queued.
    pub fn pump_next<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nic: u32,
        now: u64,
    ) {
        match self.take_next(nic, now) {
            Some((place, head)) => self.pump(fabric, routing, nic, now, place, head),
            None if E::SELECTIVE && !self.endpoint.is_idle(nic) => {
                self.hold(fabric, nic, now);
                self.wait_no_longer(fabric, nic, now);
            }
            None => {}
        }
    }

    /// A message joins the queue of a NIC.
    pub(super) fn enqueue(&mut self, nic: u32, message: Waiting) {
        if E::SELECTIVE {
            self.endpoint.enqueue(nic, message);
        } else {
            self.nics[nic as usize].push_back(message);
        }
    }

    /// Takes the message from which a NIC may send at `now`, or may when it is admitted, with its place in the queue.
    #[inline]
    fn take_next(&mut self, nic: u32, now: u64) -> Option<(u64, Waiting)> {
        if E::SELECTIVE {
            return self.endpoint.take_next(nic, now);
        }
        self.nics[nic as usize].pop_front().map(|message| (0, message))
    }

    /// Puts the message from which a NIC was about to send back in its place.
    #[inline]
    fn put_back(&mut self, nic: u32, place: u64, message: Waiting) {
        if E::SELECTIVE {
            self.endpoint.put_back(nic, place, message);
        } else {
            self.nics[nic as usize].push_front(message);
        }
    }

    /// A NIC that waited for room, if it did, does not any longer.
    #[inline(always)]
    fn wait_no_longer<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32, now: u64) {
        if self.nics[nic as usize].waits {
            self.stop_waiting(fabric, nic, now);
        }
    }

    /// A NIC that waited for room does not any longer.
    #[cold]
    #[inline(never)]
    fn stop_waiting<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32, now: u64) {
        self.nics[nic as usize].waits = false;
        let attachment = fabric.links.wiring.attachments[nic as usize];
        fabric.links.credits.stop_waiting(fabric.links.slot(attachment.router, attachment.port) as usize);
        let log = fabric.links.logs.get_mut(fabric.links.nic_vc(nic));
        log.waited += now - log.waits_since;
    }

    /// Sends as many packets as there is room for, starting with `head`, which was taken from its place in the queue.
    #[inline(never)]
    pub fn pump<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        nic_id: u32,
        now: u64,
        mut place: u64,
        mut head: Waiting,
    ) {
        assert!((nic_id as usize) < self.nics.len());
        // SAFETY: the line above checks it; there is an attachment for each NIC.
        let attachment = *unsafe { fabric.links.wiring.attachments.get_unchecked(nic_id as usize) };
        let vc_index = fabric.links.nic_vc(nic_id);
        let buffer = fabric.links.slot(attachment.router, attachment.port) as usize; // channel 0
        let full = self.spec.fabric.packet_bytes;
        let mut granularity = routing.granularity(head.routing());
        loop {
            let bytes = head.bytes_left.min(u64::from(full)) as u32;
            // SAFETY: `bytes` is at most `full`, the largest packet.
            let mut times = unsafe { fabric.links.packets.get_unchecked(bytes as usize) };
            if E::ANSWERS {
                if !E::SELECTIVE && !self.endpoint.admits(nic_id, head.to(), bytes, now) {
                    self.put_back(nic_id, place, head);
                    self.hold(fabric, nic_id, now);
                    break;
                }
                let free = self.nics[nic_id as usize].free;
                let answers = self.endpoint.answers_mut();
                answers.resume(nic_id, now, free);
                times = &fabric.links.packets[answers.request_number(head.message, bytes) as usize];
            }
            let wire = times.wire;
            let links = &mut fabric.links;
            // SAFETY: the NIC exists, and the virtual channels of the NICs follow those of the ports.
            let (nic, vc) =
                unsafe { (self.nics.get_unchecked_mut(nic_id as usize), links.vcs.get_unchecked_mut(vc_index)) };
            if vc.room < wire {
                vc.room += links.credits.take(buffer, now);
                if vc.room < wire {
                    if E::ANSWERS {
                        self.endpoint.answers_mut().get_mut(nic_id).room_since.get_or_insert(now);
                    }
                    if !nic.waits {
                        nic.waits = true;
                        links.logs.get_mut(vc_index).waits_since = now;
                    }
                    if let Some(at) = links.credits.wait(buffer) {
                        let here = links.wiring.event_attachment(nic_id);
                        fabric.queue.push(here.router, Event::other(EventKind::NicCredit, at, here.port, 0, nic_id));
                    }
                    self.put_back(nic_id, place, head);
                    if E::SELECTIVE {
                        // An earlier message may be sent when its window has room, or this one may no longer be sent.
                        self.await_answer(fabric, nic_id);
                    }
                    return;
                }
            }
            let overhead = if head.is_first() { self.spec.fabric.nic.overhead_ps } else { 0 };
            let start = nic.free.max(now) + overhead;
            let hop = HopTiming::new(start, times, ClassId::NODE.0);
            if let Some(blame) = &mut fabric.observers.blame {
                let service = hop.decision - nic.free.max(now);
                let held = self.endpoint.held(nic_id, head.to(), now);
                blame.inject(nic_id as usize, head.message, buffer, held, [now, nic.free, service]);
            }
            if let Some(series) = &mut fabric.observers.series {
                series.count(links.outs.len() + nic_id as usize, self.flights.job(head.message), wire, start, 0);
            }
            let mut slot = head.message;
            if E::ANSWERS {
                let times = (now, nic.free, hop.end);
                let rest = head.bytes_left > u64::from(bytes);
                let asks = self.endpoint.sent(nic_id, head.to(), (bytes, rest), now);
                let more = [self.endpoint.announces_more(nic_id, head.to(), rest), asks];
                let answers = self.endpoint.answers_mut();
                slot = answers.request(nic_id, (head.message, bytes, more), times, links.packets);
                if Q::PARTITIONED {
                    let to = links.wiring.attachments[head.to() as usize].router;
                    self.posts.send_request(&fabric.queue, to, slot, answers.of_slot(slot));
                }
            }
            if E::NUMBERED
                && let Some(streams) = &mut self.streams
            {
                let ticket;
                (slot, ticket) = streams.send([nic_id, head.to()], head.message, E::ANSWERS.then_some(slot));
                if Q::PARTITIONED {
                    let to = links.wiring.attachments[head.to() as usize].router;
                    self.posts.send_ticket(&fabric.queue, to, slot, ticket);
                }
            }
            nic.free = hop.end;
            vc.room -= wire;
            vc.count(wire, &mut links.logs, vc_index);
            // SAFETY: destinations are nodes of the machine.
            let to = *unsafe { links.wiring.attachments.get_unchecked(head.to() as usize) };
            let mut key = match granularity {
                PathGranularity::Packet => packet_key(head.key, head.packet()),
                PathGranularity::Message => packet_key(head.key, 0),
                PathGranularity::Flow => {
                    flow_key(self.spec.seed, nic_id / links.wiring.rails, head.to() / links.wiring.rails)
                }
            };
            if E::SELECTIVE
                && let Some(entropies) = &mut self.entropies
            {
                key = entropies.send([nic_id, head.to()], slot, key, now);
            }
            let mut packet = Event::packet(hop.decision, attachment.port, slot, key, bytes);
            packet.set_destination(to.address, to.port);
            packet.set_routing(head.routing());
            routing.enter(&mut packet, attachment.address);
            fabric.queue.push(attachment.router, packet);
            if links.wiring.rails > 1 {
                *nic.unsent_mut() -= u64::from(bytes);
            }
            if hop.end >= LAST_TIME {
                fabric.course.fail(ErrorKind::TimeOverflow {}.into());
                return;
            }
            head.advance(bytes);
            if self.programs.is_some() {
                self.packet_leaves(fabric, (head.message, wire), head.bytes_left == 0, hop.end);
            }
            if head.bytes_left > 0 {
                if self.spec.fabric.nic.order == NicOrder::RoundRobin {
                    self.enqueue(nic_id, head);
                } else if !E::SELECTIVE || self.endpoint.admits(nic_id, head.to(), bytes, now) {
                    continue;
                } else {
                    self.put_back(nic_id, place, head);
                }
            }
            let Some(next) = self.take_next(nic_id, now) else {
                if E::SELECTIVE && !self.endpoint.is_idle(nic_id) {
                    self.hold(fabric, nic_id, now);
                }
                break;
            };
            (place, head) = next;
            if E::ANSWERS {
                granularity = routing.granularity(head.routing()); // else a node has one routing
            }
        }
        self.wait_no_longer(fabric, nic_id, now);
    }

    /// All waiting messages of a NIC are held back at `now`: it looks again when that may change.
    fn hold<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32, now: u64) {
        self.endpoint.answers_mut().hold(nic, now);
        self.await_answer(fabric, nic);
    }

    /// A NIC looks again when the next answer has come, or a pause has ended.
    fn await_answer<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32) {
        let look = self.endpoint.next_look(nic);
        if let Some(at) = self.endpoint.answers_mut().await_answer(nic, look) {
            let here = fabric.links.wiring.event_attachment(nic);
            let event = Event::other(EventKind::NicCredit, at, here.port, NicNews::Window as u8, nic);
            fabric.queue.push(here.router, event);
        }
    }
}

/// The key of all packets between two nodes.
fn flow_key(seed: u64, from: u32, to: u32) -> u32 {
    (random(seed, Stream::Flow, u64::from(from), u64::from(to)) >> 32) as u32
}
