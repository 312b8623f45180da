//! Routing algorithms of direct machines (dragonfly, cascade): one file each.
//!
//! What they share is here and in [`paths`]. A packet is on a *leg* to a cable that leads to another group, or to a
//! router of its present group. An algorithm decides where a leg begins at the packet's first router; some decide again
//! at further routers of the source group. Channels rise with every leg and every change of direction inside a group,
//! so packets never wait for each other in a cycle (docs/model.md, section 6, "Channels").
//!
//! A packet remembers in [`Event::intermediate`]: in the upper half, the intermediate group (its own group for an
//! intermediate router there); in the lower half, the cable of its leg (a position in the list of cables between the
//! two groups) or the intermediate router.

pub mod adaptive;
pub mod adaptive_local;
pub mod aries;
mod inside;
pub mod minimal;
mod paths;
pub mod valiant;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::{Address, CascadeSpec, Dragonfly, Network};

pub use paths::{Paths, Pick};

use super::{
    AllPaths, Branch, CongestionMetric, InGroups, Loads, PathGranularity, RouterPlace, RoutingAlgorithm,
    enough_channels,
};
use crate::engine::random::{below32, packet_random};
use crate::fabric::packet::{Event, NO_INTERMEDIATE, RouteDecision};
use crate::spec::{FabricSpec, Gateways, RoutingSpec, Spec};

/// First random numbers of minimal paths, for an algorithm that compares two: 0 and 8.
const MINIMAL_BASE: u8 = 0;
/// First random numbers of non-minimal paths: 16 and 24.
const NON_MINIMAL_BASE: u8 = 16;
/// Random numbers of intermediate groups: 32 and 33.
const GROUP_BASE: u8 = 32;
/// Random number of the group through which a packet goes between groups without a cable.
const BRIDGE_BASE: u8 = 39;
/// Random numbers of intermediate routers: 40 and 41.
const ROUTER_BASE: u8 = 40;
/// First of the random numbers for ports along a leg.
const LEG_BASE: u8 = 48;

/// One of the two kinds of machine in the list of routings; algorithms for one are for both.
const MACHINE_KIND: &str = "dragonfly";

/// Most cables of a pair of groups: their indices have 16 bits.
const MOST_CABLES: u32 = 1 << 16;

/// No intermediate group, in the upper half of [`Event::intermediate`].
const NO_GROUP: u16 = (NO_INTERMEDIATE >> 16) as u16;

/// The decision where a leg begins.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Port on which the packet leaves.
    pub port: u16,
    /// Intermediate group, or the own group for an intermediate router in it; none for a minimal path.
    pub via: Option<u16>,
    /// Cable, or intermediate router; any value if the packet goes straight to a router of this group.
    pub to: u16,
    /// Whether the intermediate group bridges two groups without a cable; such a packet counts as minimal.
    pub bridge: bool,
}

impl Departure {
    /// A minimal path.
    fn minimal(port: u16, to: u16) -> Self {
        Self { port, via: None, to, bridge: false }
    }

    /// A non-minimal path.
    fn non_minimal(port: u16, via: u16, to: u16) -> Self {
        Self { port, via: Some(via), to, bridge: false }
    }
}

/// Whether packets take non-minimal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonMinimal {
    /// Never.
    Never,
    /// Depending on loads.
    ByLoad,
    /// Whenever there is one.
    Always,
}

/// A routing algorithm of direct machines. This trait has what differs between algorithms; what they share is in
/// [`Direct`].
pub trait DirectAlgorithm {
    /// Stages of its longest path (docs/model.md, section 6, "Channels").
    fn stages(&self) -> u8;

    /// Whether packets take non-minimal paths.
    fn non_minimal(&self) -> NonMinimal;

