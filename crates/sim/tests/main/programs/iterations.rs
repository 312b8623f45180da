//! Iterations: starts, gaps, recorded times, and random computing. Worked out by hand.

use odonata_programs::{Barrier, GridAxis, Incast, PhaseAction, PingPong};
use odonata_sim::engine::random::{Stream, exponential, random};
use odonata_sim::output::NOT_FINISHED;
use odonata_sim::spec::{Body, BurstSpec, Costs, Length, Phase};

use super::support::{FREE, alone, finishes, finishes_of, goal, of, phases, program, star, with_both_queues};
use crate::support::{MINIMAL, PACKET, machine, output, spec};

const START: u64 = 1_000_000;
const GAP: u64 = 70_000;

fn barrier() -> PhaseAction {
    PhaseAction::Barrier { algorithm: Barrier::Dissemination }
}

fn compute(ps: u64) -> PhaseAction {
    PhaseAction::Compute { ps, jitter_ps: 0 }
}

/// Catches a gap before the first iteration or after the last, a gap that counts as part of an iteration, and one
/// without CPU time.
#[test]
fn gaps_lie_between_iterations() {
    let traces = goal(&["calc 500", "calc 500"]);
    for body in [phases(&[compute(500_000)]), traces] {
        let mut job = program("loop", &[0, 1], FREE, body);
        (of(&mut job).start_ps, of(&mut job).iterations, of(&mut job).gap_ps) = (START, Some(3), GAP);
        let output = output(&star(2, vec![job]));
        let begins = [0, 1, 2].map(|k| START + k * (500_000 + GAP));
        assert_eq!(finishes(&output, 0), [begins[2] + 500_000; 2]);
        assert_eq!(output.ranks.work_ps, [3 * 500_000 + 2 * GAP; 2]);
        let rows = &output.iterations;
        assert_eq!((&rows.job[..], &rows.iteration[..], &rows.ranks[..]), (&[0; 3][..], &[0, 1, 2][..], &[2; 3][..]));
        assert_eq!((&rows.first_begin_ps[..], &rows.last_begin_ps[..]), (&begins[..], &begins[..]));
        assert_eq!((&rows.first_end_ps[..], &rows.last_end_ps[..]), (&rows.last_end_ps[..], &rows.first_end_ps[..]));
        assert_eq!(rows.last_end_ps, begins.map(|begin| begin + 500_000));
        assert_eq!((&rows.longest_ps[..], &rows.total_ps[..]), (&[500_000; 3][..], &[1_000_000; 3][..]));
    }
}

/// Ranks that take 100 and 300 ns begin iteration k together at `start + k * every`, or later if they are late. Catches
/// a period counted from the end of the iteration before, one without the start, and one that cuts a long iteration
/// short.
#[test]
fn a_period_brings_ranks_into_step() {
    let mut job = program("step", &[0, 1], FREE, goal(&["calc 100", "calc 300"]));
    (of(&mut job).start_ps, of(&mut job).iterations) = (START, Some(4));
    for (every, gap) in [(400_000, 0), (400_000, GAP), (250_000, 0)] {
        (of(&mut job).every_ps, of(&mut job).gap_ps) = (every, gap);
        let rows = output(&star(2, vec![job.clone()])).iterations;
        let quick = [0, 1, 2, 3].map(|k| START + k * every);
        let slow = [0, 1, 2, 3].map(|k| START + k * every.max(300_000 + gap));
        assert_eq!((&rows.first_begin_ps[..], &rows.last_begin_ps[..]), (&quick[..], &slow[..]), "every {every}");
        assert_eq!(rows.longest_ps, [300_000; 4]);
    }
}

