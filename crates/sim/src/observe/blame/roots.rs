//! Where chains of full buffers end (docs/model.md, section 9, "Roots").

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::rows::Rows;
use super::{Needs, Victim, Wait};
use crate::observe::Commit;

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
pub struct Root {
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

/// How long a packet has waited before its grant by a crossbar.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BeforeGrant {
    /// Behind the heads of its queue.
    pub(super) queue: u64,
    /// For both sides of the crossbar.
    pub(super) sides: u64,
    /// For room in the output buffer.
    pub(super) room: u64,
    /// The job of the last packet that was given the side for which it has waited longer.
    pub(super) last: u16,
}

/// Credits for a buffer: all that its sender may still ask for, and the last one before them.
type Credits = SmallVec<[Credit; 3]>;

/// The roots of all waits for room.
#[derive(Debug)]
pub(super) struct Roots {
    /// By slot: the job of the last packet.
    last: Vec<u16>,
    /// By buffer.
    credits: Vec<Credits>,
    /// By output VC, behind crossbars: the packets that leave its output buffer, as if they sent credits.
    departures: Vec<Credits>,
    /// By output VC, behind crossbars: since when packets in its output buffer wait for room. (At ideal routers packets say
    /// so themselves.)
    blocked: Vec<VecDeque<u64>>,
    /// By queue at a crossbar: the root of the last head at its grant.
    heads: Vec<Root>,
    /// The root of the head that is being granted its output.
    granted: Option<Root>,
    rows: Rows,
}

impl Roots {
    pub(super) fn new([slots, channels, nics, jobs]: [usize; 4], behind_crossbar: bool) -> Self {
        let outputs = if behind_crossbar { channels * slots } else { 0 };
        Self {
            last: vec![0; slots],
            credits: vec![Credits::new(); channels * slots],
            departures: vec![Credits::new(); outputs],
            blocked: vec![VecDeque::new(); outputs],
            heads: Vec::new(),
            granted: None,
            rows: Rows::new(slots, nics, jobs, false),
        }
    }

    /// A NIC commits a packet at `now`, which has waited for room.
    ///
    /// # Panics
    /// If no credit has ended the wait.
    pub(super) fn inject(&mut self, victim: Victim, room: Room, now: u64) {
        if room.waited > 0 {
            let root = arrived(&self.credits[room.buffer], now).expect("a credit has ended the wait");
            self.add(victim, root, room.waited);
        }
    }

    /// A packet gives back room in a buffer: the credit reaches its sender at `stamp`. The packet was committed to the
    /// link of a slot, with this root. Nobody asks later for an instant before `horizon`.
    pub(super) fn send(&mut self, buffer: usize, stamp: u64, slot: u32, root: Root, horizon: u64) {
        send(&mut self.credits[buffer], Credit { stamp, slot, root }, horizon);
    }

    /// A router commits a packet to a link. It may have waited for room. Returns the root of the credit that it sends.
    pub(super) fn commit(&mut self, victim: Victim, of: &Commit<'_>, room: Option<Room>) -> Root {
        let slot = of.output.slot();
        let waited = of.free.saturating_sub(of.ready);
        let root = Root { link: slot as u32, job: if waited > 0 { self.last[slot] } else { victim.job } };
        self.last[slot] = victim.job;
        let Some(room) = room.filter(|room| room.waited > 0) else { return root };
        let of_room = arrived(&self.credits[room.buffer], of.committed).unwrap_or(root);
        self.add(victim, of_room, room.waited);
        if room.waited > waited { of_room } else { root }
    }

    /// A wait for room ends.
    fn add(&mut self, victim: Victim, root: Root, ps: u64) {
        if victim.counts {
            self.rows.add(root.link as usize, (victim.job, root.job, Wait::Buffer), ps);
        }
    }

    /// The head of a queue is granted its output at `now`.
    pub(super) fn grant(&mut self, needs: Needs, victim: Victim, waited: BeforeGrant, now: u64) {
        let BeforeGrant { queue, sides, room, last } = waited;
        let number = needs.queue as usize;
        let crossbar = Root { link: needs.output, job: if sides > 0 { last } else { victim.job } };
        if number >= self.heads.len() {
            self.heads.resize(number + 1, crossbar);
        }
        let mut root = if queue > sides { self.heads[number] } else { crossbar };
        if room > 0 {
            let left = &self.departures[needs.vc as usize];
            let of_room = arrived(left, now).expect("a packet that has left has made room");
            self.add(victim, of_room, room);
            if room > sides.max(queue) {
                root = of_room;
            }
        }
        self.heads[number] = root;
        self.granted = Some(root);
    }

    /// The root of the packet that is granted its output, which has the link of a slot.
    pub(super) fn of_grant(&mut self, slot: u32, job: u16) -> Root {
        self.granted.take().unwrap_or(Root { link: slot, job })
    }

    /// A packet at an output VC begins to wait for room.
    pub(super) fn block(&mut self, vc: usize, now: u64) {
        if let Some(blocked) = self.blocked.get_mut(vc) {
            blocked.push_back(now);
        }
    }

    /// A packet in an output buffer is committed to its link. The buffer behind the link is given if the packet has waited
    /// for room in it.
    pub(super) fn leave_output(&mut self, victim: Victim, of: &Commit<'_>, far: Option<usize>) {
        let vc = of.output.vc();
        let room = far.map(|buffer| {
            let since = self.blocked[vc].pop_front().expect("it has waited");
            Room { buffer, waited: of.committed - since }
        });
        let root = self.commit(victim, of, room);
        let slot = of.output.slot() as u32;
        send(&mut self.departures[vc], Credit { stamp: of.end, slot, root }, of.committed);
    }

    /// Takes over what another partition has counted.
    pub(super) fn absorb(&mut self, other: Self) {
        self.rows.absorb(other.rows);
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

/// The root of the last credit that has arrived by an instant.
fn arrived(credits: &Credits, now: u64) -> Option<Root> {
    let arrived = credits.iter().filter(|credit| credit.stamp <= now);
    arrived.max_by_key(|credit| credit.order()).map(|credit| credit.root)
}

/// A credit is sent. Nobody asks later for an instant before `horizon`.
fn send(of: &mut Credits, credit: Credit, horizon: u64) {
    if of.len() >= of.inline_size() {
        let passed = of.iter().filter(|credit| credit.stamp <= horizon);
        let last = passed.map(Credit::order).max();
        of.retain(|credit| credit.stamp > horizon || Some(credit.order()) == last);
    }
    of.push(credit);
}
