//! What a run computes of a program of stages is what a trace stores of it, operation by operation.

use std::collections::{BTreeMap, BTreeSet};

use odonata_programs::stages::{StageAction, StageCollective, StageNode, Stages};
use odonata_programs::trace::{Action, Start};
use odonata_programs::{
    Allgather, Allreduce, Alltoall, Awaits, Body, Broadcast, GridAxis, Halo, NodeOperations, Phase, PhaseAction,
    Program, ReduceScatter, RingWork, Staged, Tree, Way,
};
use proptest::prelude::*;

use crate::support::waits;

/// Draws numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(end)) as u32
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize].clone()
    }
}

/// Something that `ranks` ranks do together, whose nodes have `per_node` of them.
fn what(draw: &mut Draw, ranks: u32, per_node: u32) -> PhaseAction {
    let bytes = draw.of(&[0, 1, 7, 64, 1000]);
    let mut order: Vec<u32> = (0..per_node).collect();
    order.rotate_left(draw.below(per_node) as usize);
    match draw.below(10) {
        0 => PhaseAction::RingChannel { work: draw.of(RingWork::ALL), order, bytes },
        1 => PhaseAction::RingSteps { work: draw.of(RingWork::ALL), order, bytes, steps: u64::from(draw.below(9)) },
        2 | 3 => PhaseAction::TreeChannel { tree: draw.of(Tree::ALL), way: draw.of(Way::ALL), order, bytes },
        4 => PhaseAction::PxnAlltoall { per_node, bytes },
        5 => PhaseAction::Alltoall { algorithm: draw.of(Alltoall::ALL), bytes },
        6 => PhaseAction::Allreduce { algorithm: draw.of(Allreduce::ALL), bytes },
        7 => match draw.below(3) {
            0 => PhaseAction::Allgather { algorithm: draw.of(Allgather::ALL), bytes },
            1 => PhaseAction::ReduceScatter { algorithm: draw.of(ReduceScatter::ALL), bytes },
            _ => PhaseAction::Broadcast { algorithm: draw.of(Broadcast::ALL), root: draw.below(ranks), bytes },
        },
        8 => PhaseAction::Compute { ps: u64::from(draw.below(3)), jitter_ps: 0 },
        _ => PhaseAction::Halo(Halo {
            grid: [ranks, 1, 1],
            periodic: false,
            face_bytes: [8, 8, 8],
            edge_bytes: [0; 3],
            corner_bytes: 0,
            order: odonata_programs::Exchange::AllAtOnce,
        }),
    }
}

fn collective(draw: &mut Draw, width: u32) -> StageCollective {
    let phases = (0..=draw.below(3)).map(|_| {
        let divisors: Vec<u32> = (1..=width).filter(|size| width.is_multiple_of(*size)).collect();
        let inner = draw.of(&divisors);
        let (grid, axis) = (vec![inner, width / inner], draw.below(2));
        let along = (draw.below(2) == 0).then_some(GridAxis { grid: grid.clone(), axis });
        let ranks = along.as_ref().map_or(width, |along| along.grid[along.axis as usize]);
        let divisors: Vec<u32> = (1..=ranks).filter(|size| ranks.is_multiple_of(*size)).collect();
        let per_node = draw.of(&divisors);
        let mut what = self::what(draw, ranks, per_node);
        if matches!(what, PhaseAction::Halo(_)) && ranks == 1 {
            what = PhaseAction::Compute { ps: 1, jitter_ps: 0 };
        }
        Phase { along, what }
    });
    StageCollective { phases: phases.collect::<Vec<_>>(), combine_ps: draw.of(&[0, 1, 1000, u64::MAX]) }
}

/// Any program of stages, and its number of ranks.
fn drawn(seed: u64) -> (Stages, u32) {
    let draw = &mut Draw(seed);
    let (count, width) = (1 + draw.below(3), 1 + draw.below(8));
    let collectives: Vec<_> = (0..=draw.below(3)).map(|_| collective(draw, width)).collect();
    let mut stages = vec![Vec::new(); count as usize];
    let mut tags = 0;
    for _ in 0..draw.below(25) {
        let stage = draw.below(count);
        let mut put = |draw: &mut Draw, stage: u32, what| {
            let nodes: &mut Vec<StageNode> = &mut stages[stage as usize];
            let before = if nodes.is_empty() { 0 } else { draw.below(4) };
            let after = (0..before).map(|_| draw.below(nodes.len() as u32)).collect();
            nodes.push(StageNode { cpu: draw.of(&[0, 1, 2, 200]), after, what });
        };
        match draw.below(5) {
            0 => {
                let ps = draw.below(2).into();
                put(draw, stage, StageAction::Compute { ps });
            }
            1 => {
                let (other, tag, bytes) = (draw.below(count), draw.of(&[2 * tags + 1, 100 - tags]), 10);
                tags += 1;
                put(draw, stage, StageAction::Send { stage: other, tag, bytes });
                put(draw, other, StageAction::Receive { stage, tag, bytes });
            }
            _ => {
                let number = draw.below(collectives.len() as u32);
                put(draw, stage, StageAction::Collective { number });
            }
        }
    }
    (Stages { collectives, stages }, count * width)
}

/// A dependency: the operation that waits, the one that it waits for, and the event.
type Wait = (u32, u32, Start);

