//! All-reduces and all-to-alls over nodes with several GPUs, in the forms that scenarios give them
//! (`scenario/apps/gpu_collectives.py`), and pipelines of stages that do such and other collectives.

use odonata_programs::stages::{StageAction, StageCollective, StageNode, Stages};
use odonata_programs::{
    Allgather, Allreduce, GridAxis, Phase, PhaseAction, Program, ReduceScatter, RingWork, Tree, Way,
};
use odonata_sim::Spec;
use odonata_sim::spec::{Body, JobSpec, ProgramSpec};

use super::choices::Choices;
use super::programs;

/// More ranks make the runs slow and test nothing else.
const MOST_RANKS: u32 = 12;

/// Gives each job with a program such a collective in place of it, on nodes of which each has several ranks side by
/// side.
pub fn put(c: &mut Choices, spec: &mut Spec) {
    let rails = spec.machine().expect("it was built before").network().rails;
    let (trip, packet) = (programs::trip(&spec.fabric), spec.fabric.packet_bytes);
    for job in &mut spec.jobs {
        let JobSpec { program: Some(program), nodes, .. } = job else { continue };
        let mut places = nodes.clone();
        places.sort_unstable();
        places.dedup();
        c.shuffle(&mut places);
        let least = if places.len() == 1 { 2 } else { 1 };
        let per_node = c.count(least, 4);
        places.truncate((MOST_RANKS / per_node) as usize);
        *nodes = places.iter().flat_map(|&node| vec![node; per_node as usize]).collect();
        put_in(c, program, nodes.len() as u32, per_node, packet);
        let mut gpus = programs::gpus(c, trip, packet, rails);
        if c.chance(80) {
            while gpus.count != per_node {
                gpus = programs::gpus(c, trip, packet, rails);
            }
        }
        program.gpus = Some(gpus);
    }
}

fn put_in(c: &mut Choices, program: &mut ProgramSpec, ranks: u32, per_node: u32, packet: u32) {
    let packet = u64::from(packet);
    let bytes = c.of(&[0, 1, packet, packet * 4 + 1, packet * 30]);
    program.body = match c.within(0, 11) {
        0 | 1 => hierarchical(ranks, per_node, bytes),
        2 | 3 => ring_channels(c, per_node, bytes),
        4 | 5 => double_binary_tree(c, per_node, bytes),
        6 | 7 => exchange(PhaseAction::GroupedAlltoall { per_node, bytes }),
        8..=10 => exchange(PhaseAction::PxnAlltoall { per_node, bytes }),
        _ => pipeline(c, ranks, per_node, packet),
    };
    // An endless program could be one that takes no time.
    program.iterations = program.iterations.or(Some(c.of(&[1, 2, 4])));
}

fn hierarchical(ranks: u32, per_node: u32, bytes: u64) -> Body {
    let block = bytes.div_ceil(u64::from(per_node));
    let along = |axis| Some(GridAxis { grid: vec![per_node, ranks / per_node], axis });
    let phases = vec![
        Phase { along: along(0), what: PhaseAction::ReduceScatter { algorithm: ReduceScatter::Ring, bytes } },
        Phase { along: along(1), what: PhaseAction::Allreduce { algorithm: Allreduce::Ring, bytes: block } },
        Phase { along: along(0), what: PhaseAction::Allgather { algorithm: Allgather::Ring, bytes: block } },
    ];
    Body::Phases { phases, untimed: 0 }
}

fn exchange(what: PhaseAction) -> Body {
    Body::Phases { phases: vec![Phase { along: None, what }], untimed: 0 }
}

fn ring_channels(c: &mut Choices, per_node: u32, bytes: u64) -> Body {
    let combine_ps = c.of(&[0, 0, 77]);
    let mut stages = Stages { collectives: Vec::new(), stages: vec![vec![call(c)]] };
    let work = c.of(RingWork::ALL);
    let steps = c.chance(27).then(|| u64::from(c.count(0, 12)));
    for channel in 0..per_node {
        let (order, bytes) = (order(c, per_node, channel), part(bytes, channel, per_node));
        let ring = match steps {
            Some(steps) => PhaseAction::RingSteps { work, order, bytes, steps },
            None => PhaseAction::RingChannel { work, order, bytes },
        };
        let number = collective(&mut stages, ring, combine_ps);
        node(&mut stages, channel, vec![0], number);
    }
    Body::Stages(stages)
}

