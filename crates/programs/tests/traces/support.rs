//! Common code of the tests.

use odonata_error::{Error, TracePlace};
use odonata_programs::trace::{Graph, Start, Trace};

/// Line, column, code and parameters of the error in a GOAL text.
pub fn goal_error(text: &str) -> (u32, u32, String) {
    place(Trace::parse_goal(text))
}

pub fn place(read: Result<Trace, Error>) -> (u32, u32, String) {
    match read {
        Err(error @ Error { place: Some(TracePlace::Text { line, column }), .. }) => {
            (line, column, Error { place: None, ..error }.to_string())
        }
        other => panic!("no place: {other:?}"),
    }
}

/// All dependencies of a rank as (waiting operation, awaited operation, event), ascending.
pub fn waits(graph: &Graph) -> Vec<(u32, u32, Start)> {
    let of = |before: u32| graph.followers(before).iter().map(move |&(after, start)| (after, before, start));
    let mut waits: Vec<_> = (0..graph.operations().len() as u32).flat_map(of).collect();
    waits.sort_unstable();
    waits
}
