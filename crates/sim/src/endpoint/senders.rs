//! How many NICs have more to send to each one (docs/model.md, section 3, "slingshot").

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::engine::random::Mixer;

/// What a NIC knows of another one that sends to it: when its latest packet left that has come, and whether that announced
/// more.
type Latest = (u64, bool);

/// One NIC.
#[derive(Clone, Debug, Default)]
struct Receiver {
    /// The map is only accessed by key, so its order does not matter.
    latest: HashMap<u32, Latest, BuildHasherDefault<Mixer>>,
    /// Senders whose latest packet announced more.
    more: u32,
}

/// The senders of all NICs of a run.
#[derive(Clone, Debug)]
pub struct Senders {
    nics: Vec<Receiver>,
}

impl Senders {
    /// So many NICs to which nothing has come.
    #[must_use]
    pub fn new(nics: usize) -> Self {
        Self { nics: vec![Receiver::default(); nics] }
    }

    /// A packet that left `from` at `left` has come to a NIC; `more` says whether it announces more. Returns the NICs that
    /// have more for this one, and `from` in any case.
    pub fn come(&mut self, nic: u32, from: u32, left: u64, more: bool) -> u32 {
        let of = &mut self.nics[nic as usize];
        let latest = of.latest.entry(from).or_insert((0, false));
        if left >= latest.0 {
            of.more = of.more + u32::from(more) - u32::from(latest.1);
            *latest = (left, more);
        }
        of.more + u32::from(!latest.1)
    }

    /// Takes over a NIC of another partition.
    pub fn absorb(&mut self, nic: u32, other: &mut Self) {
        self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_counts_while_its_latest_packet_announces_more_and_with_its_own() {
        let mut senders = Senders::new(1);
        assert_eq!(senders.come(0, 5, 10, true), 1);
        assert_eq!(senders.come(0, 6, 10, false), 2, "the one that sends counts itself");
        assert_eq!(senders.come(0, 7, 10, true), 2, "but not for others when it has no more");
        assert_eq!(senders.come(0, 5, 30, false), 2);
        assert_eq!(senders.come(0, 5, 20, true), 2, "it was overtaken by the last one");
        assert_eq!(senders.come(0, 7, 11, true), 1);
    }
}
