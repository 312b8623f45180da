//! Writes binary GOAL.

use odonata_error::{Error, ErrorKind};

use super::{ANY, COMPUTE, COOKIE, COUNTS, HEAD, ORIGIN, PS, RECEIVE, SEND, SHORT, SPAN};
use crate::trace::graph::{Action, Graph, Operation, Start, Trace};

impl Trace {
    /// The trace as binary GOAL in the layout of LogGOPSim: the same bytes for equal traces.
    ///
    /// # Errors
    /// With the first operation that the format cannot express: fractions of a nanosecond, tags of more than 32 bits,
    /// CPUs above 255.
    pub fn to_binary(&self) -> Result<Vec<u8>, Error> {
        let table = HEAD + SPAN * self.graphs.len();
        let size = |graph: &Graph| {
            let edges: usize =
                (0..graph.operations().len() as u32).map(|operation| graph.followers(operation).len()).sum();
            COUNTS + 4 * roots(graph).count() + SHORT * graph.operations().len() + 4 * edges
        };
        let sizes: Vec<usize> = self.graphs.iter().map(size).collect();
        let mut out = Vec::with_capacity(ORIGIN + table + sizes.iter().sum::<usize>());
        out.extend(COOKIE.to_le_bytes());
        out.extend(self.ranks().to_le_bytes());
        let cpus = self.graphs.iter().flat_map(|graph| graph.operations().iter().map(|operation| graph.cpu(operation)));
        let nics = self.graphs.iter().flat_map(|graph| graph.operations().iter().map(|operation| operation.nic));
        // A CPU that does not fit is refused below.
        out.extend([cpus.max().unwrap_or(0) as u8, nics.max().unwrap_or(0)]);
        let mut begin = table as u64;
        for size in sizes {
            let end = begin + size as u64;
            out.extend([begin, end].map(u64::to_le_bytes).as_flattened());
            begin = end;
        }
        for (rank, graph) in (0..).zip(&self.graphs) {
            self.rank(rank, graph, &mut out)?;
        }
        Ok(out)
    }

    fn rank(&self, rank: u32, graph: &Graph, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend((graph.operations().len() as u32).to_le_bytes());
        out.extend((roots(graph).count() as u32).to_le_bytes());
        out.extend(roots(graph).flat_map(u32::to_le_bytes));
        let mut listed = 0;
        for (number, operation) in (0..).zip(graph.operations()) {
            let not =
                |what, found, limit| Err(ErrorKind::BinaryLimit { what, found, limit }.of_operation(rank, number));
            let (kind, peer, size, tag) = match operation.action {
                Action::Send { to, label, bytes } => (SEND, to, bytes, self.tag(label)),
                Action::Receive { from, label, bytes } => (RECEIVE, from, bytes, self.tag(label)),
                Action::Compute { ps } if ps.is_multiple_of(PS) => (COMPUTE, 0, ps / PS, 0),
                Action::Compute { ps } => return not("time in picoseconds", ps, "whole nanoseconds"),
            };
            if tag >= u64::from(ANY) {
                return not("tag", tag, "tags up to 4294967294");
            }
            let Ok(cpu) = u8::try_from(graph.cpu(operation)) else {
                return not("CPU", graph.cpu(operation).into(), "CPUs up to 255");
            };
            out.extend(graph.waits_for(number).to_le_bytes());
            out.push(kind);
            out.extend(peer.to_le_bytes());
            out.extend(size.to_le_bytes());
            out.extend((tag as u32).to_le_bytes());
            out.extend([cpu, operation.nic]);
            for when in [Start::AtEnd, Start::AtBegin] {
                let count = followers(graph, number, when).count() as u32;
                out.extend([count, listed].map(u32::to_le_bytes).as_flattened());
                listed += count;
            }
        }
        for number in 0..graph.operations().len() as u32 {
            for when in [Start::AtEnd, Start::AtBegin] {
                out.extend(followers(graph, number, when).flat_map(u32::to_le_bytes));
            }
        }
        Ok(())
    }
}

/// Operations that wait for nothing.
fn roots(graph: &Graph) -> impl Iterator<Item = u32> {
    let operations: &[Operation] = graph.operations();
    (0..operations.len() as u32).filter(|&operation| graph.waits_for(operation) == 0)
}

/// Operations that wait for this event of an operation, ascending.
fn followers(graph: &Graph, operation: u32, when: Start) -> impl Iterator<Item = u32> {
    graph.followers(operation).iter().filter(move |(_, start)| *start == when).map(|(follower, _)| *follower)
}
