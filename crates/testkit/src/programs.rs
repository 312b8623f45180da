//! Jobs with programs beside jobs with traffic, and the end of such runs.

use odonata_programs::{Body, Phase, Program};
use odonata_sim::spec::{
    BurstSpec, Costs, CpuRate, FabricSpec, GpuLink, GpuSpec, InnerNetwork, JobSpec, PhaseAction, ProgramSpec, Record,
    SizedCombine, SizedCosts, StopSpec,
};
use odonata_topology::{Bandwidth, Network};

use super::choices::Choices;
use super::{bursts, jobs, phases, traces};

/// More ranks make the runs slow and test nothing else.
const MOST_RANKS: u64 = 14;

/// Jobs on the usable nodes of a machine, at least one with a program; their routings are set later.
pub fn jobs(c: &mut Choices, network: &Network, mut free: Vec<u32>, fabric: &FabricSpec) -> Vec<JobSpec> {
    c.shuffle(&mut free);
    let wanted = c.within(1, 3).min(free.len() as u64 / 2) as usize;
    let mut made = Vec::new();
    // If several programs are deadlocked, the simulators may name different ones.
    let may_fail = c.within(0, wanted as u64 - 1) as usize;
    for index in 0..wanted {
        let most = free.len() - 2 * (wanted - index - 1);
        let count = c.within(1, most as u64) as usize;
        let mut nodes: Vec<u32> = free.drain(..count).collect();
        if c.chance(40) {
            nodes.sort_unstable();
        }
        let record = c.of(&[Record::EveryMessage, Record::EveryMessage, Record::Histogram, Record::Nothing]);
        let (mut traffic, mut program, mut bursts) = (None, None, None);
        if index == 0 || nodes.len() < 2 || c.chance(55) {
            nodes = places(c, &nodes);
            let (of, pauses) = program_of(c, nodes.len() as u32, fabric, network.rails, index == may_fail);
            (program, bursts) = (Some(of), pauses);
        } else {
            let pattern = jobs::pattern(c, &nodes, network);
            let mut some = jobs::traffic(c, pattern, fabric);
            some.interval_ps = some.interval_ps.max(trip(fabric) / 2);
            traffic = Some(some);
        }
        let name = format!("job-{index}");
        made.push(JobSpec { name, nodes, traffic, program, record, routing: None, bursts, class: 0 });
    }
    c.shuffle(&mut made);
    made
}

/// The node of each rank: one rank on each node, several, or all on one.
fn places(c: &mut Choices, nodes: &[u32]) -> Vec<u32> {
    let most = c.of(&[3, 8, MOST_RANKS]);
    let count = nodes.len().min(most as usize);
    let ranks = c.within(2, most) as usize;
    match c.within(0, 9) {
        0 => vec![nodes[0]; ranks],
        1..=3 if count > 1 => nodes[..count].to_vec(),
        4 | 5 => (0..ranks).map(|rank| nodes[rank % count]).collect(),
        6 => (0..ranks).map(|rank| nodes[rank * count / ranks]).collect(),
        _ => (0..ranks).map(|_| c.of(&nodes[..count])).collect(),
    }
}

/// About the time of a packet from node to node, which scales all times of a program.
pub fn trip(fabric: &FabricSpec) -> u64 {
    let of = |link: &odonata_sim::spec::LinkSpec| {
        link.bandwidth.serialisation_ps(u64::from(fabric.packet_bytes)) + link.latency_ps
    };
    fabric.links.values().map(of).sum::<u64>() + 2 * fabric.router_delay_ps
}

/// A program; perhaps a deadlocked one.
fn program_of(
    c: &mut Choices,
    ranks: u32,
    fabric: &FabricSpec,
    rails: u32,
    may_fail: bool,
) -> (ProgramSpec, Option<BurstSpec>) {
    let trip = trip(fabric);
    let endless = c.chance(20);
    let costs = costs(c, trip, fabric.packet_bytes);
    let mut body = if c.chance(50) {
        Body::Trace { goal: traces::goal(c, ranks, trip, fabric.packet_bytes, may_fail) }
    } else {
        let phases = phases::phases(c, ranks, trip, fabric.packet_bytes);
        let untimed = if c.chance(25) { c.count(0, phases.len() as u32 - 1) } else { 0 };
        Body::Phases { phases, untimed }
    };
    if endless {
        // Few iterations in the time of a run; sometimes one that takes no time.
        let idle = Phase { along: None, what: PhaseAction::Compute { ps: trip, jitter_ps: 0 } };
        match &mut body {
            Body::Phases { phases, .. } if !may_fail || c.chance(75) => phases.push(idle),
            Body::Phases { phases, untimed } => {
                *untimed = 0;
                *phases = vec![Phase { what: PhaseAction::Compute { ps: 0, jitter_ps: 0 }, ..idle }]
            }
            Body::Trace { goal } => *goal = traces::slowed(goal, trip),
            Body::Stages(_) => unreachable!("they are drawn for nodes with GPUs"),
        }
    }
    Program::new(&body, ranks).unwrap_or_else(|e| panic!("the generator made no program: {e}\n{body:?}"));
    let pauses = c.chance(20);
    let start_ps = c.of(&[0, 0, 1, trip, trip * 7]);
    let iterations = (!endless).then(|| c.of(&[1, 1, 2, 3, 5]));
    let gap_ps = c.of(&[0, 0, 1, trip / 2, trip * 3]);
    let every_ps = c.of(&[0, 0, trip, trip * 5]);
    let bursts = bursts::fixed(c, trip, pauses);
    // The other choices stay what they are without GPUs, so the same seeds still meet the same rare cases.
    let mut aside = c.aside();
    let program = ProgramSpec {
        start_ps,
        iterations,
        gap_ps,
        every_ps,
        costs,
        by_size: if c.chance(30) { by_size(c, trip, fabric.packet_bytes) } else { Vec::new() },
        combine_by_size: if c.chance(30) { combine_by_size(c, trip, fabric.packet_bytes) } else { Vec::new() },
        gpus: aside.chance(40).then(|| gpus(&mut aside, trip, fabric.packet_bytes, rails)),
        body,
    };
    (program, bursts)
}

