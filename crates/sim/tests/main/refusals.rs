//! Everything that a specification is refused for: where, and with which words. Catches a check that went missing, one
//! that is off by one, and a message that names the wrong value.

use odonata_sim::spec::{Arrival, FparCandidates, Pattern, RoutingSpec, Spec, Via};
use odonata_sim::{SimError, run};
use odonata_topology::{Bandwidth, TopologyError};

use crate::support::{MINIMAL, fpar, job, link, link_mut, machine, output, prog_adaptive, spec, stream, valiant};

/// Two groups of two leaves of two nodes; jobs `0 to 7` and `1 to 6`.
fn valid() -> Spec {
    spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![stream(0, 7, 100), stream(1, 6, 100)])
}

type Change = fn(&mut Spec);

fn with(change: Change) -> Spec {
    let mut spec = valid();
    change(&mut spec);
    spec
}

fn refused(cases: &[(Change, &str, &str)]) {
    for &(change, at, problem) in cases {
        let expected = SimError::invalid(at, problem);
        assert_eq!(with(change).check(), Err(expected.clone()));
        assert_eq!(run(&with(change), &mut ()).err(), Some(expected.clone()));
        assert_eq!(expected.to_string(), format!("{at}: {problem}"));
    }
}

fn accepted(changes: &[Change]) {
    for (index, &change) in changes.iter().enumerate() {
        assert_eq!(with(change).check(), Ok(()), "number {index}");
    }
}

fn pattern(spec: &mut Spec, pattern: Pattern) {
    spec.jobs[0].traffic.pattern = pattern;
}

#[test]
fn version_and_machine() {
    refused(&[
        (|s| s.version = 2, "version", "this core reads version 1, not 2"),
        (|s| s.version = 0, "version", "this core reads version 1, not 0"),
    ]);
    let zero = with(|s| s.topology = odonata_sim::spec::TopologySpec::DragonflyPlus(machine([2, 0, 2, 2, 2], None)));
    assert_eq!(zero.check(), Err(SimError::Topology(TopologyError::Zero { what: "leaves" })));
    assert_eq!(zero.check().map_err(|e| e.to_string()), Err("`leaves` is 0, but a machine needs at least 1".into()));
}

#[test]
fn fabric() {
    refused(&[
        (|s| s.fabric.packet_bytes = 0, "fabric.packet_bytes", "0 is not between 1 and 65536 bytes"),
        (|s| s.fabric.packet_bytes = 65_537, "fabric.packet_bytes", "65537 is not between 1 and 65536 bytes"),
        (|s| s.fabric.channels = 0, "fabric.channels", "0 is not between 1 and 8"),
        (|s| s.fabric.channels = 9, "fabric.channels", "9 is not between 1 and 8"),
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
            "1000001 is more than 1,000,000 millionths (a full port)",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1_000_000_001, factor_milli: 1, candidates };
            },
            "routing.threshold_bytes",
            "1000000001 is more than 10^9",
        ),
        (
            |s| {
                let candidates = FparCandidates::AllGroups;
                s.routing = RoutingSpec::ProgAdaptive { threshold_bytes: 1, factor_milli: 1_000_000_001, candidates };
            },
            "routing.factor_milli",
            "1000000001 is more than 10^9",
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

#[test]
fn jobs() {
    refused(&[
        (|s| s.jobs.clear(), "jobs", "a run has between 1 and 65,535 jobs, not 0"),
        (|s| s.jobs = vec![s.jobs[0].clone(); 65_536], "jobs", "a run has between 1 and 65,535 jobs, not 65536"),
        (|s| s.jobs[1].name = "0 to 7".into(), "jobs[1].name", "another job is named `0 to 7` too"),
        (|s| s.jobs[0].nodes[1] = 8, "jobs[0].nodes", "node 8 does not exist: the machine has 8 nodes"),
        (|s| s.jobs[1].nodes[1] = 1, "jobs[1].nodes", "node 1 is listed twice"),
        (|s| s.jobs[1].nodes[0] = 7, "jobs[1].nodes", "node 7 belongs to job `0 to 7` already"),
        (|s| s.jobs[1].nodes.truncate(1), "jobs[1].nodes", "1 ranks have nobody to send to"),
        (|s| s.jobs[1].nodes.clear(), "jobs[1].nodes", "0 ranks have nobody to send to"),
        (|s| s.jobs[0].traffic.message_bytes = 0, "jobs[0].traffic.message_bytes", "0 is not between 1 and 2^40 bytes"),
        (
            |s| s.jobs[0].traffic.message_bytes = (1 << 40) + 1,
            "jobs[0].traffic.message_bytes",
            "1099511627777 is not between 1 and 2^40 bytes",
        ),
        (
            |s| s.jobs[1].traffic.interval_ps = 0,
            "jobs[1].traffic.interval_ps",
            "0 ps is not between 1 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic.interval_ps = (1 << 54) + 1,
            "jobs[1].traffic.interval_ps",
            "18014398509481985 ps is not between 1 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic.arrival = Arrival::Constant { jitter_ps: u64::MAX },
            "jobs[1].traffic.arrival.jitter_ps",
            "18446744073709551615 ps is not between 0 and 18014398509481984 ps",
        ),
        (
            |s| s.jobs[1].traffic.arrival = Arrival::Staggered { jitter_ps: (1 << 54) + 1 },
            "jobs[1].traffic.arrival.jitter_ps",
            "18014398509481985 ps is not between 0 and 18014398509481984 ps",
        ),
        (|s| s.jobs[0].traffic.intervals = Some(0), "jobs[0].traffic.intervals", "0 is not between 1 and 2^31"),
    ]);
    accepted(&[
        |s| s.jobs[0].traffic.message_bytes = 1 << 40,
        |s| s.jobs[0].traffic.interval_ps = 1 << 54,
        |s| s.jobs[0].traffic.arrival = Arrival::Staggered { jitter_ps: 1 << 54 },
        |s| s.jobs[0].traffic.intervals = Some(1 << 30),
    ]);
}

#[test]
fn patterns() {
    refused(&[
        (
            |s| pattern(s, Pattern::Tornado { offset: 0 }),
            "jobs[0].traffic.pattern",
            "an offset of 0 makes each of 2 ranks its own partner",
        ),
        (
            |s| pattern(s, Pattern::Tornado { offset: 6 }),
            "jobs[0].traffic.pattern",
            "an offset of 6 makes each of 2 ranks its own partner",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [1, 3, 1] }),
            "jobs[0].traffic.pattern",
            "a grid of 1 x 3 x 1 has 3 points for 2 ranks",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [0, 1, 2] }),
            "jobs[0].traffic.pattern",
            "a grid of 0 x 1 x 2 has 0 points for 2 ranks",
        ),
        (
            |s| pattern(s, Pattern::Stencil3d { grid: [u32::MAX; 3] }),
            "jobs[0].traffic.pattern",
            "a grid of 4294967295 x 4294967295 x 4294967295 has 79228162458924105385300197375 points for 2 ranks",
        ),
        (|s| pattern(s, Pattern::Broadcast { root: 2 }), "jobs[0].traffic.pattern", "root 2 is not one of 2 ranks"),
        (
            |s| {
                s.jobs[0].nodes = vec![0, 2];
                pattern(s, Pattern::GroupPeers);
            },
            "jobs[0].traffic.pattern",
            "group-peers needs ranks in at least two groups",
        ),
        (
            |s| {
                s.jobs[0].nodes = vec![5, 0, 7];
                pattern(s, Pattern::GroupPeers);
            },
            "jobs[0].traffic.pattern",
            "group-peers needs equally many ranks in each group, but group 0 has 1 and group 1 has 2",
        ),
    ]);
    accepted(&[
        |s| pattern(s, Pattern::Tornado { offset: 7 }),
        |s| pattern(s, Pattern::Stencil3d { grid: [1, 1, 2] }),
        |s| pattern(s, Pattern::GroupPeers),
    ]);
}

