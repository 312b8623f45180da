//! The meaning of GOAL texts.

use odonata_error::{ErrorKind, path};
use odonata_programs::trace::{Action, Operation, Start, Trace};

use crate::support::{goal_error, waits};

fn compute(ps: u64) -> Action {
    Action::Compute { ps }
}

fn operation(action: Action, cpu: u16) -> Operation {
    Operation { action, cpu, nic: 0, peer_nic: 0, line: 0 }
}

fn actions(trace: &Trace, rank: u32) -> Vec<Action> {
    trace.graph(rank).operations().iter().map(|operation| operation.action).collect()
}

#[test]
fn a_schedule_is_read_as_it_is_meant() {
    let text = "\
// two ranks
num_ranks 2

rank 0 { # the first
  l1: send 10b to 1 tag 4 cpu 3 nic 0
  l2: calc 100 cpu 255
  /* l1 may begin
     when l2 has begun */ l1 irequires l2
  l2 requires l3
  l3: recv 0b from 1
}
rank 1 {
  recv 10 b from 0 cpu 1 tag 4 /* no label */
  send 0b to 0 tag 0 }
";
    let trace = Trace::read(text, 2).unwrap();
    assert_eq!((trace.ranks(), trace.operations()), (2, 5));
    assert_eq!(
        trace.graph(0).operations(),
        [
            operation(Action::Send { to: 1, label: 1 << 32, bytes: 10 }, 1),
            operation(compute(100_000), 2),
            operation(Action::Receive { from: 1, label: 0, bytes: 0 }, 0),
        ]
    );
    assert_eq!(([0, 1 << 32].map(|label| trace.tag(label)), trace.graph(0).cpus()), ([0, 4], &[0, 3, 255][..]));
    assert_eq!(trace.graph(0).operations().iter().map(|operation| operation.line).collect::<Vec<_>>(), [5, 6, 10]);
    assert_eq!(waits(trace.graph(0)), [(0, 1, Start::AtBegin), (1, 2, Start::AtEnd)]);
    assert_eq!(
        actions(&trace, 1),
        [Action::Receive { from: 0, label: 1 << 32, bytes: 10 }, Action::Send { to: 0, label: 0, bytes: 0 }]
    );
    assert_eq!(trace.graph(1).operations()[1].line, 14);
    assert_eq!(waits(trace.graph(1)), []);
}

#[test]
fn a_calc_is_in_nanoseconds_unless_it_has_a_unit() {
    let text =
        "num_ranks 1\nrank 0 {\ncalc 7\ncalc 1.234\ncalc 1234ps\ncalc 1.5 us cpu 1\ncalc 2s\ncalc 1min\ncalc 0\n}";
    let trace = Trace::parse_goal(text).unwrap();
    let expected = [7_000, 1_234, 1_234, 1_500_000, 2_000_000_000_000, 60_000_000_000_000, 0];
    assert_eq!(actions(&trace, 0), expected.map(compute));
    assert_eq!(trace.graph(0).operations()[3].cpu, 1);
}

#[test]
fn the_kth_send_belongs_to_the_kth_receive_of_the_same_tag() {
    // The receives of tag 1 are of 1 and 2 bytes in this order; those of tag 0 stand between them.
    let text = "\
num_ranks 2
rank 0 { 
send 1b to 1 tag 1
send 5b to 1
send 2b to 1 tag 1
send 6b to 1 }
rank 1 { 
recv 5b from 0
recv 1b from 0 tag 1
recv 2b from 0 tag 1
recv 6b from 0 }";
    let trace = Trace::parse_goal(text).unwrap();
    let send = |label, bytes| Action::Send { to: 1, label, bytes };
    let receive = |label, bytes| Action::Receive { from: 0, label, bytes };
    assert_eq!(actions(&trace, 0), [send(1 << 32, 1), send(0, 5), send((1 << 32) + 1, 2), send(1, 6)]);
    assert_eq!(actions(&trace, 1), [receive(0, 5), receive(1 << 32, 1), receive((1 << 32) + 1, 2), receive(1, 6)]);
}

#[test]
fn ranks_may_come_in_any_order_and_send_to_themselves() {
    let text = "num_ranks 3 rank 2 { } rank 0 { send 3b to 0\nrecv 3b from 0 }\nrank 1 { calc 1 }";
    let trace = Trace::parse_goal(text).unwrap();
    assert_eq!([0, 1, 2].map(|rank| trace.graph(rank).operations().len()), [2, 1, 0]);
}

