//! A graph of nodes for each stage as a graph of operations for each rank, all of which are stored: for files, and as a
//! second opinion on what a run computes ([`crate::Staged`]).
//!
//! A node is one operation, or the operations of a collective one after the other. What waits for a node waits for its
//! last operations (its *ends*). Tags: each message of a collective has a tag of its own among those of its stage, and
//! the tags of messages between stages come behind them. So each tag is used once between two ranks.

use odonata_error::{Error, ErrorKind, path};

use super::chain::Chain;
use super::draft::{Draft, SourceDetails};
use super::graph::{Action, Edge, Graph, Start, Trace};
use super::shape::Shape;
use super::{MOST_OPERATIONS, export};
use crate::stages::{JOIN, MOST_ENDS, StageAction, StageNode, Stages, check};

impl Trace {
    /// One iteration of stages for `ranks` ranks.
    ///
    /// # Errors
    /// [`Error`]: ranks that are not stages of equal size, a node that waits for a later one, a message without its
    /// other end, a collective that is not listed or that computes for a random time, or too many operations.
    pub fn of_stages(stages: &Stages, ranks: u32) -> Result<Self, Error> {
        let width = check::width(stages, ranks)?;
        let mut shapes = Vec::with_capacity(stages.collectives.len());
        for (number, collective) in stages.collectives.iter().enumerate() {
            let shape = Shape::new(collective.phases.clone(), width)
                .and_then(|shape| export::check(&shape.phases, width).map(|()| shape));
            shapes.push(shape.map_err(|e| e.under(path!["collectives", number]))?);
        }
        check::nodes(stages)?;
        let operations = stages.stages.iter().flatten().map(|node| match node.what {
            StageAction::Collective { number } => shapes[number as usize].operations,
            _ => u64::from(width),
        });
        let operations = operations.sum();
        if operations > MOST_OPERATIONS {
            return Err(ErrorKind::ChakraTooLong { found: operations, most: MOST_OPERATIONS }.at(path!["stages"]));
        }
        let tags = Tags::new(stages, &shapes);
        let graphs = (0..ranks).map(|rank| Builder::new(stages, &shapes, &tags, rank, width).graph()).collect();
        Ok(Self { graphs, tags: (0..tags.count()).collect() })
    }
}

/// Tags of messages.
struct Tags {
    /// Tags of the collectives of the stage that has the most.
    collectives: u64,
    /// The tags between stages, ascending.
    between: Vec<u32>,
}

impl Tags {
    fn new(stages: &Stages, shapes: &[Shape]) -> Self {
        let (mut most, mut between) = (0, Vec::new());
        for nodes in &stages.stages {
            let mut own = 0;
            for node in nodes {
                match node.what {
                    StageAction::Collective { number } => own += shapes[number as usize].labels.len() as u64,
                    StageAction::Send { tag, .. } => between.push(tag),
                    _ => {}
                }
            }
            most = most.max(own);
        }
        between.sort_unstable();
        between.dedup();
        Self { collectives: most, between }
    }

    fn count(&self) -> u64 {
        self.collectives + self.between.len() as u64
    }

    fn between(&self, tag: u32) -> u64 {
        self.collectives + self.between.partition_point(|&other| other < tag) as u64
    }
}

/// Makes the operations of a rank.
struct Builder<'a> {
    stages: &'a Stages,
    shapes: &'a [Shape],
    tags: &'a Tags,
    rank: u32,
    /// Ranks of a stage.
    width: u32,
    chain: Chain,
}

impl<'a> Builder<'a> {
    fn new(stages: &'a Stages, shapes: &'a [Shape], tags: &'a Tags, rank: u32, width: u32) -> Self {
        Self { stages, shapes, tags, rank, width, chain: Chain::default() }
    }