/// An operation: what it does, the number of its CPU, its place among those of the rank, its line.
type Found = (Action, u32, u16, u32);

/// All operations of a rank and their dependencies, as a run computes them.
fn computed(staged: &Staged, rank: u32) -> (Vec<Found>, Vec<Wait>) {
    let (mut operations, mut waits) = (Vec::new(), BTreeSet::new());
    let nodes = staged.waits(rank).len() as u32;
    let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut cursor = NodeOperations::default();
    for node in 0..nodes {
        let waited = before.remove(&node).unwrap_or_default();
        cursor.begin(staged, rank, node);
        // The operations whose ends complete all that there was.
        let mut ends: Vec<u32> = waited;
        let mut awaits = Awaits::All;
        let mut last: Option<(u32, bool)> = None;
        while let Some((action, cpu, blocking)) = cursor.next() {
            let number = operations.len() as u32;
            match awaits {
                Awaits::Begin => _ = waits.insert((number, last.expect("one").0, Start::AtBegin)),
                Awaits::End => _ = waits.insert((number, last.expect("one").0, Start::AtEnd)),
                Awaits::All => {
                    waits.extend(ends.drain(..).map(|before| (number, before, Start::AtEnd)));
                    waits.extend(last.map(|(before, _)| (number, before, Start::AtEnd)));
                }
            }
            operations.push((with_tag(action), staged.cpus(rank)[usize::from(cpu)], cpu, node + 1));
            ends.extend((!blocking).then_some(number));
            last = Some((number, blocking));
            awaits = cursor.advance(staged);
        }
        assert_eq!(awaits, Awaits::All, "the end of a node waits for all");
        ends.extend(last.map(|(number, _)| number));
        for &follower in staged.followers(rank, node) {
            before.entry(follower).or_default().extend(&ends);
        }
    }
    (operations, waits.into_iter().collect())
}

/// Labels are tags in the upper half in a stored trace.
fn with_tag(action: Action) -> Action {
    match action {
        Action::Send { to, label, bytes } => Action::Send { to, label: label << 32, bytes },
        Action::Receive { from, label, bytes } => Action::Receive { from, label: label << 32, bytes },
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Catches an operation, a label, a CPU or a dependency that is computed in another way than it is stored.
    #[test]
    fn what_is_computed_is_what_is_stored(seed: u64) {
        let (stages, ranks) = drawn(seed);
        let Program::Stages(staged) = Program::new(&Body::Stages(stages), ranks).expect("it is a program") else {
            unreachable!("it is of stages")
        };
        let trace = staged.trace().expect("it is short");
        for rank in 0..ranks {
            let graph = trace.graph(rank);
            let stored: Vec<_> = graph
                .operations()
                .iter()
                .map(|operation| (operation.action, graph.cpu(operation), operation.cpu, operation.line))
                .collect();
            let (operations, dependencies) = computed(&staged, rank);
            prop_assert_eq!(operations, stored);
            prop_assert_eq!(dependencies, waits(graph));
            let nodes = staged.waits(rank);
            let roots: Vec<u32> = (0..nodes.len() as u32).filter(|&node| nodes[node as usize] == 0).collect();
            prop_assert_eq!(staged.roots(rank), roots);
            for operation in graph.operations() {
                let line = match with_tag(operation.action) {
                    Action::Send { to, .. } => (label(operation.action), false, to),
                    Action::Receive { from, .. } => (label(operation.action), true, from),
                    Action::Compute { .. } => continue,
                };
                prop_assert_eq!(staged.line(rank, line.0, line.1, line.2), Some(operation.line));
            }
        }
        let stored = Program::Trace(trace);
        let computed = Program::Stages(staged);
        prop_assert_eq!(computed.traffic(ranks), stored.traffic(ranks));
    }
}

fn label(action: Action) -> u64 {
    match action {
        Action::Send { label, .. } | Action::Receive { label, .. } => label >> 32,
        Action::Compute { .. } => 0,
    }
}

/// Catches memory for each operation, and time for each operation before the first one is needed: 512 nodes with four
/// GPUs have 134 million operations.
#[test]
fn a_large_collective_takes_no_memory_for_its_operations() {
    let (nodes, per_node) = (512, 4);
    let channel = |first: u32| {
        let order = (first..per_node).chain(0..first).collect();
        let what = PhaseAction::RingChannel { work: RingWork::Allreduce, order, bytes: 1 << 28 };
        StageCollective { phases: vec![Phase { along: None, what }], combine_ps: 1_000_000 }
    };
    let stage = (0..per_node).map(|number| StageNode {
        cpu: number,
        after: Vec::new(),
        what: StageAction::Collective { number },
    });
    let body =
        Body::Stages(Stages { collectives: (0..per_node).map(channel).collect(), stages: vec![stage.collect()] });
    let ranks = nodes * per_node;
    let Program::Stages(staged) = Program::new(&body, ranks).expect("it is a program") else {
        unreachable!("it is of stages")
    };
    let mut operations = NodeOperations::default();
    operations.begin(&staged, ranks - 1, per_node - 1);
    let mut count = 0_u64;
    while operations.next().is_some() {
        operations.advance(&staged);
        count += 1;
    }
    let steps = u64::from(ranks - 1);
    assert_eq!(count, 3 * steps + 2 * steps, "receive, send and combine, then receive and send");
}
