//! The jobs that hold each buffer, as its sender knows, and the waits for room.
//!
//! The bytes of one job, the main one, are what the others leave of all that are held. So most packets need not be
//! noted. Holdings are integrated over time only while a packet waits.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::engine::prefetch;

/// Bytes that a job holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    bytes: u32,
    job: u16,
}

/// A credit under way to the sender of a buffer.
#[derive(Clone, Copy, Debug)]
struct Release {
    stamp: u64,
    bytes: u32,
    job: u16,
}

/// The jobs other than the main one that hold a buffer.
#[repr(align(64))]
#[derive(Clone, Debug, Default)]
struct Holders {
    held: SmallVec<[Held; 2]>,
    releases: SmallVec<[Release; 2]>,
}

const _: () = assert!(size_of::<Holders>() == 64);

/// Integrals over time, in bytes times picoseconds.
#[derive(Clone, Debug, Default)]
struct Integrals {
    /// Of the bytes of all jobs.
    all: u128,
    /// Of those of jobs other than the main one, if they have held any.
    others: SmallVec<[(u16, u128); 1]>,
}

impl Integrals {
    fn of(&mut self, job: u16) -> &mut u128 {
        let position = self.others.iter().position(|other| other.0 == job).unwrap_or_else(|| {
            self.others.push((job, 0));
            self.others.len() - 1
        });
        &mut self.others[position].1
    }
}

/// The packets that wait for a buffer.
#[derive(Debug, Default)]
struct Waits {
    /// The integrals since a packet began to wait for the buffer, up to `last`.
    integrals: Integrals,
    last: u64,
    /// For each packet since when it waits, and the integrals then.
    packets: VecDeque<(u64, Integrals)>,
}

/// All buffers.
#[derive(Debug)]
pub(super) struct Buffers {
    main: u16,
    holders: Vec<Holders>,
    /// The number of the waits for each buffer, plus one; 0 if no packet waits.
    numbers: Vec<u32>,
    /// Few are in use, and those that are not are used again first. So they stay in a cache.
    waits: Vec<Waits>,
    /// The numbers, plus one, of those that are not in use.
    unused: Vec<u32>,
}

impl Holders {
    fn hold(&mut self, job: u16, bytes: u32) {
        match self.held.iter_mut().find(|held| held.job == job) {
            Some(held) => held.bytes += bytes,
            None => self.held.push(Held { bytes, job }),
        }
    }

    /// Takes back the bytes of credits up to an instant.
    fn settle(&mut self, until: u64) {
        let Self { held, releases } = self;
        releases.retain(|release| {
            if release.stamp <= until {
                let position = held.iter().position(|held| held.job == release.job).expect("it holds the buffer");
                held[position].bytes -= release.bytes;
                if held[position].bytes == 0 {
                    held.swap_remove(position);
                }
            }
            release.stamp > until
        });
    }
}

