//! Returning credits: stamps at the receiver, which the sender reads when it runs out of room.
//!
//! A credit is not an event. When a packet's departure is known, the receiver notes here the time at which the credit
//! reaches the sender. The sender counts the stamps up to the present only when it needs room. Only a sender that waits
//! gets an event.

use std::collections::HashMap;
use std::ops::Range;

use bytemuck::{Zeroable, zeroed_vec};

use super::wiring::CLASSES;
use crate::engine::prefetch;

/// Number of stamps kept in place.
const STAMPS: usize = 4;
/// Stamps in place are relative to a multiple of 2^31 ps (2 ms), and less than 2^32 ps after it.
const UNIT_BITS: u32 = 31;
/// Offsets are less than this.
const BEYOND: u32 = u32::MAX;
/// The wake-up time of a sender that waits while no credit is under way.
const UNARMED: u64 = u64::MAX;

/// Credits of one virtual channel: half a cache line, so that those of a whole machine fit into a cache.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Zeroable)]
struct Returns {
    offsets: [u32; STAMPS],
    /// Bytes minus one.
    sizes: [u16; STAMPS],
    /// The time that stamps are relative to, in units.
    base: u32,
    /// Which places hold a stamp (4 bits), whether more are in the spill, whether the sender waits, class of the link
    /// that leads to the buffer (3 bits), and bytes of credits that are due whenever the sender looks.
    state: u32,
}

const PLACES: u32 = (1 << STAMPS) - 1;
const SPILLED: u32 = 1 << 4;
const AWAITED: u32 = 1 << 5;
const CLASS_SHIFT: u32 = 6;
const CLASS_MASK: u32 = 7;
const DUE_SHIFT: u32 = 9;

const _: () = assert!(CLASSES == CLASS_MASK as usize + 1 && CLASS_MASK << CLASS_SHIFT < 1 << DUE_SHIFT);

const _: () = assert!(size_of::<Returns>() == 32);

impl Returns {
    #[inline(always)]
    fn base(&self) -> u64 {
        u64::from(self.base) << UNIT_BITS
    }

    /// The stamps in place, each with its bytes.
    fn stamps(&self) -> impl Iterator<Item = (u64, u32)> {
        let held = (0..STAMPS).filter(|&i| self.state >> i & 1 != 0);
        held.map(|i| (self.base() + u64::from(self.offsets[i]), u32::from(self.sizes[i]) + 1))
    }

    /// The earliest stamp in place, or [`UNARMED`]. (It reads all places, so there is no branch to mispredict.)
    #[inline(always)]
    fn earliest(&self) -> u64 {
        let mut earliest = u32::MAX; // no offset is as large as this
        for (place, &offset) in self.offsets.iter().enumerate() {
            let held = self.state >> place & 1;
            earliest = earliest.min(offset | held.wrapping_sub(1));
        }
        if earliest == u32::MAX { UNARMED } else { self.base() + u64::from(earliest) }
    }

    /// The places of the stamps at or before a time, and their bytes. (It reads all places, so there is no branch to
    /// mispredict.)
    #[inline(always)]
    fn until(&self, time: u64) -> (u32, u32) {
        let limit = (time + 1).saturating_sub(self.base()).min(u64::from(BEYOND)) as u32;
        due(&self.offsets, &self.sizes, self.state, limit)
    }

    /// Adds up the credits that every future decision may count. If `stamp` does not fit, moves the base towards it as
    /// far as the other stamps allow.
    #[inline(never)]
    fn make_room(&mut self, stamp: u64, horizon: u64) {
        let (places, bytes) = self.until(horizon);
        if let Some(state) = self.state.checked_add(bytes << DUE_SHIFT) {
            self.state = state & !places;
        }
        if !self.reaches(stamp) {
            self.rebase(stamp);
        }
    }

    /// Whether a stamp can be kept in place.
    #[inline(always)]
    fn reaches(&self, stamp: u64) -> bool {
        stamp.wrapping_sub(self.base()) < u64::from(BEYOND)
    }

    /// Moves the base so that there is room before and after a stamp, unless another stamp would no longer fit.
    #[cold]
    fn rebase(&mut self, stamp: u64) {
        let before = self.base();
        let moved = Self { base: ((stamp >> (UNIT_BITS - 1)).saturating_sub(1) >> 1) as u32, ..*self };
        if self.stamps().all(|(stamp, _)| moved.reaches(stamp)) {
            *self = moved;
            let base = self.base();
            self.offsets = self.offsets.map(|offset| (before + u64::from(offset)).wrapping_sub(base) as u32);
        }
    }
}

