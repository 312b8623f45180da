//! The constants of a run: the far end of every port, and all durations.

use std::ops::Range;
use std::sync::Arc;

use odonata_topology::{Address, Bandwidth, ClassId, Network, NodeId, Peer, RouterId};

use super::packet::Event;
use super::{HopTiming, RouterPlace};
use crate::spec::{FabricSpec, Spec, Switching};

/// The far end of a router port.
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
pub const CLASSES: usize = 8;
/// Number of bytes of [`Times::scaled`].
const SCALED_BYTES: u64 = 1 << 16;

/// The durations of packets of one size on the links of each class.
#[derive(Clone, Copy, Debug)]
pub struct PacketTimes {
    serialisation: [u64; CLASSES],
    to_decision: [u64; CLASSES],
    /// Bytes on a link and in a buffer.
    pub wire: u32,
}

impl PacketTimes {
    /// A packet of this many wire bytes on links with these times.
    #[must_use]
    pub fn new(wire: u32, serialisation: [u64; CLASSES], to_decision: [u64; CLASSES]) -> Self {
        Self { serialisation, to_decision, wire }
    }

    /// Serialisation time on the link.
    #[inline(always)]
    #[must_use]
    pub fn serialisation(&self, class: u8) -> u64 {
        self.serialisation[usize::from(class) % CLASSES]
    }

    /// From the start of its transmission to its decision at the next router.
    #[inline(always)]
    #[must_use]
    pub fn to_decision(&self, class: u8) -> u64 {
        self.to_decision[usize::from(class) % CLASSES]
    }
}

/// Times of one link class.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From the departure of a byte to the decision of the router that waits for this byte.
    pub to_decision: u64,
    /// Propagation time.
    pub latency: u64,
    /// From the departure of a packet from the buffer behind such a link to the arrival of its credit.
    pub to_credit: u64,
    /// Buffer of each channel, in bytes.
    pub buffer: u32,
    /// Serialisation time of 2^16 bytes, for congestion metrics.
    pub scaled: u64,
}

/// The position of a NIC.
#[derive(Clone, Copy, Debug)]
pub struct NicAttachment {
    /// Router of the NIC.
    pub router: u32,
    /// Port of the NIC there.
    pub port: u16,
    /// Address of the router.
    pub address: Address,
}

/// An output virtual channel: an existing port of a router and an existing channel of it. Only [`Wiring::output`] makes
/// one, so the choice of a routing algorithm is checked once, before it indexes any table.
#[derive(Clone, Copy, Debug)]
pub struct OutputVc {
    slot: u32,
    vc: usize,
}

impl OutputVc {
    /// Slot of the port: below the number of slots of the wiring.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// Number of the output VC: below the number of slots times that of channels.
    #[inline(always)]
    #[must_use]
    pub fn vc(self) -> usize {
        self.vc
    }
}

/// The constants of a run. Copies share the tables.
#[derive(Clone)]
pub struct Wiring {
    /// Position of each router.
    pub(crate) places: Arc<[RouterPlace]>,
    /// Position of each NIC: `node * rails + rail`.
    pub(crate) attachments: Arc<[NicAttachment]>,
    /// The far end of every router port, by slot.
    pub(crate) wires: Arc<[Wire]>,
    /// NICs of each node.
    pub rails: u32,
    /// Whether a message reaches its destination by the NIC with the number of the NIC that sends it, because the rails
    /// are not linked.
    pub separate_rails: bool,
    /// Whether packets cut through: routers decide on a packet before its tail has arrived.
    pub cut_through: bool,
    /// Whether some node has NICs on different routers.
    split: bool,
    /// Number of groups.
    pub groups: usize,
    /// The first link class that joins groups.
    pub first_global: u8,
    /// Times by class.
    pub times: [Times; CLASSES],
    /// Number of virtual channels.
    pub channels: usize,
}

impl Wiring {
    /// The output VC of the link to the destination of a packet, at its last router.
    ///
    /// # Safety
    /// The place is that of the router of the packet's NIC, and the packet has the port of that NIC.
    #[inline(always)]
    #[must_use]
    pub unsafe fn ejection(&self, place: RouterPlace, packet: &Event) -> OutputVc {
        let slot = place.first + u32::from(packet.to_port());
        OutputVc { slot, vc: slot as usize } // channel 0
    }

    /// Builds the tables of a checked specification.
    #[must_use]
    pub fn new(spec: &Spec, network: &Network) -> Self {
        let attachment = |&slot| {
            let (router, port) = network.port_of(slot);
            NicAttachment { router: router.0, port: port.0, address: network.address_of_router[router.index()] }
        };
        let attachments: Arc<[NicAttachment]> = network.node_slot.iter().map(attachment).collect();
        let nodes = attachments.chunks(network.rails as usize);
        let times = by_class(network, |class| times(&spec.fabric, class));
        Self {
            places: (0..network.routers() as u32).map(|r| RouterPlace::of(network, RouterId(r))).collect(),
            split: nodes.into_iter().any(|nics| nics.iter().any(|nic| nic.router != nics[0].router)),
            attachments,
            wires: wires(network),
            rails: network.rails,
            separate_rails: network.separate_rails,
            groups: network.groups as usize,
            first_global: network.first_global.0,
            times,
            cut_through: spec.fabric.switching == Switching::CutThrough,
            channels: usize::from(spec.fabric.all_channels()),
        }
    }

