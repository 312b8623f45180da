//! Packets that come to NICs which answer them: requests, responses, and what follows (docs/model.md, section 3).

use odonata_error::ErrorKind;
use odonata_topology::ClassId;

use super::Nodes;
use crate::commit::Fabric;
use crate::endpoint::{Endpoint, Exchange, NO_SENDER, Observation, Request};
use crate::engine::random::response_key;
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::packet::{Event, EventKind, NicNews};
use crate::fabric::{HopTiming, Links, PacketInfo};
use crate::observe::Room;
use crate::output::NO_ROW;
use crate::routing::RoutingAlgorithm;

impl<E: Endpoint> Nodes<'_, E> {
    /// Something comes to a NIC whose packets are answered.
    #[inline]
    pub fn come<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        event: &Event,
    ) {
        let (nic, now) = (event.message, event.time);
        match NicNews::of(event) {
            NicNews::Credit => self.pump_nic(fabric, routing, nic, now),
            NicNews::ResponseCredit => {
                let buffer = self.response_buffer(&fabric.links, nic);
                if fabric.links.credits.wakes_at(buffer, now) {
                    self.send_responses(fabric, nic, now);
                }
            }
            NicNews::Window => {
                if self.endpoint.answers_mut().get_mut(nic).wakes_at(now) {
                    self.pump_next(fabric, routing, nic, now);
                }
            }
            NicNews::Request => {
                let next = self.streams.as_mut().filter(|of| of.holds_back).and_then(|of| of.next_request(nic));
                self.respond(fabric, routing, &next.unwrap_or(*event));
            }
            NicNews::Grant => {
                let look = self.endpoint.answers_mut().grant(nic, now);
                self.send_granted(fabric, nic, now, look);
            }
        }
    }

    /// A request has come to a NIC: its response joins the others.
    #[inline]
    fn respond<Q: Queue<Event>, R: RoutingAlgorithm>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        routing: &R,
        arrival: &Event,
    ) {
        let (nic, answers) = (arrival.message, self.endpoint.answers_mut());
        let request = answers.of_slot(arrival.key);
        let covered = answers.coalesce(nic, arrival.key, &request, arrival.bytes(), arrival.is_marked());
        let Some(covered) = covered else { return };
        let first_response = answers.first_response;
        let here = fabric.links.wiring.attachments[nic as usize];
        let to = fabric.links.wiring.attachments[request.nic as usize];
        let key = response_key(arrival.intermediate);
        let mut response = Event::packet(arrival.time, here.port, arrival.key, key, arrival.bytes());
        response.set_channel(first_response);
        response.set_destination(to.address, to.port);
        if arrival.is_marked() {
            response.mark();
        }
        response.set_routing(arrival.routing());
        routing.enter(&mut response, here.address);
        if !covered.is_empty() {
            self.cover(fabric, arrival.key, to.router, covered);
        }
        if let Some(says) = self.endpoint.answers_mut().says(nic, request, arrival.hop() + 1) {
            self.say(fabric, arrival.key, to.router, says);
        }
        let look = self.endpoint.answers_mut().answer_request(nic, request, response);
        self.send_granted(fabric, nic, arrival.time, look);
    }

    /// Sends the responses that have been released, and looks for more at `look`.
    #[inline]
    fn send_granted<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32, now: u64, look: Option<u64>) {
        if let Some(at) = look {
            let place = fabric.links.wiring.event_attachment(nic);
            let event = Event::other(EventKind::NicCredit, at, place.port, NicNews::Grant as u8, nic);
            fabric.queue.push(place.router, event);
        }
        if !self.endpoint.answers_mut().get_mut(nic).response_waits {
            self.send_responses(fabric, nic, now);
        }
    }

    /// Index in the credits of the buffer for the responses of a NIC.
    fn response_buffer(&mut self, links: &Links<'_>, nic: u32) -> usize {
        let here = links.wiring.attachments[nic as usize];
        links.vc(links.slot(here.router, here.port), self.endpoint.answers_mut().first_response)
    }

    /// Sends as many responses as there is room for.
    fn send_responses<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, nic: u32, now: u64) {
        let here = fabric.links.wiring.attachments[nic as usize];
        let (buffer, vc_index) = (self.response_buffer(&fabric.links, nic), fabric.links.response_vc(nic));
        while let Some(response) = self.endpoint.answers_mut().get_mut(nic).responses.front().copied() {
            let links = &mut fabric.links;
            let times = links.times(self, &response);
            let vc = &mut links.vcs[vc_index];
            if vc.room < times.wire {
                vc.room += links.credits.take(buffer, now);
                if vc.room < times.wire {
                    self.endpoint.answers_mut().get_mut(nic).response_waits = true;
                    if let Some(at) = links.credits.wait(buffer) {
                        let place = links.wiring.event_attachment(nic);
                        let news = NicNews::ResponseCredit as u8;
                        let event = Event::other(EventKind::NicCredit, at, place.port, news, nic);
                        fabric.queue.push(place.router, event);
                    }
                    return;
                }
            }
            vc.room -= times.wire;
            vc.count(times.wire, &mut links.logs, vc_index);
            let answers = self.endpoint.answers_mut();
            answers.respond(nic, &response);
            let message = answers.message(&response);
            let of = answers.get_mut(nic);
            of.responses.pop_front();
            let free = of.response_free;
            let hop = HopTiming::new(free.max(now), times, ClassId::NODE.0);
            of.response_free = hop.end;
            if let Some(blame) = &mut fabric.observers.blame {
                let room = Room { buffer, waited: now - response.time };
                blame.respond(nic, message, room, now, free, hop.decision - free.max(now));
            }
            if let Some(by_class) = &mut fabric.observers.by_class {
                by_class.add(self.job(&response), ClassId::NODE.0, times.wire);
            }
            fabric.queue.push(here.router, response.at(hop.decision));
            if hop.end >= LAST_TIME {
                fabric.course.fail(ErrorKind::TimeOverflow {}.into());
                return;
            }
        }
        if std::mem::take(&mut self.endpoint.answers_mut().get_mut(nic).response_waits) {
            fabric.links.credits.stop_waiting(buffer);
        }
    }

    /// A packet that is a request, or answers one, reaches a NIC at `at`.
    #[inline]
    pub(crate) fn reach<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, nic: u32, at: u64) {
        let answers = self.endpoint.answers_mut();
        answers.delivered += 1;
        let request = answers.of_slot(packet.message);
        let (carries, is_response) = (answers.carries(packet), answers.is_response(packet));
        if carries {
            let flight = self.flights.deliver_and_keep(request.message);
            self.take(fabric, packet, (request.message, flight), nic, at);
        }
        if !is_response {
            let place = fabric.links.wiring.event_attachment(nic);
            let request = packet.arrival(at, place.port, nic);
            fabric.queue.push(place.router, request);
            if let Some(streams) = self.streams.as_mut().filter(|of| of.holds_back) {
                streams.push_request(nic, request);
            }
            return;
        }
        let answers = self.endpoint.answers_mut();
        let covered = answers.take_covered(packet);
        let more = covered.iter().map(|&(_, bytes)| u64::from(bytes)).sum();
        let (mut answer, complete, wake) = answers.answer(packet, (at, more), fabric.links.packets);
        if let Some(blame) = &fabric.observers.blame
            && answer.marked
        {
            answer.named = blame.named(packet.message);
        }
        if let Some(entropies) = &mut self.entropies {
            entropies.answered(request.nic, packet.message, &answer);
        }
        self.endpoint.answered(request.nic, answer);
        if let Some(at) = wake {
            let place = fabric.links.wiring.event_attachment(nic);
            let event = Event::other(EventKind::NicCredit, at, place.port, NicNews::Window as u8, nic);
            fabric.queue.push(place.router, event);
        }
        if let Some(exchange) = complete {
            self.complete_exchange(fabric, request, &exchange);
        }
        for (slot, bytes) in covered {
            let answers = self.endpoint.answers_mut();
            let request = answers.of_slot(slot);
            if let Some(exchange) = answers.count_answer(slot, bytes, at) {
                self.complete_exchange(fabric, request, &exchange);
            }
        }
    }

    /// All requests of a message have been answered, one of which is `request`.
    #[inline]
    fn complete_exchange<Q: Queue<Event>>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        request: Request,
        exchange: &Exchange,
    ) {
        self.flights.release(request.message);
        if let (Some(policy), Some(mode)) = (exchange.observer, exchange.counters.mode) {
            let observation = Observation { at: exchange.last, nic: request.nic, mode, counters: exchange.counters };
            self.endpoint.answers_mut().policies.observe(exchange.job, policy, observation);
        }
        self.count_exchange(fabric, exchange);
        self.end_exchange(fabric, exchange);
    }

    /// Keeps what was counted for a message where its row is: at its sender, which is the destination of the requests if
    /// the receiver of a message of a program fetches it.
    #[inline]
    fn count_exchange<Q: Queue<Event>>(&mut self, fabric: &Fabric<'_, Q>, exchange: &Exchange) {
        let &Exchange { job, row, to, get, counters, .. } = exchange;
        if row == NO_ROW {
            return;
        }
        if Q::PARTITIONED && get && self.jobs.list[usize::from(job)].reacts {
            let sender = fabric.links.wiring.attachments[to as usize].router;
            if !fabric.queue.has(sender) {
                self.posts.send_counters(fabric.queue.partition_of(sender), job, row, counters);
                return;
            }
        }
        self.endpoint.answers_mut().count(job, row, counters);
    }

    /// The last response of a message is known to come.
    fn end_exchange<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, exchange: &Exchange) {
        if !self.jobs.list[usize::from(exchange.job)].reacts {
            self.complete(fabric, exchange.job, exchange.last);
        } else if exchange.sender != NO_SENDER {
            self.sent(fabric, exchange.job, exchange.sender, exchange.last);
        }
    }
}
