//! A packet under way, and the other events of a router: one record of 32 bytes, moved by value.

use odonata_topology::Address;

use crate::engine::Record;

/// No intermediate group or leaf.
pub const NO_INTERMEDIATE: u32 = u32::MAX;

/// What happens. The variants are in the order of docs/model.md, section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventKind {
    /// A credit for an output (port, channel) of the router that has blocked packets.
    OutputCredit = 0,
    /// A credit for the injection link of NIC `message`.
    NicCredit = 1,
    /// The node `key`, whose first NIC is at the port, issues the messages of interval `message`.
    Issue = 2,
    /// A packet came by the port and the router delay has passed: its route decision.
    Decision = 3,
}

/// What comes to a NIC with an [`EventKind::NicCredit`]: its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NicNews {
    /// A credit for requests, and for packets that are not answered.
    Credit = 0,
    /// A credit for responses.
    ResponseCredit = 1,
    /// A response for which the packet at the head waits.
    Window = 2,
    /// A request: its slot is the key, and its key the intermediate stop.
    Request = 3,
    /// The time of the next credit to a sender.
    Grant = 4,
}

impl NicNews {
    /// What an event is about.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        const NEWS: [NicNews; 8] = {
            use NicNews::{Credit, Grant, Request, ResponseCredit, Window};
            [Credit, ResponseCredit, Window, Request, Grant, Grant, Grant, Grant]
        };
        NEWS[usize::from(event.channel() & 7)]
    }
}

const EVENT_KINDS: [EventKind; 4] =
    [EventKind::OutputCredit, EventKind::NicCredit, EventKind::Issue, EventKind::Decision];
/// Of the port of the destination: whether the packet was marked.
const MARKED: u16 = 1 << 15;
const DIVERTED: u8 = 0x80;
const SECOND_PHASE: u8 = 0x40;
/// Most routers that a packet can count. No path is longer: it would need more channels than there can be (a stage of S
/// subs has at most 2 S - 1 links inside a group, and all stages together have at most 16 channels).
const HOPS: u8 = 0x1f;
/// Most different routings of one run.
pub const MAX_ROUTINGS: usize = 8;

/// An event at a router; for [`EventKind::Decision`] all its fields are those of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// When it happens.
    pub time: u64,
    /// Slot of the message in flight; for `Issue` the interval, for `NicCredit` the NIC, for `OutputCredit` the index
    /// of the far buffer in the credits.
    pub message: u32,
    /// Key of the packet's routing draws; for `Issue` the node.
    pub key: u32,
    /// State that the routing keeps in the packet, or [`NO_INTERMEDIATE`]. On a Dragonfly+, the intermediate stop of a
    /// Valiant path as `group << 16 | leaf`; on direct machines see [`crate::routing::direct`].
    pub intermediate: u32,
    /// Address of the destination's router, which only the family of the machine understands.
    pub to: Address,
    /// Port of the destination at its router (15 bits), and whether the packet was marked.
    exit: u16,
    /// Port by which the packet came.
    pub port: u16,
    /// Bytes minus one.
    size: u16,
    /// Channel (4 bits), kind (2), and the lower part of the routing's number (2).
    what: u8,
    /// Routers visited (5 bits), the upper part of the routing's number (1), whether the packet is in its second phase
    /// (1), and whether it was diverted (1).
    hop: u8,
}

/// A routing's decision on a packet. (The fields are wide, so that each has its own register.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteDecision {
    port: u32,
    channel: u32,
    /// Diverted and turned.
    marks: u32,
    /// State that the routing keeps in the packet from now on.
    intermediate: u32,
}

impl RouteDecision {
    /// A packet leaves by a port and a channel; its state does not change.
    #[inline(always)]
    #[must_use]
    pub fn new(packet: &Event, port: u16, channel: u8) -> Self {
        Self { port: u32::from(port), channel: u32::from(channel), marks: 0, intermediate: packet.intermediate }
    }

    /// The same, and the packet is marked as diverted or turned.
    #[inline(always)]
    #[must_use]
    pub fn marked(self, diverted: bool, in_second_phase: bool) -> Self {
        let marks = if diverted { DIVERTED } else { 0 } | if in_second_phase { SECOND_PHASE } else { 0 };
        Self { marks: self.marks | u32::from(marks), ..self }
    }

