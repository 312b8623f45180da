//! Programs that cannot go on.

use super::system::{SEND, hop, phases, run, spec, trace};
use odonata_error::{Error, ErrorKind};

/// Each receives before it sends.
const EMBRACE: [&str; 2] = [
    "r: recv 8b from 1 tag 2; s: send 8b to 1 tag 1; s requires r",
    "r: recv 8b from 0 tag 1; s: send 8b to 0 tag 2; s requires r",
];

fn deadlocked(result: Result<odonata_sim::Output, Error>) -> Option<(String, u64)> {
    match result.map_err(|error| error.kind) {
        Err(ErrorKind::DeadlockedProgram { job, ranks, .. }) => Some((job, ranks)),
        Ok(_) => None,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn ranks_that_wait_for_each_other_are_deadlocked() {
    for nodes in [[0, 1], [2, 2]] {
        assert_eq!(deadlocked(run(&spec(&[trace(&nodes, &EMBRACE)]))), Some(("job-0".into(), 2)));
    }
    // Rank 2 has finished.
    let three = [EMBRACE[0], EMBRACE[1], "c: calc 5"];
    assert_eq!(deadlocked(run(&spec(&[trace(&[0, 1, 2], &three)]))), Some(("job-0".into(), 2)));
}

/// It is deadlocked from the instant on at which the last thing has happened, whatever other jobs do and whether the
/// run waits for it.
#[test]
fn a_deadlocked_program_ends_the_run() {
    let mut other = phases(&[2, 3], &[r#"{"name":"compute","ps":400000,"jitter_ps":0}"#]);
    other.iterations = None;
    // The last to happen: an eager message arrives that nobody takes yet, for the receive waits in vain.
    let lines = [
        "r: recv 8b from 1 tag 2; s: send 8b to 1 tag 1; s requires r; x: send 20b to 1 tag 3",
        "r: recv 8b from 0 tag 1; s: send 8b to 0 tag 2; s requires r; x: recv 20b from 0 tag 3; x requires s",
    ];
    let died = SEND + 20 + hop(20);
    for (at, expected) in
        [(died - 1, None), (died, Some(("job-0".to_owned(), 2))), (died * 9, Some(("job-0".into(), 2)))]
    {
        let jobs = [trace(&[0, 1], &lines)];
        let mut alone = spec(&jobs);
        alone.stop.at_ps = Some(at);
        assert_eq!(deadlocked(run(&alone)), expected, "at {at}");
        let mut beside = spec(&[jobs.into_iter().next().expect("a job"), super::system::Job { ..phases_of(&other) }]);
        beside.stop.at_ps = Some(at);
        assert_eq!(deadlocked(run(&beside)), expected, "at {at}");
    }
}

fn phases_of(job: &super::system::Job) -> super::system::Job {
    super::system::Job { nodes: job.nodes.clone(), body: job.body.clone(), ..*job }
}

/// A rank that does nothing in no time, for ever.
#[test]
fn endless_iterations_must_take_time() {
    for (gap, start) in [(0, 0), (7, 100)] {
        let mut idle = trace(&[0, 1], &["", "c: calc 1"]);
        (idle.iterations, idle.gap, idle.start) = (None, gap, start);
        let mut spec = spec(&[idle]);
        spec.stop.at_ps = Some(50);
        match run(&spec) {
            Err(error) if error.kind == (ErrorKind::EndlessIterations {}) => {
                assert_eq!((error.path.to_string().as_str(), start), ("jobs[0].program.iterations", 0));
            }
            Ok(_) => assert_eq!(start, 100, "it has not begun"),
            Err(other) => panic!("{other}"),
        }
    }
    // With an end it may take none.
    let mut idle = trace(&[0, 1], &["", ""]);
    idle.iterations = Some(1000);
    let output = run(&spec(&[idle])).expect("it runs");
    assert_eq!(output.ranks.finish_ps, [0, 0]);
    assert_eq!(output.iterations.ranks, [2; 1000]);
}
