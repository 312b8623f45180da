//! A routing of one's own, on any machine (docs/model.md, section 6, "A routing of one's own").
//!
//! A function picks among the ports from which the destination can still be reached in the links that are left. The
//! channel of a packet is the number of links between routers that it has taken: channels rise along every path, so
//! packets never wait for each other in a cycle, whatever the function picks (Gunther 1981, "Prevention of deadlocks in
//! packet-switched data transport systems", IEEE Transactions on Communications).
//!
//! What a router remembers is touched only when it decides, so it is the same on any number of threads.

mod answers;
pub mod functions;
mod links;

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::{Address, Machine, Network, Peer, Port, RouterId};

use super::{
    AllPaths, Branch, CongestionMetric, Loads, PathGranularity, RouterPlace, RoutingAlgorithm, enough_channels,
};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{FabricSpec, Keys, RoutingSpec};
use answers::{Answer, Inbox};
use functions::{AnswerView, Functions, NOTHING, PacketView, PortView, RAISED, RouterView, memory_of, registered};
use links::{Links, Neighbour, UNREACHABLE};

/// Ports of a router that need no memory of their own at a decision.
const FEW: usize = 64;

/// The numbers of all routers.
#[derive(Debug)]
struct State {
    words: usize,
    cells: Box<[UnsafeCell<f64>]>,
}

// SAFETY: the numbers of a router are read and written only by the thread that handles its decisions.
unsafe impl Sync for State {}

impl State {
    fn new(routers: usize, words: usize) -> Self {
        Self { words, cells: (0..routers * words).map(|_| UnsafeCell::new(0.0)).collect() }
    }

    fn row(&self, router: u32) -> *mut f64 {
        self.cells[router as usize * self.words..][..self.words].as_ptr().cast_mut().cast()
    }
}

/// A routing of a run.
#[derive(Debug)]
struct Custom {
    /// Its position in the specification, for errors.
    at: Path,
    keys: Keys,
    hops: u8,
    functions: Functions,
    state: State,
    /// By router, if the routing learns.
    inboxes: Vec<Mutex<Inbox>>,
}

/// What goes wrong first: when, at which router, and how.
type Failure = (u64, u32, Error);

