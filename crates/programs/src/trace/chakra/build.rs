//! The nodes of a rank as operations.
//!
//! A node is one operation, or the operations of a collective one after the other. What waits for a node waits for its
//! last operations (its *ends*).

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};

use super::calls::Calls;
use super::file::ChakraFile;
use super::node::{ChakraNode, Work};
use crate::Op;
use crate::trace::chain::Chain;
use crate::trace::draft::{Draft, SourceDetails};
use crate::trace::graph::{Action, Edge, Start};

/// CPU of messages and of collectives.
const COMMUNICATION: u32 = 0;
/// CPU of computing on the GPU.
const GPU: u32 = 1;
/// CPU of computing on the host.
const HOST: u32 = 2;
/// CPU of operations without duration that only join dependencies. Nothing else occupies it, so they take no time.
const JOIN: u32 = 3;

/// Most ends of a node before they are joined, so that dependencies do not multiply.
const MOST_ENDS: usize = 4;

/// Makes the operations of a rank.
pub struct Builder<'a> {
    file: &'a ChakraFile,
    rank: u32,
    ranks: u32,
    /// The position of the first node.
    first_place: u32,
    calls: &'a Calls<'a>,
    chain: Chain,
    /// The first operation of each node, and where its ends are in `ends`.
    made: Vec<Made>,
    ends: Vec<u32>,
}

/// What was made of a node.
#[derive(Clone, Copy, Default)]
struct Made {
    first: u32,
    count: u32,
    ends: (u32, u32),
}

impl<'a> Builder<'a> {
    /// For a rank whose first node has this position.
    pub fn new(file: &'a ChakraFile, rank: u32, ranks: u32, first_place: u32, calls: &'a Calls<'a>) -> Self {
        let made = vec![Made::default(); file.nodes.len()];
        Self { file, rank, ranks, first_place, calls, chain: Chain::default(), made, ends: Vec::new() }
    }

    /// The operations, in the order of the file; they are made in `order`.
    ///
    /// # Errors
    /// With the node.
    pub fn build(mut self, order: Option<&[u32]>) -> Result<Draft, Error> {
        // Collectives count in the order of the file, whatever the order of the work.
        let (mut collectives, mut seen) = (BTreeMap::new(), BTreeMap::new());
        for (index, node) in (0..).zip(&self.file.nodes) {
            if matches!(node.work, Work::Collective(_)) {
                collectives.insert(index, self.calls.member(self.rank, collectives.len(), &mut seen));
            }
        }
        for place in 0..self.file.nodes.len() as u32 {
            let index = order.map_or(place, |order| order[place as usize]);
            let node = &self.file.nodes[index as usize];
            let before = self.before(node);
            let first = self.count();
            let ends = match collectives.get(&index) {
                Some(member) => self.collective(index, before, member.ops()),
                None => self.single(index, before)?,
            };
            for &earlier in self.file.waits(node).1 {
                let before = self.made[earlier as usize].first;
                self.chain.draft.edges.push(Edge { before, after: first, start: Start::AtBegin });
            }
            let ends = self.settle(index, ends);
            let from = self.ends.len() as u32;
            self.ends.extend(ends);
            self.made[index as usize] =
                Made { first, count: self.count() - first, ends: (from, self.ends.len() as u32) };
        }
        Ok(if order.is_some() { self.in_file_order() } else { self.chain.draft })
    }

    fn count(&self) -> u32 {
        self.chain.draft.operations.len() as u32
    }

    fn ends(&self, node: u32) -> &[u32] {
        let (from, to) = self.made[node as usize].ends;
        &self.ends[from as usize..to as usize]
    }

    /// The operations whose ends a node waits for.
    fn before(&self, node: &ChakraNode) -> Vec<u32> {
        let mut before: Vec<u32> =
            self.file.waits(node).0.iter().flat_map(|&earlier| self.ends(earlier)).copied().collect();
        before.sort_unstable();
        before.dedup();
        before
    }

    fn push(&mut self, index: u32, action: Action, cpu: u32, nic: u8, tag: u64) -> u32 {
        let place = self.first_place + index;
        self.chain.draft.push(action, nic, index + 1, SourceDetails { tag, cpu, place });
        self.count() - 1
    }

