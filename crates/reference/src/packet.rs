//! Messages and the packets they are cut into (model, section 2).

use odonata_decision::Mode;
use odonata_sim::output::MessageCounters;
use odonata_sim::spec::RoutingSpec;
use odonata_topology::NodeId;

use crate::program::ProtocolMessage;

/// A message as the ranks of a job see it. The list keeps all of them.
#[derive(Debug)]
pub(crate) struct MessageRow {
    /// Index of the job.
    pub(crate) job: usize,
    /// Interval of the rank, or iteration.
    pub(crate) interval: u64,
    /// Source rank.
    pub(crate) source: u32,
    /// Destination rank.
    pub(crate) destination: u32,
    /// When it was issued.
    pub(crate) issued: u64,
    /// When its last byte reached the destination.
    pub(crate) delivered: Option<u64>,
    /// What its NIC has counted for it, when all its packets have been answered.
    pub(crate) counters: MessageCounters,
}

/// The reason for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// An interval of a sender, by its index in the traffic.
    Traffic {
        /// The sender.
        sender: usize,
    },
    /// An operation of a program.
    Program(ProtocolMessage),
}

/// A message on the network, from its issue on.
#[derive(Debug)]
pub(crate) struct Message {
    /// Index of the job.
    pub(crate) job: usize,
    /// What it is for.
    pub(crate) cause: Cause,
    /// Whether its responses carry its payload.
    pub(crate) get: bool,
    /// The row that is complete with it; none for a control message.
    pub(crate) row: Option<usize>,
    /// NIC (endpoint) of the destination's node; its parts know theirs if it is striped.
    pub(crate) to: NodeId,
    /// Size.
    pub(crate) bytes: u64,
    /// Its random key.
    pub(crate) key: u64,
    /// The rank that issues it.
    pub(crate) rank: u32,
    /// The routing of its packets.
    pub(crate) routing: RoutingSpec,
    /// Its mode of Aries, if a policy knows it.
    pub(crate) mode: Option<Mode>,
    /// The turn of the policy of the rank that observes it, if one does.
    pub(crate) observer: Option<usize>,
    /// The key of all its packets, if its routing hashes.
    pub(crate) shared_key: Option<u32>,
    /// When it joined the queue of its NIC.
    pub(crate) joined: u64,
    /// Packets that have left the NIC.
    pub(crate) packets_sent: u64,
    /// Packets that have reached the destination.
    pub(crate) packets_delivered: u64,
    /// Packets that have been answered.
    pub(crate) packets_answered: u64,
    /// What its NIC has counted for it.
    pub(crate) counters: MessageCounters,
}

impl Message {
    /// Number of packets.
    pub(crate) fn packets(&self, packet_bytes: u64) -> u64 {
        self.bytes.div_ceil(packet_bytes)
    }

    /// Size of packet `k`: full, except for the last.
    pub(crate) fn bytes_of(&self, k: u64, packet_bytes: u64) -> u64 {
        packet_bytes.min(self.bytes - k * packet_bytes)
    }
}

/// The state of a packet of a Valiant path on a Dragonfly+.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ValiantState {
    /// On its way to its destination.
    #[default]
    ToDestination,
    /// On its way to an intermediate group, and to a leaf of it if it turns at a leaf.
    ToIntermediate {
        /// The intermediate group.
        group: usize,
        /// The intermediate leaf.
        leaf: Option<usize>,
    },
}

/// The target of a packet on a dragonfly or a cascade: the end of its leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LegEnd {
    /// A cable to another group, by its port.
    Cable(usize),
    /// A router of the group it is in.
    Router(usize),
}

/// Where a packet turns before it goes to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intermediate {
    /// In a group: at a router that is drawn when the packet enters the group, or at the router where it enters.
    Group {
        /// Whether a router is drawn.
        via_router: bool,
    },
    /// At a router of the group it is in.
    Router(usize),
}

/// The state of a packet on a dragonfly or a cascade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectState {
    /// The end of its leg; none before the first leg.
    pub(crate) leg_end: Option<LegEnd>,
    /// Where it will turn, if it has not turned yet.
    pub(crate) intermediate: Option<Intermediate>,
    /// Its stage.
    pub(crate) stage: usize,
    /// The latest local link of this stage: its sub and port.
    pub(crate) local: Option<(usize, usize)>,
}

/// A packet.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Index of its message.
    pub(crate) message: usize,
    /// Its request, or the request that it answers, if packets are answered.
    pub(crate) request: Option<usize>,
    /// Whether it is a response.
    pub(crate) response: bool,
    /// Whether a switch has marked it, or the request that it answers.
    pub(crate) marked: bool,
    /// The job that the mark names, if blame is measured.
    pub(crate) named: Option<usize>,
    /// Whether it announces more.
    pub(crate) more: bool,
    /// An acknowledgement: the packets for which it stands beside its own.
    pub(crate) stands_for: Vec<Packet>,
    /// What an acknowledgement says: with `slingshot` n, with `nscc` the routers that its packet has visited.
    pub(crate) says: u64,
    /// Its payload, or what it asks for or answers.
    pub(crate) bytes: u64,
    /// Its bytes on a link and in a buffer.
    pub(crate) wire: u64,
    /// When its head can leave by the next link: with a crossbar, when it is in the output buffer; else 0.
    pub(crate) head: u64,
    /// Its tail time at its present or next router, or when its tail is in the output buffer; 0 at its NIC.
    pub(crate) tail: u64,
    /// When its present router decided on it; at its NIC: when its message joined the queue, or the request came to which it is the
    /// response.
    pub(crate) decided: u64,
    /// When it joined its queue at a router with a crossbar.
    pub(crate) joined: u64,
    /// The number of its latest passage of a crossbar, if that is noted.
    pub(crate) passage: Option<usize>,
    /// The link of its latest commit and the number of the commit there, if blame or a series is measured.
    pub(crate) latest: Option<(usize, usize)>,
    /// Its random key.
    pub(crate) key: u32,
    /// The NIC (endpoint) that it comes from.
    pub(crate) from: NodeId,
    /// Its number in its stream, or that of the packet that it answers; 0 if nobody asks.
    pub(crate) number: u64,
    /// Its destination NIC (endpoint).
    pub(crate) destination: NodeId,
    /// The link and channel whose buffer it occupies; none while it is at its NIC.
    pub(crate) stands_in: Option<(usize, usize)>,
    /// Number of routers visited before its present or next one.
    pub(crate) hop: u8,
    /// Whether it was never diverted.
    pub(crate) minimal: bool,
    /// Its Valiant path on a Dragonfly+.
    pub(crate) valiant: ValiantState,
    /// Its state on a dragonfly or a cascade.
    pub(crate) direct: DirectState,
    /// On a HyperX or a graph: the intermediate router to which it goes first.
    pub(crate) through: Option<usize>,
    /// What a routing of one's own remembers, and when its function picked a port at the router before.
    pub(crate) memory: Option<u32>,
    pub(crate) picked: u64,
}
