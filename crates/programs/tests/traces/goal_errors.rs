//! What is said of GOAL texts that cannot be read: line, column, what was found, what was expected.

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
        ("l1: sned 8b to 1", 5, "expected `send`, `recv` or `calc`, found `sned`; did you mean `send`?"),
        ("sned 8b to 1", 1, "expected `send`, `recv` or `calc`, found `sned`; did you mean `send`?"),
        ("bcast 8b to 1", 1, "expected `send`, `recv` or `calc`, found `bcast`"),
        (
            "l1: calc 1\nl1 reqires l1",
            4,
            "expected `:`, `requires` or `irequires` after the label `l1`, found `reqires`; did you mean `requires`?",
        ),
        ("send 8b ot 1", 9, "expected `to`, found `ot`; did you mean `to`?"),
        ("recv 8b to 1", 9, "expected `from`, found `to`"),
        (
            "send 8b to 1 tga 4",
            14,
            "expected `tag`, `cpu`, `nic` or the end of the line, found `tga`; did you mean `tag`?",
        ),
        (
            "calc 8 cpuu 1",
            8,
            "expected a unit of time, `cpu` or the end of the line, found `cpuu`; did you mean `cpu`?",
        ),
        ("calc 8 nsec", 8, "expected a unit of time, `cpu` or the end of the line, found `nsec`"),
        ("calc 8 us tag 1", 11, "expected `cpu` or the end of the line, found `tag`"),
    ];
    for (body, column, problem) in cases {
        says(in_rank_0(body), 3 + body.matches('\n').count() as u32, column, problem);
    }
}

#[test]
fn numbers_that_cannot_be() {
    let cases = [
        ("send b to 1", 6, "expected a size in bytes such as `8b`, found `b`"),
        ("send 1.5b to 1", 6, "expected a size in bytes such as `8b`, found `1.5`: not a whole number"),
        ("send 8 to 1", 8, "expected `b` (bytes) after the size 8, found `to`"),
        ("send 8KB to 1", 7, "expected `b` (bytes) after the size 8, found `KB`"),
        (
            "send 1099511627777b to 1",
            6,
            "expected a size in bytes such as `8b` of at most 1099511627776, found `1099511627777`",
        ),
        (
            "send 99999999999999999999999b to 1",
            6,
            "expected a size in bytes such as `8b` of at most 1099511627776, found `99999999999999999999999`",
        ),
        ("send 8b to 2", 12, "there is no rank 2: `num_ranks` is 2, so ranks are 0 to 1"),
        ("send 8b to -1", 12, "expected a destination, found `-1`"),
        ("recv 8b from -1", 14, "`-1` means any source: a receive here must name its source"),
        ("recv 8b from 1 tag -1", 20, "`-1` means any tag: a message here must have one tag"),
        ("send 8b to 1 tag 4294967295", 18, "`4294967295` means any tag: a message here must have one tag"),
        ("send 8b to 1 cpu 4294967296", 18, "expected the number of a CPU of at most 4294967295, found `4294967296`"),
        ("send 8b to 1 cpu 1 cpu 1", 20, "`cpu` is there a second time"),
        ("send 8b to 1 nic 256", 18, "expected the number of a NIC of at most 255, found `256`"),
        ("calc", 5, "expected a time such as `100` (in nanoseconds) or `1.5us`, found the end of the line"),
        ("calc -5", 6, "expected a time such as `100` (in nanoseconds) or `1.5us`, found `-5`"),
        ("calc 0.0001", 6, "`0.0001 ns` is not a whole number of picoseconds"),
        ("calc 1.2.3", 6, "expected a time such as `1.5 us`, found `1.2.3 ns`"),
        ("calc 99999999999 s", 6, "`99999999999 s` is too long: a time is less than 2^64 ps (213 days)"),
        ("1: calc 5", 1, "expected an operation, a label or `}`, found `1`"),
        ("µ: calc 5", 1, "expected an operation, a label or `}`, found `µ`"),
        ("/* µµ */ $", 10, "expected an operation, a label or `}`, found `$`"),
    ];
    for (body, column, problem) in cases {
        says(in_rank_0(body), 3, column, problem);
    }
}

#[test]
fn labels() {
    let labels = "l1: calc 1\nmiddle: calc 2\n";
    let cases = [
        ("l1: calc 3", 1, "the label `l1` is there a second time; the first is in line 3"),
        ("l1 requires midle", 13, "no operation of this rank has the label `midle`; did you mean `middle`?"),
        ("other requires l1", 1, "no operation of this rank has the label `other`"),
        ("l1 requires 5", 13, "expected a label, found `5`"),
        ("l1 requires l1 middle", 16, "expected the end of the line, found `middle`"),
    ];
    for (line, column, problem) in cases {
        says(in_rank_0(&format!("{labels}{line}")), 5, column, problem);
    }
    // A label is known in its rank only.
    let text = "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nx: calc 1\nx requires l1\n}";
    says(goal_error(text), 7, 12, "no operation of this rank has the label `l1`");
}