/// Catches a time that begins with the iteration, one that keeps its begin in the next iteration, and a first phase that
/// has no time at all.
#[test]
fn a_time_leaves_out_the_first_phases() {
    let mut job = program("timed", &[0, 1], FREE, phases(&[compute(500_000), compute(40), compute(260)]));
    (of(&mut job).start_ps, of(&mut job).iterations, of(&mut job).gap_ps) = (START, Some(3), GAP);
    for (untimed, left_out) in [(0, 0), (1, 500_000), (2, 500_040)] {
        let Body::Phases { untimed: of_body, .. } = &mut of(&mut job).body else { unreachable!() };
        *of_body = untimed;
        let output = output(&star(2, vec![job.clone()]));
        let rows = &output.iterations;
        let begins = [0, 1, 2].map(|k| START + k * (500_300 + GAP) + left_out);
        assert_eq!((&rows.first_begin_ps[..], &rows.last_begin_ps[..]), (&begins[..], &begins[..]), "{untimed}");
        assert_eq!(rows.longest_ps, [500_300 - left_out; 3]);
        assert_eq!(rows.total_ps, [2 * (500_300 - left_out); 3]);
        assert_eq!(output.ranks.work_ps, [3 * 500_300 + 2 * GAP; 2], "all phases are work");
    }
}

/// Rank 0 runs ahead, since it only sends. Catches a barrier that is left out of the run, and one that counts.
#[test]
fn an_untimed_barrier_brings_ranks_together() {
    let incast = PhaseAction::Incast(Incast { root: 1, bytes: 10 });
    let mut job = program("incast", &[0, 1], FREE, phases(&[barrier(), incast]));
    let Body::Phases { untimed, .. } = &mut of(&mut job).body else { unreachable!() };
    *untimed = 1;
    of(&mut job).iterations = Some(3);
    let (meet, message) = (alone(1, PACKET), alone(10, PACKET));
    // In the second barrier rank 0 waits for rank 1, which has received the message.
    let begins = [0, 1, 2].map(|k| meet + k * (meet + message));
    let rows = output(&star(2, vec![job.clone()])).iterations;
    assert_eq!(rows.last_begin_ps, begins);
    assert_eq!(rows.last_end_ps, begins.map(|begin| begin + message));
    // Rank 1 leaves it as soon as the signal has come that rank 0 sent right after the message.
    assert!([1, 2].iter().all(|&k| rows.last_end_ps[k - 1] < rows.first_begin_ps[k]));
    assert!([1, 2].iter().all(|&k| rows.first_begin_ps[k] < rows.last_end_ps[k - 1] + alone(1, PACKET)));
    let longest = [0, 1, 2].map(|k| rows.last_end_ps[k] - rows.first_begin_ps[k]);
    assert_eq!((&rows.longest_ps[..], &rows.total_ps[..]), (&longest[..], &longest[..]), "to send takes no time");
    // The timed part of rank 0 takes no time, but its iterations do.
    of(&mut job).iterations = None;
    let mut spec = star(2, vec![job]);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(begins[2]));
    assert_eq!(output(&spec).iterations.ranks[..2], [2, 2]);
}

/// The time of a rank without operations in the phases that count. Catches a begin that is never set.
#[test]
fn a_time_may_be_empty() {
    let alone_in = Phase { along: Some(GridAxis { grid: vec![2, 1], axis: 1 }), what: barrier() };
    let first = Phase { along: None, what: compute(700) };
    let mut job = program("empty", &[0, 1], FREE, Body::Phases { phases: vec![first, alone_in], untimed: 1 });
    of(&mut job).iterations = Some(2);
    let rows = output(&star(2, vec![job])).iterations;
    assert_eq!((&rows.first_begin_ps[..], &rows.last_end_ps[..]), (&[700, 1_400][..], &[700, 1_400][..]));
    assert_eq!(rows.longest_ps, [0; 2]);
}

fn bursts(on: u64, off: u64) -> Option<BurstSpec> {
    Some(BurstSpec { on: Length::Fixed { ps: on }, off: Length::Fixed { ps: off } })
}

