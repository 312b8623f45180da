//! What a job sends does not depend on its neighbours. Only then is a slowdown caused by the network.

use odonata_sim::output::Messages;
use odonata_sim::spec::{Arrival, Pattern, Record};
use odonata_sim::{Output, Spec};

use crate::support::{MINIMAL, job, link, link_mut, machine, output, spec};
use odonata_testkit as generator;

/// Rows of a job without latencies: (interval, source, destination, issue time).
fn sent(messages: &Messages, job: usize, times: bool) -> Vec<(u32, u32, u32, u64)> {
    let rows = (0..messages.job.len()).filter(|&row| usize::from(messages.job[row]) == job);
    rows.map(|row| {
        let issue = if times { messages.issue_ps[row] } else { 0 };
        (messages.interval[row], messages.source[row], messages.destination[row], issue)
    })
    .collect()
}

/// The job alone, on the same nodes, for the same time.
fn alone(spec: &Spec, index: usize) -> Output {
    let mut alone = spec.clone();
    alone.jobs = vec![spec.jobs[index].clone()];
    alone.stop.jobs.retain(|&job| job == 0);
    output(&alone)
}

/// Catches a random stream shared between jobs, or one keyed by job number; and a neighbour that delays the issue of
/// messages.
#[test]
fn a_job_sends_the_same_messages_alone_and_beside_others() {
    let (mut jobs, mut slowed) = (0, 0);
    for seed in 0..200 {
        let mut spec = generator::spec(seed);
        if spec.jobs.len() < 2 {
            continue;
        }
        for job in &mut spec.jobs {
            job.record = Record::EveryMessage;
        }
        let end = output(&spec).end_ps;
        (spec.stop.jobs, spec.stop.at_ps) = (Vec::new(), Some(end));
        spec.measure.until_ps = None;
        let together = output(&spec);
        for (index, job) in spec.jobs.iter().enumerate() {
            let alone = alone(&spec, index);
            if let Pattern::Broadcast { .. } = job.traffic().pattern {
                // The next interval waits for the slowest delivery, so neighbours may delay it, but not change it.
                let (a, b) = (sent(&alone.messages, 0, false), sent(&together.messages, index, false));
                let common = a.len().min(b.len());
                assert_eq!(a[..common], b[..common], "seed {seed}, job {index}");
                continue;
            }
            assert_eq!(
                sent(&alone.messages, 0, true),
                sent(&together.messages, index, true),
                "seed {seed}, job {index}"
            );
            jobs += 1;
            slowed += u32::from(alone.jobs[0].latency != together.jobs[index].latency);
        }
    }
    assert!(jobs > 100 && slowed > 30, "{jobs} jobs, of which {slowed} feel their neighbours");
}

/// Catches interference where no link is shared (leaves of their own), and none where one is (one global link).
#[test]
fn jobs_disturb_each_other_only_where_they_share_links() {
    let pairs = |a: [u32; 2], b: [u32; 2]| {
        let tornado = Pattern::Tornado { offset: 1 };
        let jobs = [("a", a), ("b", b)].map(|(name, n)| job(name, n.to_vec(), tornado.clone(), 4_000, 500_000, 50));
        let mut spec = spec(machine([2, 2, 1, 2, 1], None), MINIMAL, jobs.to_vec());
        *link_mut(&mut spec, "global") = link(10);
        spec
    };
    // Nodes 0, 1 and 2, 3 are the leaves of group 0; 4 to 7 those of group 1.
    let apart = pairs([0, 1], [2, 3]);
    assert_eq!(output(&apart).jobs[1].latency, alone(&apart, 1).jobs[0].latency);
    let crossing = pairs([0, 4], [1, 5]);
    let (together, alone) = (output(&crossing), alone(&crossing, 1));
    assert!(together.jobs[1].latency.sum > alone.jobs[0].latency.sum);
}

/// Catches a random stream keyed by rank: equal ranks of all jobs would behave the same.
#[test]
fn jobs_of_one_shape_send_different_messages() {
    let jobs = [("a", 0..8), ("b", 8..16)].map(|(name, nodes)| {
        let mut job = job(name, nodes.collect(), Pattern::UniformRandom {}, 1_000, 500_000, 30);
        job.traffic_mut().arrival = Arrival::Staggered { jitter_ps: 10_000 };
        job
    });
    let messages = output(&spec(machine([4, 2, 2, 2, 3], None), MINIMAL, jobs.to_vec())).messages;
    let [a, b] = [0, 1].map(|index| sent(&messages, index, true));
    let both = a.iter().zip(&b);
    assert_eq!(a.len(), b.len());
    assert!(both.clone().filter(|(x, y)| x.2 == y.2).count() < a.len() / 2, "destinations");
    assert!(both.clone().all(|(x, y)| x.3 != y.3), "phases");
    let gaps = |rows: &[(u32, u32, u32, u64)]| rows.windows(9).map(|w| w[8].3 - w[0].3).collect::<Vec<_>>();
    assert_ne!(gaps(&a), gaps(&b), "jitter");
}
