//! Routings of one's own (model, section 6, "A routing of one's own").

use std::collections::{BTreeMap, BTreeSet};

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::routing::custom::functions::{
    AnswerView, Functions, NOTHING, PacketView, PortView, RAISED, RouterView, registered,
};
use odonata_sim::spec::{RoutingSpec, Spec};
use odonata_topology::{Network, Peer, RouterId};

use super::routing_of;
use crate::link::Link;
use crate::map::{Map, live, works};
use crate::packet::Packet;

/// An answer by when it comes, the port that sent the packet, its channel and its key.
type Order = (u64, usize, usize, u32);

/// What an answer says.
#[derive(Debug)]
struct Answer {
    destination: usize,
    delay: u64,
    memory: Option<u32>,
    /// None at the last router.
    says: Option<f64>,
}

/// One routing.
#[derive(Debug)]
struct Custom {
    spec: RoutingSpec,
    /// The traffic class of its packets: those of another class have a routing of their own.
    class: u8,
    functions: Functions,
    hops: u64,
    /// By router.
    state: Vec<Vec<f64>>,
    answers: Vec<BTreeMap<Order, Answer>>,
}

/// The routings of one's own of a run.
#[derive(Debug)]
pub(crate) struct Own {
    /// By router: the working ports to other routers, and these routers.
    links: Vec<Vec<(usize, usize)>>,
    /// By router and router: fewest links; 255 if there is no path.
    distance: Vec<u8>,
    groups: Vec<i64>,
    /// The routers with nodes.
    ends: Vec<i64>,
    customs: Vec<Custom>,
    /// The first failure, with its time and router.
    failure: Option<(u64, usize, ErrorKind)>,
}

/// Whether a job of a run has such a routing.
pub(crate) fn has_own(spec: &Spec) -> bool {
    (0..spec.jobs.len()).any(|job| matches!(routing_of(spec, job), RoutingSpec::Custom { .. }))
}

/// Refuses what cannot work.
pub(super) fn check(spec: &Spec, map: &Map) -> Result<(), Error> {
    let own = Own::new(spec, map)?;
    let network = &map.network;
    for job in 0..spec.jobs.len() {
        let RoutingSpec::Custom { hops, .. } = routing_of(spec, job) else { unreachable!("it was checked") };
        let need = own.diameter(network)?;
        if *hops < need {
            return Err(ErrorKind::TooFewHops { need, have: *hops }.at(path!["routing", "hops"]));
        }
        if spec.fabric.channels < *hops {
            let (need, have) = ((*hops).into(), spec.fabric.channels.into());
            return Err(ErrorKind::TooFewChannels { routing: "custom", need, have }.at(path!["fabric", "channels"]));
        }
    }
    Ok(())
}

impl Own {
    /// The routings of a run; nothing if it has others.
    ///
    /// # Errors
    /// If it has both, or if the functions of one are not known.
    pub(crate) fn new(spec: &Spec, map: &Map) -> Result<Self, Error> {
        let network = &map.network;
        let routers = network.routers();
        let links: Vec<_> = (0..routers).map(|r| live(network, r)).collect();
        let group = |r: usize| network.group_of(RouterId(r as u32)).map_or(-1, |group| i64::from(group.0));
        let ends: BTreeSet<i64> =
            network.node_slot.iter().map(|slot| network.router_of_slot[slot.index()].0.into()).collect();
        let mut own = Self {
            distance: Vec::new(),
            links,
            groups: (0..routers).map(group).collect(),
            ends: ends.into_iter().collect(),
            customs: Vec::new(),
            failure: None,
        };
        if !has_own(spec) {
            return Ok(own);
        }
        own.distance = (0..routers).flat_map(|to| own.distances(to)).collect();
        for (job, of) in spec.jobs.iter().enumerate() {
            let routing = routing_of(spec, job);
            let RoutingSpec::Custom { program, hops, state, .. } = routing else {
                return Err(ErrorKind::BesideOwnRouting { routing: routing.name() }.at(path!["routing", "name"]));
            };
            let Some(functions) = registered(program) else {
                let kind = ErrorKind::RoutingNotLoaded { program: program.clone() };
                return Err(kind.at(path!["routing", "program"]));
            };
            if own.customs.iter().all(|custom| custom.spec != *routing || custom.class != of.class) {
                own.customs.push(Custom {
                    spec: routing.clone(),
                    class: of.class,
                    functions,
                    hops: (*hops).into(),
                    state: vec![vec![0.0; *state as usize]; routers],
                    answers: (0..routers).map(|_| BTreeMap::new()).collect(),
                });
            }
        }
        own.start(network);
        Ok(own)
    }

