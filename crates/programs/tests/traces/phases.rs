//! Phases, written as traces: the same messages in the same order.

use std::collections::BTreeMap;

use odonata_error::{ErrorKind, path};
use odonata_programs::trace::{Action, Trace, write_csv};
use odonata_programs::{Body, Op, Phases, Program};

/// The phases of a JSON list.
fn phases(list: &str, ranks: u32) -> Phases {
    let body: Body = serde_json::from_str(&format!(r#"{{"name": "phases", "phases": {list}}}"#)).unwrap();
    match Program::new(&body, ranks).unwrap() {
        Program::Phases(phases) => phases,
        Program::Stages(_) | Program::Trace(_) => unreachable!("the body has phases"),
    }
}

/// One of each sort, and several one after the other. All for 12 ranks.
const BODIES: [&str; 14] = [
    r#"[{"what": {"name": "allreduce", "algorithm": "ring", "bytes": 1000}}]"#,
    r#"[{"what": {"name": "allreduce", "algorithm": "recursive-doubling", "bytes": 1000}}]"#,
    r#"[{"what": {"name": "allreduce", "algorithm": "rabenseifner", "bytes": 1000}}]"#,
    r#"[{"what": {"name": "allreduce", "algorithm": "binary", "bytes": 1000}}]"#,
    r#"[{"what": {"name": "alltoall", "algorithm": "linear-shift", "bytes": 7}}]"#,
    r#"[{"what": {"name": "alltoall", "algorithm": "bruck", "bytes": 7}}]"#,
    r#"[{"what": {"name": "broadcast", "algorithm": "binomial", "root": 3, "bytes": 64}}]"#,
    r#"[{"what": {"name": "barrier", "algorithm": "dissemination"}}]"#,
    r#"[{"what": {"name": "halo", "grid": [3, 4, 1], "periodic": true, "face_bytes": [5, 6, 7], "edge_bytes": [0, 0, 0],
         "corner_bytes": 0, "order": "even-receives-first"}}]"#,
    r#"[{"what": {"name": "halo", "grid": [2, 2, 3], "periodic": true, "face_bytes": [5, 6, 7], "edge_bytes": [1, 2, 3],
         "corner_bytes": 9, "order": "all-at-once"}}]"#,
    r#"[{"what": {"name": "sweep", "grid": [3, 4], "blocks": 2, "x_bytes": 8, "y_bytes": 9, "compute_ps": 1500, "sweeps": 4}}]"#,
    r#"[{"what": {"name": "ping-pong", "stride": 2, "bytes": 8, "rounds": 3}}]"#,
    r#"[{"what": {"name": "compute", "ps": 1234567, "jitter_ps": 0}},
        {"along": {"grid": [4, 3], "axis": 1}, "what": {"name": "allreduce", "algorithm": "ring", "bytes": 12}},
        {"what": {"name": "compute", "ps": 3000, "jitter_ps": 0}},
        {"along": {"grid": [4, 3], "axis": 0}, "what": {"name": "allgather", "algorithm": "bruck", "bytes": 12}},
        {"along": {"grid": [4, 3], "axis": 0}, "what": {"name": "allgather", "algorithm": "bruck", "bytes": 12}}]"#,
    r#"[{"along": {"grid": [12, 1], "axis": 1}, "what": {"name": "barrier", "algorithm": "dissemination"}}]"#,
];

/// Time to combine so many bytes of a vector.
fn combining(bytes: u64, of: u64) -> u64 {
    3 * bytes + of
}

/// One end of a message: the number of the operation in its rank, and the label.
type Ends = BTreeMap<(u32, u32), Vec<(usize, u64)>>;

/// Operations of all ranks as (sends, peer, bytes), and the ends of messages by (source, destination).
type Told = (Vec<Vec<(char, u32, u64)>>, Ends, Ends);

fn told_by_phases(phases: &Phases, ranks: u32) -> Told {
    let (mut all, mut sends, mut receives) = (Vec::new(), Ends::new(), Ends::new());
    for rank in 0..ranks {
        let mut told = Vec::new();
        for op in phases.ops(rank) {
            match op {
                Op::Send { to, label, bytes, .. } => {
                    sends.entry((rank, to)).or_default().push((told.len(), label));
                    told.push(('s', to, bytes));
                }
                Op::Receive { from, label, bytes, .. } => {
                    receives.entry((from, rank)).or_default().push((told.len(), label));
                    told.push(('r', from, bytes));
                }
                Op::Compute { ps, .. } => told.push(('c', 0, ps)),
                Op::Combine { bytes, of } => told.push(('c', 0, combining(bytes, of))),
                Op::Wait => {}
            }
        }
        all.push(told);
    }
    (all, sends, receives)
}

