//! Where chains of full buffers end (docs/model.md, section 9, "Roots").

use std::collections::VecDeque;

use super::notes::{AHEAD, Notes};
use super::pool::Pool;
use super::rows::Rows;
use super::{NOBODY, Needs, Victim, Wait};
use crate::engine::prefetch;
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

/// Number of credits kept in place.
const CREDITS: usize = 3;

/// Credits for a buffer: all that its sender may still ask for, and the last one before them. Most buffers have few, which
/// are in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
struct Credits {
    stamps: [u64; CREDITS],
    slots: [u32; CREDITS],
    links: [u32; CREDITS],
    /// The number of those that are not in place, plus one; 0 if there are none.
    more: u32,
    jobs: [u16; CREDITS],
    /// Number of credits in place.
    count: u16,
}

const _: () = assert!(size_of::<Credits>() == 64);

impl Credits {
    const NONE: Self = Self { stamps: [0; 3], slots: [0; 3], links: [0; 3], more: 0, jobs: [0; 3], count: 0 };

    #[inline]
    fn in_place(&self) -> impl Iterator<Item = Credit> + '_ {
        (0..usize::from(self.count).min(CREDITS)).map(|place| {
            let root = Root { link: self.links[place], job: self.jobs[place] };
            Credit { stamp: self.stamps[place], slot: self.slots[place], root }
        })
    }

    /// Adds a credit, if there is a place.
    #[inline]
    fn put(&mut self, Credit { stamp, slot, root: Root { link, job } }: Credit) -> bool {
        let place = usize::from(self.count);
        if place >= CREDITS {
            return false;
        }
        (self.stamps[place], self.slots[place], self.links[place], self.jobs[place]) = (stamp, slot, link, job);
        self.count += 1;
        true
    }
}

/// The credits for many buffers.
#[derive(Debug)]
struct AllCredits {
    of: Vec<Credits>,
    more: Pool<Vec<Credit>>,
}

impl AllCredits {
    fn new(buffers: usize) -> Self {
        Self { of: vec![Credits::NONE; buffers], more: Pool::default() }
    }

    /// The root of the last credit for a buffer that has arrived by an instant.
    #[inline]
    fn arrived(&self, buffer: usize, now: u64) -> Option<Root> {
        let credits = &self.of[buffer];
        let more: &[Credit] = if credits.more == 0 { &[] } else { self.more.get(credits.more) };
        let arrived = credits.in_place().chain(more.iter().copied()).filter(|credit| credit.stamp <= now);
        arrived.max_by_key(Credit::order).map(|credit| credit.root)
    }

    /// A credit is sent. Nobody asks later for an instant before `horizon`.
    #[inline]
    fn send(&mut self, buffer: usize, credit: Credit, horizon: u64) {
        if !self.of[buffer].put(credit) {
            self.send_more(buffer, credit, horizon);
        }
    }

    /// The same if there is no place: those that nobody asks for are forgotten.
    fn send_more(&mut self, buffer: usize, credit: Credit, horizon: u64) {
        let Self { of, more } = self;
        let credits = &mut of[buffer];
        let others: &[Credit] = if credits.more == 0 { &[] } else { more.get(credits.more) };
        let all = credits.in_place().chain(others.iter().copied());
        let last = all.filter(|credit| credit.stamp <= horizon).map(|credit| credit.order()).max();
        let kept = |credit: &Credit| credit.stamp > horizon || Some(credit.order()) == last;
        let before = *credits;
        credits.count = 0;
        for credit in before.in_place().filter(kept) {
            credits.put(credit);
        }
        if before.more != 0 {
            let others = more.get_mut(before.more);
            others.retain(|credit| kept(credit) && !credits.put(*credit));
            if others.is_empty() {
                more.give_back(std::mem::take(&mut credits.more));
            }
        }
        if !credits.put(credit) {
            if credits.more == 0 {
                credits.more = more.take();
            }
            more.get_mut(credits.more).push(credit);
        }
    }
}

/// What happened to a buffer, before it is known to its credits.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// When a credit reaches the sender; or, if `slot` is [`ASKED`], when a packet asks that has waited for room.
    stamp: u64,
    /// Nobody asks later for an instant before this one; or for how long the packet has waited.
    horizon: u64,
    buffer: u32,
    slot: u32,
    root: Root,
    /// The packet that has waited.
    victim: Victim,
}

/// In place of a slot: a packet asks for the root of its wait.
const ASKED: u32 = u32::MAX;

