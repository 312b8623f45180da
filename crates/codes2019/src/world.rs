//! A run: its state, its beginning and its end.

use odonata_error::{Error, ErrorKind};
use odonata_sim::engine::prefetch;
use odonata_sim::output::Links;
use odonata_sim::spec::Spec;
use odonata_sim::{Monitor, Output, Progress};
use odonata_topology::{Machine, NodeId, Peer};

use crate::calendar::{Calendar, Event};
use crate::message::Message;
use crate::nic::Nic;
use crate::noise::Noise;
use crate::port::Port;
use crate::route::{Map, RoutedPacket};
use crate::senders::{self, Sender, Traffic};
use crate::tally::{self, Tally};
use crate::without::Without;

/// Time beyond which nothing is simulated.
const MAX_TIME: u64 = 1 << 63;
/// How many events ahead memory is fetched.
const SOON: usize = 3;
/// Events between two looks of the monitor.
const LOOK_EVERY: u64 = 50_000;

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Index of its message.
    pub(crate) message: u32,
    /// Its true size.
    pub(crate) bytes: u64,
    /// What its routing depends on.
    pub(crate) routed: RoutedPacket,
    /// The link and channel whose joint buffer it is in: a slot, or beyond the slots the link of a NIC.
    pub(crate) holds: (u32, u8),
    /// The one behind it in its list.
    pub(crate) next: u32,
}

/// The state of a run.
pub(crate) struct World<'a> {
    pub(crate) spec: &'a Spec,
    /// The defects that are repaired.
    pub(crate) without: Without,
    pub(crate) map: Map,
    /// Output ports by slot.
    pub(crate) ports: Vec<Port>,
    /// Score of each port, as the routing reads it: whole percent, or bytes.
    pub(crate) scores: Vec<u64>,
    pub(crate) nics: Vec<Nic>,
    /// The traffic of each job.
    pub(crate) traffic: Vec<Traffic>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) messages: Vec<Message>,
    /// Destinations of an interval, kept to avoid allocations.
    pub(crate) destinations: Vec<u32>,
    /// Packets under way. Places of delivered packets are reused.
    pub(crate) packets: Vec<Packet>,
    pub(crate) unused: Vec<u32>,
    pub(crate) calendar: Calendar,
    pub(crate) tally: Tally,
    /// Messages of each job that are under way, and ranks that have more to issue.
    pub(crate) open: Vec<(u64, u64)>,
    /// Nothing happens after this instant. It becomes known during the run.
    pub(crate) end: Option<u64>,
    /// Messages delivered of the jobs that the run waits for.
    pub(crate) delivered: u64,
    /// Size of a full packet, the unit of room.
    pub(crate) packet_bytes: u64,
    /// Time of 8 bytes on a local link: the delay of every credit.
    pub(crate) credit_delay: u64,
    expected: u64,
    /// Events handled.
    pub(crate) events: u64,
}

impl<'a> World<'a> {
    /// An empty machine and the first interval of every rank.
    pub(crate) fn new(spec: &'a Spec) -> Result<Self, Error> {
        let Machine::DragonflyPlus(machine) = spec.machine()? else { unreachable!("a machine that the checks refuse") };
        let map = Map::new(machine);
        let network = &map.machine.network;
        let links: Vec<_> = network.classes.iter().map(|&name| spec.fabric.links[name]).collect();
        let packet_bytes = u64::from(spec.fabric.packet_bytes);
        let port = |(slot, class): (usize, &odonata_topology::ClassId)| {
            Port::new(links[class.index()], packet_bytes, Noise::new(spec.seed, slot as u64))
        };
        let ports: Vec<Port> = network.class.iter().enumerate().map(port).collect();
        let nic = |node: usize| Nic::new(links[0], Noise::new(spec.seed, (ports.len() + node) as u64));
        let nics = (0..network.nodes()).map(nic).collect();
        let credit_delay = links[odonata_topology::dragonfly_plus::LOCAL.index()].bandwidth.serialisation_ps(8);
        let (traffic, senders) = senders::of_jobs(spec, network);
        let mut calendar = Calendar::default();
        let mut open = vec![(0, 0); spec.jobs.len()];
        let (mut expected, mut destinations) = (0, Vec::new());
        for (index, Sender { job, rank, node, .. }) in senders.iter().enumerate() {
            let (of, traffic) = (&spec.jobs[*job], &traffic[*job]);
            calendar.add(traffic.clock.start(*node), Event::Issue { sender: index as u32 });
            open[*job].1 += 1;
            if spec.stop.jobs.contains(&(*job as u32)) {
                traffic.destinations.list(*node, *rank, of.nodes.len() as u32, 0, &mut destinations);
                expected += destinations.len() as u64 * of.traffic().intervals.unwrap_or(0);
            }
        }
        Ok(Self {
            spec,
            without: Without::new(&spec.compat_without),
            map,
            scores: vec![0; ports.len()],
            ports,
            nics,
            traffic,
            senders,
            messages: Vec::new(),
            destinations,
            packets: Vec::new(),
            unused: Vec::new(),
            calendar,
            tally: Tally::new(spec.jobs.len()),
            open,
            end: spec.stop.at_ps,
            delivered: 0,
            packet_bytes,
            credit_delay,
            expected,
            events: 0,
        })
    }

