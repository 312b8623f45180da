//! Binary GOAL: both layouts byte by byte, refused files, and arbitrary bytes.

use odonata_error::{ErrorKind, TracePlace};
use odonata_programs::trace::Trace;
use proptest::prelude::*;

const TEXT: &str = "\
num_ranks 2

rank 0 {
l1: calc 1500
l2: recv 4096b from 1 tag 7 cpu 3 nic 1
l2 requires l1
l3: send 70000000000b to 1 tag 4294967294 cpu 255 nic 2
l3 requires l1
l3 irequires l2
}

rank 1 {
l1: recv 70000000000b from 0 tag 4294967294
l2: send 4096b to 0 tag 7
}
";

/// An operation: how often it waits, kind, peer, size, tag, CPU and NIC, its followers at its end and at its beginning
/// as (number, first).
type Record = (u32, u8, u32, u64, u32, [u8; 2], [(u32, u32); 2]);

/// Joins what `docs/traces.md` lists, number by number.
fn rank(roots: &[u32], records: &[Record], list: &[u32], extra: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((records.len() as u32).to_le_bytes());
    bytes.extend((roots.len() as u32).to_le_bytes());
    bytes.extend(roots.iter().flat_map(|root| root.to_le_bytes()));
    for &(waits, kind, peer, size, tag, [cpu, nic], followers) in records {
        bytes.extend(waits.to_le_bytes());
        bytes.push(kind);
        bytes.extend(peer.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([cpu, nic]);
        bytes.extend(followers.iter().flat_map(|&(count, first)| [count, first]).flat_map(u32::to_le_bytes));
        bytes.extend(extra);
    }
    bytes.extend(list.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// A file with the ranks in the given order.
fn file(ranks: &[Vec<u8>], order: &[usize], [cpu, nic]: [u8; 2]) -> Vec<u8> {
    let mut bytes = 4223_u64.to_le_bytes().to_vec();
    bytes.extend((ranks.len() as u32).to_le_bytes());
    bytes.extend([cpu, nic]);
    let table = 6 + 16 * ranks.len();
    for rank in 0..ranks.len() {
        let before: usize = order.iter().take_while(|&&other| other != rank).map(|&other| ranks[other].len()).sum();
        let begin = (table + before) as u64;
        bytes.extend(begin.to_le_bytes());
        bytes.extend((begin + ranks[rank].len() as u64).to_le_bytes());
    }
    bytes.extend(order.iter().flat_map(|&rank| ranks[rank].clone()));
    bytes
}

/// The ranks of [`TEXT`].
fn ranks(extra: &[u8]) -> [Vec<u8>; 2] {
    let none = [(0, 3), (0, 3)];
    let first = [
        (0, 3, 0, 1500, 0, [0, 0], [(2, 0), (0, 2)]),
        (1, 2, 1, 4096, 7, [3, 1], [(0, 2), (1, 2)]),
        (2, 1, 1, 70_000_000_000, 4_294_967_294, [255, 2], none),
    ];
    let second =
        [(0, 2, 0, 70_000_000_000, 4_294_967_294, [0, 0], [(0, 0); 2]), (0, 1, 0, 4096, 7, [0, 0], [(0, 0); 2])];
    [rank(&[0], &first, &[1, 2, 2], extra), rank(&[0, 1], &second, &[], extra)]
}

fn short() -> Vec<u8> {
    file(&ranks(&[]), &[0, 1], [255, 2])
}

#[test]
fn what_is_written_is_this_byte_by_byte() {
    let trace = Trace::parse_goal(TEXT).unwrap();
    let bytes = trace.to_binary().unwrap();
    assert_eq!(bytes, short());
    assert_eq!(bytes.len(), 8 + 6 + 2 * 16 + (8 + 4 + 3 * 39 + 3 * 4) + (8 + 2 * 4 + 2 * 39));
    assert_eq!(bytes[..14], [0x7f, 0x10, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 255, 2]);
}

#[test]
fn both_layouts_are_read_and_ranks_may_stand_in_any_order() {
    let trace = Trace::parse_goal(TEXT).unwrap();
    assert_eq!(trace.to_goal(), TEXT);
    // The values that LogGOPSim2 adds have no meaning here.
    for extra in [&[][..], &[0; 65], &[0xa5; 65]] {
        for order in [[0, 1], [1, 0]] {
            let read = Trace::parse_binary(&file(&ranks(extra), &order, [255, 2]));
            assert_eq!(read.as_ref(), Ok(&trace), "{} {order:?}", extra.len());
        }
    }
    assert!(Trace::is_binary(&short()) && !Trace::is_binary(TEXT.as_bytes()) && !Trace::is_binary(&[127]));
}

#[test]
fn ranks_that_do_nothing_are_read_and_written() {
    let text = "num_ranks 2\n\nrank 0 {\n}\n\nrank 1 {\n}\n";
    let bytes = Trace::parse_goal(text).unwrap().to_binary().unwrap();
    assert_eq!(bytes.len(), 14 + 2 * 16 + 2 * 8);
    assert_eq!(Trace::parse_binary(&bytes).unwrap().to_goal(), text);
}

#[test]
fn what_the_format_cannot_say_is_named_and_not_written() {
    let cases = [
        ("calc 1\ncalc 1.5", 1, "time in picoseconds", 1500, "whole nanoseconds"),
        ("calc 5 cpu 256", 0, "CPU", 256, "CPUs up to 255"),
        ("send 1b to 1\nsend 1b to 1 tag 4294967296", 1, "tag", 1 << 32, "tags up to 4294967294"),
    ];
    for (lines, operation, what, found, limit) in cases {
        let received = lines.lines().filter_map(|line| line.strip_prefix("send 1b to 1"));
        let received: String = received.map(|rest| format!("recv 1b from 0{rest}\n")).collect();
        let text = format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\nrank 1 {{\n{received}}}\n");
        let error = ErrorKind::BinaryLimit { what, found, limit }.of_operation(0, operation);
        assert_eq!(Trace::parse_goal(&text).unwrap().to_binary(), Err(error));
    }
}

/// The error for a file with these bytes changed.
fn error(changes: &[(usize, &[u8])]) -> String {
    let mut bytes = short();
    for (at, new) in changes {
        bytes[*at..*at + new.len()].copy_from_slice(new);
    }
    Trace::parse_binary(&bytes).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_kept_is_named_by_rank_and_operation() {
    // Where operation n of rank 0, or of rank 1, begins.
    let first = |n: usize| 8 + 6 + 32 + 8 + 4 + 39 * (n - 1);
    let second = |n: usize| first(4) + 12 + 8 + 8 + 39 * (n - 1);
    let any = &[255; 4];
    let cases: &[(usize, &[u8], &str)] = &[
        (0, &[38, 9], "byte 0: spoilt-file"),
        (0, b"num_rank", "byte 0: not-binary-goal (found = 7741231953351636334, expected = 4223)"),
        (8, &[0], "byte 8: trace-without-ranks"),
        (8, &[3], "byte 14: rank-misplaced (rank = 0, begin = 38, expected = 54, problem = `overlap`)"),
        (8, any, "byte 8: long-rank-table (ranks = 4294967295, need_bytes = 68719476720)"),
        (14, &[39], "byte 14: rank-misplaced (rank = 0, begin = 39, expected = 38, problem = `gap`)"),
        (30, &[39], "byte 30: rank-misplaced (rank = 1, begin = 39, expected = 179, problem = `overlap`)"),
        (46, &[2], "byte 136: dependencies-do-not-fit (rank = 0, found = 3, need_bytes = 12, found_bytes = 51)"),
        (
            46,
            &[4],
            "byte 46: too-many-operations (rank = 0, operations = 4, roots = 1, need_bytes = 168, found_bytes = 141)",
        ),
        (
            50,
            any,
            "byte 46: too-many-operations (rank = 0, operations = 3, roots = 4294967295, need_bytes = 17179869305, found_bytes = 141)",
        ),
        (54, &[1], "rank 0, operation 1: root-disagrees (waits = 0, root = `no`)"),
        (54, &[3], "byte 54: bad-root (rank = 0, operation = 4, problem = `unknown`)"),
        (first(1), &[1], "rank 0, operation 1: waits-disagree (told = 1, found = 0)"),
        (first(1) + 4, &[12], "rank 0, operation 1: unknown-operation (found = 12)"),
        (first(1) + 9, &[255; 8], "rank 0, operation 1: compute-too-long (found_ns = 18446744073709551615)"),
        (first(2) + 5, any, "rank 0, operation 2: any-source (found = `4294967295`)"),
        (first(2) + 5, &[2], "rank 0, operation 2: no-such-rank (rank = 2, ranks = 2)"),
        (
            first(2) + 9,
            &[1],
            "rank 0, operation 2: unequal-sizes (rank = 0, peer = 1, tag = 7, bytes = 4097, send = {rank = 1, operation = 2}, send_bytes = 4096)",
        ),
        (first(2) + 17, any, "rank 0, operation 2: any-tag (found = `4294967295`)"),
        (
            first(3) + 14,
            &[1],
            "rank 0, operation 3: too-large (what = `a size in bytes`, found = `1169511627776`, most = 1099511627776)",
        ),
        (
            first(1) + 23,
            &[1],
            "byte 175: dependencies-do-not-fit (rank = 0, found = 2, need_bytes = 8, found_bytes = 12)",
        ),
        (first(1) + 27, &[2], "rank 0, operation 1: followers-outside (first = 2, end = 4, found = 3)"),
        (first(4), &[9], "rank 0, operation 1: no-such-follower (follower = 10, operations = 3)"),
        (
            second(1) + 17,
            &[8, 0, 0, 0],
            "rank 0, operation 3: unmatched (operation = `send`, rank = 0, peer = 1, tag = 4294967294, bytes = 70000000000, matched = 0, other = {rank = 1, operation = 1}, other_tag = 8)",
        ),
    ];
    let found: Vec<String> = cases.iter().map(|(at, new, _)| error(&[(*at, new)])).collect();
    let expected: Vec<&str> = cases.iter().map(|case| case.2).collect();
    assert_eq!(found, expected);
    // Operation 2 waits for 3, and 3 for the beginning of 2.
    let cycle = error(&[(first(1) + 23, &[1]), (first(2), &[2]), (first(3), &[1]), (first(3) + 23, &[1, 0, 0, 0, 0])]);
    assert_eq!(
        cycle,
        "rank 0, operation 2: cycle-of-operations (first = [{label = `2`, line = nothing}, {label = `3`, line = nothing}], length = 2)"
    );
}

/// Reads it; what is read can be written and read again, if the format can say it.
fn read(bytes: &[u8]) {
    match Trace::parse_binary(bytes) {
        Ok(trace) => {
            assert_eq!(Trace::parse_goal(&trace.to_goal()).as_ref(), Ok(&trace));
            assert_eq!(Trace::parse_binary(&trace.to_binary().unwrap()), Ok(trace));
        }
        Err(error) => match error.place {
            Some(TracePlace::Byte(byte)) => assert!(byte <= bytes.len() as u64, "{error}"),
            Some(TracePlace::Operation { .. }) => {}
            _ => panic!("{error}"),
        },
    }
}

#[test]
fn a_file_that_ends_early_or_late_is_refused() {
    for extra in [&[][..], &[1; 65]] {
        let whole = file(&ranks(extra), &[0, 1], [255, 2]);
        for end in 0..whole.len() {
            assert!(Trace::parse_binary(&whole[..end]).is_err(), "{end}");
            read(&whole[end..]);
        }
        let late = Trace::parse_binary(&[&whole[..], &[0; 3]].concat()).unwrap_err().to_string();
        assert_eq!(late, format!("byte {}: bytes-of-no-rank (found_bytes = 3)", whole.len()));
    }
}

/// A small file that claims to be large must not take the memory that it claims.
#[test]
fn what_a_file_claims_costs_nothing() {
    // Each of 60,000 ranks has the same 2 MB.
    let mut bytes = 4223_u64.to_le_bytes().to_vec();
    bytes.extend(60_000_u32.to_le_bytes());
    bytes.extend([0, 0]);
    let begin = 6 + 16 * 60_000_u64;
    for _ in 0..60_000 {
        bytes.extend([begin, begin + 2_000_000].map(u64::to_le_bytes).as_flattened());
    }
    bytes.extend(vec![0; 2_000_000]);
    assert!(Trace::parse_binary(&bytes).unwrap_err().to_string().contains("problem = `overlap`"));
    // Each of 10,000 operations has the same 10,000 followers.
    let record = (0, 3, 0, 1, 0, [0, 0], [(10_000, 0), (0, 0)]);
    let bytes = file(&[rank(&[], &vec![record; 10_000], &(0..10_000).collect::<Vec<_>>(), &[])], &[0], [0, 0]);
    assert!(Trace::parse_binary(&bytes).unwrap_err().to_string().contains("found = 100000000,"));
}

proptest! {
    #[test]
    fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
        read(&[&4223_u64.to_le_bytes()[..], &bytes].concat());
        read(&[&short()[..14], &bytes].concat());
        read(&[&short()[..46], &bytes].concat());
    }

    #[test]
    fn a_sound_file_with_something_changed_has_an_answer(
        long in any::<bool>(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = file(&ranks(if long { &[7; 65] } else { &[] }), &[0, 1], [255, 2]);
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        read(&bytes);
    }
}
