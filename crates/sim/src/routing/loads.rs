//! What a routing may know of a router: the loads of its ports, and three ways to choose by load.

use std::ops::Range;

use super::Ports;
use crate::engine::random::{below32, packet_random};
use crate::fabric::{CreditMetric, Least, Levels, OutputPort, Wiring, as_bits, least_backlog};

/// Draws tried before all ports are scanned.
pub const TRIES: u8 = 4;

/// Most ports whose tests fit into the bits of a word.
const FEW: u16 = 64;

/// The load of a port.
pub trait CongestionMetric: Copy {
    /// How many draws of a port without load are worth trying before all ports are looked at; at most [`TRIES`]. (The
    /// result does not depend on it.)
    const TRIES: u8;

    /// Load of the port of a slot, in picoseconds.
    fn load(self, slot: u32, port: &OutputPort, now: u64) -> u64;

    /// Whether the load of the port of a slot is below a limit.
    #[inline(always)]
    fn is_below(self, limit: u64, slot: u32, port: &OutputPort, now: u64) -> bool {
        self.load(slot, port, now) < limit
    }

    /// The least load of up to 64 adjacent ports, and the ports that have it, as bits. The first port has this slot.
    #[inline(always)]
    fn least(self, slot: u32, ports: &[OutputPort], now: u64) -> (u64, u64) {
        let mut least = Least::default();
        for (slot, port) in (slot..).zip(ports) {
            least.see(self.load(slot, port, now));
        }
        least.load_and_ties()
    }

    /// Which of up to 64 adjacent ports have a load below a limit, as bits. The first port has this slot.
    #[inline(always)]
    fn below(self, limit: u64, slot: u32, ports: &[OutputPort], now: u64) -> u64 {
        as_bits((slot..).zip(ports).map(|(slot, port)| self.is_below(limit, slot, port, now)))
    }
}

/// The backlog itself.
#[derive(Clone, Copy, Debug)]
pub struct Backlog;

impl CongestionMetric for Backlog {
    const TRIES: u8 = TRIES;

    #[inline(always)]
    fn load(self, _: u32, port: &OutputPort, now: u64) -> u64 {
        port.backlog(now)
    }

    #[inline(always)]
    fn least(self, _: u32, ports: &[OutputPort], now: u64) -> (u64, u64) {
        least_backlog(ports, now)
    }
}

impl CongestionMetric for &CreditMetric {
    // Few ports have nothing on the way.
    const TRIES: u8 = 1;

    #[inline(always)]
    fn load(self, slot: u32, port: &OutputPort, now: u64) -> u64 {
        CreditMetric::load(self, slot, port, now)
    }

    #[inline(always)]
    fn is_below(self, limit: u64, slot: u32, port: &OutputPort, now: u64) -> bool {
        CreditMetric::is_below(self, limit, slot, port, now)
    }

    #[inline(always)]
    fn least(self, slot: u32, ports: &[OutputPort], now: u64) -> (u64, u64) {
        CreditMetric::least(self, slot, ports, now)
    }

    #[inline(always)]
    fn below(self, limit: u64, slot: u32, ports: &[OutputPort], now: u64) -> u64 {
        CreditMetric::below(self, limit, slot, ports, now)
    }
}

/// A metric that is known in levels only.
#[derive(Clone, Copy)]
pub struct InLevels<'a> {
    /// The metric, if it is not the backlog.
    pub metric: Option<&'a CreditMetric>,
    /// The levels.
    pub levels: &'a Levels,
    /// The class of each port.
    pub wiring: &'a Wiring,
}

impl CongestionMetric for InLevels<'_> {
    const TRIES: u8 = TRIES;

    fn load(self, slot: u32, port: &OutputPort, now: u64) -> u64 {
        let load = self.metric.map_or_else(|| port.backlog(now), |metric| metric.load(slot, port, now));
        self.levels.known(self.wiring.wires[slot as usize].class, load)
    }
}

/// The ports of one router at one instant.
#[derive(Clone, Copy)]
pub struct Loads<'a, S> {
    /// All output ports of the machine, by slot.
    all: &'a [OutputPort],
    /// The output ports of the router.
    outs: &'a [OutputPort],
    /// Slot of the first of them.
    first: u32,
    metric: S,
    /// The present time.
    now: u64,
}

impl<'a, S: CongestionMetric> Loads<'a, S> {
    /// The loads of the router whose `ports` ports begin at slot `first`, at time `now`.
    #[inline(always)]
    #[must_use]
    pub fn new(all: &'a [OutputPort], metric: S, first: u32, ports: u16, now: u64) -> Self {
        Self { all, outs: &all[first as usize..first as usize + usize::from(ports)], first, metric, now }
    }

