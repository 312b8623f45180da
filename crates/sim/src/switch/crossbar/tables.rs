//! Routers with a crossbar: input queues, the ports of the crossbar, output buffers (docs/model.md, section 4).

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use odonata_topology::{Network, RouterId};

use super::NEVER;
use crate::engine::random::Mixer;
use crate::fabric::{Chain, Levels, OutputPort, OutputVc, Wiring};
use crate::routing::{CongestionMetric, TRIES};
use crate::spec::{FabricSpec, RouterKind, Switching};

/// The ranks of queues that had a grant are greater than this; the others are less.
const GRANTED: u64 = 1 << 48;

/// An output VC, with its port and channel at the router.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Where its tables are.
    pub vc: OutputVc,
    /// Port of the router.
    pub port: u16,
    /// Channel of the port.
    pub channel: u8,
}

/// A queue at an input.
#[derive(Clone, Copy, Debug)]
pub struct InputQueue {
    /// Its packets.
    pub chain: Chain,
    /// The position of the input port and channel, followed by that of the output with virtual output queues.
    pub order: u64,
    /// Lower ranks go first: `order` before the first grant, then the number of the last grant.
    rank: u64,
    /// Slot of the input port.
    pub input: u32,
    /// Wire bytes of its head.
    wire: u32,
    /// The output of its head, if it has one.
    pub output: Option<Output>,
}

impl InputQueue {
    fn new(order: u64, input: u32) -> Self {
        Self { chain: Chain::default(), order, rank: order, input, wire: 0, output: None }
    }
}

/// A packet that leaves an output buffer.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its sending begins; its end if no metric reads it.
    pub begin: u64,
    /// When it has left.
    pub end: u64,
    /// Wire bytes.
    pub bytes: u32,
    /// Its job, if blame is measured.
    pub job: u16,
}

/// The output buffer of one virtual channel.
#[derive(Clone, Debug)]
struct OutputBuffer {
    /// Free bytes, without those of `leaving`.
    room: u32,
    /// Whether a head waits for more room than the packets known to leave will free.
    wanted: bool,
    /// In order of time.
    leaving: VecDeque<Departure>,
}

impl OutputBuffer {
    /// The earliest time from `now` on at which this many bytes fit; [`NEVER`] if no known departure frees enough.
    #[inline(never)]
    fn wait(&mut self, bytes: u32, now: u64) -> u64 {
        while let Some(left) = self.leaving.front()
            && left.end <= now
        {
            self.room += left.bytes;
            self.leaving.pop_front();
        }
        let (mut room, mut at) = (self.room, now);
        let mut leaving = self.leaving.iter();
        while room < bytes {
            let Some(left) = leaving.next() else {
                self.wanted = true;
                return NEVER;
            };
            (room, at) = (room + left.bytes, left.end);
        }
        at
    }
}

/// The arbitration of one router.
#[derive(Clone, Debug)]
struct Router {
    /// When it arbitrates next, or [`NEVER`].
    next: u64,
    /// Number of grants so far.
    grants: u64,
    /// Queues whose heads have an output, in no particular order.
    requests: Vec<u32>,
}

/// No row, and no queue.
const NONE: u32 = u32::MAX;
/// Most entries of a table of virtual output queues: 256 MB.
const MOST_ENTRIES: usize = 1 << 26;

/// The virtual output queue of each pair of a buffer and an output of its router: a row for each buffer that has had a
/// packet, with an entry for each output VC of a router.
struct QueueNumbers {
    /// Where the row of a buffer begins, or [`NONE`].
    rows: Vec<u32>,
    /// Entries of a row, and of a port in it.
    row: usize,
    channels: usize,
    entries: Vec<u32>,
    most: usize,
    /// For buffers that came when the table was full. It is only accessed by key, so its order does not matter.
    others: HashMap<u64, u32, BuildHasherDefault<Mixer>>,
}

impl QueueNumbers {
    /// A table of at most so many entries.
    fn new(network: &Network, channels: usize, most: usize) -> Self {
        let buffers = network.peer.len() * channels;
        let ports = (0..network.routers() as u32).map(|router| network.ports(RouterId(router))).max().unwrap_or(0);
        let row = usize::from(ports) * channels;
        Self { rows: vec![NONE; buffers], row, channels, entries: Vec::new(), most, others: HashMap::default() }
    }

