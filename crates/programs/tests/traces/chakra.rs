//! Chakra traces: what was written is read back, and every file gives a trace or an error.

use odonata_error::{Error, Segment, TracePlace};
use odonata_programs::trace::{ChakraOptions, CollectiveCall, Collectives, Trace};
use odonata_programs::{Allreduce, Barrier, Phase, PhaseAction};
use proptest::prelude::*;

use crate::round::graphs;

/// An all-reduce for every collective but a barrier: what matters here are groups and order.
fn choose(call: CollectiveCall) -> Result<Vec<Phase>, Error> {
    let what = if call.name == "barrier" {
        PhaseAction::Barrier { algorithm: Barrier::Dissemination }
    } else {
        PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: call.bytes }
    };
    Ok(vec![Phase { along: None, what }])
}

fn read(files: &[Vec<u8>], ranks: u32) -> Result<Trace, Error> {
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let collectives = Collectives { choose: &choose, combining: &|bytes, _| bytes };
    Trace::parse_chakra(&files, ranks, &ChakraOptions::default(), &collectives)
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

fn bytes(field: u64, data: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(data.len() as u64), data.to_vec()].concat()
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A node: id, type, dependencies, and attributes of type int64.
fn node(id: u64, kind: u64, waits: &[u64], attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut out = [number(1, id), bytes(2, b"name"), number(3, kind)].concat();
    for &before in waits {
        out.extend(number(5, before));
    }
    for &(name, value) in attributes {
        out.extend(bytes(10, &[bytes(1, name.as_bytes()), number(9, value)].concat()));
    }
    out
}

fn file(messages: &[Vec<u8>]) -> Vec<u8> {
    let message = |message: &Vec<u8>| [varint(message.len() as u64), message.clone()].concat();
    [vec![bytes(1, b"0.0.4")], messages.to_vec()].concat().iter().flat_map(message).collect()
}

/// Nodes that often make sense: dependencies on what may be there, messages that often match, collectives.
fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let attribute = prop_oneof![
        Just("comm_size"),
        Just("comm_dst"),
        Just("comm_src"),
        Just("comm_type"),
        Just("comm_tag"),
        Just("num_ops"),
        Just("pg_name"),
        Just("cpu"),
        Just("nic"),
        Just("start_deps"),
        Just("root"),
        Just("stream"),
        Just("is_cpu_op"),
    ];
    let attributes = prop::collection::vec((attribute, prop_oneof![0..4_u64, any::<u64>()]), 0..5);
    let one = (0..6_u64, 0..9_u64, prop::collection::vec(0..6_u64, 0..3), attributes)
        .prop_map(|(id, kind, waits, attributes)| node(id, kind, &waits, &attributes));
    prop::collection::vec(one, 0..6)
}

/// Checks that an error names a file, and a place in it.
fn named(result: Result<Trace, Error>, files: &[Vec<u8>]) {
    let Err(error) = result else { return };
    assert_eq!(error.path.0[0], Segment::Key("files".into()), "{error}");
    let Segment::Index(at) = error.path.0[1] else { panic!("{error}") };
    match error.place {
        Some(TracePlace::Byte(byte)) => assert!(byte <= files[at].len() as u64, "{error}"),
        Some(TracePlace::Node { .. }) => {}
        _ => panic!("{error}"),
    }
}

proptest! {
    /// Catches a part of an operation or a dependency that is not written, or is read as something else.
    #[test]
    fn chakra_is_read_back(text in prop_oneof![graphs(31, 0), graphs(31, 1 << 40)]) {
        let trace = Trace::parse_goal(&text).unwrap();
        let files = trace.to_chakra().unwrap();
        let again = read(&files, 1).unwrap();
        prop_assert_eq!(&trace, &again);
        prop_assert_eq!(trace.to_goal(), again.to_goal());
        prop_assert_eq!(files, again.to_chakra().unwrap());
    }

    #[test]
    fn every_list_of_nodes_is_a_trace_or_an_error(first in messages(), second in messages()) {
        let files = [file(&first), file(&second)];
        named(read(&files, 2), &files);
        named(read(&files[..1], 3), &files);
    }

    #[test]
    fn every_file_is_a_trace_or_an_error(data in prop::collection::vec(any::<u8>(), 0..80)) {
        let files = [data];
        named(read(&files, 2), &files);
    }

    /// A byte of a good file is changed, or its end cut off.
    #[test]
    fn every_damage_is_a_trace_or_an_error(at in 0..400_usize, value: u8, end in 0..400_usize) {
        let nodes = [
            node(1, 4, &[], &[("runtime", 3)]),
            node(2, 5, &[1], &[("comm_dst", 1), ("comm_size", 8), ("comm_tag", 1)]),
            node(3, 6, &[2], &[("comm_src", 1), ("comm_size", 8), ("comm_tag", 1)]),
            node(4, 7, &[3, 1], &[("comm_type", 0), ("comm_size", 800)]),
        ];
        let mut damaged = file(&nodes);
        let length = damaged.len();
        damaged[at % length] = value;
        damaged.truncate(length - end % 40);
        let files = [damaged, file(&nodes)];
        named(read(&files, 2), &files);
    }
}

#[test]
fn operations_of_a_collective_follow_each_other_and_what_waits_for_it_comes_after_them() {
    let nodes = [
        node(1, 4, &[], &[("runtime", 3)]),
        node(2, 7, &[1], &[("comm_type", 0), ("comm_size", 800)]),
        node(3, 4, &[2], &[("runtime", 4)]),
    ];
    let trace = read(&[file(&nodes)], 2).unwrap();
    let goal = trace.to_goal();
    let rank = goal.split("rank 1 {").nth(1).unwrap();
    // Computing; two steps of a ring, the first of which combines; computing.
    let expected = "
l1: calc 3000 cpu 1
l2: recv 400b from 0 tag 0
l2 requires l1
l3: send 400b to 0 tag 0
l3 irequires l2
l4: calc 0.4
l4 requires l2
l4 requires l3
";
    assert!(rank.replace("calc 400ps", "calc 0.4").starts_with(expected), "{goal}");
    assert!(rank.contains("calc 4000 cpu 1"), "{goal}");
    assert!(rank.trim_end().ends_with("l7 requires l5\nl7 requires l6\n}"), "{goal}");
}

#[test]
fn tags_of_collectives_are_above_those_of_messages() {
    let most = u64::from(u32::MAX) - 1;
    let nodes = |peer| {
        vec![
            node(1, 5, &[], &[("comm_dst", peer), ("comm_size", 8), ("comm_tag", most)]),
            node(2, 6, &[], &[("comm_src", peer), ("comm_size", 8), ("comm_tag", most)]),
            node(3, 7, &[], &[("comm_type", 9)]),
        ]
    };
    let goal = read(&[file(&nodes(1)), file(&nodes(0))], 2).unwrap().to_goal();
    assert!(goal.contains(&format!("tag {}", most + 2)) && !goal.contains(&format!("tag {}", most + 1)), "{goal}");
    assert!(Trace::parse_goal(&goal).is_ok());
}
