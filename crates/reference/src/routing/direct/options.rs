//! The options of a routing on a dragonfly or a cascade.

use odonata_sim::spec::{AriesMode, Gateways, InsideGroup, Knowledge, RoutingSpec, Select, Via};

/// How one of several paths is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Cable and port at random.
    Random,
    /// Cable at random, port by load.
    Adaptive,
    /// Both by load.
    LeastLoaded,
}

/// The pick of a routing.
pub(super) fn pick(routing: &RoutingSpec) -> Pick {
    match routing {
        RoutingSpec::Minimal { select, .. } | RoutingSpec::Valiant { select, .. } => match select {
            Select::Random | Select::Hash => Pick::Random,
            Select::LeastLoaded => Pick::LeastLoaded,
        },
        RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::NminHash | AriesMode::InOrder, .. } => Pick::Random,
        RoutingSpec::Aries {
            mode: AriesMode::Adaptive0 | AriesMode::Adaptive1 | AriesMode::Adaptive2 | AriesMode::Adaptive3,
            ..
        }
        | RoutingSpec::Ugal { .. }
        | RoutingSpec::Par { .. }
        | RoutingSpec::AdaptiveLocal { .. } => Pick::Adaptive,
        _ => unreachable!("no packet on a dragonfly or cascade has `{}`", routing.name()),
    }
}

/// Which cables of a routing count as shortest.
pub(super) fn gateways(routing: &RoutingSpec) -> Gateways {
    routing
        .gateways()
        .expect("it was checked that this machine knows the routing, and all of its routings have gateways")
}

/// Whether packets inside a group may go through a router of it.
pub(super) fn by_router(via: Via, inside: Option<InsideGroup>) -> bool {
    inside.unwrap_or(if via == Via::Router { InsideGroup::Router } else { InsideGroup::Minimal }) == InsideGroup::Router
}

/// A comparison of minimal and non-minimal paths, as in UGAL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// Number of minimal paths compared.
    pub(super) minimal: u8,
    /// Number of non-minimal paths compared.
    pub(super) others: u8,
    /// Whether a diverted packet turns at a router that is drawn in the intermediate group.
    pub(super) via_router: bool,
    /// Whether there is a decision inside a group.
    pub(super) inside: bool,
    /// Factor on the load of a non-minimal path, in thousandths.
    pub(super) factor_milli: u64,
    /// Added to that load.
    pub(super) bias_bytes: u64,
    /// Whether the loads of cables of other routers are known.
    pub(super) knows_cables: bool,
    /// Whether the comparison is made again along the path.
    pub(super) again: bool,
}

/// The decision of a routing at a router, if it makes one.
pub(super) fn comparison(routing: &RoutingSpec, hop: u8, diameter: u32) -> Option<Comparison> {
    match *routing {
        RoutingSpec::Ugal {
            knowledge,
            via,
            inside,
            minimal_candidates,
            other_candidates,
            factor_milli,
            bias_bytes,
            ..
        } => Some(Comparison {
            minimal: minimal_candidates,
            others: other_candidates,
            via_router: via == Via::Router,
            inside: by_router(via, inside),
            factor_milli,
            bias_bytes,
            knows_cables: knowledge == Knowledge::Global,
            again: false,
        }),
        RoutingSpec::Par { via, inside, minimal_candidates, other_candidates, factor_milli, bias_bytes, .. } => {
            Some(Comparison {
                minimal: minimal_candidates,
                others: other_candidates,
                via_router: via == Via::Router,
                inside: by_router(via, inside),
                factor_milli,
                bias_bytes,
                knows_cables: false,
                again: true,
            })
        }
        RoutingSpec::Aries { mode, bias_low_bytes, bias_high_bytes, .. } => {
            let bias_bytes = match mode {
                AriesMode::Adaptive0 => 0,
                AriesMode::Adaptive1 => growing(bias_high_bytes, u64::from(hop), u64::from(diameter)),
                AriesMode::Adaptive2 => bias_low_bytes,
                AriesMode::Adaptive3 => bias_high_bytes,
                AriesMode::MinHash | AriesMode::NminHash | AriesMode::InOrder => return None,
            };
            Some(Comparison {
                minimal: 2,
                others: 2,
                via_router: false,
                inside: true,
                factor_milli: 2000,
                bias_bytes,
                knows_cables: false,
                again: true,
            })
        }
        RoutingSpec::Minimal { .. } | RoutingSpec::Valiant { .. } | RoutingSpec::AdaptiveLocal { .. } => None,
        _ => unreachable!("no packet on a dragonfly or cascade has `{}`", routing.name()),
    }
}

/// The bias of `adaptive-1` after `hop` routers; where groups have one router there is only the first decision.
fn growing(high: u64, hop: u64, diameter: u64) -> u64 {
    (high * hop.min(diameter)).checked_div(diameter).unwrap_or(0)
}
