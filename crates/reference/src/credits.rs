//! Receivers that say who sends next (model, section 3, "receiver-credit").

use std::collections::{BTreeMap, VecDeque};

use odonata_sim::spec::{CongestionLaw, Feedback};
use odonata_topology::NodeId;

use crate::calendar::Event;
use crate::packet::Packet;
use crate::world::World;

/// What a NIC knows of those that send to it. The names are those of the model.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The list: senders whose turn will come.
    list: VecDeque<usize>,
    /// E(s).
    asked: BTreeMap<usize, u64>,
    /// U(s).
    unasked: BTreeMap<usize, u64>,
    /// By sender: when the tail of the latest packet left that has come and did not announce more.
    last: BTreeMap<usize, u64>,
    /// Acknowledgements that are held, by sender.
    held: BTreeMap<usize, VecDeque<Packet>>,
    /// g.
    next: u64,
}

impl Turns {
    /// All acknowledgements that are held.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Packet> {
        self.held.values().flatten()
    }
}

impl World<'_> {
    /// G, if receivers give credits.
    fn ahead(&self) -> Option<u64> {
        match self.spec.fabric.congestion_control?.law {
            CongestionLaw::ReceiverCredit { ahead_bytes } => Some(ahead_bytes),
            _ => None,
        }
    }

    /// Whether the next packet of the message at a place in the queue of a NIC announces more.
    pub(crate) fn announces_more(&self, nic: NodeId, place: usize) -> bool {
        if self.spec.fabric.congestion_control.is_none() {
            return false; // and nobody would ask
        }
        let queue = &self.nics[nic.index()].queue;
        let to = queue[place].to;
        let left: u64 = queue.iter().filter(|of| of.to == to).map(|of| of.packets.end - of.next).sum();
        left > 1
    }

    /// A packet has come to a NIC at `t`, and its acknowledgement joins the responses now or later.
    pub(crate) fn acknowledge(&mut self, t: u64, packet: &Packet) {
        let Some(stands_for) = self.others_acknowledged_with(packet) else { return };
        let mut acknowledgement = self.response(t, packet);
        acknowledgement.stands_for = stands_for;
        acknowledgement.says = self.says(packet);
        let gives_credits = self.ahead().is_some();
        let left = self.requests[packet.request.expect("it is one")].left.expect("it has left");
        let of = &mut self.nics[packet.destination.index()];
        if !gives_credits {
            of.responses.push_back(acknowledgement);
            return self.send_responses(t, packet.destination);
        }
        let sender = acknowledgement.destination.index();
        let overtaken = of.turns.last.get(&sender).is_some_and(|last| left < *last);
        if overtaken {
            of.responses.push_back(acknowledgement);
            return self.send_responses(t, packet.destination);
        }
        if !packet.more {
            of.turns.last.insert(sender, left);
        }
        let held = of.turns.held.entry(sender).or_default();
        held.push_back(acknowledgement);
        let asked = of.turns.asked.entry(sender).or_default();
        let full = u64::from(self.spec.fabric.packet_bytes);
        let window = self.spec.fabric.most_in_flight().expect("there are windows");
        let unasked = of.turns.unasked.entry(sender).or_insert(window / full);
        if *unasked > 0 {
            *unasked -= 1;
        } else {
            *asked = asked.saturating_sub(full);
        }
        if !packet.more {
            *asked = 0;
            *unasked = window / full;
            of.turns.list.retain(|other| *other != sender);
            of.responses.extend(held.drain(..).map(|of| Packet { decided: t, ..of }));
        } else if !of.turns.list.contains(&sender) {
            of.turns.list.push_back(sender);
        }
        self.give_credits(t, packet.destination);
    }

    /// The other packets for which the acknowledgement of a packet that has come stands; none if it waits for one as well.
    fn others_acknowledged_with(&mut self, packet: &Packet) -> Option<Vec<Packet>> {
        let Some(every) = self.spec.fabric.nic.acknowledge_every else { return Some(Vec::new()) };
        let request = &self.requests[packet.request.expect("it is one")];
        let (sender, left) = (request.nic.index(), request.left.expect("it has left"));
        let of = &mut self.nics[packet.destination.index()];
        let overtaken = of.asked.get(&sender).is_some_and(|asked| left < *asked);
        if request.asks && !overtaken {
            of.asked.insert(sender, left);
        }
        let waiting = of.unacknowledged.entry(sender).or_default();
        if packet.marked || request.asks || overtaken || waiting.len() as u64 + 1 >= u64::from(every) {
            return of.unacknowledged.remove(&sender);
        }
        waiting.push(packet.clone());
        None
    }

    /// What the acknowledgement of a packet that has come says.
    fn says(&mut self, packet: &Packet) -> u64 {
        match self.spec.fabric.congestion_control.map(|control| control.law.feedback()) {
            Some(Feedback::Senders) => {}
            Some(Feedback::Hops) => return u64::from(packet.hop),
            _ => return 0,
        }
        let request = &self.requests[packet.request.expect("it is one")];
        let (sender, left) = (request.nic.index(), request.left.expect("it has left"));
        let latest = &mut self.nics[packet.destination.index()].latest;
        if latest.get(&sender).is_none_or(|(before, _)| *before < left) {
            latest.insert(sender, (left, packet.more));
        }
        latest.iter().filter(|(nic, (_, more))| **nic == sender || *more).count() as u64
    }

    /// A NIC gives the credits that it may give at `t`.
    pub(crate) fn give_credits(&mut self, t: u64, nic: NodeId) {
        let ahead = self.ahead().expect("receivers give credits");
        let full = u64::from(self.spec.fabric.packet_bytes);
        let window = self.spec.fabric.most_in_flight().expect("there are windows");
        let fabric = &self.spec.fabric;
        let time = fabric.links["node"].bandwidth.serialisation_ps(crate::aries::wire(fabric, full, false, false));
        let of = &mut self.nics[nic.index()];
        while t >= of.turns.next {
            let asked: u64 = of.turns.asked.values().sum();
            if asked > 0 && asked + full > ahead {
                break;
            }
            let Some(sender) = of.turns.list.pop_front() else { break };
            let asked_of_it = of.turns.asked.get(&sender).copied().unwrap_or(0);
            let expected = of.turns.unasked[&sender] * full + asked_of_it;
            if expected + full > window {
                continue; // it has to send before, and joins the list again with that packet
            }
            let held = of.turns.held.get_mut(&sender).expect("something is held for it");
            let mut credits = vec![held.pop_front().expect("something is held for it")];
            let payload = |held: &VecDeque<Packet>| held.iter().map(|of| of.bytes).sum::<u64>();
            while payload(held) + expected + full > window {
                credits.push(held.pop_front().expect("without anything held there is room"));
            }
            if !held.is_empty() {
                of.turns.list.push_back(sender);
            }
            of.responses.extend(credits.into_iter().map(|credit| Packet { decided: t, ..credit }));
            *of.turns.asked.entry(sender).or_default() += full;
            of.turns.next = t + time;
            self.calendar.add(t + time, Event::Credits { nic });
        }
        self.send_responses(t, nic);
    }
}
