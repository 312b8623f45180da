//! A written trace is read back unchanged.

use odonata_programs::trace::{Action, Start, Trace};
use proptest::prelude::*;

use crate::support::waits;

/// An operation of a sequence: its kind, its peer (of 3 ranks), tag, size, time.
type Drawn = (u32, u8, u32, u32, u64, u64);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec((0..3_u32, 0..5_u8, 0..3_u32, 0..2_u32, 0..1000_u64, 0..3_000_000_u64), 1..40)
}

/// A table of these rows in which each message has its other end: if a rank sends, its peer receives at once, without
/// blocking. Waits are for what there is.
fn table(rows: &[Drawn]) -> String {
    let mut text = String::from("rank,operation,peer,bytes,tag,time\n0\n1\n2\n");
    let mut open: Vec<(u32, u32, u32)> = Vec::new();
    for &(rank, kind, peer, tag, bytes, ps) in rows {
        match kind {
            0 => text += &format!("{rank},compute,,,,{ps}ps\n"),
            1 => {
                text += &format!("{rank},wait,,,,\n");
                open.retain(|(owner, ..)| *owner != rank);
            }
            2 => {
                let Some(found) = open.iter().position(|(owner, ..)| *owner == rank) else { continue };
                let (_, peer, tag) = open.remove(found);
                text += &format!("{rank},wait,{peer},,{tag},\n");
            }
            _ => {
                let (mine, other) = if ps % 2 == 0 { ("send", "irecv") } else { ("recv", "isend") };
                let i = if kind == 3 { "i" } else { "" };
                // The other end first, so that a rank may send to itself.
                text += &format!("{peer},{other},{rank},{bytes},{tag},\n{rank},{i}{mine},{peer},{bytes},{tag},\n");
                open.push((peer, rank, tag));
                open.extend((kind == 3).then_some((rank, peer, tag)));
            }
        }
    }
    text
}

/// A GOAL schedule of one rank with any dependencies that make no cycle: those of `waits` go along `order`.
/// `step_ps`: the parts of a nanosecond that computes take; `wide`: what is added to CPUs and tags.
fn graph(
    count: usize,
    order: &[usize],
    waits: &[(usize, usize, bool)],
    cpus: &[u32],
    step_ps: usize,
    wide: u64,
) -> String {
    let mut text = String::from("num_ranks 1 rank 0 {\n");
    let mut said = Vec::new();
    for &(a, b, begin) in waits {
        let (a, b) = (a % count, b % count);
        if a != b {
            let (before, after) = if order[a] < order[b] { (a, b) } else { (b, a) };
            said.push(format!("n{after} {}requires n{before}\n", if begin { "i" } else { "" }));
        }
    }
    let half = said.len() / 2;
    text += &said[..half].concat();
    for (number, cpu) in cpus.iter().enumerate().take(count) {
        let what = match number % 3 {
            0 => format!("calc {}.{:03}", number * 17, number * step_ps % 1000),
            1 => format!("send {number}b to 0 tag {} nic {}", number as u64 / 3 + wide, number % 5),
            _ => format!("recv {}b from 0 tag {} nic {}", number - 1, number as u64 / 3 + wide, number % 3),
        };
        let (what, nic) =
            what.split_once(" nic").map_or((&*what, String::new()), |(what, nic)| (what, format!(" nic{nic}")));
        text += &format!("n{number}: {what} cpu {}{nic}\n", u64::from(*cpu) + wide.min(1 << 31));
    }
    text += &said[half..].concat();
    text + "}"
}

pub fn graphs(step_ps: usize, wide: u64) -> impl Strategy<Value = String> {
    // As many operations as make whole messages.
    let count = 1..8_usize;
    let order = Just((0..24).collect::<Vec<usize>>()).prop_shuffle();
    let waits = prop::collection::vec((0..24_usize, 0..24_usize, any::<bool>()), 0..60);
    (count, order, waits, prop::collection::vec(prop::sample::select(&[0_u32, 1, 2, 255][..]), 24))
        .prop_map(move |(thirds, order, waits, cpus)| graph(thirds * 3, &order, &waits, &cpus, step_ps, wide))
}