    /// The decision at a packet's first router.
    fn depart(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure;

    /// The decision at a further router of the source group on a minimal path, for an algorithm that decides again
    /// there.
    #[inline(always)]
    fn again(
        &self,
        paths: &Paths,
        position: PacketPosition,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Option<Departure> {
        let _ = (paths, position, packet, loads);
        None
    }

    /// Whether [`again`](Self::again) decides anything.
    fn decides_again(&self) -> bool {
        false
    }

    /// How ports are picked where the algorithm does not decide.
    #[inline(always)]
    fn pick(&self) -> Pick {
        Pick::Adaptive
    }

    /// Which packets take the same path.
    #[inline(always)]
    fn granularity(&self) -> PathGranularity {
        PathGranularity::Packet
    }

    /// Whether a packet on a non-minimal path begins its second phase at a random router of the intermediate group.
    #[inline(always)]
    fn via_router(&self) -> bool {
        false
    }

    /// Whether packets inside a group may go through a random router.
    fn detours_inside(&self) -> bool {
        false
    }

    /// Whether a decision may read the loads of other routers.
    fn sees_other_routers(&self) -> bool {
        false
    }

    /// Computes what depends on the machine and its links.
    fn prepare(&mut self, paths: &Paths, fabric: &FabricSpec) {
        let _ = (paths, fabric);
    }
}

/// Lists the routing algorithms: for each its file, which has a function `of` that makes it from a specification, and
/// its type; then the files whose `of` makes one of these.
macro_rules! algorithms {
    (($d:tt) $($file:ident: $Type:ident),+; $($preset:ident),+) => {
        /// One routing of a run.
        #[derive(Clone, Debug)]
        pub enum AnyDirectAlgorithm {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type($file::$Type),)+
        }

        /// Evaluates `$body` with `$algorithm` bound to the algorithm of an [`AnyDirectAlgorithm`].
        macro_rules! with_direct_algorithm {
            ($d any:expr, $d algorithm:ident => $d body:expr) => {
                match $d any { $(AnyDirectAlgorithm::$Type($d algorithm) => $d body,)+ }
            };
        }

        /// The functions that make an algorithm from a specification, if it is theirs.
        const MAKERS: &[fn(&RoutingSpec, &Path) -> Result<Option<AnyDirectAlgorithm>, Error>] = &[$($file::of,)+ $($preset::of),+];
    };
}

algorithms! { ($)
    minimal: Minimal,
    valiant: Valiant,
    adaptive: Adaptive,
    adaptive_local: AdaptiveLocal;
    aries
}

// Below the list, because it uses the macros that the list defines.
mod branches;

/// Stages of the longest path of a routing; none if it is not for these machines.
#[must_use]
pub fn stages(routing: &RoutingSpec) -> Option<u8> {
    AnyDirectAlgorithm::of(routing, &path!["routing"]).ok()?.map(|algorithm| algorithm.stages())
}

/// Channels of each stage on a cascade without failures: two if a path inside a group can turn from a row into a column.
#[must_use]
pub fn subs(machine: &CascadeSpec) -> u8 {
    if machine.rows > 1 && machine.columns > 1 { 2 } else { 1 }
}

/// A dragonfly or cascade with the routings of a run.
#[derive(Clone, Debug)]
pub struct Direct {
    paths: Paths,
    /// By the number that a packet carries.
    algorithms: Vec<AnyDirectAlgorithm>,
}

impl Direct {
    /// Prepares the routings of a specification, each with its position there.
    ///
    /// # Errors
    /// If one of them is not for this machine or needs more channels than the fabric has.
    pub fn new(spec: &Spec, machine: Arc<Dragonfly>, specs: &[(Path, RoutingSpec)]) -> Result<Self, Error> {
        let gateways = specs.iter().map(|(at, routing)| gateways(routing, at)).collect::<Result<Vec<_>, _>>()?;
        if let Some(other) = gateways.iter().position(|&g| g != gateways[0]) {
            return Err(ErrorKind::DifferentGateways {}.at(specs[other].0.join("gateways")));
        }
        let paths = Paths::new(machine, gateways[0] == Gateways::Nearest, &spec.sensed_fabric());
        if let Some((a, b)) = paths.apart() {
            return Err(ErrorKind::GroupsCutApart { groups: vec![a.into(), b.into()] }.at(path!["topology"]));
        }
        let most = paths.machine().links_per_pair();
        if most > MOST_CABLES {
            return Err(ErrorKind::TooManyCables { found: most, most: MOST_CABLES }.at(path!["topology"]));
        }
        let algorithms = specs
            .iter()
            .map(|(at, routing)| AnyDirectAlgorithm::new(routing, at, &paths, spec))
            .collect::<Result<_, _>>()?;
        let direct = Self { paths, algorithms };
        for (algorithm, (_, routing)) in direct.algorithms.iter().zip(specs) {
            enough_channels(routing.name(), direct.channels(algorithm), &spec.fabric)?;
        }
        Ok(direct)
    }

    /// Virtual channels that a routing needs: a set for each stage of a packet's path.
    fn channels(&self, algorithm: &AnyDirectAlgorithm) -> u32 {
        let bridged = if self.paths.bridged() { 3 } else { 2 };
        u32::from(algorithm.stages().max(bridged)) * u32::from(self.paths.subs())
    }

