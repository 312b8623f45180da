//! Traces on several CPUs: dependencies on the start or the end of an operation, and the order of simultaneous events.
//! Worked out by hand, in nanoseconds.

use super::support::{FREE, finishes_of, goal, program, star};
use odonata_sim::spec::{Costs, Spec};

const NS: u64 = 1_000;

fn one_rank(lines: &str) -> Spec {
    star(2, vec![program("one", &[0, 1], FREE, goal(&[lines, ""]))])
}

/// When rank 0 of a trace finishes, in nanoseconds.
fn finish(lines: &str) -> u64 {
    let finishes = finishes_of(&one_rank(lines));
    assert_eq!(finishes[1], 0, "a rank with nothing to do finishes when it starts");
    assert_eq!(finishes[0] % NS, 0);
    finishes[0] / NS
}

/// Catches two CPUs that act as one, and one that acts as two.
#[test]
fn each_cpu_serves_in_the_order_of_asking() {
    assert_eq!(finish("calc 30\ncalc 50\ncalc 20"), 30 + 50 + 20);
    assert_eq!(finish("calc 30 cpu 1\ncalc 50 cpu 0\ncalc 20 cpu 255"), 50);
    // The first in the text is served first, so what waits for the last one ends last.
    assert_eq!(finish("a: calc 30\nb: calc 50\nc: calc 100 cpu 1\nc requires a"), 30 + 100);
    assert_eq!(finish("a: calc 30\nb: calc 50\nc: calc 100 cpu 1\nc requires b"), 30 + 50 + 100);
}

/// `requires` waits for the end, `irequires` for the start, which may be later than the time at which the operation is
/// ready. Catches one that is confused with the other, and a start at the time of readiness.
#[test]
fn beginnings_and_ends() {
    let queued = "a: calc 100\nb: calc 50\nc: calc 300 cpu 1\n";
    assert_eq!(finish(&format!("{queued}c irequires a")), 300, "a begins at once");
    assert_eq!(finish(&format!("{queued}c requires a")), 100 + 300);
    assert_eq!(finish(&format!("{queued}c irequires b")), 100 + 300, "b begins when a ends");
    assert_eq!(finish(&format!("{queued}c requires b")), 150 + 300);
    assert_eq!(finish(&format!("{queued}c irequires a\nc irequires b")), 100 + 300, "the later of the two");
    assert_eq!(finish(&format!("{queued}c irequires b\nc requires b")), 150 + 300, "both moments of one");
    assert_eq!(finish("a: calc 100\nb: calc 0\nc: calc 300 cpu 1\nc irequires b"), 100 + 300, "a work of no time");
}

/// A receive begins when it is posted; a send ends when it is complete. Catches a receive that begins with its message.
#[test]
fn beginnings_of_messages() {
    let costs = Costs { send_ps: 40 * NS, receive_ps: 60 * NS, memory_ps: 1_000 * NS, ..FREE };
    let finish = |first: &str, second: &str| {
        finishes_of(&star(1, vec![program("near", &[0, 0], costs, goal(&[first, second]))]))
    };
    let (a, b) = ("a: send 1b to 1\nb: calc 500 cpu 1\n", "a: recv 1b from 0\nb: calc 5000 cpu 1\n");
    let received = (40 + 1_000 + 60) * NS;
    assert_eq!(finish(&format!("{a}b irequires a"), &format!("{b}b irequires a")), [500 * NS, 5_000 * NS]);
    assert_eq!(finish(&format!("{a}b requires a"), &format!("{b}b requires a")), [540 * NS, received + 5_000 * NS]);
}

/// Of operations that are ready together, the first in the text begins first, even if others were ready earlier.
/// Catches a queue in order of readiness.
#[test]
fn ready_operations_begin_in_the_order_of_the_text() {
    // When x ends, both q and p are ready.
    let text =
        "x: calc 10\nq: calc 20 cpu 1\np: calc 30 cpu 1\nr: calc 100 cpu 2\nq requires x\np requires x\nr requires q";
    assert_eq!(finish(text), 10 + 20 + 100);
    // a releases c at once; c is before b in the text, so it gets CPU 1 first.
    let text = "a: calc 0\nc: calc 20 cpu 1\nb: calc 30 cpu 1\nr: calc 100 cpu 2\nc requires a\nr requires c";
    assert_eq!(finish(text), 20 + 100);
    // Here b is before c in the text.
    let text = "a: calc 0\nb: calc 30 cpu 1\nc: calc 20 cpu 1\nr: calc 100 cpu 2\nc requires a\nr requires c";
    assert_eq!(finish(text), 30 + 20 + 100);
}