/// What the threads of a run share.
#[derive(Debug)]
struct Shared {
    links: Links,
    groups: Vec<i64>,
    ends: Vec<i64>,
    /// By address: the first place of its upper half, then the router.
    first_of_high: Vec<u32>,
    routers: Vec<u32>,
    /// Latency of a link, by class.
    latency: Vec<u64>,
    /// By the number that a packet carries.
    customs: Vec<Custom>,
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// The routings of one's own of a run, on its machine.
#[derive(Clone, Debug)]
pub struct CustomRouting {
    machine: Machine,
    shared: Arc<Shared>,
}

/// Virtual channels that it needs.
pub(super) fn channels(routing: &RoutingSpec) -> Option<u8> {
    if let RoutingSpec::Custom { hops, .. } = routing { Some(*hops) } else { None }
}

/// The routers of each address.
fn by_address(network: &Network) -> (Vec<u32>, Vec<u32>) {
    let highest = network.address_of_router.iter().map(|address| address.high).max().unwrap_or(0);
    let mut width = vec![0; usize::from(highest) + 1];
    for address in &network.address_of_router {
        let width = &mut width[usize::from(address.high)];
        *width = (*width).max(u32::from(address.low) + 1);
    }
    let mut first = vec![0];
    width.iter().for_each(|width| first.push(first[first.len() - 1] + width));
    let mut routers = vec![0; first[first.len() - 1] as usize];
    for (router, address) in (0..).zip(&network.address_of_router) {
        routers[(first[usize::from(address.high)] + u32::from(address.low)) as usize] = router;
    }
    (first, routers)
}

/// What is wrong with what a function did; `place` is the router, the destination's, the links taken and the time.
fn refused(picked: i64, ports: usize, memory: i64, chose: bool, place: [u64; 4]) -> ErrorKind {
    let [router, destination, hop, time_ps] = place;
    if chose {
        return ErrorKind::MemoryOutOfRange { memory: memory.to_string(), router, destination, hop, time_ps };
    }
    if picked == RAISED {
        return ErrorKind::RoutingRaised { function: "route", router, time_ps };
    }
    ErrorKind::NoSuchChoice { picked: picked.to_string(), ports, router, destination, hop, time_ps }
}

/// The routers of every `rails`-th NIC, ascending.
fn ends(network: &Network, rail: usize, rails: usize) -> Vec<u32> {
    let nics = network.node_slot.iter().skip(rail).step_by(rails);
    let mut ends: Vec<u32> = nics.map(|slot| network.router_of_slot[slot.index()].0).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The most links of a shortest path between NICs that send to each other.
///
/// # Errors
/// If no path joins two of them.
fn diameter(network: &Network, links: &Links) -> Result<u8, Error> {
    let rails = if network.separate_rails { network.rails as usize } else { 1 };
    let mut longest = 0;
    for rail in 0..rails {
        let mut ends = ends(network, rail, rails);
        ends.retain(|&router| network.router_works(RouterId(router)));
        for &to in &ends {
            let row = links.row(to);
            for &from in &ends {
                if row[from as usize] == UNREACHABLE {
                    let kind = ErrorKind::RoutersCutApart { routers: vec![from, to] };
                    return Err(kind.at(path!["failures"]));
                }
                longest = longest.max(row[from as usize]);
            }
        }
    }
    Ok(longest)
}

/// The most links of a shortest path between NICs of a machine that send to each other.
///
/// # Errors
/// If no path joins two of them, or if the machine is too large.
pub fn diameter_of(network: &Network) -> Result<u8, Error> {
    diameter(network, &Links::new(network)?)
}

/// The most NICs at a router.
#[must_use]
pub fn most_nics(network: &Network) -> usize {
    let mut nics = vec![0; network.routers()];
    network.node_slot.iter().for_each(|slot| nics[network.router_of_slot[slot.index()].index()] += 1);
    nics.into_iter().max().unwrap_or(0)
}

impl CustomRouting {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is another routing, is not loaded, or has too few links for the machine; or if it needs more
    /// channels than the fabric has.
    pub fn new(machine: Machine, fabric: &FabricSpec, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let network = machine.network();
        let links = Links::new(network)?;
        let diameter = diameter(network, &links)?;
        let custom = |(at, routing): &(Path, RoutingSpec)| {
            let RoutingSpec::Custom { program, hops, state, keys } = routing else {
                return Err(ErrorKind::BesideOwnRouting { routing: routing.name() }.at(at.join("name")));
            };
            let Some(functions) = registered(program) else {
                return Err(ErrorKind::RoutingNotLoaded { program: program.clone() }.at(at.join("program")));
            };
            if *hops < diameter {
                return Err(ErrorKind::TooFewHops { need: diameter, have: *hops }.at(at.join("hops")));
            }
            enough_channels(routing.name(), *hops, fabric)?;
            let inboxes = if functions.learn.is_some() { network.routers() } else { 0 };
            Ok(Custom {
                at: at.clone(),
                keys: *keys,
                hops: *hops,
                functions,
                state: State::new(network.routers(), *state as usize),
                inboxes: (0..inboxes).map(|_| Mutex::default()).collect(),
            })
        };
        let customs = specs.iter().map(custom).collect::<Result<_, _>>()?;
        let (first_of_high, routers) = by_address(network);
        let group = |router| network.group_of(RouterId(router)).map_or(-1, |group| i64::from(group.0));
        let shared = Shared {
            links,
            groups: (0..network.routers() as u32).map(group).collect(),
            ends: ends(network, 0, 1).into_iter().map(i64::from).collect(),
            first_of_high,
            routers,
            latency: network.classes.iter().map(|class| fabric.links[*class].latency_ps).collect(),
            customs,
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
        };
        let routing = Self { machine, shared: Arc::new(shared) };
        routing.start()?;
        Ok(routing)
    }

    /// Fills the numbers of all routers.
    ///
    /// # Errors
    /// If the function raises an exception.
    fn start(&self) -> Result<(), Error> {
        for custom in &self.shared.customs {
            let Some(start) = custom.functions.start else { continue };
            for router in 0..self.machine.network().routers() as u32 {
                let ports: Vec<PortView> = self.shared.links.neighbours(router).iter().map(Neighbour::view).collect();
                let view = self.view(custom, router, 0);
                // SAFETY: who registered the function guarantees that it keeps to the interface.
                if unsafe { start(ports.as_ptr(), ports.len() as i64, &raw const view) } == RAISED {
                    let kind = ErrorKind::RoutingRaised { function: "start", router: router.into(), time_ps: 0 };
                    return Err(kind.at(custom.at.clone()));
                }
            }
        }
        Ok(())
    }

    /// The least latency of a link between routers, if a routing learns.
    pub(super) fn answers_after(&self) -> Option<u64> {
        let learns = self.shared.customs.iter().any(|custom| custom.functions.learn.is_some());
        learns.then(|| self.shared.latency[1..].iter().copied().min().unwrap_or(u64::MAX))
    }

    fn view(&self, custom: &Custom, router: u32, now: u64) -> RouterView {
        RouterView {
            router: router.into(),
            time_ps: now as i64,
            routers: self.shared.groups.len() as i64,
            state: custom.state.row(router),
            links: self.shared.links.distance.as_ptr(),
            groups: self.shared.groups.as_ptr(),
            ends: self.shared.ends.as_ptr(),
            end_count: self.shared.ends.len() as i64,
        }
    }

    #[inline]
    fn router(&self, address: Address) -> u32 {
        self.shared.routers[(self.shared.first_of_high[usize::from(address.high)] + u32::from(address.low)) as usize]
    }

    #[inline]
    fn custom(&self, routing: u8) -> &Custom {
        &self.shared.customs[usize::from(routing)]
    }

    /// Notes a failure; that which happens first is kept.
    #[cold]
    fn fail(&self, custom: &Custom, now: u64, router: u32, kind: ErrorKind) {
        let mut failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|first| (now, router) < (first.0, first.1)) {
            *failure = Some((now, router, kind.at(custom.at.clone())));
        }
        self.shared.failed.store(true, Ordering::Release);
    }

    /// The router handles the answers that came before now.
    fn learn(&self, custom: &Custom, router: u32, now: u64) {
        let Some(learn) = custom.functions.learn else { return };
        let mut inbox = custom.inboxes[router as usize].lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((answer, delay)) = inbox.take(now) {
            let neighbours = self.shared.links.neighbours(router);
            let position = neighbours.partition_point(|near| near.port < answer.port);
            let told = AnswerView {
                port: answer.port.into(),
                router: neighbours[position].router.into(),
                destination: answer.destination.into(),
                delay_ps: delay as i64,
                answer: answer.says.unwrap_or(0.0),
                last: answer.says.is_none().into(),
                memory: memory_of(answer.memory),
            };
            let view = self.view(custom, router, answer.due);
            // SAFETY: who registered the function guarantees that it keeps to the interface.
            if unsafe { learn(&raw const told, &raw const view) } == RAISED {
                let kind = ErrorKind::RoutingRaised { function: "learn", router: router.into(), time_ps: now };
                self.fail(custom, now, router, kind);
            }
        }
    }

    /// The router that sent a packet here learns of the decision.
    fn answer(&self, custom: &Custom, place: RouterPlace, packet: &Event, says: Option<f64>) {
        let network = self.machine.network();
        let slot = (place.first + u32::from(packet.port)) as usize;
        let Peer::Router(far) = network.peer[slot] else { return };
        let (from, Port(port)) = network.port_of(far);
        let answer = Answer {
            due: packet.time + self.shared.latency[network.class[slot].index()],
            port,
            channel: packet.channel(),
            message: packet.message,
            key: packet.key,
            decided: packet.time,
            destination: self.router(packet.to),
            memory: packet.intermediate,
            says,
        };
        custom.inboxes[from.index()].lock().unwrap_or_else(PoisonError::into_inner).add(answer);
    }

    /// Calls the function with the ports that a packet may take; returns the port, and whether it is minimal.
    #[inline]
    fn pick(
        &self,
        custom: &Custom,
        place: RouterPlace,
        packet: &mut Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, bool) {
        let router = self.machine.network().router_of_slot[place.first as usize].0;
        let (hop, left) = (packet.hop(), custom.hops.saturating_sub(packet.hop()));
        self.learn(custom, router, packet.time);
        let neighbours = self.shared.links.neighbours(router);
        let row = self.shared.links.row(self.router(packet.to));
        let here = row[router as usize];
        let mut few = [const { MaybeUninit::uninit() }; FEW];
        let mut many = Vec::new();
        let room = if neighbours.len() <= FEW {
            &mut few[..]
        } else {
            many.resize(neighbours.len(), MaybeUninit::uninit());
            &mut many[..]
        };
        let mut count = 0;
        for near in neighbours {
            let links = row[near.router as usize];
            if links >= left {
                continue;
            }
            room[count].write(PortView {
                links: links.into(),
                minimal: (links < here).into(),
                load_ps: loads.backlog(near.port) as i64,
                ..near.view()
            });
            count += 1;
        }
        // SAFETY: the first `count` were written.
        let ports = unsafe { std::slice::from_raw_parts(room.as_ptr().cast::<PortView>(), count) };
        let mut told = PacketView {
            key: packet.key.into(),
            hop: hop.into(),
            hops_left: left.into(),
            destination: self.router(packet.to).into(),
            bytes: packet.bytes().into(),
            came_from: packet.port.into(),
            memory: memory_of(packet.intermediate),
            answer: 0.0,
        };
        let view = self.view(custom, router, packet.time);
        // SAFETY: who registered the function guarantees that it keeps to the interface.
        let picked = unsafe { (custom.functions.route)(&raw mut told, ports.as_ptr(), count as i64, &raw const view) };
        // (Nothing is taken from the views, which the function may have changed.)
        let mut open = neighbours.iter().filter(|near| row[near.router as usize] < left);
        let position = usize::try_from(picked).ok().filter(|&position| position < count);
        let port = position.and_then(|position| open.nth(position));
        let remembers = match told.memory {
            NOTHING => Some(NO_INTERMEDIATE),
            memory => u32::try_from(memory).ok().filter(|&memory| memory != NO_INTERMEDIATE),
        };
        let (Some(port), Some(memory)) = (port, remembers) else {
            let place = [u64::from(router), self.router(packet.to).into(), hop.into(), packet.time];
            self.fail(custom, packet.time, router, refused(picked, count, told.memory, port.is_some(), place));
            let first = neighbours.iter().find(|near| row[near.router as usize] < left);
            return (first.expect("the destination can be reached").port, true);
        };
        if custom.functions.learn.is_some() {
            if hop > 0 {
                self.answer(custom, place, packet, Some(told.answer));
            }
            let mut inbox = custom.inboxes[router as usize].lock().unwrap_or_else(PoisonError::into_inner);
            inbox.sends(packet, port.port);
        }
        packet.intermediate = memory;
        (port.port, row[port.router as usize] < here)
    }
}

impl RoutingAlgorithm for CustomRouting {
    #[inline(always)]
    fn enter(&self, _: &mut Event, _: Address) {}

