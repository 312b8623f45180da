//! The effect of each event (model, sections 3, 4 and 7; for events of programs see `program`).

use odonata_error::Error;
use odonata_sim::engine::random::{Stream, below, mix64, random};
use odonata_sim::output::MessageCounters;
use odonata_sim::spec::{Entropy, MarkingPorts, Pattern, Rail, RoutingSpec};
use odonata_topology::{NodeId, Peer, RouterId};

use crate::blame::{Commit, Commits, Step};
use crate::calendar::Event;
use crate::link::{Far, Sender as Drives};
use crate::nic::Unsent;
use crate::packet::{Cause, Message, MessageRow, Packet};
use crate::program::{Nics, ProtocolMessageKind};
use crate::routing::{DecisionContext, packets, routing_of, shared_key};
use crate::traffic;
use crate::world::World;

impl World<'_> {
    /// Handles one event.
    ///
    /// # Errors
    /// If a program cannot continue.
    pub(crate) fn happen(&mut self, t: u64, event: Event) -> Result<(), Error> {
        match event {
            Event::SendEnd { link } => self.send_end(t, link),
            Event::Delivery { packet } => self.arrival(t, &packet),
            Event::Look { nic } => self.inject(t, nic),
            Event::Credits { nic } => self.give_credits(t, nic),
            Event::Credit { link, channel, bytes } => self.credit(t, link, channel, bytes),
            Event::Issue { sender, .. } => self.issue(t, sender),
            Event::Rank { who, event, .. } => self.rank_event(t, who, event)?,
            Event::Arbitration { slot } if self.has_classes() => self.serve(t, slot),
            Event::Arbitration { slot } => self.arbitrate(t, slot),
            Event::Decision { slot, packet } => self.decide(t, slot, packet),
        }
        Ok(())
    }

    /// The interval of a rank begins.
    fn issue(&mut self, t: u64, index: usize) {
        let sender = &mut self.senders[index];
        let job = &self.spec.jobs[sender.job];
        let (number, node, interval) = (sender.job, sender.node, sender.interval);
        let ranks = traffic::destinations(self.spec.seed, job, &self.map.network, sender);
        sender.interval += 1;
        sender.began = t;
        sender.under_way = ranks.len() as u64;
        let source = sender.rank;
        self.open[number].0 += ranks.len() as u64;
        if job.traffic().intervals == Some(interval + 1) {
            self.open[number].1 -= 1;
        } else if !matches!(job.traffic().pattern, Pattern::Broadcast { .. }) {
            self.next_interval(t, index);
        }
        for destination in ranks {
            let counters = MessageCounters::default();
            self.rows.push(MessageRow {
                job: number,
                interval,
                source,
                destination,
                issued: t,
                delivered: None,
                counters,
            });
            self.tally.issue(number, t);
            let (between, bytes) = ([node, job.nodes[destination as usize]], job.traffic().message_bytes);
            let row = Some(self.rows.len() - 1);
            self.post(t, number, between, None, bytes, Cause::Traffic { sender: index }, row);
        }
        self.nics_act(t, node); // after all messages, so that `round-robin` and `least-busy` see all messages of the interval
    }

    /// A message joins the queue of a NIC of the first of two nodes. `nics` names a NIC of each node, or leaves the
    /// choice to the fabric.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn post(
        &mut self,
        t: u64,
        job: usize,
        [node, to]: [u32; 2],
        nics: Nics,
        bytes: u64,
        cause: Cause,
        row: Option<usize>,
    ) {
        let key = random(self.spec.seed, Stream::Message, u64::from(node), self.issued[node as usize]);
        let rails = self.map.network.rails;
        let by_rank = self.nics_of_ranks(job, [node, to], cause);
        let (rail, rail_there) = match nics.map(|(here, there)| [here, there].map(u32::from)).or(by_rank) {
            Some([here, _]) if self.map.network.separate_rails => (here % rails, here % rails),
            Some([here, there]) => (here % rails, there % rails),
            None => {
                let rail = self.rail(t, node, key);
                (rail, rail)
            }
        };
        let striped = self.is_striped(bytes, nics, cause);
        let rank = match cause {
            Cause::Traffic { sender } => self.senders[sender].rank,
            Cause::Program(protocol_message) if self.is_get(cause) => protocol_message.to,
            Cause::Program(protocol_message) => protocol_message.arrival.key.peer,
        };
        let get = self.is_get(cause);
        let selected = self.select_mode(t, [node, to], (job, rank), bytes, cause, row);
        let mode = selected.map(|(_, decision)| decision.mode).or(routing_of(self.spec, job).fixed_mode());
        let routing = packets(routing_of(self.spec, job), mode);
        self.messages.push(Message {
            job,
            rank,
            cause,
            get,
            row,
            to: NodeId(to * rails + rail_there),
            bytes,
            key,
            shared_key: shared_key(self.spec, &routing, key, node, to),
            routing,
            mode,
            observer: selected.filter(|(_, decision)| decision.observe).map(|(turn, _)| turn),
            joined: t,
            packets_sent: 0,
            packets_delivered: 0,
            packets_answered: 0,
            counters: MessageCounters::default(),
        });
        self.issued[node as usize] += 1;
        let number = self.messages.len() - 1;
        let packets = self.messages[number].packets(u64::from(self.spec.fabric.packet_bytes));
        if !striped {
            let queue = &mut self.nics[(node * rails + rail) as usize].queue;
            return queue.push_back(Unsent::new(number, 0..packets, self.messages[number].to));
        }
        // Deals out the packets one by one, to know how many each part has.
        let mut sizes = vec![0; rails as usize];
        (0..packets).for_each(|k| sizes[(k % u64::from(rails)) as usize] += 1);
        let mut begin = 0;
        for (rail, size) in (0..rails).zip(sizes).filter(|(_, size)| *size > 0) {
            let part = Unsent::new(number, begin..begin + size, NodeId(to * rails + rail));
            self.nics[(node * rails + rail) as usize].queue.push_back(part);
            begin += size;
        }
    }

    /// Whether the packets of a message are divided over all NICs of its node (section 7, "Striped messages").
    fn is_striped(&self, bytes: u64, nics: Nics, cause: Cause) -> bool {
        let is_control = match cause {
            Cause::Traffic { .. } => false,
            Cause::Program(message) => {
                !matches!(message.arrival.message_kind, ProtocolMessageKind::Eager | ProtocolMessageKind::Data)
            }
        };
        let large = self.spec.fabric.nic.stripe_bytes.is_some_and(|least| least <= bytes);
        large && self.map.network.rails > 1 && !is_control && nics.is_none()
    }

    /// All NICs of a node send what they can.
    pub(crate) fn nics_act(&mut self, t: u64, node: u32) {
        for rail in 0..self.map.network.rails {
            self.inject(t, NodeId(node * self.map.network.rails + rail));
        }
    }

    /// The NICs of the GPUs of the two ranks of a protocol message, the one that issues it first. Without GPUs and under
    /// `by-rank`, the place of each among the ranks of its job on its node.
    fn nics_of_ranks(&self, job: usize, [node, to]: [u32; 2], cause: Cause) -> Option<[u32; 2]> {
        let Cause::Program(message) = cause else { return None };
        let gpus = self.spec.jobs[job].program.as_ref().and_then(|program| program.gpus.as_ref());
        if gpus.is_none() && self.spec.fabric.nic.rail != Rail::ByRank {
            return None;
        }
        let ends = [message.arrival.key.peer, message.to];
        let [from, at] = if self.is_get(cause) { [ends[1], ends[0]] } else { ends };
        let nodes = &self.spec.jobs[job].nodes;
        let place = |rank: u32, node: u32| nodes[..rank as usize].iter().filter(|&&other| other == node).count() as u32;
        let places = [place(from, node), place(at, to)];
        Some(gpus.map_or(places, |gpus| places.map(|place| gpus.nics[(place % gpus.count) as usize])))
    }

    /// Number of the NIC that a message uses at its source and at its destination.
    fn rail(&self, t: u64, node: u32, key: u64) -> u32 {
        let rails = self.map.network.rails;
        match self.spec.fabric.nic.rail {
            Rail::Hash | Rail::ByRank => below(mix64(key), u64::from(rails)) as u32,
            Rail::LeastBusy => {
                let packet_bytes = u64::from(self.spec.fabric.packet_bytes);
                let busy = |rail: &u32| {
                    let endpoint = (node * rails + rail) as usize;
                    let link = self.map.network.peer.len() + endpoint;
                    (self.nics[endpoint].unsent(&self.messages, packet_bytes), self.links[link].backlog(t))
                };
                (0..rails).min_by_key(busy).expect("a node has a NIC")
            }
        }
    }

    /// Fixes when the next interval of a rank begins, but not before `t`.
    fn next_interval(&mut self, t: u64, index: usize) {
        let spec = self.spec;
        let sender = &mut self.senders[index];
        let job = &spec.jobs[sender.job];
        let earliest = t.max(sender.began + traffic::gap(spec.seed, job, sender.node, sender.interval));
        let begin = traffic::begins(spec.seed, job, &mut sender.pauses, 0, earliest);
        let nic = self.first_nic(self.senders[index].node);
        self.calendar.add(begin, Event::Issue { nic, sender: index });
    }

    /// The NIC grants its injection link to as many packets as there is room for.
    pub(crate) fn inject(&mut self, t: u64, nic: NodeId) {
        let link = self.map.network.peer.len() + nic.index();
        while let Some(place) = self.next_to_send(t, nic)
            && let Some((mut packet, first)) =
                self.nics[nic.index()].packet(nic, place, &self.messages, &self.spec.fabric)
            && self.has_room_for(t, nic, &packet)
        {
            if self.spec.fabric.nic.entropy == Entropy::Reps
                && let Some(pair) = self.nics[nic.index()].pairs.get_mut(&packet.destination.index())
            {
                packet.key = pair.entropies.pop_front().unwrap_or(packet.key);
            }
            let unsent = &self.nics[nic.index()].queue[place];
            let last_of_message = unsent.next + 1 == unsent.packets.end;
            self.count_request(t, nic, &mut packet, last_of_message);
            packet.more = self.announces_more(nic, place);
            packet.number = self.number(nic, &packet);
            let hold = if first { self.spec.fabric.nic.overhead_ps } else { 0 };
            self.grant(t, link, 0, packet, hold);
            self.nics[nic.index()].advance(place, self.spec.fabric.nic.order);
        }
        let of = &self.nics[nic.index()];
        let waits = !of.queue.is_empty() && of.window_since.is_none();
        self.links[link].watch(0, waits, t);
    }

    pub(crate) fn grant(&mut self, t: u64, link: usize, channel: usize, mut packet: Packet, hold: u64) {
        let class = self.map.network.class.get(link).map_or(0, |class| class.index()); // 0: the class of links to nodes
        self.tally.carry(self.messages[packet.message].job, class, packet.wire);
        self.note_commit(t, link, channel, &mut packet, hold);
        self.links[link].grant(channel, packet, hold);
        self.start(t, link);
    }

    /// If blame or a series is measured: notes the commit of a packet to a link, and when its credit reaches the sender of
    /// the link by which it came.
    fn note_commit(&mut self, t: u64, link: usize, channel: usize, packet: &mut Packet, hold: u64) {
        let carries = self.carries(packet);
        let Some(Commits { links: commits, passages, .. }) = &mut self.commits else { return };
        let of = &self.links[link];
        let schedule = of.schedule(t, packet, hold);
        let start = schedule.crossing.leaves - of.serialisation(packet.wire);
        let next = if matches!(of.far, Far::Node) { schedule.crossing.arrives } else { schedule.crossing.decided };
        if let Some(passage) = packet.passage.take() {
            passages[passage].commit = Some((link, commits[link].len()));
        } else if let Some((before, number)) = packet.latest {
            let back = self.links[before].spec;
            commits[before][number].returned = Some(schedule.crossing.leaves + back.latency_ps + back.credit_delay_ps);
            commits[before][number].following = Some(Step::Commit(link, commits[link].len()));
        }
        packet.latest = Some((link, commits[link].len()));
        commits[link].push(Commit {
            message: packet.message,
            to: packet.destination.index(),
            wire: packet.wire,
            channel,
            since: packet.decided,
            committed: t,
            ready: schedule.ready,
            occupies: schedule.occupies,
            start,
            queued: match of.sender {
                Drives::Nic(_) | Drives::Responses(_) => 0,
                // What is in an output buffer could be sent once it was there.
                Drives::Port if self.crossbars.is_empty() => start - packet.decided.max(of.in_time(packet)),
                Drives::Port => start - packet.head.max(of.in_time(packet)),
            },
            leaves: schedule.crossing.leaves,
            next,
            delivers: matches!(of.far, Far::Node) && carries,
            minimal: packet.minimal,
            returned: None,
            following: None,
        });
    }

    /// The link starts to send the next packet, if it can.
    fn start(&mut self, t: u64, link: usize) {
        let Some((mut packet, channel, crossing)) = self.links[link].start(t) else { return };
        if let (Some(commits), Some((_, number))) = (&self.commits, packet.latest) {
            debug_assert_eq!(commits.links[link][number].leaves, crossing.leaves, "it was foreseen");
        }
        self.calendar.add(crossing.leaves, Event::SendEnd { link });
        match self.links[link].far {
            Far::Node => self.calendar.add(crossing.arrives, Event::Delivery { packet }),
            Far::Router(slot) => {
                packet.stands_in = Some((link, channel));
                self.calendar.add(crossing.decided, Event::Decision { slot, packet });
            }
        }
    }

    /// The tail of a packet leaves by a link: the credit for its room returns, and the next packet starts.
    pub(crate) fn send_end(&mut self, t: u64, index: usize) {
        let sent = self.links[index].sent(t);
        self.start(t, index);
        if let Some((link, channel)) = sent.from {
            let back = self.links[link].spec;
            let credit = Event::Credit { link, channel, bytes: sent.wire };
            let known = t + back.latency_ps + back.credit_delay_ps;
            self.links[link].leave_far(sent.wire, known, t);
            self.calendar.add(known, credit);
        }
        if matches!(self.links[index].sender, Drives::Nic(_)) {
            match sent.request {
                Some(request) => self.request_left(t, request),
                None => self.left_nic(t, sent.message),
            }
        }
        self.left_output(t, index, sent.channel, sent.wire);
        if self.has_classes() && index < self.map.network.peer.len() {
            self.look_at_class(t, index, sent.channel);
        }
    }

    /// A packet of a message has left its NIC.
    fn left_nic(&mut self, t: u64, index: usize) {
        let message = &mut self.messages[index];
        message.packets_sent += 1;
        let complete = message.packets_sent == message.packets(u64::from(self.spec.fabric.packet_bytes));
        if let (Cause::Program(protocol_message), true) = (message.cause, complete) {
            let job = message.job;
            self.protocol_message_sent(t, job, protocol_message);
        }
    }

    /// The credit for room in the far buffer reaches the sender of a link.
    fn credit(&mut self, t: u64, index: usize, channel: usize, bytes: u64) {
        self.links[index].channels[channel].room += bytes;
        if let Drives::Nic(nic) = self.links[index].sender {
            return self.inject(t, nic);
        }
        if let Drives::Responses(nic) = self.links[index].sender {
            return self.send_responses(t, nic);
        }
        if self.has_classes() {
            return self.look_at_class(t, index, channel);
        }
        while let Some(head) = self.links[index].channels[channel].fifo.front()
            && self.links[index].has_room(channel, head.wire)
        {
            let packet = self.links[index].channels[channel].fifo.pop_front().expect("it has a head");
            self.grant(t, index, channel, packet, 0);
        }
        let waits = !self.links[index].channels[channel].fifo.is_empty();
        self.links[index].watch(channel, waits, t);
    }

    /// A packet gets its output port and channel.
    fn decide(&mut self, t: u64, slot: usize, mut packet: Packet) {
        if let Some(router) = self.spec.fabric.router {
            return self.join(t, slot, packet, router);
        }
        let (out, channel) = self.route(t, slot, &mut packet);
        self.leave(t, out, channel, packet);
    }

    /// The output port and channel that a packet gets.
    pub(crate) fn route(&mut self, t: u64, slot: usize, packet: &mut Packet) -> (usize, usize) {
        let (_, came_on) = packet.stands_in.expect("a packet in a router stands in one of its buffers");
        let (spec, map, links) = (self.spec, &self.map, &self.links);
        let routing = &self.messages[packet.message].routing;
        let shift = self.first_channel(packet);
        // The link of a NIC has the first channel of all classes.
        let own = if matches!(map.network.peer[slot], Peer::Node(_)) { 0 } else { came_on - shift };
        let (out, channel) = if matches!(routing, RoutingSpec::Custom { .. }) {
            let class = spec.jobs[self.messages[packet.message].job].class;
            self.own.route((spec, map, links), (routing, class), (t, slot, came_on), packet)
        } else {
            DecisionContext { spec, routing, map, links, slot, channel: own, t }.route(packet)
        };
        if !packet.marked && self.marks(t, out, packet) {
            packet.marked = true;
            packet.named = self.name_holder(t, out);
        }
        let to_node = matches!(links[out].far, Far::Node);
        let channel = if to_node && !self.has_classes() { channel } else { channel + shift };
        packet.hop += 1;
        packet.decided = t;
        self.tally.packet_hops += 1;
        let group = map.network.group_of(RouterId(map.router(slot) as u32));
        if let (Some(width), Some(group)) = (self.spec.measure.arrivals_every_ps, group) {
            let at = (t / width, self.messages[packet.message].job, group.0);
            self.tally.cross(at, packet.wire, self.map.is_global(slot), self.map.is_global(out));
        }
        (out, channel)
    }

    /// Whether a router marks a packet that gets an output at `t`.
    fn marks(&self, t: u64, out: usize, packet: &Packet) -> bool {
        let Some(control) = self.spec.fabric.congestion_control else { return false };
        let Some(mark_above) = control.mark_above_bytes else { return false };
        let link = &self.links[out];
        let observed = match control.law.marking() {
            MarkingPorts::None => false,
            MarkingPorts::ToNodes => matches!(link.far, Far::Node),
            MarkingPorts::All => true,
        };
        let k = link.serialisation(mark_above);
        let above = k / 2 + below(random(self.spec.seed, Stream::Mark, out as u64, t), k);
        observed && !packet.response && self.backlog_before(t, out, packet) > above
    }

    /// A packet is granted a link, or waits for room behind it.
    pub(crate) fn leave(&mut self, t: u64, out: usize, channel: usize, packet: Packet) {
        if self.has_classes() {
            return self.join_class(t, out, channel, packet);
        }
        let link = &mut self.links[out];
        if link.channels[channel].fifo.is_empty() && link.has_room(channel, packet.wire) {
            self.grant(t, out, channel, packet, 0);
        } else {
            link.channels[channel].fifo.push_back(packet);
            link.watch(channel, true, t);
        }
    }

    /// Counts a packet with payload that has reached its node; returns whether that completes its message.
    pub(crate) fn count_delivery(&mut self, t: u64, packet: &Packet) -> bool {
        let message = &mut self.messages[packet.message];
        self.tally.deliver(message.job, packet.bytes, packet.hop, packet.minimal, t);
        message.packets_delivered += 1;
        let complete = message.packets_delivered == message.packets(u64::from(self.spec.fabric.packet_bytes));
        if let (Some(row), true) = (message.row, complete) {
            self.rows[row].delivered = Some(t);
        }
        complete
    }

    /// All packets of a message have reached their node.
    pub(crate) fn delivered(&mut self, t: u64, index: usize) {
        let job = self.messages[index].job;
        match self.messages[index].cause {
            Cause::Traffic { .. } if self.answers() => {} // only when it has been answered
            Cause::Traffic { sender } => self.traffic_complete(t, job, sender),
            Cause::Program(protocol_message) => self.protocol_message_delivered(t, job, protocol_message),
        }
    }

    /// A message of a sender is complete. This may complete an interval of a broadcast, and a job.
    pub(crate) fn traffic_complete(&mut self, t: u64, job: usize, index: usize) {
        self.open[job].0 -= 1;
        if matches!(self.spec.jobs[job].traffic().pattern, Pattern::Broadcast { .. }) {
            let sender = &mut self.senders[index];
            sender.under_way -= 1;
            let more = self.spec.jobs[job].traffic().intervals != Some(sender.interval);
            if sender.under_way == 0 && more {
                self.next_interval(t, index);
            }
        }
        if self.open[job] == (0, 0) {
            self.job_ends(job, t);
        }
    }
}