    /// Fewest links from every router to one.
    fn distances(&self, to: usize) -> Vec<u8> {
        let mut distance = vec![u8::MAX; self.links.len()];
        let (mut layer, mut links) = (vec![to], 0);
        distance[to] = 0;
        while !layer.is_empty() {
            links += 1;
            let mut next = Vec::new();
            for (_, far) in layer.iter().flat_map(|&router| &self.links[router]) {
                if distance[*far] == u8::MAX {
                    distance[*far] = links;
                    next.push(*far);
                }
            }
            layer = next;
        }
        distance
    }

    fn links(&self, from: usize, to: usize) -> u8 {
        self.distance[to * self.links.len() + from]
    }

    /// The most links between routers whose nodes send to each other.
    fn diameter(&self, network: &Network) -> Result<u8, Error> {
        let rails = if network.separate_rails { network.rails as usize } else { 1 };
        let router = |nic: usize| network.router_of_slot[network.node_slot[nic].index()].index();
        let mut most = 0;
        for a in 0..network.endpoints() {
            for b in (a % rails..network.endpoints()).step_by(rails) {
                let (from, to) = (router(a), router(b));
                if works(network, from) && works(network, to) {
                    if self.links(from, to) == u8::MAX {
                        let kind = ErrorKind::RoutersCutApart { routers: vec![from as u32, to as u32] };
                        return Err(kind.at(path!["failures"]));
                    }
                    most = most.max(self.links(from, to));
                }
            }
        }
        Ok(most)
    }

    /// The port at a router, as functions see it.
    fn port(&self, network: &Network, router: usize, (slot, far): (usize, usize)) -> PortView {
        PortView {
            port: (slot - network.first_slot[router] as usize) as i64,
            router: far as i64,
            links: 0,
            minimal: 0,
            load_ps: 0,
            class: network.class[slot].index() as i64,
        }
    }

    fn view(&mut self, custom: usize, router: usize, t: u64) -> RouterView {
        RouterView {
            router: router as i64,
            time_ps: t as i64,
            routers: self.links.len() as i64,
            state: self.customs[custom].state[router].as_mut_ptr(),
            links: self.distance.as_ptr(),
            groups: self.groups.as_ptr(),
            ends: self.ends.as_ptr(),
            end_count: self.ends.len() as i64,
        }
    }

    fn start(&mut self, network: &Network) {
        for custom in 0..self.customs.len() {
            let Some(start) = self.customs[custom].functions.start else { continue };
            for router in 0..self.links.len() {
                let ports: Vec<_> = self.links[router].iter().map(|&link| self.port(network, router, link)).collect();
                let view = self.view(custom, router, 0);
                // SAFETY: who made the function known guarantees that it keeps to the interface.
                let _ = unsafe { start(ports.as_ptr(), ports.len() as i64, &raw const view) };
            }
        }
    }