/// The places of the stamps before a limit, among those that `state` marks as held, and their bytes.
#[cfg(any(not(target_arch = "x86_64"), miri, test))]
fn due_portable(offsets: &[u32; STAMPS], sizes: &[u16; STAMPS], state: u32, limit: u32) -> (u32, u32) {
    let (mut places, mut bytes) = (0, 0);
    for index in 0..STAMPS {
        let due = u32::from(offsets[index] < limit) & (state >> index);
        places |= due << index;
        bytes += due.wrapping_neg() & (u32::from(sizes[index]) + 1);
    }
    (places, bytes)
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
use due_portable as due;

/// The same for all four stamps at once.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn due(offsets: &[u32; STAMPS], sizes: &[u16; STAMPS], state: u32, limit: u32) -> (u32, u32) {
    use std::arch::x86_64::*;
    const SIGN: u32 = 1 << 31;
    // SAFETY: every x86-64 processor has these instructions; the arrays are as large as the vectors, and any bits are
    // valid.
    unsafe {
        let offsets = std::mem::transmute::<[u32; STAMPS], __m128i>(*offsets);
        let sizes = _mm_cvtsi64_si128(std::mem::transmute::<[u16; STAMPS], i64>(*sizes));
        // The instructions compare signed numbers: flipping the highest bit makes the unsigned ones comparable.
        let before =
            _mm_cmpgt_epi32(_mm_set1_epi32((limit ^ SIGN) as i32), _mm_xor_si128(offsets, _mm_set1_epi32(SIGN as i32)));
        let bits = _mm_setr_epi32(1, 2, 4, 8);
        let held = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(state as i32), bits), bits);
        let due = _mm_and_si128(before, held);
        let places = _mm_movemask_ps(_mm_castsi128_ps(due)) as u32;
        // `due` is minus one where a stamp is due.
        let sizes = _mm_and_si128(_mm_unpacklo_epi16(sizes, _mm_setzero_si128()), due);
        let bytes = _mm_sub_epi32(sizes, due);
        let bytes = _mm_add_epi32(bytes, _mm_shuffle_epi32::<0b01_00_11_10>(bytes));
        let bytes = _mm_add_epi32(bytes, _mm_shuffle_epi32::<0b10_11_00_01>(bytes));
        (places, _mm_cvtsi128_si32(bytes) as u32)
    }
}

/// The credits of all virtual channels.
pub struct Credits {
    vcs: Vec<Returns>,
    /// The wake-up time of the sender of each output VC, if it waits.
    wakes: Vec<u64>,
    /// Stamps that did not fit, by output VC. The map is only accessed by key, so its order does not matter.
    spill: HashMap<u32, Vec<(u64, u32)>>,
}

impl Credits {
    /// No credits yet, for this number of channels of links of these classes; stored channel by channel. Only the
    /// classes of links in the range `own` are known, so the memory of the others is not touched.
    #[must_use]
    pub fn new(classes: impl ExactSizeIterator<Item = u8>, channels: usize, own: Range<usize>) -> Self {
        let links = classes.len();
        let mut vcs: Vec<Returns> = zeroed_vec(channels * links);
        for (link, class) in classes.enumerate().take(own.end).skip(own.start) {
            for channel in 0..channels {
                vcs[channel * links + link].state = u32::from(class) << CLASS_SHIFT;
            }
        }
        Self { wakes: vec![0; vcs.len()], vcs, spill: HashMap::new() }
    }

    /// Number of virtual channels.
    #[must_use]
    pub fn vcs(&self) -> usize {
        self.vcs.len()
    }

