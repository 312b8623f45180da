//! The constants of a run: what every port leads to, and how long things take.

use odonata_topology::{ClassId, DragonflyPlus, NodeId, Peer, RouterId};

use crate::routing::Place;
use crate::spec::{FabricSpec, Spec};

/// What a router port leads to.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Router at the far end, or the node if `node`.
    pub to: u32,
    /// Port there.
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// Whether the far end is a node.
    pub node: bool,
}

/// Link classes, rounded up to a power of two (the last is not used).
pub const CLASSES: usize = 4;

/// Times of one link class.
#[derive(Clone, Debug)]
pub struct Times {
    /// Serialisation time by packet size.
    pub serialisation: Vec<u64>,
    /// From the end of a packet's transmission to its decision at the next router.
    pub to_decision: u64,
    /// From the end of a packet's transmission to its arrival.
    pub latency: u64,
    /// From the departure of a packet out of the buffer behind such a link to the arrival of its credit.
    pub to_credit: u64,
    /// Buffer of each channel, in bytes.
    pub buffer: u32,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// Router of the node.
    pub router: u32,
    /// Port of the node there.
    pub port: u16,
    /// Group.
    pub group: u16,
    /// Leaf, numbered in its group.
    pub leaf: u16,
}

/// All constants.
pub struct Wiring {
    /// The machine.
    pub machine: DragonflyPlus,
    /// Position of each router.
    pub places: Vec<Place>,
    /// Position of each node.
    pub homes: Vec<Home>,
    /// Times by class.
    pub times: [Times; CLASSES],
    /// Virtual channels.
    pub channels: usize,
}

impl Wiring {
    /// Lays the tables out for a checked specification.
    #[must_use]
    pub fn new(spec: &Spec, machine: DragonflyPlus) -> Self {
        let network = &machine.network;
        let places = (0..network.routers() as u32)
            .map(|r| Place {
                group: network.group_of_router[r as usize] as u16,
                local: machine.local(RouterId(r)) as u16,
                leaf: machine.is_leaf(RouterId(r)),
                ports: network.ports(RouterId(r)),
                first: network.first_slot[r as usize],
            })
            .collect();
        let homes = (0..network.nodes() as u32)
            .map(|n| {
                let (router, port) = network.port_of(network.node_slot[n as usize]);
                let group = network.group_of_router[router.index()] as u16;
                Home { router: router.0, port: port.0, group, leaf: machine.local(router) as u16 }
            })
            .collect();
        let times =
            std::array::from_fn(|class| times(&spec.fabric, network.classes[class.min(network.classes.len() - 1)]));
        Self { places, homes, times, channels: usize::from(spec.fabric.channels), machine }
    }

    /// What every router port leads to, by slot.
    #[must_use]
    pub fn wires(&self) -> Vec<Wire> {
        let network = &self.machine.network;
        (0..network.peer.len())
            .map(|slot| {
                let class = network.class[slot].0;
                match network.peer[slot] {
                    Peer::Node(NodeId(n)) => Wire { to: n, port: 0, class, node: true },
                    Peer::Router(far) => {
                        let (RouterId(to), port) = network.port_of(far);
                        Wire { to, port: port.0, class, node: false }
                    }
                    Peer::None => Wire { to: u32::MAX, port: 0, class, node: true },
                }
            })
            .collect()
    }

    /// Times of a class.
    #[inline(always)]
    #[must_use]
    pub fn times(&self, class: u8) -> &Times {
        &self.times[usize::from(class) % CLASSES]
    }

    /// Times of the links between nodes and routers.
    #[inline(always)]
    #[must_use]
    pub fn node_times(&self) -> &Times {
        &self.times[ClassId::NODE.index()]
    }

    /// Time that any effect of one router takes to reach another, at least, if no packet is smaller than
    /// `least_bytes` (docs/model.md, section 5).
    #[must_use]
    pub fn lookahead(&self, least_bytes: u32) -> u64 {
        let ser = |times: &Times| times.serialisation[least_bytes as usize];
        let (node, between) = (&self.times[0], &self.times[1..]);
        let packet = between.iter().map(|t| ser(t) + t.to_decision).min();
        let departure = self.times.iter().map(ser).min();
        let credit = between.iter().map(|t| t.to_credit).min();
        let delivery = ser(node) + node.latency;
        packet.unwrap_or(u64::MAX).min(departure.unwrap_or(0) + credit.unwrap_or(0)).min(delivery)
    }
}

fn times(fabric: &FabricSpec, class: &str) -> Times {
    let link = &fabric.links[class];
    Times {
        serialisation: (0..=u64::from(fabric.packet_bytes)).map(|b| link.bandwidth.serialisation_ps(b)).collect(),
        to_decision: link.latency_ps + fabric.router_delay_ps,
        latency: link.latency_ps,
        to_credit: link.latency_ps + link.credit_delay_ps,
        buffer: link.buffer_bytes as u32,
    }
}
