//! What is recorded of a program's messages: rows, counts, measured latencies. Catches a row that is missing, in the
//! wrong place or of another message, and totals that are not the sum of what was sent.

use std::collections::BTreeMap;

use odonata_programs::trace::{Action, Trace};
use odonata_sim::output::NOT_DELIVERED;
use odonata_sim::spec::{Body, Record, Spec};
use odonata_sim::{Output, output::Messages};

use super::random::{Dice, Shape, costs, goal};
use super::support::{of, program, star, with_both_queues};
use crate::support::{MINIMAL, link, link_mut, machine, output, spec};

const BYTES: u64 = 2_500;

/// Random traces, some with several ranks per node, on a machine with small buffers where messages often meet; and one
/// job alone.
pub fn crowded(seed: u64) -> Spec {
    let mut dice = Dice(seed ^ 0xc20_3ded);
    let mut jobs = Vec::new();
    let mut free: Vec<u32> = (0..12).collect();
    for name in ["a", "b"] {
        let ranks = 2 + dice.below(6) as u32;
        let own: Vec<u32> =
            (0..1 + dice.below(5)).map(|_| free.swap_remove(dice.below(free.len() as u64) as usize)).collect();
        let nodes: Vec<u32> = (0..ranks).map(|rank| own[(rank as usize * own.len()) / ranks as usize]).collect();
        let (operations, cpus) = (4 + dice.below(40) as u32, 1 + dice.below(3));
        let text = goal(&mut dice, &Shape { ranks, operations, cpus, bytes: BYTES, compute: 100_000 });
        let mut job = program(name, &nodes, costs(&mut dice, BYTES), Body::Trace { goal: text });
        (of(&mut job).iterations, of(&mut job).gap_ps) = (Some(1 + dice.below(3)), dice.of(&[0, 70_001]));
        of(&mut job).start_ps = dice.of(&[0, 0, 123_457]);
        jobs.push(job);
    }
    let mut spec = spec(machine([3, 2, 2, 2, 2], None), MINIMAL, jobs);
    spec.seed = seed;
    for class in ["node", "local", "global"] {
        *link_mut(&mut spec, class) = link(10);
        link_mut(&mut spec, class).latency_ps = 7_001;
        link_mut(&mut spec, class).buffer_bytes = dice.of(&[1_000, 2_500]);
    }
    spec
}

/// The trace of a job.
pub fn trace(spec: &Spec, job: usize) -> Trace {
    let Some(Body::Trace { goal }) = spec.jobs[job].program.as_ref().map(|program| &program.body) else {
        panic!("these jobs run traces")
    };
    Trace::parse_goal(goal).expect("it is one")
}

/// All sends of a trace: (source, destination, bytes).
pub fn sends(trace: &Trace) -> Vec<(u32, u32, u64)> {
    let of = |rank| {
        trace.graph(rank).operations().iter().filter_map(move |operation| match operation.action {
            Action::Send { to, bytes, .. } => Some((rank, to, bytes)),
            _ => None,
        })
    };
    (0..trace.ranks()).flat_map(of).collect()
}

/// Rows of a job: (iteration, source, destination, issue, latency).
fn rows(messages: &Messages, job: u16) -> Vec<(u32, u32, u32, u64, u64)> {
    let m = messages;
    let rows = (0..m.job.len()).filter(|&row| m.job[row] == job);
    rows.map(|r| (m.interval[r], m.source[r], m.destination[r], m.issue_ps[r], m.latency_ps[r])).collect()
}

