//! The errors for GOAL texts that cannot be read: line, column, what was found, what was expected.

use crate::support::goal_error;

/// Between `rank 0 {` in line 2 and `}`, with an idle rank 1.
fn in_rank_0(body: &str) -> (u32, u32, String) {
    goal_error(&format!("num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n}}\n"))
}

#[track_caller]
fn says(found: (u32, u32, String), line: u32, column: u32, problem: &str) {
    assert_eq!(found, (line, column, problem.to_string()));
}

#[test]
fn misspelt_words() {
    let cases = [
        (
            "l1: sned 8b to 1",
            5,
            "unexpected (expected = [``send``, ``recv``, ``calc``], found = `sned`, known = [`send`, `recv`, `calc`])",
        ),
        (
            "sned 8b to 1",
            1,
            "unexpected (expected = [``send``, ``recv``, ``calc``], found = `sned`, known = [`send`, `recv`, `calc`])",
        ),
        (
            "bcast 8b to 1",
            1,
            "unexpected (expected = [``send``, ``recv``, ``calc``], found = `bcast`, known = [`send`, `recv`, `calc`])",
        ),
        (
            "l1: calc 1\nl1 reqires l1",
            4,
            "unexpected (expected = [``:``, ``requires``, ``irequires``], found = `reqires`, known = [`requires`, `irequires`])",
        ),
        ("send 8b ot 1", 9, "unexpected (expected = [``to``], found = `ot`, known = [`to`])"),
        ("recv 8b to 1", 9, "unexpected (expected = [``from``], found = `to`, known = [`from`])"),
        (
            "send 8b to 1 tga 4",
            14,
            "unexpected (expected = [``tag``, ``cpu``, ``nic``, `the end of the line`], found = `tga`, known = [`tag`, `cpu`, `nic`])",
        ),
        (
            "calc 8 cpuu 1",
            8,
            "unexpected (expected = [`a unit of time`, ``cpu``, `the end of the line`], found = `cpuu`, known = [`ps`, `ns`, `us`, `ms`, `s`, `min`, `cpu`])",
        ),
        (
            "calc 8 nsec",
            8,
            "unexpected (expected = [`a unit of time`, ``cpu``, `the end of the line`], found = `nsec`, known = [`ps`, `ns`, `us`, `ms`, `s`, `min`, `cpu`])",
        ),
        (
            "calc 8 us tag 1",
            11,
            "unexpected (expected = [``cpu``, `the end of the line`], found = `tag`, known = [`cpu`])",
        ),
    ];
    for (body, column, problem) in cases {
        says(in_rank_0(body), 3 + body.matches('\n').count() as u32, column, problem);
    }
}

#[test]
fn numbers_that_cannot_be() {
    let cases = [
        ("send b to 1", 6, "unexpected (expected = [`a size in bytes such as `8b``], found = `b`, known = [])"),
        ("send 1.5b to 1", 6, "not-whole (what = `a size in bytes such as `8b``, found = `1.5`)"),
        ("send 8 to 1", 8, "unexpected (expected = [``b` (bytes) after the size 8`], found = `to`, known = [`b`])"),
        ("send 8KB to 1", 7, "unexpected (expected = [``b` (bytes) after the size 8`], found = `KB`, known = [`b`])"),
        (
            "send 1099511627777b to 1",
            6,
            "too-large (what = `a size in bytes such as `8b``, found = `1099511627777`, most = 1099511627776)",
        ),
        (
            "send 99999999999999999999999b to 1",
            6,
            "too-large (what = `a size in bytes such as `8b``, found = `99999999999999999999999`, most = 1099511627776)",
        ),
        ("send 8b to 2", 12, "no-such-rank (rank = 2, ranks = 2)"),
        ("send 8b to -1", 12, "unexpected (expected = [`a destination`], found = `-1`, known = [])"),
        ("recv 8b from -1", 14, "any-source (found = `-1`)"),
        ("recv 8b from 1 tag -1", 20, "any-tag (found = `-1`)"),
        ("send 8b to 1 tag 4294967295", 18, "any-tag (found = `4294967295`)"),
        (
            "send 8b to 1 cpu 4294967296",
            18,
            "too-large (what = `the number of a CPU`, found = `4294967296`, most = 4294967295)",
        ),
        ("send 8b to 1 cpu 1 cpu 1", 20, "second-time (what = `keyword`, found = `cpu`, first_line = nothing)"),
        ("send 8b to 1 nic 256", 18, "too-large (what = `the number of a NIC`, found = `256`, most = 255)"),
        (
            "calc",
            5,
            "unexpected (expected = [`a time such as `100` (in nanoseconds)`, ``1.5us``], found = `\n`, known = [])",
        ),
        (
            "calc -5",
            6,
            "unexpected (expected = [`a time such as `100` (in nanoseconds)`, ``1.5us``], found = `-5`, known = [])",
        ),
        ("calc 0.0001", 6, "fraction-of-picosecond (found = `0.0001 ns`)"),
        ("calc 1.2.3", 6, "not-a-time (found = `1.2.3 ns`)"),
        ("calc 99999999999 s", 6, "time-too-long (found = `99999999999 s`)"),
        ("1: calc 5", 1, "unexpected (expected = [`an operation`, `a label`, ``}``], found = `1`, known = [])"),
        ("µ: calc 5", 1, "unexpected (expected = [`an operation`, `a label`, ``}``], found = `µ`, known = [])"),
        ("/* µµ */ $", 10, "unexpected (expected = [`an operation`, `a label`, ``}``], found = `$`, known = [])"),
    ];
    for (body, column, problem) in cases {
        says(in_rank_0(body), 3, column, problem);
    }
}

