//! The same specification gives the same output, and a measurement changes no event.

use odonata_sim::output::{Messages, NOT_DELIVERED};
use odonata_sim::spec::{Arrival, Pattern, Record};
use odonata_sim::{QueueChoice, Spec, run_with};

use crate::support::{MINIMAL, job, machine, output, spec};
use odonata_testkit as generator;

/// Catches anything that depends on memory addresses, on a hash order, or on an earlier run.
#[test]
fn twice_the_same() {
    for seed in 0..150 {
        let spec = generator::spec(seed);
        for queue in [QueueChoice::Wheel, QueueChoice::Ordered] {
            let [once, again] = [(), ()].map(|()| run_with(&spec, &mut (), queue).expect("it runs"));
            assert!(once == again, "seed {seed}, {queue:?}");
        }
    }
}

/// Catches a specification that changes in a round trip through JSON, as every run in practice makes.
#[test]
fn the_same_after_a_round_trip_through_json() {
    for seed in 0..60 {
        let spec = generator::spec(seed);
        let again = Spec::from_json(&spec.to_json()).expect("what was written can be read");
        assert_eq!(spec, again);
        assert_eq!(spec.to_json(), again.to_json());
        assert!(output(&spec) == output(&again), "seed {seed}");
    }
}

/// Catches a measurement that disturbs what it measures.
#[test]
fn what_is_measured_changes_nothing() {
    for seed in 0..150 {
        let mut spec = generator::spec(seed);
        for job in &mut spec.jobs {
            job.record = Record::EveryMessage;
        }
        let plain = output(&spec);
        let half = plain.end_ps / 2;

        spec.measure.arrivals_every_ps = Some(plain.end_ps / 7 + 1);
        (spec.measure.from_ps, spec.measure.until_ps) = (half, Some(half + plain.end_ps / 4 + 1));
        let windows = output(&spec);
        assert_eq!((windows.end_ps, windows.packet_hops), (plain.end_ps, plain.packet_hops), "seed {seed}");
        assert!(windows.messages == plain.messages && windows.links == plain.links, "seed {seed}");
        for (index, (a, b)) in windows.jobs.iter().zip(&plain.jobs).enumerate() {
            let totals = |t: &odonata_sim::output::JobTotals| {
                (t.issued, t.delivered, t.packets, t.bytes, t.hops, t.minimal, t.first_issue_ps, t.last_delivery_ps)
            };
            assert_eq!(totals(a), totals(b), "seed {seed}, job {index}");
            let measured = latencies(&spec, &plain.messages, index);
            let sum = measured.iter().map(|&l| u128::from(l)).sum::<u128>();
            assert_eq!((a.latency.count, a.latency.sum), (measured.len() as u64, sum), "seed {seed}, job {index}");
            assert_eq!(a.latency.max, measured.iter().copied().max().unwrap_or(0), "seed {seed}, job {index}");
            assert_eq!(a.latency.min, measured.iter().copied().min().unwrap_or(0), "seed {seed}, job {index}");
        }

        for record in [Record::Histogram, Record::Nothing] {
            for job in &mut spec.jobs {
                job.record = record;
            }
            let less = output(&spec);
            assert!(less.links == plain.links && less.arrivals == windows.arrivals, "seed {seed}");
            assert!(less.messages == Messages::default(), "seed {seed}: rows that nobody asked for");
            for (a, b) in less.jobs.iter().zip(&windows.jobs) {
                assert_eq!((a.issued, a.bytes, a.hops), (b.issued, b.bytes, b.hops), "seed {seed}");
                let expected = if record == Record::Nothing { 0 } else { b.latency.count };
                assert_eq!(a.latency.count, expected, "seed {seed}, {record:?}");
            }
        }
    }
}

