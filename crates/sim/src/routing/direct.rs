//! Routings of direct machines (dragonfly, cascade): one file each.
//!
//! What they share is here and in [`ways`]: a packet is on a *leg* to a cable that leads to another group, or to a router of
//! the group it is in; a rule is asked where a leg begins at the packet's first router, and some again on the way
//! through its source group. Channels rise with every leg and every change of direction inside a group, so packets
//! never wait for each other in a circle (docs/model.md, section 6, "Channels").
//!
//! A packet remembers in [`Event::middle`]: in the upper half the intermediate group (its own group for an intermediate
//! router there), in the lower half the cable it is on its way to (a position in the list of cables between the two
//! groups) or the intermediate router.

pub mod adaptive;
pub mod adaptive_local;
pub mod aries;
mod inside;
pub mod minimal;
pub mod valiant;
mod ways;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::Dragonfly;

pub use ways::{Pick, Ways};

use super::{Grain, Loads, Place, Rule, Sense};
use crate::engine::random::{below32, draw};
use crate::fabric::packet::{Event, NO_MIDDLE, Step};
use crate::spec::{FabricSpec, Gateways, ROUTINGS, RoutingSpec, Spec};

/// First draws of ways that are shortest ways, of a routing that compares two: 0 and 8.
const MINIMAL_DRAWS: u8 = 0;
/// First draws of ways round: 16 and 24.
const OTHER_DRAWS: u8 = 16;
/// Draws of intermediate groups: 32 and 33.
const GROUP_DRAWS: u8 = 32;
/// Draw of the group by way of which a packet goes between groups without a cable.
const BRIDGE_DRAW: u8 = 39;
/// Draws of intermediate routers: 40 and 41.
const ROUTER_DRAWS: u8 = 40;
/// First of the draws for ports on the way along a leg.
const ALONG_DRAWS: u8 = 48;

/// One of the kinds of machine, as the list of routings names them; what is for one is for all.
const KIND: &str = "dragonfly";

/// Most cables of a pair of groups: their numbers have 16 bits.
const MOST_CABLES: u32 = 1 << 16;

/// No intermediate group, in the upper half of [`Event::middle`].
const NO_GROUP: u16 = (NO_MIDDLE >> 16) as u16;

/// What a rule decides where a leg begins.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Port on which the packet leaves.
    pub port: u16,
    /// Intermediate group, or the own group for an intermediate router in it; none for a shortest way.
    pub via: Option<u16>,
    /// Cable, or intermediate router; anything if the packet goes straight to a router of this group.
    pub to: u16,
    /// Whether the intermediate group is not a way round, but the only way.
    pub bridge: bool,
}

impl Departure {
    /// A shortest way.
    fn straight(port: u16, to: u16) -> Self {
        Self { port, via: None, to, bridge: false }
    }

    /// A way round.
    fn round(port: u16, via: u16, to: u16) -> Self {
        Self { port, via: Some(via), to, bridge: false }
    }
}

/// Whether packets take non-minimal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonMinimal {
    /// Never.
    Never,
    /// If loads say so.
    ByLoad,
    /// Wherever there is one.
    Always,
}

/// A routing algorithm of direct machines. All that sets one apart from the others is here; what they share is in [`Direct`].
pub trait DirectAlgorithm {
    /// Stages of its longest path (docs/model.md, section 6, "Channels").
    fn stages(&self) -> u8;

    /// Whether packets take non-minimal paths.
    fn non_minimal(&self) -> NonMinimal;

