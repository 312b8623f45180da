//! Refuses what CODES of 2019 had no notion of, instead of ignoring it.

use odonata_sim::SimError;
use odonata_sim::spec::{Compare, FparCandidates, RoutingSpec, Select, Spec};

use super::port::CHANNELS;

/// Refuses a specification that this model cannot honour in full.
pub(super) fn check(spec: &Spec) -> Result<(), SimError> {
    let refuse = |at: &str, problem: String| Err(SimError::invalid(at, format!("{problem} (compat `codes-2019`)")));
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
    for (index, job) in spec.jobs.iter().enumerate() {
        let packets = job.traffic.message_bytes.div_ceil(u64::from(spec.fabric.packet_bytes));
        if packets > u64::from(u32::MAX) {
            let problem = format!("{packets} packets a message, but this model numbers at most 2^32 - 1");
            return refuse(&format!("jobs[{index}].traffic.message_bytes"), problem);
        }
    }
    let candidates = match spec.routing {
        RoutingSpec::Fpar { threshold_ppm, .. } if threshold_ppm % 10_000 != 0 => {
            let problem = format!("{threshold_ppm} is not a whole percent (a multiple of 10,000)");
            return refuse("routing.threshold_ppm", problem);
        }
        RoutingSpec::Fpar { compare: Compare::Below, .. } => {
            return refuse("routing.compare", "`below`, but this model tests `at-most`".into());
        }
        RoutingSpec::Minimal { select: Select::LeastLoaded } => {
            let problem = "`least-loaded`, but spines take any global link here: `random`";
            return refuse("routing.select", problem.into());
        }
        RoutingSpec::Minimal { select: Select::Random } => None,
        RoutingSpec::Fpar { candidates, .. } | RoutingSpec::ProgAdaptive { candidates, .. } => Some(candidates),
        RoutingSpec::Valiant { .. } => {
            return refuse("routing.name", "`valiant`, but this model knows `minimal`, `prog-adaptive`, `fpar`".into());
        }
    };
    if candidates == Some(FparCandidates::OneGroup) {
        return refuse("routing.candidates", "`one-group`, but this model compares `all-groups`".into());
    }
    Ok(())
}
