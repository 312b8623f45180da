//! The only output of a run: totals and named columns.

use std::collections::TryReserveError;

mod histogram;
mod slices;

pub use histogram::Histogram;
pub use slices::{Backlog, Slices};

/// Row of a message that has none.
pub(crate) const NO_ROW: u32 = u32::MAX;

use odonata_decision::Mode;

pub use crate::observe::{Arrivals, Blame, NO_PEER, Operations, RootRows, Routes, Series, Task, Wait};

/// All results of a run. Identical for identical specifications, on any computer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Last instant of the run, in picoseconds.
    pub end_ps: u64,
    /// Route decisions made: one per packet and router.
    pub packet_hops: u64,
    /// One entry per job.
    pub jobs: Vec<JobTotals>,
    /// Rows of all recorded messages.
    pub messages: Messages,
    /// One row per directed link and channel: first all router ports in slot order, then all injection links.
    pub links: Links,
    /// One row per NIC if packets are answered, else empty.
    pub nics: Vec<NicCounters>,
    /// One row per row of `messages` if packets are answered, else empty.
    pub message_counters: Vec<MessageCounters>,
    /// Traffic between groups by window, if asked for.
    pub arrivals: Arrivals,
    /// One row per rank of the jobs with a program.
    pub ranks: Ranks,
    /// One row per iteration of the jobs with a program that some rank has ended.
    pub iterations: Iterations,
    /// Bytes committed, row-major `[job][link class]`; empty if no job has a program.
    pub class_bytes: Vec<u64>,
    /// Who made whom wait; empty unless asked for.
    pub blame: Blame,
    /// The load of every link over time; empty unless asked for.
    pub series: Series,
    /// What the CPUs of the ranks of programs did; empty unless asked for.
    pub operations: Operations,
}

/// Totals of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTotals {
    /// Messages issued.
    pub issued: u64,
    /// Messages whose last packet has been granted its ejection link.
    pub delivered: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Bytes of the packets delivered.
    pub bytes: u64,
    /// Links between routers that the delivered packets used.
    pub hops: u64,
    /// Delivered packets that were never diverted.
    pub minimal: u64,
    /// When the first message was issued.
    pub first_issue_ps: Option<u64>,
    /// When the last delivered byte arrived.
    pub last_delivery_ps: Option<u64>,
    /// Latencies of the messages issued in the measured interval.
    pub latency: Histogram,
    /// Messages between ranks of one node (of a program).
    pub intra_node: u64,
    /// RTS and CTS messages issued (of a program).
    pub control: u64,
    /// Messages issued in the measured interval, recorded or not.
    pub measured_issued: u64,
    /// Those of them that were delivered.
    pub measured_delivered: u64,
    /// Intervals begun, of all ranks together (of traffic).
    pub intervals: u64,
    /// When the first message was delivered (of traffic).
    pub first_delivery_ps: Option<u64>,
    /// All messages by slice of time (of traffic).
    pub backlog: Backlog,
    /// What was sent in each mode, by its position (of an application-aware job).
    pub modes: [SentInMode; Mode::ALL.len()],
    /// Packets that came after later ones, if asked for.
    pub reordering: Reordering,
}

/// Packets with payload that came to their NICs after later packets of their streams (RFC 4737, sections 3 and 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Packets that came.
    pub arrived: u64,
    /// Those of them that came after a later one.
    pub reordered: u64,
    /// Sum of the extents of these.
    pub extents: u64,
    /// The largest of the extents.
    pub most_extent: u64,
    /// Most payload that waited at one NIC for earlier packets.
    pub buffer_bytes: u64,
}

impl Reordering {
    /// Adds what was counted at other NICs.
    pub fn merge(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.reordered += other.reordered;
        self.extents += other.extents;
        self.most_extent = self.most_extent.max(other.most_extent);
        self.buffer_bytes = self.buffer_bytes.max(other.buffer_bytes);
    }
}

