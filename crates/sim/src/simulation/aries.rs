//! The events of NICs whose packets are answered (docs/model.md, section 3).

use super::Simulation;
use crate::counters::Room;
use crate::engine::random::response_key;
use crate::engine::{LAST_TIME, Queue};
use crate::fabric::packet::{Event, EventKind, NicNews};
use crate::fabric::{Exchange, HopTiming, NO_SENDER, Observation};
use crate::routing::RoutingAlgorithm;
use odonata_error::ErrorKind;
use odonata_topology::ClassId;

impl<Q: Queue<Event>, R: RoutingAlgorithm> Simulation<'_, Q, R> {
    /// Something comes to a NIC.
    #[inline]
    pub(super) fn hear(&mut self, event: &Event) {
        let (nic, now) = (event.message, event.time);
        match NicNews::of(event) {
            NicNews::Credit => self.pump_nic(nic, now),
            NicNews::ResponseCredit => {
                let buffer = self.response_buffer(nic);
                if self.credits.wakes_at(buffer, now) {
                    self.send_responses(nic, now);
                }
            }
            NicNews::Window => {
                if self.aries.get_mut(nic).wakes_at(now) {
                    self.pump_next(nic, now);
                }
            }
            NicNews::Request => self.respond(event),
        }
    }

    /// A request has come to a NIC: its response joins the others.
    #[inline]
    fn respond(&mut self, arrival: &Event) {
        let nic = arrival.message;
        let request = self.aries.of_slot(arrival.key);
        let here = self.wiring.attachments[nic as usize];
        let to = self.wiring.attachments[request.nic as usize];
        let key = response_key(arrival.intermediate);
        let mut response = Event::packet(arrival.time, here.port, arrival.key, key, arrival.bytes());
        response.set_channel(self.aries.first_response);
        (response.to, response.to_port) = (to.address, to.port);
        response.set_routing(arrival.routing());
        self.routing.enter(&mut response, here.address);
        let waits = self.aries.get_mut(nic).response_waits;
        self.aries.get_mut(nic).responses.push_back(response);
        if !waits {
            self.send_responses(nic, arrival.time);
        }
    }

    /// Index in the credits of the buffer for the responses of a NIC.
    fn response_buffer(&self, nic: u32) -> usize {
        let here = self.wiring.attachments[nic as usize];
        self.vc(self.slot(here.router, here.port), self.aries.first_response)
    }

    /// Sends as many responses as there is room for.
    fn send_responses(&mut self, nic: u32, now: u64) {
        let here = self.wiring.attachments[nic as usize];
        let (buffer, vc_index) = (self.response_buffer(nic), self.response_vc(nic));
        while let Some(response) = self.aries.get_mut(nic).responses.front().copied() {
            let times = self.times_of(&response);
            let vc = &mut self.vcs[vc_index];
            if vc.room < times.wire {
                vc.room += self.credits.take(buffer, now);
                if vc.room < times.wire {
                    self.aries.get_mut(nic).response_waits = true;
                    if let Some(at) = self.credits.wait(buffer) {
                        let place = self.wiring.event_attachment(nic);
                        let news = NicNews::ResponseCredit as u8;
                        let event = Event::other(EventKind::NicCredit, at, place.port, news, nic);
                        self.queue.push(place.router, event);
                    }
                    return;
                }
            }
            vc.room -= times.wire;
            vc.count(times.wire, &mut self.logs, vc_index);
            self.aries.respond(nic, &response);
            let of = self.aries.get_mut(nic);
            of.responses.pop_front();
            let free = of.response_free;
            let hop = HopTiming::new(free.max(now), times, ClassId::NODE.0);
            of.response_free = hop.end;
            if let Some(blame) = &mut self.blame {
                let message = self.aries.message(&response);
                let room = Room { buffer, waited: now - response.time };
                blame.respond(nic, message, room, now, free, hop.decision - free.max(now));
            }
            if self.by_class.on() {
                let job = self.job_of(&response);
                self.by_class.add(job, ClassId::NODE.0, times.wire);
            }
            self.queue.push(here.router, response.at(hop.decision));
            if hop.end >= LAST_TIME {
                self.failure.get_or_insert(ErrorKind::TimeOverflow {}.into());
                self.end = 0;
                return;
            }
        }
        if std::mem::take(&mut self.aries.get_mut(nic).response_waits) {
            self.credits.stop_waiting(buffer);
        }
    }

    /// A packet reaches a NIC at `at`.
    #[inline]
    pub(super) fn reach(&mut self, packet: &Event, nic: u32, at: u64) {
        self.aries.delivered += 1;
        let request = self.aries.of_slot(packet.message);
        if self.aries.carries(packet) {
            let flight = self.flights.deliver_and_keep(request.message);
            self.take_in(packet, (request.message, flight), nic, at);
        }
        if !self.aries.is_response(packet) {
            let place = self.wiring.event_attachment(nic);
            self.queue.push(place.router, packet.arrival(at, place.port, nic));
            return;
        }
        let (complete, wake) = self.aries.answer(packet.message, packet.bytes(), at);
        if let Some(at) = wake {
            let place = self.wiring.event_attachment(nic);
            let event = Event::other(EventKind::NicCredit, at, place.port, NicNews::Window as u8, nic);
            self.queue.push(place.router, event);
        }
        if let Some(exchange) = complete {
            self.flights.release(request.message);
            if let (Some(policy), Some(mode)) = (exchange.observer, exchange.counters.mode) {
                let observation =
                    Observation { at: exchange.last, nic: request.nic, mode, counters: exchange.counters };
                self.policies.observe(exchange.job, policy, observation);
            }
            self.end_exchange(&exchange);
        }
    }

    /// The last response of a message is known to come.
    fn end_exchange(&mut self, exchange: &Exchange) {
        if !self.jobs.list[usize::from(exchange.job)].program {
            self.complete(exchange.job, exchange.last);
        } else if exchange.sender != NO_SENDER {
            self.sent(exchange.job, exchange.sender, exchange.last);
        }
    }
}
