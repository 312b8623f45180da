//! A run: its state, its beginning and its end (model, section 8).

use std::collections::BTreeMap;

use odonata_decision::Policy;
use odonata_error::{Error, ErrorKind};
use odonata_sim::output::{Blame, Operations, Series};
use odonata_sim::spec::Spec;
use odonata_sim::{Monitor, Output, Progress};
use odonata_topology::{Network, NodeId, Peer};

use crate::aries::Request;
use crate::blame::Commits;
use crate::calendar::{Calendar, Event};
use crate::classes::Shares;
use crate::crossbar::Crossbar;
use crate::link::{Far, Link, Sender as Drives};
use crate::map::Map;
use crate::nic::Nic;
use crate::packet::{Message, MessageRow};
use crate::program::{self, Running};
use crate::routing::{self, Own};
use crate::streams::Streams;
use crate::tally::{self, Tally};
use crate::traffic::{self, Sender};

/// Time beyond which nothing is simulated.
const MAX_TIME: u64 = 1 << 63;
/// Events between two looks of the monitor.
const LOOK_EVERY: u64 = 10_000;

/// The state of a run.
pub(crate) struct World<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) map: Map,
    /// The routings of one's own.
    pub(crate) own: Own,
    /// Links that leave router ports, by slot; then the injection links, by NIC (endpoint); then those of responses.
    pub(crate) links: Vec<Link>,
    pub(crate) nics: Vec<Nic>,
    /// The policies of each rank of each application-aware job, which take turns; none for other jobs.
    pub(crate) policies: Vec<Vec<Vec<Policy>>>,
    /// When a policy has read the counters of its NICs: by job, rank and number of the policy.
    pub(crate) read: BTreeMap<(usize, u32, usize), u64>,
    /// Requests of NICs whose packets are answered; none is ever forgotten.
    pub(crate) requests: Vec<Request>,
    /// By router; empty if routers are ideal.
    pub(crate) crossbars: Vec<Crossbar>,
    /// Of the traffic classes at ports.
    pub(crate) shares: Shares,
    /// Messages issued by each node so far.
    pub(crate) issued: Vec<u64>,
    pub(crate) senders: Vec<Sender>,
    /// The programs by job; none for a job with traffic.
    pub(crate) programs: Vec<Option<Running<'a>>>,
    /// The queues between the GPUs of nodes.
    pub(crate) inner_queues: program::Busy,
    pub(crate) messages: Vec<Message>,
    /// What has left and come, if packets are numbered.
    pub(crate) streams: Streams,
    /// All messages as the ranks see them.
    pub(crate) rows: Vec<MessageRow>,
    pub(crate) calendar: Calendar,
    pub(crate) tally: Tally,
    /// All commits to links, if blame or a series is measured.
    pub(crate) commits: Option<Commits>,
    /// Messages of each job with traffic that are under way, and ranks that have more to issue.
    pub(crate) open: Vec<(u64, u64)>,
    /// When each job ends, if it is known.
    ended: Vec<Option<u64>>,
    /// Nothing happens after this instant. It becomes known during the run.
    pub(crate) end: Option<u64>,
    events: u64,
}

