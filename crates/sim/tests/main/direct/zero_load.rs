//! Latency on an empty machine: the sum of its parts, to the picosecond, for every pair of nodes. Catches a delay that
//! is charged twice, late or never, times of the wrong class, wrong rounding, and a path that is not shortest.

use std::collections::BTreeMap;

use odonata_sim::Spec;
use odonata_sim::spec::{AriesMode, Gateways, Knowledge, RoutingSpec, Select, TopologySpec, Via};
use odonata_topology::{Bandwidth, Dragonfly, GroupId, NodeId, Peer, RouterId};

use super::support::{ALL, Made, NEAREST, adaptive_local, aries, flat, grid, minimal, par, spec, ugal, valiant};
use crate::support::{GB, link_mut, output, ser, stream};

const ROUTER_DELAY: u64 = 91_003;
const OVERHEAD: u64 = 10_007;

/// Bandwidth in millionths of a byte per second and latency, by class: node, row, column, global.
const CLASSES: [(u64, u64); 4] = [(17 * GB / 3, 5_001), (4 * GB, 20_011), (7 * GB / 2, 60_013), (3 * GB, 300_017)];

/// Number in [`CLASSES`] of a class.
fn kind(class: &str) -> usize {
    match class {
        "node" => 0,
        "local" | "chassis" => 1,
        "group" => 2,
        _ => 3,
    }
}

fn one_message(made: &Made, routing: RoutingSpec, (from, to): (u32, u32), bytes: u64) -> Spec {
    let mut spec = made.spec(routing, vec![stream(from, to, bytes)]);
    spec.fabric.router_delay_ps = ROUTER_DELAY;
    spec.fabric.nic.overhead_ps = OVERHEAD;
    let classes: Vec<String> = spec.fabric.links.keys().cloned().collect();
    for class in classes {
        let (bandwidth, latency) = CLASSES[kind(&class)];
        (link_mut(&mut spec, &class).bandwidth, link_mut(&mut spec, &class).latency_ps) =
            (Bandwidth(bandwidth), latency);
    }
    spec
}

/// Links of each kind between two routers of a group, by their places in its grid.
fn inside(machine: &Dragonfly, from: RouterId, to: RouterId) -> [u64; 4] {
    let place = |r| (machine.network.local(r) / machine.columns, machine.network.local(r) % machine.columns);
    let ((row, column), (other_row, other_column)) = (place(from), place(to));
    [0, u64::from(column != other_column), u64::from(row != other_row), 0]
}

fn sum(parts: &[[u64; 4]]) -> [u64; 4] {
    std::array::from_fn(|kind| parts.iter().map(|part| part[kind]).sum())
}

/// The two routers of the only cable between two groups.
fn cable(machine: &Dragonfly, from: GroupId, to: GroupId) -> (RouterId, RouterId) {
    let [slot] = *machine.cables(from, to) else { panic!("there is one cable between groups") };
    let Peer::Router(far) = machine.network.peer[slot.index()] else { panic!("a cable leads to a router") };
    (machine.network.router_of_slot[slot.index()], machine.network.router_of_slot[far.index()])
}

/// Links of each kind on the path between two routers through these groups.
fn links(machine: &Dragonfly, from: RouterId, to: RouterId, via: Option<GroupId>) -> [u64; 4] {
    let group = |r: RouterId| GroupId(machine.network.group_of_router[r.index()]);
    let mut at = from;
    let mut parts = Vec::new();
    for next in via.into_iter().chain([group(to)]).filter(|&g| group(from) != group(to) || g != group(to)) {
        let (near, far) = cable(machine, group(at), next);
        parts.extend([inside(machine, at, near), [0, 0, 0, 1]]);
        at = far;
    }
    parts.push(inside(machine, at, to));
    sum(&parts)
}

fn closed_form(links: [u64; 4], bytes: u64) -> u64 {
    let one = |(bandwidth, latency): (u64, u64)| {
        (u128::from(bytes) * 1_000_000_000_000_000_000).div_ceil(u128::from(bandwidth)) as u64 + latency
    };
    let between: u64 = links.iter().zip(CLASSES).map(|(&n, class)| n * one(class)).sum();
    OVERHEAD + 2 * one(CLASSES[0]) + between + (links.iter().sum::<u64>() + 1) * ROUTER_DELAY
}

/// Machines with one cable between each two groups.
fn thin() -> [Made; 3] {
    let named = |name, topology| Made { name, topology, failures: Default::default() };
    let mut cascade = super::support::cascade([3, 2, 3, 2, 1]);
    cascade.links_per_pair = Some(1);
    [
        named("dragonfly", flat([5, 4, 1, 1])),
        named("cascade", TopologySpec::Cascade(cascade)),
        named("one column", grid([3, 2, 1, 1, 1])),
    ]
}

/// All routings that take minimal paths on an empty machine.
fn shortest(gateways: Gateways) -> Vec<RoutingSpec> {
    vec![
        minimal(Select::Random, gateways),
        minimal(Select::Hash, gateways),
        minimal(Select::LeastLoaded, gateways),
        ugal(Knowledge::Local, Via::Group, 2, gateways),
        ugal(Knowledge::Global, Via::Router, 1, gateways),
        par(Via::Router, 2, gateways),
        adaptive_local(gateways),
        aries(AriesMode::Adaptive0, gateways),
        aries(AriesMode::Adaptive1, gateways),
        aries(AriesMode::MinHash, gateways),
        aries(AriesMode::InOrder, gateways),
    ]
}

