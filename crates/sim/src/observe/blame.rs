//! Who makes whom wait (docs/model.md, section 9, "Blame").
//!
//! A run with blame must not take much longer than one without. So what happens is noted, one thing after the other, and
//! attributed later, many notes at once: the memory that a note needs is prefetched while others are attributed.

mod buffers;
mod crossings;
mod held;
mod notes;
mod pool;
mod roots;
mod rows;
mod sources;
mod standing;
mod turns;

use std::ops::Range;

use buffers::Buffers;
use crossings::{Before, Crossings};
pub use crossings::{Needs, Sides, Stay};
pub use held::{Held, OWN};
use notes::{Note, Notes, What};
use roots::{BeforeGrant, Roots};
pub use roots::{Room, Root, RootRows};
use rows::Rows;
use sources::Sources;
use standing::Standing;
use turns::Turns;

use super::{Commit, Left};
use crate::fabric::Links;
use odonata_topology::ClassId;

/// Columns of equal length, sorted: one row per victim, cause, kind of wait and link. Rows of zero time are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// Index of the job whose packets waited.
    pub victim: Vec<u16>,
    /// Index of the job that made them wait.
    pub cause: Vec<u16>,
    /// What they waited for.
    pub wait: Vec<Wait>,
    /// The directed link that they were about to cross: a slot, or for an injection link the number of slots plus the
    /// NIC.
    pub link: Vec<u32>,
    /// Total time over all packets.
    pub ps: Vec<u64>,
    /// Not a column: for each job, the time that its packets took without waiting.
    pub service_ps: Vec<u64>,
    /// The same waits for room once more, by where chains of full buffers end; no rows if roots are not measured.
    pub roots: RootRows,
}

/// What a packet waits for (docs/model.md, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Wait {
    /// At a router: for a link that sends other packets.
    Link = 0,
    /// At a router: for room in the buffer at the far end of a link.
    Buffer = 1,
    /// At its NIC: for room in the buffer of the first router.
    SourceBuffer = 2,
    /// At its NIC: for the injection link.
    SourceLink = 3,
    /// At a router with a crossbar: behind the head of its queue.
    Queue = 4,
    /// At a router with a crossbar: for the input side of the crossbar.
    CrossbarInput = 5,
    /// At a router with a crossbar: for the output side of the crossbar.
    CrossbarOutput = 6,
    /// At a router with a crossbar: for room in the output buffer.
    OutputBuffer = 7,
    /// At a NIC that answers packets: for responses, because a window is full, or because a pair pauses.
    Window = 8,
}

impl Wait {
    const ALL: [Self; 9] = [
        Self::Link,
        Self::Buffer,
        Self::SourceBuffer,
        Self::SourceLink,
        Self::Queue,
        Self::CrossbarInput,
        Self::CrossbarOutput,
        Self::OutputBuffer,
        Self::Window,
    ];
}

impl Blame {
    /// Adds a row.
    pub fn push(&mut self, victim: u16, cause: u16, wait: Wait, link: u32, ps: u64) {
        self.victim.push(victim);
        self.cause.push(cause);
        self.wait.push(wait);
        self.link.push(link);
        self.ps.push(ps);
    }
}

/// Room that a packet gives back, as the sender to its buffer must know.
#[derive(Clone, Copy, Debug)]
pub struct RoomRelease {
    /// The buffer that the packet leaves.
    pub buffer: usize,
    /// Class of the link that leads to it.
    pub class: u8,
    /// The job of the packet.
    pub job: u16,
    /// Its bytes; 0 if they are taken back already.
    pub bytes: u32,
    /// When the credit reaches the sender.
    pub stamp: u64,
    /// The slot of the link to which the packet was committed, and the root of its wait; none if roots are not measured.
    pub root: Option<(u32, Root)>,
}

/// The slot of a request that a switch has marked, and the job that the mark names.
pub type MarkName = (u32, u16);

/// The job of a packet, and whether its waits count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Victim {
    /// Its job.
    pub job: u16,
    counts: bool,
}