    /// The same as [`new`](Self::new).
    ///
    /// # Safety
    /// All these ports are in `all`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new_unchecked(all: &'a [OutputPort], metric: S, first: u32, ports: u16, now: u64) -> Self {
        // SAFETY: the caller guarantees it.
        let outs = unsafe { all.get_unchecked(first as usize..first as usize + usize::from(ports)) };
        Self { all, outs, first, metric, now }
    }

    /// Load of a port, in picoseconds (docs/model.md, section 6).
    #[inline(always)]
    #[must_use]
    pub fn backlog(&self, port: u16) -> u64 {
        self.metric.load(self.first + u32::from(port), &self.outs[usize::from(port)], self.now)
    }

    /// Whether the load of a port is below a limit.
    #[inline(always)]
    fn is_below(&self, limit: u64, port: u16) -> bool {
        self.metric.is_below(limit, self.first + u32::from(port), &self.outs[usize::from(port)], self.now)
    }

    /// Load of a port of any router; only for runs that handle all events in one global order.
    #[must_use]
    pub fn of_slot(&self, slot: u32) -> u64 {
        self.metric.load(slot, &self.all[slot as usize], self.now)
    }

    /// A port with the least backlog, drawn uniformly among ties.
    #[inline(always)]
    #[must_use]
    pub fn least(&self, ports: &Ports<'_>, key: u32, hop: u8, base: u8) -> u16 {
        if ports.len() == 1 {
            return ports.get(0);
        }
        for k in 0..S::TRIES {
            let port = ports.any(key, hop, base + k);
            if self.backlog(port) == 0 {
                return port;
            }
        }
        self.least_of_all(*ports, key, hop, base)
    }

    /// The same after the first draws. (The arguments are passed by value: references would force them into memory even
    /// if an earlier draw is taken.)
    #[inline(never)]
    fn least_of_all(self, ports: Ports<'_>, key: u32, hop: u8, base: u8) -> u16 {
        if ports.len() <= FEW {
            return ports.get(self.least_of_few(&ports, key, hop, base));
        }
        for k in S::TRIES..TRIES {
            let port = ports.any(key, hop, base + k);
            if self.backlog(port) == 0 {
                return port;
            }
        }
        let (mut least, mut ties) = (u64::MAX, 0);
        for port in ports.iter() {
            let backlog = self.backlog(port);
            if backlog < least {
                (least, ties) = (backlog, 1);
            } else {
                ties += u32::from(backlog == least);
            }
        }
        let chosen = below32(packet_random(key, hop, base + TRIES), ties);
        self.nth(&ports, chosen, |backlog| backlog == least)
    }

    /// The same for few ports, in one pass: the ties are bits of a word. Returns the position.
    #[inline(always)]
    fn least_of_few(&self, ports: &Ports<'_>, key: u32, hop: u8, base: u8) -> u16 {
        let (least, ties) = if let Some(range) = ports.as_range() {
            self.metric.least(self.first + range.start as u32, &self.outs[range], self.now)
        } else {
            let mut least = Least::default();
            ports.iter().for_each(|port| least.see(self.backlog(port)));
            least.load_and_ties()
        };
        if least == 0 {
            for k in S::TRIES..TRIES {
                let position = ports.position_of(key, hop, base + k);
                if ties >> position & 1 != 0 {
                    return position;
                }
            }
        }
        let count = ties.count_ones();
        let chosen = if count > 1 { below32(packet_random(key, hop, base + TRIES), count) } else { 0 };
        nth_bit(ties, chosen)
    }

    /// A port drawn uniformly among those whose backlog is below a limit, if there is one.
    #[inline(always)]
    #[must_use]
    pub fn below(&self, limit: u64, ports: &Ports<'_>, key: u32, hop: u8, base: u8) -> Option<u16> {
        let port = ports.any(key, hop, base);
        if self.is_below(limit, port) { Some(port) } else { self.below_after_first(limit, *ports, key, hop, base) }
    }

    /// The same after the first draw. (The arguments are passed by value, as above.)
    #[inline(never)]
    fn below_after_first(self, limit: u64, ports: Ports<'_>, key: u32, hop: u8, base: u8) -> Option<u16> {
        let few = ports.len() <= FEW;
        for k in 1..if few { S::TRIES } else { TRIES } {
            let port = ports.any(key, hop, base + k);
            if self.is_below(limit, port) {
                return Some(port);
            }
        }
        if few {
            let passing = self.few_below(limit, &ports);
            if passing == 0 {
                return None;
            }
            for k in S::TRIES..TRIES {
                let position = ports.position_of(key, hop, base + k);
                if passing >> position & 1 != 0 {
                    return Some(ports.get(position));
                }
            }
            let chosen = below32(packet_random(key, hop, base + TRIES), passing.count_ones());
            return Some(ports.get(nth_bit(passing, chosen)));
        }
        let passing = ports.iter().filter(|&port| self.backlog(port) < limit).count() as u32;
        if passing == 0 {
            return None;
        }
        let chosen = below32(packet_random(key, hop, base + TRIES), passing);
        Some(self.nth(&ports, chosen, |backlog| backlog < limit))
    }

    /// Which of few ports have a load below a limit: bits at their positions.
    #[inline(always)]
    fn few_below(&self, limit: u64, ports: &Ports<'_>) -> u64 {
        match ports.as_range_with_hole() {
            Some((range, hole)) if range.len() <= usize::from(FEW) => {
                let below = self.metric.below(limit, self.first + range.start as u32, &self.outs[range], self.now);
                without(below, hole)
            }
            _ => as_bits(ports.iter().map(|port| self.is_below(limit, port))),
        }
    }

    /// The `n`-th port that passes the test.
    fn nth(&self, ports: &Ports<'_>, n: u32, test: impl Fn(u64) -> bool) -> u16 {
        let mut passing = ports.iter().filter(|&port| test(self.backlog(port)));
        passing.nth(n as usize).expect("fewer ports pass than were counted")
    }
}

