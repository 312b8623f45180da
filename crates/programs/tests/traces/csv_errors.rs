//! What is said of tables that cannot be read.

use odonata_programs::trace::Trace;

use crate::support::place;

#[track_caller]
fn says(text: &str, line: u32, column: u32, problem: &str) {
    assert_eq!(place(Trace::parse_csv(text)), (line, column, problem.to_string()), "{text}");
}

#[test]
fn headers() {
    let none = "expected a header, `rank,operation,peer,bytes,tag,time`, found nothing";
    says("", 1, 1, none);
    says("# nothing\n\n", 3, 1, none);
    let columns = "expected a column (rank, operation, peer, bytes, tag, time), found";
    says("rank,operatoin", 1, 6, &format!("{columns} `operatoin`; did you mean `operation`?"));
    says("rank, who", 1, 7, &format!("{columns} `who`"));
    says("rank;operation", 1, 1, &format!("{columns} `rank;operation`"));
    says("rank,operation,rank", 1, 16, "the column `rank` is there a second time");
    says("# t\n  rank,peer", 2, 1, "the header has no column `operation`");
    says("rank,operation\n", 2, 1, "expected at least one row after the header");
}

#[test]
fn rows() {
    let cases = [
        (
            "0,snd,1,5,,",
            3,
            "expected an operation (send, recv, isend, irecv, wait, compute), found `snd`; did you mean `send`?",
        ),
        ("0,bcast,1,5,,", 3, "expected an operation (send, recv, isend, irecv, wait, compute), found `bcast`"),
        (",send,1,5,,", 1, "a `send` needs `rank`, found nothing"),
        ("0,send,,5,,", 8, "a `send` needs `peer`, found nothing"),
        ("0,send,1", 9, "a `send` needs `bytes`, found nothing"),
        ("0,send,1,4 KB,,", 10, "expected `bytes` as a whole number, found `4 KB`"),
        ("0,send,1,-4,,", 10, "expected `bytes` as a whole number, found `-4`"),
        ("0,send,1,+4,,", 10, "expected `bytes` as a whole number, found `+4`"),
        ("0,send,1,1099511627777,,", 10, "expected `bytes` of at most 1099511627776, found `1099511627777`"),
        ("0,send,1,5,4294967295,", 12, "`4294967295` means any tag: a message here must have one tag"),
        ("4294967295,wait,,,,", 1, "expected `rank` of at most 4294967294, found `4294967295`"),
        ("0,send,1,5,,1ns", 13, "a `send` has no `time`, found `1ns`; leave it empty"),
        ("0,compute,,5,,1ns", 12, "a `compute` has no `bytes`, found `5`; leave it empty"),
        ("0,wait,,,3,", 10, "a `wait` has no `tag`, found `3`; leave it empty"),
        ("0,,1", 4, "a row without operation has no `peer`, found `1`; leave it empty"),
        ("0,compute", 10, "a `compute` needs `time`, such as `1.5us`; found nothing"),
        ("0,compute,,,, 1.5", 15, "the time `1.5` has no unit; write `1.5 ns`, or another of ps, ns, us, ms, s, min"),
        ("0,compute,,,,1.5 uss", 14, "`uss` is not a unit of time; did you mean `us`?"),
        ("0,compute,,,,0.1 ps", 14, "`0.1 ps` is not a whole number of picoseconds"),
        ("0,compute,,,,soon", 14, "expected a time such as `1.5 us`, found `soon`"),
        ("0,compute,,,,1ns,,", 18, "expected 6 fields, as in the header, found more"),
        ("0,wait,1,,7,", 3, "rank 0 waits for an `isend` or `irecv` with rank 1 and tag 7, but all of them are done"),
    ];
    for (row, column, problem) in cases {
        says(&format!("rank,operation,peer,bytes,tag,time\n1,compute,,,,1us\n{row}\n"), 3, column, problem);
    }
}

#[test]
fn ranks_that_are_not_there() {
    let header = "rank,operation,peer,bytes,tag,time\n";
    says(
        &format!("{header}0,compute,,,,1us\n4294967294,compute,,,,1us\n"),
        4,
        1,
        "there are rows of rank 4294967294, but none of rank 1; if it does nothing, write `1` alone",
    );
    says(
        &format!("{header}1,compute,,,,1us\n0,send, 2,5,,\n0,send,3,5,,\n"),
        3,
        9,
        "there is no rank 2: the rows are of ranks 0 to 1",
    );
}

#[test]
fn messages_with_one_end() {
    let header = "rank,operation,peer,bytes,tag,time\n";
    says(
        &format!("{header}0,isend,1,5,,\n1,irecv,0,5,3,\n"),
        2,
        1,
        "rank 0 sends 5 bytes to rank 1 with tag 0, but nobody receives that; line 3 receives with tag 3",
    );
    says(
        &format!("{header}0,isend,1,5,3,\n1,irecv,0,6,3,\n"),
        3,
        1,
        "rank 1 receives 6 bytes from rank 0 with tag 3, but line 2 sends 5 bytes",
    );
}
