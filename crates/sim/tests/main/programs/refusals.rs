//! Everything that a program is refused for: where, and with which words. Catches a check that went missing, one that is off by one,
//! and a path that names another value.

use odonata_programs::{Along, Barrier, PingPong};
use odonata_sim::spec::{Body, JobSpec, Phase, Spec, What};
use odonata_sim::{SimError, run};
use odonata_topology::Bandwidth;

use super::support::{FREE, goal, of, phases, program, star};
use crate::support::stream;

/// Job 0 sends; job 1 runs a program on two ranks.
fn valid() -> Spec {
    let barrier = What::Barrier { algorithm: Barrier::Dissemination };
    star(4, vec![stream(0, 1, 100), program("two", &[2, 3], FREE, phases(&[barrier]))])
}

type Change = fn(&mut JobSpec);

fn with(change: Change) -> Spec {
    let mut spec = valid();
    change(&mut spec.jobs[1]);
    spec
}

fn refused(cases: &[(Change, &str, &str)]) {
    for &(change, at, problem) in cases {
        let expected = SimError::invalid(format!("jobs[1]{at}"), problem);
        assert_eq!(with(change).check(), Err(expected.clone()));
        assert_eq!(odonata_sim::check(&with(change)), Err(expected.clone()));
        assert_eq!(run(&with(change), &mut ()).err(), Some(expected));
    }
}

#[test]
fn times_and_numbers() {
    let time = "18014398509481985 ps is not between 0 and 18014398509481984 ps";
    let delay = "1000000001 ps is not between 0 and 1000000000 ps";
    refused(&[
        (|j| of(j).start_ps = (1 << 54) + 1, ".program.start_ps", time),
        (|j| of(j).gap_ps = (1 << 54) + 1, ".program.gap_ps", time),
        (|j| of(j).every_ps = (1 << 54) + 1, ".program.every_ps", time),
        (|j| of(j).iterations = Some(0), ".program.iterations", "0 is not between 1 and 2^31 - 1"),
        (|j| of(j).iterations = Some(1 << 31), ".program.iterations", "2147483648 is not between 1 and 2^31 - 1"),
        (|j| of(j).costs.send_ps = 1_000_000_001, ".program.costs.send_ps", delay),
        (|j| of(j).costs.receive_ps = 1_000_000_001, ".program.costs.receive_ps", delay),
        (|j| of(j).costs.memory_ps = 1_000_000_001, ".program.costs.memory_ps", delay),
        (|j| of(j).costs.control_bytes = 0, ".program.costs.control_bytes", "0 is not between 1 and 65536 bytes"),
        (
            |j| of(j).costs.control_bytes = 65_537,
            ".program.costs.control_bytes",
            "65537 is not between 1 and 65536 bytes",
        ),
        (
            |j| of(j).costs.copy = Some(Bandwidth(0)),
            ".program.costs.copy",
            "a copy at no bandwidth never ends; leave `copy` out if copying takes no time",
        ),
    ]);
    let accepted: &[Change] = &[
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
        (|j| j.nodes = vec![2], ".nodes", "1 ranks have nobody to send to"),
        (|j| j.nodes = vec![], ".nodes", "0 ranks have nobody to send to"),
        (|j| j.nodes = vec![2, 2, 1], ".nodes", "node 1 belongs to job `0 to 1` already"),
        (|j| j.nodes = vec![2, 4], ".nodes", "node 4 does not exist: the machine has 4 nodes"),
        (|j| j.program = None, "", "a job has either `traffic` or a `program`"),
        (|j| j.traffic = stream(2, 3, 5).traffic, "", "a job has either `traffic` or a `program`"),
    ]);
    // Two jobs with programs do not share a node either.
    let mut spec = valid();
    spec.jobs[0] = program("first", &[0, 3, 3], FREE, phases(&[What::Compute { ps: 1, jitter_ps: 0 }]));
    assert_eq!(spec.check(), Err(SimError::invalid("jobs[1].nodes", "node 3 belongs to job `first` already")));
    // A run does not wait for a program without end.
    let mut spec = with(|j| of(j).iterations = None);
    let problem = "job `two` never ends, so the run would not either";
    assert_eq!(spec.check(), Err(SimError::invalid("stop.jobs", problem)));
    spec.stop.jobs = vec![0];
    assert_eq!(spec.check(), Ok(()));
}

#[test]
fn phases_that_are_none() {
    const BODY: &str = ".program.body";
    let refused = |change: Change, at: &str, problem: &str| refused(&[(change, &format!("{BODY}.{at}"), problem)]);
    refused(|j| of(j).body = phases(&[]), "phases", "0 phases are none, or too many");
    refused(
        |j| {
            let along = Some(Along { grid: vec![3], axis: 0 });
            let what = What::Barrier { algorithm: Barrier::Binary };
            let first = Phase { along: None, what: what.clone() };
            of(j).body = Body::Phases { phases: vec![first, Phase { along, what }] };
        },
        "phases[1].grid",
        "a grid of [3] does not have as many points as there are ranks (2)",
    );
    refused(
        |j| {
            let along = Some(Along { grid: vec![2], axis: 1 });
            of(j).body = Body::Phases { phases: vec![Phase { along, what: What::Compute { ps: 0, jitter_ps: 0 } }] };
        },
        "phases[0].axis",
        "1 is no axis of a grid of 1 extents",
    );
    refused(
        |j| of(j).body = phases(&[What::PingPong(PingPong { stride: 2, bytes: 1, rounds: 1 })]),
        "phases[0].stride",
        "2 ranks are not whole blocks of 2 x 2 = 4: some have no partner",
    );
    refused(
        |j| {
            let algorithm = odonata_programs::Broadcast::Flat;
            of(j).body = phases(&[What::Broadcast { algorithm, root: 2, bytes: 1 }]);
        },
        "phases[0].root",
        "2 is none of 2 ranks, which are numbered from 0",
    );
}

/// A trace is read before the run: what nobody sends or receives is found there, with its place.
#[test]
fn traces_that_are_none() {
    let refused = |change: Change, problem: &str| refused(&[(change, ".program.body.goal", problem)]);
    refused(
        |j| of(j).body = goal(&["recv 8b from 1", ""]),
        "line 3, column 1: rank 0 receives 8 bytes from rank 1 with tag 0, but nobody sends that",
    );
    refused(
        |j| of(j).body = goal(&["", "l: send 8b to 0 tag 3"]),
        "line 6, column 1: rank 1 sends 8 bytes to rank 0 with tag 3, but nobody receives that",
    );
    refused(
        |j| of(j).body = goal(&["send 8b to 1", "recv 9b from 0"]),
        "line 6, column 1: rank 1 receives 9 bytes from rank 0 with tag 0, but line 3 sends 8 bytes",
    );
    refused(|j| of(j).body = goal(&["", "", ""]), "a trace of 3 ranks for a job of 2");
    refused(
        |j| of(j).body = Body::Trace { goal: "num_rank 2".into() },
        "line 1, column 1: expected `num_ranks`, found `num_rank`; did you mean `num_ranks`?",
    );
}