impl Buffers {
    pub(super) fn new(buffers: usize, main: u16) -> Self {
        Self {
            main,
            holders: vec![Holders::default(); buffers],
            numbers: vec![0; buffers],
            waits: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// A buffer is needed soon.
    #[inline]
    pub(super) fn prefetch(&self, buffer: usize) {
        prefetch(&self.holders, buffer);
        prefetch(&self.numbers, buffer);
    }

    /// The waits for a buffer are needed soon.
    #[inline]
    pub(super) fn prefetch_waits(&self, buffer: usize) {
        if let Some(number) = self.numbers[buffer].checked_sub(1) {
            prefetch(&self.waits, number as usize);
        }
    }

    /// Whether the room that a job takes is noted.
    #[inline]
    pub(super) fn notes(&self, job: u16) -> bool {
        job != self.main
    }

    /// A packet of a job takes room in a buffer.
    #[inline]
    pub(super) fn hold(&mut self, buffer: usize, job: u16, bytes: u32) {
        if job != self.main {
            self.holders[buffer].hold(job, bytes);
        }
    }

    /// The credit of a packet of a job reaches the sender of a buffer at `stamp`. All later decisions of the sender are
    /// at `horizon` or later.
    #[inline]
    pub(super) fn release(&mut self, buffer: usize, job: u16, bytes: u32, stamp: u64, horizon: u64) {
        if job == self.main {
            return;
        }
        let of = &mut self.holders[buffer];
        if of.releases.len() >= of.releases.inline_size() {
            // While packets wait, all of these are settled already.
            of.settle(horizon.saturating_sub(1));
        }
        of.releases.push(Release { stamp, bytes, job });
    }

    /// A packet begins to wait for a buffer. Since its last change, `held` bytes of it have been held.
    pub(super) fn block(&mut self, buffer: usize, held: u32, now: u64) {
        if self.numbers[buffer] == 0 {
            self.numbers[buffer] = self.unused.pop().unwrap_or_else(|| {
                self.waits.push(Waits::default());
                self.waits.len() as u32
            });
            let waits = &mut self.waits[self.numbers[buffer] as usize - 1];
            (waits.integrals, waits.last) = (Integrals::default(), now);
            self.holders[buffer].settle(now);
        } else {
            self.advance(buffer, held, now);
        }
        let waits = &mut self.waits[self.numbers[buffer] as usize - 1];
        waits.packets.push_back((now, waits.integrals.clone()));
    }

    /// Integrates up to an instant. Since the last one, `held` bytes have been held.
    pub(super) fn advance(&mut self, buffer: usize, held: u32, now: u64) {
        let waits = &mut self.waits[self.numbers[buffer] as usize - 1];
        let (integrals, time) = (&mut waits.integrals, now - waits.last);
        waits.last = now;
        integrals.all += u128::from(held) * u128::from(time);
        let holders = &mut self.holders[buffer];
        for held in &holders.held {
            *integrals.of(held.job) += u128::from(held.bytes) * u128::from(time);
        }
        debug_assert!(holders.releases.iter().all(|release| release.stamp >= now), "each credit is followed by a call");
        holders.settle(now);
    }

    /// The first packet no longer waits. Divides its wait among the jobs: `attribute` is called with each.
    ///
    /// # Panics
    /// If no packet waits.
    pub(super) fn unblock(&mut self, buffer: usize, mut attribute: impl FnMut(u16, u64)) {
        let number = self.numbers[buffer];
        let Waits { integrals, last, packets } = &mut self.waits[number as usize - 1];
        let (since, before) = packets.pop_front().expect("a packet waits");
        if packets.is_empty() {
            self.numbers[buffer] = 0;
            self.unused.push(number);
        }
        let wait = *last - since;
        if wait == 0 || integrals.others.is_empty() {
            attribute(self.main, wait);
            return;
        }
        let all = integrals.all - before.all;
        let mut parts: SmallVec<[(u16, u128); 4]> = integrals.others.clone().into_iter().collect();
        for (job, integral) in &before.others {
            let part = parts.iter_mut().find(|part| part.0 == *job).expect("integrals are never forgotten");
            part.1 -= integral;
        }
        let of_others: u128 = parts.iter().map(|part| part.1).sum();
        parts.push((self.main, all - of_others));
        parts.sort_unstable_by_key(|part| part.0);
        divide(wait, &parts, attribute);
    }
}

/// Divides a wait among jobs by what they held meanwhile: `attribute` is called with each, in the given order.
pub(super) fn divide(wait: u64, parts: &[(u16, u128)], mut attribute: impl FnMut(u16, u64)) {
    let all = parts.iter().map(|part| part.1).sum();
    let (mut sum, mut given) = (0, 0);
    for &(cause, integral) in parts {
        sum += integral;
        let up_to = if sum == all { wait } else { share(wait, sum, all) };
        attribute(cause, up_to - given);
        given = up_to;
    }
}

/// `floor(time * part / whole)`, where the part is at most the whole and the whole is not 0.
fn share(time: u64, part: u128, whole: u128) -> u64 {
    if let (Ok(part), Ok(whole)) = (u64::try_from(part), u64::try_from(whole))
        && let Some(product) = time.checked_mul(part)
    {
        return product / whole;
    }
    if let Some(product) = part.checked_mul(u128::from(time)) {
        return (product / whole) as u64;
    }
    // Long division, one bit of the time after the other.
    let (mut quotient, mut rest) = (0, 0);
    for bit in (0..u64::BITS).rev() {
        // The rest is less than the whole, which has fewer than 127 bits: fewer than 32 of bytes and 63 of time.
        rest = 2 * rest + if time >> bit & 1 == 1 { part } else { 0 };
        quotient = 2 * quotient + (rest / whole) as u64;
        rest %= whole;
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    /// The division is exact for products of any size: `time * part` lies between the quotient times the whole and one
    /// whole more, compared modulo 2^128, where both differ by less than a whole.
    #[test]
    fn shares_are_rounded_down_whatever_their_size() {
        for case in 0..20_000 {
            let random = |k: u64| mix64(case << 3 | k);
            let whole = (u128::from(random(0)) << 32 | u128::from(random(1))) >> (random(2) % 90) | 1;
            let part = (u128::from(random(3)) << 64 | u128::from(random(4))) % (whole + 1);
            let time = random(5) >> 1 >> (random(6) % 60);
            let rest = part.wrapping_mul(time.into()).wrapping_sub(whole.wrapping_mul(share(time, part, whole).into()));
            assert!(rest < whole, "{time} * {part} / {whole}");
        }
        assert_eq!(share(u64::MAX >> 1, 1 << 94, 1 << 95), u64::MAX >> 2);
    }
}
