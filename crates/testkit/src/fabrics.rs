//! Links, buffers, NICs and sensors.

use std::collections::BTreeMap;

use odonata_sim::spec::{
    Arbitration, AriesSpec, CONGESTION_LAWS, CongestionLaw, CongestionSpec, Delivery, Entropy, FabricSpec, LinkSpec,
    MAX_CHANNELS, MarkingPorts, MetricKind, NicOrder, NicSpec, Operation, Rail, RouterKind, RouterSpec, Sensing,
    Switching, TrafficClassSpec,
};
use odonata_topology::{Bandwidth, Network};
use serde_json::{Map, json};

use super::choices::Choices;

/// Channels are set later.
pub fn fabric(c: &mut Choices, network: &Network) -> FabricSpec {
    let packet_bytes = c.of(&[1, 8, 64, 100, 256, 512, 1024, 2048]);
    let header_bytes = c.of(&[0, 0, 1, 32]);
    let flit_bytes = c.of(&[1, 1, 8, 24, packet_bytes]);
    // Equal bandwidths without latencies make many events simultaneous, odd ones make none simultaneous. Tests need
    // both.
    let plain = c.chance(40);
    // Slow links between groups fill the queues that adaptive routing looks at.
    let slow = c.of(&[1, 1, 4, 10]);
    let mut links = BTreeMap::new();
    for (class, &name) in network.classes.iter().enumerate() {
        let bandwidth = if plain {
            Bandwidth(8_000_000_000_000_000)
        } else {
            Bandwidth(c.within(1_000_000_000_000_000, 20_000_000_000_000_000))
        };
        let global = class >= network.first_global.index();
        let bandwidth = if global { Bandwidth(bandwidth.0 / slow) } else { bandwidth };
        let delay = |c: &mut Choices| if c.chance(if plain { 70 } else { 30 }) { 0 } else { c.within(1, 200_000) };
        let (latency_ps, credit_delay_ps) = (delay(c), delay(c));
        let packets = c.of(&[1, 1, 2, 4, 16, 200]);
        let extra = if c.chance(30) { c.within(0, u64::from(packet_bytes)) } else { 0 };
        let buffer_bytes = on_wire(packet_bytes, header_bytes, flit_bytes) * packets + extra;
        links.insert(name.to_owned(), LinkSpec { bandwidth, latency_ps, buffer_bytes, credit_delay_ps });
    }
    FabricSpec {
        packet_bytes,
        router_delay_ps: if c.chance(40) { 0 } else { c.within(1, 150_000) },
        channels: 1,
        switching: switching(c),
        header_bytes,
        flit_bytes,
        router: router(c, on_wire(packet_bytes, header_bytes, flit_bytes), links.values()),
        nic: nic(c, 50, 50_000),
        congestion_control: None,
        traffic_classes: Vec::new(),
        links,
    }
}

/// Packets of a few bytes, fast links, no latencies, no router delays: all events within picoseconds.
pub fn instant(c: &mut Choices, network: &Network) -> FabricSpec {
    let packet_bytes = c.of(&[1, 4, 4, 4, 8]);
    let header_bytes = c.of(&[0, 0, 1, 3]);
    let flit_bytes = c.of(&[1, 1, 2, 3]);
    let same = c.chance(50).then_some(Bandwidth(1_000_000_000_000_000_000)); // one byte each picosecond
    let mut links = BTreeMap::new();
    for &name in network.classes {
        let bandwidth = same.unwrap_or_else(|| Bandwidth(c.within(20_000_000_000_000_000, 2_000_000_000_000_000_000)));
        let delay = |c: &mut Choices| if c.chance(80) { 0 } else { c.within(1, 5) };
        let (latency_ps, credit_delay_ps) = (delay(c), delay(c));
        let buffer_bytes = on_wire(packet_bytes, header_bytes, flit_bytes) * c.of(&[1, 1, 2, 5, 100]);
        links.insert(name.to_owned(), LinkSpec { bandwidth, latency_ps, buffer_bytes, credit_delay_ps });
    }
    let router_delay_ps = if c.chance(70) { 0 } else { c.within(1, 4) };
    FabricSpec {
        packet_bytes,
        router_delay_ps,
        channels: 1,
        switching: switching(c),
        header_bytes,
        flit_bytes,
        router: router(c, on_wire(packet_bytes, header_bytes, flit_bytes), links.values()),
        nic: nic(c, 80, 10),
        congestion_control: None,
        traffic_classes: Vec::new(),
        links,
    }
}

