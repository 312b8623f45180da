//! CPUs and dependencies of traces.

use super::system::{CONTROL, RECEIVE, SEND, hop, run_job, trace};

/// When the first of two ranks finishes that computes only; the other has nothing to do.
fn finish(lines: &str) -> u64 {
    let output = run_job(trace(&[0, 1], &[lines, ""]));
    assert_eq!(output.ranks.finish_ps[1], 0);
    output.ranks.finish_ps[0]
}

#[test]
fn a_cpu_does_one_thing_after_the_other_and_cpus_are_side_by_side() {
    assert_eq!(finish("a: calc 3; b: calc 5"), 8000);
    assert_eq!(finish("a: calc 3 cpu 0; b: calc 5 cpu 1"), 5000);
    assert_eq!(finish("a: calc 3 cpu 0; b: calc 5 cpu 1; c: calc 1 cpu 1; c requires a"), 6000);
}

/// Catches dependencies on a begin that wait for the end, or for nothing.
#[test]
fn what_waits_for_a_begin_waits_until_the_cpu_is_free() {
    let three = |word: &str| format!("a: calc 100 cpu 0; b: calc 50 cpu 0; c: calc 30 cpu 1; c {word} b");
    assert_eq!(finish(&three("requires")), 180_000);
    assert_eq!(finish(&three("irequires")), 150_000); // c from 100 to 130
    assert_eq!(finish("a: calc 100 cpu 0; c: calc 130 cpu 1; c irequires a"), 130_000);
    // b takes no time, but its CPU is taken until 100.
    assert_eq!(finish("a: calc 100 cpu 0; b: calc 0 cpu 0; c: calc 30 cpu 1; c irequires b"), 130_000);
    assert_eq!(finish("a: calc 100 cpu 0; b: calc 0 cpu 1; c: calc 30 cpu 1; c requires b"), 100_000);
}

/// Of the ready ones the first in the text, also if it became ready only now.
#[test]
fn ready_operations_are_taken_in_the_order_of_the_text() {
    // a and c end at 10; b stands before d, both then want CPU 0. e waits for the one that is first.
    let lines = |first: &str| {
        format!(
            "b: calc 7 cpu 0; d: calc 9 cpu 0; a: calc 10 cpu 1; c: calc 10 cpu 2; e: calc 1 cpu 3; \
             b requires c; d requires a; e requires {first}"
        )
    };
    // The end of a (work 0) is a moment before the end of c (work 1): d is taken first.
    assert_eq!(finish(&lines("d")), 26_000);
    assert_eq!(
        finish("b: calc 7; d: calc 9; a: calc 10 cpu 1; e: calc 20 cpu 3; b requires a; d requires a; e requires b"),
        37_000
    );
    // x takes no time: what follows it is ready at once, and stands before y.
    assert_eq!(finish("z: calc 5; x: calc 0 cpu 1; y: calc 3; e: calc 20 cpu 2; z requires x; e requires z"), 25_000);
}

/// Receiving takes time of its CPU after what was asked for before, whatever came first on the wire.
#[test]
fn receiving_waits_for_its_cpu() {
    let send = "s: send 50b to 1 tag 1";
    let finish = |receiver: &str| run_job(trace(&[0, 1], &[send, receiver])).ranks.finish_ps[1];
    let there = SEND + 50 + hop(50);
    assert_eq!(there, 105_150);
    assert_eq!(finish("r: recv 50b from 0 tag 1; c: calc 200"), 200_000 + RECEIVE + 50);
    assert_eq!(finish("r: recv 50b from 0 tag 1 cpu 1; c: calc 200"), 200_000);
    // It has a place among the computes: asked for at 105,150, after b (asked for at 0), before d (asked for at
    // 150,000).
    let queue =
        "r: recv 50b from 0 tag 1; a: calc 150; b: calc 50; d: calc 10; d requires a; e: calc 1 cpu 1; e requires r";
    assert_eq!(finish(queue), 200_000 + RECEIVE + 50 + 10_000);
}

/// A receive has begun when it is posted, and ends when it is complete.
#[test]
fn sends_and_receives_have_a_begin_and_an_end() {
    let send = "c: calc 40; s: send 200b to 1 tag 1; s requires c; d: calc 1 cpu 1; d irequires s; e: calc 900 cpu 2; e requires s";
    let receive = "r: recv 200b from 0 tag 1; d: calc 2000 cpu 1; d irequires r; e: calc 1 cpu 2; e requires r";
    let output = run_job(trace(&[0, 1], &[send, receive]));
    let cts = 40_000 + SEND + 2 * hop(CONTROL);
    let sent = cts + 200_000;
    assert_eq!(output.ranks.finish_ps[0], sent + 900_000);
    assert_eq!(output.ranks.finish_ps[1], 2_000_000, "the second compute begins at 0");
    assert_eq!(output.ranks.work_ps, [40_000 + SEND + 1000 + 900_000, RECEIVE + 2_000_000 + 1000]);
}

/// What happens to a rank at one instant has an order: arrivals, ends of works, then what has been sent.
#[test]
fn rank_events_of_one_instant_have_an_order() {
    // The send is complete when c ends; y, which waits for c, has the CPU first, though x stands before it.
    let sent = SEND + 2 * hop(CONTROL) + 200_000;
    let lines = format!(
        "s: send 200b to 1 tag 1; c: calc {sent}ps cpu 1; x: calc 7 cpu 2; y: calc 9 cpu 2; z: calc 1 cpu 3; \
         x requires s; y requires c; z requires x"
    );
    let output = run_job(trace(&[0, 1], &[&lines, "r: recv 200b from 0 tag 1"]));
    assert_eq!(output.ranks.finish_ps[0], sent + 9000 + 7000 + 1000);
    // The message arrives when c ends; receiving has the CPU before y.
    let there = SEND + 50 + hop(50);
    let lines = format!(
        "c: calc {there}ps cpu 1; y: calc 9 cpu 2; r: recv 50b from 0 tag 1 cpu 2; z: calc 1 cpu 3; y requires c; z requires r"
    );
    let output = run_job(trace(&[0, 1], &["s: send 50b to 1 tag 1", &lines]));
    assert_eq!(output.ranks.finish_ps[1], there + RECEIVE + 50 + 9000);
}
