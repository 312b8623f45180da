//! Congestion metrics other than the backlog: bytes that a port has sent and that are not known to have left the next
//! router (docs/model.md, section 6, "load").
//!
//! The sender counts bytes when it commits them. The receiver knows early when they will leave, and notes this with the
//! time at which the sender may know it: the arrival of the credit plus the delay of its information. These times are
//! kept in ascending order. Whoever looks at the port first subtracts those that have passed, so most looks cost one
//! comparison. Runs that read only the backlog pay nothing.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::leaving::Leaving;
use super::wiring::CLASSES;
use super::{Least, OutputPort, Wire, Wiring, as_bits};
use crate::engine::prefetch;
use crate::spec::{MetricKind, Sensing};

/// Number of bytes for which the time of a class is kept: loads are `bytes * time >> SCALE`.
const SCALE: u32 = 16;
/// When a port without bytes that leave is to be looked at again.
const NEVER: u64 = i64::MAX as u64;

/// The metric's state for every port.
pub struct CreditMetric {
    here: Here,
    /// The slot of the first port that sends.
    first: u32,
    /// By slot of the sender, from the first on; empty if the metric reads no bytes.
    sent: Vec<Sent>,
    /// The bytes behind the link of a port, as `sent`.
    leaving: RefCell<Vec<Leaving>>,
    /// By slot of the receiver.
    senders: Vec<Sender>,
}

/// What counts of the packets that are still in the router.
#[derive(Clone, Copy)]
enum Here {
    Nothing,
    /// Those that are not committed: what is committed counts as sent.
    Waiting,
    Backlog,
}

/// Bytes sent by a port.
#[derive(Clone)]
#[repr(C, align(32))]
struct Sent {
    /// When the sender will know that some of them have left.
    next: Cell<u64>,
    /// Time of the bytes on the link.
    time: Cell<u64>,
    /// Bytes that were not known to have left at the last look.
    bytes: Cell<u64>,
    /// Time of 2^16 bytes.
    scaled: u64,
}

impl Sent {
    /// Sets the bytes.
    #[inline(always)]
    fn set(&self, bytes: u64) {
        self.bytes.set(bytes);
        self.time.set(((u128::from(bytes) * u128::from(self.scaled)) >> SCALE) as u64);
    }
}

/// The port at the far end of the cable of a port.
#[derive(Clone, Copy)]
struct Sender {
    /// Its place in `sent`, or a number beyond the end.
    sent: u32,
    /// How long the information of a credit takes to it.
    delay: u32,
}

/// The place in `sent` of the far end of a port that leads to a node.
const NO_ROUTER: u32 = u32::MAX;

impl CreditMetric {
    /// The metric of a run; none if it is the backlog alone. Only ports with slots in `own` send.
    #[must_use]
    pub fn new(sensing: &Sensing, wiring: &Wiring, names: &[&str], own: Range<usize>) -> Option<Self> {
        let (here, credits) = match sensing.kind {
            MetricKind::Backlog | MetricKind::OutputBuffer | MetricKind::OutputCredits => return None,
            MetricKind::Credits => (Here::Nothing, true),
            MetricKind::Both => (Here::Backlog, true),
            MetricKind::Occupancy => (Here::Waiting, true),
            MetricKind::None => (Here::Nothing, false),
        };
        let delay = |class: usize| names.get(class).and_then(|name| sensing.delay_ps.get(*name)).copied();
        let delays: [u32; CLASSES] = std::array::from_fn(|class| delay(class).map_or(0, |ps| ps as u32)); // at most 1 ms
        let first = own.start as u32;
        // Cables have two directions, so the far end of a port is both the receiver from it and the sender to it.
        let far = |wire: &Wire| {
            let far = |wire: &Wire| wiring.places[wire.to as usize].first + u32::from(wire.port);
            if wire.node { NO_ROUTER } else { far(wire).wrapping_sub(first) }
        };
        let sent = |wire: &Wire| Sent {
            next: Cell::new(NEVER),
            time: Cell::new(0),
            bytes: Cell::new(0),
            scaled: wiring.times(wire.class).scaled,
        };
        let (wires, used) = if credits { (&*wiring.wires, &wiring.wires[own]) } else { (&[][..], &[][..]) };
        Some(Self {
            here,
            first,
            sent: used.iter().map(sent).collect(),
            leaving: RefCell::new(used.iter().map(|_| Leaving::default()).collect()),
            senders: wires
                .iter()
                .map(|wire| Sender { sent: far(wire), delay: delays[usize::from(wire.class)] })
                .collect(),
        })
    }

    /// What came by the port of a slot is handled some time after the next call of [`prefetch`](Self::prefetch).
    #[inline(always)]
    pub fn prefetch_sender(&self, slot: usize) {
        prefetch(&self.senders, slot);
    }

