//! The errors for tables that cannot be read.

use odonata_programs::trace::Trace;

use crate::support::place;

#[track_caller]
fn says(text: &str, line: u32, column: u32, problem: &str) {
    assert_eq!(place(Trace::parse_csv(text)), (line, column, problem.to_string()), "{text}");
}

#[test]
fn headers() {
    let none = "no-header (columns = [`rank`, `operation`, `peer`, `bytes`, `tag`, `time`])";
    says("", 1, 1, none);
    says("# nothing\n\n", 3, 1, none);
    let known = "known = [`rank`, `operation`, `peer`, `bytes`, `tag`, `time`]";
    for (header, column, found) in
        [("rank,operatoin", 6, "operatoin"), ("rank, who", 7, "who"), ("rank;operation", 1, "rank;operation")]
    {
        says(header, 1, column, &format!("unknown-name (what = `column`, found = `{found}`, {known})"));
    }
    says("rank,operation,rank", 1, 16, "second-time (what = `column`, found = `rank`, first_line = nothing)");
    says("# t\n  rank,peer", 2, 1, "missing-column (column = `operation`)");
    says("rank,operation\n", 2, 1, "no-rows");
}

#[test]
fn rows() {
    let cases = [
        (
            "0,snd,1,5,,",
            3,
            "unknown-name (what = `operation`, found = `snd`, known = [`send`, `recv`, `isend`, `irecv`, `wait`, `compute`])",
        ),
        (
            "0,bcast,1,5,,",
            3,
            "unknown-name (what = `operation`, found = `bcast`, known = [`send`, `recv`, `isend`, `irecv`, `wait`, `compute`])",
        ),
        (",send,1,5,,", 1, "missing-field (operation = `send`, field = `rank`)"),
        ("0,send,,5,,", 8, "missing-field (operation = `send`, field = `peer`)"),
        ("0,send,1", 9, "missing-field (operation = `send`, field = `bytes`)"),
        ("0,send,1,4 KB,,", 10, "not-whole (what = `bytes`, found = `4 KB`)"),
        ("0,send,1,-4,,", 10, "not-whole (what = `bytes`, found = `-4`)"),
        ("0,send,1,+4,,", 10, "not-whole (what = `bytes`, found = `+4`)"),
        ("0,send,1,1099511627777,,", 10, "too-large (what = `bytes`, found = `1099511627777`, most = 1099511627776)"),
        ("0,send,1,5,4294967295,", 12, "any-tag (found = `4294967295`)"),
        ("4294967295,wait,,,,", 1, "too-large (what = `rank`, found = `4294967295`, most = 4294967294)"),
        ("0,send,1,5,,1ns", 13, "needless-field (operation = `send`, field = `time`, found = `1ns`)"),
        ("0,compute,,5,,1ns", 12, "needless-field (operation = `compute`, field = `bytes`, found = `5`)"),
        ("0,wait,,,3,", 10, "needless-field (operation = `wait`, field = `tag`, found = `3`)"),
        ("0,,1", 4, "needless-field (operation = ``, field = `peer`, found = `1`)"),
        ("0,compute", 10, "missing-field (operation = `compute`, field = `time`)"),
        ("0,compute,,,, 1.5", 15, "no-unit (found = `1.5`, units = [`ps`, `ns`, `us`, `ms`, `s`, `min`])"),
        (
            "0,compute,,,,1.5 uss",
            14,
            "unknown-name (what = `unit of time`, found = `uss`, known = [`ps`, `ns`, `us`, `ms`, `s`, `min`])",
        ),
        ("0,compute,,,,0.1 ps", 14, "fraction-of-picosecond (found = `0.1 ps`)"),
        ("0,compute,,,,soon", 14, "not-a-time (found = `soon`)"),
        ("0,compute,,,,1ns,,", 18, "too-many-fields (most = 6)"),
        ("0,wait,1,,7,", 3, "nothing-to-wait-for (rank = 0, peer = 1, tag = 7)"),
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
        "rank-without-rows (rank = 1, last = 4294967294)",
    );
    says(
        &format!("{header}1,compute,,,,1us\n0,send, 2,5,,\n0,send,3,5,,\n"),
        3,
        9,
        "no-such-rank (rank = 2, ranks = 2)",
    );
}

#[test]
fn messages_with_one_end() {
    let header = "rank,operation,peer,bytes,tag,time\n";
    says(
        &format!("{header}0,isend,1,5,,\n1,irecv,0,5,3,\n"),
        2,
        1,
        "unmatched (operation = `send`, rank = 0, peer = 1, tag = 0, bytes = 5, matched = 0, other = {line = 3}, other_tag = 3)",
    );
    says(
        &format!("{header}0,isend,1,5,3,\n1,irecv,0,6,3,\n"),
        3,
        1,
        "unequal-sizes (rank = 1, peer = 0, tag = 3, bytes = 6, send = {line = 2}, send_bytes = 5)",
    );
}
