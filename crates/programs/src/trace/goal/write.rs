//! Writes GOAL.

use std::fmt::Write;

use crate::trace::chain::peer;
use crate::trace::export::{chains, tags};
use crate::trace::graph::{Graph, Start, Task, Trace};
use crate::{Phases, ProgramError};

/// Phases as a GOAL schedule for `ranks` ranks: `docs/traces.md` says which operation waits for which.
///
/// # Errors
/// [`ProgramError::Invalid`] if computing takes a random time, which a trace cannot say.
pub fn write_goal(phases: &Phases, ranks: u32) -> Result<String, ProgramError> {
    let tags = tags(phases, ranks);
    let graphs = chains(phases, ranks, &tags)?.map(|chain| Graph::new(chain.draft.steps, chain.draft.edges));
    Ok(Trace { graphs: graphs.collect() }.to_goal())
}

impl Trace {
    /// The trace as GOAL: the same text for equal traces. What has neither part of a nanosecond nor forward dependencies LogGOPSim
    /// reads too.
    #[must_use]
    pub fn to_goal(&self) -> String {
        let mut out = format!("num_ranks {}\n", self.ranks());
        for (rank, graph) in self.graphs.iter().enumerate() {
            let _ = write!(out, "\nrank {rank} {{\n");
            operations(graph, &mut out);
            out.push_str("}\n");
        }
        out
    }
}

/// The operations of a rank, each followed by the dependencies that can be written then.
fn operations(graph: &Graph, out: &mut String) {
    let mut edges = graph.edges();
    edges.sort_unstable_by_key(|edge| (edge.before.max(edge.after), edge.after, edge.before, edge.start));
    let mut edges = edges.into_iter().peekable();
    for (number, step) in (0_u32..).zip(graph.steps()) {
        let _ = write!(out, "l{}: ", number + 1);
        let _ = match step.task {
            Task::Send { to, bytes, .. } => write!(out, "send {bytes}b to {to}"),
            Task::Receive { from, bytes, .. } => write!(out, "recv {bytes}b from {from}"),
            Task::Compute { ps } if ps.is_multiple_of(1000) => write!(out, "calc {}", ps / 1000),
            Task::Compute { ps } => write!(out, "calc {ps}ps"),
        };
        if let Some((_, tag)) = peer(step.task) {
            let _ = write!(out, " tag {tag}");
        }
        if step.cpu > 0 {
            let _ = write!(out, " cpu {}", step.cpu);
        }
        out.push('\n');
        while let Some(edge) = edges.next_if(|edge| edge.before.max(edge.after) == number) {
            let word = if edge.start == Start::AtEnd { "requires" } else { "irequires" };
            let _ = writeln!(out, "l{} {word} l{}", edge.after + 1, edge.before + 1);
        }
    }
}
