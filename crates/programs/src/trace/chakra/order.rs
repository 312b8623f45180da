//! An order of nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use odonata_error::{Error, ErrorKind};

use super::file::ChakraFile;
use crate::trace::goal::{MOST_IN_CYCLE, cycle};
use crate::trace::graph::{Edge, Start};

/// An order of the nodes in which each comes after those that it waits for, and which follows the file otherwise; none if
/// the file has such an order.
///
/// # Errors
/// If nodes wait for each other in a cycle.
pub fn order(file: &ChakraFile) -> Result<Option<Vec<u32>>, Error> {
    let nodes = file.nodes.len();
    let all = |node: usize| &file.waits[file.nodes[node].ends.start..file.nodes[node].begins.end];
    if (0..nodes).all(|node| all(node).iter().all(|&before| (before as usize) < node)) {
        return Ok(None);
    }
    let edge =
        |node: usize| all(node).iter().map(move |&before| Edge { before, after: node as u32, start: Start::AtEnd });
    let mut edges: Vec<Edge> = (0..nodes).flat_map(edge).collect();
    edges.sort_unstable();
    edges.dedup();
    if let Some(ring) = cycle(nodes, &edges) {
        let name = |&node: &u32| {
            let node = &file.nodes[node as usize];
            format!("{} ({})", node.id, node.name)
        };
        let kind =
            ErrorKind::ChakraCycle { first: ring.iter().take(MOST_IN_CYCLE).map(name).collect(), length: ring.len() };
        let first = &file.nodes[ring[0] as usize];
        return Err(kind.of_node(first.id, &first.name));
    }
    let mut waits_for = vec![0_u32; nodes];
    for edge in &edges {
        waits_for[edge.after as usize] += 1;
    }
    let free = |&node: &u32| waits_for[node as usize] == 0;
    let mut ready: BinaryHeap<Reverse<u32>> = (0..nodes as u32).filter(free).map(Reverse).collect();
    let mut sorted = Vec::with_capacity(nodes);
    while let Some(Reverse(node)) = ready.pop() {
        sorted.push(node);
        let from = edges.partition_point(|edge| edge.before < node);
        for edge in edges[from..].iter().take_while(|edge| edge.before == node) {
            waits_for[edge.after as usize] -= 1;
            if waits_for[edge.after as usize] == 0 {
                ready.push(Reverse(edge.after));
            }
        }
    }
    Ok(Some(sorted))
}