    /// The decision at a packet's first router.
    fn depart(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure;

    /// The decision at a further router of the source group on a minimal path, of an algorithm that decides again there.
    #[inline(always)]
    fn again(&self, ways: &Ways, here: Here, packet: &Event, loads: &Loads<'_, impl Sense>) -> Option<Departure> {
        let _ = (ways, here, packet, loads);
        None
    }

    /// Whether [`again`](Self::again) decides anything.
    fn decides_again(&self) -> bool {
        false
    }

    /// How ports are picked where the algorithm is not asked.
    #[inline(always)]
    fn pick(&self) -> Pick {
        Pick::Adaptive
    }

    /// What packets share.
    #[inline(always)]
    fn grain(&self) -> Grain {
        Grain::Packet
    }

    /// Whether a packet on a non-minimal path turns at a random router of the intermediate group.
    #[inline(always)]
    fn turns_at_router(&self) -> bool {
        false
    }

    /// Whether packets inside a group may go by way of a random router.
    fn detours_inside(&self) -> bool {
        false
    }

    /// Whether a decision may read the loads of other routers.
    fn sees_other_routers(&self) -> bool {
        false
    }

    /// Works out what depends on the machine and its links.
    fn prepare(&mut self, ways: &Ways, fabric: &FabricSpec) {
        let _ = (ways, fabric);
    }
}

/// Lists the routing algorithms: for each its file, which has a function `of` that makes it of a specification, and its type;
/// then the files with an `of` that makes one of these.
macro_rules! algorithms {
    (($d:tt) $($file:ident: $Type:ident),+; $($preset:ident),+) => {
        /// One routing of a run.
        #[derive(Clone, Debug)]
        pub enum Mode {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type($file::$Type),)+
        }

        /// Evaluates `$body` with `$rule` standing for the algorithm of a [`Mode`], whatever its type.
        macro_rules! with_mode {
            ($d mode:expr, $d rule:ident => $d body:expr) => {
                match $d mode { $(Mode::$Type($d rule) => $d body,)+ }
            };
        }

        /// What makes an algorithm of a specification, if it is the one that is meant.
        const MAKERS: &[fn(&RoutingSpec, &Path) -> Result<Option<Mode>, Error>] = &[$($file::of,)+ $($preset::of),+];
    };
}

algorithms! { ($)
    minimal: Minimal,
    valiant: Valiant,
    adaptive: Adaptive,
    adaptive_local: AdaptiveLocal;
    aries
}

// Below the list, because it uses what the list makes.
mod branches;

pub use branches::Branch;

/// Stages of the longest path of a routing; none if it is not for these machines.
#[must_use]
pub fn stages(routing: &RoutingSpec) -> Option<u8> {
    Mode::of(routing, &path!["routing"]).ok()?.map(|mode| mode.stages())
}

/// A dragonfly or cascade with the routings of a run.
#[derive(Clone, Debug)]
pub struct Direct {
    ways: Ways,
    /// By the number that a packet carries.
    modes: Vec<Mode>,
}

impl Direct {
    /// Prepares the routings of a specification, each with the place where it stands there.
    ///
    /// # Errors
    /// If one of them is not for this machine or needs more channels than the fabric has.
    pub fn new(spec: &Spec, machine: Arc<Dragonfly>, specs: &[(Path, &RoutingSpec)]) -> Result<Self, Error> {
        let gateways = specs.iter().map(|(at, routing)| gateways(routing, at)).collect::<Result<Vec<_>, _>>()?;
        if let Some(other) = gateways.iter().position(|&g| g != gateways[0]) {
            return Err(ErrorKind::DifferentGateways {}.at(specs[other].0.join("gateways")));
        }
        let ways = Ways::new(machine, gateways[0] == Gateways::Nearest, &spec.fabric);
        if let Some((a, b)) = ways.apart() {
            return Err(ErrorKind::GroupsCutApart { groups: vec![a.into(), b.into()] }.at(path!["topology"]));
        }
        let most = ways.machine().links_per_pair();
        if most > MOST_CABLES {
            return Err(ErrorKind::TooManyCables { found: most, most: MOST_CABLES }.at(path!["topology"]));
        }
        let modes = specs.iter().map(|(at, routing)| Mode::new(routing, at, &ways, spec)).collect::<Result<_, _>>()?;
        let direct = Self { ways, modes };
        for (mode, (_, routing)) in direct.modes.iter().zip(specs) {
            let (need, have) = (direct.channels(mode), u32::from(spec.fabric.channels));
            if have < need {
                let kind = ErrorKind::TooFewChannels { routing: routing.name(), need, have };
                return Err(kind.at(path!["fabric", "channels"]));
            }
        }
        Ok(direct)
    }