    /// Handles events until the end.
    pub(crate) fn run(&mut self, monitor: &mut dyn Monitor) -> Result<(), Error> {
        let mut now = 0;
        while let Some(t) = self.calendar.next_time()
            && t <= self.end.unwrap_or(u64::MAX)
        {
            if t >= MAX_TIME {
                return Err(ErrorKind::TimeOverflow {}.into());
            }
            now = t;
            let (_, event) = self.calendar.pop().expect("there is a next event");
            self.fetch();
            self.happen(t, event);
            self.events += 1;
            if self.events.is_multiple_of(LOOK_EVERY) {
                let (events, packet_hops) = (self.events, self.tally.packet_hops);
                let (delivered, expected) = (self.delivered, self.expected);
                monitor.progress(&Progress { now_ps: now, events, packet_hops, delivered, expected })?;
            }
        }
        let waiting = (self.packets.len() - self.unused.len()) as u64;
        if self.calendar.next_time().is_none() && waiting > 0 {
            return Err(ErrorKind::Deadlock { at_ps: now, waiting }.into());
        }
        self.end.get_or_insert(now);
        Ok(())
    }

    /// Fetches from memory what one of the next events needs.
    fn fetch(&self) {
        match self.calendar.soon(SOON) {
            Some(Event::Send { slot: link } | Event::Credit { link, .. }) => {
                prefetch(&self.ports, link as usize); // of a NIC's link: harmless
            }
            Some(Event::Arrive { packet } | Event::Eject { packet } | Event::Generate { packet }) => {
                prefetch(&self.packets, packet as usize);
            }
            Some(Event::Inject { node } | Event::Idle { node }) => prefetch(&self.nics, node as usize),
            Some(Event::Issue { .. } | Event::Sequence { .. } | Event::Schedule { .. }) | None => {}
        }
    }

    fn happen(&mut self, t: u64, event: Event) {
        match event {
            Event::Issue { sender } => self.issue(t, sender as usize),
            Event::Sequence { message } => self.sequence(t, message),
            Event::Schedule { message } => self.schedule(t, message),
            Event::Generate { packet } => self.generate(t, packet),
            Event::Idle { node } => self.next_packet(t, node as usize),
            Event::Inject { node } => self.inject(t, node as usize),
            Event::Arrive { packet } => self.arrive(t, packet),
            Event::Send { slot } => self.send(t, slot),
            Event::Credit { link, channel } => self.credit(t, link as usize, usize::from(channel)),
            Event::Eject { packet } => self.eject(t, packet),
        }
    }

    /// The node whose injection link this is, if it is one.
    pub(crate) fn nic_of(&self, link: usize) -> Option<usize> {
        link.checked_sub(self.ports.len())
    }

    /// The slot at the far end of a link that leads to a router.
    pub(crate) fn far_slot(&self, link: usize) -> usize {
        match self.nic_of(link) {
            Some(node) => self.map.machine.network.node_slot[node].index(),
            None => match self.map.machine.network.peer[link] {
                Peer::Router(slot) => slot.index(),
                Peer::Node(_) | Peer::None => unreachable!("packets arrive at routers by links that lead there"),
            },
        }
    }

    /// Where a node is.
    pub(crate) fn group_of(&self, node: u32) -> odonata_topology::GroupId {
        self.map.machine.network.group_of_node(NodeId(node))
    }

    /// The results.
    pub(crate) fn into_output(self) -> Output {
        let end_ps = self.end.unwrap_or(0);
        let mut links = Links::default();
        let of_ports = self.ports.iter().flat_map(|p| &p.channels).map(|c| &c.flow);
        for flow in of_ports.chain(self.nics.iter().map(|n| &n.flow)) {
            links.packets.push(flow.packets);
            links.bytes.push(flow.bytes);
            links.stalled_ps.push(flow.stalled(end_ps));
        }
        Output {
            end_ps,
            packet_hops: self.tally.packet_hops,
            jobs: self.tally.jobs(self.spec, &self.messages, &self.senders),
            messages: tally::message_rows(self.spec, &self.messages, &self.senders),
            links,
            arrivals: self.tally.arrivals(self.spec, self.map.machine.spec.groups),
            ..Output::default()
        }
    }
}
