//! Counters of a program, in addition to those of its packets.

use odonata_error::{Error, ErrorKind};

use crate::output::Histogram;
use crate::output::NO_ROW;
use crate::output::{Iterations, JobTotals};
use crate::spec::MeasureSpec;

use super::matching::MessageKey;

/// Counters of a job.
pub struct Tally {
    measure: MeasureSpec,
    rows_on: bool,
    rows: Vec<MessageRow>,
    /// Whether there were more rows than fit into memory.
    refused: bool,
    issued: u64,
    measured: u64,
    first_issue: Option<u64>,
    /// Latencies of the measured intra-node messages.
    intra_node_latency: Histogram,
    intra_node: u64,
    intra_node_measured: u64,
    /// RTS and CTS messages.
    pub control: u64,
    /// Iterations ended, of all ranks together.
    pub ended: u64,
    iterations: Vec<Iteration>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct MessageRow {
    /// Its number in order of issue.
    pub number: u32,
    pub iteration: u32,
    pub source: u32,
    pub destination: u32,
    pub issue: u64,
    /// None while it is under way.
    pub latency: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Iteration {
    ranks: u32,
    begin: (u64, u64),
    end: (u64, u64),
    longest: u64,
    total: u64,
}

impl Iteration {
    /// Of no rank.
    const NONE: Self = Self { ranks: 0, begin: (u64::MAX, 0), end: (u64::MAX, 0), longest: 0, total: 0 };

    /// Adds that of other ranks.
    fn add(&mut self, other: &Self) {
        self.ranks += other.ranks;
        self.begin = (self.begin.0.min(other.begin.0), self.begin.1.max(other.begin.1));
        self.end = (self.end.0.min(other.end.0), self.end.1.max(other.end.1));
        self.longest = self.longest.max(other.longest);
        self.total = self.total.saturating_add(other.total);
    }
}

impl Tally {
    /// Zero counters.
    #[must_use]
    pub fn new(measure: &MeasureSpec, rows_on: bool) -> Self {
        Self {
            measure: measure.clone(),
            rows_on,
            rows: Vec::new(),
            refused: false,
            issued: 0,
            measured: 0,
            first_issue: None,
            intra_node_latency: Histogram::default(),
            intra_node: 0,
            intra_node_measured: 0,
            control: 0,
            ended: 0,
            iterations: Vec::new(),
        }
    }

    /// A message is handed over; returns its row.
    pub fn issue(&mut self, key: MessageKey, now: u64) -> u32 {
        self.issued += 1;
        self.measured += u64::from(self.measures(now));
        let first = self.first_issue.get_or_insert(now);
        *first = now.min(*first);
        if !self.rows_on {
            return NO_ROW;
        }
        if self.rows.len() >= NO_ROW as usize || self.rows.try_reserve(1).is_err() {
            self.refused = true;
            return NO_ROW;
        }
        let MessageKey { to, from, iteration, .. } = key;
        let number = self.rows.len() as u32;
        self.rows.push(MessageRow { number, iteration, source: from, destination: to, issue: now, latency: None });
        (self.rows.len() - 1) as u32
    }

    /// Whether a message that is handed over at this time is measured.
    #[must_use]
    pub fn measures(&self, issue: u64) -> bool {
        issue >= self.measure.from_ps && self.measure.until_ps.is_none_or(|until| issue < until)
    }

    /// A message has been delivered.
    pub fn deliver(&mut self, row: u32, latency: u64) {
        if row != NO_ROW {
            self.rows[row as usize].latency = Some(latency);
        }
    }

    /// A message is handed over to a rank of the same node.
    pub fn intra_node(&mut self, row: u32, now: u64, latency: u64) {
        self.intra_node += 1;
        if self.measures(now) {
            self.intra_node_measured += 1;
            self.intra_node_latency.record(latency);
        }
        self.deliver(row, latency);
    }

    /// A rank has ended an iteration.
    pub fn end(&mut self, iteration: u32, begin: u64, end: u64) {
        self.ended += 1;
        let all = &mut self.iterations;
        if iteration as usize >= all.len() {
            all.resize(iteration as usize + 1, Iteration::NONE);
        }
        let took = end - begin;
        let of_rank = Iteration { ranks: 1, begin: (begin, begin), end: (end, end), longest: took, total: took };
        all[iteration as usize].add(&of_rank);
    }

    /// Takes over what another partition has counted for other ranks of the job. Its rows get the numbers that follow.
    pub fn absorb(&mut self, other: Self) {
        let Self {
            measure: _,
            rows_on: _,
            rows,
            refused,
            issued,
            measured,
            first_issue,
            intra_node_latency,
            intra_node,
            intra_node_measured,
            control,
            ended,
            iterations,
        } = other;
        let before = self.rows.len() as u32;
        self.rows.extend(rows.into_iter().map(|row| MessageRow { number: before + row.number, ..row }));
        self.refused |= refused;
        self.issued += issued;
        self.measured += measured;
        self.first_issue = self.first_issue.into_iter().chain(first_issue).min();
        self.intra_node_latency.merge(&intra_node_latency);
        self.intra_node += intra_node;
        self.intra_node_measured += intra_node_measured;
        self.control += control;
        self.ended += ended;
        self.iterations.resize(self.iterations.len().max(iterations.len()), Iteration::NONE);
        self.iterations.iter_mut().zip(&iterations).for_each(|(to, of)| to.add(of));
    }

    /// Adds these counters to the totals of the job's packets.
    pub fn add_to(&self, totals: &mut JobTotals, histogram: bool) {
        totals.issued = self.issued;
        totals.delivered += self.intra_node;
        totals.measured_issued = self.measured;
        totals.measured_delivered += self.intra_node_measured;
        totals.first_issue_ps = self.first_issue;
        (totals.intra_node, totals.control) = (self.intra_node, self.control);
        if histogram {
            totals.latency.merge(&self.intra_node_latency);
        }
    }

    /// Adds the iterations that some rank has ended.
    pub fn iterations(&self, job: u16, to: &mut Iterations) {
        for (number, of) in self.iterations.iter().enumerate() {
            to.job.push(job);
            to.iteration.push(number as u32);
            to.ranks.push(of.ranks);
            to.first_begin_ps.push(of.begin.0);
            to.last_begin_ps.push(of.begin.1);
            to.first_end_ps.push(of.end.0);
            to.last_end_ps.push(of.end.1);
            to.longest_ps.push(of.longest);
            to.total_ps.push(of.total);
        }
    }

    /// The rows, by iteration, source and order of issue.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if there were more than fit into memory.
    pub fn take_rows(&mut self) -> Result<Vec<MessageRow>, Error> {
        if self.refused {
            return Err(ErrorKind::OutOfMemory { rows: self.issued }.into());
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by_key(|row| (row.iteration, row.source)); // stable: rows of one rank stay in the order of issue
        Ok(rows)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }
}
