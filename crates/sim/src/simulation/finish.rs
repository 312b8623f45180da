//! From the last event to the output columns.

use odonata_error::{Error, ErrorKind};

use super::Simulation;
use crate::Cost;
use crate::commit::{Course, Fabric};
use crate::endpoint::{Endpoint, Nic};
use crate::engine::Queue;
use crate::fabric::Links as FabricLinks;
use crate::fabric::packet::Event;
use crate::nodes::Nodes;
use crate::observe::{ArrivalCounts, BlameCounts, ByClass, Observers, SeriesCounts};
use crate::output::{
    Arrivals, Blame, Iterations, JobTotals, Links, MessageCounters, Messages, NOT_DELIVERED, NOT_FINISHED, Operations,
    Output, Ranks, Series,
};
use crate::program::Running;
use crate::routing::RoutingAlgorithm;
use crate::switch::Switch;

/// Refuses a run, in one or several partitions, if packets wait and no events are left.
///
/// # Errors
/// [`ErrorKind::Deadlock`].
pub(super) fn refuse_deadlock<'a, 's: 'a, Q: 'a, R: 'a, S: 'a, E: Endpoint + 'a>(
    all: impl IntoIterator<Item = &'a Simulation<'s, Q, R, S, E>>,
) -> Result<(), Error> {
    let (mut at_ps, mut waiting) = (0, 0);
    for of in all {
        if !of.ran_dry {
            return Ok(());
        }
        let (links, nodes) = (&of.fabric.links, &of.nodes);
        let nics = nodes.nics.iter().filter(|nic| nic.waits).count();
        let answering = nodes.endpoint.answers().into_iter().flat_map(|answers| &answers.nics);
        let answering = answering.filter(|nic| nic.is_held() || nic.response_waits).count();
        waiting += (links.blocked.len() + nics + answering) as u64;
        let chains = links.logs.written().flat_map(|log| links.blocked.chain(&log.chain)).map(|packet| packet.time);
        at_ps = chains.chain(links.logs.written().map(|log| log.waits_since)).max().unwrap_or(0).max(at_ps);
    }
    if waiting > 0 { Err(ErrorKind::Deadlock { at_ps, waiting }.into()) } else { Ok(()) }
}

/// The result of a run whose events are all handled, and its cost.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(super) fn output<Q: Queue<Event>, R: RoutingAlgorithm, S: Switch, E: Endpoint>(
    simulation: Simulation<'_, Q, R, S, E>,
) -> Result<(Output, Cost), Error> {
    let Simulation { fabric: Fabric { course, links, observers, .. }, nodes, .. } = simulation;
    columns(&course, &links, observers, nodes)
}

/// The same from the parts that decide it. (Compiled once for each kind of NIC.)
fn columns<E: Endpoint>(
    course: &Course,
    of: &FabricLinks<'_>,
    observers: Observers,
    mut nodes: Nodes<'_, E>,
) -> Result<(Output, Cost), Error> {
    let &Course { events, windows, longest, end: end_ps, .. } = course;
    let cost = Cost { events, threads: nodes.posts.partitions(), windows, longest };
    let links = links(of, &nodes.nics, end_ps);
    let mut programs = nodes.programs.take().map_or_else(Vec::new, |programs| programs.running);
    let (ranks, iterations) = (ranks(&programs), iterations(&programs));
    let mut jobs: Vec<JobTotals> = Vec::new();
    for (index, job) in nodes.jobs.list.iter_mut().enumerate() {
        let mut totals = job.take_totals();
        if let Some(Some(running)) = programs.get(index) {
            running.tally.add_to(&mut totals, job.histogram);
        }
        jobs.push(totals);
    }
    let operations = operations(&mut programs);
    let (messages, message_counters) = messages(&mut nodes, &mut programs)?;
    let answers = nodes.endpoint.answers();
    let output = Output {
        end_ps,
        packet_hops: course.packet_hops,
        jobs,
        messages,
        links,
        nics: answers.iter().flat_map(|answers| &answers.nics).map(|nic| nic.counters).collect(),
        message_counters,
        arrivals: observers.arrivals.map_or_else(Arrivals::default, ArrivalCounts::into_output),
        ranks,
        iterations,
        class_bytes: observers.by_class.map_or_else(Vec::new, ByClass::into_bytes),
        blame: observers.blame.map_or_else(Blame::default, BlameCounts::into_output),
        series: observers.series.map_or_else(Series::default, SeriesCounts::into_output),
        operations,
    };
    Ok((output, cost))
}

/// What each link has sent.
fn links(of: &FabricLinks<'_>, nics: &[Nic], end: u64) -> Links {
    let mut links = Links::default();
    for column in [&mut links.packets, &mut links.bytes, &mut links.stalled_ps] {
        column.reserve_exact(of.vcs.len());
    }
    let mut row = |index: usize, waits: bool| {
        let log = of.logs.get(index);
        let (packets, bytes) = of.vcs[index].committed(log);
        links.packets.push(packets);
        links.bytes.push(bytes);
        links.stalled_ps.push(log.waited + if waits { end - log.waits_since } else { 0 });
    };
    for slot in 0..of.outs.len() as u32 {
        for channel in 0..of.wiring.channels as u8 {
            let index = of.vc(slot, channel);
            row(index, of.vcs[index].waits());
        }
    }
    for (nic_id, nic) in (0..).zip(nics) {
        row(of.nic_vc(nic_id), nic.waits);
    }
    links
}

