//! Routing algorithms of a Dragonfly+: one file each.
//!
//! An algorithm sees the position of a packet and says which ports are on a minimal path, which non-minimal ports may
//! be taken, and on which channels: the [`CandidatePorts`]. Loads then decide between them, in one place. The
//! candidates do not depend on loads, so the same code gives every path that a packet could take. From these paths,
//! [`deadlock`](super::deadlock) proves that packets cannot wait for each other in a cycle.

mod candidates;
mod failed;
pub mod fpar;
pub mod minimal;
pub mod prog_adaptive;
pub mod valiant;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path};
use odonata_topology::{Address, DragonflyPlus, GroupId, Network, Peer, RouterId};

pub use candidates::CandidatePorts;

use super::deadlock::Proof;
use super::{
    AllPaths, Branch, CongestionMetric, InGroups, Loads, PathGranularity, Ports, RouterPlace, Routing,
    RoutingAlgorithm, enough_channels, not_for,
};
use crate::engine::prefetch;
use crate::engine::random::{below32, packet_random};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{FabricSpec, RoutingSpec, Select, Spec, Via};

/// The kind of machine, as the list of routings names it.
pub(super) const MACHINE_KIND: &str = "dragonfly-plus";

/// First of the random numbers for choices among minimal ports.
const MINIMAL_BASE: u8 = 0;
/// First of the random numbers for choices among non-minimal ports.
const NON_MINIMAL_BASE: u8 = 8;
/// First of the random numbers for the least loaded port.
const LEAST_BASE: u8 = 16;
/// First of the random numbers for intermediate stops.
const INTERMEDIATE_BASE: u8 = 24;
/// The hop number of decisions that are made once per packet.
const PER_PACKET: u8 = 255;

/// A routing algorithm of a Dragonfly+: one implementation per file. The simulation is compiled for each of them.
pub trait DragonflyPlusAlgorithm: Clone + Send + Sync {
    /// Its name in a specification.
    const NAME: &'static str;
    /// Virtual channels that it uses.
    const CHANNELS: u8;
    /// Most links between routers that a packet may take.
    const MAX_HOPS: u8;

    /// The algorithm of a routing of this name.
    ///
    /// # Errors
    /// If an option has no meaning on such machines.
    fn new(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error>;

    /// Whether packets may be diverted through one other group only, drawn when they enter the network.
    #[inline(always)]
    fn one_group(&self) -> bool {
        false
    }

    /// Makes the decisions that are made once per packet, when it enters the network at leaf `from`.
    #[inline(always)]
    fn enter(&self, machine: &DragonflyPlus, packet: &mut Event, from: Address) {
        if self.one_group() {
            packet.intermediate = intermediate_group(machine, packet.key, PER_PACKET, from.group(), packet.to.group());
        }
    }

    /// All values that [`enter`](Self::enter) may store in [`Event::intermediate`] for a packet from group `from` to
    /// group `to`.
    fn intermediates(&self, machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
        if self.one_group() { intermediate_groups(machine, from, to) } else { vec![NO_INTERMEDIATE] }
    }

    /// Where the packet may go from `place`, which is not its destination's leaf. Does not depend on loads.
    fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a>;

    /// As [`candidates`](Self::candidates) on a machine with failures. (It is separate, because the check would slow down all
    /// other machines.)
    fn candidates_with_failures<'a>(
        &self,
        machine: &'a DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
    ) -> CandidatePorts<'a>;

