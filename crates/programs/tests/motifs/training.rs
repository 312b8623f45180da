//! A step of training: the pipeline in time.

use odonata_programs::{Op, Training, motif};

use crate::run::{BOTH, Run, Sends, run};

const FORWARD: u64 = 1_001;
const BACKWARD: u64 = 2_003;

pub fn spec(tensor: u32, data: u32, pipeline: u32, microbatches: u32) -> Training {
    Training {
        tensor,
        data,
        pipeline,
        microbatches,
        tensor_reductions: 3,
        tensor_bytes: 1_000,
        activation_bytes: 77,
        gradient_bytes: 5_003,
        forward_ps: FORWARD,
        backward_ps: BACKWARD,
        jitter_ps: 13,
    }
}

/// Groups of one and of several, with pipelines longer and shorter than the number of microbatches.
pub fn specs() -> impl Iterator<Item = Training> {
    let groups = [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2), (4, 1)];
    groups.into_iter().flat_map(|(tensor, data)| {
        [1, 2, 3, 4, 6].into_iter().flat_map(move |pipeline| [1, 2, 4, 7].map(|m| spec(tensor, data, pipeline, m)))
    })
}

pub fn trained(spec: &Training, sends: Sends) -> Run {
    let ranks = spec.tensor * spec.data * spec.pipeline;
    run(&*motif::training(spec, ranks).unwrap(), ranks, sends)
}

/// The passes of a rank, from its computing: whether they are backward.
fn passes(ops: &[Op], spec: &Training) -> Vec<bool> {
    let parts = if spec.tensor == 1 { 1 } else { spec.tensor_reductions.max(1) as usize };
    let computes: Vec<(u64, u64)> = ops
        .iter()
        .filter_map(|op| if let Op::Compute { ps, jitter_ps } = *op { Some((ps, jitter_ps)) } else { None })
        .collect();
    assert_eq!(computes.len() % parts, 0);
    let pass = |pass: &[(u64, u64)]| {
        let total: u64 = pass.iter().map(|part| part.0).sum();
        assert!(total == FORWARD || total == BACKWARD, "a pass of {total} ps");
        let most = pass.iter().map(|part| part.0).max().unwrap();
        assert!(pass.iter().all(|part| most - part.0 <= 1), "uneven parts: {pass:?}");
        assert_eq!(pass.iter().map(|part| part.1).collect::<Vec<_>>()[0], 13);
        assert_eq!(pass.iter().map(|part| part.1).sum::<u64>(), 13, "one jitter a pass");
        total == BACKWARD
    };
    computes.chunks(parts).map(pass).collect()
}

/// A pass too few or too many; parts that do not add up; more microbatches in flight than 1F1B is for (as in GPipe,
/// where all are).
#[test]
fn passes_are_complete_and_few_are_in_flight() {
    for spec in specs() {
        let run = trained(&spec, Sends::Eager);
        for (rank, ops) in run.ops.iter().enumerate() {
            let passes = passes(ops, &spec);
            let microbatches = spec.microbatches as usize;
            assert_eq!(passes.iter().filter(|&&backward| !backward).count(), microbatches);
            assert_eq!(passes.iter().filter(|&&backward| backward).count(), microbatches);
            let stage = rank as u32 / (spec.tensor * spec.data);
            let (mut flying, mut most) = (0_i64, 0);
            for backward in passes {
                flying += if backward { -1 } else { 1 };
                most = most.max(flying);
            }
            assert_eq!(most, i64::from((spec.pipeline - stage).min(spec.microbatches)), "stage {stage} of {spec:?}");
        }
    }
}

/// The bubble of a pipeline in which messages take no time: (stages - 1) (forward + backward), whether sends wait or
/// not. A stage that waits for its sends, or warms up with too few forwards, takes longer; tensor groups must not
/// change it.
#[test]
fn the_bubble_is_that_of_narayanan() {
    for spec in specs() {
        for sends in BOTH {
            let work = u64::from(spec.microbatches) * (FORWARD + BACKWARD);
            let bubble = u64::from(spec.pipeline - 1) * (FORWARD + BACKWARD);
            assert_eq!(trained(&spec, sends).end(), work + bubble, "{spec:?} {sends:?}");
        }
    }
}

/// Without reductions, and with more of them than picoseconds, a pass still takes its time.
#[test]
fn reductions_do_not_change_how_long_a_pass_computes() {
    for (tensor_reductions, tensor) in [(0, 2), (1, 2), (2_500, 2), (5, 1)] {
        let spec = Training { tensor_reductions, ..spec(tensor, 1, 2, 2) };
        assert_eq!(trained(&spec, Sends::Rendezvous).end(), 3 * (FORWARD + BACKWARD));
    }
}

/// The middle stage of three, by hand: one forward ahead, then by turns. Receives wait, sends do not; activations come
/// from the stage before.
#[test]
fn a_stage_in_the_middle() {
    let run = trained(&spec(1, 1, 3, 2), Sends::Rendezvous);
    let receive = |from, label| Op::Receive { from, label, bytes: 77, blocking: true };
    let send = |to, label| Op::Send { to, label, bytes: 77, blocking: false };
    let forward = |label| vec![receive(0, label), Op::Compute { ps: FORWARD, jitter_ps: 13 }, send(2, label)];
    let backward = |label| vec![receive(2, label), Op::Compute { ps: BACKWARD, jitter_ps: 13 }, send(0, label)];
    assert_eq!(run.ops[1], [forward(0), forward(1), backward(0), backward(1)].concat());
}
