//! Refuses what CODES of 2019 had no notion of, instead of ignoring it.

use odonata_sim::SimError;
use odonata_sim::spec::{Compare, FparCandidates, Rail, RoutingSpec, Select, Spec, TopologySpec};

use super::port::CHANNELS;

fn refuse(at: &str, problem: impl std::fmt::Display) -> Result<(), SimError> {
    Err(SimError::invalid(at, format!("{problem} (compat `codes-2019`)")))
}

/// Refuses a specification that this model cannot honour in full.
pub(super) fn check(spec: &Spec) -> Result<(), SimError> {
    check_machine(spec)?;
    check_fabric(spec)?;
    for (index, job) in spec.jobs.iter().enumerate() {
        if job.routing.is_some() {
            return refuse(&format!("jobs[{index}].routing"), "all jobs have the same routing in this model");
        }
        if job.program.is_some() {
            return refuse(&format!("jobs[{index}].program"), "jobs have traffic, not programs, in this model");
        }
        let packets = job.traffic().message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes));
        if packets > u64::from(u32::MAX) {
            let problem = format!("{packets} packets a message, but this model numbers at most 2^32 - 1");
            return refuse(&format!("jobs[{index}].traffic.message_bytes"), problem);
        }
    }
    check_routing(&spec.routing)
}

/// A whole Dragonfly+ of equal groups.
fn check_machine(spec: &Spec) -> Result<(), SimError> {
    let TopologySpec::DragonflyPlus(topology) = &spec.topology else {
        return refuse("topology.kind", "this model knows no other machine than `dragonfly-plus`");
    };
    for (given, field) in [
        (!topology.pair_links.is_empty(), "pair_links"),
        (topology.last_group_leaves.is_some(), "last_group_leaves"),
        (topology.global_links.is_some(), "global_links"),
    ] {
        if given {
            return refuse(
                &format!("topology.{field}"),
                "this model knows only equal groups, joined by an arrangement",
            );
        }
    }
    if !spec.failures.is_empty() {
        return refuse("failures", "nothing fails in this model");
    }
    Ok(())
}

fn check_fabric(spec: &Spec) -> Result<(), SimError> {
    if !spec.sensing.is_default() {
        return refuse("sensing", "this model senses the joint buffers of a port and nothing else");
    }
    if spec.fabric.nic.rail != Rail::Hash {
        return refuse("fabric.nic.rail", "`least-busy`, but a node has one NIC in this model");
    }
    if usize::from(spec.fabric.channels) != CHANNELS {
        return refuse("fabric.channels", format!("{} channels, but this model has 2", spec.fabric.channels));
    }
    for (class, link) in &spec.fabric.links {
        if link.latency_ps != 0 {
            let problem = format!("{} ps, but wires take no time in this model: 0 is expected", link.latency_ps);
            return refuse(&format!("fabric.links.{class}.latency_ps"), problem);
        }
        if link.credit_delay_ps != 0 {
            let problem = format!(
                "{} ps, but every credit takes what 8 bytes take on a local link: 0 is expected",
                link.credit_delay_ps
            );
            return refuse(&format!("fabric.links.{class}.credit_delay_ps"), problem);
        }
    }
    Ok(())
}

fn check_routing(routing: &RoutingSpec) -> Result<(), SimError> {
    let candidates = match *routing {
        RoutingSpec::Fpar { threshold_ppm, .. } if threshold_ppm % 10_000 != 0 => {
            let problem = format!("{threshold_ppm} is not a whole percent (a multiple of 10,000)");
            return refuse("routing.threshold_ppm", problem);
        }
        RoutingSpec::Fpar { compare: Compare::Below, .. } => {
            return refuse("routing.compare", "`below`, but this model tests `at-most`");
        }
        RoutingSpec::Minimal { gateways: Some(_), .. } => {
            return refuse("routing.gateways", "all cables of a spine are alike in this model");
        }
        RoutingSpec::Minimal { select: Select::LeastLoaded, .. } => {
            return refuse("routing.select", "`least-loaded`, but spines take any global link here: `random`");
        }
        RoutingSpec::Minimal { select: Select::Hash, .. } => {
            return refuse("routing.select", "`hash`, but spines take any global link here: `random`");
        }
        RoutingSpec::Minimal { select: Select::Random, .. } => None,
        RoutingSpec::Fpar { candidates, .. } | RoutingSpec::ProgAdaptive { candidates, .. } => Some(candidates),
        _ => {
            let problem = format!("`{}`, but this model knows `minimal`, `prog-adaptive`, `fpar`", routing.name());
            return refuse("routing.name", problem);
        }
    };
    if candidates == Some(FparCandidates::OneGroup) {
        return refuse("routing.candidates", "`one-group`, but this model compares `all-groups`");
    }
    Ok(())
}