/// Of a note about no packet.
const NOBODY: Victim = Victim { job: 0, counts: false };

/// The waits of packets by victim, cause, kind and place.
#[derive(Debug)]
pub struct BlameCounts {
    /// What is not yet in `buffers`, in order.
    notes: Notes<Note>,
    rows: Rows,
    slots: usize,
    /// By slot.
    links: Turns,
    buffers: Buffers,
    /// Empty if routers are ideal.
    crossings: Crossings,
    /// If they are measured.
    roots: Option<Roots>,
    /// The victim of each message under way, by its slot. (A table of its own, because it is read at each hop.)
    victims: Vec<Victim>,
    sources: Sources,
    /// The queues between routers that mark packets, if some do.
    standing: Option<Standing>,
    /// Only messages that joined within this range are counted.
    counted: Range<u64>,
    /// By job.
    service: Vec<u64>,
    /// What other partitions must know, by partition.
    outgoing: Vec<Vec<RoomRelease>>,
    /// The jobs that marks of their requests name, likewise.
    outgoing_names: Vec<Vec<MarkName>>,
    /// Number of this partition.
    own: usize,
}

impl BlameCounts {
    /// Empty counts. Only messages that join a NIC within `counted` are counted. `main` is a job; a run is fastest if
    /// most packets are of this job. A message has at most so many `parts`, each at a NIC of its own.
    #[must_use]
    pub fn new(
        [slots, channels, nics, jobs]: [usize; 4],
        behind_crossbar: bool,
        main: u16,
        counted: Range<u64>,
        parts: u32,
    ) -> Self {
        Self {
            notes: Notes::new(Note::new(What::Hold, 0, NOBODY, [0; 3])),
            rows: Rows::new(slots, nics, jobs, behind_crossbar),
            slots,
            links: Turns::new(slots),
            buffers: Buffers::new(channels * slots, main),
            crossings: Crossings::new(if behind_crossbar { slots } else { 0 }, channels),
            roots: None,
            victims: Vec::new(),
            sources: Sources::new(nics, parts as usize),
            standing: None,
            counted,
            service: vec![0; jobs],
            outgoing: Vec::new(),
            outgoing_names: Vec::new(),
            own: 0,
        }
    }

    /// The same counts, in one of so many partitions.
    #[must_use]
    pub fn of_partitions(self, own: usize, partitions: usize) -> Self {
        let (outgoing, outgoing_names) = (vec![Vec::new(); partitions], vec![Vec::new(); partitions]);
        Self { outgoing, outgoing_names, own, ..self }
    }

    /// Names a job with each mark at a link between routers.
    pub fn name_marks(&mut self, seed: u64) {
        self.standing = Some(Standing::new(seed, self.slots));
    }

    /// Whether marks name jobs.
    #[inline]
    #[must_use]
    pub fn names_marks(&self) -> bool {
        self.standing.is_some()
    }

    /// The packet of a request, of a job, gets the output of a slot between routers, which takes `ps` for it; if it is given
    /// its first mark there, in a queue that holds others, the mark names a job.
    pub fn stand(&mut self, slot: usize, job: u16, ps: u64, marked: Option<u32>, now: u64) {
        let Some(standing) = &mut self.standing else { return };
        if let Some(request) = marked {
            let named = standing.name(slot, now);
            self.note_name(request, if named == job { OWN } else { named });
        }
        if let Some(standing) = &mut self.standing {
            standing.join(slot, job, ps);
        }
    }

    /// The mark of a request names a job. The partition whose NIC has sent the request must know.
    pub fn note_name(&mut self, request: u32, named: u16) {
        let partitions = self.outgoing_names.len().max(1);
        let owner = request as usize % partitions; // each partition gives out its own slots
        match &mut self.standing {
            Some(standing) if owner == self.own => standing.note_name(request, named),
            Some(_) => self.outgoing_names[owner].push((request, named)),
            None => {}
        }
    }

