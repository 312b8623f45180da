//! How packets find their way: one file a routing, in two families.
//!
//! | name | family | file | source |
//! |---|---|---|---|
//! | `minimal` | Dragonfly+ | [`dragonfly_plus::minimal`] | all shortest ways |
//! | `valiant` | Dragonfly+ | [`dragonfly_plus::valiant`] | Valiant 1982, by way of a spine or a leaf |
//! | `prog-adaptive` | Dragonfly+ | [`dragonfly_plus::prog_adaptive`] | CODES, Kang 2019 (K8) |
//! | `fpar` | Dragonfly+ | [`dragonfly_plus::fpar`] | Shpiner 2017; Kang 2019, section 3.1.2 (K5 to K7) |
//! | `minimal` | direct | [`direct::minimal`] | at most one global link |
//! | `valiant` | direct | [`direct::valiant`] | Valiant 1982; Kim 2008, by way of a group or a router |
//! | `ugal` | direct | [`direct::adaptive`] | Singh 2005; Kim 2008 (UGAL-L, UGAL-G) |
//! | `par` | direct | [`direct::adaptive`] | Jiang 2009 |
//! | `adaptive-local` | direct | [`direct::adaptive_local`] | SST; Zhang 2018 (L4) |
//! | `aries` | direct | [`direct::aries`] | De Sensi 2019, section 2.2 (D6, D7) |
//!
//! *Direct* machines are those whose routers all have nodes: dragonfly and cascade. A routing sees the position of a
//! packet and the loads of its router's ports ([`Loads`]), and returns a port and a channel. The jobs of a run may have
//! different routings of the same family; a packet carries the number of its own.

pub mod deadlock;
pub mod direct;
pub mod dragonfly_plus;
mod loads;
mod ports;
pub mod show;

use std::sync::Arc;

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_topology::Machine;

pub use loads::{Backlog, Loads, Sense};
pub use ports::Ports;

use crate::fabric::Place;
use crate::fabric::packet::{Event, MAX_MODES, Step};
use crate::spec::{RoutingSpec, Select, Spec};
use dragonfly_plus::{AnyPlus, Mixed, Plus};

/// What all packets share that are to take the same way, if loads do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Nothing: each packet draws for itself.
    Packet,
    /// Their message.
    Message,
    /// Their source and destination.
    Flow,
}

impl Grain {
    fn of(select: Select) -> Self {
        if select == Select::Hash { Self::Flow } else { Self::Packet }
    }
}

/// The routings of a run, on its machine. The simulation is compiled for each type of it.
pub trait Rule {
    /// Decides what is decided once per packet, when it enters the network at router number `local` of group `from`.
    fn enter(&self, packet: &mut Event, from: u16, local: u16);

