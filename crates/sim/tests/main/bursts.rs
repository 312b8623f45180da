//! Bursts of jobs with traffic, worked out by hand; those of programs are in `programs/iterations.rs`.

use odonata_sim::engine::random::{Stream, below, exponential, lognormal, pareto, random};
use odonata_sim::spec::{BurstSpec, JobSpec, Length, Pattern};

use crate::support::{MINIMAL, job, machine, output, spec};

const INTERVAL: u64 = 100_000;
const MEAN: u64 = 1_000_000;

/// A length from a random number.
type Draw = fn(u64) -> u64;

fn fixed(on: u64, off: u64) -> Option<BurstSpec> {
    Some(BurstSpec { on: Length::Fixed { ps: on }, off: Length::Fixed { ps: off } })
}

fn sending(nodes: &[u32], bursts: Option<BurstSpec>, intervals: u64) -> JobSpec {
    JobSpec { bursts, ..job("bursts", nodes.to_vec(), Pattern::Tornado { offset: 1 }, 64, INTERVAL, intervals) }
}

/// When rank 0 of the first job begins its intervals.
fn begins(jobs: Vec<JobSpec>) -> Vec<u64> {
    let ranks = jobs[0].nodes.len();
    let output = output(&spec(machine([1, 1, 1, 8, 0], None), MINIMAL, jobs));
    let rows = output.messages.job.iter().zip(&output.messages.issue_ps).filter(|&(&job, _)| job == 0);
    rows.map(|(_, &issue)| issue).step_by(ranks).collect()
}

/// Catches a pause a picosecond too soon or too late, one before the first interval, and a clock that does not start
/// again after a pause.
#[test]
fn intervals_pause_at_the_end_of_a_burst() {
    let of = |on, off, intervals| begins(vec![sending(&[0, 1], fixed(on, off), intervals)]);
    assert_eq!(of(200_000, 5, 5), [0, 100_000, 200_005, 300_005, 400_010]);
    assert_eq!(of(200_001, 5, 5), [0, 100_000, 200_000, 300_005, 400_005]);
    assert_eq!(of(1, MEAN, 3), [0, 1_100_000, 2_200_000]);
}

/// Lengths drawn by hand from the stream of the job. Catches two ranks with lengths of their own, a length drawn again in
/// each interval, one that depends on other jobs, and distributions or counters mixed up.
#[test]
fn lengths_are_drawn_from_the_stream_of_the_job() {
    let lengths: [(Length, Draw); 4] = [
        (Length::Exponential { mean_ps: MEAN }, |r| exponential(r, MEAN)),
        (Length::Uniform { least_ps: 7, most_ps: MEAN }, |r| 7 + below(r, MEAN - 6)),
        (Length::Lognormal { mean_ps: MEAN, sigma_millionths: 500_000 }, |r| lognormal(r, MEAN, 500_000)),
        (Length::Pareto { mean_ps: MEAN, shape_millionths: 1_500_000 }, |r| pareto(r, MEAN, 1_500_000)),
    ];
    for (length, draw) in lengths {
        let drawn = |counter| {
            draw(random(spec(machine([1, 1, 1, 8, 0], None), MINIMAL, Vec::new()).seed, Stream::Burst, 1, counter))
                .max(1)
        };
        let (mut expected, mut at, mut burst, mut number) = (vec![0], 0, 0, 0);
        while expected.len() < 40 {
            at += INTERVAL;
            if at - burst >= drawn(2 * number) {
                at += drawn(2 * number + 1);
                burst = at;
                number += 1;
            }
            expected.push(at);
        }
        assert!(number >= 2, "several bursts");
        let bursts = Some(BurstSpec { on: length, off: length });
        let alone = begins(vec![sending(&[1, 0], bursts, 40)]);
        assert_eq!(alone, expected, "{length:?}");
        let other = JobSpec { name: "other".to_owned(), ..sending(&[2, 3], bursts, 9) };
        assert_eq!(begins(vec![sending(&[1, 0], bursts, 40), other]), expected, "{length:?}");
        let output = output(&spec(machine([1, 1, 1, 8, 0], None), MINIMAL, vec![sending(&[1, 0], bursts, 40)]));
        assert!(output.messages.issue_ps.chunks(2).all(|both| both[0] == both[1]), "all ranks pause together");
    }
}

#[test]
fn lengths_without_a_meaning_are_refused() {
    let longest = (1 << 54) + 1;
    let problem = |on: Length, off: Length| {
        let job = sending(&[0, 1], Some(BurstSpec { on, off }), 2);
        spec(machine([1, 1, 1, 8, 0], None), MINIMAL, vec![job]).check().expect_err("it has no meaning").to_string()
    };
    let good = Length::Fixed { ps: 1 << 54 };
    let found = [
        problem(Length::Fixed { ps: 0 }, good),
        problem(good, Length::Fixed { ps: longest }),
        problem(good, Length::Exponential { mean_ps: 0 }),
        problem(Length::Uniform { least_ps: 5, most_ps: 4 }, good),
        problem(Length::Lognormal { mean_ps: 1, sigma_millionths: 10_000_001 }, good),
        problem(Length::Pareto { mean_ps: 1, shape_millionths: 1_000_000 }, good),
    ];
    let expected = [
        "jobs[0].bursts.on.ps: out-of-range (found = 0, least = 1, most = 18014398509481984)",
        "jobs[0].bursts.off.ps: out-of-range (found = 18014398509481985, least = 1, most = 18014398509481984)",
        "jobs[0].bursts.off.mean_ps: out-of-range (found = 0, least = 1, most = 18014398509481984)",
        "jobs[0].bursts.on.most_ps: out-of-range (found = 4, least = 5, most = 18014398509481984)",
        "jobs[0].bursts.on.sigma_millionths: out-of-range (found = 10000001, least = 1, most = 10000000)",
        "jobs[0].bursts.on.shape_millionths: out-of-range (found = 1000000, least = 1000001, most = 1000000000)",
    ];
    assert_eq!(found, expected);
}