    /// The job that the mark of a request names, or [`OWN`].
    #[must_use]
    pub fn named(&self, request: u32) -> u16 {
        self.standing.as_ref().map_or(OWN, |standing| standing.named(request))
    }

    /// Whether waits for room are followed to their roots.
    #[must_use]
    pub fn follows_roots(&self) -> bool {
        self.roots.is_some()
    }

    /// Follows waits for room to their roots as well.
    pub fn follow_roots(&mut self, sizes: [usize; 4], behind_crossbar: bool) {
        self.roots = Some(Roots::new(sizes, behind_crossbar));
    }

    /// A message of a job joins the queue of a NIC; if it is striped, of several.
    pub fn join(&mut self, message: u32, job: u16, now: u64) {
        self.sources.join(message as usize, now);
        self.know(message, Victim { job, counts: self.counted.contains(&now) });
    }

    /// A message joins the queue of a NIC, which has been held back for so long by its window towards the destination.
    pub fn join_nic(&mut self, nic: u32, message: u32, held: Held) {
        self.sources.join_nic(nic as usize, message as usize, held);
    }

    /// A message is under way; another partition may have issued it.
    pub fn know(&mut self, message: u32, victim: Victim) {
        let message = message as usize;
        if message >= self.victims.len() {
            self.victims.resize(message + 1, NOBODY);
        }
        self.victims[message] = victim;
    }

    /// The job of a message under way, and whether its waits count.
    #[inline]
    #[must_use]
    pub fn victim(&self, message: u32) -> Victim {
        self.victims[message as usize]
    }

    #[inline]
    fn note(&mut self, note: Note) {
        self.buffers.prefetch(note.buffer as usize);
        if self.notes.add(note) {
            self.settle_rooms();
        }
    }

    /// Attributes the waits for room that are noted.
    #[inline(never)]
    fn settle_rooms(&mut self) {
        let Self { notes, rows, buffers, .. } = self;
        let notes = notes.all();
        for (position, &Note { what, buffer, victim, values: [x, y, z] }) in notes.iter().enumerate() {
            if let Some(soon) = notes.get(position + notes::AHEAD / 2)
                && soon.what >= What::Block
            {
                buffers.prefetch_waits(soon.buffer as usize);
            }
            if let Some(next) = notes.get(position + notes::AHEAD / 4)
                && next.what == What::Unblock
            {
                buffers.prefetch_first(next.buffer as usize);
            }
            let (buffer, Victim { job, counts }) = (buffer as usize, victim);
            match what {
                What::Hold => buffers.hold(buffer, job, x as u32),
                What::Release => buffers.release(buffer, job, x as u32, y, z),
                What::PassOn => {
                    let bytes = (x >> 32) as u32;
                    buffers.hold(x as u32 as usize, job, bytes);
                    buffers.release(buffer, job, bytes, y, z);
                }
                What::Block => buffers.block(buffer, x as u32, y),
                What::Credit => buffers.advance(buffer, x as u32, y),
                What::Unblock => buffers.unblock(buffer, |cause, ps| {
                    if counts {
                        rows.add(x as usize, (job, cause, Wait::Buffer), ps);
                    }
                }),
            }
        }
        self.notes.clear();
    }

    /// A NIC commits a response to a message at `now`, which has waited for room since it joined its FIFO. The link of
    /// the responses is free at `free`, and the response is decided on `service` after that.
    pub fn respond(&mut self, nic: u32, message: u32, room: Room, now: u64, free: u64, service: u64) {
        self.leave_nic(nic as usize, self.victim(message), 0, room, [now, free, service]);
    }

    /// A NIC commits a packet at `now` to a buffer. By then its window towards the destination has held it back for so long.
    /// Its link is free at `free`, and the packet is decided on `service` after that.
    pub fn inject(&mut self, nic: usize, message: u32, buffer: usize, mut held: Held, [now, free, service]: [u64; 3]) {
        let (victim, [mut window, waited]) =
            (self.victim(message), self.sources.waited(nic, message as usize, &mut held, now));
        if victim.counts {
            for (cause, ps) in held.for_others {
                window -= ps;
                self.rows.add(self.slots + nic, (victim.job, cause, Wait::Window), ps);
            }
        }
        self.leave_nic(nic, victim, window, Room { buffer, waited }, [now, free, service]);
    }