    /// Memory of all credits, without the spill.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.vcs)
    }

    /// Prefetches the credits of a virtual channel.
    #[inline(always)]
    pub fn prefetch(&self, vc: usize) {
        prefetch(&self.vcs, vc);
    }

    /// Prefetches the credits of a virtual channel whose sender waits.
    #[inline(always)]
    pub fn prefetch_waiting(&self, vc: usize) {
        self.prefetch(vc);
        prefetch(&self.wakes, vc);
    }

    /// Class of the link that leads to the buffer.
    ///
    /// # Safety
    /// `vc` is below [`vcs`](Self::vcs).
    #[inline(always)]
    #[must_use]
    pub unsafe fn class(&self, vc: usize) -> u8 {
        // SAFETY: the caller guarantees it.
        let returns = unsafe { self.vcs.get_unchecked(vc) };
        (returns.state >> CLASS_SHIFT & CLASS_MASK) as u8
    }

    /// Notes a credit of `bytes` that reaches the sender at `stamp`. All future decisions of the sender are at
    /// `horizon` or later. Returns whether the sender must be woken at `stamp`.
    ///
    /// # Safety
    /// `vc` is below [`vcs`](Self::vcs).
    #[inline(always)]
    pub unsafe fn add(&mut self, vc: usize, stamp: u64, bytes: u32, horizon: u64) -> bool {
        // SAFETY: the caller guarantees it.
        let returns = unsafe { self.vcs.get_unchecked_mut(vc) };
        let awaited = returns.state & AWAITED != 0;
        if returns.state & PLACES == PLACES || !returns.reaches(stamp) {
            returns.make_room(stamp, horizon);
        }
        let place = returns.state.trailing_ones() as usize;
        if place < STAMPS && returns.reaches(stamp) {
            returns.offsets[place] = (stamp - returns.base()) as u32;
            returns.sizes[place] = (bytes - 1) as u16;
            returns.state |= 1 << place;
        } else {
            self.spill(vc, stamp, bytes);
        }
        awaited && self.is_earlier(vc, stamp)
    }

    /// Whether a credit arrives before the wake-up of the sender.
    #[cold]
    fn is_earlier(&mut self, vc: usize, stamp: u64) -> bool {
        let earlier = stamp < self.wakes[vc];
        if earlier {
            self.wakes[vc] = stamp;
        }
        earlier
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, vc: usize, stamp: u64, bytes: u32) {
        self.vcs[vc].state |= SPILLED;
        self.spill.entry(vc as u32).or_default().push((stamp, bytes));
    }

    /// Takes all credits stamped at or before `now`, in bytes.
    #[inline]
    pub fn take(&mut self, vc: usize, now: u64) -> u32 {
        let returns = &mut self.vcs[vc];
        let (places, mut bytes) = returns.until(now);
        bytes += returns.state >> DUE_SHIFT;
        returns.state = returns.state & ((1 << DUE_SHIFT) - 1) & !places;
        if returns.state & SPILLED != 0 {
            bytes += self.take_spilled(vc, now);
        }
        bytes
    }

    #[cold]
    #[inline(never)]
    fn take_spilled(&mut self, vc: usize, now: u64) -> u32 {
        let stamps = self.spill.get_mut(&(vc as u32)).expect("a spilled lane has an entry");
        let mut bytes = 0;
        stamps.retain(|&(stamp, size)| {
            if stamp <= now {
                bytes += size;
            }
            stamp > now
        });
        if stamps.is_empty() {
            self.vcs[vc].state &= !SPILLED;
        }
        bytes
    }

    /// All stamps of a virtual channel, each with its bytes.
    fn stamps(&self, vc: usize) -> impl Iterator<Item = (u64, u32)> {
        let returns = &self.vcs[vc];
        let spilled = if returns.state & SPILLED != 0 { &*self.spill[&(vc as u32)] } else { &[] };
        returns.stamps().chain(spilled.iter().copied())
    }

    /// The sender waits from now on. Returns the arrival of the earliest credit under way, if there is one.
    pub fn wait(&mut self, vc: usize) -> Option<u64> {
        let returns = &mut self.vcs[vc];
        returns.state |= AWAITED;
        let mut earliest = returns.earliest();
        if returns.state & SPILLED != 0 {
            earliest = self.spill[&(vc as u32)].iter().map(|&(stamp, _)| stamp).fold(earliest, u64::min);
        }
        self.wakes[vc] = earliest;
        (earliest != UNARMED).then_some(earliest)
    }

    /// Whether the sender is to be woken at `now`; if not, an earlier credit has already woken it.
    #[must_use]
    pub fn wakes_at(&self, vc: usize, now: u64) -> bool {
        self.vcs[vc].state & AWAITED != 0 && self.wakes[vc] == now
    }

    /// The sender no longer waits.
    pub fn stop_waiting(&mut self, vc: usize) {
        self.vcs[vc].state &= !AWAITED;
    }

    /// Bytes of all credits under way.
    #[must_use]
    pub fn under_way(&self, vc: usize) -> u64 {
        u64::from(self.vcs[vc].state >> DUE_SHIFT) + self.stamps(vc).map(|(_, bytes)| u64::from(bytes)).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    /// The same as [`Credits::add`], for a virtual channel that exists.
    fn add(credits: &mut Credits, vc: usize, stamp: u64, bytes: u32, horizon: u64) -> bool {
        assert!(vc < credits.vcs());
        // SAFETY: the line above checks it.
        unsafe { credits.add(vc, stamp, bytes, horizon) }
    }

    /// Random adds and takes, compared with a plain list; `spread` is how far ahead credits are stamped.
    fn compare_with_a_plain_list(spread: u64, horizon_lag: u64) {
        let mut credits = Credits::new([0, 1, 2, 3, 0].into_iter(), 1, 0..5);
        let mut plain: Vec<(u64, u32)> = Vec::new();
        let mut now = 1_000_000_000_000;
        for step in 0..20_000_u64 {
            let random = mix64(step ^ spread);
            now += random % (spread / 4 + 2);
            if !random.is_multiple_of(5) {
                let (stamp, bytes) = (now + 1 + mix64(random) % spread, 1 + (random >> 40) as u32 % 65_536);
                assert!(!add(&mut credits, 3, stamp, bytes, now - horizon_lag), "nobody waits");
                plain.push((stamp, bytes));
            } else if random.is_multiple_of(3) {
                let due: u32 = plain.iter().filter(|&&(stamp, _)| stamp <= now).map(|&(_, bytes)| bytes).sum();
                plain.retain(|&(stamp, _)| stamp > now);
                assert_eq!(credits.take(3, now), due, "step {step}");
                assert_eq!(credits.wait(3), plain.iter().map(|&(stamp, _)| stamp).min());
                credits.stop_waiting(3);
            }
            assert_eq!(credits.under_way(3), plain.iter().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>());
        }
        // SAFETY: there are five virtual channels.
        assert_eq!((0..5).map(|vc| unsafe { credits.class(vc) }).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
        assert!([0, 1, 2, 4].iter().all(|&vc| credits.under_way(vc) == 0), "lanes do not touch each other");
    }

    #[test]
    fn credits_are_counted_once_at_their_time_however_far_apart_they_lie() {
        for spread in [10, 1_000_000, 3_000_000_000, 30_000_000_000] {
            compare_with_a_plain_list(spread, 0);
            compare_with_a_plain_list(spread, spread / 3);
        }
    }

    #[test]
    fn as_many_credits_may_be_due_as_a_buffer_holds() {
        let mut credits = Credits::new([0].into_iter(), 1, 0..1);
        for k in 0..1_u64 << 14 {
            add(&mut credits, 0, k, 65_536, k);
        }
        assert_eq!((credits.under_way(0), credits.take(0, 1 << 14)), (1 << 30, 1 << 30));
        assert_eq!((credits.under_way(0), credits.take(0, 1 << 14)), (0, 0));
    }

    #[test]
    fn the_credits_that_are_due_are_the_same_one_by_one_and_four_at_once() {
        for case in 0..20_000_u64 {
            let random = |k: u64| mix64(case << 4 | k);
            let near = |k: u64| match random(k) % 4 {
                0 => random(k + 8) as u32,
                1 => u32::MAX - (random(k + 8) % 3) as u32,
                _ => (1 << 31) + (random(k + 8) % 5) as u32 - 2,
            };
            let (offsets, sizes) = ([near(0), near(1), near(2), near(3)], [4, 5, 6, 7].map(|k| random(k) as u16));
            let (state, limit) = (random(8) as u32, near(9));
            assert_eq!(due(&offsets, &sizes, state, limit), due_portable(&offsets, &sizes, state, limit), "{case}");
        }
    }

    #[test]
    fn stamps_may_lie_anywhere_in_time() {
        let mut credits = Credits::new([0].into_iter(), 1, 0..1);
        for stamp in [1, (1 << 62) + 5, 7, (1 << 63) - 1, 1 << 31, 1 << 40] {
            add(&mut credits, 0, stamp, 1, 0);
        }
        assert_eq!([0, 1, 7, 1 << 31, 1 << 62, 1 << 63].map(|now| credits.take(0, now)), [0, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_waiting_sender_is_woken_at_the_earliest_stamp_known_so_far() {
        let mut credits = Credits::new([1].into_iter(), 1, 0..1);
        assert_eq!(credits.wait(0), None);
        assert!(add(&mut credits, 0, 900, 1, 0), "the first credit wakes");
        assert!(!add(&mut credits, 0, 950, 1, 0), "a later one does not");
        assert!(add(&mut credits, 0, 800, 1, 0), "an earlier one does");
        assert!(credits.wakes_at(0, 800) && !credits.wakes_at(0, 900));
        assert_eq!(credits.wait(0), Some(800));
        credits.stop_waiting(0);
        assert!(!add(&mut credits, 0, 700, 1, 0) && !credits.wakes_at(0, 800));
    }
}
