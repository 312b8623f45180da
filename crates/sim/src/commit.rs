//! The one point at which a packet is committed to a link, and what comes of it: the next event of the packet, and the
//! credit for the room that it leaves (docs/model.md, sections 1 and 4).

mod room;

use odonata_error::{Error, ErrorKind, path};
use odonata_topology::ClassId;

use crate::engine::Queue;
use crate::fabric::packet::{Event, EventKind, NicNews, RouteDecision};
use crate::fabric::{HopTiming, Links, OutputVc, PacketInfo, PacketTimes, RouterPlace, Wiring};
use crate::observe::{Commit, Left, MarkName, OWN, Observers, RoomRelease};

/// The NICs at the ends of the fabric.
pub trait Nics: PacketInfo {
    /// A packet reaches a NIC of its node at `at`.
    fn deliver<Q: Queue<Event>>(&mut self, fabric: &mut Fabric<'_, Q>, packet: &Event, nic: u32, at: u64);
}

/// Routers, as far as a commit concerns them: where packets are until they are committed to a link.
pub trait Waiting: Sized {
    /// Whether a packet waits for its link in a buffer at the output, so that its time is the earliest at which it may
    /// leave. If not, it waits in its input buffer.
    const BUFFERS_OUTPUT: bool;
    /// Where a packet is committed.
    type From: Copy;

    /// Where the packets of a router are committed.
    fn from(place: RouterPlace, router: u32) -> Self::From;

    /// The earliest instant at which the bytes of a packet allow it to begin to cross a link of a class; 0 if that is not
    /// later than its decision.
    fn earliest(links: &Links<'_>, from: Self::From, packet: &Event, times: &PacketTimes, class: u8) -> u64;

    /// The room that a packet leaves.
    fn leaves(links: &Links<'_>, from: Self::From, packet: &Event) -> Left;

    /// A packet with so many wire bytes has been committed to an output, and will have left at an instant.
    fn left<Q: Queue<Event>, N: Nics>(
        &mut self,
        fabric: &mut Fabric<'_, Q>,
        nics: &N,
        from: Self::From,
        output: OutputVc,
        packet: &Event,
        sent: (u32, u64),
    );
}

/// How far a run has come.
#[derive(Debug, Default)]
pub struct Course {
    /// Last instant of the run, once known.
    pub end: u64,
    /// Events handled.
    pub events: u64,
    /// Route decisions made.
    pub packet_hops: u64,
    /// On several threads, the windows.
    pub windows: u64,
    /// The most events of one thread in each window, summed.
    pub longest: u64,
    /// Why the run cannot go on.
    pub failure: Option<Error>,
}

impl Course {
    /// The run cannot go on.
    pub fn fail(&mut self, failure: Error) {
        self.failure.get_or_insert(failure);
        self.end = 0;
    }
}

/// The links of a run, its pending events, and those who observe what happens.
///
/// The fabric knows packets and links, but no jobs and no kinds of routers or NICs: routers decide which packet is
/// committed to which link, and [`Nics`] take what reaches a node.
pub struct Fabric<'s, Q> {
    /// The tables of the links.
    pub links: Links<'s>,
    /// The pending events.
    pub queue: Q,
    /// Who is told of each commit.
    pub observers: Observers,
    /// How far the run has come.
    pub course: Course,
    /// What goes to other partitions, by partition; empty if there is only one.
    pub posts: Vec<FabricPost>,
    /// Whether a commit needs more than its own link: packets cut through ideal routers, or somebody observes.
    pub special: bool,
    /// Whether a route decision needs more than the port that it gives: somebody observes it, or packets are marked.
    pub watches_decisions: bool,
}

/// Room that a packet gives back: it reaches the sender to the buffer behind a port at `stamp`.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Slot of the port.
    pub slot: u32,
    /// Channel of the buffer.
    pub channel: u8,
    /// Bytes on the link.
    pub bytes: u32,
    /// When the sender has it.
    pub stamp: u64,
}

/// What the fabric of a partition sends to that of another after a window, apart from events.
#[derive(Default)]
pub struct FabricPost {
    /// Room in buffers here whose sender is there.
    credits: Vec<Credit>,
    /// What the observers there must know of these packets.
    releases: Vec<RoomRelease>,
    /// The jobs that marks of their requests name.
    names: Vec<MarkName>,
}

impl FabricPost {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.credits.is_empty() && self.releases.is_empty() && self.names.is_empty()
    }
}

/// A link to which a packet is committed.
#[derive(Clone, Copy)]
pub struct Target {
    /// The output VC.
    pub output: OutputVc,
    /// Whether the far end is a node.
    pub to_node: bool,
}