fn switching(c: &mut Choices) -> Switching {
    c.of(&[Switching::StoreAndForward, Switching::CutThrough])
}

/// An ideal switch, or a crossbar of about the speed of the links: slower, as fast, or so fast that it hardly matters.
fn router<'l>(c: &mut Choices, packet: u64, links: impl Iterator<Item = &'l LinkSpec>) -> Option<RouterSpec> {
    if c.chance(40) {
        return None;
    }
    let fastest = links.map(|link| link.bandwidth.0).max().expect("there are links");
    Some(RouterSpec {
        kind: c.of(&[RouterKind::InputQueued, RouterKind::VirtualOutputQueued]),
        crossbar: Bandwidth(c.of(&[
            fastest / 2,
            fastest,
            fastest,
            fastest.saturating_mul(2),
            fastest.saturating_mul(20),
        ])),
        output_buffer_bytes: packet * c.of(&[1, 1, 2, 3, 100]) + if c.chance(30) { c.within(0, packet) } else { 0 },
        arbitration: Arbitration::LeastRecentlyServed,
    })
}

/// Bytes of a full packet in a buffer.
fn on_wire(packet_bytes: u32, header_bytes: u32, flit_bytes: u32) -> u64 {
    u64::from(packet_bytes + header_bytes).next_multiple_of(u64::from(flit_bytes))
}

fn nic(c: &mut Choices, without_overhead: u64, most: u64) -> NicSpec {
    NicSpec {
        overhead_ps: if c.chance(without_overhead) { 0 } else { c.within(1, most) },
        order: c.of(&[NicOrder::Fcfs, NicOrder::RoundRobin]),
        rail: c.of(&[Rail::Hash, Rail::LeastBusy, Rail::ByRank]),
        stripe_bytes: None,
        aries: None,
        window_bytes: None,
        delivery: Delivery::default(),
        entropy: Entropy::default(),
        acknowledge_every: None,
    }
}

/// Gives a fabric the NICs of Aries; its buffers hold as many packets as before.
pub fn answer(c: &mut Choices, fabric: &mut FabricSpec, gets: bool) {
    let before = fabric.wire_bytes(fabric.packet_bytes);
    let packet_bytes = c.of(&[1, 8, 64, 64, fabric.packet_bytes, fabric.packet_bytes.div_ceil(3)]);
    let packet_bytes = packet_bytes.max(fabric.packet_bytes.div_ceil(40));
    let burst = fabric.packet_bytes.div_ceil(packet_bytes);
    let window = burst * c.of(&[1, 1, 2, 4, 50]) + if c.chance(30) { c.within(0, u64::from(burst)) as u32 } else { 0 };
    let flit_ps = fabric.links["node"].bandwidth.serialisation_ps(fabric.flit_bytes.into());
    let cycle_ps = if c.chance(50) { flit_ps } else { c.within(1, flit_ps) };
    let operation = if gets { Operation::Get } else { Operation::Put };
    fabric.nic.aries = Some(AriesSpec { packet_bytes, window, operation, cycle_ps });
    let after = fabric.wire_bytes(fabric.packet_bytes);
    let grown = |buffer: u64| (buffer * after).div_ceil(before);
    fabric.links.values_mut().for_each(|link| link.buffer_bytes = grown(link.buffer_bytes));
    if let Some(router) = &mut fabric.router {
        router.output_buffer_bytes = grown(router.output_buffer_bytes);
    }
}

/// Gives the NICs of a fabric a window towards each destination, from one packet to one that is hardly ever full.
pub fn window(c: &mut Choices, fabric: &mut FabricSpec) {
    let full = u64::from(fabric.packet_bytes);
    let more = if c.chance(50) { c.within(0, full) } else { 0 };
    fabric.nic.window_bytes = Some(full * c.of(&[1, 1, 1, 2, 3, 8, 50]) + more);
}