    /// A packet that came by the port of a slot is decided on soon. (Not inlined, so that runs that read only the backlog
    /// do not pay for it.)
    #[cold]
    #[inline(never)]
    pub fn prefetch(&self, slot: usize) {
        if let Some(sender) = self.senders.get(slot) {
            // SAFETY: a borrow ends with the look at a port for which it is made.
            prefetch(unsafe { &*self.leaving.as_ptr() }, sender.sent as usize);
            prefetch(&self.sent, sender.sent as usize);
        }
    }

    /// The load of a port is looked at soon.
    #[inline(always)]
    pub fn prefetch_load(&self, slot: usize) {
        let place = self.place(slot as u32);
        prefetch(&self.sent, place);
        // SAFETY: as in `prefetch`.
        prefetch(unsafe { &*self.leaving.as_ptr() }, place);
    }

    /// The place of a slot in `sent`.
    #[inline(always)]
    fn place(&self, slot: u32) -> usize {
        slot.wrapping_sub(self.first) as usize
    }

    /// A packet is committed to the link of a port.
    #[inline(always)]
    pub fn send(&mut self, slot: u32, bytes: u32) {
        if let Some(sent) = self.sent.get(self.place(slot)) {
            sent.set(sent.bytes.get() + u64::from(bytes));
        }
    }

    /// A packet that came by a port, `slot`, leaves its router; the credit reaches the sender at `stamp`. No later look
    /// at the sender's port is for a time before `horizon`.
    #[inline(always)]
    pub fn leave(&mut self, slot: u32, bytes: u32, stamp: u64, horizon: u64) {
        let Some(&Sender { sent, delay }) = self.senders.get(slot as usize) else { return };
        let Some(leaving) = self.leaving.get_mut().get_mut(sent as usize) else { return };
        let Some(sent) = self.sent.get(sent as usize) else { return };
        if leaving.is_full() {
            Self::update(leaving, sent, horizon); // not every routing algorithm looks at the port
        }
        let at = stamp + u64::from(delay);
        leaving.add(at, bytes);
        sent.next.set(sent.next.get().min(at));
    }

    /// Subtracts the bytes of a port that are known to have left by `now`.
    #[inline(always)]
    fn update(leaving: &mut Leaving, sent: &Sent, now: u64) {
        let (left, next) = leaving.take(now);
        sent.set(sent.bytes.get() - left);
        sent.next.set(next.unwrap_or(NEVER));
    }

    /// The same for the port at a place in `sent`.
    #[cold]
    #[inline(never)]
    fn update_sender(&self, place: usize, now: u64) {
        Self::update(&mut self.leaving.borrow_mut()[place], &self.sent[place], now);
    }

    /// What counts of the packets that are still in the router.
    #[inline(always)]
    fn own(&self, port: &OutputPort, now: u64) -> u64 {
        match self.here {
            Here::Nothing => 0,
            Here::Waiting => port.blocked_ps,
            Here::Backlog => port.backlog(now),
        }
    }

    /// Load of the port of a slot. No later look at the port may be for an earlier time.
    #[inline(always)]
    #[must_use]
    pub fn load(&self, slot: u32, port: &OutputPort, now: u64) -> u64 {
        let (own, place) = (self.own(port, now), self.place(slot));
        let Some(sent) = self.sent.get(place) else { return own };
        if sent.next.get() <= now {
            self.update_sender(place, now);
        }
        own + sent.time.get()
    }

    /// Whether the load of the port of a slot is below a limit. No later look at the port may be for an earlier time.
    #[inline(always)]
    #[must_use]
    pub fn is_below(&self, limit: u64, slot: u32, port: &OutputPort, now: u64) -> bool {
        let (own, place) = (self.own(port, now), self.place(slot));
        let Some(sent) = self.sent.get(place) else { return own < limit };
        // What has left since the last look only makes the load smaller.
        if own + sent.time.get() < limit {
            return true;
        }
        if sent.next.get() > now {
            return false;
        }
        self.update_sender(place, now);
        own + sent.time.get() < limit
    }