/// One to three sizes, with times that may grow or shrink.
fn by_size(c: &mut Choices, trip: u64, packet_bytes: u32) -> Vec<SizedCosts> {
    let mut bytes = 0;
    (0..c.within(1, 3))
        .map(|_| {
            bytes += c.within(1, u64::from(packet_bytes) * 3);
            let mut time = || c.of(&[0, 1, trip / 10, trip]);
            SizedCosts { bytes, send_ps: time(), receive_ps: time(), delay_ps: time() }
        })
        .collect()
}

/// One to three sizes of vectors, with bandwidths at which a packet takes about a trip.
fn combine_by_size(c: &mut Choices, trip: u64, packet_bytes: u32) -> Vec<SizedCombine> {
    let mut bytes = 0;
    (0..c.within(1, 3))
        .map(|_| {
            bytes += c.within(1, u64::from(packet_bytes) * 4);
            let packet = u128::from(packet_bytes) * 1_000_000_000_000_000_000 / u128::from(c.within(1, trip.max(1)));
            SizedCombine { bytes, combine: Bandwidth(u64::try_from(packet).unwrap_or(u64::MAX)) }
        })
        .collect()
}

/// One to five GPUs, with queues that a packet takes about a trip to cross, and any network between them.
pub fn gpus(c: &mut Choices, trip: u64, packet_bytes: u32, rails: u32) -> GpuSpec {
    let count = c.count(1, 5);
    let latency_ps = c.of(&[0, 1, trip / 10, trip]);
    let bandwidth = |c: &mut Choices| {
        let packet = u128::from(packet_bytes) * 1_000_000_000_000_000_000 / u128::from(c.within(1, trip.max(1)));
        Bandwidth(u64::try_from(packet).unwrap_or(u64::MAX))
    };
    let network = match c.within(0, 2) {
        0 => InnerNetwork::Switch { port: bandwidth(c), latency_ps },
        1 => InnerNetwork::Pcie { port: bandwidth(c), root: bandwidth(c), latency_ps },
        _ => {
            // A tree joins all of them; some more links make paths that are equally long.
            let mut links: Vec<GpuLink> =
                (1..count).map(|gpu| GpuLink(gpu, c.count(0, gpu - 1), bandwidth(c))).collect();
            for (a, b) in (0..count).flat_map(|b| (0..b).map(move |a| (a, b))) {
                if c.chance(40) && !links.iter().any(|of| (of.0, of.1) == (b, a)) {
                    links.push(GpuLink(a, b, bandwidth(c)));
                }
            }
            c.shuffle(&mut links);
            InnerNetwork::Mesh { links, latency_ps }
        }
    };
    let nics = (0..count).map(|_| c.count(0, rails - 1)).collect();
    // From faster to slower than the queues.
    let mut aside = c.aside();
    let paced = if aside.chance(50) { aside.count(1, 4) } else { 0 };
    let rates = (0..paced).map(|cpu| CpuRate(cpu, bandwidth(&mut aside))).collect();
    GpuSpec { count, nics, network, rates }
}

fn costs(c: &mut Choices, trip: u64, packet_bytes: u32) -> Costs {
    let times = if trip < 100 { [0, 0, 1, 2, 3] } else { [0, 0, 1, trip / 10, trip] };
    let packet = u64::from(packet_bytes);
    let free = c.chance(25);
    let copy = u128::from(packet_bytes) * 1_000_000_000_000_000_000 / u128::from(trip); // one packet per trip
    let copy = Bandwidth(u64::try_from(copy).unwrap_or(u64::MAX));
    Costs {
        send_ps: if free { 0 } else { c.of(&times) },
        receive_ps: if free { 0 } else { c.of(&times) },
        copy: (!free && c.chance(50)).then_some(copy),
        combine: (!free && c.chance(50)).then_some(copy),
        rendezvous_ps: if free { 0 } else { c.of(&times) },
        memory_ps: if free { 0 } else { c.of(&times) },
        eager_bytes: c.of(&[0, packet, packet * 3, 1 << 40]),
        control_bytes: c.of(&[1, 1, 8.min(packet_bytes * 3), packet_bytes, packet_bytes + 1]).min(1 << 16),
        header_bytes: c.of(&[0, 0, 1, 56]),
        fetches: c.of(&[0, 0, 1, 2]),
    }
}

/// When the run ends, and about how long it takes.
pub fn stop(c: &mut Choices, jobs: &[JobSpec], fabric: &FabricSpec) -> (StopSpec, u64) {
    let finite: Vec<u32> = (0..jobs.len() as u32).filter(|&j| !jobs[j as usize].is_endless()).collect();
    let awaited: Vec<u32> = finite.iter().copied().filter(|_| c.chance(80)).collect();
    let horizon = (trip(fabric) * c.of(&[10, 40, 150])).max(20);
    let bounded = finite.len() == jobs.len();
    let at_ps = (awaited.is_empty() || !bounded || c.chance(30)).then(|| c.within(horizon / 4, horizon));
    (StopSpec { jobs: awaited, at_ps }, horizon)
}