fn told_by_trace(trace: &Trace) -> Told {
    let (mut all, mut sends, mut receives) = (Vec::new(), Ends::new(), Ends::new());
    for rank in 0..trace.ranks() {
        let mut told = Vec::new();
        for operation in trace.graph(rank).operations() {
            match operation.action {
                Action::Send { to, label, bytes } => {
                    sends.entry((rank, to)).or_default().push((told.len(), label));
                    told.push(('s', to, bytes));
                }
                Action::Receive { from, label, bytes } => {
                    receives.entry((from, rank)).or_default().push((told.len(), label));
                    told.push(('r', from, bytes));
                }
                Action::Compute { ps } => told.push(('c', 0, ps)),
            }
        }
        all.push(told);
    }
    (all, sends, receives)
}

/// Matching sends and receives: numbers of operations, by source and destination.
fn pairs(sends: &Ends, receives: &Ends) -> BTreeMap<(u32, u32), Vec<(usize, usize)>> {
    let of = |(ranks, ends): (&(u32, u32), &Vec<(usize, u64)>)| {
        let other: BTreeMap<u64, usize> = receives[ranks].iter().map(|&(number, label)| (label, number)).collect();
        (*ranks, ends.iter().map(|&(number, label)| (number, other[&label])).collect())
    };
    assert_eq!(sends.len(), receives.len());
    sends.iter().map(of).collect()
}

/// Catches an operation that is lost or moved, and a message that matches another receive than in the phases.
#[test]
fn phases_and_their_traces_do_the_same() {
    for list in BODIES {
        let phases = phases(list, 12);
        let goal = Trace::of_phases(&phases, 12, combining).unwrap().to_goal();
        let trace = Trace::read(&goal, 12).unwrap_or_else(|error| panic!("{error}\n{goal}"));
        let ((ops, sends, receives), (operations, sent, received)) =
            (told_by_phases(&phases, 12), told_by_trace(&trace));
        assert_eq!(ops, operations, "{list}");
        assert_eq!(pairs(&sends, &receives), pairs(&sent, &received), "{list}");
        assert_eq!(trace.to_goal(), goal, "what is written is canonical");
    }
}

/// The table says in rows what GOAL says as a graph (whose meaning `round.rs` works out from the rows).
#[test]
fn both_formats_say_the_same() {
    for list in BODIES {
        let phases = phases(list, 12);
        let (goal, csv) =
            (Trace::of_phases(&phases, 12, combining).unwrap().to_goal(), write_csv(&phases, 12, combining).unwrap());
        let trace = Trace::parse_csv(&csv).unwrap_or_else(|error| panic!("{error}\n{csv}"));
        assert_eq!(trace, Trace::parse_goal(&goal).unwrap(), "{list}");
        assert_eq!(Trace::parse_csv(&trace.to_csv().unwrap()).as_ref(), Ok(&trace), "{list}");
    }
}

/// What blocks in the phases blocks in the table, row by row.
#[test]
fn rows_are_the_operations_of_the_phases() {
    for list in BODIES {
        let phases = phases(list, 12);
        let csv = write_csv(&phases, 12, combining).unwrap();
        for rank in 0..12 {
            let prefix = format!("{rank},");
            let rows =
                csv.lines().skip(1).filter(|row| row.starts_with(&prefix)).map(|row| row.split(',').nth(1).unwrap());
            let expected = phases.ops(rank).map(|op| match op {
                Op::Send { blocking: true, .. } => "send",
                Op::Send { .. } => "isend",
                Op::Receive { blocking: true, .. } => "recv",
                Op::Receive { .. } => "irecv",
                Op::Compute { .. } | Op::Combine { .. } => "compute",
                Op::Wait => "wait",
            });
            let expected: Vec<_> = expected.collect();
            let expected = if expected.is_empty() { vec![""] } else { expected };
            assert_eq!(rows.collect::<Vec<_>>(), expected, "rank {rank} of {list}");
        }
    }
}

#[test]
fn random_times_cannot_be_written() {
    let list = r#"[{"what": {"name": "compute", "ps": 5, "jitter_ps": 0}}, {"what": {"name": "compute", "ps": 5, "jitter_ps": 1}}]"#;
    let phases = phases(list, 2);
    let error = ErrorKind::RandomCompute {}.at(path!["phases", 1]);
    assert_eq!(Trace::of_phases(&phases, 2, |_, _| 0), Err(error.clone()));
    assert_eq!(write_csv(&phases, 2, |_, _| 0), Err(error));
}