    fn graph(mut self) -> Graph {
        let nodes = &self.stages.stages[(self.rank / self.width) as usize];
        let mut ends: Vec<Vec<u32>> = Vec::with_capacity(nodes.len());
        let mut tag = 0;
        for (line, node) in (1..).zip(nodes) {
            let mut before: Vec<u32> = node.after.iter().flat_map(|&after| &ends[after as usize]).copied().collect();
            before.sort_unstable();
            before.dedup();
            let made = if let StageAction::Collective { number } = node.what {
                let first = tag;
                tag += self.shapes[number as usize].labels.len() as u64;
                self.collective(number, node.cpu, before, first, line)
            } else {
                vec![self.single(node, &before, line)]
            };
            ends.push(self.settled(made, line));
        }
        let Draft { mut operations, details, edges } = self.chain.draft;
        let mut cpus: Vec<u32> = details.iter().map(|details| details.cpu).chain([0]).collect();
        cpus.sort_unstable();
        cpus.dedup();
        for (operation, details) in operations.iter_mut().zip(details) {
            operation.cpu = cpus.partition_point(|&cpu| cpu < details.cpu) as u16;
            if let Action::Send { label, .. } | Action::Receive { label, .. } = &mut operation.action {
                *label = details.tag << 32;
            }
        }
        Graph::new(operations, cpus, edges)
    }

    /// An operation without duration or of a node that is one operation.
    fn push(&mut self, action: Action, cpu: u32, tag: u64, before: &[u32], line: u32) -> u32 {
        let after = self.chain.draft.operations.len() as u32;
        self.chain.draft.push(action, 0, line, SourceDetails { tag, cpu, place: line });
        let edge = |&before: &u32| Edge { before, after, start: Start::AtEnd };
        self.chain.draft.edges.extend(before.iter().map(edge));
        after
    }

    fn single(&mut self, node: &StageNode, before: &[u32], line: u32) -> u32 {
        let number = self.rank % self.width;
        let (action, tag) = match node.what {
            StageAction::Compute { ps } => (Action::Compute { ps }, 0),
            StageAction::Send { stage, tag, bytes } => {
                let to = stage * self.width + number;
                (Action::Send { to, label: 0, bytes }, self.tags.between(tag))
            }
            StageAction::Receive { stage, tag, bytes } => {
                let from = stage * self.width + number;
                (Action::Receive { from, label: 0, bytes }, self.tags.between(tag))
            }
            StageAction::Collective { .. } => unreachable!("a collective is many operations"),
        };
        self.push(action, node.cpu, tag, before, line)
    }

    /// The operations of a collective; returns its ends.
    fn collective(&mut self, number: u32, cpu: u32, before: Vec<u32>, tag: u64, line: u32) -> Vec<u32> {
        let (shape, number) = (&self.shapes[number as usize], number as usize);
        let whole_ps = u128::from(self.stages.collectives[number].combine_ps);
        let combining = |bytes: u64, of: u64| (whole_ps * u128::from(bytes)).div_ceil(u128::from(of.max(1))) as u64;
        let base = self.rank / self.width * self.width;
        let first = self.chain.draft.operations.len();
        self.chain.begin(before.iter().copied());
        self.chain.cpu = cpu;
        for op in shape.phases.ops(self.rank % self.width) {
            let op = moved(op, base);
            self.chain.op(op, |label| tag + shape.tag(label), combining, line, line);
        }
        let ends = self.chain.end();
        if self.chain.draft.operations.len() == first {
            // A group of one rank: nothing to do.
            return vec![self.push(Action::Compute { ps: 0 }, JOIN, 0, &before, line)];
        }
        ends
    }

    /// Joins many ends into one.
    fn settled(&mut self, ends: Vec<u32>, line: u32) -> Vec<u32> {
        if ends.len() <= MOST_ENDS {
            return ends;
        }
        vec![self.push(Action::Compute { ps: 0 }, JOIN, 0, &ends, line)]
    }
}

/// An operation of a stage whose first rank is `base`.
fn moved(op: crate::Op, base: u32) -> crate::Op {
    use crate::Op;
    match op {
        Op::Send { to, label, bytes, blocking } => Op::Send { to: base + to, label, bytes, blocking },
        Op::Receive { from, label, bytes, blocking } => Op::Receive { from: base + from, label, bytes, blocking },
        other => other,
    }
}
