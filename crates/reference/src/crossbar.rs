//! Routers with a crossbar: input queues, arbitration, output buffers (model, section 4).

use std::collections::{BTreeMap, VecDeque};

use odonata_sim::spec::{RouterKind, RouterSpec, Switching};

use crate::blame::{Passage, Step};
use crate::calendar::Event;
use crate::link::OnWire;
use crate::packet::Packet;
use crate::world::World;

/// An output: slot of the port, and channel.
type Output = (usize, usize);
/// A queue: slot and channel of the input, and with virtual output queues the output.
pub(crate) type Key = (usize, usize, Option<Output>);

/// A queue at an input.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    /// Since when its head is the head.
    led: u64,
    /// The output of its head, once it has one.
    output: Option<Output>,
    /// Number of its last grant, counted within its router; 0 before the first.
    granted: u64,
}

/// The state of a router.
#[derive(Debug, Default)]
pub(crate) struct Crossbar {
    queues: BTreeMap<Key, Queue>,
    /// From when on each crossbar input and output is free, by slot.
    inputs: BTreeMap<usize, u64>,
    outputs: BTreeMap<usize, u64>,
    grants: u64,
}

impl Crossbar {
    /// All packets in its queues.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.queues.values().flat_map(|queue| &queue.packets)
    }

    /// The packets in its queues that have an output port.
    pub(crate) fn packets_to(&self, out: usize) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(move |((_, _, virtual_output), queue)| {
            let count = match (virtual_output, queue.output) {
                (Some((port, _)), _) if *port == out => queue.packets.len(),
                (None, Some((port, _))) if port == out => 1,
                _ => 0,
            };
            queue.packets.iter().take(count)
        })
    }

    /// The queues whose heads have an output, in order of priority.
    fn requests(&self) -> Vec<(Key, Output)> {
        let mut requests: Vec<_> =
            self.queues.iter().filter_map(|(key, q)| Some((q.granted, *key, q.output?))).collect();
        requests.sort_unstable();
        requests.into_iter().map(|(_, key, output)| (key, output)).collect()
    }

    fn is_free(&self, input: usize, output: usize, t: u64) -> bool {
        let free = |side: &BTreeMap<usize, u64>, slot| side.get(&slot).copied().unwrap_or(0);
        free(&self.inputs, input) <= t && free(&self.outputs, output) <= t
    }
}

impl World<'_> {
    /// A packet joins a queue of its router at its decision time.
    pub(crate) fn join(&mut self, t: u64, slot: usize, mut packet: Packet, spec: RouterSpec) {
        let (_, channel) = packet.stands_in.expect("a packet in a router stands in one of its buffers");
        packet.joined = t;
        let router = self.map.router(slot);
        let key = match spec.kind {
            RouterKind::InputQueued => (slot, channel, None),
            RouterKind::VirtualOutputQueued => (slot, channel, Some(self.output_of(t, slot, &mut packet))),
        };
        let queue = self.crossbars[router].queues.entry(key).or_default();
        queue.packets.push_back(packet);
        if queue.packets.len() == 1 {
            self.new_head(t, router, key);
        }
        self.calendar.add(t, Event::Arbitration { slot });
    }

    /// A packet gets its output, and counts as waiting there.
    fn output_of(&mut self, t: u64, slot: usize, packet: &mut Packet) -> Output {
        let (out, channel) = self.route(t, slot, packet);
        self.links[out].queued_ps += self.links[out].serialisation(packet.wire);
        (out, channel)
    }

    /// A packet has become the head of its queue.
    fn new_head(&mut self, t: u64, router: usize, key: Key) {
        let output = match key.2 {
            Some(output) => output,
            None => {
                let queue = self.crossbars[router].queues.get_mut(&key).expect("it has a head");
                let mut packet = queue.packets.pop_front().expect("it has a head");
                let output = self.output_of(t, key.0, &mut packet);
                let queue = self.crossbars[router].queues.get_mut(&key).expect("it has a head");
                queue.packets.push_front(packet);
                output
            }
        };
        let queue = self.crossbars[router].queues.get_mut(&key).expect("it has a head");
        (queue.output, queue.led) = (Some(output), t);
    }

    /// The router of a slot grants all that it can.
    pub(crate) fn arbitrate(&mut self, t: u64, slot: usize) {
        let router = self.map.router(slot);
        let mut left = Vec::new();
        for (key, (out, channel)) in self.crossbars[router].requests() {
            let crossbar = &self.crossbars[router];
            let wire = crossbar.queues[&key].packets[0].wire;
            if crossbar.is_free(key.0, out, t) && self.links[out].channels[channel].output_room >= wire {
                self.cross(t, router, key, (out, channel));
                left.push(key);
            }
        }
        left.sort_unstable();
        for key in left {
            if !self.crossbars[router].queues[&key].packets.is_empty() {
                self.new_head(t, router, key);
            }
        }
    }

    /// Grants the head of a queue the crossbar.
    fn cross(&mut self, t: u64, router: usize, key: Key, (out, channel): Output) {
        let spec = self.spec.fabric.router.expect("it has a crossbar");
        let crossbar = &mut self.crossbars[router];
        crossbar.grants += 1;
        let queue = crossbar.queues.get_mut(&key).expect("it has a head");
        queue.granted = crossbar.grants;
        queue.output = None;
        let mut packet = queue.packets.pop_front().expect("it has a head");
        let led = queue.led;
        let across = |bytes| spec.crossbar.serialisation_ps(bytes);
        let busy = t + across(packet.wire);
        crossbar.inputs.insert(key.0, busy);
        crossbar.outputs.insert(out, busy);
        self.calendar.add(busy, Event::Arbitration { slot: out });
        let first = match self.spec.fabric.switching {
            Switching::StoreAndForward => packet.wire,
            Switching::CutThrough => self.spec.fabric.head(),
        };
        packet.head = t + across(first);
        packet.tail = busy.max(packet.tail);
        let (link, back) = packet.stands_in.take().expect("a packet in a queue stands in a buffer");
        let known = packet.tail + self.links[link].spec.latency_ps + self.links[link].spec.credit_delay_ps;
        self.links[link].leave_far(packet.wire, known, t);
        if let Some(commits) = &mut self.commits {
            if let Some((before, number)) = packet.latest {
                commits.links[before][number].returned = Some(known);
                commits.links[before][number].following = Some(Step::Grant(commits.passages.len()));
            }
            packet.passage = Some(commits.passages.len());
            let (message, wire, joined) = (packet.message, packet.wire, packet.joined);
            let (queue, output) = (key, (out, channel));
            let passage = Passage { message, wire, queue, output, joined, led, granted: t, busy, commit: None };
            commits.passages.push(passage);
            packet.decided = t;
        }
        self.calendar.add(known, Event::Credit { link, channel: back, bytes: packet.wire });
        let output = &mut self.links[out];
        output.queued_ps -= output.serialisation(packet.wire);
        output.channels[channel].output_room -= packet.wire;
        self.leave(t, out, channel, packet);
    }

    /// The tail of a packet has left by a link: frees its room in the output buffer, if there is one.
    pub(crate) fn left_output(&mut self, t: u64, link: usize, channel: usize, wire: u64) {
        if self.crossbars.is_empty() || link >= self.map.network.peer.len() {
            return;
        }
        self.links[link].channels[channel].output_room += wire;
        self.calendar.add(t, Event::Arbitration { slot: link });
    }
}
