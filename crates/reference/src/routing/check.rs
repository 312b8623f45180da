//! Refuses a routing that is not for the machine, and a fabric with too few channels for it.

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::spec::{AriesMode, RoutingSpec, Spec, Via};

use super::routing_of;
use crate::map::{Map, Shape};

/// Refuses routings and fabrics that cannot work.
pub(crate) fn check(spec: &Spec, map: &Map) -> Result<(), Error> {
    for job in 0..spec.jobs.len() {
        let routing = routing_of(spec, job);
        let needed = match &map.shape {
            Shape::DragonflyPlus(_) => on_dragonfly_plus(routing),
            Shape::FatTree(_) => on_fat_tree(routing),
            Shape::HyperX(grid) => on_hyperx(routing, grid.diameter),
            Shape::Direct(paths) => stages(routing, paths.has_bridges()).map(|stages| stages * paths.subs),
        };
        let in_order = matches!(routing, RoutingSpec::DimensionOrder { .. });
        if in_order && !spec.failures.is_empty() {
            return Err(ErrorKind::DimensionOrderWithFailures {}.at(path!["routing", "name"]));
        }
        let via_leaf = matches!(routing, RoutingSpec::Valiant { via: Via::Leaf, .. });
        if via_leaf && !spec.failures.is_empty() {
            return Err(ErrorKind::ViaLeafWithFailures {}.at(path!["routing", "via"]));
        }
        let Some(needed) = needed else {
            let (routing, machine) = (routing.name(), "machine");
            let kind = ErrorKind::RoutingNotForMachine { routing, machine, choices: Vec::new() };
            return Err(kind.at(path!["routing", "name"]));
        };
        if usize::from(spec.fabric.channels) < needed {
            let (need, have) = (needed as u32, spec.fabric.channels.into());
            let kind = ErrorKind::TooFewChannels { routing: routing.name(), need, have };
            return Err(kind.at(path!["fabric", "channels"]));
        }
    }
    Ok(())
}

fn on_dragonfly_plus(routing: &RoutingSpec) -> Option<usize> {
    match routing {
        RoutingSpec::Minimal { .. } => Some(1),
        RoutingSpec::Valiant { via: Via::Spine | Via::Leaf, .. }
        | RoutingSpec::Fpar { .. }
        | RoutingSpec::ProgAdaptive { .. } => Some(2),
        _ => None,
    }
}

fn on_fat_tree(routing: &RoutingSpec) -> Option<usize> {
    matches!(routing, RoutingSpec::UpDown { .. }).then_some(1)
}

fn on_hyperx(routing: &RoutingSpec, diameter: usize) -> Option<usize> {
    let needed = match routing {
        RoutingSpec::Minimal { gateways: None, .. } => diameter,
        RoutingSpec::DimensionOrder { .. } => 1,
        RoutingSpec::Valiant { via: Via::Router, inside: None, gateways: None, .. } => 2 * diameter,
        RoutingSpec::OmniWar { deroutes } => diameter + usize::from(*deroutes),
        _ => return None,
    };
    Some(needed.max(1))
}

/// The table of stages of "Positions in a dragonfly or cascade".
fn stages(routing: &RoutingSpec, bridged: bool) -> Option<usize> {
    Some(match routing {
        RoutingSpec::Minimal { .. } | RoutingSpec::Aries { mode: AriesMode::MinHash | AriesMode::InOrder, .. } => {
            if bridged {
                3
            } else {
                2
            }
        }
        RoutingSpec::Valiant { via: Via::Group, .. }
        | RoutingSpec::Aries { mode: AriesMode::NminHash, .. }
        | RoutingSpec::Ugal { via: Via::Group, .. }
        | RoutingSpec::AdaptiveLocal { .. } => 3,
        RoutingSpec::Valiant { via: Via::Router, .. }
        | RoutingSpec::Ugal { via: Via::Router, .. }
        | RoutingSpec::Par { via: Via::Group, .. }
        | RoutingSpec::Aries { .. }
        | RoutingSpec::ApplicationAware { .. } => 4,
        RoutingSpec::Par { via: Via::Router, .. } => 5,
        _ => return None,
    })
}