impl<'a> World<'a> {
    /// An empty machine, the first interval of every rank that has traffic and the start of every rank that has a
    /// program.
    pub(crate) fn new(spec: &'a Spec) -> Result<Self, Error> {
        let map = Map::new(&spec.machine()?, routing::has_own(spec))?;
        let own = Own::new(spec, &map)?;
        let links = links(spec, &map.network);
        let nics = map.network.node_slot.iter().map(|_| Nic::default()).collect();
        let routers = spec.fabric.router.map_or(0, |_| map.network.routers());
        let crossbars = (0..routers).map(|_| Crossbar::default()).collect();
        let issued = vec![0; map.network.nodes()];
        let senders = traffic::senders(spec);
        let mut calendar = if routing::knows_other_routers(spec) {
            // A node and all its NICs belong to the router of its first NIC.
            let rails = map.network.rails as usize;
            let nics = (0..map.network.endpoints()).map(|nic| map.network.node_slot[nic - nic % rails].index());
            Calendar::by_router(
                (0..map.network.peer.len()).chain(nics.clone()).chain(nics).map(|slot| map.router(slot)).collect(),
            )
        } else {
            Calendar::default()
        };
        let mut open = vec![(0, 0); spec.jobs.len()];
        for (index, sender) in senders.iter().enumerate() {
            let t = traffic::first(spec.seed, &spec.jobs[sender.job], sender.node);
            let nic = map.network.peer.len() + (sender.node * map.network.rails) as usize;
            calendar.add(t, Event::Issue { nic, sender: index });
            open[sender.job].1 += 1;
        }
        let windows = vec![BTreeMap::new(); map.network.endpoints()];
        let commits = (spec.measure.blame || spec.measure.series).then(|| Commits {
            links: vec![Vec::new(); links.len()],
            passages: Vec::new(),
            windows,
        });
        let mut world = Self {
            spec,
            map,
            own,
            links,
            nics,
            policies: (0..spec.jobs.len()).map(|job| spec.mode_policies(job)).collect(),
            read: BTreeMap::new(),
            requests: Vec::new(),
            crossbars,
            shares: Shares::default(),
            issued,
            senders,
            programs: program::programs(spec),
            inner_queues: program::Busy::new(),
            messages: Vec::new(),
            streams: Streams::default(),
            rows: Vec::new(),
            calendar,
            tally: Tally::new(spec.jobs.len()),
            commits,
            open,
            ended: vec![None; spec.jobs.len()],
            end: spec.stop.at_ps,
            events: 0,
        };
        world.expect_starts();
        Ok(world)
    }

