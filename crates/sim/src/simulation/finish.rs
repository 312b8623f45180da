//! From the last event to the columns.

use super::Simulation;
use super::jobs::Job;
use crate::engine::Queue;
use crate::error::SimError;
use crate::fabric::NONE;
use crate::fabric::packet::Event;
use crate::output::{Links, Messages, NOT_DELIVERED, Output};
use crate::routing::Rule;

/// The result of a run whose events are all handled.
///
/// # Errors
/// [`SimError::Deadlock`] if packets wait though nothing is left to happen.
pub(super) fn output<Q: Queue<Event>, R: Rule>(mut simulation: Simulation<'_, Q, R>) -> Result<Output, SimError> {
    let waiting = simulation.parked.len() as u64 + simulation.nics.iter().filter(|nic| nic.waits).count() as u64;
    if simulation.ran_dry && waiting > 0 {
        let chains = simulation.lanes.iter().flat_map(|lane| simulation.parked.chain(lane.head));
        let since = simulation.logs.iter().map(|log| log.waits_since);
        return Err(SimError::Deadlock {
            at_ps: chains.map(|packet| packet.time).chain(since).max().unwrap_or(0),
            waiting,
        });
    }
    let end_ps = simulation.end;
    let links = links(&simulation, end_ps);
    let messages = messages(&mut simulation)?;
    Ok(Output {
        end_ps,
        packet_hops: simulation.packet_hops,
        jobs: simulation.jobs.list.into_iter().map(Job::into_totals).collect(),
        messages,
        links,
        arrivals: simulation.arrivals.into_output(),
        ..Output::default()
    })
}

fn links<Q: Queue<Event>, R: Rule>(simulation: &Simulation<'_, Q, R>, end: u64) -> Links {
    let mut links = Links::default();
    let mut row = |index: usize, waits: bool| {
        let log = &simulation.logs[index];
        let (packets, bytes) = simulation.lanes[index].committed(log);
        links.packets.push(packets);
        links.bytes.push(bytes);
        links.stalled_ps.push(log.waited + if waits { end - log.waits_since } else { 0 });
    };
    for slot in 0..simulation.outs.len() as u32 {
        for channel in 0..simulation.wiring.channels as u8 {
            let index = simulation.lane(slot, channel);
            row(index, simulation.lanes[index].head != NONE);
        }
    }
    for (node, nic) in simulation.nics.iter().enumerate() {
        row(simulation.nic_lane(node as u32), nic.waits);
    }
    links
}

fn messages<Q, R>(simulation: &mut Simulation<'_, Q, R>) -> Result<Messages, SimError> {
    let mut messages = Messages::default();
    let rows: usize = simulation.jobs.list.iter().map(|job| job.rows.issue.len()).sum();
    messages.reserve(rows).map_err(|_| SimError::Memory { rows: rows as u64 })?;
    let mut to = Vec::new();
    for (index, job) in simulation.jobs.list.iter_mut().enumerate() {
        let rows = std::mem::take(&mut job.rows);
        let only = job.destinations.only_sender();
        let per_interval = rows.per_interval.max(1) as usize;
        let mut both = rows.issue.chunks(per_interval).zip(rows.latency.chunks(per_interval));
        for k in 0.. {
            if both.len() == 0 {
                break;
            }
            for (sender, (issues, latencies)) in both.by_ref().take(rows.senders as usize).enumerate() {
                if issues[0] == 0 {
                    continue;
                }
                let rank = only.unwrap_or(sender as u32);
                let node = job.nodes[rank as usize];
                job.destinations.list(node, rank, job.ranks, k, &mut to);
                for ((&issue, &latency), &destination) in issues.iter().zip(latencies).zip(&to) {
                    messages.job.push(index as u16);
                    messages.interval.push(k);
                    messages.source.push(rank);
                    messages.destination.push(destination);
                    messages.issue_ps.push(issue - 1);
                    messages.latency_ps.push(if latency == 0 { NOT_DELIVERED } else { latency - 1 });
                }
            }
        }
    }
    Ok(messages)
}
