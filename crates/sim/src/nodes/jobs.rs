//! The jobs of a run: what they still have to send, and the state of what they have sent.

use odonata_decision::{Decision, Mode};
use odonata_topology::Network;

use super::Flight;
use crate::endpoint::{Answers, Exchange, ModeRequest};
use crate::engine::{Burst, Bursts};
use crate::output::{JobTotals, NO_ROW, Slices};
use crate::routing::routing_numbers;
use crate::spec::{Record, Spec};
use crate::traffic::{Clock, Destinations};

/// All jobs, and the job of each node.
pub struct Jobs {
    pub list: Vec<Job>,
    /// Job and rank of each node.
    owner: Vec<Option<(u16, u32)>>,
    /// Number of jobs that the run still waits for.
    waited_for: usize,
}

/// One job.
pub struct Job {
    pub ranks: u32,
    pub nodes: Vec<u32>,
    pub message_bytes: u64,
    /// Number of packets of each message.
    pub packets: u64,
    /// Number of its packets' routing, by the position of their mode.
    pub routings: [u8; Mode::ALL.len()],
    /// The mode of all its packets, if it has one.
    fixed_mode: Option<Mode>,
    pub clock: Clock,
    /// Its bursts, and the present one of each rank (traffic).
    bursts: Option<(Bursts, Vec<Burst>)>,
    pub destinations: Destinations,
    /// Number of intervals; `u32::MAX` for a job without end.
    pub intervals: u32,
    pub histogram: bool,
    pub rows: Rows,
    pub totals: JobTotals,
    /// Its messages by slice of time (traffic).
    pub slices: Slices,
    /// Delivery time of its latest packet; 0 if there is none.
    pub last_delivery_ps: u64,
    /// Its complete messages (traffic).
    completed: u64,
    /// When the last of them was complete.
    last_completion_ps: u64,
    /// Whether an interval begins only when the previous one is completely delivered (broadcast).
    pub waits_for_delivery: bool,
    /// Undelivered messages of the present interval (broadcast).
    pub outstanding: u32,
    /// The next interval and the earliest it can begin (broadcast).
    pub next_interval: u32,
    pub next_issue: u64,
    /// Whether its ranks act on arrivals: they run a program, or a caller drives them.
    pub reacts: bool,
    /// Bytes that its messages, RTS and CTS have sent over the network (program).
    pub network_bytes: u64,
    /// Number of delivered messages at which the job is complete; 0 if the run does not wait for it or it has a
    /// program.
    expected: u64,
    /// When it ended; the run may end then. For a job with traffic: unknown until all its messages are delivered.
    ended: Option<u64>,
    /// Whether the run waits for it.
    pub waited_for: bool,
}

impl Job {
    /// Delivery time of its latest packet. (None is delivered at time 0.)
    pub fn last_delivery(&self) -> Option<u64> {
        (self.last_delivery_ps > 0).then_some(self.last_delivery_ps)
    }

    /// Its totals at the end of the run.
    pub fn take_totals(&mut self) -> JobTotals {
        let backlog = std::mem::take(&mut self.slices).into_output();
        JobTotals { last_delivery_ps: self.last_delivery(), backlog, ..std::mem::take(&mut self.totals) }
    }

    /// A message is delivered at `at` (traffic).
    #[inline]
    pub fn deliver(&mut self, flight: &Flight, at: u64) {
        let totals = &mut self.totals;
        totals.delivered += 1;
        totals.measured_delivered += u64::from(flight.measured);
        totals.first_delivery_ps = Some(totals.first_delivery_ps.map_or(at, |first| first.min(at)));
        self.slices.deliver(at);
        let latency = at - flight.issue;
        self.rows.deliver(flight.row, latency);
        if flight.measured && self.histogram {
            totals.latency.record(latency);
        }
    }

    /// Position of a rank among those that send.
    pub fn sender_of(&self, rank: u32) -> u32 {
        if self.destinations.only_sender().is_some() { 0 } else { rank }
    }
}

impl Job {
    /// A message is complete at `at`.
    #[inline]
    pub fn count_completion(&mut self, at: u64) {
        self.completed += 1;
        self.last_completion_ps = self.last_completion_ps.max(at);
    }

    /// When the last of its messages was complete, if all are that the run waits for.
    #[inline]
    pub fn last_if_complete(&self) -> Option<u64> {
        (self.completed == self.expected).then_some(self.last_completion_ps)
    }

    /// A message of an interval is complete. If it was the last one and there is another interval: its sender, its number,
    /// and when it begins (broadcast).
    pub fn next_after_delivery(&mut self) -> Option<(u32, u32, u64)> {
        self.outstanding -= 1;
        if self.outstanding > 0 || self.next_interval >= self.intervals {
            return None;
        }
        let rank = self.destinations.only_sender().unwrap_or(0);
        let at = self.begin(rank, self.next_issue.max(self.last_completion_ps));
        let root = self.nodes[rank as usize];
        Some((root, std::mem::replace(&mut self.next_interval, u32::MAX), at))
    }