proptest! {
    /// Catches a part of an operation or dependency that is not written, or is read as something else.
    #[test]
    fn goal_is_read_back(text in prop_oneof![graphs(31, 0), graphs(31, u64::MAX - 100)]) {
        let trace = Trace::parse_goal(&text).unwrap();
        let canonical = trace.to_goal();
        let again = Trace::parse_goal(&canonical).unwrap();
        prop_assert_eq!(&trace, &again);
        prop_assert_eq!(canonical, again.to_goal());
    }

    /// The same of binary GOAL: text, binary and text again are the same trace.
    #[test]
    fn binary_goal_is_read_back(text in graphs(0, 0)) {
        let trace = Trace::parse_goal(&text).unwrap();
        let binary = trace.to_binary().unwrap();
        let again = Trace::parse_binary(&binary).unwrap();
        prop_assert_eq!(&trace, &again);
        prop_assert_eq!(trace.to_goal(), again.to_goal());
        prop_assert_eq!(binary, again.to_binary().unwrap());
    }

    /// Catches a wait or a blocking operation that is lost in writing or reading.
    #[test]
    fn tables_are_read_back(rows in drawn()) {
        let text = table(&rows);
        let trace = Trace::parse_csv(&text).unwrap();
        let written = trace.to_csv().unwrap();
        prop_assert_eq!(&trace, &Trace::parse_csv(&written).unwrap(), "{}\n{}", text, written);
        prop_assert_eq!(&trace, &Trace::parse_goal(&trace.to_goal()).unwrap());
    }

    /// The graph of a table against the rules of the page, worked out row by row.
    #[test]
    fn tables_mean_what_the_page_says(rows in drawn()) {
        let text = table(&rows);
        let trace = Trace::parse_csv(&text).unwrap();
        for rank in 0..3 {
            let mut expected = Vec::new();
            let mut open: Vec<(u32, String, String)> = Vec::new();
            let mut awaited: Vec<u32> = Vec::new();
            let mut last: Option<(u32, bool)> = None;
            let mut number = 0;
            for row in text.lines().skip(1) {
                let fields: Vec<&str> = row.split(',').collect();
                if fields[0] != rank.to_string() || fields.len() == 1 {
                    continue;
                }
                if fields[1] == "wait" {
                    let which = |f: &(u32, String, String)| fields[2].is_empty() || (f.1 == fields[2] && f.2 == fields[4]);
                    if fields[2].is_empty() {
                        awaited.extend(open.drain(..).map(|f| f.0));
                    } else {
                        let at = open.iter().position(which).unwrap();
                        awaited.push(open.remove(at).0);
                    }
                    continue;
                }
                expected.extend(awaited.iter().map(|&before| (number, before, Start::AtEnd)));
                if let Some((before, blocking)) = last.filter(|(before, _)| !awaited.contains(before)) {
                    expected.push((number, before, if blocking { Start::AtEnd } else { Start::AtBegin }));
                }
                awaited.clear();
                let blocking = !fields[1].starts_with('i');
                if !blocking {
                    open.push((number, fields[2].to_string(), fields[4].to_string()));
                }
                last = Some((number, blocking));
                number += 1;
            }
            expected.sort_unstable();
            prop_assert_eq!(waits(trace.graph(rank)), expected);
        }
    }
}

#[test]
fn the_canonical_text_is_this() {
    let text = "num_ranks 2 rank 1 { recv 5b from 0 tag 3 }\nrank 0 {\nb: send 5b to 1 tag 3 nic 0\na: calc 0.5 cpu 2\nb requires a\nc: calc 2us\nc irequires b }";
    let canonical = "\
num_ranks 2

rank 0 {
l1: send 5b to 1 tag 3
l2: calc 500ps cpu 2
l1 requires l2
l3: calc 2000
l3 irequires l1
}

rank 1 {
l1: recv 5b from 0 tag 3
}
";
    let trace = Trace::parse_goal(text).unwrap();
    assert_eq!(trace.to_goal(), canonical);
    // Lines depend on the text; they do not make traces different.
    let again = Trace::parse_goal(canonical).unwrap();
    assert_eq!((trace.graph(0).operations()[0].line, again.graph(0).operations()[0].line), (3, 4));
    assert_eq!(trace, again);
    assert_ne!(trace, Trace::parse_goal(&canonical.replace("2000", "2001")).unwrap());
    assert_ne!(trace, Trace::parse_goal(&canonical.replace("irequires", "requires")).unwrap());
    assert!(matches!(again.graph(1).operations()[0].action, Action::Receive { bytes: 5, .. }));
}
