//! Jobs with programs by hand, and the time of a message on an empty network.

use odonata_sim::spec::{Body, Costs, JobSpec, NicOrder, Phase, PhaseAction, ProgramSpec, Record, Spec};
use odonata_sim::{Output, QueueChoice, run_with};
use odonata_topology::Bandwidth;

use crate::support::{GB, MINIMAL, link, link_mut, machine, output, ser, spec};

/// Delay of all routers.
pub const DELAY: u64 = 100_000;
/// Latency of the wire between a node and its router.
pub const WIRE: u64 = 5_000;
/// Bandwidth of that wire, in GB/s.
pub const NODE: u64 = 10;
/// Overhead of a NIC for each message.
pub const OVERHEAD: u64 = 3_000;

/// Operations that take no time, and messages that are always eager.
pub const FREE: Costs = Costs {
    send_ps: 0,
    receive_ps: 0,
    copy: None,
    memory_ps: 0,
    eager_bytes: 1 << 40,
    control_bytes: 1,
    combine: None,
    rendezvous_ps: 0,
    header_bytes: 0,
    fetches: 0,
};

/// This many GB/s.
pub fn bandwidth(gigabytes: u64) -> Option<Bandwidth> {
    Some(Bandwidth(gigabytes * GB))
}

/// A job that runs a body once, from the beginning.
pub fn program(name: &str, nodes: &[u32], costs: Costs, body: Body) -> JobSpec {
    let program = ProgramSpec {
        start_ps: 0,
        iterations: Some(1),
        gap_ps: 0,
        every_ps: 0,
        costs,
        by_size: Vec::new(),
        combine_by_size: Vec::new(),
        gpus: None,
        body,
    };
    JobSpec {
        name: name.into(),
        nodes: nodes.to_vec(),
        traffic: None,
        program: Some(program),
        record: Record::EveryMessage,
        routing: None,
        bursts: None,
        class: 0,
    }
}

/// The program of a job, mutable.
pub fn of(job: &mut JobSpec) -> &mut ProgramSpec {
    job.program.as_mut().expect("the job has a program")
}

/// All ranks do these phases.
pub fn phases(whats: &[PhaseAction]) -> Body {
    Body::Phases { phases: whats.iter().map(|what| Phase { along: None, what: what.clone() }).collect(), untimed: 0 }
}

/// A schedule from the lines of each rank.
pub fn goal(ranks: &[&str]) -> Body {
    let blocks = ranks.iter().enumerate().map(|(rank, lines)| format!("rank {rank} {{\n{lines}\n}}\n"));
    Body::Trace { goal: format!("num_ranks {}\n{}", ranks.len(), blocks.collect::<String>()) }
}

/// Nodes at one router, with a wire latency and a NIC overhead.
pub fn star(nodes: u32, jobs: Vec<JobSpec>) -> Spec {
    let mut spec = spec(machine([1, 1, 1, nodes, 0], None), MINIMAL, jobs);
    spec.fabric.nic.overhead_ps = OVERHEAD;
    spec.fabric.nic.order = NicOrder::Fcfs;
    *link_mut(&mut spec, "node") = link(NODE);
    link_mut(&mut spec, "node").latency_ps = WIRE;
    spec
}

/// Time from issue for the bytes of a message to pass an idle NIC; packets of `packet` bytes.
pub fn leaves_after(bytes: u64, packet: u64) -> u64 {
    OVERHEAD + packets(bytes, packet).map(|size| ser(size, NODE)).sum::<u64>()
}

/// Time from issue to delivery of a message on an empty [`star`]: its packets follow each other into the router and out
/// of it.
pub fn alone(bytes: u64, packet: u64) -> u64 {
    let (mut sent, mut received) = (OVERHEAD, 0);
    for size in packets(bytes, packet) {
        sent += ser(size, NODE);
        received = (sent + WIRE + DELAY).max(received) + ser(size, NODE);
    }
    received + WIRE
}

/// Sizes of the packets of a message.
pub fn packets(bytes: u64, packet: u64) -> impl Iterator<Item = u64> {
    (0..bytes.div_ceil(packet)).map(move |k| packet.min(bytes - k * packet))
}

/// When the ranks of a job finished.
pub fn finishes(output: &Output, job: u16) -> Vec<u64> {
    let rows = (0..output.ranks.job.len()).filter(|&row| output.ranks.job[row] == job);
    rows.map(|row| output.ranks.finish_ps[row]).collect()
}

/// When the ranks of the only job finish.
pub fn finishes_of(spec: &Spec) -> Vec<u64> {
    finishes(&output(spec), 0)
}

/// The output, which must be the same with both queues.
pub fn with_both_queues(spec: &Spec) -> Output {
    let run = |queue| run_with(spec, &mut (), queue).unwrap_or_else(|e| panic!("{queue:?}: {e}\n{}", spec.to_json())).0;
    let ordered = run(QueueChoice::Ordered);
    assert!(run(QueueChoice::Wheel) == ordered, "the queues differ\nspec: {}", spec.to_json());
    ordered
}