    /// The same for a packet that has waited for the window.
    #[inline(always)]
    fn leave_nic(&mut self, nic: usize, victim: Victim, window: u64, room: Room, [now, free, service]: [u64; 3]) {
        if !victim.counts {
            return;
        }
        if let Some(roots) = &mut self.roots {
            roots.inject(victim, room, now);
        }
        self.sources.add(nic, victim.job, [window, room.waited, free.saturating_sub(now)]);
        self.service[usize::from(victim.job)] += service;
    }

    /// A router commits a packet of a message to a link. If this returns true, the caller must call
    /// [`commit_more`](Self::commit_more). (So nothing is called here.)
    #[inline(always)]
    #[must_use]
    pub fn commit(&mut self, of: &Commit<'_>, message: u32) -> bool {
        let (victim, slot) = (self.victim(message), of.output.slot());
        if victim.counts {
            self.service[usize::from(victim.job)] += (of.ready - of.committed) + of.service;
        }
        let rows = &mut self.rows;
        let full = self.links.take(slot, victim, [of.committed, of.ready, of.free], |ps| {
            rows.note(slot, (victim.job, victim.job, Wait::Link), ps)
        });
        full | self.notes_room_of(victim.job) | matches!(of.left, Left::Output) | self.names_marks()
    }

    /// What a commit means for the room in buffers and for roots.
    pub fn commit_more(&mut self, of: &Commit<'_>, message: u32, links: &Links<'_>) {
        self.settle_if_full();
        let Victim { job, .. } = self.victim(message);
        if let Some(standing) = &mut self.standing
            && !of.to_node
        {
            let ps = of.times.serialisation(of.class);
            standing.commit(of.output.slot(), job, ps, [of.committed, of.end]);
        }
        let far = (!of.to_node).then(|| links.far_buffer(of.output, of.channel));
        match of.left {
            Left::Input { buffer, class } => {
                let stamp = of.end + links.wiring.times(class).to_credit;
                let mut release = RoomRelease { buffer, class, job, bytes: of.times.wire, stamp, root: None };
                match far {
                    Some(far) if class != ClassId::NODE.0 && of.sender.is_none() => {
                        self.pass_on(far, buffer, job, release.bytes, stamp, of.horizon);
                        release.bytes = 0;
                    }
                    Some(far) => self.hold(far, job, release.bytes),
                    None => {}
                }
                let victim = self.victim(message);
                if let Some(roots) = &mut self.roots {
                    let waited = of.committed - of.packet.time;
                    let room = far.map(|buffer| Room { buffer, waited });
                    release.root = Some((of.output.slot() as u32, roots.commit(victim, of, room)));
                }
                self.give_back(release, of.horizon, of.sender);
            }
            Left::Output => {
                let victim = self.victim(message);
                if let Some(roots) = &mut self.roots {
                    let far = far.filter(|_| links.vcs[of.output.vc()].waits());
                    roots.leave_output(victim, of, far);
                }
                self.crossings.leave(of.output.vc(), of.end);
                if let Some(far) = far {
                    self.hold(far, job, of.times.wire);
                }
            }
        }
    }

    /// A packet gives back room. All later decisions of the sender to its buffer, which may be in another partition, are at
    /// `horizon` or later.
    #[inline]
    pub fn give_back(&mut self, release: RoomRelease, horizon: u64, sender: Option<usize>) {
        let Some(partition) = sender else {
            self.take_back(release, horizon);
            return;
        };
        if release.root.is_some() || release.class != ClassId::NODE.0 && self.notes_room_of(release.job) {
            self.outgoing[partition].push(release);
        }
    }

