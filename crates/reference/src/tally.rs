//! Counters beyond those of links and messages (model, section 9).

use std::collections::BTreeMap;

use odonata_decision::Mode;
use odonata_sim::output::{Arrivals, Backlog, JobTotals, Links, MessageCounters, Messages, NOT_DELIVERED};
use odonata_sim::spec::{Record, Spec};

use crate::link::Link;
use crate::packet::MessageRow;
use crate::traffic::Sender;

/// Counts for one window, job and group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
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
    /// Totals of each job; the latencies are recorded at the end.
    jobs: Vec<JobTotals>,
    /// Bytes that were granted links, by job and link class.
    carried: BTreeMap<(usize, usize), u64>,
    /// Traffic between groups by window, job and group.
    crossings: BTreeMap<(u64, usize, u32), Crossing>,
}

impl Tally {
    /// Zero counts.
    pub(crate) fn new(jobs: usize) -> Self {
        let jobs = vec![JobTotals::default(); jobs];
        Self { packet_hops: 0, jobs, carried: BTreeMap::new(), crossings: BTreeMap::new() }
    }

    /// A message of a job is issued at time `t`.
    pub(crate) fn issue(&mut self, job: usize, t: u64) {
        let of = &mut self.jobs[job];
        of.issued += 1;
        of.first_issue_ps.get_or_insert(t);
    }

    /// A job sends a message of so many bytes in a mode.
    pub(crate) fn sent_in_mode(&mut self, job: usize, mode: Mode, bytes: u64) {
        let sent = &mut self.jobs[job].modes[mode.position()];
        sent.messages += 1;
        sent.bytes += bytes;
    }

    /// One of them stays on its node.
    pub(crate) fn intra_node(&mut self, job: usize) {
        self.jobs[job].intra_node += 1;
    }

    /// A job issues an RTS or a CTS.
    pub(crate) fn control(&mut self, job: usize) {
        self.jobs[job].control += 1;
    }

    /// A packet of a job is granted a link of a class.
    pub(crate) fn carry(&mut self, job: usize, class: usize, bytes: u64) {
        *self.carried.entry((job, class)).or_default() += bytes;
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
    pub(crate) fn jobs(&self, spec: &Spec, rows: &[MessageRow], senders: &[Sender]) -> Vec<JobTotals> {
        let mut jobs = self.jobs.clone();
        let until = spec.measure.until_ps.unwrap_or(u64::MAX);
        for row in rows {
            let job = &mut jobs[row.job];
            let measured = (spec.measure.from_ps..until).contains(&row.issued);
            job.measured_issued += u64::from(measured);
            let Some(delivered) = row.delivered else { continue };
            job.delivered += 1;
            job.measured_delivered += u64::from(measured);
            if measured && spec.jobs[row.job].record != Record::Nothing {
                job.latency.record(delivered - row.issued);
            }
        }
        for sender in senders {
            jobs[sender.job].intervals += sender.interval;
        }
        for (index, job) in jobs.iter_mut().enumerate().filter(|(index, _)| spec.jobs[*index].traffic.is_some()) {
            let issues: Vec<u64> = rows.iter().filter(|row| row.job == index).map(|row| row.issued).collect();
            let deliveries: Vec<u64> = rows.iter().filter(|row| row.job == index).filter_map(|r| r.delivered).collect();
            job.first_delivery_ps = deliveries.iter().copied().min();
            job.backlog = backlog(&issues, &deliveries);
        }
        jobs
    }

    /// Bytes by job and link class, if at least one job has a program.
    pub(crate) fn class_bytes(&self, spec: &Spec, classes: usize) -> Vec<u64> {
        if spec.jobs.iter().all(|job| job.program.is_none()) {
            return Vec::new();
        }
        let all = (0..spec.jobs.len()).flat_map(|job| (0..classes).map(move |class| (job, class)));
        all.map(|at| self.carried.get(&at).copied().unwrap_or(0)).collect()
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

/// Messages by slice of time.
fn backlog(issues: &[u64], deliveries: &[u64]) -> Backlog {
    let Some(&latest) = issues.iter().chain(deliveries).max() else { return Backlog::default() };
    let mut width_ps = 1;
    while latest / width_ps > 127 {
        width_ps *= 2;
    }
    let of = |times: &[u64]| {
        let slices = (latest / width_ps) as usize + 1;
        let (mut counts, mut sums) = (vec![0; slices], vec![0; slices]);
        for &t in times {
            counts[(t / width_ps) as usize] += 1;
            sums[(t / width_ps) as usize] += u128::from(t);
        }
        (counts, sums)
    };
    let ((issued, issue_sum_ps), (delivered, delivery_sum_ps)) = (of(issues), of(deliveries));
    Backlog { width_ps, issued, issue_sum_ps, delivered, delivery_sum_ps }
}

fn recorded<'r>(spec: &Spec, rows: &'r [MessageRow]) -> Vec<&'r MessageRow> {
    let recorded = |m: &&MessageRow| spec.jobs[m.job].record == Record::EveryMessage;
    let mut rows: Vec<&MessageRow> = rows.iter().filter(recorded).collect();
    // Stable: messages of one interval or iteration keep the order in which they were issued.
    rows.sort_by_key(|m| (m.job, m.interval, m.source));
    rows
}

/// What NICs have counted for the messages of these rows.
pub(crate) fn message_counters(spec: &Spec, rows: &[MessageRow]) -> Vec<MessageCounters> {
    recorded(spec, rows).into_iter().map(|row| row.counters).collect()
}

/// The rows of all messages of the jobs that record them.
pub(crate) fn message_rows(spec: &Spec, rows: &[MessageRow]) -> Messages {
    let rows = recorded(spec, rows);
    let latency = |m: &MessageRow| m.delivered.map_or(NOT_DELIVERED, |at| at - m.issued);
    Messages {
        job: rows.iter().map(|m| m.job as u16).collect(),
        interval: rows.iter().map(|m| m.interval as u32).collect(),
        source: rows.iter().map(|m| m.source).collect(),
        destination: rows.iter().map(|m| m.destination).collect(),
        issue_ps: rows.iter().map(|m| m.issued).collect(),
        latency_ps: rows.iter().map(|m| latency(m)).collect(),
    }
}

/// The rows of all links and channels.
pub(crate) fn link_rows(links: &[Link], end: u64) -> Links {
    let mut rows = Links::default();
    for link in links {
        for (index, channel) in link.channels.iter().enumerate() {
            rows.packets.push(channel.packets);
            rows.bytes.push(channel.bytes);
            rows.stalled_ps.push(link.stalled(index, end));
        }
    }
    rows
}