    /// The durations of packets by number: by payload up to the largest; with responses, then those of packets without payload.
    #[must_use]
    pub fn packets(&self, fabric: &FabricSpec, network: &Network) -> Vec<PacketTimes> {
        let bandwidths = by_class(network, |class| fabric.links[class].bandwidth);
        let times = |wire: u64| packet(fabric, wire, &bandwidths, &self.times, network.classes.len());
        fabric.wire_sizes().map(times).collect()
    }

    /// The output virtual channel of a port and a channel at a router.
    ///
    /// # Panics
    /// If there is none: the routing algorithm chose a port or channel that does not exist. (Only builds with debug
    /// assertions check that the port belongs to this router: a wrong one would give a wrong result but stay within the
    /// tables.)
    #[inline(always)]
    #[must_use]
    pub fn output(&self, place: RouterPlace, port: u16, channel: u8) -> OutputVc {
        debug_assert!(port < place.ports, "no such output: port {port}");
        let slot = place.first + u32::from(port);
        assert!((slot as usize) < self.wires.len() && usize::from(channel) < self.channels, "no such output");
        OutputVc { slot, vc: usize::from(channel) * self.wires.len() + slot as usize }
    }

    /// The router at which the events of a NIC take place: that of its node's first NIC.
    #[inline]
    #[must_use]
    pub fn event_attachment(&self, nic: u32) -> NicAttachment {
        let first = if self.rails == 1 { nic } else { nic - nic % self.rails };
        self.attachments[first as usize]
    }

    /// The router at which the events of a node take place: that of its first NIC.
    #[inline]
    #[must_use]
    pub fn node_attachment(&self, node: u32) -> NicAttachment {
        self.attachments[(node * self.rails) as usize]
    }

    /// Whether some node has NICs on different routers.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// The slots of the ports of consecutive routers.
    #[must_use]
    pub fn slots(&self, routers: &Range<u32>) -> Range<usize> {
        let first =
            |router: u32| self.places.get(router as usize).map_or(self.wires.len(), |place| place.first as usize);
        first(routers.start)..first(routers.end)
    }

    /// The times of a class.
    #[inline(always)]
    #[must_use]
    pub fn times(&self, class: u8) -> &Times {
        &self.times[usize::from(class) % CLASSES]
    }

    /// From the decision on a packet that came by a link of a class to its tail time (docs/model.md, section 1).
    #[inline(always)]
    #[must_use]
    pub fn tail(&self, packet: &PacketTimes, class: u8) -> u64 {
        packet.serialisation(class) + self.times(class).to_decision - packet.to_decision(class)
    }

    /// The times of the links between nodes and routers.
    #[inline(always)]
    #[must_use]
    pub fn node_times(&self) -> &Times {
        &self.times[ClassId::NODE.index()]
    }

    /// The least time in which one router can affect another (docs/model.md, section 5), apart from what follows from
    /// the [delivery](Self::delivery) of a message. `packet` is the smallest packet; `departure` is the earliest time
    /// after its decision at which it leaves its buffer, or none if it leaves when its link has sent it.
    #[must_use]
    pub fn lookahead(&self, packet: &PacketTimes, departure: Option<u64>) -> u64 {
        let hop = |class: usize| HopTiming::new(0, packet, class as u8);
        let (node, between) = (ClassId::NODE.index(), 1..CLASSES);
        let reach = between.clone().map(|class| hop(class).decision).min();
        let departure = departure.or_else(|| (0..CLASSES).map(|class| hop(class).end).min());
        let credit = between.map(|class| self.times[class].to_credit).min();
        // The NICs of a node act at the router of the first of them.
        let nic_credit = departure.unwrap_or(0) + self.times[node].to_credit;
        let nics =
            if self.split { self.injection(packet).min(nic_credit).min(self.delivery(packet)) } else { u64::MAX };
        reach.unwrap_or(u64::MAX).min(departure.unwrap_or(0) + credit.unwrap_or(0)).min(nics)
    }

    /// The least time from the decision on a packet at its last router to its arrival at its NIC.
    #[must_use]
    pub fn delivery(&self, packet: &PacketTimes) -> u64 {
        HopTiming::new(0, packet, ClassId::NODE.0).end + self.node_times().latency
    }

    /// The least time from the commit of a packet at its NIC to its first decision.
    #[must_use]
    pub fn injection(&self, packet: &PacketTimes) -> u64 {
        HopTiming::new(0, packet, ClassId::NODE.0).decision
    }
}