    #[inline]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let mut on = *packet;
        let (port, minimal) = self.pick(self.custom(packet.routing()), place, &mut on, loads);
        RouteDecision::new(&on, port, packet.hop()).marked(packet.diverted() || !minimal, false)
    }

    #[inline]
    fn ends(&self, place: RouterPlace, packet: &Event) {
        let custom = self.custom(packet.routing());
        if custom.functions.learn.is_some() && packet.hop() > 0 {
            self.answer(custom, place, packet, None);
        }
    }

    fn failure(&self) -> Option<Error> {
        if !self.shared.failed.load(Ordering::Acquire) {
            return None;
        }
        let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map(|(_, _, error)| error.clone())
    }

    fn granularity(&self, routing: u8) -> PathGranularity {
        match self.custom(routing).keys {
            Keys::Packet => PathGranularity::Packet,
            Keys::Flow => PathGranularity::Flow,
        }
    }
}

impl AllPaths for CustomRouting {
    fn network(&self) -> &Network {
        self.machine.network()
    }

    fn max_hops(&self, routing: u8) -> u8 {
        self.custom(routing).hops
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        let router = self.machine.network().router_of_slot[place.first as usize].0;
        let row = self.shared.links.row(self.router(packet.to));
        let (hop, left) = (packet.hop(), self.custom(packet.routing()).hops - packet.hop());
        let branch = |near: &Neighbour| {
            let links = row[near.router as usize];
            let mut packet = *packet;
            if links >= row[router as usize] {
                packet.divert();
            }
            (links < left).then_some(Branch { port: near.port, channel: hop, packet })
        };
        self.shared.links.neighbours(router).iter().filter_map(branch).collect()
    }
}
