//! The examples of `docs/traces.md` are correct.

use odonata_programs::trace::Trace;

const PAGE: &str = include_str!("../../../../docs/traces.md");

/// The block of the page with this name.
fn block(name: &str) -> &'static str {
    let after = PAGE.split_once(&format!("```{name}\n")).unwrap_or_else(|| panic!("no block {name}")).1;
    after.split_once("```").unwrap().0
}

#[test]
fn both_examples_are_canonical_and_say_the_same() {
    let (goal, csv) = (block("goal"), block("csv"));
    let trace = Trace::parse_goal(goal).unwrap();
    assert_eq!(trace.to_goal(), goal);
    assert_eq!(Trace::parse_csv(csv).unwrap(), trace);
    assert_eq!(trace.to_csv().unwrap(), csv.replace("1.5us", "1500000ps"));
}
