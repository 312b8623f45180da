//! Waits at routers with a crossbar, from the route decision to the grant (docs/model.md, section 9, "Blame").
//!
//! Most heads are granted their output before any other packet gets what they need. Then the sides of the crossbar have
//! had one occupant each since the head became the head. Before another packet gets one of them, such a head is brought
//! up to date. The packets in an output buffer are followed only while a head waits that may lack room there.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::buffers::divide;
use super::pool::Pool;
use super::turns::{Turn, forget};

/// What the head of a queue needs.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Number of the queue.
    pub queue: u32,
    /// Slot of its input port.
    pub input: u32,
    /// Slot of the output port.
    pub output: u32,
    /// The output VC.
    pub vc: u32,
}

/// A packet in an output buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// When it has left; [`OPEN`](Self::OPEN) if it is not committed to its link.
    pub end: u64,
    /// Wire bytes.
    pub bytes: u32,
    /// Its job.
    pub job: u16,
}

impl Stay {
    /// The end of a stay that is not known yet.
    pub const OPEN: u64 = u64::MAX;
}

/// The sides of a crossbar that a head needs, and when.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// When the input side has become free, or will.
    pub input_free: u64,
    /// The same of the output side.
    pub output_free: u64,
}

impl Sides {
    /// Up to when a head waits for the input side and, from then on, for the output side, between two times.
    fn until(self, from: u64, now: u64) -> (u64, u64) {
        let input = from.max(self.input_free.min(now));
        (input, input.max(self.output_free.min(now)))
    }
}

/// What a packet waits for before its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Behind the head of its queue.
    Head,
    /// For the input side of the crossbar.
    Input,
    /// For its output side.
    Output,
    /// For room in the output buffer.
    Room,
}

/// One side of the crossbar at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The job of the last packet that it was given to.
    job: u16,
    /// The number of heads that wait and need it.
    heads: u16,
}

/// A queue at an input.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Up to when the waits of the head are in `waits`; at first, since when it is the head.
    last: u64,
    /// The number of its waits before that; 0 if there are none.
    waits: u32,
    /// The number of the heads before it, for as long as a packet of the queue has waited behind them; 0 if there are
    /// none.
    heads: u32,
    /// Whether it follows the packets in its output buffer.
    follows: bool,
}

/// Time by job.
type ByJob<T> = SmallVec<[(u16, T); 2]>;

/// The waits of a head so far.
#[derive(Debug, Default)]
struct Waits {
    input: ByJob<u64>,
    output: ByJob<u64>,
    /// How long it has waited for room in the output buffer, and what each job held of it during that time, in bytes
    /// times picoseconds.
    room: u64,
    held: ByJob<u128>,
}

/// The packets in an output buffer, in order of their grants, in which they also leave.
#[derive(Debug, Default)]
struct Followed {
    /// The number of heads that follow them.
    heads: u32,
    stays: VecDeque<Stay>,
}

/// All routers with a crossbar.
#[derive(Debug)]
pub(super) struct Crossings {
    /// By slot.
    inputs: Vec<Side>,
    outputs: Vec<Side>,
    queues: Vec<Queue>,
    waits: Pool<Waits>,
    heads: Pool<VecDeque<Turn>>,
    /// By output VC: a number in `followed`, or 0.
    followed_of: Vec<u32>,
    followed: Pool<Followed>,
}

fn add<T: std::ops::AddAssign + Default>(to: &mut ByJob<T>, job: u16, value: T) {
    let position = to.iter().position(|entry| entry.0 == job).unwrap_or_else(|| {
        to.push((job, T::default()));
        to.len() - 1
    });
    to[position].1 += value;
}

impl Waits {
    /// Adds those for room during an interval.
    fn add_room(&mut self, followed: &Followed, from: u64, now: u64) {
        self.room += now - from;
        for stay in followed.stays.iter().filter(|stay| stay.end > from) {
            add(&mut self.held, stay.job, u128::from(stay.bytes) * u128::from(stay.end.min(now) - from));
        }
    }

    /// Calls `attribute` with all, and forgets them.
    fn attribute(&mut self, mut attribute: impl FnMut(Before, u16, u64)) {
        for (job, ps) in self.input.drain(..) {
            attribute(Before::Input, job, ps);
        }
        for (job, ps) in self.output.drain(..) {
            attribute(Before::Output, job, ps);
        }
        if self.room > 0 {
            self.held.sort_unstable_by_key(|entry| entry.0);
            divide(self.room, &self.held, |job, ps| attribute(Before::Room, job, ps));
            self.room = 0;
            self.held.clear();
        }
    }
}

impl Crossings {
    /// No router has a crossbar if there are no slots.
    pub(super) fn new(slots: usize, channels: usize) -> Self {
        Self {
            inputs: vec![Side::default(); slots],
            outputs: vec![Side::default(); slots],
            queues: Vec::new(),
            waits: Pool::default(),
            heads: Pool::default(),
            followed_of: vec![0; slots * channels],
            followed: Pool::default(),
        }
    }

    /// A packet becomes the head of a queue, and waits.
    #[inline]
    pub(super) fn lead(&mut self, needs: Needs, now: u64) {
        let queue = needs.queue as usize;
        if queue >= self.queues.len() {
            self.queues.resize(queue + 1, Queue::default());
        }
        self.queues[queue].last = now;
        self.inputs[needs.input as usize].heads += 1;
        self.outputs[needs.output as usize].heads += 1;
    }

    /// Whether the head of a queue follows the packets in its output buffer.
    pub(super) fn follows(&self, queue: u32) -> bool {
        self.queues[queue as usize].follows
    }