    /// Decides at a router that is not the destination's.
    fn route(&self, place: Place, packet: &Event, loads: &Loads<'_, impl Sense>) -> Step;

    /// A guess at what [`route`](Self::route) will decide, if it is cheap: what the guess needs is asked for ahead of time.
    #[inline(always)]
    fn guess(&self, place: Place, packet: &Event) -> Option<(u16, u8)> {
        let _ = (place, packet);
        None
    }

    /// What the packets of routing number `mode` share.
    fn grain(&self, mode: u8) -> Grain;
}

macro_rules! routing {
    (($d:tt) $($Rule:ident: $file:ident),+) => {
        /// The routings of a specification. The simulation is compiled for each variant.
        #[derive(Clone, Debug)]
        #[expect(clippy::large_enum_variant, reason = "a run has one")]
        pub enum Routing {
            $(#[doc = concat!("See [`dragonfly_plus::", stringify!($file), "`].")]
            $Rule(Plus<dragonfly_plus::$file::$Rule>),)+
            /// Several routings of a Dragonfly+, or one with failures.
            Mixed(Mixed),
            /// One or several of a direct machine.
            Direct(direct::Direct),
        }

        /// Evaluates `$body` with `$rule` standing for the rule of a [`Routing`], whatever its type.
        macro_rules! with_rule {
            ($d routing:expr, $d rule:ident => $d body:expr) => {
                match $d routing {
                    $(crate::routing::Routing::$Rule($d rule) => $d body,)+
                    crate::routing::Routing::Mixed($d rule) => $d body,
                    crate::routing::Routing::Direct($d rule) => $d body,
                }
            };
        }

        /// One rule on its machine.
        fn alone(machine: Arc<odonata_topology::DragonflyPlus>, rule: AnyPlus) -> Routing {
            match rule { $(AnyPlus::$Rule(rule) => Routing::$Rule(Plus { machine, rule }),)+ }
        }
    };
}
dragonfly_plus::plus_rules! { ($) routing }
pub(crate) use with_rule;

impl Routing {
    /// Prepares the routings of a checked specification.
    ///
    /// # Errors
    /// If one of them is not for this kind of machine or needs more channels than the fabric has, if there are too many, or
    /// if they could deadlock.
    pub fn new(spec: &Spec, machine: Machine) -> Result<Self, Error> {
        let specs = distinct(spec)?;
        match machine {
            Machine::Dragonfly(machine) => Ok(Self::Direct(direct::Direct::new(spec, machine, &specs)?)),
            Machine::DragonflyPlus(machine) => {
                let mut rules = specs
                    .iter()
                    .map(|(at, routing)| AnyPlus::new(&spec.fabric, routing, at))
                    .collect::<Result<Vec<_>, _>>()?;
                for (rule, (at, _)) in rules.iter().zip(&specs) {
                    rule.check(&machine, at)?;
                }
                deadlock::check(&machine, &rules)?;
                if rules.len() > 1 || machine.has_failures() {
                    return Ok(Self::Mixed(Mixed { machine, rules }));
                }
                Ok(alone(machine, rules.remove(0)))
            }
        }
    }

    /// Whether a decision may read the loads of other routers, so that all events must be handled in one global order.
    #[must_use]
    pub fn sees_other_routers(&self) -> bool {
        if let Self::Direct(direct) = self { direct.sees_other_routers() } else { false }
    }
}

/// The different routings of a run, each with where it first stands; a job's `mode` is its number here.
fn distinct(spec: &Spec) -> Result<Vec<(Path, &RoutingSpec)>, Error> {
    let mut all: Vec<(Path, &RoutingSpec)> = Vec::new();
    for (index, job) in spec.jobs.iter().enumerate() {
        let (at, routing) = match &job.routing {
            None => (path!["routing"], &spec.routing),
            Some(own) => (path!["jobs", index, "routing"], own),
        };
        if !all.iter().any(|(_, other)| *other == routing) {
            all.push((at, routing));
        }
    }
    if all.len() > MAX_MODES {
        return Err(ErrorKind::TooManyRoutings { found: all.len(), most: MAX_MODES }.at(path!["jobs"]));
    }
    Ok(all)
}

/// Virtual channels that a routing needs on a kind of machine where nothing has failed, for each set of channels of a stage on
/// direct machines; none if it is not for such machines.
#[must_use]
pub fn channels(routing: &RoutingSpec, machine: &str) -> Option<u8> {
    if !routing.info().machines.contains(&machine) {
        return None;
    }
    if machine == dragonfly_plus::KIND { dragonfly_plus::channels(routing) } else { direct::stages(routing) }
}

/// The number of each job's routing.
#[must_use]
pub fn modes(spec: &Spec) -> Vec<u8> {
    let all = distinct(spec).expect("a checked specification has few routings");
    let of = |job: &crate::spec::JobSpec| {
        let routing = job.routing.as_ref().unwrap_or(&spec.routing);
        all.iter().position(|(_, other)| *other == routing).expect("all were collected") as u8
    };
    spec.jobs.iter().map(of).collect()
}
