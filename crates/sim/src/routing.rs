//! Routing algorithms in five families: [`direct`], [`dragonfly_plus`], [`fat_tree`], [`hyperx`] and [`graph`]; and
//! [`custom`], which asks a function of one's own on any machine. The list [`ROUTINGS`](crate::spec::ROUTINGS) has their
//! names, options and sources.
//!
//! *Direct* machines are those whose routers all have nodes: dragonfly and cascade. A routing algorithm sees the
//! position of a packet and the loads of its router's ports ([`Loads`]), and returns a port and a channel. The jobs of
//! a run may use different algorithms of the same family, and so may the messages of an application-aware job; a packet
//! carries the number of its own.

pub mod custom;
pub mod deadlock;
pub mod direct;
pub mod dragonfly_plus;
pub mod fat_tree;
pub mod graph;
pub mod hyperx;
mod in_groups;
mod loads;
mod ports;
pub mod show;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::{Address, Machine, Network, Peer, Port, RouterId};

pub use in_groups::InGroups;
pub use loads::{Backlog, CongestionMetric, InLevels, Loads, TRIES};
pub use ports::Ports;

use crate::fabric::RouterPlace;
use crate::fabric::packet::{Event, MAX_ROUTINGS, RouteDecision};
use crate::spec::{FabricSpec, JobSpec, ROUTINGS, RoutingInfo, RoutingSpec, Select, Spec, TopologySpec};
use dragonfly_plus::{AnyDragonflyPlusAlgorithm, DragonflyPlusRouting, Mixed};
use odonata_decision::Mode;

/// The names of the routings for machines of this kind whose functions are in this crate.
fn built_in(machine: &str) -> Vec<&'static str> {
    let fits = |info: &&RoutingInfo| info.machines.contains(&machine) && info.name != "custom";
    ROUTINGS.iter().filter(fits).map(|info| info.name).collect()
}

/// The error of a routing that is not for machines of this kind, with those that are.
fn not_for(machine: &'static str, routing: &RoutingSpec, at: &Path) -> Error {
    let choices = built_in(machine);
    ErrorKind::RoutingNotForMachine { routing: routing.name(), machine, choices }.at(at.join("name"))
}

/// # Errors
/// If a routing needs more channels than the fabric has.
fn enough_channels(routing: &'static str, need: impl Into<u32>, fabric: &FabricSpec) -> Result<(), Error> {
    let (need, have) = (need.into(), u32::from(fabric.channels));
    if have < need {
        return Err(ErrorKind::TooFewChannels { routing, need, have }.at(path!["fabric", "channels"]));
    }
    Ok(())
}

/// Which packets take the same path, if loads do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathGranularity {
    /// None: each packet has its own random numbers.
    Packet,
    /// The packets of a message.
    Message,
    /// The packets with the same source and destination.
    Flow,
}

impl PathGranularity {
    fn of(select: Select) -> Self {
        if select == Select::Hash { Self::Flow } else { Self::Packet }
    }
}

/// The routing algorithms of a run, on its machine. The simulation is compiled for each type.
pub trait RoutingAlgorithm: Clone + Send + Sync {
    /// Makes the decisions that are made once per packet, when it enters the network at the router with this address.
    fn enter(&self, packet: &mut Event, from: Address);

    /// The route decision at a router other than the destination's.
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision;

    /// A cheap guess of the decision of [`route`](Self::route), if there is one: its data is prefetched.
    #[inline(always)]
    fn guess(&self, place: RouterPlace, packet: &Event) -> Option<(u16, u8)> {
        let _ = (place, packet);
        None
    }

    /// The same for machines whose links are in no cache, where a guess is worth more work. It may read what
    /// [`prefetch_rows`](Self::prefetch_rows) has prefetched.
    #[inline(always)]
    fn guess_far(&self, place: RouterPlace, packet: &Event) -> Option<(u16, u8)> {
        self.guess(place, packet)
    }

    /// Prefetches what [`guess_far`](Self::guess_far) and [`route`](Self::route) look up.
    #[inline(always)]
    fn prefetch_rows(&self, place: RouterPlace, packet: &Event) {
        let _ = (place, packet);
    }

    /// A packet is at the router of its destination.
    #[inline(always)]
    fn ends(&self, place: RouterPlace, packet: &Event) {
        let _ = (place, packet);
    }