    /// The number of a pair, which is `next` if it has none yet.
    #[inline]
    fn number(&mut self, buffer: usize, vc: usize, (port, channel): (u16, u8), next: u32) -> u32 {
        let row = self.rows[buffer];
        if row == NONE {
            return self.in_no_row(buffer, vc, (port, channel), next);
        }
        let at = row as usize + usize::from(port) * self.channels + usize::from(channel);
        let number = &mut self.entries[at];
        if *number == NONE {
            *number = next;
        }
        *number
    }

    /// The same for a buffer without a row, which gets one if there is room.
    #[cold]
    #[inline(never)]
    fn in_no_row(&mut self, buffer: usize, vc: usize, output: (u16, u8), next: u32) -> u32 {
        if self.entries.len() + self.row > self.most {
            return *self.others.entry((buffer as u64) << 32 | vc as u64).or_insert(next);
        }
        self.rows[buffer] = self.entries.len() as u32;
        self.entries.resize(self.entries.len() + self.row, NONE);
        self.number(buffer, vc, output, next)
    }
}

/// All routers.
pub struct Crossbars {
    /// By packet number: how long a packet occupies its input and output of the crossbar, and when its head is across.
    times: Vec<(u64, u64)>,
    /// When each input and each output of a crossbar is free, by slot.
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// By output VC.
    buffers: Vec<OutputBuffer>,
    /// Size of each output buffer.
    size: u32,
    /// With one queue per input VC: by its buffer. With virtual output queues: in order of creation.
    queues: Vec<InputQueue>,
    /// With virtual output queues: their numbers.
    numbers: Option<QueueNumbers>,
    routers: Vec<Router>,
}

impl Crossbars {
    /// The crossbars of a machine whose routers have some.
    ///
    /// # Panics
    /// If its routers are ideal.
    #[must_use]
    pub fn new(fabric: &FabricSpec, network: &Network) -> Self {
        let spec = fabric.router.expect("the routers have crossbars");
        let slots = network.peer.len();
        let vcs = slots * usize::from(fabric.all_channels());
        let across = |wire| {
            let first = match fabric.switching {
                Switching::StoreAndForward => wire,
                Switching::CutThrough => fabric.head_bytes().min(wire), // every packet has payload
            };
            (spec.crossbar.serialisation_ps(wire), spec.crossbar.serialisation_ps(first))
        };
        let size = spec.output_buffer_bytes as u32;
        let queue = |vc: usize| InputQueue::new((vc % slots * 16 + vc / slots) as u64, (vc % slots) as u32);
        let virtual_outputs = spec.kind == RouterKind::VirtualOutputQueued;
        Self {
            times: fabric.wire_sizes().map(across).collect(),
            inputs: vec![0; slots],
            outputs: vec![0; slots],
            buffers: vec![OutputBuffer { room: size, wanted: false, leaving: VecDeque::new() }; vcs],
            size,
            queues: if virtual_outputs { Vec::new() } else { (0..vcs).map(queue).collect() },
            numbers: virtual_outputs.then(|| QueueNumbers::new(network, fabric.all_channels().into(), MOST_ENTRIES)),
            routers: vec![Router { next: NEVER, grants: 0, requests: Vec::new() }; network.routers()],
        }
    }

    /// Whether packets get their output on arrival.
    #[inline]
    #[must_use]
    pub fn virtual_outputs(&self) -> bool {
        self.numbers.is_some()
    }

    /// The virtual output queue of a packet in a buffer, which came by this port and channel.
    pub fn virtual_output_queue(&mut self, buffer: usize, input: u32, came: (u16, u8), output: Output) -> u32 {
        let place = |port: u16, channel: u8| u64::from(port) << 4 | u64::from(channel);
        let order = place(came.0, came.1) << 20 | place(output.port, output.channel);
        let (numbers, queues) = (self.numbers.as_mut().expect("there are virtual output queues"), &mut self.queues);
        let next = queues.len() as u32;
        let number = numbers.number(buffer, output.vc.vc(), (output.port, output.channel), next);
        if number == next {
            queues.push(InputQueue::new(order, input));
        }
        number
    }

    /// A queue.
    #[inline]
    #[must_use]
    pub fn get(&self, queue: u32) -> &InputQueue {
        &self.queues[queue as usize]
    }

    /// A queue, to be changed.
    #[inline]
    pub fn get_mut(&mut self, queue: u32) -> &mut InputQueue {
        &mut self.queues[queue as usize]
    }

    /// All queues.
    pub fn queues(&self) -> impl Iterator<Item = &InputQueue> {
        self.queues.iter()
    }

    /// The head of a queue has an output and waits for a grant; `wire` is its size in wire bytes.
    #[inline]
    pub fn request(&mut self, router: u32, queue: u32, wire: u32, output: Output) {
        let of = &mut self.queues[queue as usize];
        (of.wire, of.output) = (wire, Some(output));
        self.routers[router as usize].requests.push(queue);
    }

