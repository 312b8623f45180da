//! Refuses a routing that is not for the machine, and a fabric with too few channels for it.

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::spec::{RoutingSpec, Spec, Via};

use super::{any, direct, hyperx, leaf_spine, own, routing_of, up_down};
use crate::map::{Map, Shape};

/// Refuses routings and fabrics that cannot work.
pub(crate) fn check(spec: &Spec, map: &Map) -> Result<(), Error> {
    if own::has_own(spec) {
        return own::check(spec, map);
    }
    for job in 0..spec.jobs.len() {
        let routing = routing_of(spec, job);
        let needed = match &map.shape {
            Shape::DragonflyPlus(_) => leaf_spine::channels(routing),
            Shape::FatTree(_) => up_down::channels(routing),
            Shape::Graph(web) => any::channels(routing, web.diameter),
            Shape::HyperX(grid) => hyperx::channels(routing, grid.diameter),
            Shape::Bare => unreachable!("only for routings of one's own"),
            Shape::Direct(paths) => direct::stages(routing, paths.has_bridges()).map(|stages| stages * paths.subs),
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
