//! Writes GOAL.

use std::fmt::Write;

use crate::trace::graph::{Action, Graph, Start, Trace};

impl Trace {
    /// The trace as GOAL: the same text for equal traces. LogGOPSim reads it too if it has no fractions of a nanosecond
    /// and no forward dependencies.
    #[must_use]
    pub fn to_goal(&self) -> String {
        let mut out = format!("num_ranks {}\n", self.ranks());
        for (rank, graph) in self.graphs.iter().enumerate() {
            let _ = write!(out, "\nrank {rank} {{\n");
            operations(self, graph, &mut out);
            out.push_str("}\n");
        }
        out
    }
}

/// The operations of a rank, each followed by the dependencies that can be written at that point.
fn operations(trace: &Trace, graph: &Graph, out: &mut String) {
    let mut edges = graph.edges();
    edges.sort_unstable_by_key(|edge| (edge.before.max(edge.after), edge.after, edge.before, edge.start));
    let mut edges = edges.into_iter().peekable();
    for (number, operation) in (0_u32..).zip(graph.operations()) {
        let _ = write!(out, "l{}: ", number + 1);
        let _ = match operation.action {
            Action::Send { to, bytes, .. } => write!(out, "send {bytes}b to {to}"),
            Action::Receive { from, bytes, .. } => write!(out, "recv {bytes}b from {from}"),
            Action::Compute { ps } if ps.is_multiple_of(1000) => write!(out, "calc {}", ps / 1000),
            Action::Compute { ps } => write!(out, "calc {ps}ps"),
        };
        if let Action::Send { label, .. } | Action::Receive { label, .. } = operation.action {
            let _ = write!(out, " tag {}", trace.tag(label));
        }
        if operation.cpu > 0 {
            let _ = write!(out, " cpu {}", graph.cpu(operation));
        }
        if operation.nic > 0 {
            let _ = write!(out, " nic {}", operation.nic);
        }
        out.push('\n');
        while let Some(edge) = edges.next_if(|edge| edge.before.max(edge.after) == number) {
            let word = if edge.start == Start::AtEnd { "requires" } else { "irequires" };
            let _ = writeln!(out, "l{} {word} l{}", edge.after + 1, edge.before + 1);
        }
    }
}