    /// The least load of up to 64 adjacent ports, and the ports that have it, as bits. The first port has this slot. No
    /// later look at these ports may be for an earlier time.
    #[inline(always)]
    #[must_use]
    pub fn least(&self, slot: u32, ports: &[OutputPort], now: u64) -> (u64, u64) {
        let mut least = Least::default();
        if !matches!(self.here, Here::Waiting) {
            (slot..).zip(ports).for_each(|(slot, port)| least.see(self.load(slot, port, now)));
            return least.load_and_ties();
        }
        let place = self.place(slot);
        let all = &self.sent[place..place + ports.len()];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { self.least_avx2(place, all, ports, now) };
        }
        self.least_portable(place, all, ports, now)
    }

    /// The same for any processor, if what counts here are waiting packets. `all` begins at `place`.
    #[cfg_attr(all(target_arch = "x86_64", not(any(miri, test))), cold)]
    fn least_portable(&self, place: usize, all: &[Sent], ports: &[OutputPort], now: u64) -> (u64, u64) {
        // Two passes without a choice per port are faster than one with choices.
        let load = |(sent, port): (&Sent, &OutputPort)| port.blocked_ps + sent.time.get();
        let mut least = u64::MAX;
        for (offset, (sent, port)) in all.iter().zip(ports).enumerate() {
            if sent.next.get() <= now {
                self.update_sender(place + offset, now);
            }
            least = least.min(load((sent, port)));
        }
        let mut ties = 0;
        for both in all.iter().zip(ports).rev() {
            ties = (ties << 1) | u64::from(load(both) == least);
        }
        (least, ties)
    }

    /// The same, four ports at once.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx2")]
    fn least_avx2(&self, place: usize, all: &[Sent], ports: &[OutputPort], now: u64) -> (u64, u64) {
        use std::arch::x86_64::*;

        use super::least::avx2::{Loads, four_ports};

        let (at, mut loads) = (_mm256_set1_epi64x(now as i64), Loads::new());
        let (fours, rest) = all.as_chunks::<4>();
        let (ports, last) = ports.as_chunks::<4>();
        for (index, (four, ports)) in fours.iter().zip(ports).enumerate() {
            let (next, mut time) = four_sent(four);
            if _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(next, at))) != 0b1111 {
                self.update_four(place + 4 * index, four, now);
                time = four_sent(four).1;
            }
            let (_, blocked) = four_ports(ports);
            loads.add(_mm256_add_epi64(time, blocked));
        }
        let first = self.first + (place + 4 * fours.len()) as u32;
        loads.load_and_ties((first..).zip(rest.iter().zip(last)).map(|(slot, (_, port))| self.load(slot, port, now)))
    }

    /// Subtracts the bytes that have left by `now` from four ports that begin at a place in `sent`.
    #[inline(always)]
    fn update_four(&self, place: usize, four: &[Sent; 4], now: u64) {
        for (place, sent) in (place..).zip(four) {
            if sent.next.get() <= now {
                self.update_sender(place, now);
            }
        }
    }

    /// Which of up to 64 adjacent ports have a load below a limit, as bits. The first port has this slot. No later look at
    /// these ports may be for an earlier time.
    #[inline(always)]
    #[must_use]
    pub fn below(&self, limit: u64, slot: u32, ports: &[OutputPort], now: u64) -> u64 {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if matches!(self.here, Here::Waiting) && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { self.below_avx2(limit, slot, ports, now) };
        }
        self.below_one_by_one(limit, slot, ports, now)
    }

    fn below_one_by_one(&self, limit: u64, slot: u32, ports: &[OutputPort], now: u64) -> u64 {
        as_bits((slot..).zip(ports).map(|(slot, port)| self.is_below(limit, slot, port, now)))
    }

    /// The same, four ports at once, if what counts here are waiting packets.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx2")]
    fn below_avx2(&self, limit: u64, slot: u32, ports: &[OutputPort], now: u64) -> u64 {
        use std::arch::x86_64::*;

        use super::least::avx2::four_ports;

        let place = self.place(slot);
        let all = &self.sent[place..place + ports.len()];
        // Loads are below 2^63, so they may be compared as signed numbers.
        let (most, at) = (_mm256_set1_epi64x(limit.min(NEVER) as i64), _mm256_set1_epi64x(now as i64));
        let (fours, rest) = all.as_chunks::<4>();
        let (ports, last) = ports.as_chunks::<4>();
        let mut passing = 0;
        for (index, (four, ports)) in fours.iter().zip(ports).enumerate() {
            let blocked = four_ports(ports).1;
            let below = |time| {
                let below = _mm256_cmpgt_epi64(most, _mm256_add_epi64(time, blocked));
                // From the positions 0, 2, 1 and 3.
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_permute4x64_epi64::<0b11_01_10_00>(below)))
            };
            let (next, time) = four_sent(four);
            let mut bits = below(time);
            // What has left since the last look only makes loads smaller.
            if bits != 0b1111 && _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(next, at))) != 0b1111 {
                self.update_four(place + 4 * index, four, now);
                bits = below(four_sent(four).1);
            }
            passing |= (bits as u64) << (4 * index);
        }
        let done = 4 * fours.len() as u32;
        if rest.is_empty() { passing } else { passing | self.below_one_by_one(limit, slot + done, last, now) << done }
    }
}

