//! Writes CSV.

use std::fmt::Write;

use odonata_error::{Error, ErrorKind};

use super::COLUMNS;
use crate::trace::chain::{Chain, peer};
use crate::trace::export::{check, tag, tags};
use crate::trace::graph::{Action, Edge, Graph, Start, Trace};
use crate::{Op, Phases};

/// Phases as a table of operations for `ranks` ranks. `combining` is the time in picoseconds to combine so many bytes of
/// a vector of so many.
///
/// # Errors
/// [`Error`] if computing takes a random time, which a trace cannot express.
pub fn write_csv(phases: &Phases, ranks: u32, combining: impl Fn(u64, u64) -> u64) -> Result<String, Error> {
    check(phases, ranks)?;
    let tags = tags(phases, ranks);
    let mut out = header();
    for rank in 0..ranks {
        let mut any = false;
        for op in phases.ops(rank) {
            any = true;
            match op {
                Op::Send { to, label, bytes, blocking } => {
                    let tag = tag(&tags, label);
                    row(&mut out, rank, Action::Send { to, label, bytes }, tag, blocking);
                }
                Op::Receive { from, label, bytes, blocking } => {
                    let tag = tag(&tags, label);
                    row(&mut out, rank, Action::Receive { from, label, bytes }, tag, blocking);
                }
                Op::Compute { ps, .. } => row(&mut out, rank, Action::Compute { ps }, 0, true),
                Op::Combine { bytes, of } => {
                    let ps = combining(bytes, of);
                    if ps > 0 {
                        row(&mut out, rank, Action::Compute { ps }, 0, true);
                    }
                }
                Op::Wait => {
                    let _ = writeln!(out, "{rank},wait,,,,");
                }
            }
        }
        if !any {
            idle(&mut out, rank);
        }
    }
    Ok(out)
}

impl Trace {
    /// The trace as a table, if the operations of each rank form a sequence as those of a table do.
    ///
    /// # Errors
    /// [`Error`] that names the first operation for which this is not so.
    pub fn to_csv(&self) -> Result<String, Error> {
        let mut out = header();
        for (rank, graph) in (0..).zip(&self.graphs) {
            sequence(rank, graph, self, &mut out)?;
            if graph.operations().is_empty() {
                idle(&mut out, rank);
            }
        }
        Ok(out)
    }
}

fn header() -> String {
    format!("{}\n", COLUMNS.join(","))
}

/// A rank without operations.
fn idle(out: &mut String, rank: u32) {
    let _ = writeln!(out, "{rank},,,,,");
}

fn row(out: &mut String, rank: u32, action: Action, tag: u64, blocking: bool) {
    let i = if blocking { "" } else { "i" };
    let _ = match action {
        Action::Send { to, bytes, .. } => writeln!(out, "{rank},{i}send,{to},{bytes},{tag},"),
        Action::Receive { from, bytes, .. } => writeln!(out, "{rank},{i}recv,{from},{bytes},{tag},"),
        Action::Compute { ps } => writeln!(out, "{rank},compute,,,,{ps}ps"),
    };
}

/// Writes the operations of a rank in the only sequence that could give this graph, and checks that it does.
fn sequence(rank: u32, graph: &Graph, trace: &Trace, out: &mut String) -> Result<(), Error> {
    let mut edges = graph.edges();
    edges.sort_unstable_by_key(|edge| (edge.after, edge.before, edge.start));
    let mut edges = edges.chunk_by(|a, b| a.after == b.after).peekable();
    let (mut chain, mut blocking) = (Chain::default(), true);
    for (number, operation) in (0_u32..).zip(graph.operations()) {
        if operation.cpu != 0 {
            return Err(ErrorKind::CsvCpu { cpu: graph.cpu(operation) }.of_operation(rank, number));
        }
        if operation.nic != 0 {
            return Err(ErrorKind::CsvNic { nic: operation.nic }.of_operation(rank, number));
        }
        let expected = edges.next_if(|edges| edges[0].after == number).unwrap_or_default();
        let awaited = ends(expected, number).filter(|&before| before + 1 != number || !blocking);
        wait(rank, &awaited.collect::<Vec<_>>(), graph, trace, &mut chain, out);
        // A non-blocking operation is followed by operations that wait for its start. An operation that ends together
        // with all open ones does not block either: so `isend, wait` does not become `send, wait`.
        let next = edges.peek().filter(|edges| edges[0].after == number + 1).copied().unwrap_or_default();
        let others: Vec<u32> = ends(next, number + 1).filter(|&before| before != number).collect();
        let computes = matches!(operation.action, Action::Compute { .. });
        let begins = graph.followers(number).contains(&(number + 1, Start::AtBegin));
        blocking = !begins && (computes || others.is_empty() || !chain.open_are(&others));
        let before = chain.draft.edges.len();
        let tag = tag_of(trace, operation.action);
        chain.push(operation.action, tag, blocking, 0, 0);
        chain.draft.edges[before..].sort_unstable();
        if chain.draft.edges[before..] != *expected {
            return Err(ErrorKind::CsvOrder {}.of_operation(rank, number));
        }
        if !blocking && computes {
            return Err(ErrorKind::CsvOverlap {}.of_operation(rank, number));
        }
        row(out, rank, operation.action, tag, blocking);
    }
    Ok(())
}

/// The operations whose end operation `after` waits for, ascending.
fn ends(edges: &[Edge], after: u32) -> impl Iterator<Item = u32> {
    let ends = edges.iter().filter(move |edge| edge.after == after && edge.start == Start::AtEnd);
    ends.map(|edge| edge.before)
}

/// Waits for these operations: for all open ones, or for one at a time.
fn wait(rank: u32, awaited: &[u32], graph: &Graph, trace: &Trace, chain: &mut Chain, out: &mut String) {
    if awaited.is_empty() {
        return;
    }
    if chain.open_are(awaited) {
        chain.wait();
        let _ = writeln!(out, "{rank},wait,,,,");
        return;
    }
    for &operation in awaited {
        let action = graph.operations()[operation as usize].action;
        if let Some(peer) = peer(action) {
            let tag = tag_of(trace, action);
            // If another one is the oldest, or if there is none, the graph will differ.
            let _ = chain.wait_for(peer, tag);
            let _ = writeln!(out, "{rank},wait,{peer},,{tag},");
        }
    }
}

/// The tag of a message; 0 for a compute operation.
fn tag_of(trace: &Trace, action: Action) -> u64 {
    match action {
        Action::Send { label, .. } | Action::Receive { label, .. } => trace.tag(label),
        Action::Compute { .. } => 0,
    }
}