    /// What has gone wrong in a decision, if anything has.
    #[inline(always)]
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Which packets of routing number `routing` take the same path.
    fn granularity(&self, routing: u8) -> PathGranularity;
}

/// A possible next link of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Port taken.
    pub port: u16,
    /// Channel on it.
    pub channel: u8,
    /// The packet with its memory after the decision.
    pub packet: Event,
}

/// Every path that packets may take, for all loads and random numbers: for `odonata show`, for proofs that packets
/// cannot wait for each other in a cycle, and for tests. The other half of the protocol of a family.
pub trait AllPaths {
    /// The machine.
    fn network(&self) -> &Network;

    /// Most links between routers that a packet of routing number `routing` may take.
    fn max_hops(&self, routing: u8) -> u8;

    /// Packets of routing number `routing` from one router to another, in every state in which they may enter the
    /// network.
    fn starts(&self, from: Address, to: Address, routing: u8) -> Vec<Event> {
        let _ = from;
        vec![Event::to_address(to, routing)]
    }

    /// Every possible next link at a router other than the packet's destination.
    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch>;

    /// The next router, and the packet as it arrives there.
    ///
    /// # Panics
    /// If the link does not lead to a router.
    fn follow(&self, from: RouterId, branch: Branch) -> (RouterId, Event) {
        let network = self.network();
        let Peer::Router(far) = network.peer[network.slot(from, Port(branch.port)).index()] else {
            panic!("a routing sends a packet from router {from} by port {}, to no router", branch.port)
        };
        let (next, far_port) = network.port_of(far);
        let mut packet = branch.packet;
        packet.port = far_port.0;
        packet.set_channel(branch.channel);
        packet.next_hop();
        (next, packet)
    }
}

macro_rules! routing {
    (($d:tt) $($Algorithm:ident: $file:ident),+) => {
        /// The routing algorithms of a specification. The simulation is compiled for each variant.
        #[derive(Clone, Debug)]
        #[expect(clippy::large_enum_variant, reason = "a run has one")]
        pub enum Routing {
            $(#[doc = concat!("See [`dragonfly_plus::", stringify!($file), "`].")]
            $Algorithm(DragonflyPlusRouting<dragonfly_plus::$file::$Algorithm>),)+
            /// Several algorithms of a Dragonfly+, or one with failures.
            Mixed(Mixed),
            /// One or several algorithms of a direct machine.
            Direct(direct::Direct),
            /// One or several ways to spread packets on a fat tree.
            FatTree(fat_tree::UpDown),
            /// One or several algorithms of a HyperX.
            HyperX(hyperx::HyperXRouting),
            /// One or several algorithms of a graph.
            Graph(graph::GraphRouting),
            /// One or several routings of one's own, on any machine.
            Custom(custom::CustomRouting),
        }

        /// Evaluates `$body` with `$algorithm` bound to the algorithm of a [`Routing`], of any type.
        macro_rules! with_algorithm {
            ($d routing:expr, $d algorithm:ident => $d body:expr) => {
                match $d routing {
                    $(crate::routing::Routing::$Algorithm($d algorithm) => $d body,)+
                    crate::routing::Routing::Mixed($d algorithm) => $d body,
                    crate::routing::Routing::Direct($d algorithm) => $d body,
                    crate::routing::Routing::FatTree($d algorithm) => $d body,
                    crate::routing::Routing::HyperX($d algorithm) => $d body,
                    crate::routing::Routing::Graph($d algorithm) => $d body,
                    crate::routing::Routing::Custom($d algorithm) => $d body,
                }
            };
        }

        /// One algorithm of a Dragonfly+ on its machine.
        fn alone(machine: Arc<odonata_topology::DragonflyPlus>, algorithm: AnyDragonflyPlusAlgorithm) -> Routing {
            match algorithm { $(AnyDragonflyPlusAlgorithm::$Algorithm(algorithm) => Routing::$Algorithm(DragonflyPlusRouting { machine, algorithm }),)+ }
        }
    };
}
dragonfly_plus::dragonfly_plus_algorithms! { ($) routing }
pub(crate) use with_algorithm;

/// The routings of a run, compiled once for all algorithms: for runs in which other things than routing take most of the
/// time.
#[derive(Clone)]
pub struct AnyAlgorithm {
    routing: Routing,
    /// First channel of responses, if packets are answered; else one that no packet has.
    first_response: u8,
}

