//! Traffic classes: the channels of a class, and which packet a link takes next (model, section 4, "Traffic classes").

use std::cmp::Reverse;
use std::collections::BTreeMap;

use odonata_sim::spec::FabricSpec;

use crate::calendar::Event;
use crate::link::{Far, Link};
use crate::packet::Packet;
use crate::world::World;

/// F by port and class, and V by port and priority; 0 as long as nothing is noted.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    ends: BTreeMap<(usize, usize), u64>,
    begun: BTreeMap<(usize, u8), u64>,
}

/// K: the number of classes; 1 without classes.
pub(crate) fn classes(fabric: &FabricSpec) -> usize {
    fabric.traffic_classes.len().max(1)
}

/// K C: the first channel of acknowledgements and other responses.
pub(crate) fn first_of_responses(fabric: &FabricSpec) -> usize {
    classes(fabric) * usize::from(fabric.channels)
}

/// The class of a channel.
fn class_of(fabric: &FabricSpec, channel: usize) -> usize {
    channel % first_of_responses(fabric) / usize::from(fabric.channels)
}

impl World<'_> {
    pub(crate) fn has_classes(&self) -> bool {
        !self.spec.fabric.traffic_classes.is_empty()
    }

    /// The first channel of the class of a packet, among those of its kind.
    pub(crate) fn first_channel(&self, packet: &Packet) -> usize {
        let class = usize::from(self.spec.jobs[self.messages[packet.message].job].class);
        let responses = if packet.response { first_of_responses(&self.spec.fabric) } else { 0 };
        responses + class * usize::from(self.spec.fabric.channels)
    }

    /// The work before a packet at a port that counts for marks.
    pub(crate) fn backlog_before(&self, t: u64, out: usize, packet: &Packet) -> u64 {
        let link = &self.links[out];
        if !self.has_classes() {
            return link.backlog(t);
        }
        let class = class_of(&self.spec.fabric, self.first_channel(packet));
        let of_class = link.channels.iter().enumerate().filter(|(c, _)| class_of(&self.spec.fabric, *c) == class);
        let waiting = of_class.flat_map(|(_, channel)| &channel.fifo).map(|packet| link.serialisation(packet.wire));
        link.free(t) - t + waiting.sum::<u64>()
    }

    /// A packet joins the queue of its output.
    pub(crate) fn join_class(&mut self, t: u64, out: usize, channel: usize, packet: Packet) {
        self.links[out].channels[channel].fifo.push_back(packet);
        self.look_at_class(t, out, channel);
    }

    /// Something has changed at a port with classes: the head of a queue, or its room, or the link is free.
    pub(crate) fn look_at_class(&mut self, t: u64, out: usize, channel: usize) {
        let link = &mut self.links[out];
        let stalls = link.channels[channel].fifo.front().is_some_and(|head| !ready(link, channel, head));
        link.watch(channel, stalls, t);
        self.calendar.add(t, Event::Arbitration { slot: out });
    }

    /// A port takes a packet if its link is free.
    pub(crate) fn serve(&mut self, t: u64, out: usize) {
        let (fabric, link) = (&self.spec.fabric, &self.links[out]);
        if link.sending.is_some() {
            return;
        }
        let share = |class: usize, priority: u8| {
            let end = self.shares.ends.get(&(out, class)).copied().unwrap_or(0);
            end.max(self.shares.begun.get(&(out, priority)).copied().unwrap_or(0))
        };
        let heads = link.channels.iter().enumerate().filter_map(|(channel, of)| Some((channel, of.fifo.front()?)));
        let turn = heads.filter(|(channel, head)| ready(link, *channel, head)).min_by_key(|(channel, head)| {
            let class = class_of(fabric, *channel);
            let priority = fabric.traffic_classes[class].priority;
            let (from, came_on) = head.stands_in.expect("it stands in a buffer");
            let Far::Router(input) = self.links[from].far else { unreachable!("it came to a router") };
            (Reverse(priority), share(class, priority), class, head.decided, input, came_on)
        });
        let Some((channel, _)) = turn else { return };
        let class = class_of(fabric, channel);
        let of = &fabric.traffic_classes[class];
        let begins = share(class, of.priority);
        let packet = self.links[out].channels[channel].fifo.pop_front().expect("it has a head");
        self.shares.begun.insert((out, of.priority), begins);
        self.shares.ends.insert((out, class), begins + 65_536 * packet.wire / u64::from(of.share));
        self.grant(t, out, channel, packet, 0);
        self.look_at_class(t, out, channel);
    }
}

/// Whether a head could be sent if the link were free.
fn ready(link: &Link, channel: usize, head: &Packet) -> bool {
    matches!(link.far, Far::Node) || link.has_room(channel, head.wire)
}