/// Lets the acknowledgements of a fabric stand for several packets, sometimes, if they may; windows may be smaller.
pub fn coalesce(seed: u64, fabric: &mut FabricSpec) {
    let c = &mut Choices::new(seed ^ 0xac_4e0d);
    let law = fabric.congestion_control.map(|control| control.law);
    if matches!(law, Some(CongestionLaw::Slingshot | CongestionLaw::ReceiverCredit { .. }))
        || fabric.most_in_flight().is_none()
    {
        return;
    }
    fabric.nic.acknowledge_every = if c.chance(50) { Some(c.of(&[2, 2, 3, 4, 8, 1_000])) } else { None };
}

/// Gives a fabric congestion control, with thresholds that are often exceeded, or never.
pub fn congestion_control(c: &mut Choices, fabric: &mut FabricSpec) {
    let full = u64::from(fabric.packet_bytes);
    let packet_ps = fabric.links["node"].bandwidth.serialisation_ps(full);
    let law = law(c, full, packet_ps);
    let more = if c.chance(50) { c.within(0, full) } else { 0 };
    let marks = law.marking() != MarkingPorts::None;
    fabric.congestion_control = Some(CongestionSpec {
        law,
        window_bytes: full * c.of(&[1, 2, 4, 16]) + more,
        mark_above_bytes: marks.then_some(full * c.of(&[0, 0, 1, 2, 1_000]) + more),
    });
}

/// A law of the list. A time is some packets long, and a size holds some packets.
fn law(c: &mut Choices, packet_bytes: u64, packet_ps: u64) -> CongestionLaw {
    let info = c.of(CONGESTION_LAWS);
    let mut options = Map::new();
    for option in info.options {
        let value = match option.name.rsplit_once('_') {
            Some((_, "ps")) => packet_ps * c.within(1, 10),
            Some((_, "bytes")) => packet_bytes * c.of(&[1, 2, 3, 8]),
            _ => panic!("`{}` has an option without a unit: {}", info.name, option.name),
        };
        options.insert(option.name.to_owned(), value.into());
    }
    let told = if options.is_empty() { info.name.into() } else { json!({ info.name: options }) };
    serde_json::from_value(told).unwrap_or_else(|e| panic!("`{}`: {e}", info.name))
}

/// Gives a fabric traffic classes, with few priorities, so that some share one, as far as its channels last. The routers
/// are ideal.
pub fn traffic_classes(c: &mut Choices, fabric: &mut FabricSpec) {
    fabric.router = None;
    let most = u64::from(MAX_CHANNELS / fabric.channels / if fabric.answers() { 2 } else { 1 });
    let class = |index: u64| TrafficClassSpec {
        name: format!("class-{index}"),
        priority: c.of(&[0, 0, 0, 1, 7]),
        share: c.of(&[1, 1, 2, 5, 1_000]),
    };
    fabric.traffic_classes = (0..most.min(4)).map(class).collect();
}

/// What routings know of loads, with delays of about the size of the fabric's own.
pub fn sensing(c: &mut Choices, network: &Network, fabric: &FabricSpec) -> Sensing {
    if c.chance(30) {
        return Sensing::default();
    }
    let mut kind = c.of(&[
        MetricKind::Backlog,
        MetricKind::Credits,
        MetricKind::Credits,
        MetricKind::Both,
        MetricKind::Occupancy,
        MetricKind::Occupancy,
        MetricKind::None,
    ]);
    if fabric.router.is_some() && c.chance(30) {
        kind = c.of(&[MetricKind::OutputBuffer, MetricKind::OutputCredits]);
    }
    let mut delay_ps = BTreeMap::new();
    for &name in &network.classes[1..] {
        if c.chance(40) {
            let packet = fabric.links[name].bandwidth.serialisation_ps(u64::from(fabric.packet_bytes));
            delay_ps.insert(name.to_owned(), c.within(0, packet * 5));
        }
    }
    Sensing { kind, delay_ps, levels: None }
}
