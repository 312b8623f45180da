//! Writes Chakra traces: a file for each rank, in the schema 0.0.4.
//!
//! What Chakra has no field for stands in attributes: dependencies on beginnings, CPUs, NICs and exact times.

use odonata_error::{Error, ErrorKind};
use prost::Message;

use super::node::MOST_TAG;
use super::schema::{Attribute, COMPUTE, GlobalMetadata, Node, RECEIVE, SEND, Uint64List, VERSION, Value};
use crate::trace::graph::{Action, Graph, Start, Trace};

/// The attribute of a file whose dependencies mean what they do in GOAL.
pub const EXACT: &str = "odonata";

/// Picoseconds of a microsecond.
const MICROSECOND: u64 = 1_000_000;

impl Trace {
    /// The trace as Chakra execution traces, one file for each rank: the same bytes for equal traces.
    ///
    /// # Errors
    /// With the first operation whose tag is 2^63 or more.
    pub fn to_chakra(&self) -> Result<Vec<Vec<u8>>, Error> {
        (0..).zip(&self.graphs).map(|(rank, graph)| self.chakra_file(rank, graph)).collect()
    }

    fn chakra_file(&self, rank: u32, graph: &Graph) -> Result<Vec<u8>, Error> {
        let exact = attribute(EXACT, Value::Int32(1));
        let metadata = GlobalMetadata { version: VERSION.into(), attributes: vec![exact] };
        let mut out = metadata.encode_length_delimited_to_vec();
        let mut edges = graph.edges();
        edges.sort_unstable_by_key(|edge| (edge.after, edge.before));
        let mut edges = edges.into_iter().peekable();
        for (number, operation) in (0..).zip(graph.operations()) {
            let mut node = Node { id: number.into(), ..Node::default() };
            let mut begins = Vec::new();
            while let Some(edge) = edges.next_if(|edge| edge.after == number) {
                let list = if edge.start == Start::AtEnd { &mut node.data } else { &mut begins };
                list.push(edge.before.into());
            }
            // ASTRA-sim needs to know that it is not for the CPU of the host.
            node.attributes.push(attribute("is_cpu_op", Value::Bool(false)));
            match operation.action {
                Action::Compute { ps } => {
                    (node.kind, node.name) = (COMPUTE, format!("compute_{number}"));
                    node.duration_micros = ps.div_ceil(MICROSECOND);
                    if !ps.is_multiple_of(MICROSECOND) {
                        node.attributes.push(attribute("duration_ps", Value::Uint64(ps)));
                    }
                }
                Action::Send { to, label, bytes } => {
                    (node.kind, node.name) = (SEND, format!("send_{number}"));
                    node.attributes.extend(self.message(("comm_src", rank), ("comm_dst", to), label, bytes));
                }
                Action::Receive { from, label, bytes } => {
                    (node.kind, node.name) = (RECEIVE, format!("receive_{number}"));
                    node.attributes.extend(self.message(("comm_src", from), ("comm_dst", rank), label, bytes));
                }
            }
            if let Action::Send { label, .. } | Action::Receive { label, .. } = operation.action
                && self.tag(label) > MOST_TAG
            {
                let kind = ErrorKind::BinaryLimit { what: "tag", found: self.tag(label), limit: "tags below 2^63" };
                return Err(kind.of_operation(rank, number));
            }
            if graph.cpu(operation) != 0 {
                node.attributes.push(attribute("cpu", Value::Uint32(graph.cpu(operation))));
            }
            if operation.nic != 0 {
                node.attributes.push(attribute("nic", Value::Uint32(operation.nic.into())));
            }
            if !begins.is_empty() {
                node.attributes.push(attribute("start_deps", Value::Uint64List(Uint64List { values: begins })));
            }
            node.encode_length_delimited(&mut out).expect("a vector grows");
        }
        Ok(out)
    }

    fn message(&self, source: (&str, u32), destination: (&str, u32), label: u64, bytes: u64) -> [Attribute; 4] {
        let tag = self.tag(label);
        let rank =
            |(name, rank): (&str, u32)| attribute(name, i32::try_from(rank).map_or(Value::Uint32(rank), Value::Int32));
        [
            attribute("comm_size", Value::Int64(bytes as i64)),
            rank(source),
            rank(destination),
            attribute("comm_tag", i32::try_from(tag).map_or(Value::Uint64(tag), Value::Int32)),
        ]
    }
}

fn attribute(name: &str, value: Value) -> Attribute {
    Attribute { name: name.into(), value: Some(value) }
}