    /// When a rank begins an interval that it would begin at `at`, with the pause that may come first.
    #[inline]
    pub fn begin(&mut self, rank: u32, at: u64) -> u64 {
        self.bursts.as_mut().map_or(at, |(bursts, ranks)| bursts.begin(&mut ranks[rank as usize], at))
    }

    /// Its complete messages that were counted here, and when the last of them was complete.
    pub fn completions(&self) -> (u64, u64) {
        (self.completed, self.last_completion_ps)
    }

    /// A message is complete at `at`; another partition counts it.
    pub fn see_completion(&mut self, at: u64) {
        self.last_completion_ps = self.last_completion_ps.max(at);
    }

    /// Messages that must still be complete before the run can end, if so many are.
    pub fn left(&self, completed: u64) -> u64 {
        if self.expected > 0 { self.expected - completed } else { 0 }
    }

    /// Whether it ends with so many complete messages, or ranks of a program that have finished, and has not ended yet.
    pub fn ends_with(&self, completed: u64) -> bool {
        let expected = if self.reacts { u64::from(self.ranks) } else { self.expected };
        expected > 0 && self.ended.is_none() && completed == expected
    }

    /// Selects the mode of a message and counts it; returns the number of its packets' routing.
    pub fn select_mode(&mut self, answers: &mut Answers, of: &ModeRequest, exchange: &mut Exchange) -> u8 {
        let Some((policy, Decision { mode, observe })) =
            answers.policies.select(&mut answers.readings, exchange.job, of)
        else {
            exchange.counters.mode = self.fixed_mode;
            return self.routings[0];
        };
        exchange.counters.mode = Some(mode);
        exchange.observer = observe.then_some(policy);
        if of.carries {
            let sent = &mut self.totals.modes[mode.position()];
            sent.messages += 1;
            sent.bytes += of.bytes;
        }
        self.routings[mode.position()]
    }
}

/// Largest number of messages for which memory is reserved in advance.
const MAX_RESERVED: u64 = 1 << 26;

/// A sender that has no rows here.
pub const ELSEWHERE: u32 = u32::MAX;

/// Issue time and latency of each message of a job, both plus one: zero means none.
#[derive(Default)]
pub struct Rows {
    on: bool,
    /// Number of all messages if it is known in advance, else 0.
    known: u64,
    pub per_interval: u32,
    /// Number of ranks that have rows here.
    pub senders: u32,
    /// In a partition: for each sender its number among those of the partition, or [`ELSEWHERE`]; else empty.
    pub here: Vec<u32>,
    pub issue: Vec<u64>,
    pub latency: Vec<u64>,
    /// Rows that did not fit into memory.
    refused: Option<u64>,
}

impl Rows {
    /// Records the issue of a message; returns its row.
    #[inline]
    pub fn issue(&mut self, k: u32, sender: u32, position: u32, now: u64) -> u32 {
        if !self.on {
            return NO_ROW;
        }
        let sender = if self.here.is_empty() { sender } else { self.here[sender as usize] };
        let row = (u64::from(k) * u64::from(self.senders) + u64::from(sender)) * u64::from(self.per_interval)
            + u64::from(position);
        if row >= self.issue.len() as u64 && !self.grow(k) {
            return NO_ROW;
        }
        self.issue[row as usize] = now + 1;
        row as u32
    }

    /// Keeps rows for some of the senders only; `here` says for each whether it is one of them.
    fn keep(&mut self, here: impl Iterator<Item = bool>) {
        let all = std::mem::take(&mut self.senders);
        for is_here in here {
            self.here.push(if is_here { self.senders } else { ELSEWHERE });
            self.senders += u32::from(is_here);
        }
        self.known = self.known / u64::from(all.max(1)) * u64::from(self.senders);
    }

    /// Reserves memory for all messages of the intervals up to `k`. Returns whether it succeeded.
    #[cold]
    fn grow(&mut self, k: u32) -> bool {
        let rows = (u64::from(k) + 1) * u64::from(self.senders) * u64::from(self.per_interval);
        if self.issue.is_empty() && self.known <= MAX_RESERVED {
            // Unused reserved memory costs nothing, and later growth would have to copy. If it fails, rows are copied.
            let _ = self.issue.try_reserve_exact(self.known as usize);
            let _ = self.latency.try_reserve_exact(self.known as usize);
        }
        let more = rows as usize - self.issue.len();
        let fits =
            rows < u64::from(NO_ROW) && self.issue.try_reserve(more).is_ok() && self.latency.try_reserve(more).is_ok();
        if fits {
            self.issue.resize(rows as usize, 0);
            self.latency.resize(rows as usize, 0);
        } else {
            self.refused = Some(rows);
        }
        fits
    }

    /// Records the delivery of a message.
    #[inline]
    pub fn deliver(&mut self, row: u32, latency: u64) {
        if row != NO_ROW {
            self.latency[row as usize] = latency + 1;
        }
    }