fn wires(network: &Network) -> Arc<[Wire]> {
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

/// A value for each class; for classes that the machine does not have, that of its last one.
fn by_class<T: Copy>(network: &Network, of: impl Fn(&str) -> T) -> [T; CLASSES] {
    std::array::from_fn(|class| of(network.classes[class.min(network.classes.len() - 1)]))
}

/// The durations of a packet of this size on links of these bandwidths, of which the first `classes` differ.
fn packet(
    fabric: &FabricSpec,
    wire: u64,
    bandwidths: &[Bandwidth; CLASSES],
    times: &[Times; CLASSES],
    classes: usize,
) -> PacketTimes {
    let waited_for = match fabric.switching {
        Switching::StoreAndForward => wire,
        Switching::CutThrough => fabric.head_bytes().min(wire), // every packet has payload
    };
    let (mut serialisation, mut to_decision) = ([0; CLASSES], [0; CLASSES]);
    for class in 0..CLASSES {
        let known = class.min(classes - 1); // most machines have few classes, and a table has many sizes
        if class > known {
            (serialisation[class], to_decision[class]) = (serialisation[known], to_decision[known]);
            continue;
        }
        serialisation[class] = bandwidths[class].serialisation_ps(wire);
        let first =
            if waited_for == wire { serialisation[class] } else { bandwidths[class].serialisation_ps(waited_for) };
        to_decision[class] = first + times[class].to_decision;
    }
    PacketTimes::new(wire as u32, serialisation, to_decision)
}

fn times(fabric: &FabricSpec, class: &str) -> Times {
    let link = &fabric.links[class];
    Times {
        to_decision: link.latency_ps + fabric.router_delay_ps,
        latency: link.latency_ps,
        to_credit: link.latency_ps + link.credit_delay_ps,
        buffer: link.buffer_bytes as u32,
        scaled: link.bandwidth.serialisation_ps(SCALED_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wire bytes, the time on the link and the decision time of a 500 B packet on links of 1 GB/s with a latency
    /// of 7 ps, between routers with a delay of 100 ps.
    fn packet_of(switching: Switching, header_bytes: u32, flit_bytes: u32) -> (u32, u64, u64) {
        let bandwidth = Bandwidth(1_000_000_000_000_000);
        let json = serde_json::json!({
            "packet_bytes": 1_000, "router_delay_ps": 100, "channels": 1, "switching": switching,
            "header_bytes": header_bytes, "flit_bytes": flit_bytes, "nic": {"overhead_ps": 0, "order": "fcfs"},
            "links": {"node": {"bandwidth": bandwidth, "latency_ps": 7, "buffer_bytes": 4_000, "credit_delay_ps": 3}},
        });
        let fabric: FabricSpec = serde_json::from_value(json).expect("it is a fabric");
        let packet =
            packet(&fabric, fabric.wire_bytes(500), &[bandwidth; CLASSES], &[times(&fabric, "node"); CLASSES], CLASSES);
        (packet.wire, packet.serialisation(2), packet.to_decision(2))
    }

    #[test]
    fn a_router_decides_on_a_packet_or_on_its_head() {
        assert_eq!(packet_of(Switching::StoreAndForward, 20, 16), (528, 528_000, 528_107));
        assert_eq!(packet_of(Switching::CutThrough, 20, 16), (528, 528_000, 32_107));
        assert_eq!(packet_of(Switching::CutThrough, 0, 1), (500, 500_000, 1_107));
        assert_eq!(packet_of(Switching::CutThrough, 0, 500), (500, 500_000, 500_107));
    }

    /// docs/model.md, section 5: header, wire and router delay with cut-through, for any packets.
    #[test]
    fn with_cut_through_the_lookahead_is_that_of_the_head() {
        let spec = |switching: Switching| {
            let link = |delay| {
                serde_json::json!({
                    "bandwidth": Bandwidth(1_000_000_000_000_000), "latency_ps": 7, "buffer_bytes": 4_000, "credit_delay_ps": delay,
                })
            };
            let json = serde_json::json!({
                "version": 1, "seed": 1, "compat": null,
                "topology": {
                    "kind": "dragonfly-plus", "groups": 2, "leaves": 2, "spines": 2, "nodes_per_leaf": 2,
                    "global_links_per_spine": 2, "links_per_pair": null, "arrangement": "linear",
                },
                "fabric": {
                    "packet_bytes": 1_000, "router_delay_ps": 100, "channels": 1, "switching": switching, "header_bytes": 20,
                    "nic": {"overhead_ps": 0, "order": "fcfs"},
                    "links": {"node": link(0), "local": link(0), "global": link(0)},
                },
                "routing": {"name": "minimal", "select": "random"}, "jobs": [],
                "stop": {"jobs": [], "at_ps": 1}, "measure": {"from_ps": 0, "until_ps": null, "arrivals_every_ps": null},
            });
            serde_json::from_value::<Spec>(json).expect("it is a specification")
        };
        for (switching, expected) in [(Switching::StoreAndForward, 520_007), (Switching::CutThrough, 20_107)] {
            let spec = spec(switching);
            let machine = spec.machine().expect("it can be built");
            let wiring = Wiring::new(&spec, machine.network());
            let packets = wiring.packets(&spec.fabric, machine.network());
            assert_eq!(wiring.lookahead(&packets[500], None), expected, "{switching:?}");
        }
    }
}
