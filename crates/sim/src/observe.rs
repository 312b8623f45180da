//! What is counted beside the totals of jobs, each in a file or folder of its own. All are integers that merge by
//! addition, in any order.
//!
//! | observer | counts | is told of |
//! |---|---|---|
//! | [`blame`] | who makes whom wait, and where chains of full buffers end | messages, grants, commits, credits |
//! | [`series`] | the load of every link over time | commits |
//! | [`by_class`] | bytes by job and link class | commits |
//! | [`arrivals`] | traffic between groups by window | decisions |
//! | [`operations`] | what the CPUs of ranks did | tasks (`program`) |
//!
//! A [`Commit`] says what has happened when a packet is committed to a link. The fabric hands it on at its one commit
//! point. Observers know neither switches nor kinds of NICs, and without observers a hop costs nothing more.

pub mod arrivals;
pub mod blame;
pub mod by_class;
pub mod operations;
pub mod series;

pub use arrivals::{ArrivalCounts, Arrivals};
pub use blame::{
    Blame, BlameCounts, Held, MarkName, Needs, OWN, Room, RoomRelease, RootRows, Sides, Stay, Victim, Wait,
};
pub use by_class::ByClass;
pub use operations::{NO_PEER, OperationCounts, Operations, Task};
pub use series::{Routes, Series, SeriesCounts};

use crate::fabric::packet::Event;
use crate::fabric::{Links, OutputVc, PacketInfo, PacketTimes};

/// The room that a packet leaves when it is committed to a link.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// The buffer at an input of its router, behind a link of a class.
    Input {
        /// Index of the buffer in the credits.
        buffer: usize,
        /// Class of the link that leads to it.
        class: u8,
    },
    /// The output buffer of its output VC.
    Output,
}

/// A packet that is committed to a link: what it waited for, when it crosses, what room it takes and gives back.
#[derive(Clone, Copy)]
pub struct Commit<'a> {
    /// The packet as it was at its router.
    pub packet: &'a Event,
    /// Its durations.
    pub times: &'a PacketTimes,
    /// The output VC. It takes room in the buffer at the far end, unless that is a node.
    pub output: OutputVc,
    /// Its channel.
    pub channel: u8,
    /// The class of its link.
    pub class: u8,
    /// Whether the far end is a node.
    pub to_node: bool,
    /// From when on it could have crossed the link if nobody else had been there.
    pub since: u64,
    /// When it was committed.
    pub committed: u64,
    /// When it could have begun to leave if the link had been free.
    pub ready: u64,
    /// When the link became free of earlier packets.
    pub free: u64,
    /// When its last byte has left.
    pub end: u64,
    /// From the start of its transmission to the next decision, or to its delivery.
    pub service: u64,
    /// The room that it leaves.
    pub left: Left,
    /// All later decisions of the sender to that room are at this time or later.
    pub horizon: u64,
    /// The partition of that sender, if it is another one.
    pub sender: Option<usize>,
}

/// Who is told of what happens. Each may be absent.
pub struct Observers {
    /// Who makes whom wait.
    pub blame: Option<BlameCounts>,
    /// The load of links over time.
    pub series: Option<SeriesCounts>,
    /// Bytes by job and link class.
    pub by_class: Option<ByClass>,
    /// Traffic between groups.
    pub arrivals: Option<ArrivalCounts>,
    /// Whether anything but the waits of most packets for links is counted at commits.
    more: bool,
    /// Whether decisions are observed. (A flag of its own, because it is read at each hop.)
    decisions: bool,
}

impl Observers {
    /// The observers of a run.
    #[must_use]
    pub fn new(
        blame: Option<BlameCounts>,
        series: Option<SeriesCounts>,
        by_class: Option<ByClass>,
        arrivals: Option<ArrivalCounts>,
    ) -> Self {
        let roots = blame.as_ref().is_some_and(BlameCounts::follows_roots);
        let more = roots || series.is_some();
        Self { more, decisions: arrivals.is_some(), blame, series, by_class, arrivals }
    }

    /// Whether commits are observed. Bytes by class are counted without knowing what else a commit says.
    #[inline(always)]
    #[must_use]
    pub fn see_commits(&self) -> bool {
        self.more || self.blame.is_some()
    }

    /// Whether decisions are observed.
    #[inline(always)]
    #[must_use]
    pub fn see_decisions(&self) -> bool {
        self.decisions
    }

    /// Whether packets are observed at routers, so that all partitions must know all messages.
    #[must_use]
    pub fn see_packets(&self) -> bool {
        self.see_commits() || self.see_decisions() || self.by_class.is_some()
    }

    /// A router commits a packet to a link.
    #[inline(always)]
    pub fn commit<N: PacketInfo>(&mut self, of: &Commit<'_>, links: &Links<'_>, nics: &N) {
        let mut more = self.more;
        if let Some(blame) = &mut self.blame {
            more |= blame.commit(of, nics.message(of.packet));
        }
        if more {
            self.commit_more(of, links, nics);
        }
    }

    /// What most commits do without, even with blame.
    #[inline(never)]
    fn commit_more<N: PacketInfo>(&mut self, of: &Commit<'_>, links: &Links<'_>, nics: &N) {
        if let Some(blame) = &mut self.blame {
            blame.commit_more(of, nics.message(of.packet), links);
        }
        if let Some(series) = &mut self.series {
            let (job, start) = (nics.job(of.packet), of.free.max(of.ready));
            series.count(of.output.slot(), job, of.times.wire, start, start - of.since);
            if of.to_node && nics.carries(of.packet) {
                series.count_route(job, start, !of.packet.diverted());
            }
        }
    }

    /// What is known of a message under way.
    #[must_use]
    pub fn victim(&self, message: u32) -> Victim {
        self.blame.as_ref().map_or(Victim::default(), |blame| blame.victim(message))
    }

    /// A message that another partition has issued is under way.
    pub fn know(&mut self, message: u32, victim: Victim) {
        if let Some(blame) = &mut self.blame {
            blame.know(message, victim);
        }
    }

    /// The first packet that waits for a buffer, of a message, is about to be committed to the link of a slot.
    pub fn unblock(&mut self, buffer: usize, slot: usize, message: u32) {
        if let Some(blame) = &mut self.blame {
            blame.unblock(buffer, slot, message);
        }
    }

    /// Exchanges what another partition must know with something empty.
    pub fn take_sent(&mut self, to: usize, empty: (&mut Vec<RoomRelease>, &mut Vec<MarkName>)) {
        if let Some(blame) = &mut self.blame {
            blame.take_sent(to, empty);
        }
    }

    /// Takes what another partition has sent. All later decisions here are at `horizon` or later.
    pub fn take_post(&mut self, releases: &mut Vec<RoomRelease>, names: &mut Vec<MarkName>, horizon: u64) {
        if let Some(blame) = &mut self.blame {
            blame.take_post(releases, names, horizon);
        }
    }

    /// Takes over what another partition has counted.
    pub fn absorb(&mut self, other: Self) {
        if let (Some(to), Some(of)) = (&mut self.blame, other.blame) {
            to.absorb(of);
        }
        if let (Some(to), Some(of)) = (&mut self.series, other.series) {
            to.absorb(of);
        }
        if let (Some(to), Some(of)) = (&mut self.by_class, &other.by_class) {
            to.absorb(of);
        }
        if let (Some(to), Some(of)) = (&mut self.arrivals, other.arrivals) {
            to.absorb(of);
        }
    }
}