/// Latencies of the delivered messages of a job that were issued in the measured interval.
fn latencies(spec: &Spec, messages: &Messages, job: usize) -> Vec<u64> {
    let within = |at: u64| at >= spec.measure.from_ps && spec.measure.until_ps.is_none_or(|until| at < until);
    let rows = (0..messages.job.len()).filter(|&row| usize::from(messages.job[row]) == job);
    let measured = rows.filter(|&row| within(messages.issue_ps[row]) && messages.latency_ps[row] != NOT_DELIVERED);
    measured.map(|row| messages.latency_ps[row]).collect()
}

/// Catches an interval that leaves out its start or includes its end: one message of each rank every 100 ns from 0 on.
#[test]
fn the_measured_interval_includes_its_start_but_not_its_end() {
    let pair = job("pair", vec![0, 1], Pattern::Tornado { offset: 1 }, 100, 100_000, 10);
    let mut spec = spec(machine([1, 1, 1, 2, 0], None), MINIMAL, vec![pair]);
    for (from, until, intervals) in [
        (0, None, 10),
        (200_000, None, 8),
        (200_001, None, 7),
        (0, Some(200_000), 2),
        (0, Some(200_001), 3),
        (300_000, Some(300_001), 1),
        (300_001, Some(400_000), 0),
    ] {
        (spec.measure.from_ps, spec.measure.until_ps) = (from, until);
        assert_eq!(output(&spec).jobs[0].latency.count, 2 * intervals, "{from} to {until:?}");
    }
}

/// Catches windows that count a packet twice or in the wrong group: with two groups, everything that leaves one enters
/// the other.
#[test]
fn arrivals_add_up() {
    let ranks = job("all", (0..8).collect(), Pattern::UniformRandom {}, 2_500, 400_000, 50);
    let mut spec = spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![ranks]);
    spec.measure.arrivals_every_ps = Some(1_000_000);
    let output = output(&spec);
    let by_group = |column: &[u64]| [0, 1].map(|group| column.iter().skip(group).step_by(2).sum::<u64>());
    let counts = &output.arrivals;
    assert_eq!(by_group(&counts.packets_in), {
        let [a, b] = by_group(&counts.packets_out);
        [b, a]
    });
    assert_eq!(by_group(&counts.bytes_in), {
        let [a, b] = by_group(&counts.bytes_out);
        [b, a]
    });
    let crossing = output.messages.source.iter().zip(&output.messages.destination).filter(|&(a, b)| a / 4 != b / 4);
    let crossing = crossing.count() as u64;
    assert!(crossing > 100);
    assert_eq!(counts.packets_out.iter().sum::<u64>(), crossing * 3);
    assert_eq!(counts.bytes_out.iter().sum::<u64>(), crossing * 2_500);
    assert!(counts.packets_in.len() > 20, "several windows");
}

/// Catches a random stream that forgets the seed: destinations, gaps, phases and paths must all depend on it.
#[test]
fn seeds_matter() {
    let ranks = |pattern| vec![job("all", (0..16).collect(), pattern, 900, 200_000, 20)];
    let shape = machine([4, 2, 3, 2, 6], None);
    let two = |mut spec: Spec| {
        let one = output(&spec);
        spec.seed += 1;
        (one, output(&spec))
    };
    let (a, b) = two(spec(shape.clone(), MINIMAL, ranks(Pattern::UniformRandom {})));
    assert_ne!(a.messages.destination, b.messages.destination);
    assert_eq!(a.messages.issue_ps, b.messages.issue_ps);

    let (a, b) = two(spec(shape.clone(), MINIMAL, ranks(Pattern::Tornado { offset: 4 })));
    assert!(a.messages.issue_ps == b.messages.issue_ps && a.messages.destination == b.messages.destination);
    assert_ne!(a.links.packets, b.links.packets, "the ways");

    for arrival in [Arrival::Constant { jitter_ps: 1_000 }, Arrival::Poisson {}, Arrival::Staggered { jitter_ps: 0 }] {
        let mut jobs = ranks(Pattern::Tornado { offset: 4 });
        jobs[0].traffic_mut().arrival = arrival;
        let (a, b) = two(spec(shape.clone(), MINIMAL, jobs));
        assert_ne!(a.messages.issue_ps, b.messages.issue_ps, "{arrival:?}");
    }
}
