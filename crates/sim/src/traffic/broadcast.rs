//! The root sends one message to every other rank, one by one (K17: flat, no tree). The simulation begins the next
//! interval only when all have arrived.

use odonata_topology::Network;

use super::TrafficPattern;
use crate::engine::random::Source;
use crate::spec::{JobSpec, Pattern};

/// The pattern, with its root.
pub struct Broadcast(u32);

impl TrafficPattern for Broadcast {
    fn of(pattern: &Pattern, _: &JobSpec, _: &Network, _: Source) -> Option<Self> {
        if let Pattern::Broadcast { root } = *pattern { Some(Self(root)) } else { None }
    }

    fn per_interval(&self, ranks: u32) -> u32 {
        ranks - 1
    }

    fn only_sender(&self) -> Option<u32> {
        Some(self.0)
    }

    fn list(&self, _: u32, _: u32, ranks: u32, _: u32, to: &mut Vec<u32>) {
        to.extend((0..ranks).filter(|&rank| rank != self.0));
    }
}