    /// The sender to a buffer learns of room that a packet gives back.
    #[inline]
    fn take_back(&mut self, of: RoomRelease, horizon: u64) {
        if of.bytes > 0 && of.class != ClassId::NODE.0 {
            self.release(of.buffer, of.job, of.bytes, of.stamp, horizon);
        }
        if let (Some(roots), Some((slot, root))) = (&mut self.roots, of.root) {
            roots.send(of.buffer, of.stamp, slot, root, horizon);
        }
    }

    /// The root of the packet that has just been granted its output, which has the link of a slot; none if roots are not
    /// measured.
    pub fn root_of_grant(&mut self, slot: u32, job: u16) -> Option<(u32, Root)> {
        self.roots.as_mut().map(|roots| (slot, roots.of_grant(slot, job)))
    }

    /// Exchanges what another partition must know with something empty.
    pub fn take_sent(&mut self, to: usize, (releases, names): (&mut Vec<RoomRelease>, &mut Vec<MarkName>)) {
        std::mem::swap(&mut self.outgoing[to], releases);
        std::mem::swap(&mut self.outgoing_names[to], names);
    }

    /// Takes what another partition has sent. All later decisions here are at `horizon` or later.
    pub fn take_post(&mut self, releases: &mut Vec<RoomRelease>, names: &mut Vec<MarkName>, horizon: u64) {
        for release in releases.drain(..) {
            self.take_back(release, horizon);
        }
        for (request, named) in names.drain(..) {
            self.note_name(request, named);
        }
    }

    /// Takes over what another partition has counted.
    pub fn absorb(&mut self, mut other: Self) {
        for of in [&mut *self, &mut other] {
            of.settle_rooms();
            of.settle_links();
        }
        self.rows.absorb(other.rows);
        self.sources.absorb(other.sources);
        self.service.iter_mut().zip(other.service).for_each(|(to, of)| *to += of);
        if let (Some(roots), Some(other)) = (&mut self.roots, other.roots) {
            roots.absorb(other);
        }
    }

    /// Attributes what is noted of waits for links, if as much is noted as fits.
    fn settle_if_full(&mut self) {
        if self.rows.is_full() {
            self.rows.settle();
        }
        if self.links.is_full() {
            self.settle_links();
        }
    }

    fn settle_links(&mut self) {
        let Self { rows, links, .. } = self;
        links.settle(|slot, victim, cause, ps| rows.add(slot, (victim, cause, Wait::Link), ps));
    }

    /// Whether the room that packets of a job take is noted.
    #[inline]
    #[must_use]
    fn notes_room_of(&self, job: u16) -> bool {
        self.buffers.notes(job)
    }

    /// A packet of a job takes room in a buffer.
    #[inline]
    fn hold(&mut self, buffer: usize, job: u16, bytes: u32) {
        if self.notes_room_of(job) {
            self.note(Note::new(What::Hold, buffer, Victim { job, counts: false }, [bytes.into(), 0, 0]));
        }
    }

    /// The credit of a packet of a job reaches the sender of a buffer at `stamp`. All later decisions of the sender are
    /// at `horizon` or later.
    #[inline]
    fn release(&mut self, buffer: usize, job: u16, bytes: u32, stamp: u64, horizon: u64) {
        if self.notes_room_of(job) {
            self.note(Note::new(What::Release, buffer, Victim { job, counts: false }, [bytes.into(), stamp, horizon]));
        }
    }

    /// A packet of a job takes room in a buffer, and its credit for another one reaches the sender of that at `stamp`. All
    /// later decisions of that sender are at `horizon` or later.
    #[inline]
    fn pass_on(&mut self, far: usize, from: usize, job: u16, bytes: u32, stamp: u64, horizon: u64) {
        if self.notes_room_of(job) {
            self.buffers.prefetch(far);
            let both = u64::from(bytes) << 32 | far as u64;
            self.note(Note::new(What::PassOn, from, Victim { job, counts: false }, [both, stamp, horizon]));
        }
    }