    /// A job ends at time `at`; the run ends with the last job that it waits for.
    pub(crate) fn job_ends(&mut self, job: usize, at: u64) {
        self.ended[job] = Some(at);
        let awaited: Vec<Option<u64>> = self.spec.stop.jobs.iter().map(|&job| self.ended[job as usize]).collect();
        if let Some(all) = awaited.into_iter().collect::<Option<Vec<u64>>>()
            && let Some(latest) = all.into_iter().max()
        {
            self.end = Some(self.end.map_or(latest, |end| end.min(latest)));
        }
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
            self.happen(t, event)?;
            self.events += 1;
            if self.events.is_multiple_of(LOOK_EVERY) {
                monitor.progress(&self.progress(now))?;
            }
        }
        self.own.refuse()?;
        if self.calendar.next_time().is_none() {
            let waiting = self.waiting();
            if waiting > 0 {
                return Err(ErrorKind::Deadlock { at_ps: now, waiting }.into());
            }
        }
        self.end.get_or_insert(now);
        self.drain();
        Ok(())
    }

    /// The link of the first NIC of a node.
    pub(crate) fn first_nic(&self, node: u32) -> usize {
        self.map.network.peer.len() + (node * self.map.network.rails) as usize
    }

    /// Packets that wait for room at a router, and messages that wait for it at a NIC.
    fn waiting(&self) -> u64 {
        let packets = self.links.iter().flat_map(|l| &l.channels).map(|c| c.fifo.len());
        let queued: usize = self.crossbars.iter().map(|crossbar| crossbar.packets().count()).sum();
        (packets.sum::<usize>() + queued + self.nics.iter().map(|n| n.queue.len() + n.responses.len()).sum::<usize>())
            as u64
    }

    /// After the end, only packets that were granted an ejection link continue, to their delivery. This is counted, and
    /// has no effects.
    fn drain(&mut self) {
        let mut rest = Vec::new();
        while let Some((t, event)) = self.calendar.pop() {
            match event {
                Event::SendEnd { link } if matches!(self.links[link].far, Far::Node) => self.send_end(t, link),
                Event::Delivery { packet } => {
                    for packet in self.given(&packet) {
                        self.count_arrival(t, &packet);
                        if packet.request.is_some() && !packet.response {
                            let response = self.response(t, &packet);
                            self.nics[packet.destination.index()].responses.push_back(response); // it stays there
                        }
                    }
                }
                other => rest.push((t, other)),
            }
        }
        for (t, event) in rest {
            self.calendar.add(t, event);
        }
    }

    fn progress(&self, now_ps: u64) -> Progress {
        let mut progress =
            Progress { now_ps, events: self.events, packet_hops: self.tally.packet_hops, delivered: 0, expected: 0 };
        let awaited = |job: usize| self.spec.stop.jobs.contains(&(job as u32));
        progress.delivered = self.rows.iter().filter(|m| m.delivered.is_some() && awaited(m.job)).count() as u64;
        for sender in self.senders.iter().filter(|s| awaited(s.job)) {
            let job = &self.spec.jobs[sender.job];
            let each = traffic::destinations(self.spec.seed, job, &self.map.network, sender).len() as u64;
            progress.expected += each * job.traffic().intervals.unwrap_or(0);
        }
        progress
    }

    /// The results.
    pub(crate) fn into_output(self) -> Output {
        let end_ps = self.end.unwrap_or(0);
        let answers = self.answers();
        let mut jobs = self.tally.jobs(self.spec, &self.rows, &self.senders);
        jobs.iter_mut().enumerate().for_each(|(job, totals)| totals.reordering = self.reordering(job));
        Output {
            end_ps,
            packet_hops: self.tally.packet_hops,
            jobs,
            messages: tally::message_rows(self.spec, &self.rows),
            links: tally::link_rows(&self.links[..self.map.network.peer.len() + self.nics.len()], end_ps),
            nics: if answers { self.nics.iter().map(|nic| nic.counters).collect() } else { Vec::new() },
            message_counters: if answers { tally::message_counters(self.spec, &self.rows) } else { Vec::new() },
            arrivals: self.tally.arrivals(self.spec, self.map.network.groups),
            ranks: program::rank_rows(&self.programs),
            iterations: program::iteration_rows(&self.programs),
            class_bytes: self.tally.class_bytes(self.spec, self.map.network.classes.len()),
            series: match &self.commits {
                // Not those of responses.
                Some(all) if self.spec.measure.series => {
                    all.series(self.map.network.peer.len() + self.map.network.endpoints(), &self.messages)
                }
                _ => Series::default(),
            },
            operations: if self.spec.measure.operations {
                program::operation_rows(&self.programs)
            } else {
                Operations::default()
            },
            blame: match &self.commits {
                Some(all) if self.spec.measure.blame => all.blame(self.spec, &self.links, &self.messages),
                _ => Blame::default(),
            },
        }
    }
}

fn links(spec: &Spec, network: &Network) -> Vec<Link> {
    let news_delay = |class: usize| spec.sensing.delay_ps.get(network.classes[class]).copied().unwrap_or(0);
    let mut links = Vec::new();
    for (peer, class) in network.peer.iter().zip(&network.class) {
        let far = match peer {
            Peer::Router(slot) => Far::Router(slot.index()),
            Peer::Node(_) | Peer::None => Far::Node,
        };
        let (name, delay) = (network.classes[class.index()], news_delay(class.index()));
        links.push(Link::new(&spec.fabric, name, delay, Drives::Port, far));
    }
    for (endpoint, slot) in network.node_slot.iter().enumerate() {
        let (sender, far) = (Drives::Nic(NodeId(endpoint as u32)), Far::Router(slot.index()));
        links.push(Link::new(&spec.fabric, network.classes[0], 0, sender, far));
    }
    if spec.fabric.answers() {
        for (endpoint, slot) in network.node_slot.iter().enumerate() {
            let (sender, far) = (Drives::Responses(NodeId(endpoint as u32)), Far::Router(slot.index()));
            links.push(Link::new(&spec.fabric, network.classes[0], 0, sender, far));
        }
    }
    links
}
