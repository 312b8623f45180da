//! How packets find their way: one file a routing.
//!
//! A routing sees the position of a packet and says which ports are on a shortest way, which others may be taken, and
//! on which channels: a [`Plan`]. Loads then decide between them, in one place ([`Routing::route`]). Because a plan
//! does not depend on loads, the same code tells every way a packet might ever take, from which [`deadlock`] proves
//! that packets cannot wait for each other in a circle.
//!
//! | name | file | channels | source |
//! |---|---|---|---|
//! | `minimal` | [`minimal`] | 1 | all shortest ways |
//! | `valiant` | [`valiant`] | 2 | Valiant 1982, by way of a spine or a leaf |
//! | `prog-adaptive` | [`prog_adaptive`] | 2 | CODES, Kang 2019 (K8) |
//! | `fpar` | [`fpar`] | 2 | Shpiner 2017; Kang 2019, section 3.1.2 (K5 to K7) |

pub mod deadlock;
mod fpar;
mod loads;
mod minimal;
mod plan;
mod prog_adaptive;
mod valiant;

use odonata_topology::{DragonflyPlus, GroupId};

pub use loads::{Loads, Out};
pub use plan::{Place, Plan, Ports};

use crate::engine::random::{below32, draw};
use crate::error::SimError;
use crate::fabric::packet::{Event, NO_MIDDLE};
use crate::spec::{Compare, RoutingSpec, Select, Spec, Via};

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

/// A routing, ready to run.
#[derive(Clone, Debug)]
pub enum Routing {
    /// See [`minimal`].
    Minimal(Select),
    /// See [`valiant`].
    Valiant(Via, Select),
    /// See [`prog_adaptive`].
    ProgAdaptive(prog_adaptive::Rule),
    /// See [`fpar`].
    Fpar(fpar::Rule),
}

impl Routing {
    /// Prepares the routing of a specification.
    ///
    /// # Errors
    /// [`SimError::Invalid`] if it needs more channels than the fabric has.
    pub fn new(spec: &Spec) -> Result<Self, SimError> {
        let routing = match spec.routing {
            RoutingSpec::Minimal { select } => Self::Minimal(select),
            RoutingSpec::Valiant { via, select } => Self::Valiant(via, select),
            RoutingSpec::ProgAdaptive { threshold_bytes, factor_milli, candidates } => {
                Self::ProgAdaptive(prog_adaptive::Rule::new(&spec.fabric, threshold_bytes, factor_milli, candidates))
            }
            RoutingSpec::Fpar { threshold_ppm, compare, candidates, channel_switch } => {
                let at_most = compare == Compare::AtMost;
                Self::Fpar(fpar::Rule::new(&spec.fabric, threshold_ppm, at_most, candidates, channel_switch))
            }
        };
        let (need, have) = (routing.channels(), spec.fabric.channels);
        if have < need {
            let problem = format!("routing `{}` needs {need} virtual channels, found {have}", routing.name());
            return Err(SimError::invalid("fabric.channels", problem));
        }
        Ok(routing)
    }

    /// Its name in a scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Minimal(_) => "minimal",
            Self::Valiant(..) => "valiant",
            Self::ProgAdaptive(_) => "prog-adaptive",
            Self::Fpar(_) => "fpar",
        }
    }

    /// Virtual channels that it uses.
    #[must_use]
    pub fn channels(&self) -> u8 {
        if matches!(self, Self::Minimal(_)) { 1 } else { 2 }
    }

    /// Most links between routers that a packet may take.
    #[must_use]
    pub fn max_hops(&self) -> u8 {
        if matches!(self, Self::Minimal(_)) { 3 } else { 6 }
    }

    /// Decides what is decided once per packet, when it enters the network from group `from`.
    #[inline(always)]
    pub fn enter(&self, machine: &DragonflyPlus, packet: &mut Event, from: u16) {
        match self {
            Self::Minimal(_) => {}
            Self::Valiant(via, _) => {
                packet.middle = valiant::middle(machine, *via, packet.word, from, packet.to_group);
                if packet.middle != NO_MIDDLE {
                    packet.divert();
                }
            }
            Self::ProgAdaptive(rule) if !rule.one_group => {}
            Self::Fpar(rule) if !rule.one_group => {}
            Self::ProgAdaptive(_) | Self::Fpar(_) => {
                packet.middle = middle_group(machine, packet.word, PER_PACKET, from, packet.to_group);
            }
        }
    }

    /// Where the packet may go from `place`, which is not its destination's leaf.
    #[inline(always)]
    #[must_use]
    pub fn plan<'a>(&self, machine: &'a DragonflyPlus, place: Place, packet: &Event) -> Plan<'a> {
        match self {
            Self::Minimal(_) => minimal::plan(machine, place, packet),
            Self::Valiant(via, _) => valiant::plan(machine, *via, place, packet),
            Self::ProgAdaptive(rule) => fpar::plan(machine, rule.one_group, true, place, packet),
            Self::Fpar(rule) => fpar::plan(machine, rule.one_group, rule.switch_at_spine, place, packet),
        }
    }

    /// Decides: the output port and channel; marks on the packet whether it was diverted or has turned.
    #[inline(always)]
    pub fn route(&self, machine: &DragonflyPlus, place: Place, packet: &mut Event, loads: &Loads<'_>) -> (u16, u8) {
        let plan = self.plan(machine, place, packet);
        let (word, hop) = (packet.word, packet.hop());
        let other = match self {
            Self::Minimal(select) | Self::Valiant(_, select) => {
                if plan.turns {
                    packet.turn();
                }
                let port = match select {
                    Select::Random => plan.minimal.any(word, hop, MINIMAL_DRAWS),
                    Select::LeastLoaded => loads.least(&plan.minimal, word, hop, MINIMAL_DRAWS),
                };
                return (port, plan.minimal_channel);
            }
            Self::ProgAdaptive(rule) => rule.decide(&plan, word, hop, loads),
            Self::Fpar(rule) => rule.decide(&plan, word, hop, loads),
        };
        match other {
            (port, false) => (port, plan.minimal_channel),
            (port, true) => {
                packet.divert();
                (port, plan.other_channel)
            }
        }
    }
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

/// Ports of a leaf to the spines that lead to `to`.
#[inline(always)]
fn up<'a>(machine: &'a DragonflyPlus, place: Place, to: u16) -> Ports<'a> {
    let first = machine.spec.nodes_per_leaf as u16;
    if to == place.group {
        return Ports::range(first, machine.spec.spines as u16);
    }
    let gateways = machine.gateways(GroupId(u32::from(place.group)), GroupId(u32::from(to)));
    if gateways.len() == machine.spec.spines as usize {
        return Ports::range(first, machine.spec.spines as u16);
    }
    Ports::list(first, gateways)
}

/// Ports of a spine to group `to`, another group than its own.
#[inline(always)]
fn across<'a>(machine: &'a DragonflyPlus, place: Place, to: u16) -> Ports<'a> {
    let spine = u32::from(place.local) - machine.spec.leaves;
    let ports = machine.spine_ports(GroupId(u32::from(place.group)), spine, GroupId(u32::from(to)));
    Ports::range(ports.start, ports.end - ports.start)
}

/// Ports of a spine to the leaves of its group.
#[inline(always)]
fn down<'a>(machine: &'a DragonflyPlus) -> Ports<'a> {
    Ports::range(0, machine.spec.leaves as u16)
}
