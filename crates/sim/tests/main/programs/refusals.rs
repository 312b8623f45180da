//! The errors for programs: path, code and parameters. Catches a missing check, a check that is off by one, and a path
//! that names another value.

use odonata_error::{ErrorKind, path};
use odonata_programs::{Barrier, GridAxis, PingPong};
use odonata_sim::run;
use odonata_sim::spec::{
    Body, CpuRate, GpuLink, GpuSpec, InnerNetwork, JobSpec, Phase, PhaseAction, SizedCombine, SizedCosts, Spec,
};
use odonata_topology::Bandwidth;

use super::support::{FREE, goal, of, phases, program, star};
use crate::support::stream;

/// Job 0 sends; job 1 runs a program on two ranks.
fn valid() -> Spec {
    let barrier = PhaseAction::Barrier { algorithm: Barrier::Dissemination };
    star(4, vec![stream(0, 1, 100), program("two", &[2, 3], FREE, phases(&[barrier]))])
}

const MORE: u64 = 1_000_000_001;
const ZERO: SizedCosts = SizedCosts { bytes: 0, send_ps: 0, receive_ps: 0, delay_ps: 0 };

fn sizes(list: &[u64]) -> Vec<SizedCosts> {
    list.iter().map(|&bytes| SizedCosts { bytes, ..ZERO }).collect()
}

fn rates(list: &[(u64, u64)]) -> Vec<SizedCombine> {
    list.iter().map(|&(bytes, rate)| SizedCombine { bytes, combine: Bandwidth(rate) }).collect()
}

fn untimed(job: &mut JobSpec, phases: u32) {
    let Body::Phases { untimed, .. } = &mut of(job).body else { unreachable!() };
    *untimed = phases;
}

type Change = fn(&mut JobSpec);

fn with(change: Change) -> Spec {
    let mut spec = valid();
    change(&mut spec.jobs[1]);
    spec
}

fn refused(cases: &[(Change, &str, &str)]) {
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for &(change, at, problem) in cases {
        let error = with(change).check().expect_err(at);
        assert_eq!(odonata_sim::check(&with(change)).as_ref(), Err(&error));
        assert_eq!(run(&with(change), &mut ()).err().as_ref(), Some(&error));
        found.push(error.to_string());
        expected.push(format!("jobs[1]{at}: {problem}"));
    }
    assert_eq!(found, expected);
}

