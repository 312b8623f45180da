//! A node's NIC: a sequencer of messages, a scheduler that cuts them into packets, and a list of packets to send.

use std::collections::VecDeque;

use odonata_sim::spec::LinkSpec;

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
    /// When the sequencer has let the latest message pass.
    pub(super) sequenced_at: u64,
    /// Messages in the scheduler.
    pub(super) queue: VecDeque<Unsent>,
    /// Whether the scheduler has been asked for a packet, or a packet or an `Idle` is on its way.
    pub(super) scheduling: bool,
    /// Whether the next `Idle` waits for the next packet to be sent, since the list is full.
    pub(super) full: bool,
    /// Packets to be sent.
    pub(super) list: VecDeque<u32>,
    /// Whether an `Inject` is to come.
    pub(super) sending: bool,
    /// Until when the injection link is taken.
    pub(super) free_at: u64,
    /// Bytes sent and not yet admitted by the leaf to an output.
    pub(super) occupied: u64,
    /// Its small delays.
    pub(super) noise: Noise,
    /// Packets sent.
    pub(super) packets: u64,
    /// Bytes sent.
    pub(super) bytes: u64,
    /// Time during which a packet waited for room, up to the last change.
    stalled: u64,
    /// Since when a packet has been waiting.
    stalled_since: Option<u64>,
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
            noise,
            packets: 0,
            bytes: 0,
            stalled: 0,
            stalled_since: None,
        }
    }

    /// Notes at time `t` whether the list stands still for lack of room.
    pub(super) fn watch(&mut self, t: u64) {
        let waits = !self.list.is_empty() && !self.sending;
        match self.stalled_since {
            None if waits => self.stalled_since = Some(t),
            Some(since) if !waits => {
                self.stalled += t - since;
                self.stalled_since = None;
            }
            _ => {}
        }
    }

    /// Time during which a packet waited for room, up to `end`.
    pub(super) fn stalled_until(&self, end: u64) -> u64 {
        self.stalled + self.stalled_since.map_or(0, |since| end.saturating_sub(since))
    }
}
