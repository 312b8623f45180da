//! The constants of a run: what every port leads to, and how long things take.

use odonata_topology::{ClassId, Network, NodeId, Peer, RouterId};

use super::{HopTiming, Place};
use crate::spec::{FabricSpec, Spec};

/// What a router port leads to.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Router at the far end, or the NIC if `node`.
    pub to: u32,
    /// Port there.
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// Whether the far end is a node.
    pub node: bool,
}

/// Most link classes of a machine.
pub const CLASSES: usize = 4;
/// Bytes of [`Times::scaled`].
const SCALED_BYTES: u64 = 1 << 16;

/// Times of one link class.
#[derive(Clone, Debug)]
pub struct Times {
    /// Serialisation time by packet size.
    pub(crate) serialisation: Vec<u64>,
    /// From the end of a packet's transmission to its decision at the next router.
    pub to_decision: u64,
    /// From the end of a packet's transmission to its arrival.
    pub latency: u64,
    /// From the departure of a packet out of the buffer behind such a link to the arrival of its credit.
    pub to_credit: u64,
    /// Buffer of each channel, in bytes.
    pub buffer: u32,
    /// Serialisation time of 2^16 bytes, for sensors.
    pub scaled: u64,
}

/// Where a NIC is.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// Router of the NIC.
    pub router: u32,
    /// Port of the NIC there.
    pub port: u16,
    /// Group.
    pub group: u16,
    /// Router, numbered in its group.
    pub local: u16,
}

/// An output virtual channel: a port of a router and a channel on it, both of which exist. Made by [`Wiring::output`] alone, so
/// that what a routing algorithm decides is bounded once, before any table is indexed by it.
#[derive(Clone, Copy, Debug)]
pub struct OutputVc {
    slot: u32,
    lane: usize,
}

impl OutputVc {
    /// Slot of the port: below the number of slots of the wiring.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Number of the lane: below the number of slots times that of channels.
    #[inline(always)]
    #[must_use]
    pub fn lane(self) -> usize {
        self.lane
    }
}

/// All constants.
pub struct Wiring {
    /// Position of each router.
    pub(crate) places: Vec<Place>,
    /// Position of each NIC: `node * rails + rail`.
    pub(crate) homes: Vec<Home>,
    /// What every router port leads to, by slot.
    pub(crate) wires: Vec<Wire>,
    /// NICs of each node.
    pub rails: u32,
    /// Whether the NICs of some node are on different routers.
    split: bool,
    /// Groups of the machine.
    pub groups: usize,
    /// Link classes from this one on join groups.
    pub first_global: u8,
    /// Times by class.
    pub times: [Times; CLASSES],
    /// Virtual channels.
    pub channels: usize,
}

impl Wiring {
    /// Lays the tables out for a checked specification.
    #[must_use]
    pub fn new(spec: &Spec, network: &Network) -> Self {
        let home = |&slot| {
            let (router, port) = network.port_of(slot);
            let group = network.group_of_router[router.index()] as u16;
            Home { router: router.0, port: port.0, group, local: network.local(router) as u16 }
        };
        let homes: Vec<Home> = network.node_slot.iter().map(home).collect();
        let nodes = homes.chunks(network.rails as usize);
        Self {
            places: (0..network.routers() as u32).map(|r| Place::of(network, RouterId(r))).collect(),
            split: nodes.into_iter().any(|nics| nics.iter().any(|nic| nic.router != nics[0].router)),
            homes,
            wires: wires(network),
            rails: network.rails,
            groups: network.groups as usize,
            first_global: network.first_global.0,
            times: std::array::from_fn(|class| {
                times(&spec.fabric, network.classes[class.min(network.classes.len() - 1)])
            }),
            channels: usize::from(spec.fabric.channels),
        }
    }

    /// The output virtual channel of a port and a channel at a router.
    ///
    /// # Panics
    /// If there is none: a routing algorithm has decided for what does not exist. (That the port is one of this router's is checked
    /// in builds with debug assertions only: a wrong one would give a wrong result, but touch nothing beyond the tables.)
    #[inline(always)]
    #[must_use]
    pub fn output(&self, place: Place, port: u16, channel: u8) -> OutputVc {
        debug_assert!(port < place.ports, "no such output: port {port}");
        let slot = place.first + u32::from(port);
        assert!((slot as usize) < self.wires.len() && usize::from(channel) < self.channels, "no such output");
        OutputVc { slot, lane: usize::from(channel) * self.wires.len() + slot as usize }
    }

    /// Where what happens to a NIC happens: at the router of its node's first NIC.
    #[inline]
    #[must_use]
    pub fn home_of_events(&self, nic: u32) -> Home {
        let first = if self.rails == 1 { nic } else { nic - nic % self.rails };
        self.homes[first as usize]
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
        assert!(self.times.iter().all(|times| (least_bytes as usize) < times.serialisation.len()));
        // SAFETY: it was just checked.
        let hop = |times| unsafe { HopTiming::store_and_forward(0, least_bytes, times) };
        let (node, between) = (&self.times[0], &self.times[1..]);
        let packet = between.iter().map(|t| hop(t).decision).min();
        let departure = self.times.iter().map(|t| hop(t).release).min();
        let credit = between.iter().map(|t| t.to_credit).min();
        let delivery = hop(node).arrival;
        // The NICs of a node act at the router of the first of them.
        let nics = if self.split { hop(node).decision.min(departure.unwrap_or(0) + node.to_credit) } else { u64::MAX };
        packet.unwrap_or(u64::MAX).min(departure.unwrap_or(0) + credit.unwrap_or(0)).min(delivery).min(nics)
    }
}

fn wires(network: &Network) -> Vec<Wire> {
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

fn times(fabric: &FabricSpec, class: &str) -> Times {
    let link = &fabric.links[class];
    Times {
        serialisation: (0..=u64::from(fabric.packet_bytes)).map(|b| link.bandwidth.serialisation_ps(b)).collect(),
        to_decision: link.latency_ps + fabric.router_delay_ps,
        latency: link.latency_ps,
        to_credit: link.latency_ps + link.credit_delay_ps,
        buffer: link.buffer_bytes as u32,
        scaled: link.bandwidth.serialisation_ps(SCALED_BYTES),
    }
}