    /// Virtual channels that a routing needs: a set for each stage of a packet's way.
    fn channels(&self, mode: &Mode) -> u32 {
        let bridged = if self.ways.bridged() { 3 } else { 2 };
        u32::from(mode.stages().max(bridged)) * u32::from(self.ways.subs())
    }

    /// Most links between routers that a packet of routing number `mode` may take.
    #[must_use]
    pub fn max_hops(&self, mode: u8) -> u8 {
        let mode = &self.modes[usize::from(mode)];
        let bridged = if self.ways.bridged() { 3 } else { 2 };
        let (stages, global) = (mode.stages().max(bridged), if mode.stages().max(bridged) > 2 { 2 } else { 1 });
        stages * self.ways.machine().diameter() + global
    }

    /// Whether a decision may read the loads of other routers.
    #[must_use]
    pub fn sees_other_routers(&self) -> bool {
        self.modes.iter().any(|mode| with_mode!(mode, rule => rule.sees_other_routers()))
    }

    /// The routings.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The machine and its ways.
    #[must_use]
    pub fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The decision at a packet's first router.
    #[inline]
    fn depart(&self, here: Here, mode: &Mode, packet: &Event, loads: &Loads<'_, impl Sense>) -> Departure {
        let (from, to) = (here.place.group, packet.to_group);
        if from != to && self.ways.is_bridged(from, to) {
            let middles = self.ways.middles(from, to);
            let via = middles.get(below32(draw(packet.word, packet.hop(), BRIDGE_DRAW), middles.len()));
            let (cable, port) = self.ways.to_group(here, via, MINIMAL_DRAWS, mode.pick(), packet, loads);
            return Departure { bridge: true, ..Departure::round(port, via, cable) };
        }
        with_mode!(mode, rule => rule.depart(&self.ways, here, packet, loads))
    }
}

impl Mode {
    /// The algorithm of a specification; none if it is not for these machines.
    fn of(routing: &RoutingSpec, at: &Path) -> Result<Option<Self>, Error> {
        for make in MAKERS {
            if let Some(mode) = make(routing, at)? {
                return Ok(Some(mode));
            }
        }
        Ok(None)
    }

    fn new(routing: &RoutingSpec, at: &Path, ways: &Ways, spec: &Spec) -> Result<Self, Error> {
        let mut mode = Self::of(routing, at)?.expect("refused when its gateways were looked for");
        with_mode!(&mut mode, rule => rule.prepare(ways, &spec.fabric));
        Ok(mode)
    }

    fn stages(&self) -> u8 {
        with_mode!(self, rule => rule.stages())
    }

    #[inline]
    fn pick(&self) -> Pick {
        with_mode!(self, rule => rule.pick())
    }

    #[inline]
    fn turns_at_router(&self) -> bool {
        with_mode!(self, rule => rule.turns_at_router())
    }
}

fn gateways(routing: &RoutingSpec, at: &Path) -> Result<Gateways, Error> {
    if !routing.info().machines.contains(&KIND) {
        let choices = ROUTINGS.iter().filter(|info| info.machines.contains(&KIND)).map(|info| info.name).collect();
        let (routing, machine) = (routing.name(), "dragonfly or cascade");
        return Err(ErrorKind::RoutingNotForMachine { routing, machine, choices }.at(at.join("name")));
    }
    let missing = || ErrorKind::MissingGateways { choices: vec!["nearest", "all"] }.at(at.join("gateways"));
    routing.gateways().ok_or_else(missing)
}

/// The router at which a decision is made, and how the packet came there.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// The router.
    pub place: Place,
    /// Stage of the packet's way.
    stage: u8,
    /// If the last link was one of the same stage inside this group: its `sub`, and whether it was along a row.
    inside: Option<(u8, bool)>,
}

impl Here {
    /// The links from here on are those of the next stage.
    fn begin_stage(&mut self) {
        self.stage += 1;
        self.inside = None;
    }
}

impl Rule for Direct {
    #[inline(always)]
    fn enter(&self, _: &mut Event, _: u16, _: u16) {}

