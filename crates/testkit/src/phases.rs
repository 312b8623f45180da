//! Random phases: every collective and motif with all its options.

use odonata_programs::{
    Allgather, Allreduce, Alltoall, Barrier, Broadcast, Exchange, GridAxis, Halo, Incast, Matrix, Pair, Phase,
    PhaseAction, PingPong, Reduce, ReduceScatter, Sweep, Training,
};
use odonata_sim::spec::{Body, Program};

use super::choices::Choices;
use super::jobs::grid;

/// One to four phases that fit these ranks.
pub fn phases(c: &mut Choices, ranks: u32, trip: u64, packet_bytes: u32) -> Vec<Phase> {
    let wanted = c.within(1, 4);
    (0..wanted).map(|_| phase(c, ranks, trip, packet_bytes)).collect()
}

fn phase(c: &mut Choices, ranks: u32, trip: u64, packet_bytes: u32) -> Phase {
    loop {
        let along = c.chance(30).then(|| GridAxis { grid: grid(c, ranks).to_vec(), axis: c.count(0, 2) });
        let members = along.as_ref().map_or(ranks, |along| along.grid[along.axis as usize]);
        let phase = Phase { what: what(c, members, trip, packet_bytes), along };
        // Some collectives and motifs want certain numbers of ranks.
        if Program::new(&Body::Phases { phases: vec![phase.clone()], untimed: 0 }, ranks).is_ok() {
            return phase;
        }
    }
}

fn bytes(c: &mut Choices, packet: u64) -> u64 {
    match c.within(0, 5) {
        0 => c.of(&[0, 1]),
        1 => packet,
        2 => c.within(1, packet),
        3 => packet * 3 + 1,
        _ => c.within(0, packet * 5),
    }
}

fn what(c: &mut Choices, ranks: u32, trip: u64, packet_bytes: u32) -> PhaseAction {
    let packet = u64::from(packet_bytes);
    let bytes = |c: &mut Choices| bytes(c, packet);
    let ps = |c: &mut Choices| c.of(&[0, 1, trip / 7, trip]);
    match c.within(0, 17) {
        0 | 1 => PhaseAction::Compute { ps: ps(c), jitter_ps: ps(c) },
        2 => PhaseAction::Broadcast { algorithm: c.of(Broadcast::ALL), root: c.count(0, ranks - 1), bytes: bytes(c) },
        3 => PhaseAction::Reduce { algorithm: c.of(Reduce::ALL), root: c.count(0, ranks - 1), bytes: bytes(c) },
        4 | 5 => PhaseAction::Allreduce { algorithm: c.of(Allreduce::ALL), bytes: bytes(c) },
        6 => PhaseAction::Allgather { algorithm: c.of(Allgather::ALL), bytes: bytes(c) },
        7 => PhaseAction::ReduceScatter { algorithm: c.of(ReduceScatter::ALL), bytes: bytes(c) },
        8 => PhaseAction::Alltoall { algorithm: c.of(Alltoall::ALL), bytes: bytes(c) },
        9 => PhaseAction::Barrier { algorithm: c.of(Barrier::ALL) },
        10 | 11 => PhaseAction::Halo(halo(c, ranks, packet)),
        12 => {
            let [x, y, z] = grid(c, ranks);
            PhaseAction::Sweep(Sweep {
                grid: [x, y * z],
                blocks: c.count(1, 3),
                x_bytes: bytes(c),
                y_bytes: bytes(c),
                compute_ps: ps(c),
                sweeps: c.count(1, 4),
            })
        }
        13 => PhaseAction::PingPong(PingPong {
            stride: c.count(1, ranks.div_ceil(2)),
            bytes: bytes(c),
            rounds: c.count(1, 4),
        }),
        14 => PhaseAction::Incast(Incast { root: c.count(0, ranks - 1), bytes: bytes(c) }),
        15 => {
            // Few pairs: the reference takes time that grows with the square of the messages of a run.
            let mut pairs: Vec<(u32, u32)> = (0..c.within(1, 6))
                .map(|_| (c.count(0, ranks - 1), c.count(0, ranks - 1)))
                .filter(|(from, to)| from != to)
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            PhaseAction::Matrix(Matrix {
                pairs: pairs.into_iter().map(|(from, to)| Pair(from, to, bytes(c), c.count(1, 2))).collect(),
                per_node: None,
            })
        }
        _ => {
            let [tensor, data, pipeline] = grid(c, ranks);
            PhaseAction::Training(Training {
                tensor,
                data,
                pipeline,
                microbatches: c.count(1, 3),
                tensor_reductions: c.count(0, 2),
                tensor_bytes: bytes(c),
                activation_bytes: bytes(c),
                gradient_bytes: bytes(c),
                forward_ps: ps(c),
                backward_ps: ps(c),
                jitter_ps: ps(c),
            })
        }
    }
}

fn halo(c: &mut Choices, ranks: u32, packet: u64) -> Halo {
    let order = c.of(&[Exchange::AllAtOnce, Exchange::AxisByAxis, Exchange::EvenReceivesFirst]);
    let edges = order == Exchange::AllAtOnce && c.chance(50);
    let some = |c: &mut Choices| if c.chance(80) { bytes(c, packet) } else { 0 };
    let face_bytes = [some(c), some(c), some(c)];
    let edge_bytes = if edges { [some(c), some(c), some(c)] } else { [0; 3] };
    let corner_bytes = if edges { some(c) } else { 0 };
    Halo { grid: grid(c, ranks), periodic: c.chance(50), face_bytes, edge_bytes, corner_bytes, order }
}