    /// The head of a queue must wait again, because another grant took what it needs.
    pub fn wait(&mut self, router: u32, queue: u32) {
        self.routers[router as usize].requests.push(queue);
    }

    /// The earliest time from `now` on at which the head of a queue could be granted, as far as is known.
    #[inline]
    pub fn earliest(&mut self, queue: u32, now: u64) -> u64 {
        let InputQueue { input, output, wire, .. } = self.queues[queue as usize];
        self.earliest_of(input, output.expect("its head has an output").vc, wire, now)
    }

    /// The same for a head of `wire` bytes from the input port of a slot.
    #[inline]
    pub fn earliest_of(&mut self, input: u32, output: OutputVc, wire: u32, now: u64) -> u64 {
        let buffer = &mut self.buffers[output.vc()];
        let at = if buffer.room >= wire { now } else { buffer.wait(wire, now) };
        at.max(self.inputs[input as usize]).max(self.outputs[output.slot()])
    }

    /// The queues of a router whose heads wait for a grant, without those that were taken.
    #[must_use]
    pub fn requests(&self, router: u32) -> &[u32] {
        &self.routers[router as usize].requests
    }

    /// From when on the input and the output of the crossbar are free, for the slot of an input port.
    #[must_use]
    pub fn free(&self, input: u32, output: OutputVc) -> (u64, u64) {
        (self.inputs[input as usize], self.outputs[output.slot()])
    }

    /// Whether the head of a queue lacks room in its output buffer, as of the last time that this was looked at.
    #[must_use]
    pub fn lacks_room(&self, queue: u32) -> bool {
        let InputQueue { output, wire, .. } = self.queues[queue as usize];
        output.is_some_and(|output| self.buffers[output.vc.vc()].room < wire)
    }

    /// The packets that are about to leave an output buffer, as of an instant.
    pub fn leaving(&self, vc: usize, now: u64) -> impl Iterator<Item = &Departure> {
        self.buffers[vc].leaving.iter().filter(move |left| left.end > now)
    }

    /// When a router arbitrates next, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn next(&self, router: u32) -> u64 {
        self.routers[router as usize].next
    }

    /// Whether an arbitration scheduled for `now` takes place; if not, an earlier one has replaced it.
    #[inline]
    pub fn begin(&mut self, router: u32, now: u64) -> bool {
        let next = &mut self.routers[router as usize].next;
        let begins = *next == now;
        if begins {
            *next = NEVER;
        }
        begins
    }

    /// Takes the requests of a router that could be granted now, in order of priority. Returns the earliest time at
    /// which one of the others could be granted, as far as is known.
    #[inline]
    pub fn take_requests(&mut self, router: u32, now: u64, requested: &mut Vec<u32>) -> u64 {
        requested.clear();
        let mut requests = std::mem::take(&mut self.routers[router as usize].requests);
        let (mut position, mut next) = (0, NEVER);
        while let Some(&queue) = requests.get(position) {
            let at = self.earliest(queue, now);
            if at == now {
                requested.push(queue);
                requests.swap_remove(position);
            } else {
                next = next.min(at);
                position += 1;
            }
        }
        self.routers[router as usize].requests = requests;
        if requested.len() > 1 {
            requested.sort_unstable_by_key(|&queue| self.queues[queue as usize].rank);
        }
        next
    }

    /// Grants the head of a queue its output. Returns when its head and its tail are across.
    #[inline]
    pub fn grant(
        &mut self,
        router: u32,
        queue: u32,
        output: OutputVc,
        (payload, wire): (u32, u32),
        now: u64,
    ) -> (u64, u64) {
        let router = &mut self.routers[router as usize];
        router.grants += 1;
        let of = &mut self.queues[queue as usize];
        of.rank = GRANTED | router.grants;
        let (whole, head) = self.times[payload as usize];
        self.inputs[of.input as usize] = now + whole;
        self.outputs[output.slot()] = now + whole;
        self.buffers[output.vc()].room -= wire;
        (now + head, now + whole)
    }

    /// A packet leaves an output buffer. Returns whether a head waits for its room.
    #[inline]
    pub fn leave(&mut self, vc: OutputVc, departure: Departure) -> bool {
        let buffer = &mut self.buffers[vc.vc()];
        buffer.leaving.push_back(departure);
        std::mem::take(&mut buffer.wanted)
    }

    /// Schedules an arbitration at `at` unless an earlier one is scheduled. Returns whether it did.
    #[inline]
    pub fn foresee(&mut self, router: u32, at: u64) -> bool {
        let next = &mut self.routers[router as usize].next;
        let earlier = at < *next;
        if earlier {
            *next = at;
        }
        earlier
    }

    /// Bytes in the output buffers of a port at an instant.
    #[must_use]
    pub fn buffered(&self, slot: usize, now: u64) -> u64 {
        let vcs = (slot..self.buffers.len()).step_by(self.inputs.len());
        vcs.map(|vc| self.held(vc, |left| left.end > now)).sum()
    }

    /// Bytes in the output buffer of channel 0 of a port whose sending has not begun at an instant.
    #[must_use]
    pub fn not_begun(&self, slot: usize, now: u64) -> u64 {
        self.held(slot, |left| left.begin > now)
    }

    /// Bytes in an output buffer that are not yet committed to its link.
    #[must_use]
    pub fn waiting(&self, vc: usize) -> u64 {
        self.held(vc, |_| false)
    }

    /// Bytes in an output buffer, including departing packets of which `still` holds.
    fn held(&self, vc: usize, still: impl Fn(&Departure) -> bool) -> u64 {
        let buffer = &self.buffers[vc];
        let left = buffer.leaving.iter().filter(|left| !still(left)).map(|left| u64::from(left.bytes));
        u64::from(self.size - buffer.room) - left.sum::<u64>()
    }
}

