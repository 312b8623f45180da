//! Waits at routers with a crossbar, from the route decision to the grant (docs/model.md, section 9, "Blame").
//!
//! A head that waits is brought up to date before the crossbar gives one of its sides to another packet. So since it was
//! last brought up to date, each side has had one occupant, and no packet has come to its output buffer.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::buffers::divide;
use super::turns::{Turn, forget};

/// The end of a stay that is not known yet.
const OPEN: u64 = u64::MAX;

/// A packet in an output buffer, until it has left by its link.
#[derive(Clone, Copy, Debug)]
struct Stay {
    end: u64,
    bytes: u32,
    job: u16,
}

/// Time by job.
type ByJob<T> = SmallVec<[(u16, T); 1]>;

/// A queue at an input.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// The heads before the present one, for as long as a packet of the queue has waited behind them.
    heads: VecDeque<Turn>,
    /// Since when the present head is the head.
    since: u64,
    /// Up to when its waits are attributed.
    last: u64,
    input: ByJob<u64>,
    output: ByJob<u64>,
    /// How long it has waited for room in the output buffer, and what each job held of it during that time, in bytes
    /// times picoseconds.
    room: u64,
    held: ByJob<u128>,
}

/// What the head of a queue needs: slots of its input and output ports, and the output VC.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Number of the queue.
    pub queue: u32,
    /// Slot of its input port.
    pub input: u32,
    /// Slot of the output port.
    pub output: usize,
    /// The output VC.
    pub vc: usize,
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

/// All routers with a crossbar.
#[derive(Debug, Default)]
pub(super) struct Crossings {
    /// The jobs of the last packets granted, by slot.
    inputs: Vec<u16>,
    outputs: Vec<u16>,
    /// By output VC: packets in order of their grants, without those that left before the last grant.
    stays: Vec<VecDeque<Stay>>,
    queues: Vec<Queue>,
}

fn add<T: std::ops::AddAssign + Default>(to: &mut ByJob<T>, job: u16, value: T) {
    let position = to.iter().position(|entry| entry.0 == job).unwrap_or_else(|| {
        to.push((job, T::default()));
        to.len() - 1
    });
    to[position].1 += value;
}

impl Crossings {
    pub(super) fn new(slots: usize, channels: usize) -> Self {
        let stays = vec![VecDeque::new(); slots * channels];
        Self { inputs: vec![0; slots], outputs: vec![0; slots], stays, queues: Vec::new() }
    }

    fn queue(&mut self, number: u32) -> &mut Queue {
        let number = number as usize;
        if number >= self.queues.len() {
            self.queues.resize(number + 1, Queue::default());
        }
        &mut self.queues[number]
    }

    /// A packet becomes the head of a queue.
    pub(super) fn lead(&mut self, queue: u32, now: u64) {
        let of = self.queue(queue);
        (of.since, of.last, of.room) = (now, now, 0);
        of.input.clear();
        of.output.clear();
        of.held.clear();
    }

    /// Brings a head up to date. Since the last time, the sides of the crossbar that it needs have been free from
    /// `input_free` and `output_free` on.
    pub(super) fn advance(&mut self, needs: Needs, input_free: u64, output_free: u64, now: u64) {
        let Needs { queue, input, output, vc } = needs;
        let of = &mut self.queues[queue as usize];
        let mut up_to = |free: u64| {
            let before = of.last;
            of.last = before.max(free.min(now));
            of.last - before
        };
        let (for_input, for_output, from) = (up_to(input_free), up_to(output_free), of.last);
        if for_input > 0 {
            add(&mut of.input, self.inputs[input as usize], for_input);
        }
        if for_output > 0 {
            add(&mut of.output, self.outputs[output], for_output);
        }
        of.room += now - from;
        if now > from {
            for stay in self.stays[vc].iter().filter(|stay| stay.end > from) {
                add(&mut of.held, stay.job, u128::from(stay.bytes) * u128::from(stay.end.min(now) - from));
            }
        }
        of.last = now;
    }

    /// The head of a queue, which is up to date, is granted its output at `now`. It joined the queue at `joined`.
    /// `attribute` is called with the jobs that it has waited for.
    pub(super) fn grant(
        &mut self,
        queue: u32,
        job: u16,
        (joined, now): (u64, u64),
        mut attribute: impl FnMut(Before, u16, u64),
    ) {
        let of = &mut self.queues[queue as usize];
        forget(&mut of.heads, joined);
        let mut from = joined;
        for &Turn { end, job } in &of.heads {
            attribute(Before::Head, job, end - from);
            from = end;
        }
        for &(job, ps) in &of.input {
            attribute(Before::Input, job, ps);
        }
        for &(job, ps) in &of.output {
            attribute(Before::Output, job, ps);
        }
        if of.room > 0 {
            of.held.sort_unstable_by_key(|entry| entry.0);
            divide(of.room, &of.held, |job, ps| attribute(Before::Room, job, ps));
        }
        match of.heads.back_mut() {
            Some(last) if last.job == job => last.end = now,
            _ => of.heads.push_back(Turn { end: now, job }),
        }
    }

    /// A packet of a job gets the sides of the crossbar, and room in the output buffer. All heads that need the same are
    /// up to date.
    pub(super) fn pass(&mut self, input: u32, output: usize, vc: usize, (job, bytes): (u16, u32), now: u64) {
        self.inputs[input as usize] = job;
        self.outputs[output] = job;
        let stays = &mut self.stays[vc];
        while stays.front().is_some_and(|stay| stay.end <= now) {
            stays.pop_front();
        }
        stays.push_back(Stay { end: OPEN, bytes, job });
    }

    /// The next packet in an output buffer is committed, and leaves it at `end`.
    pub(super) fn leave(&mut self, vc: usize, end: u64) {
        // They leave in the order of their grants.
        let stays = &mut self.stays[vc];
        let next = stays.partition_point(|stay| stay.end != OPEN);
        stays[next].end = end;
    }
}