    /// The candidates, with failures or without.
    fn all_candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        if machine.has_failures() {
            return self.candidates_with_failures(machine, place, packet);
        }
        self.candidates(machine, place, packet)
    }

    /// Whether a packet with an intermediate stop counts as non-minimal from its first router on.
    fn diverts_at_once(&self) -> bool {
        false
    }

    /// The decision, if it is found without all candidates: the same as by [`candidates`](Self::candidates) and
    /// [`choose`](Self::choose), which it spares most packets.
    #[inline(always)]
    fn decide_early(
        &self,
        machine: &DragonflyPlus,
        place: RouterPlace,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<RouteDecision> {
        let _ = (machine, place, packet, loads);
        None
    }

    /// The chosen candidate port, and whether it is a non-minimal one.
    fn choose(
        &self,
        candidates: &CandidatePorts<'_>,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> (u16, bool);

    /// Which packets take the same path.
    fn granularity(&self) -> PathGranularity {
        PathGranularity::Packet
    }
}

/// A Dragonfly+ with one routing algorithm.
#[derive(Clone, Debug)]
pub struct DragonflyPlusRouting<R> {
    pub(super) machine: Arc<DragonflyPlus>,
    pub(super) algorithm: R,
}

impl<R: DragonflyPlusAlgorithm> RoutingAlgorithm for DragonflyPlusRouting<R> {
    #[inline(always)]
    fn enter(&self, packet: &mut Event, from: Address) {
        self.algorithm.enter(&self.machine, packet, from);
    }

    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let general = || {
            let candidates = self.algorithm.candidates(&self.machine, place, packet);
            follow(&self.algorithm, &candidates, packet, loads)
        };
        if let Some(decision) = self.algorithm.decide_early(&self.machine, place, packet, loads) {
            debug_assert_eq!(decision, general(), "{}: early, and by all candidates", R::NAME);
            return decision;
        }
        general()
    }

    #[inline]
    fn guess_far(&self, place: RouterPlace, packet: &Event) -> Option<(u16, u8)> {
        let candidates = self.algorithm.candidates(&self.machine, place, packet);
        (!candidates.minimal.is_empty()).then(|| (candidates.minimal.get(0), candidates.minimal_channel))
    }

    #[inline]
    fn prefetch_rows(&self, place: RouterPlace, packet: &Event) {
        let (from, to) = (GroupId(u32::from(place.group)), GroupId(u32::from(packet.to.group())));
        prefetch(self.machine.gateway_starts(), self.machine.gateway_row(from, to));
    }

    #[inline(always)]
    fn granularity(&self, _: u8) -> PathGranularity {
        self.algorithm.granularity()
    }
}

/// Decides by the candidate ports and their loads.
#[inline(always)]
fn follow<R: DragonflyPlusAlgorithm>(
    algorithm: &R,
    candidates: &CandidatePorts<'_>,
    packet: &Event,
    loads: &Loads<'_, impl CongestionMetric>,
) -> RouteDecision {
    let (port, non_minimal) = algorithm.choose(candidates, packet, loads);
    let channel = if non_minimal { candidates.non_minimal_channel } else { candidates.minimal_channel };
    RouteDecision::new(packet, port, channel).marked(non_minimal, candidates.begins_second_phase)
}

/// Lists the algorithms, each with its file. With a dollar sign and the name of a macro, passes the list to that macro.
macro_rules! dragonfly_plus_algorithms {
    (($d:tt) $callback:ident) => {
        $callback! { ($d) Minimal: minimal, Valiant: valiant, ProgAdaptive: prog_adaptive, Fpar: fpar }
    };
}
pub(super) use dragonfly_plus_algorithms;

macro_rules! any_dragonfly_plus {
    (($d:tt) $($Algorithm:ident: $file:ident),+) => {
        /// One of the algorithms.
        #[derive(Clone, Debug)]
        pub enum AnyDragonflyPlusAlgorithm {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Algorithm($file::$Algorithm),)+
        }

        /// Evaluates `$body` with `$algorithm` bound to an algorithm, of any type.
        macro_rules! with_dragonfly_plus {
            ($d any:expr, $d algorithm:ident => $d body:expr) => {
                match $d any { $(AnyDragonflyPlusAlgorithm::$Algorithm($d algorithm) => $d body,)+ }
            };
        }

        impl AnyDragonflyPlusAlgorithm {
            /// The algorithm of a specification; none if it is not for these machines.
            fn of(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Option<Self>, Error> {
                let name = routing.name();
                $(if name == $file::$Algorithm::NAME {
                    return Ok(Some(Self::$Algorithm($file::$Algorithm::new(fabric, routing, at)?)));
                })+
                Ok(None)
            }
        }

        /// Virtual channels of a routing; none if it is not for these machines.
        #[must_use]
        pub fn channels(routing: &RoutingSpec) -> Option<u8> {
            let name = routing.name();
            $(if name == $file::$Algorithm::NAME {
                return Some($file::$Algorithm::CHANNELS);
            })+
            None
        }
    };
}
dragonfly_plus_algorithms! { ($) any_dragonfly_plus }

