//! What NICs that answer packets know (docs/model.md, section 3): requests without a response, responses to send, counters.

use std::collections::VecDeque;

use super::readings::Readings;
use super::{Answer, Coalescing, Covered, Grants, ModePolicies, Senders};
use crate::fabric::packet::Event;
use crate::fabric::{PacketTimes, Wiring, ZeroLoad};
use crate::observe::OWN;
use crate::output::{MessageCounters, NicCounters};
use crate::spec::{CongestionLaw, FabricSpec, Feedback, Spec};
use odonata_topology::ClassId;

/// The time of a wake-up that is not known.
const UNARMED: u64 = u64::MAX;
/// No protocol message waits for the responses of a message.
pub const NO_SENDER: u32 = u32::MAX;
/// The bit of a packet's slot that tells a get from a put: its responses carry the payload.
const GET: u32 = 1 << 31;

/// A request packet whose response has not come.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When the first flit of its last Aries packet left the NIC.
    pub start: u64,
    /// Slot of its message.
    pub message: u32,
    /// NIC that it comes from.
    pub nic: u32,
    /// What its answer says: see [`Answer::says`].
    pub says: u32,
    /// Whether it announces more.
    pub more: bool,
    /// Whether it asks for an acknowledgement of its own.
    pub asks: bool,
}

/// A message whose responses have not all come.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Packets whose responses have not come.
    pub packets_left: u64,
    /// When it was issued.
    pub issue: u64,
    /// When the last of the responses that are known comes.
    pub last: u64,
    /// Its row among the messages of its job, or [`NO_ROW`](crate::output::NO_ROW).
    pub row: u32,
    /// Its job.
    pub job: u16,
    /// The NIC that it goes to; if it is striped, the first of that node.
    pub to: u32,
    /// Whether its packets are divided over all NICs of its node.
    pub striped: bool,
    /// The protocol message that is sent when all responses have come, or [`NO_SENDER`].
    pub sender: u32,
    /// Whether responses carry its payload.
    pub get: bool,
    /// The policy of its job that observes it, if one does.
    pub observer: Option<u32>,
    /// What was counted for it.
    pub counters: MessageCounters,
}

impl Exchange {
    /// A put or a get of so many packets to a NIC that is issued at a time.
    #[must_use]
    pub fn new(packets_left: u64, issue: u64, row: u32, job: u16, to: u32, sender: u32, get: bool) -> Self {
        let counters = MessageCounters::default();
        Self { packets_left, issue, last: 0, row, job, to, striped: false, sender, get, observer: None, counters }
    }
}

/// One NIC.
#[derive(Clone, Debug, Default)]
pub struct AnsweringNic {
    /// Since when all its messages are held back, if they are.
    held_since: Option<u64>,
    /// For how long they were before.
    held: u64,
    /// Since when it waits only for room.
    pub room_since: Option<u64>,
    /// Whether it looks again whether it may send when the next answer has come.
    awaits: bool,
    /// When that is, if it is known.
    wake: u64,
    /// When the link of the responses is free.
    pub response_free: u64,
    /// Responses that wait for room.
    pub responses: VecDeque<Event>,
    /// Whether the first of them does.
    pub response_waits: bool,
    /// What it has counted.
    pub counters: NicCounters,
}

/// Requests and responses of all NICs of a run.
pub struct Answers {
    /// By NIC.
    pub nics: Vec<AnsweringNic>,
    /// First channel of responses.
    pub first_response: u8,
    /// The credits of receivers, if they give some.
    pub grants: Option<Grants>,
    /// The NICs that have more for each one, if they are counted.
    pub senders: Option<Senders>,
    /// The acknowledgements that stand for several packets, if some do.
    pub coalescing: Option<Coalescing>,
    /// What packets take alone, if acknowledgements say over how many routers packets came.
    zero_load: Option<ZeroLoad>,
    /// The policies of application-aware jobs.
    pub policies: ModePolicies,
    /// The counters that they read.
    pub readings: Readings,
    /// Payload of a full Aries packet.
    unit: u32,
    /// Where the packets without payload begin in tables by packet.
    control: u32,
    /// By payload: Aries packets.
    bursts: Vec<u32>,
    /// By number of the packet in the tables: flits, and how long a NIC takes for them that nothing stops.
    flits: Vec<(u32, u64)>,
    /// By slot. A request between two partitions is known to both, in the same slot; each partition gives out its own.
    requests: Vec<Request>,
    free: Vec<u32>,
    /// The slot to be given out if none is free.
    next: u32,
    /// Number of this partition.
    partition: u32,
    /// Number of partitions.
    partitions: u32,
    /// NICs of a node.
    rails: u32,
    /// By slot of the message.
    exchanges: Vec<Exchange>,
    /// By job and row.
    rows: Vec<Vec<MessageCounters>>,
    /// Packets that have reached a NIC.
    pub delivered: u64,
}

