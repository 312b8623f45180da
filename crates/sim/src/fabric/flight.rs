//! Messages between issue and delivery.

use crate::engine::prefetch;

/// Row of a message that has none.
pub const NO_ROW: u32 = u32::MAX;

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
#[derive(Default)]
pub struct Flights {
    slots: Vec<Flight>,
    free: Vec<u32>,
}

impl Flights {
    /// Adds a message; returns its slot.
    #[inline]
    pub fn add(&mut self, flight: Flight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = flight;
            return slot;
        }
        self.slots.push(flight);
        (self.slots.len() - 1) as u32
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
        let flight = &mut self.slots[slot as usize];
        flight.packets_left -= 1;
        if flight.packets_left == 0 {
            self.free.push(slot);
        }
        *flight
    }

    /// The same, but its slot stays taken until [`release`](Self::release).
    #[inline]
    pub fn deliver_and_keep(&mut self, slot: u32) -> Flight {
        let flight = &mut self.slots[slot as usize];
        flight.packets_left -= 1;
        *flight
    }

    /// Frees the slot of a message.
    pub fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Number of messages under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no message is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