    #[inline(always)]
    fn route(&self, place: Place, packet: &Event, loads: &Loads<'_, impl Sense>) -> Step {
        self.decide(place, *packet, loads)
    }

    #[inline]
    fn guess(&self, place: Place, packet: &Event) -> Option<(u16, u8)> {
        let via = (packet.middle >> 16) as u16;
        let group = if via == NO_GROUP || packet.turned() { packet.to_group } else { via };
        let ports = if packet.hop() == 0 {
            return None;
        } else if place.group != group {
            self.ways.towards(place, group, packet.middle as u16)
        } else if group == packet.to_group {
            self.ways.local(place, packet.to_local)
        } else {
            return None;
        };
        let port = (!ports.is_empty()).then(|| ports.get(0))?;
        Some((port, self.ways.channel_if(self.ways.here(place, packet), port)))
    }

    #[inline]
    fn grain(&self, mode: u8) -> Grain {
        with_mode!(&self.modes[usize::from(mode)], rule => rule.grain())
    }
}

/// What a packet remembers.
fn remember(via: Option<u16>, to: u16) -> u32 {
    u32::from(via.unwrap_or(NO_GROUP)) << 16 | u32::from(to)
}

impl Direct {
    /// The decision on a packet. It is handed over by value, because it is changed on the way to the decision.
    fn decide(&self, place: Place, mut packet: Event, loads: &Loads<'_, impl Sense>) -> Step {
        let mode = &self.modes[usize::from(packet.mode())];
        let mut here = self.ways.here(place, &packet);
        let port = if packet.hop() == 0 {
            let departure = self.depart(here, mode, &packet, loads);
            if departure.via.is_some() && !departure.bridge {
                packet.divert();
            }
            packet.middle = remember(departure.via, departure.to);
            departure.port
        } else {
            self.go_on(&mut here, mode, &mut packet, loads)
        };
        Step::new(&packet, port, self.ways.channel(here, port)).marked(packet.diverted(), packet.turned())
    }

    /// The port at a router that is not the packet's first.
    #[inline]
    fn go_on(&self, here: &mut Here, mode: &Mode, packet: &mut Event, loads: &Loads<'_, impl Sense>) -> u16 {
        let (group, pick) = (here.place.group, mode.pick());
        let via = (packet.middle >> 16) as u16;
        let mut begins = false;
        if via != NO_GROUP && !packet.turned() {
            if group != via {
                return self.along(*here, via, pick, packet, loads);
            }
            let entered = here.inside.is_none();
            if entered {
                let by_router = packet.diverted() && mode.turns_at_router();
                let router = if by_router { self.ways.middle_router(here.place, packet) } else { here.place.local };
                packet.middle = remember(Some(via), router);
            }
            let router = packet.middle as u16;
            if router != here.place.local {
                return self.ways.inside(*here, router, ALONG_DRAWS, pick, packet, loads);
            }
            packet.turn();
            if !entered {
                here.begin_stage();
            }
            begins = true;
        }
        if group == packet.to_group {
            return self.ways.inside(*here, packet.to_local, ALONG_DRAWS, pick, packet, loads);
        }
        if begins {
            let (cable, port) = self.ways.to_group(*here, packet.to_group, MINIMAL_DRAWS, pick, packet, loads);
            packet.middle = remember(Some(via), cable);
            return port;
        }
        if via == NO_GROUP
            && let Some(departure) = with_mode!(mode, rule => rule.again(&self.ways, *here, packet, loads))
        {
            if departure.via.is_some() {
                packet.divert();
                packet.middle = remember(departure.via, departure.to);
                here.begin_stage();
            }
            return departure.port;
        }
        self.along(*here, packet.to_group, pick, packet, loads)
    }

    /// The port along a leg to a cable to `group`.
    #[inline]
    fn along(&self, here: Here, group: u16, pick: Pick, packet: &Event, loads: &Loads<'_, impl Sense>) -> u16 {
        let cable = packet.middle as u16;
        let (router, port) = self.ways.cable(here.place.group, group, cable);
        if router == here.place.local {
            return port;
        }
        self.ways.inside(here, router, ALONG_DRAWS, pick, packet, loads)
    }
}
