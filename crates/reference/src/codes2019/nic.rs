//! A node's NIC: a sequencer of messages, a scheduler that cuts them into packets, and a list of packets to send.

use std::collections::VecDeque;

use odonata_sim::spec::LinkSpec;

use super::flow::Flow;
use super::noise::Noise;

/// A message in the scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    /// Index of the message.
    pub(super) message: u32,
    /// Its next packet.
    pub(super) next: u32,
}

/// The NIC of one node.
#[derive(Debug)]
pub(super) struct Nic {
    /// The injection link. `buffer_bytes` bounds the list, and is the room at the leaf.
    pub(super) link: LinkSpec,
    /// Messages issued by this node so far.
    pub(super) issued: u64,
    /// The time at which the sequencer released the latest message.
    pub(super) sequenced_at: u64,
    /// Messages in the scheduler.
    pub(super) queue: VecDeque<Unsent>,
    /// Whether the scheduler has a request for a packet, or a packet or an `Idle` is scheduled.
    pub(super) scheduling: bool,
    /// Whether the next `Idle` waits until the next packet is sent, because the list is full.
    pub(super) full: bool,
    /// Packets to be sent.
    pub(super) list: VecDeque<u32>,
    /// Whether an `Inject` is scheduled.
    pub(super) sending: bool,
    /// The time until which the injection link is busy.
    pub(super) free_at: u64,
    /// Bytes sent and not yet admitted by the leaf to an output.
    pub(super) occupied: u64,
    /// The most of them so far.
    pub(super) peak: u64,
    /// Its small delays.
    pub(super) noise: Noise,
    /// Its counters.
    pub(super) flow: Flow,
}

impl Nic {
    /// An idle NIC.
    pub(super) fn new(link: LinkSpec, noise: Noise) -> Self {
        Self {
            link,
            issued: 0,
            sequenced_at: 0,
            queue: VecDeque::new(),
            scheduling: false,
            full: false,
            list: VecDeque::new(),
            sending: false,
            free_at: 0,
            occupied: 0,
            peak: 0,
            noise,
            flow: Flow::default(),
        }
    }

    /// Whether the leaf has room for one more packet, as far as the NIC knows.
    pub(super) fn has_room(&self, packet_bytes: u64) -> bool {
        self.occupied + packet_bytes <= self.link.buffer_bytes
    }
}
