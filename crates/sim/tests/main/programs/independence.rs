//! A program's times depend only on jobs that it shares a link with.

use odonata_sim::spec::{Arrival, Body, Pattern};
use odonata_sim::{Output, Spec};

use super::random::{Dice, Shape, costs, goal};
use super::support::{of, program};
use crate::support::{MINIMAL, job, link, link_mut, machine, output, spec};

/// A program on group 0 (nodes 0 to 3), beside a program without end on group 1 and traffic on group 2, or on any of
/// them.
fn three(seed: u64, apart: bool) -> Spec {
    let mut dice = Dice(seed);
    let shape = Shape { ranks: 4, operations: 40, cpus: 2, bytes: 2_500, compute: 50_000 };
    let trace = |dice: &mut Dice| Body::Trace { goal: goal(dice, &shape) };
    let groups =
        if apart { [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]] } else { [[0, 4, 2, 9], [8, 1, 6, 3], [7, 5, 10, 11]] };
    let first = program("first", &groups[0], costs(&mut dice, 2_500), trace(&mut dice));
    let mut endless = program("endless", &groups[1], costs(&mut dice, 2_500), trace(&mut dice));
    (of(&mut endless).iterations, of(&mut endless).gap_ps) = (None, 1_000);
    // Each iteration of a job without end takes some time.
    let Body::Trace { goal } = &mut of(&mut endless).body else { unreachable!("it is a trace") };
    *goal = goal.replace("{\n", "{\nslow: calc 30\n");
    let mut traffic = job("traffic", groups[2].to_vec(), Pattern::UniformRandom {}, 3_000, 400_000, 100);
    traffic.traffic_mut().arrival = Arrival::Poisson {};
    let mut spec = spec(machine([3, 2, 2, 2, 2], None), MINIMAL, vec![first, endless, traffic]);
    *link_mut(&mut spec, "local") = link(5);
    (spec.stop.jobs, spec.seed) = (vec![0], seed);
    spec
}

/// What is compared of the first job: its ranks, its rows, its only iteration, and the end of the run.
fn first(spec: &Spec) -> Seen {
    let Output { ranks, messages: m, iterations, end_ps, .. } = output(spec);
    let rows = (0..m.job.len()).filter(|&r| m.job[r] == 0);
    let rows = rows.map(|r| [m.source[r].into(), m.destination[r].into(), m.issue_ps[r], m.latency_ps[r]]).collect();
    let of = |rank: usize| (ranks.finish_ps[rank], ranks.work_ps[rank]);
    let ranks = (0..spec.jobs[0].nodes.len()).map(of).collect();
    (ranks, rows, [iterations.first_end_ps[0], iterations.total_ps[0]], end_ps)
}

/// Source, destination, issue, latency.
type Row = [u64; 4];
/// Ranks with finish and CPU time; rows; end and total of the iteration; end of the run.
type Seen = (Vec<(u64, u64)>, Vec<Row>, [u64; 2], u64);

fn alone(spec: &Spec) -> Seen {
    let mut alone = spec.clone();
    alone.jobs.truncate(1);
    first(&alone)
}

/// Catches state that all jobs share, such as one count of events, or protocol messages of one job confused with
/// another's.
#[test]
fn programs_on_separate_nodes_are_independent() {
    for seed in 0..60 {
        let spec = three(seed, true);
        assert!(first(&spec) == alone(&spec), "seed {seed}\nspec: {}", spec.to_json());
    }
}

/// The opposite: where links are shared, times differ.
#[test]
fn programs_on_the_same_links_do() {
    let slowed = (0..60).filter(|&seed| {
        let spec = three(seed, false);
        let (beside, alone) = (first(&spec), alone(&spec));
        // The same messages from the same ranks, whatever their times.
        let ends = |rows: &[Row]| {
            let mut ends: Vec<_> = rows.iter().map(|row| (row[0], row[1])).collect();
            ends.sort_unstable();
            ends
        };
        assert_eq!(ends(&beside.1), ends(&alone.1), "seed {seed}");
        beside.0 != alone.0
    });
    assert!(slowed.count() > 40);
}

/// The same specification twice, and after a round trip through JSON.
#[test]
fn twice_the_same() {
    for seed in 0..20 {
        let spec = three(seed, false);
        let once = output(&spec);
        assert!(once == output(&spec), "seed {seed}");
        let again = Spec::from_json(&spec.to_json()).expect("what was written can be read");
        assert_eq!(again, spec);
        assert!(once == output(&again), "seed {seed}");
    }
}
