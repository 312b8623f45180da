//! Messages between issue and delivery.

use crate::engine::prefetch;
use crate::output::NO_ROW;

/// A message with undelivered packets.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it was issued.
    pub issue: u64,
    /// Number of packets not yet delivered.
    pub packets_left: u64,
    /// Its row among the job's messages, or [`NO_ROW`]; for a program, the slot of its protocol message.
    pub row: u32,
    /// Its job.
    pub job: u16,
    /// Whether its latency is measured.
    pub measured: bool,
}

/// The messages under way, in slots that are reused. No result depends on the slot.
///
/// A message between two partitions is known to both, in the same slot. Each partition gives out slots of its own.
pub struct Flights {
    slots: Vec<Flight>,
    /// By slot: the latest delivery of a packet; empty if no message can be striped.
    latest: Vec<u64>,
    /// Whether messages can be striped.
    striped: bool,
    free: Vec<u32>,
    /// The slot to be given out if none is free.
    next: u32,
    /// Number of this partition.
    partition: u32,
    /// Number of partitions.
    partitions: u32,
}

impl Default for Flights {
    fn default() -> Self {
        Self::of_partition(0, 1, false)
    }
}

/// What is in a slot that holds no message.
const NO_FLIGHT: Flight = Flight { issue: 0, packets_left: 0, row: NO_ROW, job: 0, measured: false };

impl Flights {
    /// No message, in a partition. With `striped`, the packets of a message may come by several links.
    #[must_use]
    pub fn of_partition(partition: u32, partitions: u32, striped: bool) -> Self {
        let (slots, latest, free) = (Vec::new(), Vec::new(), Vec::new());
        Self { slots, latest, striped, free, next: partition, partition, partitions }
    }

    /// Adds a message; returns its slot.
    #[inline(always)]
    pub fn add(&mut self, flight: Flight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.put(slot, flight);
            return slot;
        }
        let slot = self.next;
        self.next += self.partitions;
        self.put(slot, flight);
        slot
    }

    /// Puts a message in a slot that another partition has given out.
    #[inline(always)]
    pub fn put(&mut self, slot: u32, flight: Flight) {
        if slot as usize >= self.slots.len() {
            self.grow(slot as usize + 1);
        }
        self.slots[slot as usize] = flight;
        if self.striped {
            self.latest[slot as usize] = 0;
        }
    }

    /// Makes room for so many slots. (Not inlined, so that a message that takes a free slot does not pay for it.)
    #[cold]
    #[inline(never)]
    fn grow(&mut self, slots: usize) {
        self.slots.resize(slots, NO_FLIGHT);
        if self.striped {
            self.latest.resize(slots, 0);
        }
    }

    /// A packet of a message is delivered at `at`. Returns when the latest so far is.
    #[inline]
    pub fn latest(&mut self, slot: u32, at: u64) -> u64 {
        if !self.striped {
            return at; // by one link, one after the other
        }
        let latest = &mut self.latest[slot as usize];
        *latest = at.max(*latest);
        *latest
    }

    /// Changes the row of a message.
    pub fn set_row(&mut self, slot: u32, row: u32) {
        self.slots[slot as usize].row = row;
    }

    /// The partition that has given out a slot.
    #[must_use]
    pub fn partition_of(&self, slot: u32) -> usize {
        (slot % self.partitions) as usize
    }

    /// Prefetches a message; an unused slot is harmless.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32) {
        prefetch(&self.slots, slot as usize);
    }

    /// A message under way.
    #[must_use]
    pub fn get(&self, slot: u32) -> &Flight {
        &self.slots[slot as usize]
    }

    /// The job of a message.
    #[inline]
    #[must_use]
    pub fn job(&self, slot: u32) -> u16 {
        self.slots[slot as usize].job
    }

    /// Counts a packet as delivered. Returns the message, and frees its slot after the last packet.
    #[inline]
    pub fn deliver(&mut self, slot: u32) -> Flight {
        let flight = self.deliver_and_keep(slot);
        if flight.packets_left == 0 {
            self.free.push(slot);
        }
        flight
    }

    /// The same, but its slot stays taken until [`release`](Self::release).
    #[inline]
    pub fn deliver_and_keep(&mut self, slot: u32) -> Flight {
        let flight = &mut self.slots[slot as usize];
        flight.packets_left -= 1;
        *flight
    }

    /// Frees the slot of a message, which this partition has given out.
    pub fn release(&mut self, slot: u32) {
        debug_assert_eq!(slot % self.partitions, self.partition, "a slot of another partition");
        self.free.push(slot);
    }
}