#[test]
fn windows_texts_are_read_too() {
    let text = "num_ranks 1\nrank 0 {\nl1: calc 1\nl2: calc 2\nl2 requires l1\n}\n";
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(Trace::parse_goal(&windows), Trace::parse_goal(text));
}

#[test]
fn the_number_of_ranks_must_be_that_of_the_job() {
    let text = "num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n";
    assert!(Trace::read(text, 2).is_ok());
    let error = ErrorKind::TraceOfOtherRanks { found: 2, ranks: 3 }.at(path!["goal"]);
    assert_eq!(Trace::read(text, 3), Err(error));
}

#[test]
fn what_is_said_twice_counts_once() {
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\nb irequires a\nb requires a\n}";
    let trace = Trace::parse_goal(text).unwrap();
    assert_eq!(trace.graph(0).followers(0), [(1, Start::AtBegin), (1, Start::AtEnd)]);
    assert_eq!(trace.graph(0).waits_for(1), 2);
}

/// The schedule of dissemination among 4 ranks as LogGOPSim's generator writes it.
#[test]
fn what_loggopsim_generates_is_read() {
    let mut text = String::from("num_ranks 4\n\n");
    for rank in 0..4 {
        let [right, left, far] = [(rank + 1) % 4, (rank + 3) % 4, (rank + 2) % 4];
        text += &format!(
            "rank {rank} {{\nl1: send 1b to {right} tag 0\nl2: recv 1b from {left} tag 0\nl3: send 1b to {far} tag 0\n\
             l3 requires l2\nl4: recv 1b from {far} tag 0\n}}\n\n"
        );
    }
    let trace = Trace::read(&text, 4).unwrap();
    assert_eq!(trace.operations(), 16);
    assert!((0..4).all(|rank| waits(trace.graph(rank)) == [(2, 1, Start::AtEnd)]));
    // Its own output is the canonical form.
    assert_eq!(trace.to_goal(), text.trim_end().to_string() + "\n");
}

#[test]
fn nics_of_both_ends_are_kept() {
    let text = "num_ranks 2\nrank 0 {\nsend 1b to 1 nic 2\nsend 1b to 1\nrecv 1b from 1 tag 5 nic 9\n}\nrank 1 {\nrecv 1b from 0 nic 3\nrecv 1b from 0\nsend 1b to 0 tag 5\n}\n";
    let trace = Trace::parse_goal(text).unwrap();
    let nics = |rank| {
        trace.graph(rank).operations().iter().map(|operation| (operation.nic, operation.peer_nic)).collect::<Vec<_>>()
    };
    assert_eq!((nics(0), nics(1)), (vec![(2, 3), (0, 0), (9, 0)], vec![(3, 2), (0, 0), (0, 9)]));
    assert!(trace.names_nics());
    let without = trace.clone().without_nics();
    assert!(!without.names_nics());
    assert_eq!(
        without,
        Trace::parse_goal(&text.replace(" nic 2", "").replace(" nic 3", "").replace(" nic 9", " nic 0")).unwrap()
    );
    assert_eq!(Trace::parse_goal(&trace.to_goal()), Ok(trace));
}

/// As in traces of NCCL: more than 256 CPUs with gaps between their numbers, tags of more than 32 bits.
#[test]
fn many_cpus_and_large_tags_are_kept() {
    let mut text = String::from(
        "num_ranks 1\nrank 0 {\nsend 1b to 0 tag 18446744073709551615\nrecv 1b from 0 tag 18446744073709551615\n",
    );
    for cpu in 0..70_000_u32 {
        text += &format!("calc 1 cpu {}\n", if cpu < 65_000 { 4_294_967_295 - 7 * cpu } else { 0 });
    }
    text += "}\n";
    let trace = Trace::parse_goal(&text).unwrap();
    let graph = trace.graph(0);
    assert_eq!(
        (graph.cpus().len(), graph.cpu(&graph.operations()[2]), graph.operations()[2].cpu),
        (65_001, u32::MAX, 65_000)
    );
    assert_eq!(trace.tag(0), u64::MAX);
    let too_many = text.replace("cpu 0\n", "cpu 1\n").replacen(
        "calc 1 cpu 1\n",
        &(1..1000).map(|n| format!("calc 1 cpu {n}\n")).collect::<String>(),
        1,
    );
    let (line, _, problem) = goal_error(&too_many);
    assert_eq!(
        (line, problem.as_str()),
        (5, "too-many-cpus (cpu = 4294967295, rank = 0, found = 66000, most = 65536)")
    );
}