/// Iterations of 100 ns and pauses of 1 us. Catches a pause a picosecond too soon or too late, one in the middle of an
/// iteration, one before the first iteration or counted from time 0, and a clock that does not start again.
#[test]
fn pauses_begin_when_ranks_have_worked_for_so_long() {
    const OFF: u64 = 1_000_000;
    let begins = |on: u64, gap: u64, every: u64, iterations: u64| {
        let mut job = program("bursts", &[0, 1], FREE, phases(&[compute(100_000)]));
        let of = of(&mut job);
        (of.start_ps, of.iterations, of.gap_ps, of.every_ps) = (START, Some(iterations), gap, every);
        job.bursts = bursts(on, OFF);
        let rows = output(&star(2, vec![job])).iterations;
        assert_eq!(rows.longest_ps, vec![100_000; iterations as usize], "a pause is no part of an iteration");
        assert_eq!(rows.first_begin_ps, rows.last_begin_ps);
        rows.first_begin_ps.iter().map(|begin| begin - START).collect::<Vec<_>>()
    };
    let three = [0, 100_000, 200_000, 1_300_000, 1_400_000, 1_500_000, 2_600_000];
    assert_eq!(begins(200_001, 0, 0, 7), three);
    assert_eq!(begins(300_000, 0, 0, 7), three);
    assert_eq!(begins(300_001, 0, 0, 6), [0, 100_000, 200_000, 300_000, 1_400_000, 1_500_000]);
    assert_eq!(begins(1, 0, 0, 3), [0, 1_100_000, 2_200_000]);
    // The gap counts as work. With a period, a rank that waits for it works too, and one that is late waits no more.
    assert_eq!(begins(200_000, GAP, 0, 4), [0, 170_000, 1_340_000, 1_510_000]);
    assert_eq!(begins(700_000, 0, 400_000, 5), [0, 400_000, 1_800_000, 1_900_000, 2_000_000]);
    assert_eq!(begins(800_000, 0, 400_000, 4), [0, 400_000, 1_800_000, 1_900_000]);
    assert_eq!(begins(800_001, 0, 400_000, 4), [0, 400_000, 800_000, 2_200_000]);
}

/// Ranks that take 100 and 300 ns. Catches a pause of all ranks at once.
#[test]
fn each_rank_pauses_by_its_own_clock() {
    let mut job = program("apart", &[0, 1], FREE, goal(&["calc 100", "calc 300"]));
    (of(&mut job).iterations, job.bursts) = (Some(3), bursts(200_000, 50_000));
    let rows = output(&star(2, vec![job])).iterations;
    assert_eq!(rows.first_begin_ps, [0, 100_000, 250_000]);
    assert_eq!(rows.last_begin_ps, [0, 350_000, 700_000]);
}

/// The gap of a trace is on CPU 0, and the next iteration waits for it on all CPUs. Catches a gap that only CPU 0 sees.
#[test]
fn a_gap_keeps_all_cpus_waiting() {
    let mut job = program("loop", &[0, 1], FREE, goal(&["calc 100 cpu 1", ""]));
    (of(&mut job).iterations, of(&mut job).gap_ps) = (Some(2), GAP);
    assert_eq!(finishes_of(&star(2, vec![job])), [100_000 + GAP + 100_000, GAP]);
}

/// Ranks that take different times, one of which is not finished at the end of the run. Catches minima confused with
/// maxima, a rank counted in an iteration that it has not ended, and CPU time that counts before the task is done.
#[test]
fn iterations_of_ranks_apart() {
    let mut job = program("apart", &[0, 1], FREE, goal(&["calc 100", "calc 300"]));
    of(&mut job).iterations = Some(4);
    let mut spec = star(2, vec![job]);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(700_000));
    let output = output(&spec);
    assert_eq!(output.end_ps, 700_000);
    assert_eq!(output.ranks.finish_ps, [400_000, NOT_FINISHED]);
    assert_eq!(output.ranks.work_ps, [400_000, 600_000], "the third computation of rank 1 is not done");
    let rows = &output.iterations;
    assert_eq!((&rows.iteration[..], &rows.ranks[..]), (&[0, 1, 2, 3][..], &[2, 2, 1, 1][..]));
    assert_eq!(rows.first_begin_ps, [0, 100_000, 200_000, 300_000]);
    assert_eq!(rows.last_begin_ps, [0, 300_000, 200_000, 300_000]);
    assert_eq!(rows.first_end_ps, [100_000, 200_000, 300_000, 400_000]);
    assert_eq!(rows.last_end_ps, [300_000, 600_000, 300_000, 400_000]);
    assert_eq!(rows.longest_ps, [300_000, 300_000, 100_000, 100_000]);
    assert_eq!(rows.total_ps, [400_000, 400_000, 100_000, 100_000]);
}

