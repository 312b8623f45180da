//! What is counted for jobs, messages and groups (docs/model.md, section 9).

use std::collections::BTreeMap;

use odonata_sim::output::{Arrivals, JobTotals, Messages, NOT_DELIVERED, Slices};
use odonata_sim::spec::{Record, Spec};

use crate::message::Message;
use crate::senders::Sender;

/// Counts for one window, job and group.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    packets_in: u64,
    bytes_in: u64,
    packets_out: u64,
    bytes_out: u64,
}

/// Running totals.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Routing decisions.
    pub(crate) packet_hops: u64,
    /// Totals of each job; what depends on messages is counted at the end.
    jobs: Vec<JobTotals>,
    /// Traffic between groups by window, job and group.
    crossings: BTreeMap<(u64, usize, u32), Crossing>,
}

impl Tally {
    /// Zero counts.
    pub(crate) fn new(jobs: usize) -> Self {
        Self { packet_hops: 0, jobs: vec![JobTotals::default(); jobs], crossings: BTreeMap::new() }
    }

    /// A message of a job is issued at time `t`.
    pub(crate) fn issue(&mut self, job: usize, t: u64) {
        let of = &mut self.jobs[job];
        of.issued += 1;
        of.first_issue_ps.get_or_insert(t);
    }

    /// A packet reaches its node at time `t`, after this many routers.
    pub(crate) fn deliver(&mut self, job: usize, bytes: u64, routers: u8, minimal: bool, t: u64) {
        let of = &mut self.jobs[job];
        of.packets += 1;
        of.bytes += bytes;
        of.hops += u64::from(routers) - 1; // one link less between them
        of.minimal += u64::from(minimal);
        of.last_delivery_ps = of.last_delivery_ps.max(Some(t));
    }

    /// Counts a decision on a packet that may arrive or leave by a global link, by window, job and group.
    pub(crate) fn cross(&mut self, at: (u64, usize, u32), bytes: u64, comes_in: bool, goes_out: bool) {
        if !comes_in && !goes_out {
            return;
        }
        let of = self.crossings.entry(at).or_default();
        if comes_in {
            of.packets_in += 1;
            of.bytes_in += bytes;
        }
        if goes_out {
            of.packets_out += 1;
            of.bytes_out += bytes;
        }
    }

    /// The totals of the jobs, with the counted messages and the intervals begun by the senders.
    pub(crate) fn jobs(&self, spec: &Spec, messages: &[Message], senders: &[Sender]) -> Vec<JobTotals> {
        let mut jobs = self.jobs.clone();
        let mut slices: Vec<Slices> = jobs.iter().map(|_| Slices::default()).collect();
        let until = spec.measure.until_ps.unwrap_or(u64::MAX);
        for message in messages {
            let (job, slices) = (&mut jobs[message.job], &mut slices[message.job]);
            let measured = (spec.measure.from_ps..until).contains(&message.issued);
            job.measured_issued += u64::from(measured);
            slices.issue(1, message.issued);
            let Some(delivered) = message.delivered else { continue };
            job.delivered += 1;
            job.measured_delivered += u64::from(measured);
            job.first_delivery_ps = Some(job.first_delivery_ps.map_or(delivered, |first| first.min(delivered)));
            slices.deliver(delivered);
            if measured && spec.jobs[message.job].record != Record::Nothing {
                job.latency.record(delivered - message.issued);
            }
        }
        for sender in senders {
            jobs[sender.job].intervals += u64::from(sender.interval);
        }
        jobs.iter_mut().zip(slices).for_each(|(job, slices)| job.backlog = slices.into_output());
        jobs
    }

    /// Traffic between groups, up to the last window with any.
    pub(crate) fn arrivals(&self, spec: &Spec, groups: u32) -> Arrivals {
        let Some(every_ps) = spec.measure.arrivals_every_ps else { return Arrivals::default() };
        let mut arrivals = Arrivals { every_ps, ..Arrivals::default() };
        let windows = self.crossings.keys().next_back().map_or(0, |last| last.0 + 1);
        for window in 0..windows {
            for job in 0..spec.jobs.len() {
                for group in 0..groups {
                    let of = self.crossings.get(&(window, job, group)).copied().unwrap_or_default();
                    arrivals.packets_in.push(of.packets_in);
                    arrivals.bytes_in.push(of.bytes_in);
                    arrivals.packets_out.push(of.packets_out);
                    arrivals.bytes_out.push(of.bytes_out);
                }
            }
        }
        arrivals
    }
}

/// The rows of all messages of the jobs that record them.
pub(crate) fn message_rows(spec: &Spec, messages: &[Message], senders: &[Sender]) -> Messages {
    let recorded = |m: &&Message| spec.jobs[m.job].record == Record::EveryMessage;
    let source = |m: &Message| senders[m.sender].rank;
    let mut rows: Vec<&Message> = messages.iter().filter(recorded).collect();
    // Stable: messages of one interval keep the order in which they were issued.
    rows.sort_by_key(|m| (m.job, m.interval, source(m)));
    let latency = |m: &Message| m.delivered.map_or(NOT_DELIVERED, |at| at - m.issued);
    Messages {
        job: rows.iter().map(|m| m.job as u16).collect(),
        interval: rows.iter().map(|m| m.interval).collect(),
        source: rows.iter().map(|m| source(m)).collect(),
        destination: rows.iter().map(|m| m.destination).collect(),
        issue_ps: rows.iter().map(|m| m.issued).collect(),
        latency_ps: rows.iter().map(|m| latency(m)).collect(),
    }
}
