//! From the partitions of a run to one simulation, for its results.

use super::Simulation;
use crate::endpoint::Endpoint;
use crate::engine::{Partition, Queue};
use crate::fabric::packet::Event;
use crate::nodes::{ELSEWHERE, Job, Rows};
use crate::output::{JobTotals, MessageCounters};
use crate::program::Programs;
use crate::routing::RoutingAlgorithm;
use crate::switch::Switch;

impl<R: RoutingAlgorithm, S: Switch, E: Endpoint> Simulation<'_, Partition<Event>, R, S, E> {
    /// Takes over what another partition has counted.
    pub(super) fn absorb(&mut self, mut other: Self) {
        let links = &self.fabric.links;
        let places = other.fabric.queue.own(0).map(|router| links.wiring.places[router as usize]);
        let slots = places.flat_map(|place| place.first..place.first + u32::from(place.ports));
        let channels = links.wiring.channels as u8;
        let own: Vec<usize> = slots
            .flat_map(|slot| (0..channels).map(move |channel| (slot, channel)))
            .map(|(s, c)| links.vc(s, c))
            .collect();
        own.into_iter().for_each(|vc| self.absorb_vc(&other, vc));
        for nic in 0..self.nodes.nics.len() as u32 {
            if other.fabric.queue.has(self.fabric.links.wiring.event_attachment(nic).router) {
                self.absorb_vc(&other, self.fabric.links.nic_vc(nic));
                self.nodes.nics[nic as usize] = std::mem::take(&mut other.nodes.nics[nic as usize]);
                self.nodes.endpoint.absorb(nic, &mut other.nodes.endpoint);
            }
        }
        let others = std::mem::take(&mut other.nodes.jobs.list);
        for (index, of) in others.into_iter().enumerate() {
            let rows = |programs: &Option<Programs>| {
                let running = programs.as_ref().and_then(|programs| programs.running[index].as_ref());
                running.map(|running| running.tally.rows())
            };
            let job = &mut self.nodes.jobs.list[index];
            let here = rows(&self.nodes.programs).unwrap_or(job.rows.issue.len());
            let there = rows(&other.nodes.programs).unwrap_or(of.rows.issue.len());
            let (mut counters, mut more) = (Vec::new(), Vec::new());
            if E::ANSWERS {
                counters = self.nodes.endpoint.answers_mut().take_rows(index, here);
                more = other.nodes.endpoint.answers_mut().take_rows(index, there);
            }
            if job.reacts {
                counters.extend(more);
                job.absorb(of, &mut Vec::new(), Vec::new());
            } else {
                job.absorb(of, &mut counters, more);
            }
            if E::ANSWERS {
                self.nodes.endpoint.answers_mut().put_rows(index, counters);
            }
        }
        self.absorb_programs(other.nodes.programs, &other.fabric.queue);
        self.fabric.observers.absorb(other.fabric.observers);
        self.fabric.course.packet_hops += other.fabric.course.packet_hops;
        self.fabric.course.events += other.fabric.course.events;
    }

    /// Takes over the programs of the partition that has this queue.
    pub(super) fn absorb_programs(&mut self, other: Option<Programs>, queue: &Partition<Event>) {
        let wiring = &self.fabric.links.wiring;
        if let (Some(programs), Some(other)) = (&mut self.nodes.programs, other) {
            programs.absorb(other, |node| queue.has(wiring.node_attachment(node).router));
        }
    }

    fn absorb_vc(&mut self, other: &Self, vc: usize) {
        let (links, of) = (&mut self.fabric.links, &other.fabric.links);
        links.vcs[vc] = of.vcs[vc];
        let log = of.logs.get(vc);
        if log.is_written() {
            *links.logs.get_mut(vc) = *log;
        }
    }
}

impl Job {
    /// Takes over what another partition has counted for the same job, and for each of its messages in `more`.
    fn absorb(&mut self, other: Self, counters: &mut Vec<MessageCounters>, more: Vec<MessageCounters>) {
        let JobTotals {
            issued,
            delivered,
            packets,
            bytes,
            hops,
            minimal,
            first_issue_ps,
            last_delivery_ps: _, // of the job, see below
            latency,
            measured_issued,
            measured_delivered,
            intervals,
            first_delivery_ps,
            backlog: _, // of the slices, see below
            modes,
            intra_node: _, // of the program, as is the next
            control: _,
            reordering,
        } = other.totals;
        let totals = &mut self.totals;
        totals.issued += issued;
        totals.delivered += delivered;
        totals.packets += packets;
        totals.bytes += bytes;
        totals.hops += hops;
        totals.minimal += minimal;
        totals.measured_issued += measured_issued;
        totals.measured_delivered += measured_delivered;
        totals.intervals += intervals;
        totals.latency.merge(&latency);
        totals.reordering.merge(&reordering);
        totals.first_issue_ps = earlier(totals.first_issue_ps, first_issue_ps);
        totals.first_delivery_ps = earlier(totals.first_delivery_ps, first_delivery_ps);
        self.last_delivery_ps = self.last_delivery_ps.max(other.last_delivery_ps);
        self.slices.merge(other.slices);
        for (to, of) in totals.modes.iter_mut().zip(modes) {
            to.messages += of.messages;
            to.bytes += of.bytes;
        }
        self.rows.merge(other.rows, counters, more);
    }
}

fn earlier(first: Option<u64>, other: Option<u64>) -> Option<u64> {
    first.into_iter().chain(other).min()
}

impl Rows {
    /// Takes over the rows of another partition, and what was counted for each of them in `more`.
    fn merge(&mut self, other: Self, counters: &mut Vec<MessageCounters>, more: Vec<MessageCounters>) {
        if self.here.contains(&ELSEWHERE) {
            let (own, of_own) = (std::mem::take(self), std::mem::take(counters));
            (self.per_interval, self.senders) = (own.per_interval, own.here.len() as u32);
            self.merge(own, counters, of_own);
        }
        other.spread(&other.issue, &mut self.issue, self.senders);
        other.spread(&other.latency, &mut self.latency, self.senders);
        other.spread(&more, counters, self.senders);
    }

    /// Copies a column with one entry per row to the places that the rows have among those of `all` senders.
    fn spread<T: Copy + Default>(&self, column: &[T], to: &mut Vec<T>, all: u32) {
        let (each, some, all) = (self.per_interval as usize, self.senders as usize, all as usize);
        let intervals = column.len().checked_div(some * each).unwrap_or(0);
        to.resize(to.len().max(intervals * all * each), T::default());
        for (sender, &here) in self.here.iter().enumerate().filter(|(_, here)| **here != ELSEWHERE) {
            for k in 0..intervals {
                let (from, into) = ((k * some + here as usize) * each, (k * all + sender) * each);
                to[into..into + each].copy_from_slice(&column[from..from + each]);
            }
        }
    }
}
