//! Queueing theory as an oracle: Poisson arrivals of equal packets at one link wait, on average, `load / (2 (1 -
//! load))` transmissions (M/D/1; Pollaczek and Khinchine). Catches arrivals that are not Poisson, a link that idles or
//! overlaps, and a queue that is counted twice.
//!
//! The wait is the latency minus the latency of an empty machine. So there must be only one queue: every later link is
//! as fast and gets packets at least one transmission apart, and every earlier link is fast enough not to change the
//! arrivals.

use odonata_sim::spec::{Arrival, JobSpec, Pattern, Record, Spec};

use crate::support::{MINIMAL, PACKET, job, link, link_mut, machine, output, ser, spec};

const SEEDS: u64 = 2;

fn poisson(name: &str, nodes: Vec<u32>, offset: u64, interval_ps: u64, intervals: u64) -> JobSpec {
    let mut job = job(name, nodes, Pattern::Tornado { offset }, PACKET, interval_ps, intervals);
    (job.traffic_mut().arrival, job.record) = (Arrival::Poisson {}, Record::Histogram);
    job
}

/// Mean latency beyond that of an empty machine, over all seeds; without the start, when queues are still short, and
/// the end, when the first ranks have sent everything.
fn mean_wait(mut spec: Spec, empty: u64) -> f64 {
    let (mut sum, mut count) = (0, 0);
    let traffic = &spec.jobs[0].traffic();
    let length = traffic.interval_ps * traffic.intervals.expect("the job ends");
    (spec.measure.from_ps, spec.measure.until_ps) = (length / 20, Some(length / 10 * 9));
    for seed in 0..SEEDS {
        spec.seed = seed;
        for job in &output(&spec).jobs {
            assert_eq!(job.latency.min, empty, "some packet meets nobody");
            sum += job.latency.sum - u128::from(job.latency.count) * u128::from(empty);
            count += job.latency.count;
        }
    }
    sum as f64 / count as f64
}

fn mean_wait_in_theory(load: f64, service: u64) -> f64 {
    load / (2.0 * (1.0 - load)) * service as f64
}

fn close(measured: f64, expected: f64, what: &str) {
    let error = measured / expected - 1.0;
    assert!(error.abs() < 0.02, "{what}: waits {measured:.0} ps on average, {expected:.0} expected ({error:+.4})");
}

/// Messages of all ranks and seeds together: the error of a mean wait falls with their number, but grows with `(1 -
/// load)^-2`, because successive waits are correlated: 2 load^2 / (1 - load)^2 / messages is its variance for
/// high loads. At load 0.9 eight million messages have a standard error of 0.5 %.
fn messages(load: f64) -> u64 {
    if load > 0.8 { 8_000_000 } else { 600_000 }
}

/// The queue is the NIC's. 64 nodes of one leaf, each of which gets the packets of one other: the ejection link gets
/// what one injection link of the same bandwidth lets through.
#[test]
fn waiting_at_a_node() {
    for load in [0.3, 0.6, 0.9] {
        let service = ser(PACKET, 10);
        let interval = (service as f64 / load) as u64;
        let each = messages(load) / 64 / SEEDS;
        let spec =
            spec(machine([1, 1, 1, 64, 0], None), MINIMAL, vec![poisson("all", (0..64).collect(), 1, interval, each)]);
        let wait = mean_wait(spec, 2 * service + 100_000);
        close(wait, mean_wait_in_theory(load, service), &format!("load {load}"));
    }
}

/// The queue is a router's. 32 nodes of one leaf send to those of another over one link, each by an injection link a
/// thousand times as fast: what merges at the link up is Poisson again, and the link down gets what it lets through.
#[test]
fn waiting_where_many_sources_merge() {
    for load in [0.3, 0.6, 0.9] {
        let service = ser(PACKET, 2);
        let interval = (32.0 * service as f64 / load) as u64;
        let each = messages(load) / 64 / SEEDS;
        let pairs = poisson("all", (0..64).collect(), 32, interval, each);
        let mut spec = spec(machine([1, 2, 1, 32, 0], None), MINIMAL, vec![pairs]);
        *link_mut(&mut spec, "local") = link(2);
        *link_mut(&mut spec, "node") = link(2_000);
        let wait = mean_wait(spec, 2 * service + 2 * ser(PACKET, 2_000) + 300_000);
        close(wait, mean_wait_in_theory(load, service), &format!("load {load}"));
    }
}

/// Catches M/D/1 where it should be D/D/1: arrivals in step do not wait at all.
#[test]
fn arrivals_in_step_do_not_wait() {
    let all = job("all", (0..8).collect(), Pattern::Tornado { offset: 1 }, PACKET, 111_112, 500);
    let latency = output(&spec(machine([1, 1, 1, 8, 0], None), MINIMAL, vec![all])).jobs[0].latency.clone();
    assert_eq!((latency.min, latency.max, latency.count), (300_000, 300_000, 4_000));
}
