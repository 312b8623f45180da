//! Keys of packets that came back without a mark, and are used again (docs/model.md, section 3, "reps").

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::{Answer, Answers};
use crate::engine::random::Mixer;
use crate::spec::{Entropy, REPS_VALUES, Spec};

/// A response that comes to a NIC: when, from which NIC, and the key of the request, if it is not marked.
type Returned = (u64, u32, Option<u32>);

/// One NIC.
#[derive(Clone, Debug, Default)]
struct Nic {
    /// Responses that come and that the NIC has not looked at, in order.
    returned: VecDeque<Returned>,
    /// By destination: keys to be used again, the oldest first. (Only accessed by key.)
    pairs: HashMap<u32, VecDeque<u32>, BuildHasherDefault<Mixer>>,
}

/// The keys that all NICs of a run keep.
#[derive(Clone, Debug)]
pub struct Entropies {
    nics: Vec<Nic>,
    /// By slot of the request: its key.
    keys: Vec<u32>,
}

impl Entropies {
    /// So many NICs, if they keep keys.
    #[must_use]
    pub fn new(spec: &Spec, nics: usize) -> Option<Box<Self>> {
        let recycles = spec.fabric.nic.entropy == Entropy::Reps;
        recycles.then(|| Box::new(Self { nics: vec![Nic::default(); nics], keys: Vec::new() }))
    }

    /// A NIC sends a packet with a slot to another one at `now`. Returns its key: one that came back, or `fresh`.
    pub fn send(&mut self, [nic, to]: [u32; 2], slot: u32, fresh: u32, now: u64) -> u32 {
        let of = &mut self.nics[nic as usize];
        while let Some(&(at, from, key)) = of.returned.front()
            && at <= now
        {
            of.returned.pop_front();
            if let Some(key) = key {
                let kept = of.pairs.entry(from).or_default();
                if kept.len() == REPS_VALUES {
                    kept.pop_front();
                }
                kept.push_back(key);
            }
        }
        let key = of.pairs.get_mut(&to).and_then(VecDeque::pop_front).unwrap_or(fresh);
        let slot = Answers::slot_of(slot);
        if slot >= self.keys.len() {
            self.keys.resize(slot + 1, 0);
        }
        self.keys[slot] = key;
        key
    }

    /// The response to the request in a slot of a NIC is known, and comes later than those that are known already.
    pub fn answered(&mut self, nic: u32, slot: u32, answer: &Answer) {
        let key = (!answer.marked).then(|| self.keys[Answers::slot_of(slot)]);
        self.nics[nic as usize].returned.push_back((answer.at, answer.to, key));
    }
}
