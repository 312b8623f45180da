//! Credits on their way back: stamps at the receiver, read by the sender when it runs out of room.
//!
//! A credit is not an event. When a packet's departure is known, the time at which its credit will reach the sender is
//! noted here, beside the buffer; the sender looks only when it needs room, and counts what is stamped up to then. An
//! event exists only for a sender that waits.

use std::collections::HashMap;

/// Stamps kept in place.
const STAMPS: usize = 6;
/// Stamps may lie this much before the one that set the base (2 ms), and as much after.
const HALF_RANGE: u64 = 1 << 31;
/// `wake_at` of a sender that does not wait.
const IDLE: u64 = 0;
/// `wake_at` of a sender that waits while no credit is under way.
const UNARMED: u64 = u64::MAX;

/// Credits of one lane: one cache line.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Returns {
    /// Stamps are relative to this.
    base: u64,
    /// When the waiting sender will be woken; [`IDLE`], or [`UNARMED`].
    wake_at: u64,
    offsets: [u32; STAMPS],
    /// Bytes of credits that are due whenever the sender looks.
    due: u32,
    /// Bytes minus one.
    sizes: [u16; STAMPS],
    count: u8,
    /// Whether more stamps are in the spill.
    spilled: bool,
    /// Class of the link that leads to the buffer.
    pub class: u8,
}

const _: () = assert!(size_of::<Returns>() == 64);

/// Stamps that found no place, by lane. Only ever looked up by key, so its order decides nothing.
pub type Spill = HashMap<u32, Vec<(u64, u32)>>;

impl Returns {
    /// The credits of a buffer behind a link of a class: none yet.
    #[must_use]
    pub fn new(class: u8) -> Self {
        Self {
            base: 0,
            wake_at: IDLE,
            offsets: [0; STAMPS],
            due: 0,
            sizes: [0; STAMPS],
            count: 0,
            spilled: false,
            class,
        }
    }

    /// Notes a credit of `bytes` that reaches the sender at `stamp`; whatever the sender will decide from now on, it
    /// decides at `horizon` or later. Returns whether the sender must be woken at `stamp`.
    #[inline]
    pub fn add(&mut self, lane: u32, stamp: u64, bytes: u32, horizon: u64, spill: &mut Spill) -> bool {
        if self.count == 0 {
            self.base = stamp.saturating_sub(HALF_RANGE);
        }
        if usize::from(self.count) == STAMPS || stamp.wrapping_sub(self.base) > u64::from(u32::MAX) {
            self.make_room(stamp, horizon);
        }
        let count = usize::from(self.count);
        let offset = stamp.wrapping_sub(self.base);
        if count < STAMPS && offset <= u64::from(u32::MAX) {
            self.offsets[count] = offset as u32;
            self.sizes[count] = (bytes - 1) as u16;
            self.count += 1;
        } else {
            self.spill(lane, stamp, bytes, spill);
        }
        if stamp < self.wake_at {
            self.wake_at = stamp;
            return true;
        }
        false
    }

    /// Adds up the credits that are due at any decision to come, and moves the base to the present.
    #[cold]
    fn make_room(&mut self, stamp: u64, horizon: u64) {
        let (old, new) = (self.base, stamp.saturating_sub(HALF_RANGE));
        let reach = new..=new + u64::from(u32::MAX);
        let movable = (0..usize::from(self.count))
            .map(|i| old + u64::from(self.offsets[i]))
            .all(|stamp| stamp <= horizon || reach.contains(&stamp));
        let mut kept = 0;
        for index in 0..usize::from(self.count) {
            let stamp = old + u64::from(self.offsets[index]);
            if stamp <= horizon {
                self.due += u32::from(self.sizes[index]) + 1;
                continue;
            }
            self.offsets[kept] = (stamp - if movable { new } else { old }) as u32;
            self.sizes[kept] = self.sizes[index];
            kept += 1;
        }
        self.count = kept as u8;
        if movable {
            self.base = new;
        }
    }

    #[cold]
    fn spill(&mut self, lane: u32, stamp: u64, bytes: u32, spill: &mut Spill) {
        self.spilled = true;
        spill.entry(lane).or_default().push((stamp, bytes));
    }

