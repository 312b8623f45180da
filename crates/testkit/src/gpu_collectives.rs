//! All-reduces and all-to-alls over nodes with several GPUs, in the forms that scenarios give them
//! (`scenario/apps/gpu_collectives.py`).

use odonata_programs::stages::{StageAction, StageCollective, StageNode, Stages};
use odonata_programs::{Allgather, Allreduce, GridAxis, Phase, PhaseAction, ReduceScatter, RingWork, Tree, Way};
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
    program.body = match c.within(0, 4) {
        0 => hierarchical(ranks, per_node, bytes),
        1 => ring_channels(c, per_node, bytes),
        2 => double_binary_tree(c, per_node, bytes),
        3 => exchange(PhaseAction::GroupedAlltoall { per_node, bytes }),
        _ => exchange(PhaseAction::PxnAlltoall { per_node, bytes }),
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
    for channel in 0..per_node {
        let part = part(bytes, channel, per_node);
        let ring = PhaseAction::RingChannel { work, order: order(c, per_node, channel), bytes: part };
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
