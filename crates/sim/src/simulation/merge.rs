//! From the partitions of a run to one simulation, for its results.

use super::Simulation;
use super::jobs::{Job, Rows};
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
    /// Takes over the rows that another partition has written.
    fn merge(&mut self, other: Self) {
        for (to, of) in [(&mut self.issue, other.issue), (&mut self.latency, other.latency)] {
            if to.len() < of.len() {
                to.resize(of.len(), 0);
            }
            to.iter_mut().zip(of).for_each(|(to, of)| *to |= of); // zero where nothing was written
        }
    }
}
