//! Jobs with programs (model, section 10).
//!
//! | file | paragraph of the model |
//! |---|---|
//! | `event` | rank events and their order |
//! | `cpu` | CPU tasks |
//! | `matching` | when a message and a receive match |
//! | `exchange` | sending, receiving, on the network |
//! | `gpus` | GPUs |
//! | `phases`, `graph` | a rank with phases, a rank with a trace; `execution` is their common part |
//! | `rank` | what a rank does at an event, its iterations, its finish; deadlocked programs |
//! | `tally` | counters by rank and iteration |

mod cpu;
mod exchange;
mod execution;
mod gpus;
mod graph;
mod matching;
mod phases;
mod rank;
mod rank_event;
mod tally;

use std::collections::BTreeMap;

use odonata_sim::spec::{Program, ProgramSpec, Spec};

pub(crate) use exchange::ProtocolMessage;
pub(crate) use gpus::Busy;
pub(crate) use rank_event::{ProtocolMessageKind, RankEvent, RankId};
pub(crate) use tally::{iteration_rows, operation_rows, rank_rows};

use execution::Execution;
pub(crate) use execution::Nics;
use rank::Rank;
use tally::Times;

/// A job whose ranks run a program.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    /// Its specification.
    pub(crate) spec: &'a ProgramSpec,
    /// Its ranks.
    pub(crate) ranks: Vec<Rank>,
    /// Number of ranks that have not finished.
    pub(crate) unfinished: u64,
    /// Scheduled events of its ranks.
    pub(crate) pending_events: u64,
    /// Its messages, control messages and data in NICs and on the network.
    pub(crate) under_way: u64,
    /// The times of each iteration that at least one rank has ended.
    pub(crate) iterations: BTreeMap<u64, Times>,
}

/// The programs by job; none for a job with traffic.
pub(crate) fn programs(spec: &Spec) -> Vec<Option<Running<'_>>> {
    (0..spec.jobs.len()).map(|job| spec.jobs[job].program.as_ref().map(|of| running(spec, job, of))).collect()
}

fn running<'a>(spec: &Spec, job: usize, of: &'a ProgramSpec) -> Running<'a> {
    let nodes = &spec.jobs[job].nodes;
    let program = Program::new(&of.body, nodes.len() as u32).expect("it was checked");
    let program = match program {
        Program::Stages(staged) => Program::Trace(staged.trace().expect("it has few operations")),
        other => other,
    };
    let execution = |rank: u32| match &program {
        Program::Phases(phases) => {
            let timed_from = phases.ops_of(0..phases.untimed(), rank).count();
            Execution::phases(phases.ops(rank).collect(), timed_from, spec.seed, job, rank)
        }
        Program::Stages(_) => unreachable!("all its operations are stored"),
        Program::Trace(trace) => Execution::graph(trace.graph(rank).clone(), trace.names_nics()),
    };
    let ranks: Vec<Rank> = (0..).zip(nodes).map(|(rank, &node)| Rank::new(node, execution(rank))).collect();
    let unfinished = ranks.len() as u64;
    Running { spec: of, ranks, unfinished, pending_events: 0, under_way: 0, iterations: BTreeMap::new() }
}
