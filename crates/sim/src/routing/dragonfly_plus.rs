//! Routings of a Dragonfly+: one file each.
//!
//! A rule sees the position of a packet and says which ports are on a shortest way, which others may be taken, and
//! on which channels: a [`Plan`]. Loads then decide between them, in one place. Because a plan
//! does not depend on loads, the same code tells every way a packet might ever take, from which
//! [`deadlock`](super::deadlock) proves that packets cannot wait for each other in a circle.

mod failed;
pub mod fpar;
pub mod minimal;
mod plan;
pub mod prog_adaptive;
pub mod valiant;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::{DragonflyPlus, GroupId};

pub use plan::Plan;

use super::{Grain, Loads, Place, Ports, Rule, Sense};
use crate::engine::random::{below32, draw};
use crate::fabric::packet::{Event, NO_MIDDLE, Step};
use crate::spec::{FabricSpec, ROUTINGS, RoutingInfo, RoutingSpec, Select, Via};

/// The kind of machine, as the list of routings names it.
pub(super) const KIND: &str = "dragonfly-plus";

/// First of the draws for choices among shortest ways.
const MINIMAL_DRAWS: u8 = 0;
/// First of the draws for choices among other ways.
const OTHER_DRAWS: u8 = 8;
/// First of the draws for the least loaded port.
const LEAST_DRAWS: u8 = 16;
/// First of the draws for intermediate stops.
const MIDDLE_DRAWS: u8 = 24;
/// The hop that stands for decisions made once per packet.
const PER_PACKET: u8 = 255;

/// A rule of a Dragonfly+: one implementation a file. The simulation is compiled for each of them.
pub trait PlusRule: Sized {
    /// Its name in a specification.
    const NAME: &'static str;
    /// Virtual channels that it uses.
    const CHANNELS: u8;
    /// Most links between routers that a packet may take.
    const MAX_HOPS: u8;

    /// The rule of a routing of this name.
    ///
    /// # Errors
    /// If an option means nothing on such machines.
    fn new(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error>;

    /// Whether packets may be diverted by one other group only, drawn when they enter the network.
    #[inline(always)]
    fn one_group(&self) -> bool {
        false
    }

    /// Decides what is decided once per packet, when it enters the network at leaf `leaf` of group `from`.
    #[inline(always)]
    fn enter(&self, machine: &DragonflyPlus, packet: &mut Event, from: u16, leaf: u16) {
        let _ = leaf;
        if self.one_group() {
            packet.middle = middle_group(machine, packet.word, PER_PACKET, from, packet.to_group);
        }
    }

    /// Everything that [`enter`](Self::enter) may make [`Event::middle`] for a packet from group `from` to group `to`.
    fn middles(&self, machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
        if self.one_group() { middle_groups(machine, from, to) } else { vec![NO_MIDDLE] }
    }

    /// Where the packet may go from `place`, which is not its destination's leaf. Knows no loads.
    fn plan<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a>;

    /// As [`plan`](Self::plan) on a machine in which something has failed. (Apart, because to look would slow all others.)
    fn plan_with_failures<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a>;

    /// The port of the plan that is taken, and whether it is one of the other (non-minimal) ones.
    fn choose(&self, plan: &Plan<'_>, packet: &Event, loads: &Loads<'_, impl Sense>) -> (u16, bool);

    /// What all packets of one way share.
    fn grain(&self) -> Grain {
        Grain::Packet
    }
}

/// A Dragonfly+ with one rule.
#[derive(Clone, Debug)]
pub struct Plus<R> {
    pub(super) machine: Arc<DragonflyPlus>,
    pub(super) rule: R,
}

impl<R: PlusRule> Rule for Plus<R> {
    #[inline(always)]
    fn enter(&self, packet: &mut Event, from: u16, leaf: u16) {
        self.rule.enter(&self.machine, packet, from, leaf);
    }

    #[inline(always)]
    fn route(&self, place: Place, packet: &Event, loads: &Loads<'_, impl Sense>) -> Step {
        let plan = self.rule.plan(&self.machine, place, packet);
        follow(&self.rule, &plan, packet, loads)
    }