#[test]
fn rows_are_complete_and_in_order() {
    for seed in 0..300 {
        let spec = crowded(seed);
        let output = with_both_queues(&spec);
        assert!(output.messages.job.is_sorted());
        for job in 0..2 {
            let rows = rows(&output.messages, job);
            assert!(
                rows.is_sorted_by_key(|&(iteration, source, _, issue, _)| (iteration, source, issue)),
                "seed {seed}"
            );
            let mut expected = BTreeMap::new();
            for iteration in 0..spec.jobs[usize::from(job)].program.as_ref().unwrap().iterations.unwrap() as u32 {
                for (from, to, _) in sends(&trace(&spec, job.into())) {
                    *expected.entry((iteration, from, to)).or_insert(0) += 1;
                }
            }
            let mut found = BTreeMap::new();
            rows.iter().for_each(|&(iteration, from, to, ..)| *found.entry((iteration, from, to)).or_insert(0) += 1);
            assert_eq!(found, expected, "seed {seed}");
            let totals = &output.jobs[usize::from(job)];
            assert_eq!(totals.first_issue_ps, rows.iter().map(|row| row.3).min());
            assert!(rows.iter().all(|row| row.4 != NOT_DELIVERED));
        }
    }
}

/// Every message is delivered once, and its bytes, RTS and CTS messages are counted once; intra-node messages are not
/// on the network.
#[test]
fn totals_are_the_sums_of_what_was_sent() {
    let (mut rendezvous, mut all_intra_node) = (0, 0);
    for seed in 0..300 {
        let spec = crowded(seed);
        let output = output(&spec);
        for (index, job) in spec.jobs.iter().enumerate() {
            let program = job.program.as_ref().unwrap();
            let least = u64::from(program.costs.control_bytes);
            let (mut issued, mut intra_node, mut control, mut bytes, mut packets) = (0, 0, 0, 0, 0);
            for (from, to, size) in sends(&trace(&spec, index)) {
                issued += 1;
                if job.nodes[from as usize] == job.nodes[to as usize] {
                    intra_node += 1;
                    continue;
                }
                let rendezvous = u64::from(size > program.costs.eager_bytes);
                control += 2 * rendezvous;
                bytes += size.max(least) + 2 * rendezvous * least;
                packets += size.max(least).div_ceil(1_000) + 2 * rendezvous;
            }
            let times = program.iterations.unwrap();
            let totals = &output.jobs[index];
            assert_eq!((totals.issued, totals.delivered), (times * issued, times * issued), "seed {seed}, job {index}");
            assert_eq!(
                (totals.intra_node, totals.control),
                (times * intra_node, times * control),
                "seed {seed}, job {index}"
            );
            assert_eq!((totals.bytes, totals.packets), (times * bytes, times * packets), "seed {seed}, job {index}");
            assert_eq!(totals.latency.count, totals.issued);
            let node = output.class_bytes[index * 3];
            assert_eq!(node, 2 * totals.bytes, "once into the network, once out of it");
            rendezvous += control;
            all_intra_node += intra_node;
        }
    }
    assert!(
        rendezvous > 1_000 && all_intra_node > 1_000,
        "{rendezvous} requests and clearances, {all_intra_node} near messages"
    );
}

/// Latencies count for messages that are handed over in the measured interval, intra-node ones too; nothing else
/// changes, whatever is recorded.
#[test]
fn what_is_recorded_changes_nothing() {
    let mut measured = 0;
    for seed in 0..150 {
        let mut spec = crowded(seed);
        let plain = output(&spec);
        let (from, until) = (plain.end_ps / 8, plain.end_ps / 3);
        (spec.measure.from_ps, spec.measure.until_ps) = (from, Some(until));
        let windowed = output(&spec);
        assert!(same_but_rows(&plain, &windowed) && plain.messages == windowed.messages, "seed {seed}");
        for job in 0..2 {
            let within = rows(&plain.messages, job).into_iter().filter(|row| (from..until).contains(&row.3));
            let latencies: Vec<u64> = within.map(|row| row.4).collect();
            let histogram = &windowed.jobs[usize::from(job)].latency;
            assert_eq!(histogram.count, latencies.len() as u64, "seed {seed}");
            assert_eq!(histogram.sum, latencies.iter().map(|&latency| u128::from(latency)).sum::<u128>());
            assert_eq!(histogram.max, latencies.iter().copied().max().unwrap_or(0));
            measured += histogram.count;
        }
        for record in [Record::Histogram, Record::Nothing] {
            spec.jobs.iter_mut().for_each(|job| job.record = record);
            let less = output(&spec);
            assert!(same_but_rows(&plain, &less), "seed {seed}, {record:?}");
            assert!(less.messages == Messages::default(), "seed {seed}: rows that nobody asked for");
            for (less, windowed) in less.jobs.iter().zip(&windowed.jobs) {
                let expected = if record == Record::Nothing { 0 } else { windowed.latency.count };
                assert_eq!(less.latency.count, expected, "seed {seed}, {record:?}");
            }
        }
    }
    assert!(measured > 500, "only {measured} messages in the measured intervals");
}