impl AnyDragonflyPlusAlgorithm {
    /// Prepares the algorithm at path `at` of a specification.
    ///
    /// # Errors
    /// If it is not for a Dragonfly+ or needs more channels than the fabric has.
    pub fn new(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error> {
        if !routing.info().machines.contains(&MACHINE_KIND) {
            return Err(not_for(MACHINE_KIND, routing, at));
        }
        if routing.gateways().is_some() {
            return Err(ErrorKind::NeedlessGateways { machine: MACHINE_KIND }.at(at.join("gateways")));
        }
        let algorithm = Self::of(fabric, routing, at)?.expect("the list says that it is for these machines");
        enough_channels(algorithm.name(), algorithm.channels(), fabric)?;
        Ok(algorithm)
    }

    /// Refuses what the algorithm does not support on a machine with failures.
    pub(super) fn check(&self, machine: &DragonflyPlus, at: &Path) -> Result<(), Error> {
        let Self::Valiant(algorithm) = self else { return Ok(()) };
        if !machine.has_failures() {
            return Ok(());
        }
        if algorithm.via == Via::Leaf {
            return Err(ErrorKind::ViaLeafWithFailures {}.at(at.join("via")));
        }
        if machine.spec.spines > failed::MAX_SPINES {
            let (found, most) = (machine.spec.spines, failed::MAX_SPINES);
            let kind = ErrorKind::TooManySpines { routing: self.name(), found, most };
            return Err(kind.at(at.join("name")));
        }
        Ok(())
    }

    /// Its name in a scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        fn of<R: DragonflyPlusAlgorithm>(_: &R) -> &'static str {
            R::NAME
        }
        with_dragonfly_plus!(self, algorithm => of(algorithm))
    }

    /// Virtual channels that it uses.
    #[must_use]
    pub fn channels(&self) -> u8 {
        fn of<R: DragonflyPlusAlgorithm>(_: &R) -> u8 {
            R::CHANNELS
        }
        with_dragonfly_plus!(self, algorithm => of(algorithm))
    }

    /// Most links between routers that a packet may take.
    #[must_use]
    pub fn max_hops(&self) -> u8 {
        fn of<R: DragonflyPlusAlgorithm>(_: &R) -> u8 {
            R::MAX_HOPS
        }
        with_dragonfly_plus!(self, algorithm => of(algorithm))
    }

    /// Where a packet may go, as [`DragonflyPlusAlgorithm::candidates`].
    #[must_use]
    pub fn candidates<'a>(&self, machine: &'a DragonflyPlus, place: RouterPlace, packet: &Event) -> CandidatePorts<'a> {
        with_dragonfly_plus!(self, algorithm => algorithm.all_candidates(machine, place, packet))
    }
}

/// A Dragonfly+ whose jobs have different algorithms, or with failures.
#[derive(Clone, Debug)]
pub struct Mixed {
    pub(super) machine: Arc<DragonflyPlus>,
    /// By the number that a packet carries.
    pub(super) algorithms: Vec<AnyDragonflyPlusAlgorithm>,
}

impl Mixed {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is not for this machine or needs more channels than the fabric has.
    pub fn new(spec: &Spec, machine: Arc<DragonflyPlus>, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let fabric = spec.sensed_fabric();
        let algorithms = specs
            .iter()
            .map(|(at, routing)| AnyDragonflyPlusAlgorithm::new(&fabric, routing, at))
            .collect::<Result<Vec<_>, _>>()?;
        for (algorithm, (at, _)) in algorithms.iter().zip(specs) {
            algorithm.check(&machine, at)?;
        }
        Ok(Self { machine, algorithms })
    }

    /// The type for which the simulation is fastest.
    pub(super) fn simplest(mut self) -> Routing {
        if self.algorithms.len() > 1 || self.machine.has_failures() {
            return Routing::Mixed(self);
        }
        super::alone(self.machine, self.algorithms.remove(0))
    }
}

