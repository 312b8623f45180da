//! From the partitions of a run to one simulation, for its results.

use super::Simulation;
use super::jobs::{ELSEWHERE, Job, Rows};
use crate::engine::{Partition, Queue};
use crate::fabric::packet::Event;
use crate::output::{JobTotals, MessageCounters};
use crate::program::Programs;
use crate::routing::RoutingAlgorithm;

impl<R: RoutingAlgorithm> Simulation<'_, Partition<Event>, R> {
    /// Takes over what another partition has counted.
    pub(super) fn absorb(&mut self, mut other: Self) {
        for router in other.queue.own(0) {
            let place = self.wiring.places[router as usize];
            for slot in place.first..place.first + u32::from(place.ports) {
                for channel in 0..self.wiring.channels as u8 {
                    self.absorb_vc(&other, self.vc(slot, channel));
                }
            }
        }
        for nic in 0..self.nics.len() as u32 {
            if other.queue.has(self.wiring.event_attachment(nic).router) {
                self.absorb_vc(&other, self.nic_vc(nic));
                self.nics[nic as usize] = std::mem::take(&mut other.nics[nic as usize]);
                self.aries.absorb(nic, &mut other.aries);
            }
        }
        for (index, (job, of)) in self.jobs.list.iter_mut().zip(other.jobs.list).enumerate() {
            let rows = |programs: &Option<Programs>| {
                let running = programs.as_ref().and_then(|programs| programs.running[index].as_ref());
                running.map(|running| running.tally.rows())
            };
            let mut counters = self.aries.take_rows(index, rows(&self.programs).unwrap_or(job.rows.issue.len()));
            let more = other.aries.take_rows(index, rows(&other.programs).unwrap_or(of.rows.issue.len()));
            if job.program {
                counters.extend(more);
                job.absorb(of, &mut Vec::new(), Vec::new());
            } else {
                job.absorb(of, &mut counters, more);
            }
            self.aries.put_rows(index, counters);
        }
        self.absorb_programs(other.programs, &other.queue);
        self.by_class.absorb(&other.by_class);
        self.arrivals.absorb(other.arrivals);
        if let (Some(series), Some(of)) = (&mut self.series, other.series) {
            series.absorb(of);
        }
        self.packet_hops += other.packet_hops;
        self.events += other.events;
    }

    /// Takes over the programs of the partition that has this queue.
    pub(super) fn absorb_programs(&mut self, other: Option<Programs>, queue: &Partition<Event>) {
        let wiring = &self.wiring;
        if let (Some(programs), Some(other)) = (&mut self.programs, other) {
            programs.absorb(other, |node| queue.has(wiring.attachments[(node * wiring.rails) as usize].router));
        }
    }

    fn absorb_vc(&mut self, other: &Self, vc: usize) {
        self.vcs[vc] = other.vcs[vc];
        let log = other.logs.get(vc);
        if log.is_written() {
            *self.logs.get_mut(vc) = *log;
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

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
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