#[test]
fn stop_and_measure() {
    refused(&[
        (|s| s.stop.jobs.clear(), "stop", "neither a job nor a time ends the run"),
        (|s| s.stop.at_ps = Some(0), "stop.at_ps", "0 ps is not between 1 and 4611686018427387904 ps"),
        (
            |s| s.stop.at_ps = Some((1 << 62) + 1),
            "stop.at_ps",
            "4611686018427387905 ps is not between 1 and 4611686018427387904 ps",
        ),
        (|s| s.stop.jobs.push(2), "stop.jobs", "there is no job 2"),
        (|s| s.jobs[1].traffic.intervals = None, "stop.jobs", "job `1 to 6` never ends, so the run would not either"),
        (|s| s.measure.arrivals_every_ps = Some(0), "measure.arrivals_every_ps", "a window of 0 ps has no end"),
        (
            |s| (s.measure.from_ps, s.measure.until_ps) = (50, Some(50)),
            "measure.until_ps",
            "the measured interval ends at 50 ps, before it begins",
        ),
    ]);
    accepted(&[|s| (s.stop.jobs, s.stop.at_ps) = (vec![], Some(1)), |s| s.measure.until_ps = Some(1)]);
}

/// Catches a table of windows that eats all memory, and time that wraps round.
#[test]
fn runs_that_leave_all_bounds() {
    let mut windows = valid();
    (windows.measure.arrivals_every_ps, windows.jobs[0].traffic.first) =
        (Some(1), odonata_sim::spec::First::AfterInterval);
    windows.jobs[0].traffic.interval_ps = 1 << 40;
    let problem = "the run has more windows of this width than fit into memory; use wider ones";
    assert_eq!(run(&windows, &mut ()).err(), Some(SimError::invalid("measure.arrivals_every_ps", problem)));

    let mut ages = valid();
    ages.jobs = vec![job("ages", vec![0, 7], Pattern::Tornado { offset: 1 }, 1, 1 << 54, 600)];
    ages.stop.jobs = vec![0];
    assert_eq!(run(&ages, &mut ()).err(), Some(SimError::TimeOverflow));
    ages.jobs[0].traffic.intervals = Some(512);
    assert_eq!(output(&ages).jobs[0].delivered, 1_024, "the last one is issued at 511 * 2^54 ps");
}
