//! Bytes that will leave a router, by when.

use std::collections::VecDeque;

/// Packets in place: more are rare unless a port is overloaded.
const IN_PLACE: usize = 4;

/// Bytes that will leave the router behind a link, in ascending order of the times at which the sender will know it.
/// It fills a cache line.
#[derive(Default)]
#[repr(align(64))]
pub struct Leaving {
    /// The first ones. That at `first` is the next to leave, and the positions wrap around.
    times: [u64; IN_PLACE],
    bytes: [u32; IN_PLACE],
    first: u8,
    /// Number of packets, in place and later ones.
    count: u32,
    /// Those after the ones in place.
    #[expect(clippy::box_collection, reason = "the list itself would not fit into the cache line")]
    later: Option<Box<VecDeque<(u64, u32)>>>,
}

/// The position after so many.
#[inline(always)]
fn position(first: u8, after: u32) -> usize {
    (u32::from(first) + after) as usize % IN_PLACE
}

impl Leaving {
    /// Whether the next addition is to a list elsewhere.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.count >= IN_PLACE as u32
    }

    /// Adds bytes.
    #[inline(always)]
    pub fn add(&mut self, at: u64, bytes: u32) {
        if self.is_full() {
            self.add_later(at, bytes);
        } else {
            self.add_in_place(self.count, at, bytes);
        }
        self.count += 1;
    }

    /// Adds bytes to `count` in place; if that is one fewer than there can be, the last one makes room.
    #[inline(always)]
    fn add_in_place(&mut self, count: u32, at: u64, bytes: u32) {
        let (mut after, mut index) = (count, position(self.first, count));
        // The last one is nearly always the latest.
        while after > 0 {
            let before = position(self.first, after - 1);
            if self.times[before] <= at {
                break;
            }
            (self.times[index], self.bytes[index]) = (self.times[before], self.bytes[before]);
            (after, index) = (after - 1, before);
        }
        (self.times[index], self.bytes[index]) = (at, bytes);
    }

    /// Adds bytes if all places are taken.
    #[cold]
    #[inline(never)]
    fn add_later(&mut self, mut at: u64, mut bytes: u32) {
        let most = IN_PLACE as u32 - 1;
        let last = position(self.first, most);
        if at < self.times[last] {
            let moved = (self.times[last], self.bytes[last]);
            self.add_in_place(most, at, bytes);
            (at, bytes) = moved;
        }
        let later = self.later.get_or_insert_default();
        let index = later.partition_point(|&(other, _)| other <= at);
        later.insert(index, (at, bytes));
    }

    /// Removes the bytes that have left by `now`. Returns how many they are, and when the next ones leave, if there are
    /// any.
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> (u64, Option<u64>) {
        let mut left = 0;
        while self.count > 0 {
            let next = position(self.first, 0);
            let at = self.times[next];
            if at > now {
                return (left, Some(at));
            }
            left += u64::from(self.bytes[next]);
            if self.count > IN_PLACE as u32 {
                self.refill(next);
            }
            self.first = position(self.first, 1) as u8;
            self.count -= 1;
        }
        (left, None)
    }

    /// Moves the first of the later packets to the place of one that has left.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, place: usize) {
        let first = self.later.as_mut().and_then(|later| later.pop_front());
        (self.times[place], self.bytes[place]) = first.expect("there are more than in place");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    #[test]
    fn it_fills_a_cache_line() {
        assert_eq!(size_of::<Leaving>(), 64);
    }

    /// Random times, taken rarely or frequently, compared with a sorted list.
    #[test]
    fn bytes_leave_in_the_order_of_their_times() {
        for case in 0..60_u64 {
            let (mut leaving, mut plain, mut now) = (Leaving::default(), Vec::new(), 0);
            for step in 0..1_000 {
                let random = mix64(case << 32 | step);
                let (at, bytes) = (now + 1 + (random >> 40) % (1 + case * 10), 1 + (random >> 8) as u32 % 65_536);
                leaving.add(at, bytes);
                plain.push((at, bytes));
                now += random % 7;
                if random >> 20 & 15 < case % 16 {
                    let left: u64 =
                        plain.iter().filter(|&&(at, _)| at <= now).map(|&(_, bytes)| u64::from(bytes)).sum();
                    plain.retain(|&(at, _)| at > now);
                    assert_eq!(leaving.take(now), (left, plain.iter().map(|&(at, _)| at).min()));
                }
            }
        }
    }
}
