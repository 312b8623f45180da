//! What `docs/traces.md` shows is so.

use odonata_programs::trace::Trace;

use crate::support::{goal_error, place};

const PAGE: &str = include_str!("../../../../docs/traces.md");

/// The block of the page with this name.
fn block(name: &str) -> &'static str {
    let after = PAGE.split_once(&format!("```{name}\n")).unwrap_or_else(|| panic!("no block {name}")).1;
    after.split_once("```").unwrap().0
}

/// Lines (` | ` for a new one), each with the error under it.
fn errors(name: &str) -> Vec<(String, &'static str)> {
    let lines: Vec<&str> = block(name).lines().collect();
    let (pairs, rest) = lines.as_chunks::<2>();
    assert!(rest.is_empty() && pairs.len() > 5);
    pairs.iter().map(|[text, error]| (text.replace(" | ", "\n"), error.strip_prefix("    ").unwrap())).collect()
}

#[test]
fn both_examples_are_canonical_and_say_the_same() {
    let (goal, csv) = (block("goal"), block("csv"));
    let trace = Trace::parse_goal(goal).unwrap();
    assert_eq!(trace.to_goal(), goal);
    assert_eq!(Trace::parse_csv(csv).unwrap(), trace);
    assert_eq!(trace.to_csv().unwrap(), csv.replace("1.5us", "1500000ps"));
}

#[test]
fn errors_of_goal_are_as_shown() {
    for (text, error) in errors("goal-errors") {
        let (.., problem) = goal_error(&format!("num_ranks 2\nrank 0 {{\n{text}\n}}\nrank 1 {{\n}}\n"));
        assert_eq!(problem, error, "{text}");
    }
}

#[test]
fn errors_of_tables_are_as_shown() {
    for (text, error) in errors("csv-errors") {
        let table = format!("rank,operation,peer,bytes,tag,time\n0,compute,,,,1ns\n1,compute,,,,1ns\n{text}\n");
        assert_eq!(place(Trace::parse_csv(&table)).2, error, "{text}");
    }
}