/// Which bytes in the output buffers of a port are its load.
#[derive(Clone, Copy, Debug)]
pub enum Sensed {
    /// All of them.
    All,
    /// Those of channel 0 whose sending has not begun.
    NotBegun,
}

/// The congestion metric that reads the output buffers of routers with crossbars.
#[derive(Clone, Copy)]
pub struct OutputBuffers<'a> {
    /// The routers.
    pub crossbars: &'a Crossbars,
    /// The far end of each port.
    pub wiring: &'a Wiring,
    /// What it reads of them.
    pub sensed: Sensed,
    /// The levels in which loads are known, if they are.
    pub levels: Option<&'a Levels>,
}

impl CongestionMetric for OutputBuffers<'_> {
    const TRIES: u8 = TRIES;

    fn load(self, slot: u32, _: &OutputPort, now: u64) -> u64 {
        let bytes = match self.sensed {
            Sensed::All => self.crossbars.buffered(slot as usize, now),
            Sensed::NotBegun => self.crossbars.not_begun(slot as usize, now),
        };
        let class = self.wiring.wires[slot as usize].class;
        let load = ((u128::from(bytes) * u128::from(self.wiring.times(class).scaled)) >> 16) as u64;
        self.levels.map_or(load, |levels| levels.known(class, load))
    }
}

#[cfg(test)]
mod tests {
    use odonata_topology::{Failures, Machine, TopologySpec};

    use super::*;
    use crate::engine::random::mix64;

    /// Catches a row that overlaps another one, a port or channel in the place of another, and a buffer that changes from
    /// one form to the other.
    #[test]
    fn pairs_have_numbers_of_their_own_with_a_table_of_any_size() {
        let json = r#"{"kind": "dragonfly", "groups": 3, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 1,
            "arrangement": "absolute"}"#;
        let topology: TopologySpec = serde_json::from_str(json).expect("it is a machine");
        let machine = Machine::build(&topology, &Failures::default()).expect("it can be built");
        let (network, channels) = (machine.network(), 3);
        let slots = network.peer.len();
        for most in [0, 200, MOST_ENTRIES] {
            let mut numbers = QueueNumbers::new(network, channels, most);
            let mut known = HashMap::new();
            for draw in (0..20_000).map(mix64) {
                let slot = draw as usize % slots;
                let router = network.router_of_slot[slot];
                let port = (draw >> 20) as u16 % network.ports(router);
                let channel = (draw >> 40) as u8 % channels as u8;
                let buffer = slot + slots * ((draw >> 50) as usize % channels);
                let vc = network.first_slot[router.index()] as usize + usize::from(port) + slots * usize::from(channel);
                let next = known.len() as u32;
                let expected = *known.entry((buffer, vc)).or_insert(next);
                let found = numbers.number(buffer, vc, (port, channel), next);
                assert_eq!(found, expected, "{buffer} to {port} on {channel}, {most} entries");
            }
            assert!(known.len() > 1_000);
            assert_eq!(numbers.others.is_empty(), most == MOST_ENTRIES);
            assert_eq!(numbers.entries.is_empty(), most == 0);
            assert!(numbers.entries.len() <= most);
        }
    }
}