/// The followers of a task of zero duration follow at once, before all other events of that time. Catches an event
/// that is scheduled for it.
#[test]
fn a_work_of_no_time_is_followed_at_once() {
    // x and w end at 10, x (the first work) first. y takes no time, so z requests CPU 1 before v.
    let text = "x: calc 10\nw: calc 10 cpu 3\ny: calc 0\nz: calc 100 cpu 1\nv: calc 1000 cpu 1\nu: calc 5000 cpu 2\n\
                y requires x\nz requires y\nv requires w\nu requires z";
    assert_eq!(finish(text), 10 + 100 + 5_000);
}

/// Tasks that end at the same time do so in the order of their numbers. Catches an order by operation or by CPU.
#[test]
fn tasks_end_in_the_order_in_which_they_were_requested() {
    // d is requested at 5, after c, and is before it in the text; both end at 25. The follower of c is first on CPU 4.
    let text = "a: calc 5\nd: calc 20 cpu 1\nc: calc 25 cpu 2\np: calc 100 cpu 4\nq: calc 300 cpu 4\nr: calc 1000 cpu 5\n\
                d requires a\np requires d\nq requires c\nr requires q";
    assert_eq!(finish(text), 25 + 300 + 1_000);
}

/// Starts come before ends. Catches the two kinds of simultaneous events in the wrong order.
#[test]
fn at_one_instant_works_begin_before_others_end() {
    // At 100 a ends and b begins. c waits for b's beginning and gets CPU 1 before d, which waits for a's end.
    let text = "a: calc 100\nb: calc 50\nc: calc 10 cpu 1\nd: calc 20 cpu 1\ne: calc 400 cpu 2\n\
                c irequires b\nd requires a\ne requires c";
    assert_eq!(finish(text), 100 + 10 + 400);
}

/// Messages come before task ends. Catches the wrong order of kinds, and the order of insertion.
#[test]
fn at_one_instant_messages_come_before_works_end() {
    const MEMORY: u64 = 200;
    let costs = Costs { receive_ps: 60 * NS, memory_ps: MEMORY * NS, ..FREE };
    // The message is there at 200, when a ends; it takes the CPU for 60, then b.
    let second = "m: recv 1b from 0\na: calc 200\nb: calc 1000\nc: calc 5000 cpu 1\nb requires a\nc requires m";
    let spec = star(1, vec![program("near", &[0, 0], costs, goal(&["send 1b to 1", second]))]);
    assert_eq!(finishes_of(&spec)[1], (MEMORY + 60 + 5_000) * NS);
}

/// Simultaneous messages come in the order of their labels. Catches the order of sending.
#[test]
fn at_one_instant_messages_come_in_the_order_of_their_labels() {
    let costs = Costs { receive_ps: 60 * NS, memory_ps: 200 * NS, ..FREE };
    let first = "send 1b to 1 tag 7\nsend 1b to 1 tag 2";
    let second = "a: recv 1b from 0 tag 7\nb: recv 1b from 0 tag 2\nc: calc 1000 cpu 1\nc requires b";
    let spec = star(1, vec![program("near", &[0, 0], costs, goal(&[first, second]))]);
    assert_eq!(finishes_of(&spec)[1], (200 + 60 + 1_000) * NS);
}

/// Task ends come before data that leaves. Catches the last kind of event confused with another.
#[test]
fn at_one_instant_works_end_before_data_has_left() {
    let asking = Costs { eager_bytes: 0, ..FREE };
    let job = |first: &str| star(2, vec![program("two", &[0, 1], asking, goal(&[first, "recv 500b from 0"]))]);
    let sent = finishes_of(&job("send 500b to 1"))[0];
    // w ends when the data of s has left. Its follower f is first on CPU 2, so g ends after it.
    let first = format!(
        "s: send 500b to 1\nw: calc {sent}ps cpu 1\ng: calc 100 cpu 2\nf: calc 300 cpu 2\nh: calc 9000 cpu 3\n\
         g requires s\nf requires w\nh requires g"
    );
    assert_eq!(finishes_of(&job(&first))[0], sent + (300 + 100 + 9_000) * NS);
}

/// Ranks of a node act in the order of their numbers. Catches an order of insertion, in which the last rank was ready
/// long before.
#[test]
fn at_one_instant_ranks_come_in_their_order() {
    // Both hand over at 50; rank 0 reached its send only at 50, and rank 1 has worked on its send since 0.
    let ranks = [
        "a: calc 30\nb: calc 20\nb requires a\nc: send 900b to 2\nc requires b",
        "a: calc 50\nb: send 900b to 3\nb requires a",
    ];
    let job = program("four", &[0, 0, 1, 2], FREE, goal(&[ranks[0], ranks[1], "recv 900b from 0", "recv 900b from 1"]));
    let finishes = finishes_of(&star(3, vec![job]));
    assert!(finishes[2] < finishes[3], "{finishes:?}");
    assert_eq!(finishes[0..2], [50 * NS, 50 * NS]);
}