    /// A packet is blocked at an output VC, behind those that are already blocked. Packets have held `held` bytes of the
    /// buffer behind its link since its last change.
    pub fn block(&mut self, buffer: usize, vc: usize, held: u32, now: u64) {
        self.note(Note::new(What::Block, buffer, NOBODY, [held.into(), now, 0]));
        if let Some(roots) = &mut self.roots {
            roots.block(vc, now);
        }
    }

    /// A credit arrives for a buffer for which packets wait. Packets have held `held` bytes of it since its last change.
    pub fn credit(&mut self, buffer: usize, held: u32, now: u64) {
        self.note(Note::new(What::Credit, buffer, NOBODY, [held.into(), now, 0]));
    }

    /// The first packet that waits for a buffer, of a message, is about to be committed to the link of a slot.
    pub fn unblock(&mut self, buffer: usize, slot: usize, message: u32) {
        let victim = self.victim(message);
        self.note(Note::new(What::Unblock, buffer, victim, [slot as u64, 0, 0]));
    }

    /// A packet becomes the head of a queue at a crossbar, and waits.
    pub fn lead(&mut self, needs: Needs, now: u64) {
        self.crossings.lead(needs, now);
    }

    /// Whether the head of a queue follows the packets in its output buffer.
    #[must_use]
    pub fn follows(&self, queue: u32) -> bool {
        self.crossings.follows(queue)
    }

    /// The head of a queue, which is up to date, may lack room in its output buffer: it follows the packets in it from now
    /// on, which are these.
    pub fn follow_buffer(&mut self, needs: Needs, stays: impl IntoIterator<Item = Stay>) {
        self.crossings.follow(needs, stays);
    }

    /// Number of heads that need the same input side of a crossbar, and of those that need the same output side. They must
    /// be brought up to date before the side is given to another packet.
    #[inline]
    #[must_use]
    pub fn competitors(&self, needs: Needs) -> u32 {
        self.crossings.competitors(needs)
    }

    /// Brings a head up to date.
    pub fn wait(&mut self, needs: Needs, sides: Sides, now: u64) {
        self.crossings.advance(needs, sides, now);
    }

    /// The head of a queue is granted its output: when it joined the queue, and now. `others` says whether packets have
    /// waited behind it.
    pub fn grant(&mut self, needs: Needs, victim: Victim, times: [u64; 2], others: bool, sides: Sides) {
        let Self { rows, crossings, roots, .. } = self;
        let [last_input, last_output] = crossings.last(needs);
        let (mut waited, mut input) = (BeforeGrant::default(), 0);
        crossings.grant(needs, victim.job, (times, others), sides, |before, cause, ps| {
            let (wait, of) = match before {
                Before::Head => (Wait::Queue, &mut waited.queue),
                Before::Input => (Wait::CrossbarInput, &mut input),
                Before::Output => (Wait::CrossbarOutput, &mut waited.sides),
                Before::Room => (Wait::OutputBuffer, &mut waited.room),
            };
            *of += ps;
            if victim.counts {
                rows.add(needs.output as usize, (victim.job, cause, wait), ps);
            }
        });
        if let Some(roots) = roots {
            waited.last = if input > waited.sides { last_input } else { last_output };
            waited.sides += input;
            roots.grant(needs, victim, waited, times[1]);
        }
    }

    /// A packet of a job crosses to an output buffer.
    #[inline]
    pub fn pass(&mut self, needs: Needs, job: u16, bytes: u32, now: u64) {
        self.crossings.pass(needs, job, bytes, now);
    }

    /// The rows, sorted.
    #[must_use]
    pub fn into_output(mut self) -> Blame {
        self.settle_rooms();
        self.settle_links();
        self.sources.finish(|nic, key, ps| self.rows.add(self.slots + nic, key, ps));
        let roots = self.roots.map_or_else(RootRows::default, Roots::into_output);
        let mut blame = Blame { service_ps: self.service, roots, ..Blame::default() };
        for ((victim, cause, wait), link, ps) in self.rows.into_rows() {
            blame.push(victim, cause, wait, link, ps);
        }
        blame
    }
}
