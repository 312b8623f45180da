//! Links, routers, NICs and routings that cannot be simulated.

use odonata_error::{ErrorKind, path};
use odonata_sim::run;
use odonata_sim::spec::{FparCandidates, RoutingSpec, Via};
use odonata_topology::Bandwidth;

use super::{accepted, refused, valid, with};
use crate::support::{fpar, link, link_mut, output, prog_adaptive, valiant};

#[test]
fn fabric() {
    refused(&[
        (|s| s.fabric.packet_bytes = 0, "fabric.packet_bytes", "out-of-range (found = 0, least = 1, most = 65536)"),
        (
            |s| s.fabric.packet_bytes = 65_537,
            "fabric.packet_bytes",
            "out-of-range (found = 65537, least = 1, most = 65536)",
        ),
        (|s| s.fabric.flit_bytes = 0, "fabric.flit_bytes", "out-of-range (found = 0, least = 1, most = 65536)"),
        (
            |s| s.fabric.header_bytes = 65_537,
            "fabric.header_bytes",
            "out-of-range (found = 65537, least = 0, most = 65536)",
        ),
        (
            |s| (s.fabric.header_bytes, s.fabric.packet_bytes) = (32, 65_505),
            "fabric.packet_bytes",
            "packet-on-wire-too-large (wire_bytes = 65537, packet_bytes = 65505, header_bytes = 32, flit_bytes = 1, most_bytes = 65536)",
        ),
        (
            |s| (s.fabric.header_bytes, link_mut(s, "local").buffer_bytes) = (24, 1_023),
            "fabric.links.local.buffer_bytes",
            "buffer-out-of-range (found_bytes = 1023, packet_bytes = 1024, most_bytes = 1073741824)",
        ),
        (|s| s.fabric.channels = 0, "fabric.channels", "out-of-range (found = 0, least = 1, most = 16)"),
        (|s| s.fabric.channels = 17, "fabric.channels", "out-of-range (found = 17, least = 1, most = 16)"),
        (
            |s| s.fabric.router_delay_ps = 1_000_000_001,
            "fabric.router_delay_ps",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
        ),
        (
            |s| s.fabric.nic.overhead_ps = u64::MAX,
            "fabric.nic.overhead_ps",
            "out-of-range (found = 18446744073709551615, least = 0, most = 1000000000)",
        ),
        (
            |s| s.fabric.links.retain(|class, _| class != "global"),
            "fabric.links",
            "other-classes (classes = [`global`, `local`, `node`], found = [`local`, `node`])",
        ),
        (
            |s| s.fabric.links.extend([("green".to_owned(), link(1))]),
            "fabric.links",
            "other-classes (classes = [`global`, `local`, `node`], found = [`global`, `green`, `local`, `node`])",
        ),
        (|s| link_mut(s, "local").bandwidth = Bandwidth(0), "fabric.links.local.bandwidth", "no-bandwidth"),
        (
            |s| link_mut(s, "node").bandwidth = Bandwidth(249_999_999_999),
            "fabric.links.node.bandwidth",
            "slow-link (packet_bytes = 1000, found_ps = 4000000001, most_ps = 4000000000)",
        ),
        (
            |s| link_mut(s, "global").latency_ps = 1_000_000_001,
            "fabric.links.global.latency_ps",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
        ),
        (
            |s| link_mut(s, "node").credit_delay_ps = 1_000_000_001,
            "fabric.links.node.credit_delay_ps",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
        ),
        (
            |s| link_mut(s, "global").buffer_bytes = 999,
            "fabric.links.global.buffer_bytes",
            "buffer-out-of-range (found_bytes = 999, packet_bytes = 1000, most_bytes = 1073741824)",
        ),
        (
            |s| link_mut(s, "global").buffer_bytes = (1 << 30) + 1,
            "fabric.links.global.buffer_bytes",
            "buffer-out-of-range (found_bytes = 1073741825, packet_bytes = 1000, most_bytes = 1073741824)",
        ),
    ]);
    accepted(&[
        |s| s.fabric.packet_bytes = 65_536,
        |s| s.fabric.packet_bytes = 1,
        |s| (s.fabric.header_bytes, s.fabric.packet_bytes) = (32, 65_504),
        |s| s.fabric.flit_bytes = 65_536,
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
            "out-of-range (found = 1000001, least = 0, most = 1000000)",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1_000_000_001, factor_milli: 1, candidates };
            },
            "routing.threshold_bytes",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1, factor_milli: 1_000_000_001, candidates };
            },
            "routing.factor_milli",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
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
        let kind = ErrorKind::TooFewChannels { routing: name, need: 2, have: 1 };
        assert_eq!(run(&spec, &mut ()).err(), Some(kind.at(path!["fabric", "channels"])));
    }
    assert_eq!(output(&with(|s| s.fabric.channels = 1)).jobs[0].delivered, 1);
}
