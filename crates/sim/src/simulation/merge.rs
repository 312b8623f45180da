//! From the partitions of a run to one simulation, for its results.

use super::Simulation;
use super::jobs::{ELSEWHERE, Job, Rows};
use crate::engine::{Partition, Queue};
use crate::fabric::packet::Event;
use crate::output::JobTotals;
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
            }
        }
        for (job, of) in self.jobs.list.iter_mut().zip(other.jobs.list) {
            job.absorb(of);
        }
        self.packet_hops += other.packet_hops;
        self.events += other.events;
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
    /// Takes over what another partition has counted for the same job.
    fn absorb(&mut self, other: Self) {
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
            // Those of programs and of modes: such runs have one partition.
            intra_node: _,
            control: _,
            modes: _,
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
        self.rows.merge(other.rows);
    }
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

impl Rows {
    /// Takes over the rows of another partition.
    fn merge(&mut self, other: Self) {
        if self.here.contains(&ELSEWHERE) {
            let own = std::mem::take(self);
            (self.per_interval, self.senders) = (own.per_interval, own.here.len() as u32);
            self.merge(own);
        }
        let (each, all) = (other.per_interval as usize, self.senders as usize);
        let some = other.senders as usize;
        for (to, of) in [(&mut self.issue, other.issue), (&mut self.latency, other.latency)] {
            let intervals = of.len().checked_div(some * each).unwrap_or(0);
            to.resize(to.len().max(intervals * all * each), 0);
            let senders = other.here.iter().enumerate().filter(|(_, here)| **here != ELSEWHERE);
            for (sender, &here) in senders {
                for k in 0..intervals {
                    let (from, into) = ((k * some + here as usize) * each, (k * all + sender) * each);
                    to[into..into + each].copy_from_slice(&of[from..from + each]);
                }
            }
        }
    }
}