#[test]
fn labels() {
    let labels = "l1: calc 1\nmiddle: calc 2\n";
    let cases = [
        ("l1: calc 3", 1, "second-time (what = `label`, found = `l1`, first_line = 3)"),
        ("l1 requires midle", 13, "unknown-label (label = `midle`, known = [`l1`, `middle`])"),
        ("other requires l1", 1, "unknown-label (label = `other`, known = [`l1`, `middle`])"),
        ("l1 requires 5", 13, "unexpected (expected = [`a label`], found = `5`, known = [])"),
        ("l1 requires l1 middle", 16, "unexpected (expected = [`the end of the line`], found = `middle`, known = [])"),
    ];
    for (line, column, problem) in cases {
        says(in_rank_0(&format!("{labels}{line}")), 5, column, problem);
    }
    // A label is known in its rank only.
    let text = "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nx: calc 1\nx requires l1\n}";
    says(goal_error(text), 7, 12, "unknown-label (label = `l1`, known = [`x`])");
}

#[test]
fn the_frame() {
    let cases = [
        ("", 1, 1, "unexpected (expected = [``num_ranks``], found = ``, known = [])"),
        ("# nothing\n", 2, 1, "unexpected (expected = [``num_ranks``], found = ``, known = [])"),
        (
            "rank 0 {\n}",
            1,
            6,
            "unexpected (expected = [``num_ranks` before the first `rank``], found = `0`, known = [])",
        ),
        ("numranks 4", 1, 1, "unexpected (expected = [``num_ranks``], found = `numranks`, known = [`num_ranks`])"),
        ("num_ranks 0", 1, 11, "trace-without-ranks"),
        ("num_ranks many", 1, 11, "unexpected (expected = [`a number of ranks`], found = `many`, known = [])"),
        (
            "num_ranks 4294967296",
            1,
            11,
            "too-large (what = `a number of ranks`, found = `4294967296`, most = 4294967295)",
        ),
        ("num_ranks 1\nnum_ranks 1", 2, 1, "second-time (what = `keyword`, found = `num_ranks`, first_line = nothing)"),
        ("num_ranks 4294967295\nrank 0 {\n}", 1, 11, "missing-rank (rank = 1, ranks = 4294967295)"),
        ("num_ranks 1\nrnak 0 {\n}", 2, 1, "unexpected (expected = [``rank``], found = `rnak`, known = [`rank`])"),
        ("num_ranks 1\nrank 1 {\n}", 2, 6, "no-such-rank (rank = 1, ranks = 1)"),
        ("num_ranks 1\nrank 0\n{\n}", 2, 7, "unexpected (expected = [``{``], found = `\n`, known = [])"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}", 4, 6, "second-time (what = `rank`, found = `0`, first_line = 2)"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n", 4, 1, "open-rank (rank = 0, rank_line = 2)"),
        ("num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}", 4, 1, "open-rank (rank = 0, rank_line = 2)"),
        ("num_ranks 1\nrank 0 {\n/* no end\n}", 3, 1, "open-comment"),
        ("num_ranks 1\nrank 0 {\n/*/\n}", 3, 1, "open-comment"),
        ("num_ranks 1\nrank 0 {\n} }", 3, 3, "unexpected (expected = [``rank``], found = `}`, known = [])"),
    ];
    for (text, line, column, problem) in cases {
        says(goal_error(text), line, column, problem);
    }
}