#[test]
fn times_and_numbers() {
    let time = "out-of-range (found = 18014398509481985, least = 0, most = 18014398509481984)";
    let delay = "out-of-range (found = 1000000001, least = 0, most = 1000000000)";
    refused(&[
        (|j| of(j).start_ps = (1 << 54) + 1, ".program.start_ps", time),
        (|j| of(j).gap_ps = (1 << 54) + 1, ".program.gap_ps", time),
        (|j| of(j).every_ps = (1 << 54) + 1, ".program.every_ps", time),
        (
            |j| of(j).iterations = Some(0),
            ".program.iterations",
            "out-of-range (found = 0, least = 1, most = 2147483647)",
        ),
        (
            |j| of(j).iterations = Some(1 << 31),
            ".program.iterations",
            "out-of-range (found = 2147483648, least = 1, most = 2147483647)",
        ),
        (|j| of(j).costs.send_ps = 1_000_000_001, ".program.costs.send_ps", delay),
        (|j| of(j).costs.receive_ps = 1_000_000_001, ".program.costs.receive_ps", delay),
        (|j| of(j).costs.memory_ps = 1_000_000_001, ".program.costs.memory_ps", delay),
        (
            |j| of(j).costs.control_bytes = 0,
            ".program.costs.control_bytes",
            "out-of-range (found = 0, least = 1, most = 65536)",
        ),
        (
            |j| of(j).costs.control_bytes = 65_537,
            ".program.costs.control_bytes",
            "out-of-range (found = 65537, least = 1, most = 65536)",
        ),
        (
            |j| of(j).costs.header_bytes = 65_537,
            ".program.costs.header_bytes",
            "out-of-range (found = 65537, least = 0, most = 65536)",
        ),
        (|j| of(j).costs.copy = Some(Bandwidth(0)), ".program.costs.copy", "no-bandwidth"),
    ]);
    let most = "out-of-range (found = 1099511627777, least = 0, most = 1099511627776)";
    refused(&[
        (
            |j| of(j).by_size = sizes(&[10, 11, 11]),
            ".program.by_size[2].bytes",
            "out-of-range (found = 11, least = 12, most = 1099511627776)",
        ),
        (
            |j| of(j).by_size = sizes(&[10, 9]),
            ".program.by_size[1].bytes",
            "out-of-range (found = 9, least = 11, most = 1099511627776)",
        ),
        (|j| of(j).by_size = sizes(&[(1 << 40) + 1]), ".program.by_size[0].bytes", most),
        (
            |j| of(j).combine_by_size = rates(&[(10, 1), (10, 1)]),
            ".program.combine_by_size[1].bytes",
            "out-of-range (found = 10, least = 11, most = 1099511627776)",
        ),
        (|j| of(j).combine_by_size = rates(&[(0, 1), (1, 0)]), ".program.combine_by_size[1].combine", "no-bandwidth"),
        (|j| of(j).by_size = vec![SizedCosts { send_ps: MORE, ..ZERO }], ".program.by_size[0].send_ps", delay),
        (|j| of(j).by_size = vec![SizedCosts { receive_ps: MORE, ..ZERO }], ".program.by_size[0].receive_ps", delay),
        (|j| of(j).by_size = vec![SizedCosts { delay_ps: MORE, ..ZERO }], ".program.by_size[0].delay_ps", delay),
        (|j| untimed(j, 1), ".program.body.untimed", "out-of-range (found = 1, least = 0, most = 0)"),
        (|j| untimed(j, u32::MAX), ".program.body.untimed", "out-of-range (found = 4294967295, least = 0, most = 0)"),
    ]);
    let accepted: &[Change] = &[
        |j| of(j).by_size = sizes(&[0, 1, 1 << 40]),
        |j| of(j).by_size = vec![SizedCosts { send_ps: MORE - 1, receive_ps: MORE - 1, delay_ps: MORE - 1, ..ZERO }],
        |j| {
            of(j).body =
                phases(&[PhaseAction::Compute { ps: 1, jitter_ps: 0 }, PhaseAction::Compute { ps: 1, jitter_ps: 0 }]);
            untimed(j, 1);
        },
        |j| (of(j).start_ps, of(j).gap_ps, of(j).iterations) = (1 << 54, 1 << 54, Some((1 << 31) - 1)),
        |j| (of(j).costs.send_ps, of(j).costs.receive_ps) = (1_000_000_000, 1_000_000_000),
        |j| (of(j).costs.memory_ps, of(j).costs.control_bytes) = (1_000_000_000, 65_536),
        |j| (of(j).costs.eager_bytes, of(j).costs.copy) = (u64::MAX, Some(Bandwidth(1))),
        |j| j.nodes = vec![3; 2],
    ];
    accepted.iter().for_each(|&change| assert_eq!(with(change).check(), Ok(())));
}

#[test]
fn nodes_and_kinds_of_job() {
    refused(&[
        (|j| j.nodes = vec![2], ".nodes", "too-few-ranks (ranks = 1)"),
        (|j| j.nodes = vec![], ".nodes", "too-few-ranks (ranks = 0)"),
        (|j| j.nodes = vec![2, 2, 1], ".nodes", "node-taken (node = 1, job = `0 to 1`)"),
        (|j| j.nodes = vec![2, 4], ".nodes", "no-such-node (node = 4, nodes = 4)"),
        (|j| j.program = None, "", "traffic-or-program"),
        (|j| j.traffic = stream(2, 3, 5).traffic, "", "traffic-or-program"),
    ]);
    // Two jobs with programs do not share a node either.
    let mut spec = valid();
    spec.jobs[0] = program("first", &[0, 3, 3], FREE, phases(&[PhaseAction::Compute { ps: 1, jitter_ps: 0 }]));
    assert_eq!(spec.check(), Err(ErrorKind::NodeTaken { node: 3, job: "first".into() }.at(path!["jobs", 1, "nodes"])));
    // A run does not wait for a program without end.
    let mut spec = with(|j| of(j).iterations = None);
    assert_eq!(spec.check(), Err(ErrorKind::EndlessJob { job: "two".into() }.at(path!["stop", "jobs"])));
    spec.stop.jobs = vec![0];
    assert_eq!(spec.check(), Ok(()));
}

