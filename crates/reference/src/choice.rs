//! Choosing one of several ports (model, section 6, up to "Dragonfly+ positions").

use odonata_sim::engine::random::{below32, packet_random};

/// The random numbers of one decision of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRandom {
    /// Key of the packet.
    pub(crate) key: u32,
    /// Number of routers visited before.
    pub(crate) hop: u8,
}

impl PacketRandom {
    /// `U(k, n)`: uniform in `0 .. n`.
    pub(crate) fn u(self, k: u8, n: usize) -> usize {
        below32(packet_random(self.key, self.hop, k), n as u32) as usize
    }

    /// A random element of the list.
    pub(crate) fn any(self, list: &[usize], base: u8) -> usize {
        list[self.u(base, list.len())]
    }

    /// The element with the least backlog.
    pub(crate) fn least(self, list: &[usize], backlog: impl Fn(usize) -> u64, base: u8) -> usize {
        for k in 0..4 {
            let element = self.any(list, base + k);
            if backlog(element) == 0 {
                return element;
            }
        }
        let least = list.iter().map(|&e| backlog(e)).min().expect("a list that is chosen from is not empty");
        let best: Vec<usize> = list.iter().copied().filter(|&e| backlog(e) == least).collect();
        self.any(&best, base + 4)
    }

    /// A random element that passes the test, if there is one.
    pub(crate) fn passing(self, list: &[usize], passes: impl Fn(usize) -> bool, base: u8) -> Option<usize> {
        for k in 0..4 {
            let element = self.any(list, base + k);
            if passes(element) {
                return Some(element);
            }
        }
        let good: Vec<usize> = list.iter().copied().filter(|&e| passes(e)).collect();
        if good.is_empty() { None } else { Some(self.any(&good, base + 4)) }
    }
}
