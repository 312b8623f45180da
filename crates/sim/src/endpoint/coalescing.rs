//! Acknowledgements that stand for several packets (docs/model.md, section 3, "Acknowledgements of several packets").

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Request;
use crate::engine::random::Mixer;

/// A packet without an acknowledgement of its own: the slot of its request, and its payload.
pub type Covered = (u32, u32);

/// What a NIC knows of another one that sends to it.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// Its packets that have come and wait for an acknowledgement, in order.
    waiting: Vec<Covered>,
    /// When the latest of the packets that have come and asked for one left.
    asked: u64,
}

/// The acknowledgements of all NICs of a run.
#[derive(Clone, Debug)]
pub struct Coalescing {
    /// A NIC acknowledges after so many packets of a sender.
    every: usize,
    /// By NIC. The maps are only accessed by key, so their order does not matter.
    nics: Vec<HashMap<u32, Sender, BuildHasherDefault<Mixer>>>,
    /// By slot of the request that is answered: the others for which its acknowledgement stands. Only accessed by key, except
    /// by audits.
    covered: HashMap<u32, Vec<Covered>, BuildHasherDefault<Mixer>>,
}

impl Coalescing {
    /// So many NICs that acknowledge after `every` packets.
    #[must_use]
    pub fn new(every: u32, nics: usize) -> Self {
        Self { every: every as usize, nics: vec![HashMap::default(); nics], covered: HashMap::default() }
    }

    /// A packet, the request in a slot, has come to a NIC. Returns the packets before it for which its acknowledgement stands;
    /// none if it waits as well.
    #[inline]
    pub fn come(&mut self, nic: u32, slot: u32, request: &Request, bytes: u32, marked: bool) -> Option<Vec<Covered>> {
        let of = self.nics[nic as usize].entry(request.nic).or_default();
        let overtaken = request.start < of.asked;
        if request.asks {
            of.asked = of.asked.max(request.start);
        }
        if marked || request.asks || overtaken || of.waiting.len() + 1 >= self.every {
            return Some(std::mem::take(&mut of.waiting));
        }
        of.waiting.push((slot, bytes));
        None
    }

    /// The acknowledgement of the request in a slot also stands for others.
    pub fn cover(&mut self, slot: u32, others: Vec<Covered>) {
        self.covered.insert(slot, others);
    }

    /// The packets for which the acknowledgement of the request in a slot stands beside its own, which has come.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Vec<Covered> {
        self.covered.remove(&slot).unwrap_or_default()
    }

    /// The same, for audits.
    pub fn covered(&self, slot: u32) -> &[Covered] {
        self.covered.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// All packets that have come and wait for an acknowledgement, for audits.
    pub fn waiting(&self) -> impl Iterator<Item = &Covered> {
        self.nics.iter().flat_map(HashMap::values).flat_map(|of| &of.waiting)
    }

    /// Takes over a NIC of another partition.
    pub fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(start: u64, asks: bool) -> Request {
        Request { start, message: 0, nic: 7, says: 0, more: false, asks }
    }

    #[test]
    fn one_of_every_few_is_answered_and_at_once_what_is_marked_asks_or_was_overtaken_by_what_asked() {
        let mut of = Coalescing::new(3, 1);
        let mut come = |slot, start, asks, marked| of.come(0, slot, &request(start, asks), 100, marked);
        assert_eq!(come(0, 10, false, false), None);
        assert_eq!(come(1, 11, false, false), None);
        assert_eq!(come(2, 12, false, false), Some(vec![(0, 100), (1, 100)]), "the third");
        assert_eq!(come(3, 13, false, false), None);
        assert_eq!(come(4, 14, false, true), Some(vec![(3, 100)]), "marked");
        assert_eq!(come(5, 15, false, false), None);
        assert_eq!(come(6, 17, true, false), Some(vec![(5, 100)]), "it asks");
        assert_eq!(come(7, 16, false, false), Some(vec![]), "it left before one that asked");
        assert_eq!(come(8, 18, false, false), None, "it left later");
        assert_eq!(of.waiting().collect::<Vec<_>>(), [&(8, 100)]);
    }
}