/// Messages that a job has sent over the network in a mode of Aries; without RTS and CTS messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentInMode {
    /// Their number.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Columns of equal length, one row per rank of each job with a program, sorted by job and rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// Index of the job.
    pub job: Vec<u16>,
    /// The rank.
    pub rank: Vec<u32>,
    /// When it finished; [`NOT_FINISHED`] if it did not by the end of the run.
    pub finish_ps: Vec<u64>,
    /// How long its CPUs worked: sending, receiving, computing and gaps.
    pub work_ps: Vec<u64>,
}

/// The finish time of a rank that did not finish.
pub const NOT_FINISHED: u64 = u64::MAX;

/// Columns of equal length, one row per iteration, of each job with a program, that some rank has ended; sorted by job
/// and iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// Index of the job.
    pub job: Vec<u16>,
    /// The iteration, from 0.
    pub iteration: Vec<u32>,
    /// Ranks that have ended it; the other columns refer to these.
    pub ranks: Vec<u32>,
    /// When the first of them began it.
    pub first_begin_ps: Vec<u64>,
    /// When the last of them began it.
    pub last_begin_ps: Vec<u64>,
    /// When the first ended it.
    pub first_end_ps: Vec<u64>,
    /// When the last ended it.
    pub last_end_ps: Vec<u64>,
    /// The longest time of one of them.
    pub longest_ps: Vec<u64>,
    /// Sum of their times.
    pub total_ps: Vec<u64>,
}

/// Columns of equal length, one row per recorded message, sorted by job, interval, source rank, position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Index of the job.
    pub job: Vec<u16>,
    /// Interval of the rank.
    pub interval: Vec<u32>,
    /// Source rank.
    pub source: Vec<u32>,
    /// Destination rank.
    pub destination: Vec<u32>,
    /// When it was issued.
    pub issue_ps: Vec<u64>,
    /// Delivery of the last byte minus issue; [`NOT_DELIVERED`] if it was still under way at the end.
    pub latency_ps: Vec<u64>,
}

impl Messages {
    /// Reserves memory for a number of rows.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        self.job.try_reserve_exact(rows)?;
        self.interval.try_reserve_exact(rows)?;
        self.source.try_reserve_exact(rows)?;
        self.destination.try_reserve_exact(rows)?;
        self.issue_ps.try_reserve_exact(rows)?;
        self.latency_ps.try_reserve_exact(rows)
    }
}

/// What a NIC of Aries counts. Packets are Aries packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicCounters {
    /// Requests sent.
    pub request_packets: u64,
    /// Their flits.
    pub request_flits: u64,
    /// Time for which a flit of a request was ready and was not sent.
    pub stalled_ps: u64,
    /// Time for which a request waited for the window.
    pub window_ps: u64,
    /// Requests whose response has come.
    pub answered_packets: u64,
    /// Sum over these of the time from the first flit of the request to the last of the response.
    pub latency_ps: u64,
    /// Responses sent.
    pub response_packets: u64,
    /// Their flits.
    pub response_flits: u64,
}

/// What the NIC of its node counted for a message; zero and no mode as long as a response is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Its requests, in Aries packets.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Time for which a flit of them was ready and was not sent.
    pub stalled_ps: u64,
    /// Sum of the latencies of its packets.
    pub latency_ps: u64,
    /// From its issue to its last response.
    pub complete_ps: u64,
    /// The mode of Aries that it was sent with, if its routing is one that policies select.
    pub mode: Option<Mode>,
}

/// Latency of a message that was not delivered by the end of the run.
pub const NOT_DELIVERED: u64 = u64::MAX;

/// Columns of equal length, one row per directed link and channel.
///
/// Router ports come first, `channels` rows each in slot order (ports to nodes have traffic on their first row only),
/// then the injection links of the nodes, one row each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Packets committed.
    pub packets: Vec<u64>,
    /// Bytes committed.
    pub bytes: Vec<u64>,
    /// Time during which at least one packet waited for credit.
    pub stalled_ps: Vec<u64>,
}