    /// Output port.
    #[inline(always)]
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port as u16
    }

    /// Virtual channel there.
    #[inline(always)]
    #[must_use]
    pub fn channel(&self) -> u8 {
        self.channel as u8
    }

    /// The same on a channel so much higher.
    #[inline]
    #[must_use]
    pub fn shifted(self, by: u8) -> Self {
        Self { channel: self.channel + u32::from(by), ..self }
    }
}

impl Event {
    /// Updates a packet's routing state, but not its port and channel.
    #[inline(always)]
    pub fn follow(&mut self, decision: RouteDecision) {
        self.intermediate = decision.intermediate;
        self.hop |= decision.marks as u8;
    }

    /// The packet with its routing state after a decision.
    #[inline(always)]
    #[must_use]
    pub fn following(&self, decision: RouteDecision) -> Self {
        let mut packet = *self;
        packet.follow(decision);
        packet
    }

    /// An event that is not a packet.
    #[must_use]
    pub fn other(kind: EventKind, time: u64, port: u16, channel: u8, message: u32) -> Self {
        Self {
            time,
            message,
            key: 0,
            intermediate: NO_INTERMEDIATE,
            to: Address::default(),
            exit: 0,
            port,
            size: 0,
            what: (kind as u8) << 4 | channel,
            hop: 0,
        }
    }

    /// Node `node`, whose first NIC is at `port`, issues the messages of interval `k`.
    #[must_use]
    pub fn issue(time: u64, port: u16, node: u32, k: u32) -> Self {
        Self { key: node, ..Self::other(EventKind::Issue, time, port, 0, k) }
    }

    /// The arbitration of a router with a crossbar. It follows all decisions of its instant: it has a port number that
    /// no port has.
    #[must_use]
    pub fn arbitration(time: u64) -> Self {
        Self::other(EventKind::Decision, time, u16::MAX, 0, 0)
    }

    /// Whether an event of the kind `Decision` is an arbitration.
    #[inline]
    #[must_use]
    pub fn is_arbitration(&self) -> bool {
        self.port == u16::MAX
    }

    /// A packet of `bytes` (1 to 65,536) at its first router, which it reaches on channel 0.
    #[must_use]
    pub fn packet(time: u64, port: u16, message: u32, key: u32, bytes: u32) -> Self {
        let size = (bytes - 1) as u16;
        Self { size, key, ..Self::other(EventKind::Decision, time, port, 0, message) }
    }

    /// A packet of one byte to this address at its first router, of routing number `routing`: for paths, not for runs.
    #[must_use]
    pub fn to_address(to: Address, routing: u8) -> Self {
        let mut packet = Self { to, ..Self::packet(0, 0, 0, 0, 1) };
        packet.set_routing(routing);
        packet
    }

    /// A packet reaches a NIC, whose node has its first NIC at `port`. The event keeps the number of its routing, its mark,
    /// and the routers visited.
    #[must_use]
    pub fn arrival(&self, time: u64, port: u16, nic: u32) -> Self {
        let event = Self::other(EventKind::NicCredit, time, port, NicNews::Request as u8, nic);
        let mut arrival = Self { key: self.message, intermediate: self.key, size: self.size, ..event };
        arrival.set_routing(self.routing());
        arrival.hop |= self.hop & HOPS;
        arrival.exit = self.exit & MARKED;
        arrival
    }

    /// Whether it is a request that has reached a NIC.
    #[must_use]
    pub fn is_request_at_nic(&self) -> bool {
        self.kind() == EventKind::NicCredit && NicNews::of(self) == NicNews::Request
    }

    /// A copy at another time.
    #[inline]
    #[must_use]
    pub fn at(&self, time: u64) -> Self {
        Self { time, ..*self }
    }

    /// Whether it is the decision on a packet.
    #[inline(always)]
    #[must_use]
    pub fn is_packet(&self) -> bool {
        self.what >> 4 & 3 == EventKind::Decision as u8
    }

