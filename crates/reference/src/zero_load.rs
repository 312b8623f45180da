//! What a packet takes alone, as far as NICs know its path (model, section 3, "nscc", and "Zero-load latency").

use odonata_sim::spec::Switching;
use odonata_topology::{NodeId, RouterId};

use crate::link::OnWire;
use crate::world::World;

impl World<'_> {
    /// From the start of a packet with so many bytes on links to its delivery over so many routers.
    pub(crate) fn zero_load(&self, from: NodeId, to: NodeId, wire: u64, routers: u64) -> u64 {
        let (fabric, network) = (&self.spec.fabric, &self.map.network);
        let group = |nic: NodeId| {
            let slot = network.node_slot[nic.index()];
            network.group_of(RouterId(self.map.router(slot.index()) as u32))
        };
        let has_cores = (0..network.routers()).any(|router| network.group_of(RouterId(router as u32)).is_none());
        let between = routers - 1;
        let leaving = match group(from) == group(to) {
            true => 0,
            false => between.min(if has_cores { 2 } else { 1 }),
        };
        let mut classes = vec![0];
        classes.extend((0..between - leaving).map(|_| 1));
        classes.extend((0..leaving).map(|_| network.first_global.index()));
        classes.push(0);
        let links: Vec<_> = classes.iter().map(|class| &fabric.links[network.classes[*class]]).collect();
        let awaited = match fabric.switching {
            Switching::StoreAndForward => wire,
            Switching::CutThrough => fabric.head(),
        };
        let across = |bytes| fabric.router.map_or(0, |router| router.crossbar.serialisation_ps(bytes));
        let mut start = 0;
        for pair in links.windows(2) {
            let after = pair[0].latency_ps + fabric.router_delay_ps;
            let decided = start + pair[0].bandwidth.serialisation_ps(awaited) + after;
            let tail = start + pair[0].bandwidth.serialisation_ps(wire) + after;
            let crossed = tail.max(decided + across(wire));
            start = (decided + across(awaited)).max(crossed.saturating_sub(pair[1].bandwidth.serialisation_ps(wire)));
        }
        start + links[0].bandwidth.serialisation_ps(wire) + links[0].latency_ps
    }
}
