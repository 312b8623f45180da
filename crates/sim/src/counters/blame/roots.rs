//! Where chains of full buffers end (docs/model.md, section 9, "Roots").

use smallvec::SmallVec;

use super::rows::Rows;
use super::{Crossing, Victim, Wait};

/// Columns of equal length, sorted: one row per victim, cause and link. Rows of zero time are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootRows {
    /// Index of the job whose packets waited for room.
    pub victim: Vec<u16>,
    /// Index of the job that occupied the link at which the chain of full buffers ends.
    pub cause: Vec<u16>,
    /// That link: numbered as those of [`Blame`](super::Blame).
    pub link: Vec<u32>,
    /// Total time over all packets.
    pub ps: Vec<u64>,
}

impl RootRows {
    /// Adds a row.
    pub fn push(&mut self, victim: u16, cause: u16, link: u32, ps: u64) {
        self.victim.push(victim);
        self.cause.push(cause);
        self.link.push(link);
        self.ps.push(ps);
    }
}

/// The link at which a chain of full buffers ends, and the job that occupied it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Root {
    link: u32,
    job: u16,
}

/// A credit on its way to the sender of a buffer, or one that has arrived.
#[derive(Clone, Copy, Debug)]
struct Credit {
    stamp: u64,
    /// The slot to whose link the packet was committed that sent it.
    slot: u32,
    root: Root,
}

impl Credit {
    /// Its place among all credits for a buffer. No two are alike, because a link sends one packet at a time.
    fn order(&self) -> (u64, u32) {
        (self.stamp, self.slot)
    }
}

/// The room that a packet has waited for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The buffer at the far end of its link.
    pub buffer: usize,
    /// How long it has waited.
    pub waited: u64,
}

/// The credit that a packet sends.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The buffer that it leaves.
    pub buffer: usize,
    /// When the credit reaches the sender of that buffer.
    pub stamp: u64,
    /// All later decisions of the sender are at this time or later.
    pub horizon: u64,
}

/// The roots of all waits for room.
#[derive(Debug)]
pub(super) struct Roots {
    /// By slot: the job of the last packet.
    last: Vec<u16>,
    /// By buffer: all credits that its sender may still ask for, and the last one before them.
    credits: Vec<SmallVec<[Credit; 3]>>,
    rows: Rows,
}

impl Roots {
    pub(super) fn new([slots, channels, nics, jobs]: [usize; 4]) -> Self {
        let credits = vec![SmallVec::new(); channels * slots];
        Self { last: vec![0; slots], credits, rows: Rows::new(slots, nics, jobs, false) }
    }

    /// The root of the last credit that has reached the sender of a buffer.
    fn arrived(&self, buffer: usize, now: u64) -> Option<Root> {
        let arrived = self.credits[buffer].iter().filter(|credit| credit.stamp <= now);
        arrived.max_by_key(|credit| credit.order()).map(|credit| credit.root)
    }

    /// A NIC commits a packet at `now`, which has waited for room.
    ///
    /// # Panics
    /// If no credit has ended the wait.
    pub(super) fn inject(&mut self, victim: Victim, room: Room, now: u64) {
        if room.waited > 0 && victim.counts {
            let root = self.arrived(room.buffer, now).expect("a credit has ended the wait");
            self.rows.add(root.link as usize, (victim.job, root.job, Wait::Buffer), room.waited);
        }
    }

    /// A router commits a packet to the link of a slot. It may have waited for room, and it sends a credit.
    pub(super) fn cross(
        &mut self,
        slot: usize,
        victim: Victim,
        crossing: &Crossing,
        room: Option<Room>,
        Release { buffer, stamp, horizon }: Release,
    ) {
        let waited = crossing.free.saturating_sub(crossing.ready);
        let mut root = Root { link: slot as u32, job: if waited > 0 { self.last[slot] } else { victim.job } };
        self.last[slot] = victim.job;
        if let Some(room) = room.filter(|room| room.waited > 0) {
            let of_room = self.arrived(room.buffer, crossing.committed).unwrap_or(root);
            if victim.counts {
                self.rows.add(of_room.link as usize, (victim.job, of_room.job, Wait::Buffer), room.waited);
            }
            if room.waited > waited {
                root = of_room;
            }
        }
        self.send(buffer, Credit { stamp, slot: slot as u32, root }, horizon);
    }

    /// A credit is sent to the sender of a buffer, all of whose later decisions are at `horizon` or later.
    fn send(&mut self, buffer: usize, credit: Credit, horizon: u64) {
        let of = &mut self.credits[buffer];
        if of.len() >= of.inline_size() {
            let passed = of.iter().filter(|credit| credit.stamp <= horizon);
            let last = passed.map(Credit::order).max();
            of.retain(|credit| credit.stamp > horizon || Some(credit.order()) == last);
        }
        of.push(credit);
    }

    /// The rows, sorted.
    pub(super) fn into_output(self) -> RootRows {
        let mut rows = RootRows::default();
        for ((victim, cause, _), link, ps) in self.rows.into_rows() {
            rows.push(victim, cause, link, ps);
        }
        rows
    }
}