impl Answers {
    /// The NICs of a specification, in one of several partitions.
    #[must_use]
    pub fn new(
        spec: &Spec,
        (wiring, packets): (&Wiring, &[PacketTimes]),
        (nics, rails): (usize, u32),
        [partition, partitions]: [u32; 2],
    ) -> Self {
        let fabric = &spec.fabric;
        let feedback = fabric.congestion_control.map_or(Feedback::None, |control| control.law.feedback());
        // Without a clock, a NIC sends flits as fast as its link takes them.
        let cycle_ps = fabric.nic.aries.map(|aries| aries.cycle_ps);
        let flits = |packet: &PacketTimes| {
            let flits = packet.wire / fabric.flit_bytes;
            (flits, cycle_ps.map_or(u64::MAX, |cycle_ps| u64::from(flits) * cycle_ps))
        };
        Self {
            nics: vec![AnsweringNic { wake: UNARMED, ..AnsweringNic::default() }; nics],
            first_response: fabric.first_response(),
            grants: grants(fabric, packets, nics),
            senders: (feedback == Feedback::Senders).then(|| Senders::new(nics)),
            coalescing: fabric.nic.acknowledge_every.map(|every| Coalescing::new(every, nics)),
            zero_load: (feedback == Feedback::Hops).then(|| ZeroLoad::new(wiring, fabric)),
            policies: ModePolicies::new(spec),
            readings: Readings::new(spec, nics, rails),
            unit: fabric.nic.aries.map_or(fabric.packet_bytes, |aries| aries.packet_bytes),
            control: fabric.packet_bytes + 1,
            bursts: (0..=fabric.packet_bytes).map(|payload| fabric.burst(payload)).collect(),
            flits: packets.iter().map(flits).collect(),
            requests: Vec::new(),
            free: Vec::new(),
            next: partition,
            partition,
            partitions,
            rails,
            exchanges: Vec::new(),
            rows: vec![Vec::new(); spec.jobs.len()],
            delivered: 0,
        }
    }

    /// The slot of the request of a packet of a get or a put.
    #[inline(always)]
    #[must_use]
    pub fn slot_of(marked: u32) -> usize {
        (marked & !GET) as usize
    }

    /// Aries packets that a packet with so much payload stands for.
    #[inline]
    #[must_use]
    pub fn burst(&self, bytes: u32) -> u32 {
        self.bursts[bytes as usize]
    }

    /// Puts a request in a slot that another partition has given out.
    pub fn put(&mut self, slot: u32, request: Request) {
        let slot = Self::slot_of(slot);
        if slot >= self.requests.len() {
            self.requests.resize(slot + 1, request);
        }
        self.requests[slot] = request;
    }

    /// Takes what was counted for the messages of a job, one for each of so many rows.
    pub fn take_rows(&mut self, job: usize, count: usize) -> Vec<MessageCounters> {
        let mut rows = std::mem::take(&mut self.rows[job]);
        rows.resize(count, MessageCounters::default());
        rows
    }

    /// Puts back what was counted for the messages of a job.
    pub fn put_rows(&mut self, job: usize, rows: Vec<MessageCounters>) {
        self.rows[job] = rows;
    }

    /// Whether packets announce more.
    #[must_use]
    pub fn announced(&self) -> bool {
        self.grants.is_some() || self.senders.is_some()
    }

    /// A request has come to a NIC over so many routers. Returns what its answer says, if it says something.
    #[inline]
    pub fn says(&mut self, nic: u32, request: Request, routers: u8) -> Option<u32> {
        if let Some(senders) = &mut self.senders {
            return Some(senders.come(nic, request.nic, request.start, request.more));
        }
        self.zero_load.as_ref().map(|_| u32::from(routers))
    }

    /// A request has come to a NIC. Returns the others for which its acknowledgement stands; none if it waits as well.
    #[inline]
    pub fn coalesce(
        &mut self,
        nic: u32,
        slot: u32,
        request: &Request,
        bytes: u32,
        marked: bool,
    ) -> Option<Vec<Covered>> {
        match &mut self.coalescing {
            None => Some(Vec::new()),
            Some(coalescing) => coalescing.come(nic, slot, request, bytes, marked),
        }
    }

