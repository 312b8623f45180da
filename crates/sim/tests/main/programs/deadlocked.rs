//! Deadlocked programs: they are detected, and the error says what ranks wait for.

use odonata_error::{Awaited, Error, ErrorKind, path};
use odonata_programs::PhaseAction;
use odonata_sim::spec::{Costs, JobSpec, Pattern, Spec, TopologySpec};
use odonata_sim::{Monitor, Progress, QueueChoice, run_with};

use super::support::{FREE, finishes_of, goal, of, phases, program, star};
use crate::support::{job, machine, output};

const ASKING: Costs = Costs { eager_bytes: 0, send_ps: 1_000, control_bytes: 8, ..FREE };

/// The error of a run, which must be the same with both queues.
fn error(spec: &Spec) -> Error {
    let run = |queue| run_with(spec, &mut (), queue).expect_err("the program is dead");
    let ordered = run(QueueChoice::Ordered);
    assert_eq!(run(QueueChoice::Wheel), ordered);
    ordered
}

/// Two ranks that both send first, with rendezvous: each waits for a receive that the other posts later.
fn both_ask_first() -> JobSpec {
    let rank = |other| format!("s: send 100b to {other} tag 5\nr: recv 100b from {other} tag 5\nr requires s");
    program("embrace", &[0, 1], ASKING, goal(&[&rank(1), &rank(0)]))
}

/// Two ranks that both receive first.
fn both_wait_first() -> JobSpec {
    let rank = |other| format!("r: recv 100b from {other}\ns: send 100b to {other}\ns requires r");
    program("shy", &[0, 1], FREE, goal(&[&rank(1), &rank(0)]))
}

fn deadlocked(job: &str, ranks: u64, first: Vec<Awaited>) -> Error {
    ErrorKind::DeadlockedProgram { job: job.into(), ranks, first }.into()
}

/// A rank of a trace of one iteration that waits for a message with a tag.
fn awaits(rank: u32, operation: &'static str, bytes: u64, peer: u32, tag: u64, line: u32) -> Awaited {
    let (phase, step, iteration) = (None, None, None);
    Awaited { rank, operation, bytes, peer, phase, step, tag: Some(tag), line: Some(line), iteration }
}

/// The number of deadlocked ranks, and what the first few wait for.
fn awaited(error: Error) -> (u64, Vec<Awaited>) {
    match error.kind {
        ErrorKind::DeadlockedProgram { ranks, first, .. } => (ranks, first),
        other => panic!("{other:?}"),
    }
}

/// Catches a run that ends without an error, and an error without a position.
#[test]
fn sends_that_wait_for_each_other() {
    // num_ranks, then each rank's own lines.
    let first = vec![awaits(0, "send", 100, 1, 5, 3), awaits(1, "send", 100, 0, 5, 8)];
    assert_eq!(error(&star(2, vec![both_ask_first()])), deadlocked("embrace", 2, first));
    let mut eager = both_ask_first();
    of(&mut eager).costs.eager_bytes = 100;
    assert_eq!(output(&star(2, vec![eager])).jobs[0].delivered, 2, "eager messages are not waited for");
}

#[test]
fn receives_that_wait_for_each_other() {
    let first = vec![awaits(0, "receive", 100, 1, 0, 3), awaits(1, "receive", 100, 0, 0, 8)];
    assert_eq!(error(&star(2, vec![both_wait_first()])), deadlocked("shy", 2, first));
}

/// Catches iterations that are not named, finished ranks that are said to wait, and a list without end.
#[test]
fn some_ranks_in_some_iteration() {
    // All but the last two ranks wait in a ring for the one before; those two have finished both iterations.
    let n = 12;
    let ring = |rank: u32| {
        let (before, after) = ((rank + n - 3) % (n - 2), (rank + 1) % (n - 2));
        format!("r: recv 7b from {before} tag 9\ns: send 7b to {after} tag 9\ns requires r")
    };
    let lines: Vec<String> = (0..n).map(|rank| if rank < n - 2 { ring(rank) } else { "calc 5".into() }).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut job = program("ring", &(0..n).collect::<Vec<_>>(), FREE, goal(&lines));
    of(&mut job).iterations = Some(2);
    let (ranks, first) = awaited(error(&star(n, vec![job])));
    assert_eq!((ranks, first.len()), (10, 8));
    let iteration = Some(0);
    assert_eq!(first[0], Awaited { iteration, ..awaits(0, "receive", 7, 9, 9, 3) });
    assert_eq!(first[7], Awaited { iteration, ..awaits(7, "receive", 7, 6, 9, 38) });
}

