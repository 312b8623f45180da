//! Links, routers, NICs and routings that cannot be simulated.

use odonata_sim::spec::{FparCandidates, RoutingSpec, Via};
use odonata_sim::{SimError, run};
use odonata_topology::Bandwidth;

use super::{accepted, refused, valid, with};
use crate::support::{fpar, link, link_mut, output, prog_adaptive, valiant};

#[test]
fn fabric() {
    refused(&[
        (|s| s.fabric.packet_bytes = 0, "fabric.packet_bytes", "0 is not between 1 and 65536 bytes"),
        (|s| s.fabric.packet_bytes = 65_537, "fabric.packet_bytes", "65537 is not between 1 and 65536 bytes"),
        (|s| s.fabric.channels = 0, "fabric.channels", "0 is not between 1 and 16"),
        (|s| s.fabric.channels = 17, "fabric.channels", "17 is not between 1 and 16"),
        (
            |s| s.fabric.router_delay_ps = 1_000_000_001,
            "fabric.router_delay_ps",
            "1000000001 ps is not between 0 and 1000000000 ps",
        ),
        (
            |s| s.fabric.nic.overhead_ps = u64::MAX,
            "fabric.nic.overhead_ps",
            "18446744073709551615 ps is not between 0 and 1000000000 ps",
        ),
        (
            |s| s.fabric.links.retain(|class, _| class != "global"),
            "fabric.links",
            "this machine has links of the classes {\"global\", \"local\", \"node\"}, found {\"local\", \"node\"}",
        ),
        (
            |s| s.fabric.links.extend([("green".to_owned(), link(1))]),
            "fabric.links",
            "this machine has links of the classes {\"global\", \"local\", \"node\"}, found {\"global\", \"green\", \
             \"local\", \"node\"}",
        ),
        (
            |s| link_mut(s, "local").bandwidth = Bandwidth(0),
            "fabric.links.local.bandwidth",
            "a link of no bandwidth never delivers",
        ),
        (
            |s| link_mut(s, "node").bandwidth = Bandwidth(249_999_999_999),
            "fabric.links.node.bandwidth",
            "a packet of 1000 bytes takes 4000000001 ps, more than 4 ms",
        ),
        (
            |s| link_mut(s, "global").latency_ps = 1_000_000_001,
            "fabric.links.global.latency_ps",
            "1000000001 ps is not between 0 and 1000000000 ps",
        ),
        (
            |s| link_mut(s, "node").credit_delay_ps = 1_000_000_001,
            "fabric.links.node.credit_delay_ps",
            "1000000001 ps is not between 0 and 1000000000 ps",
        ),
        (
            |s| link_mut(s, "global").buffer_bytes = 999,
            "fabric.links.global.buffer_bytes",
            "999 bytes must hold at least one packet (1000 bytes) and at most 2^30 bytes",
        ),
        (
            |s| link_mut(s, "global").buffer_bytes = (1 << 30) + 1,
            "fabric.links.global.buffer_bytes",
            "1073741825 bytes must hold at least one packet (1000 bytes) and at most 2^30 bytes",
        ),
    ]);
    accepted(&[
        |s| s.fabric.packet_bytes = 65_536,
        |s| s.fabric.packet_bytes = 1,
        |s| s.fabric.channels = 8,
        |s| s.fabric.router_delay_ps = 1_000_000_000,
        |s| link_mut(s, "node").bandwidth = Bandwidth(250_000_000_000),
        |s| link_mut(s, "node").bandwidth = Bandwidth(u64::MAX),
        |s| link_mut(s, "local").buffer_bytes = 1_000,
        |s| link_mut(s, "local").buffer_bytes = 1 << 30,
    ]);
}

#[test]
fn routing() {
    refused(&[
        (
            |s| s.routing = fpar(1_000_001, FparCandidates::AllGroups),
            "routing.threshold_ppm",
            "1000001 is more than 1000000",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1_000_000_001, factor_milli: 1, candidates };
            },
            "routing.threshold_bytes",
            "1000000001 is more than 1000000000",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1, factor_milli: 1_000_000_001, candidates };
            },
            "routing.factor_milli",
            "1000000001 is more than 1000000000",
        ),
    ]);
    accepted(&[|s| s.routing = fpar(1_000_000, FparCandidates::OneGroup)]);
}

/// Catches a routing that runs on fewer channels than it needs.
#[test]
fn channels_of_a_routing() {
    let candidates = FparCandidates::AllGroups;
    for (routing, name) in
        [(valiant(Via::Spine), "valiant"), (prog_adaptive(candidates), "prog-adaptive"), (fpar(1, candidates), "fpar")]
    {
        let mut spec = valid();
        (spec.routing, spec.fabric.channels) = (routing, 1);
        let problem = format!("routing `{name}` needs 2 virtual channels, found 1");
        assert_eq!(run(&spec, &mut ()).err(), Some(SimError::invalid("fabric.channels", problem)));
    }
    assert_eq!(output(&with(|s| s.fabric.channels = 1)).jobs[0].delivered, 1);
}
