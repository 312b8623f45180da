//! What several tests need.

use odonata_programs::ProgramError;
use odonata_programs::trace::{Graph, Start, Trace};

/// Line, column and problem of the error in a GOAL text.
pub fn goal_error(text: &str) -> (u32, u32, String) {
    place(Trace::parse_goal(text))
}

pub fn place(read: Result<Trace, ProgramError>) -> (u32, u32, String) {
    match read {
        Err(ProgramError::Trace { line, column, problem }) => (line, column, problem),
        other => panic!("no place: {other:?}"),
    }
}

/// All dependencies of a rank as (who waits, for whom, for which moment), ascending.
pub fn waits(graph: &Graph) -> Vec<(u32, u32, Start)> {
    let of = |before: u32| graph.followers(before).iter().map(move |&(after, start)| (after, before, start));
    let mut waits: Vec<_> = (0..graph.steps().len() as u32).flat_map(of).collect();
    waits.sort_unstable();
    waits
}