/// Of four ports, when the sender will know that some bytes have left, and the time of the bytes on the link.
/// [`pairs`](super::least::avx2::pairs) says in which order.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[target_feature(enable = "avx2")]
fn four_sent(four: &[Sent; 4]) -> (std::arch::x86_64::__m256i, std::arch::x86_64::__m256i) {
    use std::arch::x86_64::*;

    // SAFETY: the first two fields of each are two 64-bit numbers, and any bits are valid.
    let both = |sent: &Sent| unsafe { _mm_loadu_si128(std::ptr::from_ref(sent).cast()) };
    let [a, b, c, d] = four;
    super::least::avx2::pairs(_mm256_set_m128i(both(b), both(a)), _mm256_set_m128i(both(d), both(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    /// A metric of one cable between two ports, both of which are senders.
    fn metric(delay: u64, scaled: u64) -> CreditMetric {
        let sent = Sent { next: Cell::new(NEVER), time: Cell::new(0), bytes: Cell::new(0), scaled };
        CreditMetric {
            here: Here::Waiting,
            sent: vec![sent; 2],
            leaving: RefCell::new(vec![Leaving::default(), Leaving::default()]),
            first: 0,
            senders: [1, 0].map(|sent| Sender { sent, delay: delay as u32 }).to_vec(),
        }
    }

    /// Ports of which some have bytes that have left since the last look.
    #[test]
    fn the_ports_below_a_limit_are_the_same_four_at_once_and_one_by_one() {
        for case in 0..2_000_u64 {
            let random = |k: u64| mix64(case << 16 | k);
            let count = 1 + random(0) % 20;
            let make = || {
                let mut metric = metric(0, 1 << SCALE);
                metric.sent = vec![metric.sent[0].clone(); count as usize];
                metric.senders = (0..count as u32).map(|sent| Sender { sent, delay: 0 }).collect();
                metric.leaving = RefCell::new((0..count).map(|_| Leaving::default()).collect());
                for packet in 0..3 * count {
                    let (port, bytes) = ((random(100 + packet) % count) as u32, 1 + (random(200 + packet) % 9) as u32);
                    metric.send(port, bytes);
                    metric.leave(port, bytes, 1 + random(300 + packet) % 100, 0);
                }
                metric
            };
            let ports: Vec<_> = (0..count).map(|k| OutputPort { free: 0, blocked_ps: random(400 + k) % 9 }).collect();
            let (together, alone) = (make(), make());
            for now in [random(1) % 40, 40 + random(2) % 40, 100] {
                for limit in [random(3 + now) % 30, u64::MAX] {
                    assert_eq!(
                        together.below(limit, 0, &ports, now),
                        alone.below_one_by_one(limit, 0, &ports, now),
                        "case {case}, {now}"
                    );
                }
            }
        }
    }

    /// Random packets and looks, compared with a plain list: credits come out of order, looks are rare or frequent, and
    /// all three kinds of look agree.
    #[test]
    fn loads_are_those_of_a_plain_list() {
        for case in 0..40_u64 {
            let (delay, every, scaled) = (case % 3 * 700, 1 + case % 7, (1 << SCALE) + case * 1_000);
            let mut metric = metric(delay, scaled);
            let mut plain: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for step in 0..2_000 {
                let random = mix64(case << 32 | step);
                now += random % 100;
                if random.is_multiple_of(2) {
                    let (bytes, stamp) = (1 + (random >> 8) % 65_536, now + 1 + (random >> 40) % 900);
                    metric.send(0, bytes as u32);
                    metric.leave(1, bytes as u32, stamp, now - now.min(random % 200));
                    plain.push((stamp + delay, bytes));
                }
                plain.retain(|&(at, _)| at > now);
                let port = OutputPort { free: now + 5, blocked_ps: random >> 60 };
                let bytes: u64 = plain.iter().map(|&(_, bytes)| bytes).sum();
                let load = port.blocked_ps + ((bytes * scaled) >> SCALE);
                let expected = (load.min(port.blocked_ps), u64::from(bytes == 0) | 2);
                if step % every == 0 {
                    match random % 6 {
                        0 => assert_eq!(metric.load(0, &port, now), load),
                        1 => assert_eq!(metric.least(0, &[port; 2], now), expected),
                        2 => assert!(metric.is_below(load + 1, 0, &port, now)),
                        3 => {
                            let bits = |limit| u64::from(load < limit) | u64::from(port.blocked_ps < limit) << 1;
                            for limit in [load, load + 1, u64::MAX] {
                                assert_eq!(metric.below(limit, 0, &[port; 2], now), bits(limit));
                            }
                        }
                        _ => assert!(!metric.is_below(load, 0, &port, now)),
                    }
                }
                assert_eq!(metric.load(1, &OutputPort::default(), now), 0, "the other direction sends nothing");
            }
        }
    }
}
