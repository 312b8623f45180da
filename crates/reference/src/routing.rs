//! The next link of a packet (model, section 6).

mod any;
mod check;
mod direct;
mod hyperx;
mod leaf_spine;
mod own;
mod shared_key;
mod up_down;

use odonata_decision::Mode;
use odonata_sim::spec::{AriesMode, RoutingSpec, Spec};
use odonata_topology::{NodeId, Peer};

use crate::choice::PacketRandom;
use crate::link::Link;
use crate::map::{Map, Shape};
use crate::packet::Packet;

pub(crate) use check::check;
pub(crate) use own::{Own, has_own};
pub(crate) use shared_key::shared_key;

/// The routing of a job.
pub(crate) fn routing_of(spec: &Spec, job: usize) -> &RoutingSpec {
    spec.jobs[job].routing.as_ref().unwrap_or(&spec.routing)
}

/// The routing of the packets of a message in a mode, if its job is application-aware (model, section 3).
pub(crate) fn packets(routing: &RoutingSpec, mode: Option<Mode>) -> RoutingSpec {
    let (RoutingSpec::ApplicationAware { bias_high_bytes, gateways, .. }, Some(mode)) = (routing, mode) else {
        return routing.clone();
    };
    let mode = match mode {
        Mode::Adaptive => AriesMode::Adaptive0,
        Mode::IncreasinglyMinimal => AriesMode::Adaptive1,
        Mode::HighBias => AriesMode::Adaptive3,
    };
    RoutingSpec::Aries { mode, bias_low_bytes: 0, bias_high_bytes: *bias_high_bytes, gateways: *gateways }
}

/// Whether some routing of a run reads the loads of other routers.
pub(crate) fn knows_other_routers(spec: &Spec) -> bool {
    use odonata_sim::spec::Knowledge::Global;
    (0..spec.jobs.len()).any(|job| matches!(routing_of(spec, job), RoutingSpec::Ugal { knowledge: Global, .. }))
}

/// A route decision.
pub(crate) struct DecisionContext<'a> {
    /// The run.
    pub(crate) spec: &'a Spec,
    /// The routing of the packet.
    pub(crate) routing: &'a RoutingSpec,
    /// The machine.
    pub(crate) map: &'a Map,
    /// All links; the output ports of all routers are among them, by slot.
    pub(crate) links: &'a [Link],
    /// Slot of the input port.
    pub(crate) slot: usize,
    /// Channel on which the packet came.
    pub(crate) channel: usize,
    /// The time.
    pub(crate) t: u64,
}

impl DecisionContext<'_> {
    /// The output port (its slot) and channel of a packet.
    pub(crate) fn route(&self, packet: &mut Packet) -> (usize, usize) {
        match &self.map.shape {
            Shape::DragonflyPlus(map) => leaf_spine::route(self, map, packet),
            Shape::Direct(paths) => direct::route(self, paths, packet),
            Shape::FatTree(tree) => up_down::route(self, tree, packet),
            Shape::HyperX(grid) => hyperx::route(self, grid, packet),
            Shape::Graph(web) => any::route(self, web, packet),
            Shape::Bare => unreachable!("packets with a routing of one's own are routed by it"),
        }
    }

    fn router(&self) -> usize {
        self.map.router(self.slot)
    }

    fn came_from_node(&self) -> bool {
        matches!(self.map.network.peer[self.slot], Peer::Node(_))
    }

    fn came_by_global_link(&self) -> bool {
        self.map.is_global(self.slot)
    }

    /// The port to a NIC of this router's nodes, and its channel.
    fn ejection(&self, nic: NodeId) -> (usize, usize) {
        (self.map.network.node_slot[nic.index()].index(), 0)
    }

    fn load(&self, port: usize) -> u64 {
        self.links[port].load(&self.spec.sensing, self.t)
    }

    fn least(&self, random: PacketRandom, list: &[usize], base: u8) -> usize {
        random.least(list, |port| self.load(port), base)
    }
}