impl AnyAlgorithm {
    /// The routings of a fabric.
    #[must_use]
    pub fn new(routing: Routing, fabric: &FabricSpec) -> Self {
        Self { routing, first_response: if fabric.answers() { fabric.first_response() } else { u8::MAX } }
    }
}

impl RoutingAlgorithm for AnyAlgorithm {
    fn enter(&self, packet: &mut Event, from: Address) {
        with_algorithm!(&self.routing, algorithm => algorithm.enter(packet, from));
    }

    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        if packet.channel() >= self.first_response {
            let mut request = *packet;
            request.set_channel(packet.channel() - self.first_response);
            let decision = with_algorithm!(&self.routing, algorithm => algorithm.route(place, &request, loads));
            return decision.shifted(self.first_response);
        }
        with_algorithm!(&self.routing, algorithm => algorithm.route(place, packet, loads))
    }

    #[inline]
    fn ends(&self, place: RouterPlace, packet: &Event) {
        if let Routing::Custom(custom) = &self.routing {
            custom.ends(place, packet);
        }
    }

    fn failure(&self) -> Option<Error> {
        with_algorithm!(&self.routing, algorithm => algorithm.failure())
    }

    fn granularity(&self, routing: u8) -> PathGranularity {
        with_algorithm!(&self.routing, algorithm => algorithm.granularity(routing))
    }
}

/// The routings of a run with traffic classes.
#[derive(Clone)]
pub struct ClassedAlgorithm {
    inner: AnyAlgorithm,
    /// By number of a routing: the first channel of its class.
    first: [u8; MAX_ROUTINGS],
}

impl ClassedAlgorithm {
    /// The routings of a checked specification.
    #[must_use]
    pub fn new(routing: Routing, spec: &Spec) -> Self {
        let first = routing_classes(spec).map(|class| class * spec.fabric.channels);
        Self { inner: AnyAlgorithm::new(routing, &spec.fabric), first }
    }
}

impl RoutingAlgorithm for ClassedAlgorithm {
    fn enter(&self, packet: &mut Event, from: Address) {
        self.inner.enter(packet, from);
    }

    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let first = self.first[usize::from(packet.routing()) % MAX_ROUTINGS];
        // From its NIC it comes on the first channel of all classes.
        let base = if packet.channel() >= self.inner.first_response { self.inner.first_response } else { 0 };
        let mut alone = *packet;
        alone.set_channel(base + (packet.channel() - base).saturating_sub(first));
        self.inner.route(place, &alone, loads).shifted(first)
    }

    fn ends(&self, place: RouterPlace, packet: &Event) {
        self.inner.ends(place, packet);
    }

    fn failure(&self) -> Option<Error> {
        self.inner.failure()
    }

    fn granularity(&self, routing: u8) -> PathGranularity {
        self.inner.granularity(routing)
    }
}

impl Routing {
    /// Prepares the routings of a checked specification.
    ///
    /// # Errors
    /// If one of them is not for this kind of machine or needs more channels than the fabric has, if there are too
    /// many, or if they could deadlock.
    pub fn new(spec: &Spec, machine: Machine) -> Result<Self, Error> {
        let specs: Vec<_> = distinct(spec)?.into_iter().map(|of| (of.at, of.routing)).collect();
        Self::of(spec, machine, &specs)
    }

    /// As [`new`](Self::new), for these routings, each with its position in the specification.
    fn of(spec: &Spec, machine: Machine, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        if specs.iter().any(|(_, routing)| matches!(routing, RoutingSpec::Custom { .. })) {
            return Ok(Self::Custom(custom::CustomRouting::new(machine, &spec.fabric, specs)?));
        }
        match machine {
            Machine::Dragonfly(machine) => Ok(Self::Direct(direct::Direct::new(spec, machine, specs)?)),
            Machine::FatTree(machine) => {
                let routing = fat_tree::UpDown::new(machine, specs)?;
                deadlock::check(&routing)?;
                Ok(Self::FatTree(routing))
            }
            Machine::Graph(machine) => Ok(Self::Graph(graph::GraphRouting::new(machine, &spec.fabric, specs)?)),
            Machine::HyperX(machine) => Ok(Self::HyperX(hyperx::HyperXRouting::new(machine, &spec.fabric, specs)?)),
            Machine::DragonflyPlus(machine) => {
                let mixed = Mixed::new(spec, machine, specs)?;
                deadlock::check(&mixed)?;
                Ok(mixed.simplest())
            }
        }
    }