impl RoutingAlgorithm for Mixed {
    fn enter(&self, packet: &mut Event, from: Address) {
        with_dragonfly_plus!(&self.algorithms[usize::from(packet.routing())], algorithm => algorithm.enter(&self.machine, packet, from));
    }

    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let algorithm = &self.algorithms[usize::from(packet.routing())];
        let candidates = algorithm.candidates(&self.machine, place, packet);
        with_dragonfly_plus!(algorithm, algorithm => follow(algorithm, &candidates, packet, loads))
    }

    fn granularity(&self, routing: u8) -> PathGranularity {
        with_dragonfly_plus!(&self.algorithms[usize::from(routing)], algorithm => algorithm.granularity())
    }
}

impl<R: DragonflyPlusAlgorithm> AllPaths for DragonflyPlusRouting<R> {
    fn network(&self) -> &Network {
        &self.machine.network
    }

    fn max_hops(&self, _: u8) -> u8 {
        R::MAX_HOPS
    }

    fn starts(&self, from: Address, to: Address, routing: u8) -> Vec<Event> {
        starts(&self.machine, &self.algorithm, from, to, routing)
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        branches(&self.algorithm.all_candidates(&self.machine, place, packet), packet)
    }
}

impl AllPaths for Mixed {
    fn network(&self) -> &Network {
        &self.machine.network
    }

    fn max_hops(&self, routing: u8) -> u8 {
        self.algorithms[usize::from(routing)].max_hops()
    }

    fn starts(&self, from: Address, to: Address, routing: u8) -> Vec<Event> {
        with_dragonfly_plus!(&self.algorithms[usize::from(routing)], algorithm => starts(&self.machine, algorithm, from, to, routing))
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        branches(&self.algorithms[usize::from(packet.routing())].candidates(&self.machine, place, packet), packet)
    }
}

/// The states in which packets from one leaf to another enter the network.
fn starts<R: DragonflyPlusAlgorithm>(
    machine: &DragonflyPlus,
    algorithm: &R,
    from: Address,
    to: Address,
    routing: u8,
) -> Vec<Event> {
    let start = |intermediate| {
        let mut packet = Event::to_address(to, routing);
        packet.intermediate = intermediate;
        if algorithm.diverts_at_once() && intermediate != NO_INTERMEDIATE {
            packet.divert();
        }
        packet
    };
    algorithm.intermediates(machine, from.group(), to.group()).into_iter().map(start).collect()
}

/// The links on which a packet with these candidates may leave.
fn branches(candidates: &CandidatePorts<'_>, packet: &Event) -> Vec<Branch> {
    let mut packet = *packet;
    if candidates.begins_second_phase {
        packet.begin_second_phase();
    }
    let mut diverted = packet;
    diverted.divert();
    let minimal = candidates.minimal.iter().map(|port| Branch { port, channel: candidates.minimal_channel, packet });
    let non_minimal = candidates.non_minimal.iter().map(|port| Branch {
        port,
        channel: candidates.non_minimal_channel,
        packet: diverted,
    });
    minimal.chain(non_minimal).collect()
}

/// The paths are walked on a machine of at most four groups of at most two leaves and three spines with the same
/// algorithms: which kinds of virtual channels follow each other does not depend on how many of each there are. It does
/// depend on whether a spine has links to a group. Where some have none, or something has failed, both the machine with
/// all links and one with few links are walked, and the dependencies of both count. (So the check may refuse more than
/// necessary, but never less.)
impl Proof for Mixed {
    fn small(&self) -> Vec<Self> {
        let spec = &self.machine.spec;
        let regular = self.machine.complete && !self.machine.has_failures();
        let links: &[u32] = if regular { &[spec.spines] } else { &[spec.spines, 1] };
        let small = |&links_per_pair: &u32| {
            let (groups, leaves, spines) = (spec.groups.min(4), spec.leaves.min(2), spec.spines.min(3));
            let spec = odonata_topology::DragonflyPlusSpec {
                groups,
                leaves,
                spines,
                nodes_per_leaf: 1,
                global_links_per_spine: 3,
                links_per_pair: (groups > 1).then_some(links_per_pair.min(spines)),
                arrangement: odonata_topology::Arrangement::Linear,
                ..odonata_topology::DragonflyPlusSpec::default()
            };
            let machine =
                DragonflyPlus::build(&spec).expect("a link from every spine to each of three groups takes three ports");
            Self { machine: Arc::new(machine), algorithms: self.algorithms.clone() }
        };
        links.iter().map(small).collect()
    }

