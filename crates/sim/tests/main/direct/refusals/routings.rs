//! Numbers of routings, and routings on machines that they are not for.

use odonata_sim::spec::{AriesMode, FparCandidates, RoutingSpec, Select, Via};

use super::super::support::{ALL, NEAREST, adaptive_local, aries, minimal, par, ugal, valiant};
use super::{GROUP, LOCAL, accepted, plus, refused, valid};
use crate::support::{fpar, prog_adaptive};

fn candidates(routing: RoutingSpec, minimal: u8, other: u8) -> RoutingSpec {
    match routing {
        RoutingSpec::Ugal { knowledge, via, inside, factor_milli, bias_bytes, gateways, .. } => RoutingSpec::Ugal {
            knowledge,
            via,
            inside,
            minimal_candidates: minimal,
            other_candidates: other,
            factor_milli,
            bias_bytes,
            gateways,
        },
        RoutingSpec::Par { via, inside, factor_milli, bias_bytes, gateways, .. } => RoutingSpec::Par {
            via,
            inside,
            minimal_candidates: minimal,
            other_candidates: other,
            factor_milli,
            bias_bytes,
            gateways,
        },
        other => other,
    }
}

fn weights(routing: RoutingSpec, factor: u64, bias: u64) -> RoutingSpec {
    match routing {
        RoutingSpec::Ugal { knowledge, via, inside, minimal_candidates, other_candidates, gateways, .. } => {
            RoutingSpec::Ugal {
                knowledge,
                via,
                inside,
                minimal_candidates,
                other_candidates,
                factor_milli: factor,
                bias_bytes: bias,
                gateways,
            }
        }
        RoutingSpec::Par { via, inside, minimal_candidates, other_candidates, gateways, .. } => RoutingSpec::Par {
            via,
            inside,
            minimal_candidates,
            other_candidates,
            factor_milli: factor,
            bias_bytes: bias,
            gateways,
        },
        other => other,
    }
}

#[test]
fn numbers_of_routings() {
    refused(
        valid,
        &[
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 0, 1),
                "routing.minimal_candidates",
                "out-of-range (found = 0, least = 1, most = 2)",
            ),
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 3, 1),
                "routing.minimal_candidates",
                "out-of-range (found = 3, least = 1, most = 2)",
            ),
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 1, 0),
                "routing.other_candidates",
                "out-of-range (found = 0, least = 1, most = 2)",
            ),
            (
                |s| s.routing = candidates(par(GROUP, 1, ALL), 2, 3),
                "routing.other_candidates",
                "out-of-range (found = 3, least = 1, most = 2)",
            ),
            (
                |s| s.routing = candidates(par(GROUP, 1, ALL), 0, 2),
                "routing.minimal_candidates",
                "out-of-range (found = 0, least = 1, most = 2)",
            ),
            (
                |s| s.routing = weights(ugal(LOCAL, GROUP, 1, ALL), 1_000_000_001, 0),
                "routing.factor_milli",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| s.routing = weights(ugal(LOCAL, GROUP, 1, ALL), 1, 1_000_000_001),
                "routing.bias_bytes",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| s.routing = weights(par(GROUP, 1, ALL), u64::MAX, 0),
                "routing.factor_milli",
                "out-of-range (found = 18446744073709551615, least = 0, most = 1000000000)",
            ),
            (
                |s| s.jobs[1].routing = Some(weights(par(GROUP, 1, ALL), 1, 1_000_000_001)),
                "jobs[1].routing.bias_bytes",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| s.routing = RoutingSpec::AdaptiveLocal { factor_milli: 1_000_000_001, inside: None, gateways: ALL },
                "routing.factor_milli",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| s.routing = biased(1_000_000_001, 0),
                "routing.bias_low_bytes",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
            (
                |s| s.jobs[0].routing = Some(biased(0, 1_000_000_001)),
                "jobs[0].routing.bias_high_bytes",
                "out-of-range (found = 1000000001, least = 0, most = 1000000000)",
            ),
        ],
    );
    accepted(
        valid,
        &[
            |s| s.routing = weights(ugal(LOCAL, Via::Router, 2, ALL), 1_000_000_000, 1_000_000_000),
            |s| s.routing = weights(par(Via::Router, 2, ALL), 0, 0),
            |s| s.routing = biased(1_000_000_000, 1_000_000_000),
            |s| s.routing = RoutingSpec::AdaptiveLocal { factor_milli: 0, inside: None, gateways: NEAREST },
        ],
    );
}