fn double_binary_tree(c: &mut Choices, per_node: u32, bytes: u64) -> Body {
    let (combine_ps, chunks) = (c.of(&[0, 0, 77]), c.count(1, 4));
    let mut stages = Stages { collectives: Vec::new(), stages: vec![vec![call(c)]] };
    for channel in 0..2 * per_node {
        let (tree, whole) = (Tree::ALL[channel as usize % 2], part(bytes, channel, 2 * per_node));
        let order = order(c, per_node, channel / 2);
        let (mut up, mut down) = (0, 0);
        for chunk in 0..chunks {
            let bytes = part(whole, chunk, chunks);
            let of = |way| PhaseAction::TreeChannel { tree, way, order: order.clone(), bytes };
            let number = collective(&mut stages, of(Way::Up), combine_ps);
            up = node(&mut stages, 2 * channel, vec![up], number);
            let number = collective(&mut stages, of(Way::Down), combine_ps);
            down = node(&mut stages, 2 * channel + 1, vec![down, up], number);
        }
    }
    Body::Stages(stages)
}

/// A pipeline of microbatches over stages of equal size, whose ranks do collectives beside computing.
fn pipeline(c: &mut Choices, ranks: u32, per_node: u32, packet: u64) -> Body {
    let counts: Vec<u32> = (1..=3).filter(|&count| ranks.is_multiple_of(count)).collect();
    let count = c.of(&counts);
    let width = ranks / count;
    let mut stages = Stages { collectives: Vec::new(), stages: vec![Vec::new(); count as usize] };
    for _ in 0..c.count(1, 3) {
        let combine_ps = c.of(&[0, 77]);
        let phases = phases_of_stage(c, width, per_node, packet);
        stages.collectives.push(StageCollective { phases, combine_ps });
    }
    let collectives = stages.collectives.len() as u32;
    for microbatch in 0..c.count(1, 3) {
        let bytes = c.of(&[0, packet, packet * 9]);
        for (stage, nodes) in (0..).zip(&mut stages.stages) {
            let mut put = |c: &mut Choices, cpu, what| {
                let before: Vec<u32> = (0..nodes.len() as u32).filter(|_| c.chance(30)).collect();
                nodes.push(StageNode { cpu, after: before, what });
            };
            if stage > 0 {
                put(c, 7, StageAction::Receive { stage: stage - 1, tag: 5 - microbatch, bytes });
            }
            let ps = c.of(&[0, 1, 1_000]);
            put(c, 0, StageAction::Compute { ps });
            for _ in 0..c.count(0, 2) {
                let (cpu, number) = (c.of(&[0, 1, 3]), c.count(0, collectives - 1));
                put(c, cpu, StageAction::Collective { number });
            }
            if stage + 1 < count {
                put(c, 8, StageAction::Send { stage: stage + 1, tag: 5 - microbatch, bytes });
            }
        }
    }
    Body::Stages(stages)
}

/// What the ranks of a stage do together, with forms for nodes with several GPUs where whole nodes are in a stage.
fn phases_of_stage(c: &mut Choices, width: u32, per_node: u32, packet: u64) -> Vec<Phase> {
    let bytes = c.of(&[1, packet, packet * 20]);
    if width.is_multiple_of(per_node) && c.chance(60) {
        let first = c.count(0, per_node - 1);
        let order = order(c, per_node, first);
        let what = match c.within(0, 2) {
            0 => PhaseAction::RingChannel { work: c.of(RingWork::ALL), order, bytes },
            1 => PhaseAction::TreeChannel { tree: c.of(Tree::ALL), way: c.of(Way::ALL), order, bytes },
            _ => PhaseAction::PxnAlltoall { per_node, bytes },
        };
        return vec![Phase { along: None, what }];
    }
    loop {
        let phases = super::phases::phases(c, width, 1_000, packet as u32);
        let of = Stages {
            collectives: vec![StageCollective { phases: phases.clone(), combine_ps: 0 }],
            stages: vec![Vec::new()],
        };
        // Computing for a random time has no place in stages.
        if Program::new(&Body::Stages(of), width).is_ok() {
            return phases;
        }
    }
}

/// The ranks of a node from one of them on, the others in any order.
fn order(c: &mut Choices, per_node: u32, first: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (first..per_node).chain(0..first).collect();
    if c.chance(50) {
        c.shuffle(&mut order[1..]);
    }
    order
}

/// What each rank does first.
fn call(c: &mut Choices) -> StageNode {
    StageNode { cpu: 0, after: Vec::new(), what: StageAction::Compute { ps: c.of(&[0, 1, 1_000]) } }
}

/// Bytes of one of some parts of a vector.
fn part(bytes: u64, number: u32, parts: u32) -> u64 {
    let end = |number: u32| bytes * u64::from(number) / u64::from(parts);
    end(number + 1) - end(number)
}

/// Adds a collective; its number.
fn collective(stages: &mut Stages, what: PhaseAction, combine_ps: u64) -> u32 {
    stages.collectives.push(StageCollective { phases: vec![Phase { along: None, what }], combine_ps });
    stages.collectives.len() as u32 - 1
}

/// Adds a node that runs a collective; its number.
fn node(stages: &mut Stages, cpu: u32, after: Vec<u32>, number: u32) -> u32 {
    let nodes = &mut stages.stages[0];
    nodes.push(StageNode { cpu, after, what: StageAction::Collective { number } });
    nodes.len() as u32 - 1
}
