//! Latency on an empty machine: the sum of its parts, to the picosecond. Catches a delay that is charged twice, late or
//! never, and wrong rounding.

use odonata_sim::spec::{RoutingSpec, Select, Spec, Via};
use odonata_topology::Bandwidth;

use crate::support::{GB, MINIMAL, link_mut, machine, output, routings, ser, spec, stream, valiant};

/// Bandwidth of a class in millionths of a byte per second, and its wire latency.
const NODE: (u64, u64) = (17 * GB / 3, 5_001);
const LOCAL: (u64, u64) = (4 * GB, 20_011);
const GLOBAL: (u64, u64) = (3 * GB, 300_017);
const ROUTER_DELAY: u64 = 91_003;
const OVERHEAD: u64 = 10_007;

/// Four groups of two leaves of two nodes, all links different.
fn one_message(routing: RoutingSpec, (from, to): (u32, u32), bytes: u64) -> Spec {
    let mut spec = spec(machine([4, 2, 2, 2, 3], None), routing, vec![stream(from, to, bytes)]);
    spec.fabric.router_delay_ps = ROUTER_DELAY;
    spec.fabric.nic.overhead_ps = OVERHEAD;
    for (class, (bandwidth, latency)) in [("node", NODE), ("local", LOCAL), ("global", GLOBAL)] {
        (link_mut(&mut spec, class).bandwidth, link_mut(&mut spec, class).latency_ps) = (Bandwidth(bandwidth), latency);
    }
    spec
}

/// Overhead, every link's serialisation and wire, and a delay in each router.
fn sum_of_parts(links: &[(u64, u64)], bytes: u64) -> u64 {
    let one = |&(bandwidth, latency): &(u64, u64)| {
        (u128::from(bytes) * 1_000_000_000_000_000_000).div_ceil(u128::from(bandwidth)) as u64 + latency
    };
    let between: u64 = links.iter().map(one).sum();
    OVERHEAD + 2 * one(&NODE) + between + (links.len() as u64 + 1) * ROUTER_DELAY
}

fn check(routing: &RoutingSpec, pair: (u32, u32), links: &[(u64, u64)]) {
    for bytes in [1, 7, 64, 999, 1_000] {
        let spec = one_message(routing.clone(), pair, bytes);
        let output = output(&spec);
        let expected = sum_of_parts(links, bytes);
        assert_eq!(output.messages.latency_ps, [expected], "{bytes} bytes, {pair:?}, {routing:?}");
        assert_eq!((output.end_ps, output.jobs[0].hops), (expected, links.len() as u64));
        assert_eq!(output.packet_hops, links.len() as u64 + 1);
    }
}

#[test]
fn one_packet_takes_the_sum_of_its_parts() {
    for routing in routings() {
        check(&routing, (0, 1), &[]);
        check(&routing, (0, 2), &[LOCAL, LOCAL]);
        let far: &[(u64, u64)] = match routing {
            RoutingSpec::Valiant { via: Via::Spine, .. } => &[LOCAL, GLOBAL, GLOBAL, LOCAL],
            RoutingSpec::Valiant { via: Via::Leaf, .. } => &[LOCAL, GLOBAL, LOCAL, LOCAL, GLOBAL, LOCAL],
            _ => &[LOCAL, GLOBAL, LOCAL],
        };
        check(&routing, (1, 15), far);
    }
}

/// The worked example of the design: the system of Kang 2019, one full packet to another group. By long division 2,048
/// B take 119,209.3 ps at 16 GiB/s, 363,304.5 ps at 5.25 GiB/s and 436,464.2 ps at 4.37 GiB/s; each is rounded up.
#[test]
fn one_packet_on_the_machine_of_kang_2019() {
    let kang = |routing: RoutingSpec, to: u32| {
        let mut spec = spec(machine([9, 24, 24, 16, 16], None), routing, vec![stream(3, to, 2_048)]);
        spec.fabric.packet_bytes = 2_048;
        let links = [("node", 17_179_869_184, 8_192), ("local", 5_637_144_576, 8_192)];
        for (class, bandwidth, buffer) in links {
            link_mut(&mut spec, class).bandwidth = Bandwidth(bandwidth * 1_000_000);
            link_mut(&mut spec, class).buffer_bytes = buffer;
        }
        link_mut(&mut spec, "global").bandwidth = Bandwidth(4_692_251_770_880_000);
        link_mut(&mut spec, "global").buffer_bytes = 16_384;
        output(&spec).messages.latency_ps[0]
    };
    let least = RoutingSpec::Minimal { select: Select::LeastLoaded, gateways: None };
    for routing in [MINIMAL, least] {
        assert_eq!(kang(routing.clone(), 3_455), 2 * 119_210 + 2 * 363_305 + 436_465 + 4 * 100_000);
        assert_eq!(kang(routing.clone(), 3_455), 1_801_495);
        assert_eq!(kang(routing.clone(), 16), 2 * 119_210 + 2 * 363_305 + 3 * 100_000);
        assert_eq!(kang(routing, 4), 2 * 119_210 + 100_000);
    }
    assert_eq!(kang(valiant(Via::Leaf), 3_455), 2 * 119_210 + 4 * 363_305 + 2 * 436_465 + 7 * 100_000);
}

/// Catches packets of a message that wait for each other without need: equal packets follow each other at the rate of
/// the slowest link.
#[test]
fn a_message_is_a_pipeline_in_step_with_its_slowest_link() {
    for slowest in ["node", "local", "global"] {
        for packets in [2, 5, 40] {
            let mut spec = one_message(MINIMAL, (1, 15), packets * 1_000);
            let mut expected = OVERHEAD + 2 * NODE.1 + 2 * LOCAL.1 + GLOBAL.1 + 4 * ROUTER_DELAY;
            for (class, times) in [("node", 2), ("local", 2), ("global", 1)] {
                let gigabytes = if class == slowest { 1 } else { 8 };
                link_mut(&mut spec, class).bandwidth = Bandwidth(gigabytes * GB);
                expected += times * ser(1_000, gigabytes);
            }
            // One path only, or packets could overtake each other: between two groups of one spine.
            let odonata_sim::spec::TopologySpec::DragonflyPlus(machine) = &mut spec.topology else {
                unreachable!("it is a Dragonfly+")
            };
            (machine.spines, machine.global_links_per_spine) = (1, 3);
            expected += (packets - 1) * ser(1_000, 1);
            assert_eq!(output(&spec).messages.latency_ps, [expected], "{packets} packets, slowest {slowest}");
        }
    }
}