    #[inline(always)]
    fn grain(&self, _: u8) -> Grain {
        self.rule.grain()
    }
}

/// Decides by a plan and the loads.
#[inline(always)]
fn follow<R: PlusRule>(rule: &R, plan: &Plan<'_>, packet: &Event, loads: &Loads<'_, impl Sense>) -> Step {
    let (port, other) = rule.choose(plan, packet, loads);
    let channel = if other { plan.other_channel } else { plan.minimal_channel };
    Step::new(packet, port, channel).marked(other, plan.turns)
}

/// Lists the rules, each with its file. With a dollar sign and the name of a macro, hands the list to that macro.
macro_rules! plus_rules {
    (($d:tt) $callback:ident) => {
        $callback! { ($d) Minimal: minimal, Valiant: valiant, ProgAdaptive: prog_adaptive, Fpar: fpar }
    };
}
pub(super) use plus_rules;

macro_rules! any_plus {
    (($d:tt) $($Rule:ident: $file:ident),+) => {
        /// One of the rules.
        #[derive(Clone, Debug)]
        pub enum AnyPlus {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Rule($file::$Rule),)+
        }

        /// Evaluates `$body` with `$rule` standing for a rule, whatever its type.
        macro_rules! with_plus {
            ($d any:expr, $d rule:ident => $d body:expr) => {
                match $d any { $(AnyPlus::$Rule($d rule) => $d body,)+ }
            };
        }

        /// What errors call the machines.
const MACHINE: &str = "dragonfly-plus";

impl AnyPlus {
            /// The rule of a specification; none if it is not for these machines.
            fn of(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Option<Self>, Error> {
                let name = routing.name();
                $(if name == $file::$Rule::NAME {
                    return Ok(Some(Self::$Rule($file::$Rule::new(fabric, routing, at)?)));
                })+
                Ok(None)
            }
        }

        /// Virtual channels of a routing; none if it is not for these machines.
        #[must_use]
        pub fn channels(routing: &RoutingSpec) -> Option<u8> {
            let name = routing.name();
            $(if name == $file::$Rule::NAME {
                return Some($file::$Rule::CHANNELS);
            })+
            None
        }
    };
}
plus_rules! { ($) any_plus }

impl AnyPlus {
    /// Prepares the rule that stands at `at` of a specification.
    ///
    /// # Errors
    /// If it is not for a Dragonfly+ or needs more channels than the fabric has.
    pub fn new(fabric: &FabricSpec, routing: &RoutingSpec, at: &Path) -> Result<Self, Error> {
        let for_plus = |info: &&RoutingInfo| info.machines.contains(&KIND);
        if !for_plus(&routing.info()) {
            let choices = ROUTINGS.iter().filter(for_plus).map(|info| info.name).collect();
            let kind = ErrorKind::RoutingNotForMachine { routing: routing.name(), machine: MACHINE, choices };
            return Err(kind.at(at.join("name")));
        }
        if routing.gateways().is_some() {
            return Err(ErrorKind::NeedlessGateways { machine: MACHINE }.at(at.join("gateways")));
        }
        let rule = Self::of(fabric, routing, at)?.expect("the list says that it is for these machines");
        let (need, have) = (u32::from(rule.channels()), u32::from(fabric.channels));
        if have < need {
            let kind = ErrorKind::TooFewChannels { routing: rule.name(), need, have };
            return Err(kind.at(path!["fabric", "channels"]));
        }
        Ok(rule)
    }

    /// Refuses what the rule cannot do on a machine in which something has failed.
    pub(super) fn check(&self, machine: &DragonflyPlus, at: &Path) -> Result<(), Error> {
        let Self::Valiant(rule) = self else { return Ok(()) };
        if !machine.has_failures() {
            return Ok(());
        }
        if rule.via == Via::Leaf {
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
        fn of<R: PlusRule>(_: &R) -> &'static str {
            R::NAME
        }
        with_plus!(self, rule => of(rule))
    }

    /// Virtual channels that it uses.
    #[must_use]
    pub fn channels(&self) -> u8 {
        fn of<R: PlusRule>(_: &R) -> u8 {
            R::CHANNELS
        }
        with_plus!(self, rule => of(rule))
    }

    /// Most links between routers that a packet may take.
    #[must_use]
    pub fn max_hops(&self) -> u8 {
        fn of<R: PlusRule>(_: &R) -> u8 {
            R::MAX_HOPS
        }
        with_plus!(self, rule => of(rule))
    }

    /// As [`PlusRule::middles`].
    #[must_use]
    pub fn middles(&self, machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
        with_plus!(self, rule => rule.middles(machine, from, to))
    }