/// Ranks that several threads simulate. Catches a deadlock that no thread sees alone, and one that is seen while a message
/// goes from one thread to another.
#[test]
fn ranks_in_several_partitions() {
    let ring =
        |rank: u32| format!("r: recv 7b from {}\ns: send 7b to {}\ns requires r", (rank + 3) % 4, (rank + 1) % 4);
    let ring: Vec<String> = (0..4).map(ring).collect();
    let ring: Vec<&str> = ring.iter().map(String::as_str).collect();
    let ring = program("ring", &[0, 1, 2, 3], FREE, goal(&ring));
    // A message, and then a cycle.
    let first = "send 100b to 1 tag 8\nr: recv 1b from 1\ns: send 1b to 1\ns requires r";
    let second = "recv 100b from 0 tag 8\nr: recv 1b from 0\ns: send 1b to 0\ns requires r";
    let later = program("later", &[0, 1], FREE, goal(&[first, second]));
    let fine =
        program("fine", &[2, 3], FREE, goal(&["s: send 5b to 1\nrecv 5b from 1", "send 5b to 0\nrecv 5b from 0"]));
    for jobs in [vec![both_ask_first(), fine.clone()], vec![fine, both_wait_first()], vec![ring], vec![later]] {
        let expected = error(&star(4, jobs.clone()));
        let mut spec = star(4, jobs);
        spec.topology = TopologySpec::DragonflyPlus(machine([1, 4, 1, 1, 0], None));
        for threads in [1, 2, 4, 5] {
            let found = run_with(&spec, &mut (), QueueChoice::Partitions(threads)).expect_err("the program is dead");
            assert_eq!(found, expected, "{threads} threads");
        }
    }
}

/// A rank that waits for several messages is named once. Catches a list that names only one rank.
#[test]
fn a_rank_is_named_once() {
    let first = "a: recv 1b from 2\nb: recv 1b from 1\nc: send 1b to 1\nc requires b\nd: send 1b to 2\nd requires a";
    let other = "r: recv 1b from 0\ns: send 1b to 0\ns requires r";
    let job = program("three", &[0, 1, 2], FREE, goal(&[first, other, other]));
    let first =
        vec![awaits(0, "receive", 1, 1, 0, 4), awaits(1, "receive", 1, 0, 0, 11), awaits(2, "receive", 1, 0, 0, 16)];
    assert_eq!(awaited(error(&star(3, vec![job]))), (3, first));
}

/// A rank that waits for one that waits for a cycle is deadlocked too; one that has its message is not.
#[test]
fn who_waits_for_deadlocked_ranks_is_deadlocked() {
    let ranks = [
        "a: recv 1b from 1 tag 1\nb: send 1b to 1 tag 2\nb requires a",
        "c: recv 1b from 0 tag 2\nd: send 1b to 0 tag 1\nd requires c\ne: send 1b to 3 tag 3",
        "recv 1b from 1 tag 4",
        "recv 1b from 1 tag 3",
    ];
    let second = format!("{}\nf: send 1b to 2 tag 4\nf requires c", ranks[1]);
    let job = program("four", &[0, 1, 2, 3], FREE, goal(&[ranks[0], &second, ranks[2], ranks[3]]));
    let (ranks, first) = awaited(error(&star(4, vec![job])));
    assert_eq!((ranks, first.len()), (3, 3));
    assert_eq!((first[2].rank, first[2].peer, first[2].tag), (2, 1, Some(4)));
}

/// Stops a run that should have ended long ago.
struct Patience(u32);

impl Monitor for Patience {
    fn progress(&mut self, _: &Progress) -> Result<(), Error> {
        self.0 -= 1;
        if self.0 == 0 { Err(ErrorKind::Interrupted {}.into()) } else { Ok(()) }
    }
}

/// A run in which another job has no end must still end. Catches a deadlock that is detected only when no events are
/// left.
#[test]
fn a_deadlocked_program_is_noticed_beside_a_job_without_end() {
    let mut traffic = job("noise", vec![2, 3], Pattern::Tornado { offset: 1 }, 100, 50_000, 1);
    traffic.traffic_mut().intervals = None;
    let mut busy = program("busy", &[2, 3], FREE, phases(&[PhaseAction::Compute { ps: 100_000, jitter_ps: 0 }]));
    of(&mut busy).iterations = None;
    for other in [traffic, busy] {
        for deadlocked in [both_ask_first(), both_wait_first()] {
            let mut spec = star(4, vec![other.clone(), deadlocked]);
            for (jobs, at) in [(vec![1], None), (vec![], Some(1 << 60))] {
                (spec.stop.jobs, spec.stop.at_ps) = (jobs, at);
                for queue in [QueueChoice::Ordered, QueueChoice::Wheel] {
                    let error = run_with(&spec, &mut Patience(50), queue).err();
                    assert!(
                        matches!(&error, Some(Error { kind: ErrorKind::DeadlockedProgram { .. }, .. })),
                        "{queue:?}: {error:?}"
                    );
                }
            }
        }
    }
}