    /// The head of a queue, which is up to date, follows the packets in its output buffer from now on. They are these.
    pub(super) fn follow(&mut self, needs: Needs, stays: impl IntoIterator<Item = Stay>) {
        self.queues[needs.queue as usize].follows = true;
        let number = &mut self.followed_of[needs.vc as usize];
        if *number == 0 {
            *number = self.followed.take();
            self.followed.get_mut(*number).stays.extend(stays);
        }
        self.followed.get_mut(*number).heads += 1;
    }

    /// Number of heads that need the same input side, and of those that need the same output side.
    #[inline]
    pub(super) fn competitors(&self, needs: Needs) -> u32 {
        u32::from(self.inputs[needs.input as usize].heads) + u32::from(self.outputs[needs.output as usize].heads)
    }

    /// The jobs of the last packets that were given the input side and the output side.
    pub(super) fn last(&self, needs: Needs) -> [u16; 2] {
        [self.inputs[needs.input as usize].job, self.outputs[needs.output as usize].job]
    }

    /// Brings a head up to date.
    pub(super) fn advance(&mut self, needs: Needs, sides: Sides, now: u64) {
        let queue = &mut self.queues[needs.queue as usize];
        if queue.last == now {
            return;
        }
        if queue.waits == 0 {
            queue.waits = self.waits.take();
        }
        let waits = self.waits.get_mut(queue.waits);
        let from = queue.last;
        let (until_input, until_output) = sides.until(from, now);
        queue.last = now;
        if until_input > from {
            add(&mut waits.input, self.inputs[needs.input as usize].job, until_input - from);
        }
        if until_output > until_input {
            add(&mut waits.output, self.outputs[needs.output as usize].job, until_output - until_input);
        }
        if now > until_output {
            waits.add_room(self.followed.get(self.followed_of[needs.vc as usize]), until_output, now);
        }
    }

    /// The head of a queue, which joined it at `joined`, is granted its output at `now`. `others` says whether packets
    /// have waited behind it. `attribute` is called with the jobs that it has waited for.
    #[inline]
    pub(super) fn grant(
        &mut self,
        needs: Needs,
        job: u16,
        ([joined, now], others): ([u64; 2], bool),
        sides: Sides,
        mut attribute: impl FnMut(Before, u16, u64),
    ) {
        let queue = &mut self.queues[needs.queue as usize];
        if others || queue.heads != 0 {
            behind_heads(queue, &mut self.heads, [joined, now], job, others, &mut attribute);
        }
        self.inputs[needs.input as usize].heads -= 1;
        self.outputs[needs.output as usize].heads -= 1;
        let from = queue.last;
        let (until_input, until_output) = sides.until(from, now);
        if queue.waits == 0 && !queue.follows {
            debug_assert!(until_output == now, "a head that lacks room follows the packets in the output buffer");
            attribute(Before::Input, self.inputs[needs.input as usize].job, until_input - from);
            attribute(Before::Output, self.outputs[needs.output as usize].job, now - until_input);
            return;
        }
        self.advance(needs, sides, now);
        let queue = &mut self.queues[needs.queue as usize];
        if queue.waits != 0 {
            self.waits.get_mut(queue.waits).attribute(attribute);
            self.waits.give_back(std::mem::take(&mut queue.waits));
        }
        if std::mem::take(&mut queue.follows) {
            let number = &mut self.followed_of[needs.vc as usize];
            let followed = self.followed.get_mut(*number);
            followed.heads -= 1;
            if followed.heads == 0 {
                followed.stays.clear();
                self.followed.give_back(std::mem::take(number));
            }
        }
    }

    /// A packet gets the sides of the crossbar, and room in the output buffer. All heads that need the same are up to
    /// date.
    #[inline]
    pub(super) fn pass(&mut self, needs: Needs, job: u16, bytes: u32, now: u64) {
        self.inputs[needs.input as usize].job = job;
        self.outputs[needs.output as usize].job = job;
        let number = self.followed_of[needs.vc as usize];
        if number != 0 {
            let stays = &mut self.followed.get_mut(number).stays;
            while stays.front().is_some_and(|stay| stay.end <= now) {
                stays.pop_front();
            }
            stays.push_back(Stay { end: Stay::OPEN, bytes, job });
        }
    }

    /// The next packet in an output buffer is committed to its link, and leaves it at `end`.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize, end: u64) {
        let number = self.followed_of[vc];
        if number != 0 {
            let stays = &mut self.followed.get_mut(number).stays;
            let next = stays.partition_point(|stay| stay.end != Stay::OPEN);
            stays[next].end = end;
        }
    }
}

/// Attributes the time that a packet has waited behind the heads of its queue, before it became the head itself.
fn behind_heads(
    queue: &mut Queue,
    all: &mut Pool<VecDeque<Turn>>,
    [joined, now]: [u64; 2],
    job: u16,
    others: bool,
    attribute: &mut impl FnMut(Before, u16, u64),
) {
    if queue.heads == 0 {
        queue.heads = all.take();
    }
    let heads = all.get_mut(queue.heads);
    forget(heads, joined);
    let mut from = joined;
    for &Turn { end, job } in &*heads {
        attribute(Before::Head, job, end - from);
        from = end;
    }
    if !others {
        heads.clear();
        all.give_back(std::mem::take(&mut queue.heads));
        return;
    }
    match heads.back_mut() {
        Some(last) if last.job == job => last.end = now,
        _ => heads.push_back(Turn { end: now, job }),
    }
}