#[test]
fn the_frame() {
    let cases = [
        ("", 1, 1, "expected `num_ranks`, found nothing"),
        ("# nothing\n", 2, 1, "expected `num_ranks`, found nothing"),
        ("rank 0 {\n}", 1, 6, "expected `num_ranks` before the first `rank`"),
        ("numranks 4", 1, 1, "expected `num_ranks`, found `numranks`; did you mean `num_ranks`?"),
        ("num_ranks 0", 1, 11, "expected at least one rank, found 0"),
        ("num_ranks many", 1, 11, "expected a number of ranks, found `many`"),
        ("num_ranks 4294967296", 1, 11, "expected a number of ranks of at most 4294967295, found `4294967296`"),
        ("num_ranks 1\nnum_ranks 1", 2, 1, "`num_ranks` is there a second time"),
        ("num_ranks 4294967295\nrank 0 {\n}", 1, 11, "`num_ranks` is 4294967295, but there is no block of rank 1"),
        ("num_ranks 1\nrnak 0 {\n}", 2, 1, "expected `rank`, found `rnak`; did you mean `rank`?"),
        ("num_ranks 1\nrank 1 {\n}", 2, 6, "there is no rank 1: `num_ranks` is 1, so ranks are 0 to 0"),
        ("num_ranks 1\nrank 0\n{\n}", 2, 7, "expected `{`, found the end of the line"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}", 4, 6, "rank 0 is there a second time; the first is in line 2"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n", 4, 1, "rank 0 has no end: expected `}` for the `{` in line 2"),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}",
            4,
            1,
            "expected `}` at the end of rank 0, which begins in line 2, found `rank`",
        ),
        ("num_ranks 1\nrank 0 {\n/* no end\n}", 3, 1, "a comment that begins here has no end: expected `*/`"),
        ("num_ranks 1\nrank 0 {\n/*/\n}", 3, 1, "a comment that begins here has no end: expected `*/`"),
        ("num_ranks 1\nrank 0 {\n} }", 3, 3, "expected `rank`, found `}`"),
    ];
    for (text, line, column, problem) in cases {
        says(goal_error(text), line, column, problem);
    }
}

#[test]
fn circles_name_their_operations() {
    let body = "a: calc 1\nb: send 1b to 0\nc: calc 2\nd: recv 1b from 0\na requires c\nb irequires a\nc requires b\nd requires c";
    says(
        in_rank_0(body),
        3,
        1,
        "operations wait for each other in a circle: `a` (line 3) waits for `c` (line 5) waits for `b` (line 4) waits for `a`",
    );
    says(
        in_rank_0("  x: calc 1\nx requires x"),
        3,
        3,
        "operations wait for each other in a circle: `x` (line 3) waits for `x`",
    );
    let mut long = String::new();
    for i in 0..20 {
        long += &format!("l{i}: calc 1\nl{i} requires l{}\n", (i + 1) % 20);
    }
    assert!(in_rank_0(&long).2.ends_with("waits for `l7` (line 17) waits for ..."));
}

#[test]
fn messages_with_one_end() {
    // Between ranks 0 (lines 3 on) and 1.
    let of = |zero: &str, one: &str| goal_error(&format!("num_ranks 2\nrank 0 {{\n{zero}\n}}\nrank 1 {{\n{one}\n}}\n"));
    says(
        of("calc 1\n r: recv 10b from 1 tag 7", "calc 1"),
        4,
        2,
        "rank 0 receives 10 bytes from rank 1 with tag 7, but nobody sends that",
    );
    says(of("send 10b to 1", "calc 1"), 3, 1, "rank 0 sends 10 bytes to rank 1 with tag 0, but nobody receives that");
    says(
        of("send 10b to 1 tag 7", "recv 10b from 0 tag 8"),
        3,
        1,
        "rank 0 sends 10 bytes to rank 1 with tag 7, but nobody receives that; line 6 receives with tag 8",
    );
    says(
        of("send 10b to 1 tag 7", "recv 11b from 0 tag 7"),
        6,
        1,
        "rank 1 receives 11 bytes from rank 0 with tag 7, but line 3 sends 10 bytes",
    );
    says(
        of("send 1b to 1\nsend 1b to 1", "recv 1b from 0"),
        4,
        1,
        "rank 0 sends 1 byte to rank 1 with tag 0, but its peer receives that only once",
    );
    says(
        of("send 1b to 1\nsend 1b to 1", "recv 1b from 0\nrecv 1b from 0\nrecv 2b from 0"),
        9,
        1,
        "rank 1 receives 2 bytes from rank 0 with tag 0, but its peer sends that only 2 times",
    );
    // What matches with one tag does not count for the next.
    says(
        of("send 1b to 1 tag 1\nsend 1b to 1 tag 2", "recv 1b from 0 tag 1"),
        4,
        1,
        "rank 0 sends 1 byte to rank 1 with tag 2, but nobody receives that",
    );
    // The first in the text is named, whatever is wrong with it.
    says(
        of("send 1b to 1 tag 9\nrecv 1b from 0", "recv 2b from 0 tag 9"),
        4,
        1,
        "rank 0 receives 1 byte from rank 0 with tag 0, but nobody sends that",
    );
}