/// The bits of a word without those at some positions; later ones move there.
#[inline(always)]
fn without(bits: u64, hole: Range<u16>) -> u64 {
    if hole.is_empty() {
        return bits;
    }
    let before = (1 << hole.start) - 1;
    let after = bits.checked_shr(u32::from(hole.end)).unwrap_or(0) << hole.start;
    bits & before | after
}

/// The position of the `n`-th set bit of a word.
#[inline(always)]
fn nth_bit(mut bits: u64, n: u32) -> u16 {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outs(backlogs: &[u64]) -> Vec<OutputPort> {
        backlogs.iter().map(|&b| OutputPort { free: 100 + b / 2, blocked_ps: b - b / 2 }).collect()
    }

    /// How often each port is chosen in many draws.
    fn counts(backlogs: &[u64], choose: impl Fn(&Loads<'_, Backlog>, &Ports<'_>, u32) -> Option<u16>) -> Vec<u32> {
        let outs = outs(backlogs);
        let loads = Loads::new(&outs, Backlog, 0, outs.len() as u16, 100);
        let ports = Ports::range(0, backlogs.len() as u16);
        let mut counts = vec![0; backlogs.len()];
        for key in 0..30_000 {
            if let Some(port) = choose(&loads, &ports, key) {
                counts[usize::from(port)] += 1;
            }
        }
        counts
    }

    fn close(count: u32, expected: u32) -> bool {
        count.abs_diff(expected) < expected / 20
    }

    #[test]
    fn least_draws_uniformly_among_true_minima_only() {
        let c = counts(&[9, 4, 4, 7, 4], |l, p, w| Some(l.least(p, w, 2, 16)));
        assert!(c[0] == 0 && c[3] == 0 && [1, 2, 4].iter().all(|&i| close(c[i], 10_000)), "{c:?}");
        let c = counts(&[0, 4, 0, 7, 4, 9, 9, 9, 9, 9, 9, 9], |l, p, w| Some(l.least(p, w, 2, 16)));
        assert!(close(c[0], 15_000) && close(c[2], 15_000), "{c:?}");
    }

    #[test]
    fn below_draws_uniformly_among_those_below_the_limit() {
        let c = counts(&[9, 4, 6, 9, 9, 9, 9, 9], |l, p, w| l.below(7, p, w, 2, 0));
        assert!(close(c[1], 15_000) && close(c[2], 15_000), "{c:?}");
        assert_eq!(counts(&[9, 9], |l, p, w| l.below(9, p, w, 2, 0)), [0, 0]);
    }

    #[test]
    fn few_ports_below_a_limit_are_found_beside_a_hole() {
        let backlogs: Vec<u64> = (0..64).map(|port| port * 7 % 5).collect();
        let outs = outs(&backlogs);
        let loads = Loads::new(&outs, Backlog, 0, 64, 100);
        for (start, hole, end) in [(0, 0..0, 64), (0, 0..3, 64), (2, 5..9, 20), (3, 61..64, 64), (0, 64..64, 64)] {
            let ports = Ports::range_without(start, end, hole.clone());
            let expected = ports.iter().map(|port| backlogs[usize::from(port)] < 2);
            assert_eq!(loads.few_below(2, &ports), as_bits(expected), "{start}, {hole:?}, {end}");
        }
    }
}
