//! What is counted of a run that ends in the middle, and beside other jobs.

use odonata_reference::run_audited;
use odonata_sim::output::{NOT_DELIVERED, NOT_FINISHED};

use super::system::{CONTROL, RECEIVE, SEND, SETTLE, hop, phases, run, spec, trace};

const BYTES: u64 = 200;

/// A rendezvous, cut at every moment of its life.
#[test]
fn a_run_that_ends_in_the_middle_counts_what_has_happened() {
    let rts = SEND + hop(CONTROL);
    let cts = rts + hop(CONTROL);
    let sent = cts + 1000 * BYTES;
    let granted = sent + 1000 + 3000;
    let delivered = cts + hop(BYTES);
    let finished = delivered + RECEIVE;
    // End of the run; messages issued, RTS and CTS messages, data delivered, work of the ranks.
    let cases = [
        (SEND - 1, 0, 0, false, [0, 0]),
        (SEND, 1, 1, false, [SEND, 0]),
        (rts - 1, 1, 1, false, [SEND, 0]),
        (rts, 1, 2, false, [SEND, 0]),
        (cts, 1, 2, false, [SEND, 0]),
        (granted - 1, 1, 2, false, [SEND, 0]),
        (granted, 1, 2, true, [SEND, 0]), // what has its ejection link is as good as delivered
        (finished - 1, 1, 2, true, [SEND, 0]),
        (finished, 1, 2, true, [SEND, RECEIVE]),
    ];
    for (end, issued, control, done, work) in cases {
        let mut spec = spec(&[trace(&[0, 1], &["s: send 200b to 1 tag 1", "r: recv 200b from 0 tag 1"])]);
        spec.stop.at_ps = Some(end);
        let output = run(&spec).expect("it runs");
        assert_eq!(output.end_ps, end);
        let job = &output.jobs[0];
        assert_eq!((job.issued, job.control, job.delivered), (issued, control, u64::from(done)), "at {end}");
        assert_eq!(output.ranks.work_ps, work, "at {end}");
        let finish = |at: u64| if at <= end { at } else { NOT_FINISHED };
        assert_eq!(output.ranks.finish_ps, [finish(sent), finish(finished)], "at {end}");
        let latency = if done { delivered - SEND } else { NOT_DELIVERED };
        assert_eq!(output.messages.latency_ps, vec![latency; issued as usize], "at {end}");
        let ended: u32 = output.iterations.ranks.iter().sum();
        assert_eq!(ended, u32::from(sent <= end) + u32::from(finished <= end), "at {end}");
        let (_, audit) = run_audited(&spec, &mut ()).expect("it runs");
        assert_eq!(audit.problem(), None, "at {end}");
    }
}

/// A run goes on for 1 us after the last rank that it waits for, and no longer; another job's program goes on.
#[test]
fn a_run_ends_one_microsecond_after_the_last_rank() {
    let compute = |ps: u64| phases(&[0, 1], &[&format!(r#"{{"name":"compute","ps":{ps},"jitter_ps":0}}"#)]);
    let short = compute(5_000);
    let mut long = phases(&[2, 3], &[r#"{"name":"compute","ps":400000,"jitter_ps":0}"#]);
    long.iterations = None;
    let output = run(&spec(&[short, long])).expect("it runs");
    assert_eq!(output.end_ps, 5_000 + SETTLE);
    assert_eq!(output.ranks.finish_ps, [5_000, 5_000, NOT_FINISHED, NOT_FINISHED]);
    assert_eq!(output.ranks.work_ps, [5_000, 5_000, 800_000, 800_000]);
    assert_eq!((&output.ranks.job[..], &output.ranks.rank[..]), (&[0, 0, 1, 1][..], &[0, 1, 0, 1][..]));
    assert_eq!(output.iterations.job, [0, 1, 1]);
    assert_eq!(output.iterations.last_end_ps, [5_000, 400_000, 800_000]);
    // Of two that are waited for, the later one; but never later than `at_ps`.
    let two = || spec(&[compute(5_000), phases(&[2, 3], &[r#"{"name":"compute","ps":9000,"jitter_ps":0}"#])]);
    assert_eq!(run(&two()).expect("it runs").end_ps, 9_000 + SETTLE);
    let mut cut = two();
    cut.stop.at_ps = Some(500_000);
    assert_eq!(run(&cut).expect("it runs").end_ps, 500_000);
}

/// Only the messages issued in the measured interval have latencies, near ones as well.
#[test]
fn latencies_are_measured_in_their_interval() {
    let job = || trace(&[0, 0], &["s: send 200b to 1 tag 1", "r: recv 200b from 0 tag 1"]);
    for (from, until, count) in [(0, None, 1), (300, None, 1), (301, None, 0), (0, Some(300), 0), (0, Some(301), 1)] {
        let mut spec = spec(&[job()]);
        (spec.measure.from_ps, spec.measure.until_ps) = (from, until);
        assert_eq!(run(&spec).expect("it runs").jobs[0].latency.count, count, "{from} {until:?}");
    }
}