    /// The acknowledgement of the request in a slot also stands for others.
    pub fn cover(&mut self, slot: u32, others: Vec<Covered>) {
        self.coalescing.as_mut().expect("acknowledgements stand for several packets").cover(slot, others);
    }

    /// The answer to the request in a slot says this.
    pub fn set_says(&mut self, slot: u32, says: u32) {
        self.requests[Self::slot_of(slot)].says = says;
    }

    /// A request has come to a NIC, which answers it now or when its sender has its turn. Returns when the NIC must look
    /// again, if it must.
    #[inline]
    pub fn answer_request(&mut self, nic: u32, request: Request, response: Event) -> Option<u64> {
        let responses = &mut self.nics[nic as usize].responses;
        let Some(grants) = &mut self.grants else {
            responses.push_back(response);
            return None;
        };
        grants.come(nic, (request.nic, request.start), response, request.more, responses)
    }

    /// The time of the next credit of a NIC. Returns when it must look again, if it must.
    pub fn grant(&mut self, nic: u32, now: u64) -> Option<u64> {
        self.grants.as_mut()?.grant(nic, now, &mut self.nics[nic as usize].responses)
    }

    /// Takes over a NIC of another partition.
    pub fn absorb(&mut self, nic: u32, other: &mut Self) {
        if let (Some(to), Some(of)) = (&mut self.grants, &mut other.grants) {
            to.absorb(nic, of);
        }
        if let (Some(to), Some(of)) = (&mut self.senders, &mut other.senders) {
            to.absorb(nic, of);
        }
        if let (Some(to), Some(of)) = (&mut self.coalescing, &mut other.coalescing) {
            to.absorb(nic, of);
        }
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }

    /// A NIC.
    #[inline]
    pub fn get_mut(&mut self, nic: u32) -> &mut AnsweringNic {
        &mut self.nics[nic as usize]
    }

    /// Number in tables by packet, with or without payload.
    #[inline(always)]
    fn numbered(&self, bytes: u32, carries: bool) -> u32 {
        if carries { bytes } else { bytes + self.control }
    }

    /// Number of a packet in tables by packet.
    #[inline(always)]
    #[must_use]
    pub fn number(&self, packet: &Event) -> u32 {
        self.numbered(packet.bytes(), self.carries(packet))
    }

    /// Number of a request of a message in tables by packet.
    #[inline]
    #[must_use]
    pub fn request_number(&self, message: u32, bytes: u32) -> u32 {
        self.numbered(bytes, !self.exchanges[message as usize].get)
    }

    /// Whether a packet is a response, from its channel.
    #[inline(always)]
    #[must_use]
    pub fn is_response(&self, packet: &Event) -> bool {
        packet.channel() >= self.first_response
    }

    /// Whether the responses to the request in a slot carry the payload.
    #[inline(always)]
    #[must_use]
    pub fn is_get(slot: u32) -> bool {
        slot & GET != 0
    }

    /// Whether a packet carries payload.
    #[inline(always)]
    #[must_use]
    pub fn carries(&self, packet: &Event) -> bool {
        self.is_response(packet) == Self::is_get(packet.message)
    }

    /// Payload of the last Aries packet of a packet.
    #[inline]
    fn last_of(&self, bytes: u32) -> u32 {
        bytes - (self.bursts[bytes as usize] - 1) * self.unit
    }

    /// The message of a packet.
    #[inline]
    #[must_use]
    pub fn message(&self, packet: &Event) -> u32 {
        self.requests[Self::slot_of(packet.message)].message
    }

    /// A message in a slot is issued.
    pub fn issue(&mut self, message: u32, exchange: Exchange) {
        let slot = message as usize;
        if slot >= self.exchanges.len() {
            self.exchanges.resize(slot + 1, exchange);
        }
        self.exchanges[slot] = exchange;
    }

    /// A NIC may send again at `now`, when its link is free from `link_free` on.
    #[inline]
    pub fn resume(&mut self, nic: u32, now: u64, link_free: u64) {
        let of = &mut self.nics[nic as usize];
        if std::mem::take(&mut of.awaits) {
            of.wake = UNARMED;
        }
        if let Some(since) = of.held_since.take() {
            of.held += now - since;
            of.counters.window_ps += now.max(link_free) - since.max(link_free);
        }
    }