impl<Q: Queue<Event>> Fabric<'_, Q> {
    /// A packet was decided on at a router, and leaves by the port `out`. Returns whether the router marks it.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn decided<N: Nics>(&mut self, nics: &N, place: RouterPlace, packet: &Event, out: u16) -> bool {
        let backlog = self.links.outs[(place.first + u32::from(out)) as usize].backlog(packet.time);
        self.decided_behind(nics, place, packet, out, backlog)
    }

    /// The same, with so much work before it that counts for marks.
    pub fn decided_behind<N: Nics>(
        &mut self,
        nics: &N,
        place: RouterPlace,
        packet: &Event,
        out: u16,
        backlog: u64,
    ) -> bool {
        self.observe_decision(nics, place, packet, out);
        let Links { marks, wiring, .. } = &self.links;
        let slot = place.first + u32::from(out);
        let marked = marks.as_ref().is_some_and(|marks| marks.marks(wiring, backlog, packet, slot));
        if let Some(blame) = &mut self.observers.blame
            && blame.names_marks()
        {
            let (job, first) = (nics.job(packet), marked && !packet.is_marked());
            if !wiring.wires[slot as usize].node {
                let ps = self.links.times(nics, packet).serialisation(wiring.wires[slot as usize].class);
                blame.stand(slot as usize, job, ps, first.then_some(packet.message), packet.time);
            } else if first {
                blame.note_name(packet.message, OWN); // a node takes packets of one job only
            }
        }
        marked
    }

    /// The same for those who observe it.
    fn observe_decision<N: Nics>(&mut self, nics: &N, place: RouterPlace, packet: &Event, out: u16) {
        let Some(arrivals) = &mut self.observers.arrivals else { return };
        let wire = |port: u16| self.links.wiring.wires[(place.first + u32::from(port)) as usize];
        let (came, goes) = (wire(packet.port).class, wire(out).class);
        let global = self.links.wiring.first_global;
        let (job, bytes) = (nics.job(packet), self.links.times(nics, packet).wire);
        let mut counted = true;
        if place.group == RouterPlace::NO_GROUP {
            return;
        }
        if came >= global {
            counted &= arrivals.count(packet.time, job, place.group, bytes, true);
        }
        if goes >= global {
            counted &= arrivals.count(packet.time, job, place.group, bytes, false);
        }
        if !counted {
            self.course.fail(ErrorKind::TooManyWindows {}.at(path!["measure", "arrivals_every_ps"]));
        }
    }

    /// Commits a packet to a link at `now`. The link has room for it, if it does not lead to a node. `from` is what the
    /// switch needs to take back the room that the packet leaves.
    #[inline(always)]
    pub fn commit<S: Waiting, N: Nics>(
        &mut self,
        (switch, nics): (&mut S, &mut N),
        from: S::From,
        target: Target,
        packet: &Event,
        now: u64,
        decision: RouteDecision,
    ) {
        let Target { output, to_node } = target;
        let links = &mut self.links;
        let times = links.times(nics, packet);
        let wire = times.wire;
        // SAFETY: `output` belongs to the wiring for which both tables were made.
        let (vc, out) =
            unsafe { (links.vcs.get_unchecked_mut(output.vc()), links.outs.get_unchecked_mut(output.slot())) };
        let (to, port) = (vc.to(), vc.port);
        let class = if to_node { ClassId::NODE.0 } else { vc.class() };
        vc.count(wire, &mut links.logs, output.vc());
        let mut start = out.free.max(now);
        if S::BUFFERS_OUTPUT {
            start = start.max(packet.time);
        }
        if !to_node {
            vc.room -= wire;
            if let Some(metric) = &mut links.metric {
                metric.send(output.slot() as u32, wire);
            }
        }
        if self.special {
            start = start.max(self.specially::<S, N>(nics, from, (output, decision.channel()), to_node, packet, now));
        }
        let hop = HopTiming::new(start, times, class);
        // SAFETY: as above.
        unsafe { self.links.outs.get_unchecked_mut(output.slot()) }.free = hop.end;
        if !to_node {
            self.queue.push_changed(to, hop.decision, packet, |packet| {
                packet.time = hop.decision;
                packet.port = port;
                packet.set_channel(decision.channel());
                packet.next_hop();
                packet.follow(decision);
            });
        }
        switch.left(self, nics, from, output, packet, (wire, hop.end));
        if to_node {
            let at = hop.end + self.links.wiring.node_times().latency;
            nics.deliver(self, packet, to, at);
        }
    }

    /// What most runs do without when a packet is committed to a link: packets that cut through, and observers. Returns the
    /// earliest instant at which the packet may begin to leave.
    #[inline(never)]
    fn specially<S: Waiting, N: Nics>(
        &mut self,
        nics: &N,
        from: S::From,
        (output, channel): (OutputVc, u8),
        to_node: bool,
        packet: &Event,
        now: u64,
    ) -> u64 {
        let (links, times) = (&self.links, self.links.times(nics, packet));
        let class = if to_node { ClassId::NODE.0 } else { links.vcs[output.vc()].class() };
        let earliest = S::earliest(links, from, packet, times, class);
        if let Some(by_class) = &mut self.observers.by_class {
            by_class.add(nics.job(packet), class, times.wire);
        }
        if self.observers.see_commits() {
            let (ready, free) = (now.max(earliest), links.outs[output.slot()].free);
            let serialisation = times.serialisation(class);
            let left = S::leaves(links, from, packet);
            let sender = match left {
                Left::Input { buffer, .. } if Q::PARTITIONED => self.sender_elsewhere(buffer),
                _ => None,
            };
            let commit = Commit {
                packet,
                times,
                output,
                channel,
                class,
                to_node,
                since: packet.time.max(earliest),
                committed: now,
                ready,
                free,
                end: free.max(ready) + serialisation,
                service: if to_node {
                    serialisation + links.wiring.node_times().latency
                } else {
                    times.to_decision(class)
                },
                left,
                horizon: self.queue.horizon(),
                sender,
            };
            self.observers.commit(&commit, &self.links, nics);
        }
        earliest
    }

    /// The partition of the sender to a buffer, if it is another one.
    pub fn sender_elsewhere(&self, buffer: usize) -> Option<usize> {
        let router = sender(&self.links.wiring, buffer % self.links.outs.len());
        (!self.queue.has(router)).then(|| self.queue.partition_of(router))
    }

    /// Returns the room of a packet that leaves the buffer behind a port at `release`.
    #[inline(always)]
    pub fn return_credit(&mut self, slot: u32, channel: u8, bytes: u32, release: u64) {
        let buffer = self.links.vc(slot, channel);
        // SAFETY: the packet came by an existing port and channel. Either it was committed to an `OutputVc`, and the
        // port is the far end of its link, or it came from its NIC, by the port in the wiring and on channel 0.
        let stamp = unsafe { release + self.links.wiring.times(self.links.credits.class(buffer)).to_credit };
        let credit = Credit { slot, channel, bytes, stamp };
        if Q::PARTITIONED {
            let router = sender(&self.links.wiring, slot as usize);
            if !self.queue.has(router) {
                self.posts[self.queue.partition_of(router)].credits.push(credit);
                return;
            }
        }
        // SAFETY: as above.
        unsafe { self.note_credit(credit) };
    }

    /// Notes a credit that the sender of a packet gets.
    ///
    /// # Safety
    /// There is a port with the credit's slot, and it has the credit's channel.
    #[inline(always)]
    unsafe fn note_credit(&mut self, credit: Credit) {
        let Credit { slot, channel, bytes, stamp } = credit;
        let buffer = self.links.vc(slot, channel);
        // SAFETY: the caller guarantees it.
        if unsafe { self.links.credits.add(buffer, stamp, bytes, self.queue.horizon()) } {
            self.announce(buffer, channel, stamp);
        }
        if let Some(metric) = &mut self.links.metric {
            metric.leave(slot, bytes, stamp, self.queue.horizon());
        }
    }

    /// Schedules the event of a credit for which the sender to a buffer waits.
    #[cold]
    fn announce(&mut self, buffer: usize, channel: u8, stamp: u64) {
        // The reverse link from the buffer's port leads to its sender.
        let back = self.links.wiring.wires[buffer % self.links.outs.len()];
        if back.node {
            let attachment = self.links.wiring.event_attachment(back.to);
            // Only responses come from a NIC on another channel than 0.
            let news = if channel > 0 { NicNews::ResponseCredit } else { NicNews::Credit };
            let event = Event::other(EventKind::NicCredit, stamp, attachment.port, news as u8, back.to);
            self.queue.push(attachment.router, event);
        } else {
            self.queue.push(back.to, Event::other(EventKind::OutputCredit, stamp, back.port, channel, buffer as u32));
        }
    }

    /// Exchanges what is sent to a partition with something empty.
    pub fn take_sent(&mut self, to: usize, empty: &mut FabricPost) {
        let FabricPost { releases, names, .. } = &mut self.posts[to];
        self.observers.take_sent(to, (releases, names));
        std::mem::swap(&mut self.posts[to], empty);
    }

    /// Takes what another partition has sent.
    pub fn take_post(&mut self, post: &mut FabricPost) {
        for credit in post.credits.drain(..) {
            // SAFETY: another partition has found the port and channel in the same wiring.
            unsafe { self.note_credit(credit) };
        }
        self.observers.take_post(&mut post.releases, &mut post.names, self.queue.horizon());
    }
}

/// The router at which the sender to the buffers behind a port acts.
#[inline(always)]
fn sender(wiring: &Wiring, slot: usize) -> u32 {
    let wire = wiring.wires[slot];
    if wire.node { wiring.event_attachment(wire.to).router } else { wire.to }
}