/// When the ranks of programs finished.
fn ranks(programs: &[Option<Running>]) -> Ranks {
    let mut ranks = Ranks::default();
    for (job, running) in programs.iter().enumerate() {
        for (rank, (finish, worked)) in running.iter().flat_map(Running::finishes).enumerate() {
            ranks.job.push(job as u16);
            ranks.rank.push(rank as u32);
            ranks.finish_ps.push(finish.unwrap_or(NOT_FINISHED));
            ranks.work_ps.push(worked);
        }
    }
    ranks
}

/// The iterations of programs.
fn iterations(programs: &[Option<Running>]) -> Iterations {
    let mut iterations = Iterations::default();
    for (job, running) in programs.iter().enumerate() {
        if let Some(running) = running {
            running.tally.iterations(job as u16, &mut iterations);
        }
    }
    iterations
}

/// The CPU tasks of programs.
fn operations(programs: &mut [Option<Running>]) -> Operations {
    let mut operations = Operations::default();
    for (job, running) in programs.iter_mut().enumerate() {
        if let Some(of) = running.as_mut().and_then(|running| running.operations.take()) {
            of.add_to(job as u16, &mut operations);
        }
    }
    operations
}

// The rows of traffic hold times plus one, and zero for what has not happened.
const _: () = assert!(NOT_DELIVERED == 0_u64.wrapping_sub(1));

fn messages<E: Endpoint>(
    nodes: &mut Nodes<'_, E>,
    programs: &mut [Option<Running>],
) -> Result<(Messages, Vec<MessageCounters>), Error> {
    let mut counters = Vec::new();
    let answers = nodes.endpoint.answers();
    let mut messages = Messages::default();
    let of_traffic: usize = nodes.jobs.list.iter().map(|job| job.rows.issue.len()).sum();
    let of_programs: usize = programs.iter().flatten().map(|running| running.tally.rows()).sum();
    let rows = of_traffic + of_programs;
    messages.reserve(rows).map_err(|_| Error::from(ErrorKind::OutOfMemory { rows: rows as u64 }))?;
    let mut to = Vec::new();
    for (index, job) in nodes.jobs.list.iter_mut().enumerate() {
        if let Some(Some(running)) = programs.get_mut(index) {
            for row in running.tally.take_rows()? {
                messages.job.push(index as u16);
                messages.interval.push(row.iteration);
                messages.source.push(row.source);
                messages.destination.push(row.destination);
                messages.issue_ps.push(row.issue);
                messages.latency_ps.push(row.latency.unwrap_or(NOT_DELIVERED));
                counters.extend(answers.map(|answers| answers.row(index, row.number as usize)));
            }
            continue;
        }
        let rows = std::mem::take(&mut job.rows);
        let only = job.destinations.only_sender();
        let per_interval = rows.per_interval.max(1) as usize;
        let in_interval = (rows.senders as usize * per_interval).max(1);
        for (k, (issues, latencies)) in
            (0_u32..).zip(rows.issue.chunks(in_interval).zip(rows.latency.chunks(in_interval)))
        {
            let first = k as usize * in_interval;
            for (sender, issues) in issues.chunks(per_interval).enumerate().filter(|(_, issues)| issues[0] != 0) {
                let rank = only.unwrap_or(sender as u32);
                let node = job.nodes[rank as usize];
                match job.destinations.only(node, rank, job.ranks, k) {
                    Some(one) => messages.destination.push(one),
                    None => {
                        job.destinations.list(node, rank, job.ranks, k, &mut to);
                        messages.destination.extend_from_slice(&to);
                    }
                }
                messages.source.extend(std::iter::repeat_n(rank, issues.len()));
                if let Some(answers) = answers {
                    let first = first + sender * per_interval;
                    counters.extend((first..first + issues.len()).map(|row| answers.row(index, row)));
                }
            }
            if issues.contains(&0) {
                let issued = issues.iter().zip(latencies).filter(|(issue, _)| **issue != 0);
                messages.issue_ps.extend(issued.clone().map(|(issue, _)| issue - 1));
                messages.latency_ps.extend(issued.map(|(_, latency)| latency.wrapping_sub(1)));
            } else {
                messages.issue_ps.extend(issues.iter().map(|issue| issue - 1));
                messages.latency_ps.extend(latencies.iter().map(|latency| latency.wrapping_sub(1)));
            }
            let count = messages.issue_ps.len();
            messages.job.resize(count, index as u16);
            messages.interval.resize(count, k);
        }
    }
    Ok((messages, counters))
}
