//! Events, in order of time; simultaneous events in the order of their creation.
//!
//! Nearly all events are less than two microseconds ahead. These are in buckets of 256 ps, each of which is sorted when
//! its time comes. The others are in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event. Packets, messages, nodes and links are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A rank issues the messages of an interval.
    Issue { sender: u32 },
    /// A message reaches its NIC and gets its turn in the NIC's sequencer.
    Sequence { message: u32 },
    /// A message enters the NIC's scheduler.
    Schedule { message: u32 },
    /// A packet is put on its NIC's list.
    Generate { packet: u32 },
    /// The NIC asks its scheduler for the next packet.
    Idle { node: u32 },
    /// The NIC sends the next packet of its list.
    Inject { node: u32 },
    /// The tail of a packet arrives at a router.
    Arrive { packet: u32 },
    /// A router port sends its next packet.
    Send { slot: u32 },
    /// Room on a channel returns to the sender of a link.
    Credit { link: u32, channel: u8 },
    /// The tail of a packet arrives at its node.
    Eject { packet: u32 },
}

/// An event with its time and its number, which order it.
type Pending = (u64, u64, Event);

/// Binary logarithm of the picoseconds of a bucket.
const WIDTH: u32 = 8;
/// Buckets ahead of the open one: 2.1 us.
const BUCKETS: u64 = 1 << 13;

/// All pending events.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// The events of the open bucket and before, the next one last.
    open: Vec<Pending>,
    /// Number of the open bucket: its time divided by the width.
    number: u64,
    /// The events of the buckets behind it, by bucket number modulo their count.
    buckets: Vec<Vec<Pending>>,
    /// A bit for each bucket: whether it has events.
    used: Vec<u64>,
    /// The events after the buckets, and those that were there when they were added.
    far: BinaryHeap<Reverse<Pending>>,
    added: u64,
}

impl Default for Calendar {
    fn default() -> Self {
        let buckets = vec![Vec::new(); BUCKETS as usize];
        let used = vec![0; BUCKETS as usize / 64];
        Self { open: Vec::new(), number: 0, buckets, used, far: BinaryHeap::new(), added: 0 }
    }
}

impl Calendar {
    /// Adds an event at time `t`, in picoseconds, which is not before that of an event taken.
    pub(crate) fn add(&mut self, t: u64, event: Event) {
        let pending = (t, self.added, event);
        self.added += 1;
        let number = t >> WIDTH;
        if number <= self.number {
            // It is the latest of its instant, so it goes before those of the same time.
            let at = self.open.partition_point(|&(time, _, _)| time > t);
            self.open.insert(at, pending);
        } else if number - self.number < BUCKETS {
            let bucket = (number % BUCKETS) as usize;
            self.buckets[bucket].push(pending);
            self.used[bucket / 64] |= 1 << (bucket % 64);
        } else {
            self.far.push(Reverse(pending));
        }
    }

    /// When the next event happens.
    pub(crate) fn next_time(&mut self) -> Option<u64> {
        if self.open.is_empty() {
            self.open_next()?;
        }
        self.open.last().map(|&(t, _, _)| t)
    }

    /// Removes the next event.
    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        self.next_time()?;
        self.open.pop().map(|(t, _, event)| (t, event))
    }

    /// The event that is some places behind the next one, if it is in the open bucket.
    pub(crate) fn soon(&self, places: usize) -> Option<Event> {
        self.open.len().checked_sub(places + 1).map(|at| self.open[at].2)
    }

    /// Pending events, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        let near = self.open.iter().chain(self.buckets.iter().flatten());
        near.chain(self.far.iter().map(|Reverse(pending)| pending)).map(|&(_, _, event)| event)
    }

    /// Opens the earliest bucket with an event; none if no events are left.
    fn open_next(&mut self) -> Option<()> {
        let far = self.far.peek().map(|Reverse((t, _, _))| t >> WIDTH);
        self.number = self.next_used().into_iter().chain(far).min()?;
        let bucket = (self.number % BUCKETS) as usize;
        std::mem::swap(&mut self.open, &mut self.buckets[bucket]);
        self.used[bucket / 64] &= !(1 << (bucket % 64));
        while let Some(&Reverse(pending)) = self.far.peek()
            && pending.0 >> WIDTH == self.number
        {
            self.open.push(pending);
            self.far.pop();
        }
        self.open.sort_unstable_by_key(|&(t, added, _)| Reverse((t, added)));
        Some(())
    }

    /// The number of the first bucket behind the open one that has events.
    fn next_used(&self) -> Option<u64> {
        let first = (self.number + 1) % BUCKETS;
        let words = self.used.len();
        let from = (first / 64) as usize;
        // The word of the first bucket comes twice: its later bits first, its earlier bits last.
        let bit = (0..=words).find_map(|step| {
            let at = (from + step) % words;
            let later = u64::MAX << (first % 64);
            let mask = match step {
                0 => later,
                _ if step == words => !later,
                _ => u64::MAX,
            };
            let word = self.used[at] & mask;
            (word != 0).then(|| at as u64 * 64 + u64::from(word.trailing_zeros()))
        })?;
        Some(self.number + 1 + (bit + BUCKETS - first) % BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use odonata_sim::engine::random::mix64;

    use super::*;

    /// Adds events at some distances from the present while others are taken, until none are left, and compares with a
    /// list.
    #[test]
    fn events_come_in_order_of_time_and_creation() {
        let mut calendar = Calendar::default();
        let mut all: Vec<(u64, u64)> = Vec::new();
        let (mut now, mut number) = (0, 0);
        for round in 0..20_000_u64 {
            let random = mix64(round);
            let fills = round / 500 % 2 == 0;
            for k in 0..if fills { random % 3 } else { 0 } {
                let random = mix64(random ^ k);
                // In this bucket, in the next ones, at the edge of the buckets, far behind; often at equal times.
                let near = BUCKETS << WIDTH;
                let ahead = [0, random % 200, random % 4000, near - 300 + random % 600, random % (40 * near)];
                let t = now + ahead[(random >> 32) as usize % ahead.len()] / 64 * 64;
                calendar.add(t, Event::Send { slot: number as u32 });
                all.push((t, number));
                number += 1;
            }
            assert_eq!(calendar.iter().count(), all.len());
            let next = all.iter().copied().min();
            assert_eq!(calendar.next_time(), next.map(|(t, _)| t));
            if fills && random.is_multiple_of(3) {
                continue;
            }
            let expected = next.map(|(t, number)| (t, Event::Send { slot: number as u32 }));
            assert_eq!(calendar.pop(), expected);
            if let Some(next) = next {
                now = next.0;
                all.retain(|&other| other != next);
            }
        }
        assert!(number > 9_000 && all.is_empty(), "{number} events");
    }
}
