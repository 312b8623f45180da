//! The only output of a run: totals and named columns.

use std::collections::TryReserveError;

use crate::counters::Histogram;

/// Everything a run has measured. Identical for identical specifications, on any machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Last instant of the run, in picoseconds.
    pub end_ps: u64,
    /// Routing decisions made: one per packet and router.
    pub packet_hops: u64,
    /// One entry per job.
    pub jobs: Vec<JobTotals>,
    /// Rows of all recorded messages.
    pub messages: Messages,
    /// One row per directed link and channel: first all router ports in slot order, then all injection links.
    pub links: Links,
    /// Traffic between groups by window, if asked for.
    pub arrivals: Arrivals,
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
    /// Makes room for so many rows.
    ///
    /// # Errors
    /// If there is not that much memory.
    pub fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        self.job.try_reserve_exact(rows)?;
        self.interval.try_reserve_exact(rows)?;
        self.source.try_reserve_exact(rows)?;
        self.destination.try_reserve_exact(rows)?;
        self.issue_ps.try_reserve_exact(rows)?;
        self.latency_ps.try_reserve_exact(rows)
    }
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

/// Traffic between groups: row-major `[window][job][group]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Width of a window; 0 if nothing was counted.
    pub every_ps: u64,
    /// Packets that came into the group by a global link.
    pub packets_in: Vec<u64>,
    /// Bytes of them.
    pub bytes_in: Vec<u64>,
    /// Packets sent to another group.
    pub packets_out: Vec<u64>,
    /// Bytes of them.
    pub bytes_out: Vec<u64>,
}