/// A run that ends earlier is not deadlocked, neither at a time nor with another job. Catches detection by the state of
/// the ranks alone.
#[test]
fn a_run_that_ends_before_the_deadlock_ends_well() {
    let costs = Costs { send_ps: 1_000, ..FREE };
    // A message and then a cycle: deadlocked when the message has come.
    let first = "send 100b to 1 tag 8\nr: recv 1b from 1\ns: send 1b to 1\ns requires r";
    let second = "recv 100b from 0 tag 8\nr: recv 1b from 0\ns: send 1b to 0\ns requires r";
    let arrival = 1_000 + super::support::alone(100, crate::support::PACKET);
    let mut spec = star(4, vec![program("later", &[0, 1], costs, goal(&[first, second]))]);
    spec.stop.jobs.clear();
    for (at, ends) in [(1, true), (arrival - 1, true), (arrival, false), (arrival + 1, false)] {
        spec.stop.at_ps = Some(at);
        for queue in [QueueChoice::Ordered, QueueChoice::Wheel] {
            assert_eq!(run_with(&spec, &mut (), queue).is_ok(), ends, "at {at}, {queue:?}");
        }
    }
    // The other job finishes, and the run ends 1 us later: before the arrival, unless it is later.
    let slow = program("short", &[2, 3], FREE, goal(&["calc 1ps", ""]));
    spec.jobs.push(slow);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![1], None);
    of(&mut spec.jobs[0]).start_ps = 1_000_001 - arrival + 1;
    assert_eq!(output(&spec).end_ps, 1_000_001);
    of(&mut spec.jobs[0]).start_ps -= 1;
    assert!(matches!(error(&spec).kind, ErrorKind::DeadlockedProgram { .. }));
}

/// Catches an endless loop at one instant.
#[test]
fn iterations_without_end_that_take_no_time() {
    let nothing = PhaseAction::Compute { ps: 0, jitter_ps: 0 };
    let intra_node = Costs { memory_ps: 0, ..FREE };
    let bodies = [
        (vec![0, 1], phases(&[nothing])),
        (vec![0, 1], goal(&["calc 5", ""])),
        (vec![0, 1], goal(&["", "calc 0\ncalc 0 cpu 3"])),
        (vec![0, 0], goal(&["send 5b to 1", "recv 5b from 0"])),
    ];
    for (nodes, body) in bodies {
        for gap in [0, 1_000] {
            let mut idle = program("idle", &nodes, intra_node, body.clone());
            (of(&mut idle).iterations, of(&mut idle).gap_ps) = (None, gap);
            let mut spec = star(2, vec![idle]);
            (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(1_000_000));
            let expected = ErrorKind::EndlessIterations {}.at(path!["jobs", 0, "program", "iterations"]);
            assert_eq!(error(&spec), expected);
            of(&mut spec.jobs[0]).iterations = Some(5);
            output(&spec);
        }
    }
}

/// Catches time that wraps around.
#[test]
fn time_that_runs_out() {
    let half = 1_u64 << 62;
    let twice = |ps: u64| format!("calc {ps}ps\ncalc {ps}ps");
    for lines in [format!("calc {}ps", u64::MAX), format!("calc {}ps", 2 * half), twice(half), twice(u64::MAX)] {
        assert_eq!(
            error(&star(2, vec![program("ages", &[0, 1], FREE, goal(&[&lines, ""]))])),
            ErrorKind::TimeOverflow {}.into()
        );
    }
    let finishes = finishes_of(&star(2, vec![program("ages", &[0, 1], FREE, goal(&[&twice(half - 1), ""]))]));
    assert_eq!(finishes, [2 * half - 2, 0]);
    for what in [
        PhaseAction::Compute { ps: u64::MAX, jitter_ps: 0 },
        PhaseAction::Compute { ps: u64::MAX, jitter_ps: u64::MAX },
    ] {
        assert_eq!(
            error(&star(2, vec![program("ages", &[0, 1], FREE, phases(&[what]))])),
            ErrorKind::TimeOverflow {}.into()
        );
    }
    let mut gap = program("gap", &[0, 1], FREE, goal(&["calc 1", ""]));
    (of(&mut gap).gap_ps, of(&mut gap).iterations) = (1 << 54, Some(600));
    assert_eq!(error(&star(2, vec![gap])), ErrorKind::TimeOverflow {}.into());
    // Copying at a byte a second takes 12 days for a megabyte.
    let mut copy = program("copy", &[0, 1], FREE, goal(&["send 99999999b to 1", "recv 99999999b from 0"]));
    of(&mut copy).costs.copy = Some(odonata_topology::Bandwidth(1_000_000));
    assert_eq!(error(&star(2, vec![copy])), ErrorKind::TimeOverflow {}.into());
}

/// The tasks of many CPUs, each shorter than the longest time, may exceed it in sum. Catches a sum that wraps around.
#[test]
fn work_beyond_all_bounds() {
    let ps = (1_u64 << 63) - 1;
    let lines: Vec<String> = (0..3).map(|cpu| format!("calc {ps}ps cpu {cpu}")).collect();
    let mut spec = star(2, vec![program("many", &[0, 1], FREE, goal(&[&lines.join("\n"), ""]))]);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![0], None);
    assert_eq!(output(&spec).ranks.work_ps, [u64::MAX, 0]);
}