    /// Whether a decision may read the loads of other routers.
    #[must_use]
    pub fn sees_other_routers(&self) -> bool {
        self.algorithms
            .iter()
            .any(|algorithm| with_direct_algorithm!(algorithm, algorithm => algorithm.sees_other_routers()))
    }

    /// The routings.
    #[must_use]
    pub fn algorithms(&self) -> &[AnyDirectAlgorithm] {
        &self.algorithms
    }

    /// The machine and its paths.
    #[must_use]
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The decision at a packet's first router.
    #[inline]
    fn depart(
        &self,
        position: PacketPosition,
        algorithm: &AnyDirectAlgorithm,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> Departure {
        let (from, to) = (position.place.group, packet.to.group());
        if from != to && self.paths.is_bridged(from, to) {
            let intermediates = self.paths.intermediates(from, to);
            let via =
                intermediates.get(below32(packet_random(packet.key, packet.hop(), BRIDGE_BASE), intermediates.len()));
            let (cable, port) = self.paths.to_group(position, via, MINIMAL_BASE, algorithm.pick(), packet, loads);
            return Departure { bridge: true, ..Departure::non_minimal(port, via, cable) };
        }
        with_direct_algorithm!(algorithm, algorithm => algorithm.depart(&self.paths, position, packet, loads))
    }
}

impl AnyDirectAlgorithm {
    /// The algorithm of a specification; none if it is not for these machines.
    fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<Self>, Error> {
        for make in MAKERS {
            if let Some(algorithm) = make(routing, at)? {
                return Ok(Some(algorithm));
            }
        }
        Ok(None)
    }

    fn new(routing: &RoutingSpec, at: &Path, paths: &Paths, spec: &Spec) -> Result<Self, Error> {
        let mut algorithm = Self::of(routing, at)?.expect("refused when its gateways were looked for");
        with_direct_algorithm!(&mut algorithm, algorithm => algorithm.prepare(paths, &spec.fabric));
        Ok(algorithm)
    }

    fn stages(&self) -> u8 {
        with_direct_algorithm!(self, algorithm => algorithm.stages())
    }

    #[inline]
    fn pick(&self) -> Pick {
        with_direct_algorithm!(self, algorithm => algorithm.pick())
    }

    #[inline]
    fn via_router(&self) -> bool {
        with_direct_algorithm!(self, algorithm => algorithm.via_router())
    }
}

fn gateways(routing: &RoutingSpec, at: &Path) -> Result<Gateways, Error> {
    if !routing.info().machines.contains(&MACHINE_KIND) {
        let choices = super::built_in(MACHINE_KIND);
        let (routing, machine) = (routing.name(), "dragonfly or cascade");
        return Err(ErrorKind::RoutingNotForMachine { routing, machine, choices }.at(at.join("name")));
    }
    let missing = || ErrorKind::MissingGateways { choices: vec!["nearest", "all"] }.at(at.join("gateways"));
    routing.gateways().ok_or_else(missing)
}

/// The router of a decision, and how the packet arrived there.
#[derive(Clone, Copy, Debug)]
pub struct PacketPosition {
    /// The router.
    pub place: RouterPlace,
    /// Stage of the packet's path.
    stage: u8,
    /// If the last link was in the same stage inside this group: its `sub`, and whether it was along a row.
    inside: Option<(u8, bool)>,
}

impl PacketPosition {
    /// The links from here on belong to the next stage.
    fn begin_stage(&mut self) {
        self.stage += 1;
        self.inside = None;
    }
}

impl RoutingAlgorithm for Direct {
    #[inline(always)]
    fn enter(&self, _: &mut Event, _: Address) {}

    #[inline(always)]
    fn route(&self, place: RouterPlace, packet: &Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        self.decide(place, *packet, loads)
    }

    #[inline]
    fn guess(&self, place: RouterPlace, packet: &Event) -> Option<(u16, u8)> {
        let via = (packet.intermediate >> 16) as u16;
        let group = if via == NO_GROUP || packet.in_second_phase() { packet.to.group() } else { via };
        let ports = if packet.hop() == 0 {
            return None;
        } else if place.group != group {
            self.paths.towards(place, group, packet.intermediate as u16)
        } else if group == packet.to.group() {
            self.paths.local(place, packet.to.local())
        } else {
            return None;
        };
        let port = (!ports.is_empty()).then(|| ports.get(0))?;
        Some((port, self.paths.channel_if(self.paths.position(place, packet), port)))
    }