    fn edges(&mut self, before: &[u32], after: u32, start: Start) {
        self.chain.draft.edges.extend(before.iter().map(|&before| Edge { before, after, start }));
    }

    /// An operation for a node that has one; returns its ends.
    fn single(&mut self, index: u32, mut before: Vec<u32>) -> Result<Vec<u32>, Error> {
        let node = &self.file.nodes[index as usize];
        let default = |cpu| if self.file.exact { COMMUNICATION } else { cpu };
        let (action, cpu, tag) = match node.work {
            Work::Nothing | Work::Collective(_) => (Action::Compute { ps: 0 }, default(JOIN), 0),
            Work::Compute { ps, host } => (Action::Compute { ps }, default(if host { HOST } else { GPU }), 0),
            Work::Send { to, bytes, tag } => (Action::Send { to, label: 0, bytes }, COMMUNICATION, tag),
            Work::Receive { from, bytes, tag } => (Action::Receive { from, label: 0, bytes }, COMMUNICATION, tag),
        };
        if let Action::Send { to: peer, .. } | Action::Receive { from: peer, .. } = action
            && peer >= self.ranks
        {
            let kind = ErrorKind::NoSuchRank { rank: peer.into(), ranks: self.ranks };
            return Err(kind.of_node(node.id, &node.name));
        }
        let operation = self.push(index, action, node.cpu.unwrap_or(cpu), node.nic, tag);
        let mut ends = vec![operation];
        if !self.file.exact && matches!(action, Action::Receive { .. }) {
            // A receive is posted when the sends before it begin, and ends after them.
            let sends: Vec<u32> = self.sends_before(node);
            before.retain(|operation| sends.binary_search(operation).is_err());
            self.edges(&sends, operation, Start::AtBegin);
            ends.extend(sends);
        }
        self.edges(&before, operation, Start::AtEnd);
        Ok(ends)
    }

    /// The sends that a node waits for directly, or through receives, ascending.
    fn sends_before(&self, node: &ChakraNode) -> Vec<u32> {
        let sends =
            |&operation: &u32| matches!(self.chain.draft.operations[operation as usize].action, Action::Send { .. });
        let point_to_point = |&&earlier: &&u32| {
            matches!(self.file.nodes[earlier as usize].work, Work::Send { .. } | Work::Receive { .. })
        };
        let earlier = self.file.waits(node).0.iter().filter(point_to_point);
        let mut all: Vec<u32> = earlier.flat_map(|&earlier| self.ends(earlier)).copied().filter(sends).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The operations of a collective; returns its ends.
    fn collective(&mut self, index: u32, before: Vec<u32>, ops: impl Iterator<Item = Op>) -> Vec<u32> {
        let first = self.count();
        let (place, line) = (self.first_place + index, index + 1);
        let combining = self.calls.combining;
        self.chain.begin(before.iter().copied());
        for op in ops {
            self.chain.op(op, |label| label, combining, place, line);
        }
        if self.count() == first {
            // A group of one rank: nothing to do.
            self.chain.end();
            let operation = self.push(index, Action::Compute { ps: 0 }, JOIN, 0, 0);
            self.edges(&before, operation, Start::AtEnd);
            return vec![operation];
        }
        self.chain.end()
    }

    /// Joins many ends into one.
    fn settle(&mut self, index: u32, ends: Vec<u32>) -> Vec<u32> {
        if ends.len() <= MOST_ENDS {
            return ends;
        }
        let operation = self.push(index, Action::Compute { ps: 0 }, JOIN, 0, 0);
        self.edges(&ends, operation, Start::AtEnd);
        vec![operation]
    }

    /// The same operations in the order of the file.
    fn in_file_order(self) -> Draft {
        let Draft { operations, details, edges } = self.chain.draft;
        let mut draft = Draft::default();
        let mut new = vec![0; operations.len()];
        for made in &self.made {
            for old in made.first..made.first + made.count {
                new[old as usize] = draft.operations.len() as u32;
                draft.operations.push(operations[old as usize]);
                draft.details.push(details[old as usize]);
            }
        }
        let moved = |edge: Edge| Edge { before: new[edge.before as usize], after: new[edge.after as usize], ..edge };
        draft.edges = edges.into_iter().map(moved).collect();
        draft
    }
}