fn check(made: &Made, routing: &RoutingSpec, pair: (u32, u32), bytes: u64, links: [u64; 4]) {
    let output = output(&one_message(made, routing.clone(), pair, bytes));
    let case = format!("{}, {bytes} bytes, {pair:?}, {routing:?}", made.name);
    assert_eq!(output.messages.latency_ps, [closed_form(links, bytes)], "{case}");
    assert_eq!(output.jobs[0].hops, links.iter().sum::<u64>(), "{case}");
}

#[test]
fn one_packet_takes_the_sum_of_its_parts_between_all_nodes() {
    // Pairs in one group, and pairs in different groups, by links of each kind.
    let (mut near, mut far): (BTreeMap<[u64; 4], u32>, BTreeMap<[u64; 4], u32>) = Default::default();
    let mut size = 0;
    for made in thin() {
        let machine = made.build();
        let network = &machine.network;
        let nodes = network.nodes() as u32;
        for pair in (0..nodes).flat_map(|a| (0..nodes).filter(move |&b| b != a).map(move |b| (a, b))) {
            let [from, to] = [pair.0, pair.1].map(|node| network.router_of_node(NodeId(node)));
            let links = links(&machine, from, to, None);
            *(if links[3] == 0 { &mut near } else { &mut far }).entry(links).or_default() += 1;
            for routing in shortest(if (pair.0 + pair.1) % 2 == 0 { NEAREST } else { ALL }) {
                size += 1;
                check(&made, &routing, pair, [1, 7, 64, 999, 1_000][size % 5], links);
            }
        }
    }
    // The same router, row, column, group; between groups up to two rows and two columns.
    assert_eq!(near.keys().copied().collect::<Vec<_>>(), [[0; 4], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0]]);
    let expected: Vec<[u64; 4]> = (0..=2).flat_map(|row| (0..=2).map(move |column| [0, row, column, 1])).collect();
    assert_eq!(far.keys().copied().collect::<Vec<_>>(), expected, "{far:?}");
}

/// Three groups, so that Valiant has one non-minimal path only; and inside a group, of three routers in a row, one.
#[test]
fn a_non_minimal_path_takes_the_sum_of_its_parts() {
    for made in [&thin()[1], &thin()[2]] {
        let machine = made.build();
        let network = &machine.network;
        let nodes = network.nodes() as u32;
        for pair in (0..nodes).flat_map(|a| (0..nodes).filter(move |&b| b != a).map(move |b| (a, b))) {
            let [from, to] = [pair.0, pair.1].map(|node| network.router_of_node(NodeId(node)));
            let [a, b] = [from, to].map(|r| network.group_of_router[r.index()]);
            let via = (0..3).find(|&g| a != b && g != a && g != b).map(GroupId);
            check(made, &valiant(Via::Group, Select::Random, ALL), pair, 1_000, links(&machine, from, to, via));
            if a != b {
                let routing = aries(AriesMode::NminHash, NEAREST);
                check(made, &routing, pair, 64, links(&machine, from, to, via));
            }
        }
    }
    let row = Made { name: "one row", topology: flat([1, 3, 1, 0]), failures: Default::default() };
    for routing in [valiant(Via::Router, Select::LeastLoaded, ALL), aries(AriesMode::NminHash, ALL)] {
        check(&row, &routing, (0, 2), 999, [0, 2, 0, 0]);
    }
}

/// Catches packets of a message that wait for each other without need: on a path without a choice, equal packets follow
/// each other at the rate of the slowest link.
#[test]
fn a_message_is_a_pipeline_in_step_with_its_slowest_link() {
    let made = &thin()[1];
    let machine = made.build();
    // From router 1 of group 0 along a row, over the cable of router 0 to router 3 of group 2, ... by the wiring.
    let (near, far) = cable(&machine, GroupId(0), GroupId(1));
    let first = |r: RouterId| r.0 * 2;
    // One link along a row before the cable, one along a column after it.
    let from = first(RouterId(near.0 / 3 * 3 + (near.0 + 1) % 3));
    let local = machine.network.local(far);
    let to = first(RouterId(far.0 - local + (local + 3) % 6));
    for slowest in ["node", "chassis", "group", "optical"] {
        for packets in [1, 2, 40] {
            let mut spec =
                spec(made.topology.clone(), minimal(Select::LeastLoaded, ALL), vec![stream(from, to, packets * 1_000)]);
            // Two cables from row to row would be two paths.
            let TopologySpec::Cascade(topology) = &mut spec.topology else { unreachable!("it is a cascade") };
            topology.column_links = 1;
            for class in ["node", "chassis", "group", "optical"] {
                link_mut(&mut spec, class).bandwidth = Bandwidth(if class == slowest { GB } else { 8 * GB });
            }
            let links = if slowest == "node" { [2, 3] } else { [1, 4] };
            let once = links[0] * ser(1_000, 1) + links[1] * ser(1_000, 8) + 4 * 100_000;
            let output = output(&spec);
            assert_eq!(output.messages.latency_ps, [once + (packets - 1) * ser(1_000, 1)], "{packets}, {slowest}");
            assert_eq!(output.jobs[0].hops, 3 * packets);
        }
    }
}