#[test]
fn phases_that_are_none() {
    const BODY: &str = ".program.body";
    let refused = |change: Change, at: &str, problem: &str| refused(&[(change, &format!("{BODY}.{at}"), problem)]);
    refused(|j| of(j).body = phases(&[]), "phases", "phase-count (found = 0)");
    refused(
        |j| {
            let along = Some(GridAxis { grid: vec![3], axis: 0 });
            let what = PhaseAction::Barrier { algorithm: Barrier::Binary };
            let first = Phase { along: None, what: what.clone() };
            of(j).body = Body::Phases { phases: vec![first, Phase { along, what }], untimed: 0 };
        },
        "phases[1].grid",
        "grid-of-other-size (grid = [3], points = 3, ranks = 2)",
    );
    refused(
        |j| {
            let along = Some(GridAxis { grid: vec![2], axis: 1 });
            of(j).body = Body::Phases {
                phases: vec![Phase { along, what: PhaseAction::Compute { ps: 0, jitter_ps: 0 } }],
                untimed: 0,
            };
        },
        "phases[0].axis",
        "no-such-axis (axis = 1, axes = 1)",
    );
    refused(
        |j| of(j).body = phases(&[PhaseAction::PingPong(PingPong { stride: 2, bytes: 1, rounds: 1 })]),
        "phases[0].stride",
        "no-partner (ranks = 2, stride = 2, block = 4)",
    );
    refused(
        |j| {
            let algorithm = odonata_programs::Broadcast::Flat;
            of(j).body = phases(&[PhaseAction::Broadcast { algorithm, root: 2, bytes: 1 }]);
        },
        "phases[0].root",
        "root-not-a-rank (root = 2, ranks = 2)",
    );
}

/// A trace is checked before the run: unmatched sends and receives are errors with their position.
#[test]
fn traces_that_are_none() {
    let refused = |change: Change, problem: &str| refused(&[(change, ".program.body.goal", problem)]);
    refused(
        |j| of(j).body = goal(&["recv 8b from 1", ""]),
        "line 3, column 1: unmatched (operation = `receive`, rank = 0, peer = 1, tag = 0, bytes = 8, matched = 0, other = nothing, other_tag = nothing)",
    );
    refused(
        |j| of(j).body = goal(&["", "l: send 8b to 0 tag 3"]),
        "line 6, column 1: unmatched (operation = `send`, rank = 1, peer = 0, tag = 3, bytes = 8, matched = 0, other = nothing, other_tag = nothing)",
    );
    refused(
        |j| of(j).body = goal(&["send 8b to 1", "recv 9b from 0"]),
        "line 6, column 1: unequal-sizes (rank = 1, peer = 0, tag = 0, bytes = 9, send = {line = 3}, send_bytes = 8)",
    );
    refused(|j| of(j).body = goal(&["", "", ""]), "trace-of-other-ranks (found = 3, ranks = 2)");
    refused(
        |j| of(j).body = Body::Trace { goal: "num_rank 2".into() },
        "line 1, column 1: unexpected (expected = [``num_ranks``], found = `num_rank`, known = [`num_ranks`])",
    );
}