/// A rank that is ahead sends for an iteration that the other has not begun: such messages must wait for it. Catches
/// messages of two iterations that are confused.
#[test]
fn messages_belong_to_their_iteration() {
    // Rank 1 is slow in each iteration before it receives; rank 0 just sends.
    let mut job =
        program("ahead", &[0, 1], FREE, goal(&["send 10b to 1", "a: calc 900\nb: recv 10b from 0\nb requires a"]));
    of(&mut job).iterations = Some(3);
    let output = output(&star(2, vec![job]));
    assert_eq!(finishes(&output, 0), [0, 2_700_000]);
    assert_eq!(output.messages.interval, [0, 1, 2]);
    assert_eq!(output.messages.issue_ps, [0; 3]);
}

/// An iteration ends when all non-blocking operations are complete, as if there were a wait. Catches one that ends with
/// the last operation.
#[test]
fn iterations_end_with_their_last_message() {
    let mut job = program("pairs", &[0, 1], FREE, goal(&["send 10b to 1", "recv 10b from 0\ncalc 1"]));
    of(&mut job).iterations = Some(2);
    let finish = finishes_of(&star(2, vec![job]))[1];
    // Both messages are handed over at 0; the second leaves the NIC as soon as the first has left it.
    assert_eq!(finish, alone(10, PACKET) + 1_000.max(super::support::leaves_after(10, PACKET)));
}

/// The time of a compute operation is drawn by job, rank and number of the operation, counted through all iterations.
/// Catches draws that depend on anything else, or start again with each iteration.
#[test]
fn random_computing_is_drawn_by_job_rank_and_number() {
    const MEAN: u64 = 200_000;
    let body = || {
        phases(&[
            PhaseAction::Compute { ps: 50, jitter_ps: MEAN },
            compute(7),
            PhaseAction::Compute { ps: 0, jitter_ps: MEAN },
        ])
    };
    let mut jobs = vec![program("a", &[0, 1], FREE, body()), program("b", &[3, 2, 2], FREE, body())];
    jobs.iter_mut().for_each(|job| of(job).iterations = Some(2));
    let mut spec = star(4, jobs);
    spec.seed = 12_345;
    let output = output(&spec);
    let jitter = |job: u64, rank: u64, n| exponential(random(12_345, Stream::Compute, job << 32 | rank, n), MEAN);
    // Numbers 1 and 4 have no jitter and draw nothing, but they count.
    let expected = |job, rank| [0, 2, 3, 5].iter().map(|&n| jitter(job, rank, n)).sum::<u64>() + 2 * (50 + 7);
    assert_eq!(finishes(&output, 0), [0, 1].map(|rank| expected(0, rank)));
    assert_eq!(finishes(&output, 1), [0, 1, 2].map(|rank| expected(1, rank)));
}

/// Iterations without end continue until the run ends, and the last one is not counted. Catches a program that ends.
#[test]
fn iterations_without_end() {
    let mut job = program("endless", &[0, 1], FREE, phases(&[compute(100)]));
    of(&mut job).iterations = None;
    let mut spec = star(2, vec![job]);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(12_345));
    let output = output(&spec);
    assert_eq!(output.ranks.finish_ps, [NOT_FINISHED; 2]);
    assert_eq!((output.iterations.ranks.len(), output.iterations.last_end_ps[122]), (123, 12_300));
    assert_eq!(output.ranks.work_ps, [12_300; 2]);
}

