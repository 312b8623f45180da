//! NICs that answer packets, those of Aries and those with windows towards destinations: every request packet is answered
//! by a response packet (model, section 3).

use std::ops::Range;

use odonata_decision::{Counters, Decision, Operation};
use odonata_sim::engine::random::response_key;
use odonata_sim::spec::{AriesSpec, Entropy, FabricSpec, Feedback, REPS_VALUES};
use odonata_topology::NodeId;

use crate::blame::Hold;
use crate::calendar::Event;
use crate::classes::first_of_responses;
use crate::congestion::{Acknowledgement, Pair};
use crate::link::{OnWire, aries_packets};
use crate::nic::Unsent;
use crate::packet::{Cause, DirectState, Packet, ValiantState};
use crate::program::ProtocolMessageKind;
use crate::world::World;

/// A request, for as long as the run lasts.
#[derive(Debug)]
pub(crate) struct Request {
    /// NIC that it comes from.
    pub(crate) nic: NodeId,
    /// NIC that it goes to.
    to: NodeId,
    /// When its tail left the NIC.
    pub(crate) left: Option<u64>,
    /// Responses to it that have come.
    pub(crate) answers: u64,
    /// The key of its packet.
    key: u32,
    /// Whether it asks for an acknowledgement of its own.
    pub(crate) asks: bool,
}

/// Bytes on a link of a request or a response for so many bytes of payload, of a put or a get.
pub(crate) fn wire(fabric: &FabricSpec, payload: u64, response: bool, get: bool) -> u64 {
    match fabric.nic.aries {
        Some(aries) if response != get => {
            aries_packets(payload, u64::from(aries.packet_bytes)).len() as u64 * fabric.head()
        }
        None if response => fabric.head(), // an acknowledgement
        _ => fabric.wire(payload),
    }
}