    /// The output port (its slot) and channel of a packet that came by a port.
    pub(crate) fn route(
        &mut self,
        (spec, map, links): (&Spec, &Map, &[Link]),
        (routing, class): (&RoutingSpec, u8),
        (t, slot, came_on): (u64, usize, usize),
        packet: &mut Packet,
    ) -> (usize, usize) {
        let (router, destination) = (map.router(slot), map.router_of(packet.destination));
        let is_it = |custom: &Custom| custom.spec == *routing && custom.class == class;
        let custom = self.customs.iter().position(is_it).expect("all were collected");
        if router == destination {
            self.answer((spec, map), (custom, t, slot, came_on), packet, None);
            return (map.network.node_slot[packet.destination.index()].index(), 0);
        }
        self.learn(map, custom, router, t);
        let left = self.customs[custom].hops - u64::from(packet.hop);
        let near = |&(_, far): &(usize, usize)| u64::from(self.links(far, destination)) < left;
        let open: Vec<(usize, usize)> = self.links[router].iter().copied().filter(near).collect();
        let port = |&(slot, far): &(usize, usize)| PortView {
            links: self.links(far, destination).into(),
            minimal: (self.links(far, destination) < self.links(router, destination)).into(),
            load_ps: links[slot].load(&spec.sensing, t) as i64,
            ..self.port(&map.network, router, (slot, far))
        };
        let ports: Vec<PortView> = open.iter().map(port).collect();
        let mut told = PacketView {
            key: packet.key.into(),
            hop: packet.hop.into(),
            hops_left: left as i64,
            destination: destination as i64,
            bytes: packet.bytes as i64,
            came_from: (slot - map.network.first_slot[router] as usize) as i64,
            memory: packet.memory.map_or(NOTHING, i64::from),
            answer: 0.0,
        };
        let view = self.view(custom, router, t);
        let route = self.customs[custom].functions.route;
        // SAFETY: who made the function known guarantees that it keeps to the interface.
        let picked = unsafe { route(&raw mut told, ports.as_ptr(), ports.len() as i64, &raw const view) };
        let at = usize::try_from(picked).ok().filter(|&at| at < ports.len());
        let memory = u32::try_from(told.memory).ok().filter(|&memory| memory != u32::MAX);
        if at.is_none() || (memory.is_none() && told.memory != NOTHING) {
            let [router, destination, hop, time_ps] = [router as u64, destination as u64, packet.hop.into(), t];
            let kind = if at.is_some() {
                let memory = told.memory.to_string();
                ErrorKind::MemoryOutOfRange { memory, router, destination, hop, time_ps }
            } else if picked == RAISED {
                ErrorKind::RoutingRaised { function: "route", router, time_ps }
            } else {
                let (picked, ports) = (picked.to_string(), ports.len());
                ErrorKind::NoSuchChoice { picked, ports, router, destination, hop, time_ps }
            };
            let router = router as usize;
            if self.failure.as_ref().is_none_or(|&(time, first, _)| (t, router) < (time, first)) {
                self.failure = Some((t, router, kind));
            }
            return (open[0].0, packet.hop.into());
        }
        self.answer((spec, map), (custom, t, slot, came_on), packet, Some(told.answer));
        packet.memory = memory;
        packet.picked = t;
        let at = at.expect("it was checked");
        packet.minimal &= ports[at].minimal == 1;
        (open[at].0, packet.hop.into())
    }

    /// The router before learns of a decision.
    fn answer(
        &mut self,
        (spec, map): (&Spec, &Map),
        (custom, t, slot, came_on): (usize, u64, usize, usize),
        packet: &Packet,
        says: Option<f64>,
    ) {
        let Peer::Router(far) = map.network.peer[slot] else { return };
        if self.customs[custom].functions.learn.is_none() {
            return;
        }
        let name = map.network.classes[map.network.class[slot].index()];
        let due = t + spec.fabric.links[name].latency_ps;
        let destination = map.router_of(packet.destination);
        let answer = Answer { destination, delay: t - packet.picked, memory: packet.memory, says };
        let order = (due, far.index(), came_on, packet.key);
        self.customs[custom].answers[map.router(far.index())].insert(order, answer);
    }

    /// A router handles the answers that came before `t`.
    fn learn(&mut self, map: &Map, custom: usize, router: usize, t: u64) {
        let Some(learn) = self.customs[custom].functions.learn else { return };
        while let Some(first) = self.customs[custom].answers[router].first_entry().filter(|first| first.key().0 < t) {
            let ((due, slot, ..), answer) = first.remove_entry();
            let far = self.links[router].iter().find(|&&(port, _)| port == slot).expect("it was sent there").1;
            let told = AnswerView {
                port: (slot - map.network.first_slot[router] as usize) as i64,
                router: far as i64,
                destination: answer.destination as i64,
                delay_ps: answer.delay as i64,
                answer: answer.says.unwrap_or(0.0),
                last: answer.says.is_none().into(),
                memory: answer.memory.map_or(NOTHING, i64::from),
            };
            let view = self.view(custom, router, due);
            // SAFETY: who made the function known guarantees that it keeps to the interface.
            if unsafe { learn(&raw const told, &raw const view) } == RAISED
                && self.failure.as_ref().is_none_or(|&(time, first, _)| (t, router) < (time, first))
            {
                let kind = ErrorKind::RoutingRaised { function: "learn", router: router as u64, time_ps: t };
                self.failure = Some((t, router, kind));
            }
        }
    }

    /// # Errors
    /// What went wrong first.
    pub(crate) fn refuse(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), |(_, _, kind)| Err(kind.into()))
    }
}