    /// Whether a decision may read the loads of other routers, so that all events must be handled in one global order.
    #[must_use]
    pub fn sees_other_routers(&self) -> bool {
        if let Self::Direct(direct) = self { direct.sees_other_routers() } else { false }
    }

    /// The least time after which a router learns of a decision at another, if it does.
    #[must_use]
    pub fn answers_after(&self) -> Option<u64> {
        if let Self::Custom(custom) = self { custom.answers_after() } else { None }
    }
}

/// A routing of packets of a traffic class, with its first position in a specification.
struct Distinct {
    at: Path,
    routing: RoutingSpec,
    class: u8,
}

/// The different routings of the packets of a run, by traffic class. A packet carries its number here.
fn distinct(spec: &Spec) -> Result<Vec<Distinct>, Error> {
    let mut all: Vec<Distinct> = Vec::new();
    for (index, job) in spec.jobs.iter().enumerate() {
        let at = if job.routing.is_some() { path!["jobs", index, "routing"] } else { path!["routing"] };
        for routing in of_modes(spec, job) {
            if !all.iter().any(|other| other.routing == routing && other.class == job.class) {
                all.push(Distinct { at: at.clone(), routing, class: job.class });
            }
        }
    }
    if all.len() > MAX_ROUTINGS {
        return Err(ErrorKind::TooManyRoutings { found: all.len(), most: MAX_ROUTINGS }.at(path!["jobs"]));
    }
    Ok(all)
}

/// Virtual channels that a routing needs on a machine, if nothing has failed and no groups are bridged. None if the
/// routing is not for such machines.
#[must_use]
pub fn channels(routing: &RoutingSpec, machine: &TopologySpec) -> Option<u8> {
    if !routing.info().machines.contains(&machine.kind()) {
        return None;
    }
    let routing = &routing.of_packets(Mode::Adaptive); // all modes need the same
    if matches!(routing, RoutingSpec::Custom { .. }) {
        return custom::channels(routing);
    }
    match machine {
        TopologySpec::DragonflyPlus(_) => dragonfly_plus::channels(routing),
        TopologySpec::FatTree(_) => Some(fat_tree::CHANNELS),
        TopologySpec::HyperX(machine) => hyperx::channels(routing, machine),
        TopologySpec::Graph(machine) => graph::channels(routing, machine),
        TopologySpec::Dragonfly(_) => direct::stages(routing),
        TopologySpec::Cascade(machine) => Some(direct::stages(routing)? * direct::subs(machine)),
    }
}

/// The routing of the packets of a job in each mode.
fn of_modes(spec: &Spec, job: &JobSpec) -> [RoutingSpec; Mode::ALL.len()] {
    let routing = spec.routing_of(job);
    if !matches!(spec.topology, TopologySpec::Dragonfly(_) | TopologySpec::Cascade(_)) {
        return Mode::ALL.map(|_| routing.clone()); // refused, under its own name
    }
    Mode::ALL.map(|mode| routing.of_packets(mode))
}

/// The number of the routing of each job's packets, by the position of their mode; the same for all unless the job is
/// application-aware.
#[must_use]
pub fn routing_numbers(spec: &Spec) -> Vec<[u8; Mode::ALL.len()]> {
    let all = distinct(spec).expect("a checked specification has few routings");
    let number = |job: &JobSpec, routing: RoutingSpec| {
        let is_it = |other: &Distinct| other.routing == routing && other.class == job.class;
        all.iter().position(is_it).expect("all were collected") as u8
    };
    spec.jobs.iter().map(|job| of_modes(spec, job).map(|routing| number(job, routing))).collect()
}

/// The traffic class of the packets with each number of a routing.
///
/// # Panics
/// If the specification has too many routings.
#[must_use]
pub fn routing_classes(spec: &Spec) -> [u8; MAX_ROUTINGS] {
    let mut classes = [0; MAX_ROUTINGS];
    let all = distinct(spec).expect("a checked specification has few routings");
    classes.iter_mut().zip(all).for_each(|(to, of)| *to = of.class);
    classes
}
