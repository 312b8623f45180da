//! Messages and the packets they are cut into (model, section 2).

use odonata_topology::NodeId;

/// A message from its issue on; none is ever forgotten.
#[derive(Debug)]
pub(crate) struct Message {
    /// Index of the job.
    pub(crate) job: usize,
    /// Index of the sender in the traffic.
    pub(crate) sender: usize,
    /// Interval of the rank.
    pub(crate) interval: u64,
    /// Source rank.
    pub(crate) source: u32,
    /// Destination rank.
    pub(crate) destination: u32,
    /// Node of the destination rank.
    pub(crate) to: NodeId,
    /// Size.
    pub(crate) bytes: u64,
    /// Its random word.
    pub(crate) word: u64,
    /// When it was issued.
    pub(crate) issued: u64,
    /// Packets that have reached the destination.
    pub(crate) packets_delivered: u64,
    /// When the last packet reached the destination.
    pub(crate) delivered: Option<u64>,
}

impl Message {
    /// Number of packets.
    pub(crate) fn packets(&self, packet_bytes: u64) -> u64 {
        self.bytes.div_ceil(packet_bytes)
    }

    /// Size of packet `k`: full, but for the last.
    pub(crate) fn bytes_of(&self, k: u64, packet_bytes: u64) -> u64 {
        packet_bytes.min(self.bytes - k * packet_bytes)
    }
}

/// How far a packet of a Valiant path has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// On its way to its destination.
    Straight,
    /// On its way to an intermediate group, and to a leaf of it if it turns at a leaf.
    Detour {
        /// The intermediate group.
        group: u32,
        /// Number of the intermediate leaf in that group.
        leaf: Option<u32>,
    },
}

/// A packet.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Index of its message.
    pub(crate) message: usize,
    /// Its true size.
    pub(crate) bytes: u64,
    /// Its random word.
    pub(crate) word: u32,
    /// Where it goes.
    pub(crate) destination: NodeId,
    /// The link and channel whose buffer it stands in; none while it is at its NIC.
    pub(crate) stands_in: Option<(usize, usize)>,
    /// Routers visited before the one it is in or heads for.
    pub(crate) hop: u8,
    /// Whether it was never diverted.
    pub(crate) minimal: bool,
    /// Its Valiant path.
    pub(crate) course: Course,
}