    fn direction(&self, router: RouterId, port: u16) -> &'static str {
        let network = &self.machine.network;
        let slot = network.first_slot[router.index()] + u32::from(port);
        match network.peer[slot as usize] {
            _ if self.machine.is_leaf(router) => "up",
            Peer::Router(far) if self.machine.is_leaf(network.router_of_slot[far.index()]) => "down",
            _ => "across",
        }
    }

    fn routings(&self) -> Vec<&'static str> {
        self.algorithms.iter().map(AnyDragonflyPlusAlgorithm::name).collect()
    }
}

/// A port among equally good ones.
#[inline(always)]
fn select(select: Select, ports: &Ports<'_>, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> u16 {
    match select {
        Select::Random | Select::Hash => ports.any(packet.key, packet.hop(), MINIMAL_BASE),
        Select::LeastLoaded => loads.least(ports, packet.key, packet.hop(), MINIMAL_BASE),
    }
}

/// For adaptive algorithms: if there are ports of one kind only, the least loaded of them.
#[inline(always)]
fn no_choice(
    candidates: &CandidatePorts<'_>,
    packet: &Event,
    loads: &Loads<'_, impl CongestionMetric>,
) -> Option<(u16, bool)> {
    let (key, hop) = (packet.key, packet.hop());
    if candidates.non_minimal.is_empty() {
        return Some((loads.least(&candidates.minimal, key, hop, LEAST_BASE), false));
    }
    candidates.minimal.is_empty().then(|| (loads.least(&candidates.non_minimal, key, hop, LEAST_BASE), true))
}

/// A random group other than `from` and `to`, or none: `group << 16`, as in [`Event::intermediate`].
#[inline(always)]
fn intermediate_group(machine: &DragonflyPlus, key: u32, hop: u8, from: u16, to: u16) -> u32 {
    let groups = machine.spec.groups;
    if from == to || groups < 3 {
        return NO_INTERMEDIATE;
    }
    let mut group = below32(packet_random(key, hop, INTERMEDIATE_BASE), groups - 2) as u16;
    let (low, high) = if from < to { (from, to) } else { (to, from) };
    group += u16::from(group >= low);
    group += u16::from(group >= high);
    u32::from(group) << 16
}

/// All possible results of [`intermediate_group`].
fn intermediate_groups(machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
    if from == to || machine.spec.groups < 3 {
        return vec![NO_INTERMEDIATE];
    }
    (0..machine.spec.groups as u16).filter(|&g| g != from && g != to).map(|g| u32::from(g) << 16).collect()
}

/// Ports of a leaf to the spines that lead to `to`.
#[inline(always)]
fn up<'a>(machine: &'a DragonflyPlus, place: RouterPlace, to: u16) -> Ports<'a> {
    let first = place.down;
    if machine.complete || to == place.group {
        return Ports::range(first, machine.spec.spines as u16);
    }
    Ports::list(first, machine.gateways(GroupId(u32::from(place.group)), GroupId(u32::from(to))))
}

/// Ports of a spine to another group `to`.
#[inline(always)]
fn across<'a>(machine: &'a DragonflyPlus, place: RouterPlace, to: u16) -> Ports<'a> {
    let spine = u32::from(place.address.local() - place.down);
    let ports = machine.spine_ports(GroupId(u32::from(place.group)), spine, GroupId(u32::from(to)));
    Ports::range(ports.start, ports.end - ports.start)
}

/// Ports of a spine to the leaves of its group.
#[inline(always)]
fn down<'a>(place: RouterPlace) -> Ports<'a> {
    Ports::range(0, place.down)
}