    /// Where a packet may go, as [`PlusRule::plan`].
    #[must_use]
    pub fn plan<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a> {
        if machine.has_failures() {
            return with_plus!(self, rule => rule.plan_with_failures(machine, place, packet));
        }
        with_plus!(self, rule => rule.plan(machine, place, packet))
    }
}

/// A Dragonfly+ whose jobs have different rules, or in which something has failed.
#[derive(Clone, Debug)]
pub struct Mixed {
    pub(super) machine: Arc<DragonflyPlus>,
    /// By the number that a packet carries.
    pub(super) rules: Vec<AnyPlus>,
}

impl Rule for Mixed {
    fn enter(&self, packet: &mut Event, from: u16, leaf: u16) {
        with_plus!(&self.rules[usize::from(packet.mode())], rule => rule.enter(&self.machine, packet, from, leaf));
    }

    fn route(&self, place: Place, packet: &Event, loads: &Loads<'_, impl Sense>) -> Step {
        let rule = &self.rules[usize::from(packet.mode())];
        let plan = rule.plan(&self.machine, place, packet);
        with_plus!(rule, rule => follow(rule, &plan, packet, loads))
    }

    fn grain(&self, mode: u8) -> Grain {
        with_plus!(&self.rules[usize::from(mode)], rule => rule.grain())
    }
}

/// A port among equals.
#[inline(always)]
fn select(select: Select, ports: &Ports<'_>, packet: &Event, loads: &Loads<'_, impl Sense>) -> u16 {
    match select {
        Select::Random | Select::Hash => ports.any(packet.word, packet.hop(), MINIMAL_DRAWS),
        Select::LeastLoaded => loads.least(ports, packet.word, packet.hop(), MINIMAL_DRAWS),
    }
}

/// For routings that divert: if there is no choice between the two kinds of port, the least loaded of those there are.
#[inline(always)]
fn no_choice(plan: &Plan<'_>, packet: &Event, loads: &Loads<'_, impl Sense>) -> Option<(u16, bool)> {
    let (word, hop) = (packet.word, packet.hop());
    if plan.other.is_empty() {
        return Some((loads.least(&plan.minimal, word, hop, LEAST_DRAWS), false));
    }
    plan.minimal.is_empty().then(|| (loads.least(&plan.other, word, hop, LEAST_DRAWS), true))
}

/// A group drawn among those that are neither `from` nor `to`, or none: `group << 16`, as in [`Event::middle`].
#[inline(always)]
fn middle_group(machine: &DragonflyPlus, word: u32, hop: u8, from: u16, to: u16) -> u32 {
    let groups = machine.spec.groups;
    if from == to || groups < 3 {
        return NO_MIDDLE;
    }
    let mut group = below32(draw(word, hop, MIDDLE_DRAWS), groups - 2) as u16;
    let (low, high) = if from < to { (from, to) } else { (to, from) };
    group += u16::from(group >= low);
    group += u16::from(group >= high);
    u32::from(group) << 16
}

/// Every outcome of [`middle_group`].
fn middle_groups(machine: &DragonflyPlus, from: u16, to: u16) -> Vec<u32> {
    if from == to || machine.spec.groups < 3 {
        return vec![NO_MIDDLE];
    }
    (0..machine.spec.groups as u16).filter(|&g| g != from && g != to).map(|g| u32::from(g) << 16).collect()
}

/// Ports of a leaf to the spines that lead to `to`.
#[inline(always)]
fn up<'a>(machine: &'a DragonflyPlus, place: Place, to: u16) -> Ports<'a> {
    let first = place.down;
    if machine.complete || to == place.group {
        return Ports::range(first, machine.spec.spines as u16);
    }
    Ports::list(first, machine.gateways(GroupId(u32::from(place.group)), GroupId(u32::from(to))))
}

/// Ports of a spine to group `to`, another group than its own.
#[inline(always)]
fn across<'a>(machine: &'a DragonflyPlus, place: Place, to: u16) -> Ports<'a> {
    let spine = u32::from(place.local - place.down);
    let ports = machine.spine_ports(GroupId(u32::from(place.group)), spine, GroupId(u32::from(to)));
    Ports::range(ports.start, ports.end - ports.start)
}

/// Ports of a spine to the leaves of its group.
#[inline(always)]
fn down<'a>(place: Place) -> Ports<'a> {
    Ports::range(0, place.down)
}