fn biased(bias_low_bytes: u64, bias_high_bytes: u64) -> RoutingSpec {
    RoutingSpec::Aries { mode: AriesMode::Adaptive1, bias_low_bytes, bias_high_bytes, gateways: ALL }
}

macro_rules! not_here {
    ($routing:literal) => {
        concat!(
            "routing-not-for-machine (routing = `",
            $routing,
            "`, machine = `dragonfly or cascade`, choices = [`minimal`, `valiant`, `ugal`, `par`, `adaptive-local`, `aries`, `application-aware`])"
        )
    };
}

macro_rules! not_on_plus {
    ($routing:literal) => {
        concat!(
            "routing-not-for-machine (routing = `",
            $routing,
            "`, machine = `dragonfly-plus`, choices = [`minimal`, `valiant`, `prog-adaptive`, `fpar`])"
        )
    };
}

/// Catches a routing on a machine that it is not for, and options that have no meaning there.
#[test]
fn routings_of_other_machines() {
    let no_spines = "via-not-for-machine (machine = `dragonfly or cascade`, choices = [`group`, `router`])";
    let which = "missing-gateways (choices = [`nearest`, `all`])";
    refused(
        valid,
        &[
            (|s| s.routing = fpar(1_000, FparCandidates::AllGroups), "routing.name", not_here!("fpar")),
            (
                |s| s.jobs[1].routing = Some(prog_adaptive(FparCandidates::OneGroup)),
                "jobs[1].routing.name",
                not_here!("prog-adaptive"),
            ),
            (|s| s.routing = valiant(Via::Spine, Select::Random, ALL), "routing.via", no_spines),
            (|s| s.routing = ugal(LOCAL, Via::Leaf, 1, ALL), "routing.via", no_spines),
            (|s| s.jobs[0].routing = Some(par(Via::Spine, 1, ALL)), "jobs[0].routing.via", no_spines),
            (|s| s.routing = crate::support::MINIMAL, "routing.gateways", which),
            (
                |s| {
                    let (via, select) = (GROUP, Select::Hash);
                    s.jobs[1].routing = Some(RoutingSpec::Valiant { via, select, inside: None, gateways: None });
                },
                "jobs[1].routing.gateways",
                which,
            ),
            (
                |s| s.jobs[1].routing = Some(minimal(Select::Random, NEAREST)),
                "jobs[1].routing.gateways",
                "different-gateways",
            ),
        ],
    );
    let no_choice = "needless-gateways (machine = `dragonfly-plus`)";
    refused(
        plus,
        &[
            (|s| s.routing = ugal(LOCAL, GROUP, 1, ALL), "routing.name", not_on_plus!("ugal")),
            (|s| s.routing = par(GROUP, 1, ALL), "routing.name", not_on_plus!("par")),
            (|s| s.routing = adaptive_local(ALL), "routing.name", not_on_plus!("adaptive-local")),
            (
                |s| s.jobs[1].routing = Some(aries(AriesMode::MinHash, ALL)),
                "jobs[1].routing.name",
                not_on_plus!("aries"),
            ),
            (|s| s.routing = minimal(Select::Random, ALL), "routing.gateways", no_choice),
            (|s| s.routing = valiant(GROUP, Select::Random, NEAREST), "routing.gateways", no_choice),
            (
                |s| s.routing = crate::support::valiant(Via::Router),
                "routing.via",
                "via-not-for-machine (machine = `dragonfly-plus`, choices = [`spine`, `leaf`])",
            ),
        ],
    );
}
