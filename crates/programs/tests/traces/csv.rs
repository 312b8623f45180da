//! The meaning of tables of operations.

use odonata_programs::trace::Start::{AtBegin, AtEnd};
use odonata_programs::trace::{Action, Trace};

use crate::support::waits;

fn rank_0(rows: &str) -> Trace {
    // The peer does what rank 0 needs, all at once.
    let mut text = format!("rank,operation,peer,bytes,tag,time\n{rows}\n");
    for row in rows.lines() {
        let fields: Vec<&str> = row.split(',').collect();
        match fields[1] {
            "send" | "isend" => text += &format!("1,irecv,0,{},{},\n", fields[3], fields[4]),
            "recv" | "irecv" => text += &format!("1,isend,0,{},{},\n", fields[3], fields[4]),
            _ => {}
        }
    }
    text += "1,,,,,\n";
    Trace::parse_csv(&text).unwrap()
}

#[test]
fn columns_and_rows_are_read_as_they_are_meant() {
    let text = "\
# a comment
 time , operation, rank,bytes,peer

1.5us,compute,1
,\"send\",0,10,1
  # another
,recv,1,\"10\",0
,recv,0,0,1
, send ,1, 0 ,0
";
    let trace = Trace::parse_csv(text).unwrap();
    assert_eq!(trace.ranks(), 2);
    let actions = |rank| {
        trace.graph(rank).operations().iter().map(|operation| (operation.action, operation.line)).collect::<Vec<_>>()
    };
    assert_eq!(
        actions(0),
        [(Action::Send { to: 1, label: 0, bytes: 10 }, 5), (Action::Receive { from: 1, label: 0, bytes: 0 }, 8)]
    );
    assert_eq!(
        actions(1),
        [
            (Action::Compute { ps: 1_500_000 }, 4),
            (Action::Receive { from: 0, label: 0, bytes: 10 }, 7),
            (Action::Send { to: 0, label: 0, bytes: 0 }, 9)
        ]
    );
    assert_eq!(waits(trace.graph(1)), [(1, 0, AtEnd), (2, 1, AtEnd)]);
}

#[test]
fn a_table_in_any_order_of_ranks_and_columns_is_the_same() {
    let a = "rank,operation,peer,bytes,tag,time\n0,send,1,5,3,\n0,compute,,,,1ns\n1,recv,0,5,3,\n";
    let b = "tag,bytes,rank,peer,time,operation\r\n3,5,1,0,,recv\r\n3,5,0,1,,send\r\n,,0,,1 ns,compute\r\n";
    assert_eq!(Trace::parse_csv(a), Trace::parse_csv(b));
}

#[test]
fn what_blocks_is_waited_for() {
    let trace =
        rank_0("0,send,1,1,0,\n0,recv,1,1,1,\n0,compute,,,,1ns\n0,isend,1,1,2,\n0,irecv,1,1,3,\n0,compute,,,,1ns");
    assert_eq!(waits(trace.graph(0)), [(1, 0, AtEnd), (2, 1, AtEnd), (3, 2, AtEnd), (4, 3, AtBegin), (5, 4, AtBegin)]);
}

#[test]
fn a_wait_is_for_all_that_does_not_block() {
    let trace = rank_0(
        "0,irecv,1,1,0,\n0,send,1,1,1,\n0,isend,1,1,2,\n0,wait,,,,\n0,wait,,,,\n0,compute,,,,1ns\n0,irecv,1,1,3,\n0,wait,,,,",
    );
    assert_eq!(
        waits(trace.graph(0)),
        [(1, 0, AtBegin), (2, 1, AtEnd), (3, 0, AtEnd), (3, 2, AtEnd), (4, 3, AtEnd)],
        "the last one of the three is waited for at its end only, and nothing comes after the last wait"
    );
    // An operation is waited for only once.
    let trace = rank_0("0,irecv,1,1,0,\n0,wait,,,,\n0,compute,,,,1ns\n0,wait,,,,\n0,compute,,,,1ns");
    assert_eq!(waits(trace.graph(0)), [(1, 0, AtEnd), (2, 1, AtEnd)]);
}

#[test]
fn a_wait_with_a_peer_is_for_the_oldest_such() {
    let trace = rank_0(
        "0,irecv,1,1,0,\n0,isend,1,1,4,\n0,irecv,1,2,4,\n0,wait,1,,4,\n0,compute,,,,1ns\n0,wait,1,,4,\n0,compute,,,,1ns\n\
         0,wait,1,,,\n0,compute,,,,1ns",
    );
    assert_eq!(
        waits(trace.graph(0)),
        [
            (1, 0, AtBegin),
            (2, 1, AtBegin),
            (3, 1, AtEnd),
            (3, 2, AtBegin),
            (4, 2, AtEnd),
            (4, 3, AtEnd),
            (5, 0, AtEnd),
            (5, 4, AtEnd)
        ]
    );
}

#[test]
fn ranks_that_do_nothing_are_written_alone() {
    let trace = Trace::parse_csv("rank,operation,peer,bytes,tag,time\n2\n0,compute,,,,1ns\n1,,\n").unwrap();
    assert_eq!([0, 1, 2].map(|rank| trace.graph(rank).operations().len()), [1, 0, 0]);
    assert_eq!(trace.to_csv().unwrap(), "rank,operation,peer,bytes,tag,time\n0,compute,,,,1000ps\n1,,,,,\n2,,,,,\n");
}

#[test]
fn only_sequences_can_be_written_as_tables() {
    let refused = |body: &str| {
        let text = format!("num_ranks 2\nrank 0 {{\n}}\nrank 1 {{\n{body}\n}}");
        match Trace::parse_goal(&text).unwrap().to_csv() {
            Err(error) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let other = "csv-order";
    // Two at once; one that waits for the end of what was waited for before; for the beginning of an older one; for a
    // later one.
    assert_eq!(refused("calc 1\ncalc 2"), format!("rank 1, operation 2: {other}"));
    assert_eq!(
        refused("a: calc 1\nb: calc 2\nc: calc 3\nb requires a\nc requires b\nc requires a"),
        format!("rank 1, operation 3: {other}")
    );
    assert_eq!(
        refused("a: calc 1\nb: calc 2\nc: calc 3\nb requires a\nc requires b\nc irequires a"),
        format!("rank 1, operation 3: {other}")
    );
    assert_eq!(refused("a: calc 1\nb: calc 2\na requires b"), format!("rank 1, operation 1: {other}"));
    assert_eq!(refused("calc 1 cpu 2"), "rank 1, operation 1: csv-cpu (cpu = 2)");
    assert_eq!(refused("send 1b to 1 nic 3\nrecv 1b from 1"), "rank 1, operation 1: csv-nic (nic = 3)");
    assert_eq!(refused("a: calc 1\nb: calc 2\nb irequires a"), "rank 1, operation 1: csv-overlap");
    // The second of two alike is waited for, the first is not.
    let alike = "a: recv 1b from 1\nb: recv 1b from 1\nc: send 1b to 1\nd: send 1b to 1\nb irequires a\nc irequires b\nd irequires c\n";
    assert_eq!(
        refused(&format!("{alike}e: calc 1\ne requires d\ne requires b")),
        format!("rank 1, operation 5: {other}")
    );
}