    #[inline]
    fn granularity(&self, routing: u8) -> PathGranularity {
        with_direct_algorithm!(&self.algorithms[usize::from(routing)], algorithm => algorithm.granularity())
    }
}

impl AllPaths for Direct {
    fn network(&self) -> &Network {
        &self.paths.machine().network
    }

    fn max_hops(&self, routing: u8) -> u8 {
        let algorithm = &self.algorithms[usize::from(routing)];
        let bridged = if self.paths.bridged() { 3 } else { 2 };
        let (stages, global) =
            (algorithm.stages().max(bridged), if algorithm.stages().max(bridged) > 2 { 2 } else { 1 });
        stages * self.paths.machine().diameter() + global
    }

    fn branches(&self, place: RouterPlace, packet: &Event) -> Vec<Branch> {
        self.all_branches(place, packet)
    }
}

/// The memory of a packet.
fn remember(via: Option<u16>, to: u16) -> u32 {
    u32::from(via.unwrap_or(NO_GROUP)) << 16 | u32::from(to)
}

impl Direct {
    /// The route decision of a packet. The packet is passed by value, because the function changes it.
    fn decide(&self, place: RouterPlace, mut packet: Event, loads: &Loads<'_, impl CongestionMetric>) -> RouteDecision {
        let algorithm = &self.algorithms[usize::from(packet.routing())];
        let mut position = self.paths.position(place, &packet);
        let port = if packet.hop() == 0 {
            let departure = self.depart(position, algorithm, &packet, loads);
            if departure.via.is_some() && !departure.bridge {
                packet.divert();
            }
            packet.intermediate = remember(departure.via, departure.to);
            departure.port
        } else {
            self.go_on(&mut position, algorithm, &mut packet, loads)
        };
        RouteDecision::new(&packet, port, self.paths.channel(position, port))
            .marked(packet.diverted(), packet.in_second_phase())
    }

    /// The port at a router that is not the packet's first.
    #[inline]
    fn go_on(
        &self,
        position: &mut PacketPosition,
        algorithm: &AnyDirectAlgorithm,
        packet: &mut Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> u16 {
        let (group, pick) = (position.place.group, algorithm.pick());
        let via = (packet.intermediate >> 16) as u16;
        let mut begins = false;
        if via != NO_GROUP && !packet.in_second_phase() {
            if group != via {
                return self.along(*position, via, pick, packet, loads);
            }
            let entered = position.inside.is_none();
            if entered {
                let by_router = packet.diverted() && algorithm.via_router();
                let router = if by_router {
                    self.paths.intermediate_router(position.place, packet)
                } else {
                    position.place.address.local()
                };
                packet.intermediate = remember(Some(via), router);
            }
            let router = packet.intermediate as u16;
            if router != position.place.address.local() {
                return self.paths.inside(*position, router, LEG_BASE, pick, packet, loads);
            }
            packet.begin_second_phase();
            if !entered {
                position.begin_stage();
            }
            begins = true;
        }
        if group == packet.to.group() {
            return self.paths.inside(*position, packet.to.local(), LEG_BASE, pick, packet, loads);
        }
        if begins {
            let (cable, port) = self.paths.to_group(*position, packet.to.group(), MINIMAL_BASE, pick, packet, loads);
            packet.intermediate = remember(Some(via), cable);
            return port;
        }
        if via == NO_GROUP
            && let Some(departure) =
                with_direct_algorithm!(algorithm, algorithm => algorithm.again(&self.paths, *position, packet, loads))
        {
            if departure.via.is_some() {
                packet.divert();
                packet.intermediate = remember(departure.via, departure.to);
                position.begin_stage();
            }
            return departure.port;
        }
        self.along(*position, packet.to.group(), pick, packet, loads)
    }

    /// The port along a leg to a cable to `group`.
    #[inline]
    fn along(
        &self,
        position: PacketPosition,
        group: u16,
        pick: Pick,
        packet: &Event,
        loads: &Loads<'_, impl CongestionMetric>,
    ) -> u16 {
        let cable = packet.intermediate as u16;
        let (router, port) = self.paths.cable(position.place.group, group, cable);
        if router == position.place.address.local() {
            return port;
        }
        self.paths.inside(position, router, LEG_BASE, pick, packet, loads)
    }
}