    /// Takes all credits stamped at or before `now`, in bytes.
    #[inline]
    pub fn take(&mut self, lane: u32, now: u64, spill: &mut Spill) -> u32 {
        let mut bytes = std::mem::take(&mut self.due);
        let mut kept = 0;
        for index in 0..usize::from(self.count) {
            if self.base + u64::from(self.offsets[index]) <= now {
                bytes += u32::from(self.sizes[index]) + 1;
            } else {
                self.offsets[kept] = self.offsets[index];
                self.sizes[kept] = self.sizes[index];
                kept += 1;
            }
        }
        self.count = kept as u8;
        if self.spilled {
            bytes += self.take_spilled(lane, now, spill);
        }
        bytes
    }

    #[cold]
    fn take_spilled(&mut self, lane: u32, now: u64, spill: &mut Spill) -> u32 {
        let stamps = spill.get_mut(&lane).expect("a spilled lane has an entry");
        let mut bytes = 0;
        stamps.retain(|&(stamp, size)| {
            if stamp <= now {
                bytes += size;
            }
            stamp > now
        });
        self.spilled = !stamps.is_empty();
        bytes
    }

    /// The sender waits from now on: when the earliest credit under way reaches it, if there is one.
    pub fn wait(&mut self, lane: u32, spill: &Spill) -> Option<u64> {
        let in_place = (0..usize::from(self.count)).map(|i| self.base + u64::from(self.offsets[i])).min();
        let spilled = self.spilled.then(|| spill[&lane].iter().map(|&(stamp, _)| stamp).min()).flatten();
        let earliest = in_place.into_iter().chain(spilled).min();
        self.wake_at = earliest.unwrap_or(UNARMED);
        earliest
    }

    /// Whether the sender is to be woken at `now`; if not, an earlier credit has woken it meanwhile.
    #[must_use]
    pub fn wakes_at(&self, now: u64) -> bool {
        self.wake_at == now
    }

    /// The sender waits no longer.
    pub fn rest(&mut self) {
        self.wake_at = IDLE;
    }

    /// Bytes of all credits under way.
    #[must_use]
    pub fn under_way(&self, lane: u32, spill: &Spill) -> u64 {
        let in_place: u64 = self.sizes[..usize::from(self.count)].iter().map(|&s| u64::from(s) + 1).sum();
        let spilled: u64 = if self.spilled { spill[&lane].iter().map(|&(_, bytes)| u64::from(bytes)).sum() } else { 0 };
        u64::from(self.due) + in_place + spilled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    /// Adds and takes at random beside a plain list; `spread` is how far ahead credits are stamped.
    fn compare_with_a_plain_list(spread: u64, horizon_lag: u64) {
        let (mut r, mut spill) = (Returns::new(1), Spill::new());
        let mut plain: Vec<(u64, u32)> = Vec::new();
        let mut now = 1_000_000_000_000;
        for step in 0..20_000_u64 {
            let random = mix64(step ^ spread);
            now += random % (spread / 4 + 2);
            if !random.is_multiple_of(5) {
                let (stamp, bytes) = (now + 1 + mix64(random) % spread, 1 + (random >> 40) as u32 % 65_536);
                assert!(!r.add(3, stamp, bytes, now - horizon_lag, &mut spill), "nobody waits");
                plain.push((stamp, bytes));
            } else if random.is_multiple_of(3) {
                let due: u32 = plain.iter().filter(|&&(stamp, _)| stamp <= now).map(|&(_, bytes)| bytes).sum();
                plain.retain(|&(stamp, _)| stamp > now);
                assert_eq!(r.take(3, now, &mut spill), due, "step {step}");
                assert_eq!(r.wait(3, &spill), plain.iter().map(|&(stamp, _)| stamp).min());
                r.rest();
            }
            assert_eq!(r.under_way(3, &spill), plain.iter().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>());
        }
    }

    #[test]
    fn credits_are_counted_once_at_their_time_however_far_apart_they_lie() {
        for spread in [10, 1_000_000, 3_000_000_000, 30_000_000_000] {
            compare_with_a_plain_list(spread, 0);
            compare_with_a_plain_list(spread, spread / 3);
        }
    }

    #[test]
    fn a_waiting_sender_is_woken_at_the_earliest_stamp_known_so_far() {
        let (mut r, mut spill) = (Returns::new(1), Spill::new());
        assert_eq!(r.wait(0, &spill), None);
        assert!(r.add(0, 900, 1, 0, &mut spill), "the first credit wakes");
        assert!(!r.add(0, 950, 1, 0, &mut spill), "a later one does not");
        assert!(r.add(0, 800, 1, 0, &mut spill), "an earlier one does");
        assert_eq!(r.wait(0, &spill), Some(800));
        r.rest();
        assert!(!r.add(0, 700, 1, 0, &mut spill));
    }
}