    /// What happens.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> EventKind {
        EVENT_KINDS[usize::from(self.what >> 4 & 3)]
    }

    /// Virtual channel on which the packet came, or of the credit.
    #[inline]
    #[must_use]
    pub fn channel(&self) -> u8 {
        self.what & 0xf
    }

    /// Sets the channel.
    #[inline]
    pub fn set_channel(&mut self, channel: u8) {
        self.what = self.what & 0xf0 | channel;
    }

    /// Size of the packet.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u32 {
        u32::from(self.size) + 1
    }

    /// Number of routers visited before the present one.
    #[inline]
    #[must_use]
    pub fn hop(&self) -> u8 {
        self.hop & HOPS
    }

    /// Counts a router as visited.
    #[inline]
    pub fn next_hop(&mut self) {
        debug_assert!(self.hop() < HOPS);
        self.hop += 1;
    }

    /// Number of the packet's routing among those of the run, below [`MAX_ROUTINGS`].
    #[inline]
    #[must_use]
    pub fn routing(&self) -> u8 {
        self.what >> 6 | self.hop >> 3 & 4
    }

    /// Sets the number of the routing of a new packet, or of one that reaches a NIC.
    #[inline]
    pub fn set_routing(&mut self, routing: u8) {
        debug_assert!(usize::from(routing) < MAX_ROUTINGS && self.routing() == 0);
        self.what |= routing << 6;
        self.hop |= (routing & 4) << 3;
    }

    /// Whether the packet was sent on a non-minimal path.
    #[inline]
    #[must_use]
    pub fn diverted(&self) -> bool {
        self.hop & DIVERTED != 0
    }

    /// Marks the packet as diverted.
    #[inline]
    pub fn divert(&mut self) {
        self.hop |= DIVERTED;
    }

    /// Sets the destination: the address of its router, and its port there.
    #[inline(always)]
    pub fn set_destination(&mut self, to: Address, port: u16) {
        debug_assert!(port < MARKED, "a port of a router");
        (self.to, self.exit) = (to, port);
    }

    /// The same packet to a port of the destination's router.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.set_destination(self.to, port);
        self
    }

    /// Port of the destination at its router.
    #[inline(always)]
    #[must_use]
    pub fn to_port(&self) -> u16 {
        self.exit & !MARKED
    }

    /// Marks the packet, as a switch may for the NIC that it comes to.
    #[inline]
    pub fn mark(&mut self) {
        self.exit |= MARKED;
    }

    /// The same packet, marked.
    #[must_use]
    pub fn marked(mut self) -> Self {
        self.mark();
        self
    }

    /// Whether a switch has marked the packet.
    #[inline]
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.exit & MARKED != 0
    }

    /// Whether a packet with an intermediate stop is in its second phase.
    #[inline]
    #[must_use]
    pub fn in_second_phase(&self) -> bool {
        self.hop & SECOND_PHASE != 0
    }

    /// Marks the packet as being in its second phase.
    #[inline]
    pub fn begin_second_phase(&mut self) {
        self.hop |= SECOND_PHASE;
    }
}

impl Record for Event {
    #[inline]
    fn time(&self) -> u64 {
        self.time
    }

    #[inline]
    fn tie(&self) -> u32 {
        u32::from(self.what >> 4 & 3) << 20 | u32::from(self.port) << 4 | u32::from(self.channel())
    }
}

const _: () = assert!(size_of::<Event>() == 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_overlap() {
        let mut e = Event::packet(5, 7, 1, 2, 65_536);
        e.set_channel(3);
        e.next_hop();
        e.divert();
        e.set_routing(6);
        e.next_hop();
        assert_eq!((e.kind(), e.channel(), e.bytes(), e.hop()), (EventKind::Decision, 3, 65_536, 2));
        assert!(e.diverted() && !e.in_second_phase() && e.routing() == 6);
        e.set_destination(Address::default(), MARKED - 1);
        assert!(!e.is_marked() && e.to_port() == MARKED - 1);
        e.mark();
        assert!(e.is_marked() && e.to_port() == MARKED - 1 && e.at(9).is_marked());
        assert!(e.arrival(9, 3, 4).is_marked(), "the NIC that answers a packet reads its mark");
        assert_eq!(e.tie(), Event::other(EventKind::Decision, 0, 7, 3, 0).tie());
    }

    #[test]
    fn ties_follow_kind_then_port_then_channel() {
        let tie = |kind, port, channel| Event::other(kind, 0, port, channel, 0).tie();
        let sorted = [
            tie(EventKind::OutputCredit, 0, 1),
            tie(EventKind::OutputCredit, 1, 0),
            tie(EventKind::NicCredit, 0, 0),
            tie(EventKind::Issue, 0, 0),
            tie(EventKind::Decision, 0, 0),
            tie(EventKind::Decision, u16::MAX, 0),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b) && sorted[5] < 1 << 22);
    }
}