/// The roots of all waits for room.
#[derive(Debug)]
pub(super) struct Roots {
    /// By slot: the job of the last packet.
    last: Vec<u16>,
    /// By buffer.
    credits: AllCredits,
    /// What is not yet in `credits`, in order.
    notes: Notes<Note>,
    /// When the first credit in `notes` arrives.
    earliest: u64,
    /// By output VC, behind crossbars: the packets that leave its output buffer, as if they sent credits.
    departures: AllCredits,
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
            credits: AllCredits::new(channels * slots),
            notes: Notes::new(Note {
                stamp: 0,
                horizon: 0,
                buffer: 0,
                slot: ASKED,
                root: Root { link: 0, job: 0 },
                victim: NOBODY,
            }),
            earliest: u64::MAX,
            departures: AllCredits::new(outputs),
            blocked: vec![VecDeque::new(); outputs],
            heads: Vec::new(),
            granted: None,
            rows: Rows::new(slots, nics, jobs, false),
        }
    }

    /// A NIC commits a packet at `now`, which has waited for room.
    pub(super) fn inject(&mut self, victim: Victim, room: Room, now: u64) {
        if room.waited > 0 {
            let root = Root { link: 0, job: 0 };
            let buffer = room.buffer as u32;
            self.note(Note { stamp: now, horizon: room.waited, buffer, slot: ASKED, root, victim });
        }
    }

    /// A packet gives back room in a buffer: the credit reaches its sender at `stamp`. The packet was committed to the
    /// link of a slot, with this root. Nobody asks later for an instant before `horizon`.
    #[inline]
    pub(super) fn send(&mut self, buffer: usize, stamp: u64, slot: u32, root: Root, horizon: u64) {
        self.earliest = self.earliest.min(stamp);
        self.note(Note { stamp, horizon, buffer: buffer as u32, slot, root, victim: NOBODY });
    }

    #[inline]
    fn note(&mut self, note: Note) {
        if self.notes.add(note) {
            self.settle();
        }
    }

    /// Adds the credits that are noted, and attributes the waits that are noted.
    ///
    /// # Panics
    /// If no credit has ended the wait of a packet at a NIC.
    #[inline(never)]
    fn settle(&mut self) {
        let Self { notes, credits, rows, .. } = self;
        let notes = notes.all();
        for first in notes.iter().take(AHEAD) {
            prefetch(&credits.of, first.buffer as usize);
        }
        for (position, note) in notes.iter().enumerate() {
            if let Some(later) = notes.get(position + AHEAD) {
                prefetch(&credits.of, later.buffer as usize);
            }
            let &Note { stamp, horizon, buffer, slot, root, victim } = note;
            let buffer = buffer as usize;
            if slot == ASKED {
                let root = credits.arrived(buffer, stamp).expect("a credit has ended the wait");
                add(rows, victim, root, horizon);
            } else {
                credits.send(buffer, Credit { stamp, slot, root }, horizon);
            }
        }
        self.notes.clear();
        self.earliest = u64::MAX;
    }

    /// The root of the last credit for a buffer that has arrived by an instant.
    fn arrived(&mut self, buffer: usize, now: u64) -> Option<Root> {
        if self.earliest <= now {
            self.settle();
        }
        self.credits.arrived(buffer, now)
    }

    /// A router commits a packet to a link. It may have waited for room. Returns the root of the credit that it sends.
    pub(super) fn commit(&mut self, victim: Victim, of: &Commit<'_>, room: Option<Room>) -> Root {
        let slot = of.output.slot();
        let waited = of.free.saturating_sub(of.ready);
        let root = Root { link: slot as u32, job: if waited > 0 { self.last[slot] } else { victim.job } };
        self.last[slot] = victim.job;
        let Some(room) = room.filter(|room| room.waited > 0) else { return root };
        let of_room = self.arrived(room.buffer, of.committed).unwrap_or(root);
        add(&mut self.rows, victim, of_room, room.waited);
        if room.waited > waited { of_room } else { root }
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
            let left = self.departures.arrived(needs.vc as usize, now);
            let of_room = left.expect("a packet that has left has made room");
            add(&mut self.rows, victim, of_room, room);
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
        self.departures.send(vc, Credit { stamp: of.end, slot, root }, of.committed);
    }

    /// Takes over what another partition has counted.
    pub(super) fn absorb(&mut self, mut other: Self) {
        self.settle();
        other.settle();
        self.rows.absorb(other.rows);
    }

    /// The rows, sorted.
    pub(super) fn into_output(mut self) -> RootRows {
        self.settle();
        let mut rows = RootRows::default();
        for ((victim, cause, _), link, ps) in self.rows.into_rows() {
            rows.push(victim, cause, link, ps);
        }
        rows
    }
}

/// A wait for room ends.
fn add(rows: &mut Rows, victim: Victim, root: Root, ps: u64) {
    if victim.counts {
        rows.add(root.link as usize, (victim.job, root.job, Wait::Buffer), ps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::mix64;

    /// The last credit that has arrived is found, however many are kept, and whether they are noted or not.
    #[test]
    fn the_last_credit_is_that_of_a_plain_list() {
        let (buffers, mut most) = (3, 0);
        let mut roots = Roots::new([buffers, 1, 1, 1], false);
        let mut plain: Vec<Vec<Credit>> = vec![Vec::new(); buffers];
        for case in 0..20_000_u64 {
            let random = |k: u64, below: u64| mix64(case << 3 | k) % below;
            let (now, buffer) = (case * 10, random(0, 3) as usize);
            // Up to 40 credits of a buffer are under way at some times, and hardly any at others.
            let stamp = now + 1 + random(1, if case % 1_000 < 500 { 1_200 } else { 20 });
            let root = Root { link: random(2, 100) as u32, job: random(3, 9) as u16 };
            let credit = Credit { stamp, slot: case as u32, root };
            roots.send(buffer, stamp, credit.slot, root, now);
            plain[buffer].push(credit);
            let asked = random(4, 3) as usize;
            let expected = plain[asked].iter().filter(|credit| credit.stamp <= now).max_by_key(|credit| credit.order());
            assert_eq!(roots.arrived(asked, now), expected.map(|credit| credit.root), "{case}");
            let of = &roots.credits.of[asked];
            most = most.max(if of.more == 0 { 0 } else { roots.credits.more.get(of.more).len() });
        }
        assert!(most > 10, "credits have been kept in other places: {most}");
    }
}
