//! Refuses features that CODES of 2019 did not have, instead of ignoring them.

use odonata_error::{Error, ErrorKind, Path, path};
use odonata_sim::spec::{Compare, FparCandidates, Rail, RoutingSpec, Select, Spec, Switching, TopologySpec};

use crate::port::CHANNELS;

const MODEL: &str = "codes-2019";

/// A feature that the model does not have.
fn unsupported(at: Path) -> Result<(), Error> {
    Err(ErrorKind::CompatUnsupported { model: MODEL }.at(at))
}

/// A value that the model does not support.
fn other(at: Path, found: impl ToString, supported: &[&'static str]) -> Result<(), Error> {
    Err(ErrorKind::CompatOtherValue { model: MODEL, found: found.to_string(), supported: supported.to_vec() }.at(at))
}

/// Refuses a specification that this model cannot honour in full.
pub(crate) fn check(spec: &Spec) -> Result<(), Error> {
    check_machine(spec)?;
    check_fabric(spec)?;
    for (index, job) in spec.jobs.iter().enumerate() {
        if job.routing.is_some() {
            return unsupported(path!["jobs", index, "routing"]);
        }
        if job.program.is_some() {
            return unsupported(path!["jobs", index, "program"]);
        }
        let found = job.traffic().message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes));
        if found > u64::from(u32::MAX) {
            let kind = ErrorKind::CompatTooManyPackets { model: MODEL, found, most: u32::MAX };
            return Err(kind.at(path!["jobs", index, "traffic", "message_bytes"]));
        }
    }
    if spec.measure.blame {
        return unsupported(path!["measure", "blame"]);
    }
    if spec.measure.series {
        return unsupported(path!["measure", "series"]);
    }
    if spec.measure.reordering {
        return unsupported(path!["measure", "reordering"]);
    }
    if spec.measure.operations {
        return unsupported(path!["measure", "operations"]);
    }
    check_routing(&spec.routing)
}

/// A complete Dragonfly+ of equal groups.
fn check_machine(spec: &Spec) -> Result<(), Error> {
    let TopologySpec::DragonflyPlus(topology) = &spec.topology else {
        return other(path!["topology", "kind"], spec.topology.kind(), &["dragonfly-plus"]);
    };
    for (given, field) in [
        (!topology.pair_links.is_empty(), "pair_links"),
        (topology.last_group_leaves.is_some(), "last_group_leaves"),
        (topology.global_links.is_some(), "global_links"),
        (topology.rails > 1, "rails"),
    ] {
        if given {
            return unsupported(path!["topology", field]);
        }
    }
    if !spec.failures.is_empty() {
        return unsupported(path!["failures"]);
    }
    Ok(())
}

fn check_fabric(spec: &Spec) -> Result<(), Error> {
    if !spec.sensing.is_default() {
        return unsupported(path!["sensing"]);
    }
    if spec.fabric.switching != Switching::StoreAndForward {
        return other(path!["fabric", "switching"], "cut-through", &["store-and-forward"]);
    }
    if spec.fabric.congestion_control.is_some() {
        return unsupported(path!["fabric", "congestion_control"]);
    }
    if !spec.fabric.traffic_classes.is_empty() {
        return unsupported(path!["fabric", "traffic_classes"]);
    }
    if spec.fabric.nic.window_bytes.is_some() {
        return unsupported(path!["fabric", "nic", "window_bytes"]);
    }
    if !spec.fabric.nic.delivery.is_default() {
        return unsupported(path!["fabric", "nic", "delivery"]);
    }
    if spec.fabric.nic.aries.is_some() {
        return unsupported(path!["fabric", "nic", "aries"]);
    }
    if spec.fabric.router.is_some() {
        return unsupported(path!["fabric", "router"]);
    }
    if spec.fabric.header_bytes != 0 {
        return other(path!["fabric", "header_bytes"], spec.fabric.header_bytes, &["0"]);
    }
    if spec.fabric.flit_bytes != 1 {
        return other(path!["fabric", "flit_bytes"], spec.fabric.flit_bytes, &["1"]);
    }
    let rail = match spec.fabric.nic.rail {
        Rail::Hash => None,
        Rail::LeastBusy => Some("least-busy"),
        Rail::ByRank => Some("by-rank"),
    };
    if let Some(found) = rail {
        return other(path!["fabric", "nic", "rail"], found, &["hash"]);
    }
    if usize::from(spec.fabric.channels) != CHANNELS {
        return other(path!["fabric", "channels"], spec.fabric.channels, &["2"]);
    }
    for (class, link) in &spec.fabric.links {
        for (field, found_ps) in [("latency_ps", link.latency_ps), ("credit_delay_ps", link.credit_delay_ps)] {
            if found_ps != 0 {
                let kind = ErrorKind::CompatNotZero { model: MODEL, found_ps };
                return Err(kind.at(path!["fabric", "links", class.clone(), field]));
            }
        }
    }
    Ok(())
}

fn check_routing(routing: &RoutingSpec) -> Result<(), Error> {
    let candidates = match *routing {
        RoutingSpec::Fpar { threshold_ppm, .. } if threshold_ppm % 10_000 != 0 => {
            let kind = ErrorKind::CompatWholePercent { model: MODEL, found_ppm: threshold_ppm };
            return Err(kind.at(path!["routing", "threshold_ppm"]));
        }
        RoutingSpec::Fpar { compare: Compare::Below, .. } => {
            return other(path!["routing", "compare"], "below", &["at-most"]);
        }
        RoutingSpec::Minimal { gateways: Some(_), .. } => {
            return unsupported(path!["routing", "gateways"]);
        }
        RoutingSpec::Minimal { select: Select::LeastLoaded, .. } => {
            return other(path!["routing", "select"], "least-loaded", &["random"]);
        }
        RoutingSpec::Minimal { select: Select::Hash, .. } => {
            return other(path!["routing", "select"], "hash", &["random"]);
        }
        RoutingSpec::Minimal { select: Select::Random, .. } => None,
        RoutingSpec::Fpar { candidates, .. } | RoutingSpec::ProgAdaptive { candidates, .. } => Some(candidates),
        _ => {
            return other(path!["routing", "name"], routing.name(), &["minimal", "prog-adaptive", "fpar"]);
        }
    };
    if candidates == Some(FparCandidates::OneGroup) {
        return other(path!["routing", "candidates"], "one-group", &["all-groups"]);
    }
    Ok(())
}