fn same_but_rows(a: &Output, b: &Output) -> bool {
    a.links == b.links && a.ranks == b.ranks && a.iterations == b.iterations && a.end_ps == b.end_ps
}

/// Iterations of ranks that wait for each other: every rank ends each iteration, begins lie before ends, and an
/// iteration begins a gap after the one before.
#[test]
fn iterations_are_consistent() {
    for seed in 0..300 {
        let spec = crowded(seed);
        let output = output(&spec);
        let all = &output.iterations;
        for row in 0..all.job.len() {
            let job = &spec.jobs[usize::from(all.job[row])];
            let program = job.program.as_ref().unwrap();
            assert_eq!(u64::from(all.ranks[row]), job.nodes.len() as u64, "seed {seed}");
            assert!(all.first_begin_ps[row] <= all.last_begin_ps[row] && all.first_end_ps[row] <= all.last_end_ps[row]);
            assert!(all.first_begin_ps[row] <= all.first_end_ps[row] && all.last_begin_ps[row] <= all.last_end_ps[row]);
            assert!(all.longest_ps[row] <= all.total_ps[row]);
            assert!(all.total_ps[row] <= all.longest_ps[row] * u64::from(all.ranks[row]));
            if all.iteration[row] == 0 {
                assert_eq!((all.first_begin_ps[row], all.last_begin_ps[row]), (program.start_ps, program.start_ps));
            } else {
                assert_eq!(all.iteration[row], all.iteration[row - 1] + 1);
                assert_eq!(all.first_begin_ps[row], all.first_end_ps[row - 1] + program.gap_ps, "seed {seed}");
                assert_eq!(all.last_begin_ps[row], all.last_end_ps[row - 1] + program.gap_ps, "seed {seed}");
            }
        }
        for (job, spec) in (0..).zip(&spec.jobs) {
            let finishes = super::support::finishes(&output, job);
            let last = (0..all.job.len()).rfind(|&row| all.job[row] == job).expect("it ran");
            assert_eq!(u64::from(all.iteration[last]) + 1, spec.program.as_ref().unwrap().iterations.unwrap());
            assert_eq!(all.last_end_ps[last], finishes.iter().copied().max().unwrap());
            assert_eq!(all.first_end_ps[last], finishes.iter().copied().min().unwrap());
        }
    }
}

/// A job whose ranks are all on one node needs no network.
#[test]
fn ranks_of_one_node_do_not_use_the_network() {
    for seed in 0..40 {
        let mut spec = crowded(seed);
        for (node, job) in (3..).zip(&mut spec.jobs) {
            job.nodes.fill(node);
        }
        let output = with_both_queues(&spec);
        assert_eq!((output.links.packets.iter().sum::<u64>(), output.packet_hops), (0, 0), "seed {seed}");
        assert!(
            output
                .jobs
                .iter()
                .all(|totals| totals.intra_node == totals.delivered && totals.intra_node == totals.issued)
        );
        assert!(output.class_bytes.iter().all(|&bytes| bytes == 0));
    }
}

/// A message that is under way at the end has a row without latency, and is issued and not delivered.
#[test]
fn a_message_under_way_has_no_latency() {
    let job =
        program("two", &[0, 1], super::support::FREE, super::support::goal(&["send 900b to 1", "recv 900b from 0"]));
    let mut spec = star(2, vec![job]);
    (spec.stop.jobs, spec.stop.at_ps) = (vec![], Some(50_000));
    let output = output(&spec);
    assert_eq!((&output.messages.issue_ps[..], &output.messages.latency_ps[..]), (&[0][..], &[NOT_DELIVERED][..]));
    assert_eq!((output.jobs[0].issued, output.jobs[0].delivered), (1, 0));
}
