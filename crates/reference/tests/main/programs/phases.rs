//! Operations one after the other: what blocks, what does not, iterations and gaps.

use super::system::{CONTROL, RECEIVE, SEND, hop, phases, run_job};

const PING_PONG: &str = r#"{"name":"ping-pong","stride":1,"bytes":50,"rounds":1}"#;
const NEIGHBOURS: &str = r#"{"name":"halo","grid":[2,1,1],"periodic":false,"face_bytes":[50,0,0],
    "edge_bytes":[0,0,0],"corner_bytes":0,"order":"all-at-once"}"#;

fn compute(ps: u64) -> String {
    format!(r#"{{"name":"compute","ps":{ps},"jitter_ps":0}}"#)
}

#[test]
fn a_ball_goes_to_and_fro() {
    let output = run_job(phases(&[0, 1], &[PING_PONG]));
    let there = SEND + 50 + hop(50) + RECEIVE + 50;
    assert_eq!(output.ranks.finish_ps, [2 * there, there + SEND + 50]);
}

/// Both receive and send at once: the message lands while the other is still under way.
#[test]
fn an_exchange_overlaps() {
    let output = run_job(phases(&[0, 1], &[NEIGHBOURS]));
    assert_eq!(output.ranks.finish_ps, [SEND + 50 + hop(50) + RECEIVE + 50; 2]);
    // Rendezvous both ways: each NIC carries an RTS, a CTS and data.
    let large = NEIGHBOURS.replace("[50,0,0]", "[200,0,0]");
    let output = run_job(phases(&[0, 1], &[&large]));
    assert_eq!(output.ranks.finish_ps, [SEND + 2 * hop(CONTROL) + hop(200) + RECEIVE; 2]);
    assert_eq!(output.ranks.work_ps, [SEND + RECEIVE; 2]);
    assert_eq!(output.jobs[0].control, 4);
}

/// Catches an iteration that includes the gap before it or ends before all is complete, and a gap before the first.
#[test]
fn iterations_begin_after_their_gaps() {
    let mut job = phases(&[0, 1], &[&compute(3000), PING_PONG]);
    (job.start, job.iterations, job.gap) = (11, Some(3), 700);
    let output = run_job(job);
    let way = SEND + 50 + hop(50) + RECEIVE + 50;
    // Rank 1 waits in the receive; rank 0 for the answer. Rank 1 ends early and begins its next iteration early.
    let (mut begins, mut ends) = (vec![[11, 11]], Vec::new());
    for iteration in 0..3 {
        let [a, b]: [u64; 2] = begins[iteration];
        let sent = a + 3000;
        assert!(b + 3000 < sent + way - RECEIVE - 50, "its receive is posted in time");
        ends.push([sent + 2 * way, sent + way + SEND + 50]);
        begins.push(ends[iteration].map(|end| end + 700));
    }
    let of = &output.iterations;
    assert_eq!((&of.iteration[..], &of.ranks[..]), (&[0, 1, 2][..], &[2, 2, 2][..]));
    for i in 0..3 {
        let ([a, b], [x, y]) = (begins[i], ends[i]);
        assert_eq!((of.first_begin_ps[i], of.last_begin_ps[i]), (a.min(b), a.max(b)));
        assert_eq!((of.first_end_ps[i], of.last_end_ps[i]), (x.min(y), x.max(y)));
        assert_eq!((of.longest_ps[i], of.total_ps[i]), ((x - a).max(y - b), x - a + y - b));
    }
    assert_eq!(output.ranks.finish_ps, ends[2]);
    assert_eq!(output.ranks.work_ps, [3 * (3000 + SEND + 50 + RECEIVE + 50) + 2 * 700; 2]);
    assert_eq!(output.messages.interval, [0, 0, 1, 1, 2, 2]);
}

/// The jitter of a compute is drawn by job, rank and number of the compute, over all iterations.
#[test]
fn computing_varies_by_rank_and_number() {
    use odonata_sim::engine::random::{Stream, exponential, random};
    let mut job = phases(&[0, 0, 1], &[r#"{"name":"compute","ps":100,"jitter_ps":5000}"#, &compute(1)]);
    job.iterations = Some(2);
    let output = run_job(job);
    let jitter = |rank: u64, n: u64| exponential(random(5, Stream::Compute, rank, n), 5000);
    for rank in 0..3 {
        // Computes 1 and 3 have no jitter, but are counted.
        let expected = 2 * 101 + jitter(rank, 0) + jitter(rank, 2);
        assert_eq!(output.ranks.finish_ps[rank as usize], expected);
    }
}