#[test]
fn cycles_name_their_operations() {
    let body = "a: calc 1\nb: send 1b to 0\nc: calc 2\nd: recv 1b from 0\na requires c\nb irequires a\nc requires b\nd requires c";
    says(
        in_rank_0(body),
        3,
        1,
        "cycle-of-operations (first = [{label = `a`, line = 3}, {label = `c`, line = 5}, {label = `b`, line = 4}], length = 3)",
    );
    says(
        in_rank_0("  x: calc 1\nx requires x"),
        3,
        3,
        "cycle-of-operations (first = [{label = `x`, line = 3}], length = 1)",
    );
    let mut long = String::new();
    for i in 0..20 {
        long += &format!("l{i}: calc 1\nl{i} requires l{}\n", (i + 1) % 20);
    }
    assert!(in_rank_0(&long).2.ends_with("{label = `l7`, line = 17}], length = 20)"));
}

#[test]
fn messages_with_one_end() {
    // Between ranks 0 (lines 3 on) and 1.
    let of = |zero: &str, one: &str| goal_error(&format!("num_ranks 2\nrank 0 {{\n{zero}\n}}\nrank 1 {{\n{one}\n}}\n"));
    says(
        of("calc 1\n r: recv 10b from 1 tag 7", "calc 1"),
        4,
        2,
        "unmatched (operation = `receive`, rank = 0, peer = 1, tag = 7, bytes = 10, matched = 0, other = nothing, other_tag = nothing)",
    );
    says(
        of("send 10b to 1", "calc 1"),
        3,
        1,
        "unmatched (operation = `send`, rank = 0, peer = 1, tag = 0, bytes = 10, matched = 0, other = nothing, other_tag = nothing)",
    );
    says(
        of("send 10b to 1 tag 7", "recv 10b from 0 tag 8"),
        3,
        1,
        "unmatched (operation = `send`, rank = 0, peer = 1, tag = 7, bytes = 10, matched = 0, other = {line = 6}, other_tag = 8)",
    );
    says(
        of("send 10b to 1 tag 7", "recv 11b from 0 tag 7"),
        6,
        1,
        "unequal-sizes (rank = 1, peer = 0, tag = 7, bytes = 11, send = {line = 3}, send_bytes = 10)",
    );
    says(
        of("send 1b to 1\nsend 1b to 1", "recv 1b from 0"),
        4,
        1,
        "unmatched (operation = `send`, rank = 0, peer = 1, tag = 0, bytes = 1, matched = 1, other = nothing, other_tag = nothing)",
    );
    says(
        of("send 1b to 1\nsend 1b to 1", "recv 1b from 0\nrecv 1b from 0\nrecv 2b from 0"),
        9,
        1,
        "unmatched (operation = `receive`, rank = 1, peer = 0, tag = 0, bytes = 2, matched = 2, other = nothing, other_tag = nothing)",
    );
    // What matches with one tag does not count for the next.
    says(
        of("send 1b to 1 tag 1\nsend 1b to 1 tag 2", "recv 1b from 0 tag 1"),
        4,
        1,
        "unmatched (operation = `send`, rank = 0, peer = 1, tag = 2, bytes = 1, matched = 0, other = nothing, other_tag = nothing)",
    );
    // The first in the text is named, whatever is wrong with it.
    says(
        of("send 1b to 1 tag 9\nrecv 1b from 0", "recv 2b from 0 tag 9"),
        4,
        1,
        "unmatched (operation = `receive`, rank = 0, peer = 0, tag = 0, bytes = 1, matched = 0, other = nothing, other_tag = nothing)",
    );
}