/// A run ends 1 us after the last rank of the last job that it waits for, or at its time if that is sooner. An event at
/// the last instant happens. Catches an end with the first rank or the first job, and one that is an instant early.
#[test]
fn the_end_of_a_run() {
    const SETTLE: u64 = 1_000_000;
    let jobs = || {
        let mut endless = program("endless", &[4, 5], FREE, phases(&[compute(1_000)]));
        of(&mut endless).iterations = None;
        let short = program("short", &[0, 1], FREE, goal(&["calc 100", "calc 5"]));
        vec![endless, short, program("long", &[2, 3], FREE, goal(&["calc 5", "calc 4000"]))]
    };
    for (stop, at, end) in [
        (vec![1], None, 100_000 + SETTLE),
        (vec![2], None, 4_000_000 + SETTLE),
        (vec![1, 2], None, 4_000_000 + SETTLE),
        (vec![2, 1], Some(4_000_000 + SETTLE + 1), 4_000_000 + SETTLE),
        (vec![1, 2], Some(4_000_000), 4_000_000),
        (vec![1, 2], Some(3_999_999), 3_999_999),
    ] {
        let mut spec = star(6, jobs());
        (spec.stop.jobs, spec.stop.at_ps) = (stop.clone(), at);
        let output = output(&spec);
        assert_eq!(output.end_ps, end, "{stop:?}, {at:?}");
        let long = if end < 4_000_000 { NOT_FINISHED } else { 4_000_000 };
        assert_eq!(finishes(&output, 2)[1], if end > 2_000_000 { long } else { NOT_FINISHED });
        assert_eq!(output.ranks.work_ps[0], end / 1_000 * 1_000, "the endless job computes until the end");
    }
}

/// The end of a run is known 1 us in advance, and routers may not be further apart than that. Catches a run in which
/// some routers have passed its end, on a machine where nothing else synchronises them; and an end with the rank that
/// happens to be handled last.
#[test]
fn no_router_goes_beyond_the_end() {
    for nodes in [[5, 7], [7, 5]] {
        let mut endless = program("endless", &[0, 2], FREE, phases(&[compute(10_007)]));
        of(&mut endless).iterations = None;
        let short = program("short", &nodes, FREE, goal(&["calc 100", "calc 5"]));
        let mut spec = spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![endless, short]);
        spec.fabric.links.values_mut().for_each(|link| link.latency_ps = 50_000_000);
        spec.stop.jobs = vec![1];
        let output = with_both_queues(&spec);
        assert_eq!(output.end_ps, 100_000 + 1_000_000);
        assert_eq!(output.ranks.work_ps[..2], [output.end_ps / 10_007 * 10_007; 2]);
    }
}

/// Phases follow each other without a barrier: a rank begins the next one as soon as it is done. Catches ranks that
/// wait for each other between phases, and equal labels in two phases.
#[test]
fn ranks_do_not_wait_for_others_between_phases() {
    const SEND: u64 = 20_000;
    let play = |stride| PhaseAction::PingPong(PingPong { stride, bytes: 10, rounds: 1 });
    let job = program("four", &[0, 1, 2, 3], Costs { send_ps: SEND, ..FREE }, phases(&[play(1), play(2)]));
    let hop = SEND + alone(10, PACKET);
    // First 0 exchanges with 1, and 2 with 3; 1 and 3 are done when they have replied. Then 0 with 2, and 1 with 3 much
    // sooner.
    let (first, answered) = (2 * hop, hop + SEND);
    assert!(answered < first);
    assert_eq!(
        finishes_of(&star(4, vec![job])),
        [first + 2 * hop, answered + 2 * hop, first + hop + SEND, answered + hop + SEND]
    );
}
