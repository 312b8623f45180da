//! A graph of nodes for each stage as a graph of operations for each rank.
//!
//! A node is one operation, or the operations of a collective one after the other. What waits for a node waits for its
//! last operations (its *ends*). Tags: each message of a collective has a tag of its own among those of its stage, and
//! the tags of messages between stages come behind them. So each tag is used once between two ranks.

use odonata_error::{Error, ErrorKind, path};

use super::chain::Chain;
use super::draft::{Draft, SourceDetails};
use super::graph::{Action, Edge, Graph, Start, Trace};
use super::shape::Shape;
use super::{MAX_BYTES, MOST_OPERATIONS, export};
use crate::stages::{StageAction, StageNode, Stages};

/// Numbers of CPUs that nodes may have.
const CPUS: u32 = 256;
/// CPU of operations without duration that only join dependencies.
const JOIN: u32 = CPUS;
/// Most ends of a node before they are joined, so that dependencies do not multiply.
const MOST_ENDS: usize = 4;

impl Trace {
    /// One iteration of stages for `ranks` ranks.
    ///
    /// # Errors
    /// [`Error`]: ranks that are not stages of equal size, a node that waits for a later one, a message without its
    /// other end, a collective that is not listed or that computes for a random time, or too many operations.
    pub fn of_stages(stages: &Stages, ranks: u32) -> Result<Self, Error> {
        let count = stages.stages.len() as u32;
        if count == 0 || !ranks.is_multiple_of(count) {
            let (width, count) = (ranks / count.max(1), u64::from(count));
            let points = u128::from(width) * u128::from(count);
            let kind = ErrorKind::GridOfOtherSize { grid: vec![width, count as u32], points, ranks: ranks.into() };
            return Err(kind.at(path!["stages"]));
        }
        let width = ranks / count;
        let mut shapes = Vec::with_capacity(stages.collectives.len());
        for (number, collective) in stages.collectives.iter().enumerate() {
            let shape = Shape::new(collective.phases.clone(), width)
                .and_then(|shape| export::check(&shape.phases, width).map(|()| shape));
            shapes.push(shape.map_err(|e| e.under(path!["collectives", number]))?);
        }
        let mut operations = 0;
        for (stage, nodes) in stages.stages.iter().enumerate() {
            for (number, node) in nodes.iter().enumerate() {
                check(node, number, count, &shapes).map_err(|e| e.under(path!["stages", stage, number]))?;
                operations += match node.what {
                    StageAction::Collective { number } => shapes[number as usize].operations,
                    _ => u64::from(width),
                };
            }
        }
        if operations > MOST_OPERATIONS {
            return Err(ErrorKind::ChakraTooLong { found: operations, most: MOST_OPERATIONS }.at(path!["stages"]));
        }
        check_messages(stages)?;
        let tags = Tags::new(stages, &shapes);
        let graphs = (0..ranks).map(|rank| Builder::new(stages, &shapes, &tags, rank, width).graph()).collect();
        Ok(Self { graphs, tags: (0..tags.count()).collect() })
    }
}

fn check(node: &StageNode, number: usize, stages: u32, shapes: &[Shape]) -> Result<(), Error> {
    let within = |found: u64, most: u64, field: &'static str| match found {
        found if found <= most => Ok(()),
        _ => Err(ErrorKind::OutOfRange { found, least: 0, most }.at(path![field])),
    };
    within(node.cpu.into(), (CPUS - 1).into(), "cpu")?;
    if let Some(&after) = node.after.iter().find(|&&after| after as usize >= number) {
        return Err(ErrorKind::StageOrder { node: number, after }.at(path!["after"]));
    }
    match node.what {
        StageAction::Compute { .. } => Ok(()),
        StageAction::Collective { number } if (number as usize) < shapes.len() => Ok(()),
        StageAction::Collective { number } => within(number.into(), (shapes.len() as u64).saturating_sub(1), "number"),
        StageAction::Send { stage, bytes, .. } | StageAction::Receive { stage, bytes, .. } => {
            within(stage.into(), (stages - 1).into(), "stage")?;
            within(bytes, MAX_BYTES, "bytes")
        }
    }
}

/// Refuses a message that has no other end, or whose tag another one between the same stages has.
fn check_messages(stages: &Stages) -> Result<(), Error> {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for (own, nodes) in (0_u32..).zip(&stages.stages) {
        for node in nodes {
            match node.what {
                StageAction::Send { stage, tag, bytes } => sends.push((own, stage, tag, bytes)),
                StageAction::Receive { stage, tag, bytes } => receives.push((stage, own, tag, bytes)),
                _ => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let key = |&(from, to, tag, _): &(u32, u32, u32, u64)| (from, to, tag);
    if let Some(pair) = sends.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        let kind = ErrorKind::SecondTime { what: "tag", found: pair[0].2.to_string(), first_line: None };
        return Err(kind.at(path!["stages", pair[0].0 as usize]));
    }
    let lonely = |operation, &(from, to, tag, bytes): &(u32, u32, u32, u64)| {
        Err(ErrorKind::StageMessage { operation, from, to, tag, bytes }.at(path!["stages"]))
    };
    if let Some(send) = sends.iter().find(|send| receives.binary_search(send).is_err()) {
        return lonely("send", send);
    }
    match receives.iter().find(|receive| sends.binary_search(receive).is_err()) {
        Some(receive) => lonely("receive", receive),
        None if receives.len() > sends.len() => lonely("receive", &receives[0]),
        None => Ok(()),
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