impl World<'_> {
    fn aries(&self) -> Option<AriesSpec> {
        self.spec.fabric.nic.aries
    }

    /// Aries packets of a packet; the packet itself without NICs of Aries.
    pub(crate) fn burst(&self, bytes: u64) -> Vec<u64> {
        self.aries().map_or(vec![bytes], |aries| aries_packets(bytes, u64::from(aries.packet_bytes)))
    }

    /// Whether packets are answered.
    pub(crate) fn answers(&self) -> bool {
        self.aries().is_some() || self.spec.fabric.most_in_flight().is_some()
    }

    /// Whether a message is a get.
    pub(crate) fn is_get(&self, cause: Cause) -> bool {
        let data = match cause {
            Cause::Traffic { .. } => true,
            Cause::Program(message) => message.arrival.message_kind == ProtocolMessageKind::Data,
        };
        data && self.spec.fabric.gets()
    }

    /// The mode of a message that a rank issues now, whether to observe it, and whose turn it is; none if its job is not
    /// application-aware.
    pub(crate) fn select_mode(
        &mut self,
        t: u64,
        [node, to]: [u32; 2],
        (job, rank): (usize, u32),
        bytes: u64,
        cause: Cause,
        row: Option<usize>,
    ) -> Option<(usize, Decision)> {
        let iteration = match (cause, row) {
            (Cause::Program(message), _) => message.arrival.key.iteration,
            (Cause::Traffic { .. }, row) => self.rows[row.expect("messages of traffic have rows")].interval,
        };
        let operation = if self.is_get(cause) { Operation::Get } else { Operation::Put };
        let policies = self.policies[job].get_mut(rank as usize)?;
        let turn = (iteration % policies.len() as u64) as usize;
        let alltoall = match (cause, &self.spec.jobs[job].program) {
            (Cause::Program(message), Some(program)) => program.body.is_alltoall(message.arrival.key.label),
            _ => false,
        };
        let control = match cause {
            Cause::Traffic { .. } => false,
            Cause::Program(message) => {
                !matches!(message.arrival.message_kind, ProtocolMessageKind::Eager | ProtocolMessageKind::Data)
            }
        };
        let message = odonata_decision::Message { bytes, operation, alltoall, peer: u64::from(to), control };
        let mut decision = policies[turn].select(message);
        if decision.observe && policies[turn].reads_nic() {
            decision.observe = false;
            if let Some(before) = self.read.insert((job, rank, turn), t) {
                let counters = self.counted(node, before..t);
                self.policies[job][rank as usize][turn].observe(decision.mode, counters);
            }
        }
        if row.is_some() {
            self.tally.sent_in_mode(job, decision.mode, bytes);
        }
        Some((turn, decision))
    }

    /// What the NICs of a node have counted in a time, in whole cycles.
    fn counted(&self, node: u32, time: Range<u64>) -> Counters {
        let rails = self.map.network.rails;
        let nics = &self.nics[(node * rails) as usize..((node + 1) * rails) as usize];
        let mut sum = Counters::default();
        let noted = nics.iter().flat_map(|nic| nic.history.iter().rev().take_while(|(at, _)| *at >= time.start));
        for (_, counters) in noted.filter(|(at, _)| *at < time.end) {
            sum.request_flits += counters.request_flits;
            sum.stalled_cycles += counters.stalled_cycles;
            sum.request_packets += counters.request_packets;
            sum.latency_cycles += counters.latency_cycles;
        }
        let cycle_ps = self.aries().expect("policies are for Aries only").cycle_ps;
        sum.stalled_cycles /= cycle_ps; // picoseconds so far
        sum.latency_cycles /= cycle_ps;
        sum
    }

    /// Remembers what a NIC has counted at `t`, with times in picoseconds, if policies may ask for it.
    fn note(&mut self, t: u64, nic: NodeId, counters: Counters) {
        if self.policies.iter().any(|ranks| !ranks.is_empty()) {
            self.nics[nic.index()].history.push((t, counters));
        }
    }

    /// The place in the queue of a NIC of the message that it may send from at `t`, if there is one.
    pub(crate) fn next_to_send(&mut self, t: u64, nic: NodeId) -> Option<usize> {
        let fabric = &self.spec.fabric;
        if fabric.most_in_flight().is_none() {
            let (packet, _) = self.nics[nic.index()].packet(nic, 0, &self.messages, &self.spec.fabric)?;
            return self.has_window(t, nic, &packet).then_some(0);
        }
        self.end_pauses(t, nic);
        let free = self.links[self.map.network.peer.len() + nic.index()].free(t);
        let of = &mut self.nics[nic.index()];
        let pair = |unsent: &Unsent| of.pairs.get(&unsent.to.index());
        let place = of.queue.iter().position(|unsent| pair(unsent).is_none_or(|pair| pair.open(fabric, t)));
        let pauses = of.queue.iter().filter_map(pair).filter(|pair| pair.fits(fabric) && t < pair.pause_end);
        if let Some(end) = pauses.map(|pair| pair.pause_end).min()
            && of.looks_at.is_none_or(|looks_at| looks_at <= t || end < looks_at)
        {
            of.looks_at = Some(end);
            self.calendar.add(end, Event::Look { nic });
        }
        if place.is_none() && !of.queue.is_empty() {
            of.window_since.get_or_insert(free);
            of.room_since = None; // more than room is missing now
        } else if let Some(since) = of.window_since.take() {
            of.counters.window_ps += free - since;
        }
        place
    }

    /// Something happens to a pair of NICs with a window.
    fn change_pair(&mut self, t: u64, nic: NodeId, to: NodeId, change: impl FnOnce(&mut Pair, &FabricSpec)) {
        let fabric = &self.spec.fabric;
        if fabric.most_in_flight().is_none() {
            return;
        }
        self.end_pauses(t, nic);
        let of = &mut self.nics[nic.index()];
        let pair = of.pairs.entry(to.index()).or_insert_with(|| Pair::new(fabric));
        change(pair, fabric);
        let (open, holder) = (pair.open(fabric, t), pair.holder);
        of.most_in_flight = pair.in_flight.max(of.most_in_flight);
        let Some(commits) = &mut self.commits else { return };
        let times = commits.windows[nic.index()].entry(Some(to.index())).or_default();
        if let Some(last) = times.last_mut()
            && last.time[1] == u64::MAX
        {
            if !open && last.holder == holder {
                return;
            }
            last.time[1] = t;
        }
        if !open {
            times.push(Hold { time: [t, u64::MAX], holder });
        }
    }

    /// Notes the pauses of a NIC that have ended by `t`, if blame is measured.
    fn end_pauses(&mut self, t: u64, nic: NodeId) {
        let Some(commits) = &mut self.commits else { return };
        for (to, pair) in &self.nics[nic.index()].pairs {
            if pair.open(&self.spec.fabric, t)
                && let Some(Hold { time: [since, end], .. }) =
                    commits.windows[nic.index()].get_mut(&Some(*to)).and_then(|times| times.last_mut())
                && *end == u64::MAX
            {
                *end = pair.pause_end.max(*since);
            }
        }
    }

    /// Whether the window has room for the packet at the head of a NIC.
    fn has_window(&mut self, t: u64, nic: NodeId, packet: &Packet) -> bool {
        let Some(aries) = self.aries() else { return true };
        let burst = self.burst(packet.bytes).len() as u64;
        let free = self.links[self.map.network.peer.len() + nic.index()].free(t);
        let of = &mut self.nics[nic.index()];
        let full = of.outstanding + burst > u64::from(aries.window);
        if let Some(commits) = &mut self.commits {
            match (of.window_since, full) {
                (None, true) => commits.windows[nic.index()]
                    .entry(None)
                    .or_default()
                    .push(Hold { time: [t, u64::MAX], holder: None }),
                (Some(_), false) => {
                    let times = commits.windows[nic.index()].entry(None).or_default();
                    times.last_mut().expect("it has begun").time[1] = t;
                }
                _ => {}
            }
        }
        if full {
            of.window_since.get_or_insert(free);
            return false;
        }
        if let Some(since) = of.window_since.take() {
            of.counters.window_ps += free - since;
        }
        true
    }

    /// Whether the router has room for the packet at the head of a NIC.
    pub(crate) fn has_room_for(&mut self, t: u64, nic: NodeId, packet: &Packet) -> bool {
        let link = &self.links[self.map.network.peer.len() + nic.index()];
        let has_room = link.has_room(0, packet.wire);
        if !has_room {
            self.nics[nic.index()].room_since.get_or_insert(link.free(t));
        }
        has_room
    }

    /// Counts a request that is committed now.
    pub(crate) fn count_request(&mut self, t: u64, nic: NodeId, packet: &mut Packet, last_of_message: bool) {
        if !self.answers() {
            return;
        }
        let mut asks = true;
        self.change_pair(t, nic, packet.destination, |pair, fabric| {
            asks = pair.send(fabric, t, packet.bytes, last_of_message);
        });
        let burst = self.burst(packet.bytes).len() as u64;
        let link = &self.links[self.map.network.peer.len() + nic.index()];
        let flits = packet.wire / u64::from(self.spec.fabric.flit_bytes);
        let serialisation = link.serialisation(packet.wire);
        let slow = self.aries().map_or(0, |aries| serialisation.saturating_sub(flits * aries.cycle_ps));
        let free = link.free(t);
        let of = &mut self.nics[nic.index()];
        let stalled = free - of.room_since.take().unwrap_or(free) + slow;
        of.outstanding += burst;
        of.most_outstanding = of.most_outstanding.max(of.outstanding);
        of.counters.request_packets += burst;
        of.counters.request_flits += flits;
        of.counters.stalled_ps += stalled;
        self.note(t, nic, Counters { request_flits: flits, stalled_cycles: stalled, ..Counters::default() });
        let counters = &mut self.messages[packet.message].counters;
        counters.packets += burst;
        counters.flits += flits;
        counters.stalled_ps += stalled;
        packet.request = Some(self.requests.len());
        self.requests.push(Request { nic, to: packet.destination, left: None, answers: 0, key: packet.key, asks });
    }

    /// The tail of a request has left its NIC.
    pub(crate) fn request_left(&mut self, t: u64, request: usize) {
        self.requests[request].left = Some(t);
    }

    /// A packet has reached a NIC of its node.
    pub(crate) fn arrival(&mut self, t: u64, packet: &Packet) {
        for packet in self.given(packet) {
            self.take(t, &packet);
        }
    }

    /// A NIC gives a packet to its node.
    fn take(&mut self, t: u64, packet: &Packet) {
        let (delivered, answered) = self.count_arrival(t, packet);
        if delivered {
            self.delivered(t, packet.message);
        }
        for message in answered {
            self.message_complete(t, message);
        }
        let Some(request) = packet.request else { return };
        if packet.response {
            let Request { nic, to, key, asks, .. } = self.requests[request];
            self.nics[nic.index()].outstanding -= (self.burst(packet.bytes).len() + packet.stands_for.len()) as u64;
            let delay = t - self.started(request, packet);
            let zero_load = match self.spec.fabric.congestion_control.map(|control| control.law.feedback()) {
                Some(Feedback::Hops) => {
                    self.zero_load(nic, to, self.spec.fabric.wire(packet.bytes), packet.says)
                        + self.zero_load(to, nic, packet.wire, u64::from(packet.hop))
                }
                _ => 0,
            };
            let Packet { marked, named, says, .. } = *packet;
            let bytes = packet.bytes + packet.stands_for.iter().map(|other| other.bytes).sum::<u64>();
            let of = Acknowledgement { t, bytes, own: packet.bytes, delay, zero_load, marked, named, says, asks };
            self.change_pair(t, nic, to, |pair, fabric| {
                if !marked && fabric.nic.entropy == Entropy::Reps {
                    pair.entropies.push_back(key);
                    if pair.entropies.len() > REPS_VALUES {
                        pair.entropies.pop_front();
                    }
                }
                pair.acknowledge(fabric, of);
            });
            self.inject(t, nic);
        } else {
            self.acknowledge(t, packet);
        }
    }

    /// All packets of a message have been answered.
    fn message_complete(&mut self, t: u64, message: usize) {
        let job = self.messages[message].job;
        match self.messages[message].cause {
            Cause::Traffic { sender } => self.traffic_complete(t, job, sender),
            Cause::Program(protocol_message) => self.protocol_message_sent(t, job, protocol_message),
        }
    }

    /// Whether a packet carries payload.
    pub(crate) fn carries(&self, packet: &Packet) -> bool {
        !self.answers() || packet.response == self.messages[packet.message].get
    }

    /// Counts a packet that has reached a NIC; returns whether its message is delivered with it, and the messages of which
    /// all packets have been answered with it.
    pub(crate) fn count_arrival(&mut self, t: u64, packet: &Packet) -> (bool, Vec<usize>) {
        let delivered = self.carries(packet) && self.count_delivery(t, packet);
        let mut answered = Vec::new();
        if packet.response {
            for of in std::iter::once(packet).chain(&packet.stands_for) {
                if self.count_answer(t, of) {
                    answered.push(of.message);
                }
            }
        }
        (delivered, answered)
    }

    /// Counts a response that has come; returns whether that completes its message for its sender.
    fn count_answer(&mut self, t: u64, packet: &Packet) -> bool {
        let cycle_ps = self.aries().map_or(1, |aries| aries.cycle_ps); // policies are for Aries only
        let request = &mut self.requests[packet.request.expect("it answers a request")];
        request.answers += 1;
        let nic = request.nic;
        let burst = self.burst(packet.bytes);
        let started = self.started(packet.request.expect("it answers a request"), packet);
        let latency = burst.len() as u64 * (t - started);
        let counters = &mut self.nics[nic.index()].counters;
        counters.answered_packets += burst.len() as u64;
        counters.latency_ps += latency;
        let answered = Counters { request_packets: burst.len() as u64, latency_cycles: latency, ..Counters::default() };
        self.note(t, nic, answered);
        let message = &mut self.messages[packet.message];
        message.counters.latency_ps += latency;
        message.packets_answered += 1;
        let complete = message.packets_answered == message.packets(u64::from(self.spec.fabric.packet_bytes));
        if let (Some(row), true) = (message.row, complete) {
            message.counters.complete_ps = t - self.rows[row].issued;
            message.counters.mode = message.mode;
            self.rows[row].counters = message.counters;
        }
        if let (Some(mode), Some(turn), true) = (message.mode, message.observer, complete) {
            let counters = Counters {
                request_flits: message.counters.flits,
                stalled_cycles: message.counters.stalled_ps / cycle_ps,
                request_packets: message.counters.packets,
                latency_cycles: message.counters.latency_ps / cycle_ps,
            };
            self.policies[message.job][message.rank as usize][turn].observe(mode, counters);
        }
        complete
    }

    /// When the first flit of the last Aries packet of a request left its NIC; `packet` is the request or its response.
    fn started(&self, request: usize, packet: &Packet) -> u64 {
        let Request { nic, left, .. } = self.requests[request];
        let last = *self.burst(packet.bytes).last().expect("a packet has payload");
        let wire = wire(&self.spec.fabric, last, false, self.messages[packet.message].get);
        let link = &self.links[self.map.network.peer.len() + nic.index()];
        left.expect("it has left") - link.serialisation(wire)
    }

    /// The response to a request that arrives at time `t`.
    pub(crate) fn response(&self, t: u64, request: &Packet) -> Packet {
        let number = request.request.expect("it is a request");
        Packet {
            message: request.message,
            request: Some(number),
            response: true,
            marked: request.marked,
            named: request.named,
            more: false,
            stands_for: Vec::new(),
            says: 0,
            bytes: request.bytes,
            wire: wire(&self.spec.fabric, request.bytes, true, self.messages[request.message].get),
            head: 0,
            tail: 0,
            decided: t,
            joined: 0,
            passage: None,
            latest: None,
            key: response_key(request.key),
            from: request.destination,
            number: request.number,
            destination: self.requests[number].nic,
            stands_in: None,
            hop: 0,
            minimal: true,
            valiant: ValiantState::default(),
            direct: DirectState::default(),
            through: None,
            memory: None,
            picked: 0,
        }
    }

    /// A NIC sends the responses for which there is room.
    pub(crate) fn send_responses(&mut self, t: u64, nic: NodeId) {
        let link = self.map.network.peer.len() + self.nics.len() + nic.index();
        let channel = first_of_responses(&self.spec.fabric);
        while let Some(first) = self.nics[nic.index()].responses.front()
            && self.links[link].has_room(channel, first.wire)
        {
            let response = self.nics[nic.index()].responses.pop_front().expect("there is one");
            let burst = self.burst(response.bytes).len() as u64;
            let of = &mut self.nics[nic.index()].counters;
            of.response_packets += burst;
            of.response_flits += response.wire / u64::from(self.spec.fabric.flit_bytes);
            self.grant(t, link, channel, response, 0);
        }
    }
}
