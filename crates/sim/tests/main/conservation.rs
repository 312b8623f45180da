//! Nothing is lost, made or counted twice, whenever a run is stopped.

use odonata_sim::spec::Pattern;
use odonata_sim::{Audit, Output, QueueChoice, Spec};

use crate::support::{MINIMAL, audited, audited_with_both_queues, job, machine, output, spec};
use odonata_testkit as generator;

const QUEUES: [QueueChoice; 2] = [QueueChoice::Wheel, QueueChoice::Ordered];

/// The audit must agree with the totals of the run. Catches an audit that counts its own inventions.
fn agrees_with_the_totals(spec: &Spec, output: &Output, audit: &Audit) {
    let nodes = spec.machine().expect("it was built before").network().nodes();
    let injection = output.links.packets.len() - nodes;
    assert_eq!(audit.sent, output.links.packets[injection..].iter().sum::<u64>());
    assert_eq!(audit.delivered, output.jobs.iter().map(|j| j.packets).sum::<u64>());
    assert_eq!(audit.delivered_bytes, output.jobs.iter().map(|j| j.bytes).sum::<u64>());
    let issued = output.jobs.iter().zip(&spec.jobs).map(|(totals, job)| totals.issued * job.traffic().message_bytes);
    assert_eq!(audit.issued_bytes, issued.sum::<u64>());
}

/// Catches a packet dropped or delivered twice, a credit given back twice or never, a message cut wrongly: in runs of
/// all kinds, with either queue.
#[test]
fn everything_is_accounted_for_at_the_end() {
    let (mut complete, mut moving, mut blocked, mut at_nics) = (0, 0, 0, 0);
    for seed in 0..400 {
        let spec = generator::spec(seed);
        let (output, audit) = audited_with_both_queues(&spec);
        agrees_with_the_totals(&spec, &output, &audit);
        complete += u32::from(audit.delivered_bytes == audit.issued_bytes);
        moving += u32::from(audit.under_way > 0);
        blocked += u32::from(audit.blocked > 0);
        at_nics += u32::from(audit.waiting_bytes > 0);
    }
    for (what, runs) in [("complete", complete), ("moving", moving), ("parked", blocked), ("waiting at NICs", at_nics)]
    {
        assert!(runs >= 40, "only {runs} runs of 400 are {what}");
    }
}

/// Catches inconsistent state between events: a run is stopped at many times, most of them between two events, and must
/// be balanced at each.
#[test]
fn everything_is_accounted_for_at_any_instant() {
    let mut blocked = 0;
    for seed in (0..80).chain(1_000..1_040) {
        let mut spec = generator::spec(seed);
        let end = output(&spec).end_ps;
        spec.stop.jobs.clear();
        let mut delivered = 0;
        for step in 1..=24 {
            spec.stop.at_ps = Some((end * step / 24 + step % 3).max(1));
            spec.measure.until_ps = None;
            for queue in QUEUES {
                let (_, audit) = audited(&spec, queue);
                assert!(audit.delivered >= delivered, "seed {seed}: what was delivered is no longer");
                delivered = audit.delivered;
                blocked += u32::from(audit.blocked > 0);
            }
        }
    }
    assert!(blocked > 300, "only {blocked} stops found packets that wait for room");
}

/// Catches a run that ends too early: without a time limit, every message of a job that the run waits for arrives.
#[test]
fn a_run_delivers_all_that_it_waits_for() {
    let mut checked = 0;
    for seed in 0..200 {
        let spec = generator::spec(seed);
        if spec.stop.at_ps.is_some() {
            continue;
        }
        let output = output(&spec);
        for &job in &spec.stop.jobs {
            let (totals, traffic) = (&output.jobs[job as usize], &spec.jobs[job as usize].traffic());
            assert_eq!(totals.delivered, totals.issued, "seed {seed}");
            assert_eq!(totals.bytes, totals.issued * traffic.message_bytes, "seed {seed}");
            let packets = traffic.message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes));
            assert_eq!(totals.packets, totals.issued * packets, "seed {seed}");
            assert!(output.end_ps >= totals.last_delivery_ps.expect("something was delivered"), "seed {seed}");
            checked += 1;
        }
        let last = spec.stop.jobs.iter().filter_map(|&j| output.jobs[j as usize].last_delivery_ps).max();
        assert_eq!(Some(output.end_ps), last, "seed {seed}: a run ends with its last delivery");
    }
    assert!(checked > 80, "only {checked} jobs");
}

/// Catches a last instant that is left out, or one too many: a packet is issued at 0, has its route decision at the
/// leaf at 200 ns (transmission and router delay), and is granted its ejection link at that same time.
#[test]
fn a_run_includes_its_last_instant() {
    let pair = job("pair", vec![0, 1], Pattern::Tornado { offset: 1 }, 1_000, 200_000, 3);
    let mut spec = spec(machine([1, 1, 1, 2, 0], None), MINIMAL, vec![pair]);
    spec.stop.jobs.clear();
    for (at, issued, delivered) in [(1, 2, 0), (199_999, 2, 0), (200_000, 4, 2), (399_999, 4, 2), (400_000, 6, 4)] {
        spec.stop.at_ps = Some(at);
        let (output, audit) = audited_with_both_queues(&spec);
        assert_eq!((output.jobs[0].issued, output.jobs[0].delivered), (issued, delivered), "at {at} ps");
        assert_eq!((output.end_ps, output.packet_hops), (at, delivered));
        assert_eq!(audit.under_way, issued - delivered);
    }
}
