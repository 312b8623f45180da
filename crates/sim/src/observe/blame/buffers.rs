//! The jobs that hold each buffer, as its sender knows, and the waits for room.
//!
//! The bytes of one job, the main one, are what the others leave of all that are held. So most packets need not be
//! noted. Holdings are integrated over time only while a packet waits.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::pool::Pool;
use crate::engine::prefetch;

/// Number of credits kept in place.
const CREDITS: usize = 4;

/// A buffer: what one job other than the main one holds of it, in place; and where the rest is.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    /// When credits of the job reach the sender.
    stamps: [u64; CREDITS],
    /// Their bytes.
    sizes: [u32; CREDITS],
    /// The bytes that the job holds.
    bytes: u32,
    /// The number of the packets that wait for the buffer, plus one; 0 if none does.
    waits: u32,
    /// The number of what else is held, plus one; 0 if nothing is.
    more: u32,
    job: u16,
    /// Number of credits in place.
    credits: u16,
}

const _: () = assert!(size_of::<Buffer>() == 64);

/// What other jobs hold of a buffer, and credits that are not in place. No job is here and in place.
#[derive(Debug, Default)]
struct More {
    /// Each job with its bytes.
    held: SmallVec<[(u16, u32); 4]>,
    credits: SmallVec<[Credit; 4]>,
}

/// A credit under way to the sender of a buffer.
#[derive(Clone, Copy, Debug)]
struct Credit {
    stamp: u64,
    bytes: u32,
    job: u16,
}

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
    buffers: Vec<Buffer>,
    waits: Pool<Waits>,
    more: Pool<More>,
}

impl Buffer {
    /// Whether nothing is in place.
    fn is_free(&self) -> bool {
        self.bytes == 0 && self.credits == 0
    }

    /// Takes back the bytes of credits in place up to an instant.
    fn settle(&mut self, until: u64) {
        let mut kept = 0;
        for place in 0..usize::from(self.credits).min(CREDITS) {
            if self.stamps[place] <= until {
                self.bytes -= self.sizes[place];
            } else {
                (self.stamps[kept], self.sizes[kept]) = (self.stamps[place], self.sizes[place]);
                kept += 1;
            }
        }
        self.credits = kept as u16;
    }
}

impl Buffers {
    pub(super) fn new(buffers: usize, main: u16) -> Self {
        Self { main, buffers: vec![Buffer::default(); buffers], waits: Pool::default(), more: Pool::default() }
    }

    /// A buffer is needed soon.
    #[inline]
    pub(super) fn prefetch(&self, buffer: usize) {
        prefetch(&self.buffers, buffer);
    }

    /// The packets that wait for a buffer are needed soon.
    #[inline]
    pub(super) fn prefetch_waits(&self, buffer: usize) {
        self.waits.prefetch(self.buffers[buffer].waits);
    }

    /// The first packet that waits for a buffer is needed soon.
    #[inline]
    pub(super) fn prefetch_first(&self, buffer: usize) {
        let number = self.buffers[buffer].waits;
        if number != 0
            && let Some(first) = self.waits.get(number).packets.front()
        {
            prefetch(std::slice::from_ref(first), 0);
        }
    }

    /// Whether the room that a job takes is noted.
    #[inline]
    pub(super) fn notes(&self, job: u16) -> bool {
        job != self.main
    }

    /// A packet of a job that is noted takes room in a buffer.
    #[inline]
    pub(super) fn hold(&mut self, buffer: usize, job: u16, bytes: u32) {
        let of = &mut self.buffers[buffer];
        if job == of.job {
            of.bytes += bytes;
        } else {
            self.hold_more(buffer, job, bytes);
        }
    }

    /// The same if another job is in place.
    #[inline(never)]
    fn hold_more(&mut self, buffer: usize, job: u16, bytes: u32) {
        let Self { buffers, more, .. } = self;
        let of = &mut buffers[buffer];
        if of.is_free() {
            (of.job, of.bytes) = (job, bytes);
            if of.more != 0 {
                let held = &mut more.get_mut(of.more).held;
                if let Some(place) = held.iter().position(|held| held.0 == job) {
                    of.bytes += held.swap_remove(place).1;
                }
            }
            return;
        }
        if of.more == 0 {
            of.more = more.take();
        }
        let held = &mut more.get_mut(of.more).held;
        match held.iter_mut().find(|held| held.0 == job) {
            Some(held) => held.1 += bytes,
            None => held.push((job, bytes)),
        }
    }

    /// The credit of a packet of a job that is noted reaches the sender of a buffer at `stamp`. All later decisions of the sender are
    /// at `horizon` or later.
    #[inline]
    pub(super) fn release(&mut self, buffer: usize, job: u16, bytes: u32, stamp: u64, horizon: u64) {
        let of = &mut self.buffers[buffer];
        let place = usize::from(of.credits);
        if job == of.job && place < CREDITS {
            (of.stamps[place], of.sizes[place]) = (stamp, bytes);
            of.credits += 1;
        } else {
            self.release_more(buffer, Credit { stamp, bytes, job }, horizon);
        }
    }