    /// All messages of a NIC are held back at `now`.
    #[cold]
    pub fn hold(&mut self, nic: u32, now: u64) {
        let of = &mut self.nics[nic as usize];
        of.held_since.get_or_insert(now);
        of.room_since = None;
    }

    /// A NIC looks again whether it may send: at `look`, if that is known, or when the next answer has come. Returns when, if
    /// that is known and not arranged yet.
    #[cold]
    pub fn await_answer(&mut self, nic: u32, look: Option<u64>) -> Option<u64> {
        let of = &mut self.nics[nic as usize];
        of.awaits = true;
        let at = look.filter(|&at| at < of.wake)?;
        of.wake = at;
        Some(at)
    }

    /// A request is committed at `now` to the link of its NIC, which was free from `link_free` on, and leaves with its tail at
    /// `end`. Returns the slot that its packet carries.
    #[inline]
    pub fn request(
        &mut self,
        nic: u32,
        (message, bytes, [more, asks]): (u32, u32, [bool; 2]),
        (now, link_free, end): (u64, u64, u64),
        packets: &[PacketTimes],
    ) -> u32 {
        let (burst, get) = (self.bursts[bytes as usize], self.exchanges[message as usize].get);
        let (flits, unstopped) = self.flits[self.numbered(bytes, !get) as usize];
        let node = |bytes: u32| packets[self.numbered(bytes, !get) as usize].serialisation(ClassId::NODE.0);
        let (serialisation, of_last) = (node(bytes), node(self.last_of(bytes)));
        let of = &mut self.nics[nic as usize];
        let since = of.room_since.take().unwrap_or(now);
        let stalled = now.max(link_free) - since.max(link_free) + serialisation.saturating_sub(unstopped);
        let counters = &mut of.counters;
        counters.request_packets += u64::from(burst);
        counters.request_flits += u64::from(flits);
        counters.stalled_ps += stalled;
        self.readings.request(nic, now, u64::from(flits), stalled);
        let of = &mut self.exchanges[message as usize].counters;
        of.packets += u64::from(burst);
        of.flits += u64::from(flits);
        of.stalled_ps += stalled;
        let request = Request { start: end - of_last, message, nic, says: 0, more, asks };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.requests[slot as usize] = request;
                slot
            }
            None => {
                let slot = self.next;
                self.next += self.partitions;
                self.put(slot, request);
                slot
            }
        };
        debug_assert!(slot < GET, "requests do not fit into memory before");
        if get { slot | GET } else { slot }
    }

    /// The request in a slot.
    #[inline]
    #[must_use]
    pub fn of_slot(&self, slot: u32) -> Request {
        self.requests[Self::slot_of(slot)]
    }

    /// A response is committed to the link of a NIC.
    #[inline]
    pub fn respond(&mut self, nic: u32, response: &Event) {
        let (burst, number) = (self.bursts[response.bytes() as usize], self.number(response));
        let counters = &mut self.nics[nic as usize].counters;
        counters.response_packets += u64::from(burst);
        counters.response_flits += u64::from(self.flits[number as usize].0);
    }

    /// The packets for which a response stands beside its own, which has come.
    #[inline]
    pub fn take_covered(&mut self, response: &Event) -> Vec<Covered> {
        self.coalescing.as_mut().map_or_else(Vec::new, |coalescing| coalescing.take(response.message))
    }

    /// A response reaches its NIC at `at`, with so much payload of packets for which it stands beside its own; `packets` has
    /// the durations of all packets. Returns the answer, the exchange if this was its last response, and when the NIC must
    /// look whether it may send, if it waits for that and did not know.
    #[inline]
    pub fn answer(
        &mut self,
        response: &Event,
        (at, covered): (u64, u64),
        packets: &[PacketTimes],
    ) -> (Answer, Option<Exchange>, Option<u64>) {
        let (slot, bytes) = (response.message, response.bytes());
        let Request { start, message, nic, says, asks, .. } = self.of_slot(slot);
        let of = &mut self.nics[nic as usize];
        let wake = (of.awaits && at < of.wake).then(|| {
            of.wake = at;
            at
        });
        let Exchange { to, striped, .. } = self.exchanges[message as usize];
        let to = to + if striped { nic % self.rails } else { 0 };
        let zero_load = self.zero_load.as_ref().map_or(0, |of| {
            let [there, back] = [bytes, bytes + self.control].map(|number| &packets[number as usize]);
            of.latency([nic, to], there, says as u8) + of.latency([to, nic], back, response.hop() + 1)
        });
        let answer = Answer {
            to,
            bytes: covered + u64::from(bytes),
            of_packet: bytes,
            at,
            delay: at - start,
            zero_load,
            marked: response.is_marked(),
            named: OWN,
            says,
            asks,
        };
        (answer, self.count_answer(slot, bytes, at), wake)
    }

    /// The request in a slot, for so much payload, is answered at `at`. Returns the exchange if it was the last one of it.
    #[inline]
    pub fn count_answer(&mut self, slot: u32, bytes: u32, at: u64) -> Option<Exchange> {
        let Request { start, message, nic, .. } = self.of_slot(slot);
        self.free.push(slot & !GET);
        let burst = self.bursts[bytes as usize];
        let latency = u64::from(burst) * (at - start);
        let of = &mut self.nics[nic as usize];
        of.counters.answered_packets += u64::from(burst);
        of.counters.latency_ps += latency;
        self.readings.answer(nic, at, u64::from(burst), latency);
        let exchange = &mut self.exchanges[message as usize];
        exchange.packets_left -= 1;
        exchange.counters.latency_ps += latency;
        exchange.last = exchange.last.max(at);
        if exchange.packets_left > 0 {
            return None;
        }
        let mut exchange = *exchange;
        exchange.counters.complete_ps = exchange.last - exchange.issue;
        Some(exchange)
    }

    /// Keeps what was counted for the message of a row of a job.
    pub fn count(&mut self, job: u16, row: u32, counters: MessageCounters) {
        let (rows, row) = (&mut self.rows[usize::from(job)], row as usize);
        if row >= rows.len() {
            rows.resize(row + 1, MessageCounters::default());
        }
        rows[row] = counters;
    }

    /// Counts requests of this partition that are not exactly once under way or answered, and NICs of which more or fewer
    /// Aries packets have no response than they have counted. `under_way` has the slot and the bytes of each request and
    /// response under way, in all partitions.
    #[must_use]
    pub fn unbalanced(&self, under_way: &[(u32, u32)]) -> u64 {
        let is_own = |slot: u32| slot % self.partitions == self.partition;
        let mut times = vec![0_u32; self.requests.len()];
        let mut open = vec![0_u64; self.nics.len()];
        let covered = |slot: u32| self.coalescing.iter().flat_map(move |of| of.covered(slot)).copied();
        let own = under_way.iter().copied().filter(|(slot, _)| is_own(slot & !GET));
        for (slot, bytes) in own.flat_map(|of| std::iter::once(of).chain(covered(of.0))) {
            times[Self::slot_of(slot)] += 1;
            open[self.of_slot(slot).nic as usize] += u64::from(self.bursts[bytes as usize]);
        }
        for &answered in &self.free {
            times[answered as usize] += 1;
        }
        let times = (0..self.next).zip(&times).filter(|(slot, _)| is_own(*slot)).map(|(_, times)| *times);
        let of_nic =
            |(nic, open): &(&AnsweringNic, u64)| nic.counters.request_packets - nic.counters.answered_packets != *open;
        (times.filter(|&times| times != 1).count() + self.nics.iter().zip(open).filter(of_nic).count()) as u64
    }

    /// What was counted for the message of a row; zero as long as it is not complete.
    #[must_use]
    pub fn row(&self, job: usize, row: usize) -> MessageCounters {
        self.rows[job].get(row).copied().unwrap_or_default()
    }
}

/// The credits that the receivers of a fabric give, if they do.
fn grants(fabric: &FabricSpec, packets: &[PacketTimes], nics: usize) -> Option<Grants> {
    let control = fabric.congestion_control?;
    let CongestionLaw::ReceiverCredit { ahead_bytes } = control.law else { return None };
    let spacing = packets[fabric.packet_bytes as usize].serialisation(ClassId::NODE.0);
    Some(Grants::new(fabric.packet_bytes, control.window_bytes, ahead_bytes, spacing, nics))
}

impl AnsweringNic {
    /// For how long, up to `now`, all messages of the NIC have been held back.
    #[inline]
    #[must_use]
    pub fn held(&self, now: u64) -> u64 {
        self.held + self.held_since.map_or(0, |since| now - since)
    }

    /// Whether the NIC looks at `now` whether it may send; if not, it no longer waits for an answer.
    pub fn wakes_at(&mut self, now: u64) -> bool {
        let wakes = self.awaits && self.wake == now;
        if wakes {
            self.wake = UNARMED;
        }
        wakes
    }

    /// Whether all its messages are held back.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held_since.is_some()
    }
}
