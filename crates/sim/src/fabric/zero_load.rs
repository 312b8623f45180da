//! What a packet takes alone over so many routers, as far as NICs know its path (docs/model.md, section 3, "nscc").

use odonata_topology::ClassId;

use super::{PacketTimes, RouterPlace, Wiring};
use crate::spec::{FabricSpec, RouterSpec};

/// The first class of links between routers.
const NEAR: u8 = 1;

/// The zero-load latencies of a run.
#[derive(Clone)]
pub struct ZeroLoad {
    wiring: Wiring,
    /// Most links between groups that are known of a path.
    most_global: u8,
    /// Bytes of a packet for which routers wait, if they do not wait for all of it.
    head: Option<u64>,
    router: Option<RouterSpec>,
}

impl ZeroLoad {
    /// Those of packets on this wiring.
    #[must_use]
    pub fn new(wiring: &Wiring, fabric: &FabricSpec) -> Self {
        let head = wiring.cut_through.then(|| fabric.head_bytes());
        let between = wiring.places.iter().any(|place| place.group == RouterPlace::NO_GROUP);
        Self { wiring: wiring.clone(), most_global: if between { 2 } else { 1 }, head, router: fabric.router }
    }

    /// Time from the start of a packet at a NIC to its delivery at another one over so many routers.
    #[must_use]
    pub fn latency(&self, [from, to]: [u32; 2], packet: &PacketTimes, routers: u8) -> u64 {
        let of = |nic: u32| self.wiring.places[self.wiring.attachments[nic as usize].router as usize].group;
        let links = routers - 1;
        let global = if of(from) == of(to) { 0 } else { self.most_global.min(links) };
        let near = std::iter::repeat_n(NEAR, usize::from(links - global));
        let far = std::iter::repeat_n(self.wiring.first_global, usize::from(global));
        let node = ClassId::NODE.0;
        let (mut start, mut class) = (0, node);
        for next in near.chain(far).chain([node]) {
            let mut decision = start + packet.to_decision(class);
            let mut tail = decision + self.wiring.tail(packet, class);
            if let Some(router) = &self.router {
                let across = |bytes: u64| router.crossbar.serialisation_ps(bytes);
                tail = tail.max(decision + across(u64::from(packet.wire)));
                decision += across(self.head.unwrap_or(u64::from(packet.wire)));
            }
            start = decision.max(tail.saturating_sub(packet.serialisation(next)));
            class = next;
        }
        start + packet.serialisation(node) + self.wiring.node_times().latency
    }
}