    /// The same if there is no place.
    #[inline(never)]
    fn release_more(&mut self, buffer: usize, credit: Credit, horizon: u64) {
        // While packets wait, all of these are settled already.
        self.settle(buffer, horizon.saturating_sub(1));
        let Self { buffers, more, .. } = self;
        let of = &mut buffers[buffer];
        let place = usize::from(of.credits);
        if credit.job == of.job && place < CREDITS {
            (of.stamps[place], of.sizes[place]) = (credit.stamp, credit.bytes);
            of.credits += 1;
            return;
        }
        if of.more == 0 {
            of.more = more.take();
        }
        more.get_mut(of.more).credits.push(credit);
    }

    /// Takes back the bytes of credits up to an instant.
    #[inline]
    fn settle(&mut self, buffer: usize, until: u64) {
        self.buffers[buffer].settle(until);
        if self.buffers[buffer].more != 0 {
            self.settle_more(buffer, until);
        }
    }

    #[inline(never)]
    fn settle_more(&mut self, buffer: usize, until: u64) {
        let Self { buffers, more, .. } = self;
        let of = &mut buffers[buffer];
        let More { held, credits } = more.get_mut(of.more);
        credits.retain(|credit| {
            if credit.stamp > until {
                return true;
            }
            match held.iter().position(|held| held.0 == credit.job) {
                Some(place) => {
                    held[place].1 -= credit.bytes;
                    if held[place].1 == 0 {
                        held.swap_remove(place);
                    }
                }
                None => of.bytes -= credit.bytes,
            }
            false
        });
        if held.is_empty() && credits.is_empty() {
            more.give_back(std::mem::take(&mut of.more));
        }
    }

    /// A packet begins to wait for a buffer. Since its last change, `held` bytes of it have been held.
    pub(super) fn block(&mut self, buffer: usize, held: u32, now: u64) {
        if self.buffers[buffer].waits == 0 {
            let number = self.waits.take();
            self.buffers[buffer].waits = number;
            let waits = self.waits.get_mut(number);
            (waits.integrals, waits.last) = (Integrals::default(), now);
            self.settle(buffer, now);
        } else {
            self.advance(buffer, held, now);
        }
        let waits = self.waits.get_mut(self.buffers[buffer].waits);
        let Integrals { all, ref others } = waits.integrals;
        let others = if others.is_empty() { SmallVec::new() } else { others.clone() };
        waits.packets.push_back((now, Integrals { all, others }));
    }

    /// Integrates up to an instant. Since the last one, `held` bytes have been held.
    pub(super) fn advance(&mut self, buffer: usize, held: u32, now: u64) {
        let of = &self.buffers[buffer];
        let waits = self.waits.get_mut(of.waits);
        let (integrals, time) = (&mut waits.integrals, now - waits.last);
        waits.last = now;
        integrals.all += u128::from(held) * u128::from(time);
        if of.bytes > 0 {
            *integrals.of(of.job) += u128::from(of.bytes) * u128::from(time);
        }
        if of.more != 0 {
            for &(job, bytes) in &self.more.get(of.more).held {
                *integrals.of(job) += u128::from(bytes) * u128::from(time);
            }
        }
        self.settle(buffer, now);
    }

    /// The first packet no longer waits. Divides its wait among the jobs: `attribute` is called with each.
    ///
    /// # Panics
    /// If no packet waits.
    pub(super) fn unblock(&mut self, buffer: usize, mut attribute: impl FnMut(u16, u64)) {
        let number = self.buffers[buffer].waits;
        let Waits { integrals, last, packets } = self.waits.get_mut(number);
        let (since, before) = packets.pop_front().expect("a packet waits");
        let (wait, done) = (*last - since, packets.is_empty());
        if wait == 0 || integrals.others.is_empty() {
            attribute(self.main, wait);
        } else {
            let all = integrals.all - before.all;
            // Jobs are added at the end, and none is forgotten.
            let earlier = before.others.iter().map(|part| part.1).chain(std::iter::repeat(0));
            let mut parts: SmallVec<[(u16, u128); 4]> =
                integrals.others.iter().zip(earlier).map(|(&(job, now), before)| (job, now - before)).collect();
            let of_others: u128 = parts.iter().map(|part| part.1).sum();
            parts.push((self.main, all - of_others));
            parts.sort_unstable_by_key(|part| part.0);
            divide(wait, &parts, attribute);
        }
        if done {
            self.buffers[buffer].waits = 0;
            self.waits.give_back(number);
        }
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