    /// The number of messages, if they did not fit.
    pub fn refused(&self) -> Option<u64> {
        self.refused
    }
}

impl Jobs {
    /// The jobs of a checked specification.
    pub fn new(spec: &Spec, network: &Network) -> Self {
        let mut owner = vec![None; network.nodes()];
        let routings = routing_numbers(spec);
        let list: Vec<Job> = spec
            .jobs
            .iter()
            .enumerate()
            .map(|(index, job)| {
                for (rank, &node) in job.nodes.iter().enumerate() {
                    owner[node as usize] = Some((index as u16, rank as u32));
                }
                let destinations = Destinations::new(job, network, spec.seed);
                let ranks = job.nodes.len() as u32;
                let senders = if destinations.only_sender().is_some() { 1 } else { ranks };
                let per_interval = destinations.per_interval(ranks);
                let messages = |intervals: u64| intervals * u64::from(senders) * u64::from(per_interval);
                let on = job.record == Record::EveryMessage;
                let traffic = job.traffic.as_ref();
                let intervals = traffic.map_or(Some(0), |traffic| traffic.intervals);
                let message_bytes = traffic.map_or(0, |traffic| traffic.message_bytes);
                let known = intervals.map_or(0, messages);
                let waited_for = spec.stop.jobs.contains(&(index as u32));
                Job {
                    ranks,
                    nodes: job.nodes.clone(),
                    message_bytes,
                    packets: message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes)),
                    routings: routings[index],
                    fixed_mode: spec.routing_of(job).fixed_mode(),
                    clock: traffic.map_or_else(Clock::stopped, |traffic| Clock::new(traffic, spec.seed)),
                    bursts: traffic.and_then(|_| {
                        let bursts = Bursts::of(job, spec.seed)?;
                        Some((bursts, vec![bursts.first(0); job.nodes.len()]))
                    }),
                    intervals: intervals.map_or(u32::MAX, |n| n as u32),
                    reacts: job.traffic.is_none(),
                    network_bytes: 0,
                    ended: None,
                    waited_for,
                    histogram: job.record != Record::Nothing,
                    rows: Rows { on, known, per_interval, senders, ..Rows::default() },
                    totals: JobTotals::default(),
                    slices: Slices::default(),
                    last_delivery_ps: 0,
                    completed: 0,
                    last_completion_ps: 0,
                    waits_for_delivery: destinations.only_sender().is_some(),
                    outstanding: 0,
                    next_interval: u32::MAX,
                    next_issue: 0,
                    expected: if waited_for { known } else { 0 },
                    destinations,
                }
            })
            .collect();
        let waited_for = list.iter().filter(|job| job.waited_for).count();
        Self { list, owner, waited_for }
    }

    /// Job and rank of a node that has one.
    #[inline]
    pub fn owner(&self, node: u32) -> (u16, u32) {
        self.owner[node as usize].expect("only nodes of jobs issue messages")
    }

    /// Keeps rows only for the ranks on nodes that `has` says.
    pub fn keep_rows(&mut self, has: impl Fn(u32) -> bool) {
        for job in self.list.iter_mut().filter(|job| job.rows.on) {
            match job.destinations.only_sender() {
                Some(rank) => job.rows.keep(std::iter::once(has(job.nodes[rank as usize]))),
                None => job.rows.keep(job.nodes.iter().map(|&node| has(node))),
            }
        }
    }

    /// Nodes that send: (node, job), in order of job and rank.
    pub fn senders(&self) -> impl Iterator<Item = (u32, &Job)> {
        self.list.iter().filter(|job| !job.reacts).flat_map(|job| {
            let only = job.destinations.only_sender();
            let ranks = job.nodes.iter().enumerate();
            ranks.filter(move |&(rank, _)| only.is_none_or(|o| o as usize == rank)).map(move |(_, &node)| (node, job))
        })
    }

    /// Whether some job's messages end the run.
    pub fn end_the_run(&self) -> bool {
        self.list.iter().any(|job| job.expected > 0)
    }

    /// Messages that must still be complete before the run can end.
    pub fn incomplete(&self) -> u64 {
        self.list.iter().map(|job| job.left(job.completed)).sum()
    }

    /// Messages delivered and expected of the jobs that the run waits for.
    pub fn progress(&self) -> (u64, u64) {
        let waited = self.list.iter().filter(|job| job.expected > 0);
        waited.fold((0, 0), |(d, e), job| (d + job.totals.delivered, e + job.expected))
    }

    /// A job has ended at `at`. Returns when the run ends, if it waits for no other job.
    pub fn end(&mut self, job: u16, at: u64) -> Option<u64> {
        let job = &mut self.list[usize::from(job)];
        job.ended = Some(at);
        if !job.waited_for {
            return None;
        }
        self.waited_for -= 1;
        let waited = self.list.iter().filter(|job| job.waited_for);
        (self.waited_for == 0).then(|| waited.filter_map(|job| job.ended).max().unwrap_or(0))
    }
}
