//! Messages: what a rank issues, from its issue to the end of the run.

use odonata_topology::NodeId;

/// A message. The list keeps all of them.
#[derive(Debug)]
pub(crate) struct Message {
    /// Index of the job.
    pub(crate) job: usize,
    /// Index of the rank that issues it, among the senders.
    pub(crate) sender: usize,
    /// Interval of that rank.
    pub(crate) interval: u32,
    /// Destination rank, and its node.
    pub(crate) destination: u32,
    pub(crate) to: NodeId,
    /// Size.
    pub(crate) bytes: u64,
    /// Its random key.
    pub(crate) key: u64,
    /// When it was issued.
    pub(crate) issued: u64,
    /// When its last byte reached the destination.
    pub(crate) delivered: Option<u64>,
    /// Packets that have reached the destination.
    pub(crate) packets_delivered: u64,
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
