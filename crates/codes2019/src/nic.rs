//! A node's NIC: a sequencer of messages, a scheduler that cuts them into packets, and a list of packets to send.

use std::collections::VecDeque;

use odonata_sim::spec::LinkSpec;

use crate::flow::Flow;
use crate::noise::Noise;

/// A message in the scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// Index of the message.
    pub(crate) message: u32,
    /// Its next packet.
    pub(crate) next: u32,
}

/// The NIC of one node.
#[derive(Debug)]
pub(crate) struct Nic {
    /// The injection link. `buffer_bytes` bounds the list, and is the room at the leaf.
    pub(crate) link: LinkSpec,
    /// Messages issued by this node so far.
    pub(crate) issued: u64,
    /// The time at which the sequencer released the latest message.
    pub(crate) sequenced_at: u64,
    /// Messages in the scheduler.
    pub(crate) queue: VecDeque<Unsent>,
    /// Whether the scheduler has a request for a packet, or a packet or an `Idle` is scheduled.
    pub(crate) scheduling: bool,
    /// Whether the next `Idle` waits until the next packet is sent, because the list is full.
    pub(crate) full: bool,
    /// Packets to be sent.
    pub(crate) list: VecDeque<u32>,
    /// Whether an `Inject` is scheduled.
    pub(crate) sending: bool,
    /// The time until which the injection link is busy.
    pub(crate) free_at: u64,
    /// Bytes sent and not yet admitted by the leaf to an output.
    pub(crate) occupied: u64,
    /// The most of them so far.
    pub(crate) peak: u64,
    /// Its small delays.
    pub(crate) noise: Noise,
    /// Its counters.
    pub(crate) flow: Flow,
}

impl Nic {
    /// An idle NIC.
    pub(crate) fn new(link: LinkSpec, noise: Noise) -> Self {
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
    pub(crate) fn has_room(&self, packet_bytes: u64) -> bool {
        self.occupied + packet_bytes <= self.link.buffer_bytes
    }
}