/// Two GPUs that a link joins, changed.
fn gpus(job: &mut JobSpec, change: fn(&mut GpuSpec)) {
    let network = InnerNetwork::Mesh { links: vec![GpuLink(0, 1, Bandwidth(1))], latency_ps: 0 };
    let mut made = GpuSpec { count: 2, nics: vec![0, 0], network, rates: Vec::new() };
    change(&mut made);
    of(job).gpus = Some(made);
}

fn mesh(links: &[(u32, u32, u64)]) -> InnerNetwork {
    let links = links.iter().map(|&(a, b, bandwidth)| GpuLink(a, b, Bandwidth(bandwidth))).collect();
    InnerNetwork::Mesh { links, latency_ps: 0 }
}

#[test]
fn gpus_that_nodes_cannot_have() {
    let zero = "out-of-range (found = 0, least = 1, most = 64)";
    refused(&[
        (|j| gpus(j, |g| g.count = 0), ".program.gpus.count", zero),
        (|j| gpus(j, |g| g.count = 65), ".program.gpus.count", "out-of-range (found = 65, least = 1, most = 64)"),
        (|j| gpus(j, |g| g.count = 3), ".program.gpus.nics", "nics-of-gpus (found = 2, gpus = 3)"),
        (|j| gpus(j, |g| g.nics[1] = 1), ".program.gpus.nics[1]", "out-of-range (found = 1, least = 0, most = 0)"),
        (
            |j| gpus(j, |g| g.rates = vec![CpuRate(3, Bandwidth(1)), CpuRate(3, Bandwidth(2))]),
            ".program.gpus.rates[1][0]",
            "second-time (what = `CPU`, found = `3`, first_line = nothing)",
        ),
        (|j| gpus(j, |g| g.rates = vec![CpuRate(3, Bandwidth(0))]), ".program.gpus.rates[0][1]", "no-bandwidth"),
        (
            |j| gpus(j, |g| g.network = mesh(&[(0, 2, 1)])),
            ".program.gpus.network.links[0][1]",
            "out-of-range (found = 2, least = 0, most = 1)",
        ),
        (
            |j| gpus(j, |g| g.network = mesh(&[(1, 1, 1)])),
            ".program.gpus.network.links[0]",
            "gpu-link-again (gpus = [1, 1])",
        ),
        (
            |j| gpus(j, |g| g.network = mesh(&[(0, 1, 1), (1, 0, 1)])),
            ".program.gpus.network.links[1]",
            "gpu-link-again (gpus = [1, 0])",
        ),
        (|j| gpus(j, |g| g.network = mesh(&[(0, 1, 0)])), ".program.gpus.network.links[0][2]", "no-bandwidth"),
        (|j| gpus(j, |g| g.network = mesh(&[])), ".program.gpus.network.links", "gpus-apart (gpu = 1)"),
        (
            |j| {
                gpus(j, |g| {
                    (g.count, g.nics) = (5, vec![0; 5]);
                    g.network = mesh(&[(3, 4, 1), (0, 1, 1), (2, 3, 1)]);
                });
            },
            ".program.gpus.network.links",
            "gpus-apart (gpu = 2)",
        ),
        (
            |j| gpus(j, |g| g.network = InnerNetwork::Switch { port: Bandwidth(0), latency_ps: 0 }),
            ".program.gpus.network.port",
            "no-bandwidth",
        ),
        (
            |j| gpus(j, |g| g.network = InnerNetwork::Pcie { port: Bandwidth(1), root: Bandwidth(0), latency_ps: 0 }),
            ".program.gpus.network.root",
            "no-bandwidth",
        ),
        (
            |j| gpus(j, |g| g.network = InnerNetwork::Switch { port: Bandwidth(1), latency_ps: MORE }),
            ".program.gpus.network.latency_ps",
            "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
        ),
    ]);
    let mut spec = valid();
    gpus(&mut spec.jobs[1], |g| (g.count, g.nics) = (1, vec![0]));
    gpus(&mut spec.jobs[1], |g| g.network = mesh(&[(1, 0, 1)]));
    assert_eq!(spec.check().err(), None);
    assert_eq!(Spec::from_json(&spec.to_json()).expect("it is read"), spec);
}
